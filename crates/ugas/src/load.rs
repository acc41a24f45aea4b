//! Functions that load documents and compile them into rules in one call.

use std::path::Path;
use std::sync::Arc;
use ugas_core::{LoadError, LoadIssue, Rules, RulesBuilder, Severity};
use ugas_data::{Diagnostic, Loaded, PackSet, ReadError, ReadErrors};

/// The reason why documents could not be loaded. The message lists every error with file, line and suggestion.
pub enum LoadFailure {
    /// The folder or text contains no document.
    Empty(String),
    /// A file could not be read or parsed.
    Read(ReadErrors),
    /// The documents do not compile.
    Build {
        /// The errors of the rules builder.
        error: LoadError,
        /// The same errors with their locations in the files and suggestions.
        findings: Vec<ReadError>,
    },
}

impl std::fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadFailure::Empty(place) => write!(f, "{place}: no document found; is this the right folder or text?"),
            LoadFailure::Read(e) => write!(f, "{e}"),
            LoadFailure::Build { findings, .. } => {
                for (i, finding) in findings.iter().enumerate() {
                    write!(f, "{}{finding}", if i > 0 { "\n" } else { "" })?;
                    if let Some(help) = &finding.help {
                        write!(f, " ({help})")?;
                    }
                }
                Ok(())
            }
        }
    }
}
impl std::fmt::Debug for LoadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
impl std::error::Error for LoadFailure {}

/// Compiles all documents of a folder, and of the packs that the folder's `pack.yaml` requires. The rules also contain
/// the content of `builder`.
///
/// ```no_run
/// let rules = ugas::load_folder("packs/rpg", ugas::core::Rules::builder())?;
/// # Ok::<(), ugas::LoadFailure>(())
/// ```
pub fn load_folder(folder: impl AsRef<Path>, builder: RulesBuilder) -> Result<Arc<Rules>, LoadFailure> {
    let packs = PackSet::read([folder.as_ref()]).map_err(LoadFailure::Read)?;
    let place = folder.as_ref().display().to_string();
    build(&place, packs.docs().cloned().collect(), builder, |issue| packs.place(issue))
}

/// Compiles all documents of a text. The rules also contain the content of `builder`. Error messages show `name` as the
/// file name.
///
/// ```
/// let text = "Kind: attribute_set\nName: Vitals\nAttributes:\n  - {Name: Health, DefaultBaseValue: 100}\n";
/// let rules = ugas::load_str("vitals.yaml", text, ugas::core::Rules::builder())?;
/// assert!(rules.find_attribute("Health").is_some());
/// # Ok::<(), ugas::LoadFailure>(())
/// ```
pub fn load_str(name: &str, text: &str, builder: RulesBuilder) -> Result<Arc<Rules>, LoadFailure> {
    let docs = ugas_data::read_str(name, text).map_err(LoadFailure::Read)?.docs;
    build(name, docs, builder, |issue| ugas_data::place_issue(issue, text))
}

fn build(
    place: &str,
    docs: Vec<Loaded>,
    mut builder: RulesBuilder,
    find: impl Fn(&LoadIssue) -> Option<Diagnostic>,
) -> Result<Arc<Rules>, LoadFailure> {
    if docs.is_empty() {
        return Err(LoadFailure::Empty(place.to_owned()));
    }
    for loaded in docs {
        builder = builder.add_at(loaded.doc, loaded.origin);
    }
    builder.build().map_err(|error| {
        let told = |issue: &LoadIssue| match find(issue) {
            Some(finding) => ReadError::from(&finding),
            None => {
                let about = if issue.document.is_empty() { place } else { &issue.document };
                let message = format!("{about}: {}", issue.message);
                ReadError::from(&Diagnostic::new(issue.code, ugas_data::Severity::Error, place, message))
            }
        };
        let findings = error.issues.iter().filter(|i| i.severity == Severity::Error).map(told).collect();
        LoadFailure::Build { error, findings }
    })
}
