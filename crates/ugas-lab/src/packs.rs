//! Packs as rules: their documents, those of the packs they require, and stand-ins for what they leave to host code.

use crate::run::world::issue_error;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use ugas_core::{Rules, RulesBuilder, Severity};
use ugas_data::{Loaded, Pack, ReadError, read_packs};

/// Compiles the rules of a pack and of everything it requires. What its `pack.yaml` leaves to host code has stand-ins.
///
/// ```
/// let errors = ugas_lab::load_pack("no/such/pack").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// ```
pub fn load_pack(folder: impl AsRef<Path>) -> Result<Arc<Rules>, Vec<ReadError>> {
    let folder = folder.as_ref();
    let packs = read_packs([folder]).map_err(|e| e.into_vec())?;
    let calculations = host_calculations(&packs);
    let docs = packs.into_iter().flat_map(|p| p.documents.docs);
    builder_of(docs, &calculations).build().map_err(|error| {
        let place = folder.display().to_string();
        let errors = error.issues.iter().filter(|i| i.severity == Severity::Error);
        errors.map(|i| issue_error(i, &place)).collect()
    })
}

/// The calculations that packs leave to host code.
pub(crate) fn host_calculations(packs: &[Pack]) -> BTreeSet<String> {
    packs.iter().filter_map(|p| p.file.as_ref()).flat_map(|f| f.host.calculations.iter().cloned()).collect()
}

/// A builder with documents and with stand-ins for what host code would provide: they read nothing and give 0.
pub(crate) fn builder_of(docs: impl IntoIterator<Item = Loaded>, calculations: &BTreeSet<String>) -> RulesBuilder {
    let builder = docs.into_iter().fold(Rules::builder(), |b, loaded| b.add_at(loaded.doc, loaded.origin));
    calculations.iter().fold(builder, |b, name| b.calc_fn(name, [], |cx| cx.give(0.0)))
}
