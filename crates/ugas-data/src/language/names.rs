//! From a place in a file to the name that stands there, and from a name to every place it stands at.

use crate::names::Names;
use crate::{Mention, Project, Span, SymbolKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A stretch of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The stretch.
    pub span: Span,
}

/// The name at a byte of a file, or right before it: the whole one, with the namespace of its pack.
///
/// ```
/// use ugas_data::{Project, language};
/// let mut project = Project::default();
/// project.put("hit.yaml", "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\n");
/// assert_eq!(language::name_at(&project, "hit.yaml".as_ref(), 30).unwrap().name, "GE_Hit");
/// assert_eq!(language::name_at(&project, "hit.yaml".as_ref(), 3), None);
/// ```
pub fn name_at(project: &Project, path: &Path, at: usize) -> Option<Mention> {
    name_in(project, &Names::of(project), path, at)
}

pub(super) fn name_in(project: &Project, names: &Names, path: &Path, at: usize) -> Option<Mention> {
    let file = project.sources().iter().position(|s| s.path == path)?;
    let mut found: Vec<&Mention> = names.all_of(file).filter(|m| m.span.touches(at)).collect();
    // Where two touch the cursor, the one that begins there is meant.
    found.sort_by_key(|m| std::cmp::Reverse(m.span.start));
    found.first().map(|m| (*m).clone())
}

/// Where a name is defined, as a file sees it. A tag that is only implied by tags below it is defined by those.
pub fn definitions(project: &Project, path: &Path, kind: SymbolKind, name: &str) -> Vec<Place> {
    let names = Names::of(project);
    let seen = scope(project, &names, path, |m| m.kind == kind && m.name == name);
    let exact = places(project, &names, &seen, |m| m.definition && m.kind == kind && m.name == name);
    if !exact.is_empty() || kind != SymbolKind::Tag {
        return exact;
    }
    places(project, &names, &seen, |m| m.definition && m.kind == kind && is_under(&m.name, name))
}

/// Every place a name stands at, its definitions among them, as a file sees it: in each set of documents that shares
/// one of the name's definitions with the file's own set. The same name in a pack of its own is another thing.
///
/// ```
/// use ugas_data::{Project, SymbolKind, language};
/// let mut project = Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Hurt}]\n");
/// project.put("hit.yaml", "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Infinite\nGrantedTags: [State.Hurt]\n");
/// let found = language::references(&project, "hit.yaml".as_ref(), SymbolKind::Tag, "State.Hurt");
/// assert_eq!(found.len(), 2);
/// ```
pub fn references(project: &Project, path: &Path, kind: SymbolKind, name: &str) -> Vec<Place> {
    references_in(project, &Names::of(project), path, kind, name)
}

pub(super) fn references_in(project: &Project, names: &Names, path: &Path, kind: SymbolKind, name: &str) -> Vec<Place> {
    let is_it = |m: &Mention| m.kind == kind && m.name == name;
    places(project, names, &scope(project, names, path, is_it), is_it)
}

/// Whether a tag stands below another.
pub(super) fn is_under(tag: &str, of: &str) -> bool {
    tag.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'))
}

/// The files, as places in the project, in which a name means what it means in `path`.
pub(super) fn scope(
    project: &Project,
    names: &Names,
    path: &Path,
    is_it: impl Fn(&Mention) -> bool,
) -> BTreeSet<usize> {
    let Some(index) = project.sources().iter().position(|s| s.path == path) else { return BTreeSet::new() };
    let defines: Vec<bool> =
        (0..project.sources().len()).map(|i| names.all_of(i).any(|m| m.definition && is_it(m))).collect();
    let sets: Vec<BTreeSet<usize>> =
        project.sets().iter().map(|set| set.own.iter().chain(&set.required).copied().collect()).collect();
    let mut seen: BTreeSet<usize> = sets.iter().filter(|set| set.contains(&index)).flatten().copied().collect();
    loop {
        let shares = |set: &&BTreeSet<usize>| set.iter().any(|i| defines[*i] && seen.contains(i));
        let more: BTreeSet<usize> = sets.iter().filter(shares).flatten().copied().collect();
        if more.is_subset(&seen) {
            return seen;
        }
        seen.extend(more);
    }
}

fn places(project: &Project, names: &Names, seen: &BTreeSet<usize>, wanted: impl Fn(&Mention) -> bool) -> Vec<Place> {
    let mut found = Vec::new();
    for &i in seen {
        let path = &project.sources()[i].path;
        let here = names.all_of(i).filter(|m| wanted(m));
        found.extend(here.map(|m| Place { path: path.clone(), span: m.span }));
    }
    found
}
