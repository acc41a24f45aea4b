//! Renames a definition in every file. The edited documents are read and checked before the edits are returned. A
//! rename that would change the meaning of a document is rejected.

use super::names::{is_under, name_in, scope};
use super::scenario;
use crate::names::Names;
use crate::{Diagnostic, Edit, Mention, Project, Severity, SymbolKind, place_of};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use ugas_core::tag_segments;
use ugas_doc::Kind;

/// The edits of a rename.
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// The kind of the name.
    pub kind: SymbolKind,
    /// The old name.
    pub old: String,
    /// The edits of each file, sorted by position.
    pub edits: BTreeMap<PathBuf, Vec<Edit>>,
}

/// The error for a rejected rename, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameError(pub String);

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RenameError {}

/// Returns the edits that rename the name at a byte offset of a file, including the edits of scenarios that use the
/// pack of the definition. Renaming a tag also renames its child tags.
///
/// ```
/// use ugas_data::{Project, language};
/// let mut project = Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Hurt}, {Tag: State.Hurt.Badly}]\n");
/// let rename = language::rename(&project, "tags.yaml".as_ref(), 40, "State.Wounded").unwrap();
/// let edits = &rename.edits[std::path::Path::new("tags.yaml")];
/// assert_eq!(edits[1].text, "State.Wounded.Badly");
/// ```
pub fn rename(project: &Project, path: &Path, at: usize, new: &str) -> Result<Rename, RenameError> {
    let refuse = |why: String| Err(RenameError(why));
    let names = Names::of(project);
    let Some(found) = name_in(project, &names, path, at) else {
        return refuse("found no name to rename at this place; select a name".to_owned());
    };
    let (kind, old) = (found.kind, found.name);
    // The namespace is kept; it is optional in the new name.
    let space = old.rsplit_once("::").map(|(space, _)| format!("{space}::")).unwrap_or_default();
    let new = new.strip_prefix(space.as_str()).unwrap_or(new);
    if let Some(why) = unfit(kind, new) {
        return refuse(why);
    }
    let new = &format!("{space}{new}");
    let bounds = bounds_of(project, &names, kind, &old, new, &space);
    let renamed = |m: &Mention| -> Option<String> {
        let below = m.kind == SymbolKind::Tag && is_under(&m.name, &old);
        let is_it = is_same_kind(m.kind, kind) && (m.name == old || below);
        let bound = || bounds.iter().find(|bound| m.kind == kind && bound.0 == m.name).map(|bound| bound.1.clone());
        if is_it { Some(format!("{new}{}", &m.name[old.len()..])) } else { bound() }
    };
    let seen = scope(project, &names, path, |m| renamed(m).is_some());
    let mut edits: BTreeMap<PathBuf, Vec<Edit>> = BTreeMap::new();
    let mut defined = false;
    let mut homes: Vec<PathBuf> = Vec::new();
    for &i in &seen {
        let source = &project.sources()[i];
        for m in names.all_of(i) {
            if old != *new && taken(m, kind, new) && renamed(m).is_none() {
                let (line, column) = place_of(&source.text, m.span.start as usize);
                return refuse(format!(
                    "{} is already used at {}:{line}:{column}; choose another name",
                    m.name, source.name
                ));
            }
            if let Some(text) = renamed(m) {
                if let Some(why) =
                    Some(kind).filter(|k| *k == SymbolKind::Tag).and_then(|_| misunderstood(&m.name, &text))
                {
                    return refuse(why);
                }
                defined |= m.definition;
                homes.extend(project.home(&source.path).filter(|_| m.definition));
                let is_short = m.span.of(&source.text) != Some(&m.name);
                let text = text.strip_prefix(space.as_str()).filter(|_| is_short).map_or(text.clone(), str::to_owned);
                edits.entry(source.path.clone()).or_default().push(Edit { span: m.span, text });
            }
        }
    }
    if !defined {
        return refuse(format!("the project does not define {old}; rename it where it is defined"));
    }
    // Scenarios that use the pack contain the qualified name.
    for source in project.sources() {
        let words = bounds.iter().map(|(old, new)| (old, new)).chain([(&old, new)]);
        let more: Vec<Edit> =
            words.flat_map(|(old, new)| scenario::rename_in(project, source, &homes, kind, old, new)).collect();
        if !more.is_empty() {
            edits.entry(source.path.clone()).or_default().extend(more);
        }
    }
    for list in edits.values_mut() {
        list.sort_by_key(|e| e.span);
        list.dedup();
    }
    let rename = Rename { kind, old: old.clone(), edits };
    let after = rename.applied(project);
    verify(project, &after, &renamed).map_err(RenameError)?;
    Ok(rename)
}

/// Returns whether names of two kinds are the same name: ability sets and capability sets share their names.
fn is_same_kind(a: SymbolKind, b: SymbolKind) -> bool {
    let is_set = |kind: SymbolKind| matches!(kind, SymbolKind::AbilitySet | SymbolKind::CapabilitySet);
    a == b || is_set(a) && is_set(b)
}

/// Returns the old and new names of the bounds that a resource defines. A bound that is also the name of something else,
/// such as the stat that it follows, keeps its name.
fn bounds_of(
    project: &Project,
    names: &Names,
    kind: SymbolKind,
    old: &str,
    new: &str,
    space: &str,
) -> Vec<(String, String)> {
    let (short, new) = (&old[space.len()..], &new[space.len()..]);
    let is_it = |doc: &crate::SourceDoc| {
        doc.kind == Some(Kind::Resource) && doc.tree.get("Name").and_then(crate::Node::as_text) == Some(short)
    };
    let is_resource = kind == SymbolKind::Attribute && project.sources().iter().any(|s| s.docs.iter().any(is_it));
    let is_defined = |name: &str| {
        let mut all = (0..project.sources().len()).flat_map(|i| names.all_of(i));
        all.any(|m| m.kind == kind && m.definition && m.name == name)
    };
    let bounds = ["Max", "Min"].into_iter().filter(|_| is_resource);
    let bounds = bounds.map(|bound| (format!("{space}{bound}{short}"), format!("{space}{bound}{new}")));
    bounds.filter(|(old, _)| !is_defined(old)).collect()
}

/// Tags that the runtime uses by name.
const OF_THE_RUNTIME: [&str; 3] = ["Event.Damage.Dealt", "Event.Damage.Taken", "State.Moving"];

/// Tags whose children have a special meaning in the runtime.
const SPECIAL_PARENTS: [&str; 2] = ["Cooldown", "GameplayCue"];

/// Returns why the runtime would treat a renamed tag differently.
fn misunderstood(old: &str, new: &str) -> Option<String> {
    if let Some(known) = [old, new].into_iter().find(|t| OF_THE_RUNTIME.contains(t)) {
        return Some(format!("the runtime uses the tag {known} by name; choose another tag"));
    }
    let at_home = |tag: &str, home: &str| tag == home || is_under(tag, home);
    let home = SPECIAL_PARENTS.into_iter().find(|home| at_home(old, home) != at_home(new, home))?;
    Some(format!("cannot rename {old} to {new}: tags below {home} have a special meaning; keep the first part"))
}

/// Returns whether a name conflicts with the new name.
fn taken(m: &Mention, kind: SymbolKind, new: &str) -> bool {
    is_same_kind(m.kind, kind) && (m.name == new || kind == SymbolKind::Tag && is_under(&m.name, new))
}

/// Returns why a name is invalid for its kind.
fn unfit(kind: SymbolKind, new: &str) -> Option<String> {
    let segment = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let begins = new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_whole = begins && segment(new);
    if kind == SymbolKind::Tag {
        return tag_segments(new).is_none().then(|| {
            format!(
                "{new:?} is not a valid tag; join segments with dots, start each segment with a capital letter and use \
                 letters and digits"
            )
        });
    }
    if kind == SymbolKind::Attribute && !(segment(new) && new.starts_with(|c: char| c.is_ascii_uppercase())) {
        return Some(format!(
            "{new:?} is not a valid attribute name; start with a capital letter and use letters, digits and _"
        ));
    }
    (!is_whole).then(|| format!("{new:?} is not a valid name; start with a letter and use letters, digits and _"))
}

impl Rename {
    /// Returns a copy of the project with the edits applied.
    pub fn applied(&self, project: &Project) -> Project {
        let mut after = project.clone();
        for (path, edits) in &self.edits {
            let Some(source) = project.sources().iter().find(|s| s.path == *path) else { continue };
            if let Some(text) = Edit::apply_all(edits, &source.text) {
                after.put(path, text);
            }
        }
        after
    }
}

/// Checks that all other names are unchanged and that there are no new errors. New warnings are allowed.
fn verify(before: &Project, after: &Project, renamed: &impl Fn(&Mention) -> Option<String>) -> Result<(), String> {
    let (names, new_names) = (Names::of(before), Names::of(after));
    for (i, old) in before.sources().iter().enumerate() {
        let was = names.all_of(i).map(|m| (m.kind, renamed(m).unwrap_or_else(|| m.name.clone()), m.definition));
        let is = new_names.all_of(i).map(|m| (m.kind, m.name.clone(), m.definition));
        if !was.eq(is) {
            return Err(format!("the rename would change other values in {}; choose another name", old.name));
        }
    }
    let count = |findings: &[Diagnostic]| {
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        let errors = findings.iter().filter(|f| f.severity == Severity::Error);
        errors.for_each(|f| *ids.entry(f.id.clone()).or_default() += 1);
        ids
    };
    let (had, found) = (before.check(), after.check());
    let had = count(&had);
    let more = count(&found).into_iter().find(|(id, n)| had.get(id).is_none_or(|m| m < n));
    match more.and_then(|(id, _)| found.into_iter().find(|f| f.id == id)) {
        Some(f) => Err(format!("the rename causes an error: {}:{}:{}: {}", f.file, f.line, f.column, f.message)),
        None => Ok(()),
    }
}
