//! Editor features for a project: hover, completion, go to definition, references and rename. The features are pure
//! functions of a [`Project`] and a byte offset in one of its files. The language server, not this module, implements
//! the Language Server Protocol.
//!
//! The functions also work on incomplete text: they use the part of an invalid document that could be read.

mod complete;
mod hover;
mod index;
mod names;
mod rename;
mod scenario;
mod show;
mod summary;

pub use complete::{Completion, CompletionKind, complete};
pub use hover::{Hover, hover};
pub use index::{Definition, SourceLocation, Use, index};
pub use names::{Place, definitions, name_at, references};
pub use rename::{Rename, RenameError, rename};
pub use show::{About, about, defined_names, show};
pub use summary::{Tooltip, tooltip};

use crate::{DocSet, HostNames, Project};
use std::path::Path;

/// Returns the document set that a file belongs to.
fn set_of(project: &Project, path: &Path) -> Option<DocSet> {
    let index = project.sources().iter().position(|s| s.path == path)?;
    project.sets().into_iter().find(|set| set.own.contains(&index))
}

/// Returns the names that host code provides to a document set.
fn host_names<'p>(project: &'p Project, set: &'p DocSet) -> impl Iterator<Item = &'p HostNames> {
    let files = set.required.iter().chain(&set.own).map(|&i| &project.sources()[i]);
    files.filter_map(|source| source.pack.as_ref()).map(|pack| &pack.host)
}

/// Returns the calculations that host code provides to a document set.
fn host_calculations<'p>(project: &'p Project, set: &'p DocSet) -> impl Iterator<Item = &'p String> {
    host_names(project, set).flat_map(|host| &host.calculations)
}

/// Returns the capability classes that host code provides to a document set.
fn host_capabilities<'p>(project: &'p Project, set: &'p DocSet) -> impl Iterator<Item = &'p String> {
    host_names(project, set).flat_map(|host| &host.capabilities)
}

/// Formats a number with at least one decimal: `18.0`.
fn number(value: f64) -> String {
    // Rounds values such as 17.999999999999996.
    let rounded = (value * 1e9).round() / 1e9;
    format!("{:?}", if rounded.is_finite() { rounded + 0.0 } else { value })
}
