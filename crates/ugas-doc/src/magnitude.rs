//! Magnitudes: where a modifier, a duration or a chance gets its number.

use serde::{Deserialize, Serialize};

/// The four magnitude types of the specification.
///
/// ```
/// assert_eq!(ugas_doc::MagnitudeType::default(), ugas_doc::MagnitudeType::ScalableFloat);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MagnitudeType {
    /// A fixed value, or a curve over level, attribute or caller's value.
    #[default]
    ScalableFloat,
    /// `(attribute + pre) × coefficient + post`.
    AttributeBased,
    /// A named calculation.
    CustomCalculation,
    /// A value the caller puts into the spec.
    SetByCaller,
}

/// Which controller an attribute-based magnitude reads.
///
/// ```
/// assert_eq!(ugas_doc::MagnitudeSource::default(), ugas_doc::MagnitudeSource::Source);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MagnitudeSource {
    /// The instigator.
    #[default]
    Source,
    /// The controller the effect acts on.
    Target,
}

/// A magnitude, field by field as authored; which fields matter depends on `kind`.
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
    /// The type.
    #[serde(rename = "Type")]
    pub kind: MagnitudeType,
    /// ScalableFloat: the value (a factor on the curve when there is one).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// ScalableFloat: the curve's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<String>,
    /// ScalableFloat: what goes into the curve: `Level` (default), an attribute of the source, or a caller's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve_input: Option<String>,
    /// AttributeBased: the attribute read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing_attribute: Option<String>,
    /// AttributeBased: whose attribute; Source by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MagnitudeSource>,
    /// AttributeBased: factor, 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficient: Option<f64>,
    /// AttributeBased: added before the factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_multiply_additive: Option<f64>,
    /// AttributeBased: added after the factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_multiply_additive: Option<f64>,
    /// CustomCalculation: the registered calculation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calculator_class: Option<String>,
    /// SetByCaller: the key in the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_tag: Option<String>,
}

impl Magnitude {
    /// A fixed value.
    pub fn value(value: f64) -> Magnitude {
        Magnitude { value: Some(value), ..Magnitude::default() }
    }

    /// A curve over the effect's level.
    pub fn curve(name: impl Into<String>) -> Magnitude {
        Magnitude { curve: Some(name.into()), ..Magnitude::default() }
    }

    /// A curve over something else: an attribute of the source or a caller's key.
    pub fn curve_over(name: impl Into<String>, input: impl Into<String>) -> Magnitude {
        Magnitude { curve: Some(name.into()), curve_input: Some(input.into()), ..Magnitude::default() }
    }

    /// The source's attribute, coefficient 1.
    pub fn attribute(name: impl Into<String>) -> Magnitude {
        Magnitude { kind: MagnitudeType::AttributeBased, backing_attribute: Some(name.into()), ..Magnitude::default() }
    }

    /// A registered calculation.
    pub fn calculation(name: impl Into<String>) -> Magnitude {
        Magnitude {
            kind: MagnitudeType::CustomCalculation,
            calculator_class: Some(name.into()),
            ..Magnitude::default()
        }
    }

    /// A value the caller sets on the spec.
    pub fn set_by_caller(tag: impl Into<String>) -> Magnitude {
        Magnitude { kind: MagnitudeType::SetByCaller, data_tag: Some(tag.into()), ..Magnitude::default() }
    }

    /// Reads the target's attribute instead of the source's.
    pub fn of_target(mut self) -> Magnitude {
        self.source = Some(MagnitudeSource::Target);
        self
    }

    /// Sets the coefficient.
    pub fn times(mut self, coefficient: f64) -> Magnitude {
        self.coefficient = Some(coefficient);
        self
    }

    /// Sets what is added before the factor.
    pub fn pre(mut self, add: f64) -> Magnitude {
        self.pre_multiply_additive = Some(add);
        self
    }

    /// Sets what is added after the factor.
    pub fn post(mut self, add: f64) -> Magnitude {
        self.post_multiply_additive = Some(add);
        self
    }
}

impl From<f64> for Magnitude {
    fn from(value: f64) -> Magnitude {
        Magnitude::value(value)
    }
}
