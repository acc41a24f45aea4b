//! What an effect is in a fight, and rules that change such effects before they land.

use serde::{Deserialize, Serialize};

/// What kind of combat an effect's base writes are.
///
/// ```
/// assert_eq!(ugas_doc::CombatKind::default(), ugas_doc::CombatKind::Damage);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CombatKind {
    /// Harm.
    #[default]
    Damage,
    /// Help.
    Healing,
    /// Attention.
    Threat,
}

/// In which manner.
///
/// ```
/// assert_eq!(ugas_doc::CombatStyle::default(), ugas_doc::CombatStyle::Direct);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CombatStyle {
    /// A single hit.
    #[default]
    Direct,
    /// Over time.
    Periodic,
    /// In an area.
    Area,
}

/// Marks an effect's base writes as combat: they pass combat rules and the damage pipeline.
///
/// ```
/// assert!(ugas_doc::Combat::default().school.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Combat {
    /// What it is.
    pub kind: CombatKind,
    /// In which manner.
    #[serde(default)]
    pub style: CombatStyle,
    /// A damage-type tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub school: Option<String>,
    /// A calculation that turns the amount into what gets through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
}

/// How a combat rule changes a value.
///
/// ```
/// assert_eq!(ugas_doc::ModifyOperation::default(), ugas_doc::ModifyOperation::Add);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ModifyOperation {
    /// Adds `Value`.
    #[default]
    Add,
    /// Multiplies by `Factor`.
    Multiply,
}

/// The change of a combat rule.
///
/// ```
/// let m = ugas_doc::Modify { operation: ugas_doc::ModifyOperation::Multiply, value: None, factor: Some(0.9) };
/// assert_eq!(m.factor, Some(0.9));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Modify {
    /// Add or multiply.
    pub operation: ModifyOperation,
    /// Add: by how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Multiply: by which factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
}

/// A rule for combat values while an effect is active.
///
/// ```
/// let r = ugas_doc::CombatRule { on: "CastLength".into(), ..Default::default() };
/// assert!(!r.restrict);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct CombatRule {
    /// The value or event it acts on.
    pub on: String,
    /// Only for these abilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<String>,
    /// Only for abilities with these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_tags: Vec<String>,
    /// Only for this attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Only when this expression holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modify: Option<Modify>,
    /// Whether it forbids.
    #[serde(default)]
    pub restrict: bool,
    /// Whether stacks multiply it.
    #[serde(default)]
    pub stacks: bool,
}
