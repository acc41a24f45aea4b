//! Checking without running: documents are read, rules are built, names of scenarios are looked up.

use crate::scenario::Scenario;
use std::path::Path;
use ugas_data::{Diagnostic, Project, ReadError};

/// Checks a file or a folder as one set of documents, and every scenario in it with what it names. A folder with a
/// `pack.yaml` is a set of its own, together with the packs it requires. The error holds what could not be read at all.
///
/// ```
/// let errors = ugas_lab::check_path("no/such/place").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// ```
pub fn check_path(path: impl AsRef<Path>) -> Result<Vec<Diagnostic>, Vec<ReadError>> {
    check_path_with(path, false)
}

/// The same with the lint rules that sound data breaks too, if `strict`.
///
/// ```
/// assert!(ugas_lab::check_path_with("no/such/place", true).is_err());
/// ```
pub fn check_path_with(path: impl AsRef<Path>, strict: bool) -> Result<Vec<Diagnostic>, Vec<ReadError>> {
    let project = Project::open(path).map_err(|e| e.into_vec())?;
    let mut findings = project.check_with(strict);
    findings.extend(check_scenarios(&project));
    Diagnostic::arrange(&mut findings);
    Ok(findings)
}

/// What is wrong with the scenarios of a project.
pub fn check_scenarios(project: &Project) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for source in project.sources() {
        for doc in source.docs.iter().filter(|d| d.tree.get("Scenario").is_some()) {
            if let Err(errors) = Scenario::from_node(&source.name, &doc.tree).and_then(|s| s.check()) {
                findings.extend(errors.iter().map(|e| Diagnostic::of_read_error(e).stretched(&source.text)));
            }
        }
    }
    findings
}
