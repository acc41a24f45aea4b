//! Calculations: executions and magnitudes that are written as expressions instead of code.

use crate::{Document, Metadata, Operation};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The text of an expression. A plain number or boolean is also an expression.
///
/// ```
/// use ugas_doc::Formula;
/// assert_eq!(Formula::from("max(0, raw - target.Armor)").text(), "max(0, raw - target.Armor)");
/// assert_eq!(Formula::from(2.5).text(), "2.5");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formula(String);

impl Formula {
    /// Returns the text of the expression.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Formula {
    fn from(text: &str) -> Formula {
        Formula(text.to_owned())
    }
}
impl From<String> for Formula {
    fn from(text: String) -> Formula {
        Formula(text)
    }
}
impl From<f64> for Formula {
    fn from(number: f64) -> Formula {
        Formula(number.to_string())
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Formula, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Formula;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an expression")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Formula, E> {
                Ok(Formula::from(text))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Formula, E> {
                Ok(Formula::from(number))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Formula, E> {
                Ok(Formula(number.to_string()))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Formula, E> {
                Ok(Formula(number.to_string()))
            }
            fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Formula, E> {
                Ok(Formula(if truth { "1" } else { "0" }.to_owned()))
            }
        }
        from.deserialize_any(Reader)
    }
}

/// When an attribute that a calculation reads is captured.
///
/// ```
/// assert_eq!(ugas_doc::CaptureMoment::default(), ugas_doc::CaptureMoment::OnExecution);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CaptureMoment {
    /// At each execution.
    #[default]
    OnExecution,
    /// Once, when the effect is applied.
    OnApplication,
}

/// When a calculation captures the attributes that it reads. An attribute that is in neither `Source` nor `Target` is
/// captured at each execution.
///
/// ```
/// assert!(ugas_doc::Capture::default().source.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Capture {
    /// Attributes of the source.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub source: BTreeMap<String, CaptureMoment>,
    /// Attributes of the target.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub target: BTreeMap<String, CaptureMoment>,
}

impl Capture {
    fn is_empty(&self) -> bool {
        self.source.is_empty() && self.target.is_empty()
    }
}

/// A named intermediate value: one entry `name: expression` of `Let`.
///
/// ```
/// let raw = ugas_doc::Binding::new("raw", "source.WeaponDamage * 2");
/// assert_eq!(raw.name, "raw");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The name that later expressions use.
    pub name: String,
    /// The value.
    pub value: Formula,
}

impl Binding {
    /// Creates a named value.
    pub fn new(name: impl Into<String>, value: impl Into<Formula>) -> Binding {
        Binding { name: name.into(), value: value.into() }
    }
}

impl Serialize for Binding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.value)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Binding {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Binding, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Binding;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one name with its expression, such as {raw: \"source.Attack * 2\"}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Binding, A::Error> {
                let Some((name, value)) = map.next_entry::<String, Formula>()? else {
                    return Err(de::Error::invalid_length(0, &self));
                };
                match map.next_key::<String>()? {
                    None => Ok(Binding { name, value }),
                    Some(_) => Err(de::Error::custom(
                        "expected one name per entry; write the next name as a new entry with `- `",
                    )),
                }
            }
        }
        from.deserialize_map(Reader)
    }
}

/// A tag that a calculation adds to the context of the effect's application. Cues and combat rules can read the tag.
///
/// ```
/// let t = ugas_doc::ContextTag { tag: "Hit.Critical".into(), when: Some("crit".into()) };
/// assert_eq!(t.tag, "Hit.Critical");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ContextTag {
    /// The tag, such as `Hit.Critical`.
    pub tag: String,
    /// The condition for adding the tag, as an expression. Without a condition the tag is always added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Formula>,
}

/// The controller that a result is written to.
///
/// ```
/// assert_eq!(ugas_doc::ResultOn::default(), ugas_doc::ResultOn::Target);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ResultOn {
    /// The controller that the effect acts on.
    #[default]
    Target,
}

/// One write of an execution to an attribute.
///
/// ```
/// let r = ugas_doc::CalculationResult::add("Health", "-raw");
/// assert_eq!(r.operation, ugas_doc::Operation::Add);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct CalculationResult {
    /// The controller that is written to.
    #[serde(default)]
    pub on: ResultOn,
    /// The attribute that is written.
    pub attribute: String,
    /// The operation that combines the value with the attribute.
    pub operation: Operation,
    /// The value, as an expression.
    pub value: Formula,
    /// The condition for the write, as an expression. Without a condition the value is always written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Formula>,
}

impl CalculationResult {
    /// Creates a result that adds a value to an attribute of the target.
    pub fn add(attribute: impl Into<String>, value: impl Into<Formula>) -> CalculationResult {
        CalculationResult {
            on: ResultOn::Target,
            attribute: attribute.into(),
            operation: Operation::Add,
            value: value.into(),
            when: None,
        }
    }
}

/// A `calculation` document: an execution, which has `Results`, or a magnitude, which has a `Value`.
///
/// ```
/// use ugas_doc::{Calculation, CalculationResult};
/// let hit = Calculation::new("ExecCalc_Hit")
///     .bind("raw", "source.WeaponDamage * 2")
///     .result(CalculationResult::add("Health", "-max(0, raw - target.Armor)"));
/// assert_eq!(hit.r#let.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Calculation {
    /// The name, unique in the project. Effects refer to the calculation by this name in `CalculatorClass`.
    pub name: String,
    /// When the attributes that the calculation reads are captured.
    #[serde(skip_serializing_if = "Capture::is_empty")]
    pub capture: Capture,
    /// Named intermediate values, in order; each value may use the values before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub r#let: Vec<Binding>,
    /// Tags that are added to the context of the application.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_tags: Vec<ContextTag>,
    /// For an execution: the writes to attributes, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<CalculationResult>,
    /// For a magnitude: the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Formula>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for Calculation {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}

impl Calculation {
    /// Creates an empty calculation.
    pub fn new(name: impl Into<String>) -> Calculation {
        Calculation { name: name.into(), ..Calculation::default() }
    }

    /// Adds a named value for later expressions.
    pub fn bind(mut self, name: impl Into<String>, value: impl Into<Formula>) -> Calculation {
        self.r#let.push(Binding::new(name, value));
        self
    }

    /// Adds a write to an attribute.
    pub fn result(mut self, result: CalculationResult) -> Calculation {
        self.results.push(result);
        self
    }

    /// Makes the calculation a magnitude with this value.
    pub fn gives(mut self, value: impl Into<Formula>) -> Calculation {
        self.value = Some(value.into());
        self
    }
}
