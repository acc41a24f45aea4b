//! The documents of the demo pack, built into the program.

use ugas_data::Project;

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../packs/", $path)))),+]
    };
}

/// The files, by path below `packs`.
const FILES: &[(&str, &str)] = files![
    "core/pack.yaml",
    "core/tags.yaml",
    "arena/pack.yaml",
    "arena/attributes.yaml",
    "arena/brann.yaml",
    "arena/calculations.yaml",
    "arena/colossus.yaml",
    "arena/common.yaml",
    "arena/equipment.yaml",
    "arena/imp.yaml",
    "arena/input.yaml",
    "arena/pyra.yaml",
    "arena/scene.yaml",
    "arena/tags.yaml",
];

/// Returns a project in memory with the pack `arena` and the packs it requires.
///
/// ```
/// let project = ugas_studio::arena::project();
/// assert!(project.source("arena/pyra.yaml").is_some());
/// ```
pub fn project() -> Project {
    let mut project = Project::default();
    for (path, text) in FILES {
        project.put(*path, *text);
    }
    project
}
