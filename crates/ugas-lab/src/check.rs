//! Checks documents and scenarios without running them: reads the files, builds rules and resolves names.

use crate::scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_data::{Diagnostic, Project, ReadError};

/// Checks the documents and scenarios of a file or folder. Documents are checked together, but a folder with a
/// `pack.yaml` is checked separately, together with the packs that it requires. The error lists the files that could
/// not be read.
///
/// ```
/// let errors = ugas_lab::check_path("no/such/place").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// ```
pub fn check_path(path: impl AsRef<Path>) -> Result<Vec<Diagnostic>, Vec<ReadError>> {
    check_path_with(path, false)
}

/// Checks like [`check_path`]. If `strict` is set, the strict lint rules run too.
///
/// ```
/// assert!(ugas_lab::check_path_with("no/such/place", true).is_err());
/// ```
pub fn check_path_with(path: impl AsRef<Path>, strict: bool) -> Result<Vec<Diagnostic>, Vec<ReadError>> {
    let path = path.as_ref();
    let (project, more) = Project::open_at_home(path).map_err(|e| e.into_vec())?;
    let mut findings = with_scenarios(project.check_with(strict), check_scenarios(&project));
    if more {
        let whole = |p: &Path| p.canonicalize().unwrap_or_else(|_| p.to_path_buf());
        let asked = whole(path);
        findings.retain(|f| whole(Path::new(&*f.file)) == asked);
    }
    Ok(findings)
}

/// Checks the scenarios of a project.
pub fn check_scenarios(project: &Project) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for source in project.sources() {
        for doc in source.docs.iter().filter(|d| d.tree.get("Scenario").is_some()) {
            match Scenario::from_node(&source.name, &doc.tree) {
                Ok(scenario) => findings.extend(scenario.with_text(source.text.clone()).findings()),
                Err(errors) => {
                    findings.extend(errors.iter().map(|e| Diagnostic::of_read_error(e).stretched(&source.text)));
                }
            }
        }
    }
    findings
}

/// Merges and sorts the findings of documents and of scenarios and removes duplicates. An error in a pack is also
/// reported by every scenario that uses the pack, possibly with another path to the same file.
pub fn with_scenarios(mut findings: Vec<Diagnostic>, of_scenarios: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut paths: BTreeMap<Arc<str>, PathBuf> = BTreeMap::new();
    let mut key = |f: &Diagnostic| {
        let path = paths.entry(f.file.clone()).or_insert_with(|| {
            let path = PathBuf::from(&*f.file);
            path.canonicalize().unwrap_or(path)
        });
        (path.clone(), f.line, f.column, f.id.clone())
    };
    let mut seen: BTreeSet<_> = findings.iter().map(&mut key).collect();
    // A pack may have several findings at the same position in a file.
    for finding in of_scenarios {
        let at = key(&finding);
        let is_known = seen.contains(&at) && findings.iter().any(|f| key(f) == at && f.message == finding.message);
        if !is_known {
            seen.insert(at);
            findings.push(finding);
        }
    }
    Diagnostic::arrange(&mut findings);
    findings
}
