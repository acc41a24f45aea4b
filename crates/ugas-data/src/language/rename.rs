//! Another name for a definition, in every file that says the old one. A rename that would change what anything means
//! is refused: the documents with the edits are read and checked before the edits are handed out.

use super::names::{is_under, name_in, scope};
use super::scenario;
use crate::names::Names;
use crate::{Diagnostic, Edit, Mention, Project, Severity, SymbolKind, place_of};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What a rename changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// What kind of name it is.
    pub kind: SymbolKind,
    /// The name it had.
    pub old: String,
    /// The edits of each file, by rising place.
    pub edits: BTreeMap<PathBuf, Vec<Edit>>,
}

/// Why there is no rename, in words for the person who asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameError(pub String);

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RenameError {}

/// Renames what stands at a byte of a file, also in scenarios that stand on its pack. A tag takes the tags below it along.
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
        return refuse("no name stands here that could be changed".to_owned());
    };
    let (kind, old) = (found.kind, found.name);
    // What has a namespace keeps it; it may be written or left out.
    let space = old.rsplit_once("::").map(|(space, _)| format!("{space}::")).unwrap_or_default();
    let new = new.strip_prefix(space.as_str()).unwrap_or(new);
    if let Some(why) = unfit(kind, new) {
        return refuse(why);
    }
    let new = &format!("{space}{new}");
    let renamed = |m: &Mention| -> Option<String> {
        let below = m.kind == SymbolKind::Tag && is_under(&m.name, &old);
        (m.kind == kind && (m.name == old || below)).then(|| format!("{new}{}", &m.name[old.len()..]))
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
                return refuse(format!("{} is already used at {}:{line}:{column}", m.name, source.name));
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
        return refuse(format!("{old} is defined in none of these files"));
    }
    // Scenarios that stand on the pack say the name too, always whole.
    for source in project.sources() {
        let more = scenario::rename_in(project, source, &homes, kind, &old, new);
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

/// Tags that the runtime looks for by name.
const OF_THE_RUNTIME: [&str; 3] = ["Event.Damage.Dealt", "Event.Damage.Taken", "State.Moving"];

/// Tags below which the runtime treats every tag in a way of its own.
const HOMES: [&str; 2] = ["Cooldown", "GameplayCue"];

/// Why the runtime would take a tag for something else under another name.
fn misunderstood(old: &str, new: &str) -> Option<String> {
    if let Some(known) = [old, new].into_iter().find(|t| OF_THE_RUNTIME.contains(t)) {
        return Some(format!("the runtime knows {known} by its name"));
    }
    let at_home = |tag: &str, home: &str| tag == home || is_under(tag, home);
    let home = HOMES.into_iter().find(|home| at_home(old, home) != at_home(new, home))?;
    Some(format!("the runtime treats tags below {home} in a way of its own; {old} cannot become {new}"))
}

/// Whether a mention would be confused with what gets the new name.
fn taken(m: &Mention, kind: SymbolKind, new: &str) -> bool {
    m.kind == kind && (m.name == new || kind == SymbolKind::Tag && is_under(&m.name, new))
}

/// What speaks against a name of a kind.
fn unfit(kind: SymbolKind, new: &str) -> Option<String> {
    let segment = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let begins = new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match kind {
        SymbolKind::Tag if !begins || !new.split('.').all(segment) => {
            Some(format!("{new:?} is no tag; write words of letters, digits and _ with dots between them"))
        }
        SymbolKind::Attribute if !segment(new) || !new.starts_with(|c: char| c.is_ascii_uppercase()) => Some(format!(
            "{new:?} is no name for an attribute; begin with a capital letter and go on with letters, digits and _"
        )),
        _ if kind != SymbolKind::Tag && !(begins && segment(new)) => {
            Some(format!("{new:?} is no name; begin with a letter and go on with letters, digits and _"))
        }
        _ => None,
    }
}

impl Rename {
    /// The project with the edits in it.
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

/// That every name of every file is what it was but for the new one, and that there is no new error. Warnings about the
/// new name itself are for its author to heed.
fn verify(before: &Project, after: &Project, renamed: &impl Fn(&Mention) -> Option<String>) -> Result<(), String> {
    let (names, new_names) = (Names::of(before), Names::of(after));
    for (i, old) in before.sources().iter().enumerate() {
        let was = names.all_of(i).map(|m| (m.kind, renamed(m).unwrap_or_else(|| m.name.clone()), m.definition));
        let is = new_names.all_of(i).map(|m| (m.kind, m.name.clone(), m.definition));
        if !was.eq(is) {
            return Err(format!("{} would no longer read the same with that name", old.name));
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
        Some(f) => Err(format!("with that name {}:{}:{}: {}", f.file, f.line, f.column, f.message)),
        None => Ok(()),
    }
}
