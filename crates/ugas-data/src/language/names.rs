//! Finds the name at a byte offset of a file, and all occurrences of a name.

use crate::names::Names;
use crate::{Mention, Project, Span, SymbolKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file and a span in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The span.
    pub span: Span,
}

/// Returns the qualified name at a byte offset of a file, or the name that ends directly before the offset.
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
    // If two names touch the cursor, the one that starts there is used.
    found.sort_by_key(|m| std::cmp::Reverse(m.span.start));
    found.first().map(|m| (*m).clone())
}

/// Returns the definitions to which a name in a file refers. If a tag itself is not declared, but child tags of it are,
/// the declarations of the child tags are returned.
pub fn definitions(project: &Project, path: &Path, kind: SymbolKind, name: &str) -> Vec<Place> {
    let names = Names::of(project);
    let seen = scope(project, &names, path, |m| m.kind == kind && m.name == name);
    let exact = places(project, &names, &seen, |m| m.definition && m.kind == kind && m.name == name);
    if !exact.is_empty() || kind != SymbolKind::Tag {
        return exact;
    }
    places(project, &names, &seen, |m| m.definition && m.kind == kind && is_under(&m.name, name))
}

/// Returns every occurrence of a name, including its definitions. The result contains the occurrences in every document
/// set that shares the definition with the file. The same name in an unrelated pack is a different definition.
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

/// Returns whether a tag is a child of another.
pub(super) fn is_under(tag: &str, of: &str) -> bool {
    tag.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the files in which a name has the same definition as in `path`.
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
