//! Selects the files of a workspace that belong to the project. Other YAML files are ignored.

use std::path::{Path, PathBuf};
use ugas_data::{Project, Source};

/// Opens the documents in these folders and their subfolders.
pub(crate) fn open(roots: &[PathBuf]) -> Project {
    let mut project = Project::default();
    for root in roots {
        add(&mut project, root);
    }
    let foreign: Vec<PathBuf> =
        project.sources().iter().filter(|s| !is_project_file(&project, s)).map(|s| s.path.clone()).collect();
    foreign.iter().for_each(|path| project.remove(path));
    project
}

/// Adds the pack of a file, for editors that open single files.
pub(crate) fn add_pack_of(project: &mut Project, path: &Path) {
    let Some(folder) = path.ancestors().skip(1).find(|f| f.join("pack.yaml").is_file()) else { return };
    if !project.sources().iter().any(|s| s.path.starts_with(folder)) {
        add(project, folder);
    }
}

/// Adds the readable files below a folder. Errors in the other files are reported when the editor opens those files.
fn add(project: &mut Project, folder: &Path) {
    let (found, _) = Project::open_readable(folder);
    for source in found.sources() {
        if !project.sources().iter().any(|s| s.path == source.path) {
            project.put(source.path.clone(), source.text.to_string());
        }
    }
}

/// Returns whether a file belongs to the project: it is in a pack, or declares a document or a scenario.
pub(crate) fn is_project_file(project: &Project, source: &Source) -> bool {
    let packs = project.sources().iter().filter(|s| s.pack.is_some()).filter_map(|s| s.path.parent());
    let says_so = || {
        source.docs.iter().any(|d| {
            let schema = d.tree.get("$schema").and_then(|s| s.as_text()).is_some_and(|s| s.contains("ugas"));
            schema || d.tree.get("Kind").is_some() || d.tree.get("Scenario").is_some()
        })
    };
    source.docs.is_empty() && source.errors.is_empty()
        || source.pack.is_some()
        || says_so()
        || packs.into_iter().any(|folder| source.path.starts_with(folder))
}
