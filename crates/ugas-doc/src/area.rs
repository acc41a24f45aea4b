//! Effects that reach everybody in a shape.

use crate::Magnitude;
use serde::{Deserialize, Serialize};

/// The shape of an area.
///
/// ```
/// assert_eq!(ugas_doc::AreaShape::default(), ugas_doc::AreaShape::Sphere);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AreaShape {
    /// All around.
    #[default]
    Sphere,
    /// In front.
    Cone,
}

/// Who counts.
///
/// ```
/// assert_eq!(ugas_doc::Affiliation::default(), ugas_doc::Affiliation::Any);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Affiliation {
    /// Everyone.
    #[default]
    Any,
    /// The own team.
    Allied,
    /// Other teams.
    Hostile,
    /// No team.
    Neutral,
    /// Only oneself.
    SelfOnly,
    /// Everyone but oneself.
    ExcludeSelf,
}

/// Who is hit by an area.
///
/// ```
/// assert!(ugas_doc::AreaFilter::default().require_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AreaFilter {
    /// All of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require_tags: Vec<String>,
    /// None of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_tags: Vec<String>,
    /// Team relation.
    #[serde(default)]
    pub affiliation: Affiliation,
}

/// An area of effect; its behaviour comes with the space layer.
///
/// ```
/// let a = ugas_doc::Area { radius: 5.0.into(), ..Default::default() };
/// assert!(a.max_targets.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Area {
    /// The shape.
    #[serde(default)]
    pub shape: AreaShape,
    /// The radius.
    pub radius: Magnitude,
    /// Half the opening angle of a cone, in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_angle_deg: Option<f64>,
    /// At most this many, nearest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_targets: Option<u32>,
    /// Who counts.
    #[serde(default)]
    pub filter: AreaFilter,
}
