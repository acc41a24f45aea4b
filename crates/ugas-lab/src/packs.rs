//! Packs as rules: their documents, those of the packs they require, and stand-ins for what they leave to host code.

use crate::run::world::issue_error;
use std::path::Path;
use std::sync::Arc;
use ugas_core::{Rules, RulesBuilder, Severity};
use ugas_data::{HostNames, Loaded, Pack, ReadError, read_packs};

/// Compiles the rules of a pack and of everything it requires. What its `pack.yaml` leaves to host code has stand-ins.
///
/// ```
/// let errors = ugas_lab::load_pack("no/such/pack").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// ```
pub fn load_pack(folder: impl AsRef<Path>) -> Result<Arc<Rules>, Vec<ReadError>> {
    let folder = folder.as_ref();
    let packs = read_packs([folder]).map_err(|e| e.into_vec())?;
    let host = host_names(&packs);
    let docs = packs.into_iter().flat_map(|p| p.documents.docs);
    builder_of(docs, &host).build().map_err(|error| {
        let place = folder.display().to_string();
        let errors = error.issues.iter().filter(|i| i.severity == Severity::Error);
        errors.map(|i| issue_error(i, &place)).collect()
    })
}

/// What packs leave to host code.
pub(crate) fn host_names(packs: &[Pack]) -> HostNames {
    let mut host = HostNames::default();
    packs.iter().filter_map(|p| p.file.as_ref()).for_each(|f| host.extend(&f.host));
    host
}

/// A builder with documents and with stand-ins for what host code would provide.
pub(crate) fn builder_of(docs: impl IntoIterator<Item = Loaded>, host: &HostNames) -> RulesBuilder {
    host.stand_in(docs.into_iter().fold(Rules::builder(), |b, loaded| b.add_at(loaded.doc, loaded.origin)))
}
