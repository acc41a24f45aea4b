//! Builds the rules of packs and their required packs, with placeholders for host code.

use std::path::Path;
use std::sync::Arc;
use ugas_core::{LoadIssue, Rules, RulesBuilder, Severity};
use ugas_data::{Diagnostic, HostNames, Loaded, PackSet, ReadError};

/// Builds the rules of a pack and its required packs. Names that `pack.yaml` lists under `Host` get placeholders.
///
/// ```
/// let errors = ugas_lab::load_pack("no/such/pack").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// ```
pub fn load_pack(folder: impl AsRef<Path>) -> Result<Arc<Rules>, Vec<ReadError>> {
    let folder = folder.as_ref();
    let packs = PackSet::read([folder]).map_err(|e| e.into_vec())?;
    builder_of(packs.docs().cloned(), &packs.host).build().map_err(|error| {
        let place: Arc<str> = folder.display().to_string().into();
        let errors = error.issues.iter().filter(|i| i.severity == Severity::Error);
        errors.map(|i| ReadError::from(&packs.place(i).unwrap_or_else(|| unplaced(i, &place)))).collect()
    })
}

/// Returns the error for an issue without a known place.
pub(crate) fn unplaced(issue: &LoadIssue, file: &Arc<str>) -> Diagnostic {
    let (file, line) = issue.origin.as_ref().map_or((file, 1), |origin| (&origin.file, origin.line));
    let subject = if issue.document.is_empty() { String::new() } else { format!("{}: ", issue.document) };
    let message = format!("{subject}{}", issue.message);
    Diagnostic {
        line,
        end_line: line,
        ..Diagnostic::new(issue.code, ugas_data::Severity::Error, file.clone(), message)
    }
}

/// Returns a rules builder with documents and placeholders for host code.
pub(crate) fn builder_of(docs: impl IntoIterator<Item = Loaded>, host: &HostNames) -> RulesBuilder {
    host.stand_in(docs.into_iter().fold(Rules::builder(), |b, loaded| b.add_at(loaded.doc, loaded.origin)))
}
