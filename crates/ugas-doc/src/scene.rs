//! Scenes: who stands where when a level begins, which regions it has, where players may appear.

use crate::Metadata;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A controller placed in a scene.
///
/// ```
/// let boss = ugas_doc::Placement::new("Boss", "boss_1");
/// assert!(boss.enabled);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Placement {
    /// The controller's document.
    pub controller: String,
    /// Unique name within the scene and those it extends.
    pub instance_id: String,
    /// The position.
    #[serde(default)]
    pub position: [f64; 3],
    /// Which way, as a quaternion x, y, z, w.
    #[serde(default = "upright")]
    pub rotation: [f64; 4],
    /// Tags it starts with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub startup_tags: Vec<String>,
    /// Effects it starts with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub startup_effects: Vec<String>,
    /// Base values in place of the document's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute_overrides: BTreeMap<String, f64>,
    /// Whether it is there from the start.
    #[serde(default = "yes")]
    pub enabled: bool,
}

impl Placement {
    /// A controller at the origin.
    pub fn new(controller: impl Into<String>, instance_id: impl Into<String>) -> Placement {
        Placement {
            controller: controller.into(),
            instance_id: instance_id.into(),
            position: [0.0; 3],
            rotation: upright(),
            startup_tags: Vec::new(),
            startup_effects: Vec::new(),
            attribute_overrides: BTreeMap::new(),
            enabled: true,
        }
    }
}

fn upright() -> [f64; 4] {
    [0.0, 0.0, 0.0, 1.0]
}
fn yes() -> bool {
    true
}

/// The shape of a region.
///
/// ```
/// assert_ne!(ugas_doc::RegionShape::Sphere, ugas_doc::RegionShape::Box);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RegionShape {
    /// Around `Origin` with `Radius`.
    Sphere,
    /// Around `Origin` with `HalfExtents` and `Orientation`.
    Box,
    /// From `P0` to `P1` with `Radius`.
    Capsule,
}

/// Whom a region acts on.
///
/// ```
/// assert!(ugas_doc::RegionFilter::default().require_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct RegionFilter {
    /// All of them must be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require_tags: Vec<String>,
    /// None of them may be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_tags: Vec<String>,
}

/// A part of the world that gives tags to whoever is inside.
///
/// ```
/// let lava = ugas_doc::Region::new("Lava", ugas_doc::RegionShape::Sphere);
/// assert!(lava.granted_tags.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Region {
    /// Unique name within the scene and those it extends.
    pub name: String,
    /// Its shape.
    pub shape: RegionShape,
    /// Its centre.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Radius of a sphere or capsule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Half the size of a box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_extents: Option<[f64; 3]>,
    /// How a box is turned, as a quaternion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// One end of a capsule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p0: Option<[f64; 3]>,
    /// The other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p1: Option<[f64; 3]>,
    /// Which effects.
    #[serde(default)]
    pub filter: RegionFilter,
    /// What it gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_tags: Vec<String>,
}

impl Region {
    /// A region without a size yet.
    pub fn new(name: impl Into<String>, shape: RegionShape) -> Region {
        Region {
            name: name.into(),
            shape,
            origin: [0.0; 3],
            radius: None,
            half_extents: None,
            orientation: None,
            p0: None,
            p1: None,
            filter: RegionFilter::default(),
            granted_tags: Vec::new(),
        }
    }
}

/// Where something may appear.
///
/// ```
/// let p = ugas_doc::SpawnPoint { name: "A".into(), position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], tags: vec![] };
/// assert_eq!(p.name, "A");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct SpawnPoint {
    /// Unique name.
    pub name: String,
    /// The position.
    #[serde(default)]
    pub position: [f64; 3],
    /// Which way, as a quaternion.
    #[serde(default = "upright")]
    pub rotation: [f64; 4],
    /// What it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// A `scene` document.
///
/// ```
/// let level = ugas_doc::Scene { name: "Arena".into(), ..Default::default() };
/// assert!(level.placements.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Scene {
    /// Unique name.
    pub name: String,
    /// Scenes whose content comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extends: Vec<String>,
    /// Who is there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placements: Vec<Placement>,
    /// Its regions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Region>,
    /// Where something may appear.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spawn_points: Vec<SpawnPoint>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}
