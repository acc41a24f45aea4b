//! Magnitudes: the numbers of modifiers, durations and chances.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! magnitude_types {
    ($($(#[$attr:meta])* $kind:ident needs $($field:literal)or+;)*) => {
        /// How a magnitude computes its number.
        ///
        /// ```
        /// use ugas_doc::MagnitudeType;
        /// assert_eq!(MagnitudeType::default(), MagnitudeType::ScalableFloat);
        /// assert_eq!(MagnitudeType::ScalableFloat.required(), ["Value", "Curve"]);
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum MagnitudeType {
            $($(#[$attr])* $kind,)*
        }

        impl MagnitudeType {
            /// Every type.
            pub const ALL: &[MagnitudeType] = &[$(MagnitudeType::$kind),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(MagnitudeType::$kind => stringify!($kind),)*
                }
            }

            /// Returns the fields of [`Magnitude`] of which the type requires at least one, by their names in files.
            pub fn required(self) -> &'static [&'static str] {
                match self {
                    $(MagnitudeType::$kind => &[$($field),+],)*
                }
            }
        }
    };
}
magnitude_types! {
    /// A fixed value, or a curve over the level, an attribute or a set-by-caller value.
    #[default]
    ScalableFloat needs "Value" or "Curve";
    /// `(attribute + PreMultiplyAdditive) × Coefficient + PostMultiplyAdditive`.
    AttributeBased needs "BackingAttribute";
    /// The result of a named calculation.
    CustomCalculation needs "CalculatorClass";
    /// A value that the caller puts into the effect spec.
    SetByCaller needs "DataTag";
}

impl MagnitudeType {
    /// Returns the type with this name.
    pub fn from_name(name: &str) -> Option<MagnitudeType> {
        MagnitudeType::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// Which controller an attribute-based magnitude reads.
///
/// ```
/// assert_eq!(ugas_doc::MagnitudeSource::default(), ugas_doc::MagnitudeSource::Source);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MagnitudeSource {
    /// The controller that caused the effect.
    #[default]
    Source,
    /// The controller that the effect acts on.
    Target,
}

/// The definition of a number that an effect uses. `Type` decides which other fields are used.
///
/// ```
/// use ugas_doc::Magnitude;
/// let main_stat = Magnitude::attribute("Strength").times(0.01);
/// assert_eq!(main_stat.coefficient, Some(0.01));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Magnitude {
    /// How the number is computed.
    #[serde(rename = "Type")]
    pub kind: MagnitudeType,
    /// For ScalableFloat: the value. With `Curve`: the factor by which the output of the curve is multiplied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// For ScalableFloat: the name of a curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<String>,
    /// For ScalableFloat: the input of the curve. The input is `Level` (the default), an attribute of the source, or a
    /// set-by-caller key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve_input: Option<String>,
    /// For AttributeBased: the attribute that is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing_attribute: Option<String>,
    /// For AttributeBased: the controller whose attribute is read; `Source` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MagnitudeSource>,
    /// For AttributeBased: the factor, 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficient: Option<f64>,
    /// For AttributeBased: the number that is added before the factor is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_multiply_additive: Option<f64>,
    /// For AttributeBased: the number that is added after the factor is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_multiply_additive: Option<f64>,
    /// For CustomCalculation: the name of a `calculation` document or of a calculator that the host registers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calculator_class: Option<String>,
    /// For SetByCaller: the key under which the caller sets the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_tag: Option<String>,
}

impl Magnitude {
    /// Creates a fixed value.
    pub fn value(value: f64) -> Magnitude {
        Magnitude { value: Some(value), ..Magnitude::default() }
    }

    /// Creates a magnitude that evaluates the curve `name` at the level of the effect.
    pub fn curve(name: impl Into<String>) -> Magnitude {
        Magnitude { curve: Some(name.into()), ..Magnitude::default() }
    }

    /// Creates a magnitude that evaluates the curve `name` at `input`: an attribute of the source or a set-by-caller key.
    pub fn curve_over(name: impl Into<String>, input: impl Into<String>) -> Magnitude {
        Magnitude { curve: Some(name.into()), curve_input: Some(input.into()), ..Magnitude::default() }
    }

    /// Creates a magnitude that reads an attribute of the source, with coefficient 1.
    pub fn attribute(name: impl Into<String>) -> Magnitude {
        Magnitude { kind: MagnitudeType::AttributeBased, backing_attribute: Some(name.into()), ..Magnitude::default() }
    }

    /// Creates a magnitude that runs a calculation.
    pub fn calculation(name: impl Into<String>) -> Magnitude {
        Magnitude {
            kind: MagnitudeType::CustomCalculation,
            calculator_class: Some(name.into()),
            ..Magnitude::default()
        }
    }

    /// Creates a magnitude whose value the caller sets on the spec.
    pub fn set_by_caller(tag: impl Into<String>) -> Magnitude {
        Magnitude { kind: MagnitudeType::SetByCaller, data_tag: Some(tag.into()), ..Magnitude::default() }
    }

    /// Returns the number if the magnitude is a fixed value, without a curve, an attribute or a calculation.
    pub fn constant(&self) -> Option<f64> {
        self.value.filter(|_| self.kind == MagnitudeType::ScalableFloat && self.curve.is_none())
    }

    /// Makes the magnitude read the target's attribute instead of the source's.
    pub fn of_target(mut self) -> Magnitude {
        self.source = Some(MagnitudeSource::Target);
        self
    }

    /// Sets the coefficient.
    pub fn times(mut self, coefficient: f64) -> Magnitude {
        self.coefficient = Some(coefficient);
        self
    }

    /// Sets the number that is added before the factor is applied.
    pub fn pre(mut self, add: f64) -> Magnitude {
        self.pre_multiply_additive = Some(add);
        self
    }

    /// Sets the number that is added after the factor is applied.
    pub fn post(mut self, add: f64) -> Magnitude {
        self.post_multiply_additive = Some(add);
        self
    }
}

/// Prints the formula in one line: `0.5 × source.Strength + 2`.
impl fmt::Display for Magnitude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factor = |v: Option<f64>| v.filter(|v| *v != 1.0).map(|v| format!("{v} × ")).unwrap_or_default();
        match self.kind {
            MagnitudeType::ScalableFloat => match &self.curve {
                None => write!(f, "{}", self.value.unwrap_or(0.0)),
                Some(curve) => {
                    write!(f, "{}{curve}({})", factor(self.value), self.curve_input.as_deref().unwrap_or("Level"))
                }
            },
            MagnitudeType::AttributeBased => {
                let whose = if self.source == Some(MagnitudeSource::Target) { "target" } else { "source" };
                let name = format!("{whose}.{}", self.backing_attribute.as_deref().unwrap_or("?"));
                f.write_str(&factor(self.coefficient))?;
                match self.pre_multiply_additive.filter(|v| *v != 0.0) {
                    Some(pre) => write!(f, "({name} + {pre})")?,
                    None => f.write_str(&name)?,
                }
                self.post_multiply_additive.filter(|v| *v != 0.0).map_or(Ok(()), |post| write!(f, " + {post}"))
            }
            MagnitudeType::CustomCalculation => f.write_str(self.calculator_class.as_deref().unwrap_or_default()),
            MagnitudeType::SetByCaller => write!(f, "SetByCaller {}", self.data_tag.as_deref().unwrap_or("value")),
        }
    }
}

impl From<f64> for Magnitude {
    fn from(value: f64) -> Magnitude {
        Magnitude::value(value)
    }
}
