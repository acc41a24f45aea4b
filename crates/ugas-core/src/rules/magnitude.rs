//! Compiled magnitudes. This file implements everything that depends on the type of a magnitude: compilation,
//! evaluation, the attribute that a live magnitude follows, and the comparison of an old and a new magnitude in a
//! reload.

use super::Rules;
use super::compile::Compiler;
use crate::{AttributeId, CalcId, CurveId, KeyId, NameKind, Refusal};
use ugas_doc::{Magnitude, MagnitudeSource, MagnitudeType};

/// A compiled magnitude.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mag {
    Value(f64),
    Curve { curve: CurveId, input: CurveInput, factor: f64 },
    Attribute { attribute: AttributeId, of_target: bool, coefficient: f64, pre: f64, post: f64 },
    Calc(CalcId),
    Caller(KeyId),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CurveInput {
    Level,
    Attribute(AttributeId),
    Caller(KeyId),
}

/// The inputs of the evaluation of a magnitude.
pub(crate) trait MagnitudeInputs {
    fn rules(&self) -> &Rules;
    fn level(&self) -> u32;
    /// Returns an attribute of the source or the target.
    fn attribute(&self, attribute: AttributeId, of_target: bool) -> Result<f64, Refusal>;
    /// Returns a set-by-caller value.
    fn caller(&self, key: KeyId) -> Result<f64, Refusal>;
    /// Runs a calculation.
    fn calculate(&self, calc: CalcId) -> Result<f64, Refusal>;
}

impl Mag {
    /// Returns the value, which may not be finite.
    #[inline]
    pub(crate) fn value(&self, inputs: &impl MagnitudeInputs) -> Result<f64, Refusal> {
        Ok(match self {
            Mag::Value(value) => *value,
            Mag::Curve { curve, input, factor } => {
                let x = match input {
                    CurveInput::Level => inputs.level() as f64,
                    CurveInput::Attribute(attribute) => inputs.attribute(*attribute, false)?,
                    CurveInput::Caller(key) => inputs.caller(*key)?,
                };
                inputs.rules().curves.get(curve.0).map_or(f64::NAN, |c| c.at(x) * factor)
            }
            Mag::Attribute { attribute, of_target, coefficient, pre, post } => {
                (inputs.attribute(*attribute, *of_target)? + pre) * coefficient + post
            }
            Mag::Calc(calc) => inputs.calculate(*calc)?,
            Mag::Caller(key) => inputs.caller(*key)?,
        })
    }

    /// Returns the attribute that a live magnitude follows, and whether it is an attribute of the target.
    pub(crate) fn live_on(&self) -> Option<(AttributeId, bool)> {
        match self {
            Mag::Attribute { attribute, of_target, .. } => Some((*attribute, *of_target)),
            Mag::Curve { input: CurveInput::Attribute(a), .. } => Some((*a, false)),
            Mag::Value(_) | Mag::Curve { .. } | Mag::Calc(_) | Mag::Caller(_) => None,
        }
    }

    /// Returns the value of a constant magnitude. A fast path writes this value without an evaluation.
    #[inline]
    pub(crate) fn constant(&self) -> Option<f64> {
        match self {
            Mag::Value(value) => Some(*value),
            Mag::Curve { .. } | Mag::Attribute { .. } | Mag::Calc(_) | Mag::Caller(_) => None,
        }
    }

    /// Returns the calculation that the magnitude runs. A calculation may read the source and draw random numbers, so
    /// it runs only when its value is needed. A cost may use a calculation only if it draws no random numbers.
    #[inline]
    pub(crate) fn calculation(&self) -> Option<CalcId> {
        match self {
            Mag::Calc(calc) => Some(*calc),
            Mag::Value(_) | Mag::Curve { .. } | Mag::Attribute { .. } | Mag::Caller(_) => None,
        }
    }

    /// Returns the set-by-caller key that the magnitude needs.
    pub(crate) fn key(&self) -> Option<KeyId> {
        match self {
            Mag::Caller(key) | Mag::Curve { input: CurveInput::Caller(key), .. } => Some(*key),
            Mag::Value(_) | Mag::Curve { .. } | Mag::Attribute { .. } | Mag::Calc(_) => None,
        }
    }

    /// Returns whether the magnitude has the same meaning as another magnitude in older rules.
    pub(crate) fn is_same(&self, rules: &Rules, theirs: &Mag, old: &Rules) -> bool {
        let same_definition = match self {
            Mag::Curve { curve, .. } => rules.curves.get(curve.0) == old.curves.get(curve.0),
            Mag::Calc(calc) => rules.same_calc(old, *calc),
            Mag::Value(_) | Mag::Attribute { .. } | Mag::Caller(_) => true,
        };
        same_definition && self == theirs
    }
}

impl Compiler<'_> {
    pub(crate) fn magnitude(&mut self, place: &str, doc: &Magnitude) -> Option<Mag> {
        let numbers = [doc.value, doc.coefficient, doc.pre_multiply_additive, doc.post_multiply_additive];
        if let Some(v) = numbers.into_iter().flatten().find(|v| !v.is_finite()) {
            self.error("not-finite", format!("{place}: {v} is not finite; write a finite number"));
            return None;
        }
        match doc.kind {
            MagnitudeType::ScalableFloat => match (&doc.curve, doc.value) {
                (None, Some(value)) => Some(Mag::Value(value + 0.0)),
                (None, None) => self.missing_field(place, doc.kind),
                (Some(name), factor) => {
                    let curve = self.reference(NameKind::Curve, "unknown-curve", place, name).map(CurveId)?;
                    let input = self.curve_input(place, doc.curve_input.as_deref())?;
                    Some(Mag::Curve { curve, input, factor: factor.unwrap_or(1.0) })
                }
            },
            MagnitudeType::AttributeBased => match &doc.backing_attribute {
                None => self.missing_field(place, doc.kind),
                Some(name) => Some(Mag::Attribute {
                    attribute: self.attribute_ref(place, name)?,
                    of_target: doc.source == Some(MagnitudeSource::Target),
                    coefficient: doc.coefficient.unwrap_or(1.0),
                    pre: doc.pre_multiply_additive.unwrap_or(0.0),
                    post: doc.post_multiply_additive.unwrap_or(0.0),
                }),
            },
            MagnitudeType::CustomCalculation => match &doc.calculator_class {
                None => self.missing_field(place, doc.kind),
                Some(name) => self.calc_ref(place, name, &[]).map(Mag::Calc),
            },
            MagnitudeType::SetByCaller => match &doc.data_tag {
                None => self.missing_field(place, doc.kind),
                Some(name) => self.key(place, name).map(Mag::Caller),
            },
        }
    }

    fn missing_field(&mut self, place: &str, kind: MagnitudeType) -> Option<Mag> {
        self.error("missing-field", format!("{place}: {} needs {}; add it", kind.name(), kind.required().join(" or ")));
        None
    }

    fn curve_input(&mut self, place: &str, name: Option<&str>) -> Option<CurveInput> {
        Some(match name {
            None | Some("Level") => CurveInput::Level,
            Some(name) => match self.find_attribute(name) {
                Ok(attribute) => CurveInput::Attribute(attribute),
                Err(_) => CurveInput::Caller(self.key(place, name)?),
            },
        })
    }
}
