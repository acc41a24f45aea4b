//! From files to rules in one call.

use std::path::Path;
use std::sync::Arc;
use ugas_core::{LoadError, Rules, RulesBuilder};
use ugas_data::{Loaded, ReadErrors};

/// Why documents did not become rules. Both kinds list everything that is wrong, with file, line and what to do.
pub enum LoadFailure {
    /// There was no document to read.
    Empty(String),
    /// A file could not be read or understood.
    Read(ReadErrors),
    /// The documents do not fit together.
    Build(LoadError),
}

impl std::fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadFailure::Empty(place) => write!(f, "{place}: no document found; is this the right folder or text?"),
            LoadFailure::Read(e) => write!(f, "{e}"),
            LoadFailure::Build(e) => write!(f, "{e}"),
        }
    }
}
impl std::fmt::Debug for LoadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
impl std::error::Error for LoadFailure {}

/// Adds every document of a folder, and of the packs its `pack.yaml` requires, to a builder and builds.
///
/// ```no_run
/// let rules = ugas::load_folder("packs/rpg", ugas::core::Rules::builder())?;
/// # Ok::<(), ugas::LoadFailure>(())
/// ```
pub fn load_folder(folder: impl AsRef<Path>, builder: RulesBuilder) -> Result<Arc<Rules>, LoadFailure> {
    let packs = ugas_data::read_packs([folder.as_ref()]).map_err(LoadFailure::Read)?;
    let docs = packs.into_iter().flat_map(|p| p.documents.docs).collect();
    build(&folder.as_ref().display().to_string(), docs, builder)
}

/// Adds every document of a text to a builder and builds; `name` stands for the file in messages.
///
/// ```
/// let text = "Kind: attribute_set\nName: Vitals\nAttributes:\n  - {Name: Health, DefaultBaseValue: 100}\n";
/// let rules = ugas::load_str("vitals.yaml", text, ugas::core::Rules::builder())?;
/// assert!(rules.attribute("Health").is_some());
/// # Ok::<(), ugas::LoadFailure>(())
/// ```
pub fn load_str(name: &str, text: &str, builder: RulesBuilder) -> Result<Arc<Rules>, LoadFailure> {
    build(name, ugas_data::read_str(name, text).map_err(LoadFailure::Read)?.docs, builder)
}

fn build(place: &str, docs: Vec<Loaded>, mut builder: RulesBuilder) -> Result<Arc<Rules>, LoadFailure> {
    if docs.is_empty() {
        return Err(LoadFailure::Empty(place.to_owned()));
    }
    for loaded in docs {
        builder = builder.add_at(loaded.doc, loaded.origin);
    }
    builder.build().map_err(LoadFailure::Build)
}
