//! Areas of effect. The runtime does not support areas yet: the rules builder rejects an effect with `Area`.

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
    /// All targets within the radius.
    #[default]
    Sphere,
    /// All targets within the radius and within the opening angle in front of the source.
    Cone,
}

/// The team relation that a target must have to the source.
///
/// ```
/// assert_eq!(ugas_doc::Affiliation::default(), ugas_doc::Affiliation::Any);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Affiliation {
    /// Every target.
    #[default]
    Any,
    /// Targets of the same team.
    Allied,
    /// Targets of other teams.
    Hostile,
    /// Targets without a team.
    Neutral,
    /// Only the source.
    SelfOnly,
    /// Every target except the source.
    ExcludeSelf,
}

/// Which targets of an area are affected.
///
/// ```
/// assert!(ugas_doc::AreaFilter::default().require_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AreaFilter {
    /// The target must have all of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require_tags: Vec<String>,
    /// The target must have none of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_tags: Vec<String>,
    /// The team relation that the target must have to the source.
    #[serde(default)]
    pub affiliation: Affiliation,
}

/// An area of effect. The runtime does not support areas yet: an effect with `Area` is a load error.
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
    /// Half of a cone's opening angle, in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_angle_deg: Option<f64>,
    /// The maximum number of targets; the nearest targets are chosen first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_targets: Option<u32>,
    /// Which targets are affected.
    #[serde(default)]
    pub filter: AreaFilter,
}
