//! Scenes: the controllers, regions and spawn points of a level. Scenes are data for the host and the studio.

use crate::{Document, Metadata};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A controller that is placed in a scene.
///
/// ```
/// let boss = ugas_doc::Placement::new("Boss", "boss_1");
/// assert!(boss.enabled);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Placement {
    /// The name of the controller document.
    pub controller: String,
    /// The name of the instance, unique in the scene and in the scenes that it extends.
    pub instance_id: String,
    /// The position.
    #[serde(default)]
    pub position: [f64; 3],
    /// The rotation, as a quaternion x, y, z, w.
    #[serde(default = "upright")]
    pub rotation: [f64; 4],
    /// Tags that the instance has in addition to the tags of the controller document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub startup_tags: Vec<String>,
    /// Effects that are applied to the instance when it is spawned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub startup_effects: Vec<String>,
    /// Base values that replace the base values of the controller document.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute_overrides: BTreeMap<String, f64>,
    /// Whether the instance is spawned when the scene is loaded.
    #[serde(default = "yes")]
    pub enabled: bool,
}

impl Placement {
    /// Creates a placement at the origin.
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
    /// A sphere around `Origin` with `Radius`.
    Sphere,
    /// A box around `Origin` with `HalfExtents` and `Orientation`.
    Box,
    /// A capsule from `P0` to `P1` with `Radius`.
    Capsule,
}

/// The tags that decide which controllers receive the tags of a region.
///
/// ```
/// assert!(ugas_doc::RegionFilter::default().require_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct RegionFilter {
    /// The controller must have all of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require_tags: Vec<String>,
    /// The controller must have none of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_tags: Vec<String>,
}

/// A volume in the scene. The host grants the tags of the region to the controllers inside it.
///
/// ```
/// let lava = ugas_doc::Region::new("Lava", ugas_doc::RegionShape::Sphere);
/// assert!(lava.granted_tags.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Region {
    /// The name, unique in the scene and in the scenes that it extends.
    pub name: String,
    /// The shape.
    pub shape: RegionShape,
    /// The centre of the region.
    #[serde(default)]
    pub origin: [f64; 3],
    /// The radius of a sphere or capsule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Half of a box's size along each axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_extents: Option<[f64; 3]>,
    /// The rotation of a box, as a quaternion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// One end of a capsule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p0: Option<[f64; 3]>,
    /// The other end of a capsule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p1: Option<[f64; 3]>,
    /// The tags that decide which controllers receive the tags of the region.
    #[serde(default)]
    pub filter: RegionFilter,
    /// The tags that the host grants to controllers inside the region.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_tags: Vec<String>,
}

impl Region {
    /// Creates a region at the origin, without a size.
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

/// A place where the host may spawn controllers.
///
/// ```
/// let p = ugas_doc::SpawnPoint { name: "A".into(), position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], tags: vec![] };
/// assert_eq!(p.name, "A");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct SpawnPoint {
    /// The name, unique in the scene and in the scenes that it extends.
    pub name: String,
    /// The position.
    #[serde(default)]
    pub position: [f64; 3],
    /// The rotation, as a quaternion.
    #[serde(default = "upright")]
    pub rotation: [f64; 4],
    /// Tags that describe the purpose of the spawn point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// A `scene` document: the controllers, regions and spawn points of a level.
///
/// ```
/// let level = ugas_doc::Scene { name: "Arena".into(), ..Default::default() };
/// assert!(level.placements.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "the host and the studio; `Project::scene` returns the scene merged with the scenes that it extends, and the studio spawns `Placements`. The rules contain the tags of `StartupTags`")))]
pub struct Scene {
    /// The name, unique in the project.
    pub name: String,
    /// Scenes whose content is included before the content of this scene.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extends: Vec<String>,
    /// The controllers that are placed in the scene.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placements: Vec<Placement>,
    /// The regions. The runtime ignores regions; the host evaluates them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Region>,
    /// Places where the host may spawn controllers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spawn_points: Vec<SpawnPoint>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for Scene {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }
}
