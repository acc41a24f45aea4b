//! Completion. The file is read again with an invalid word at the cursor. The resulting error shows what is valid at
//! the cursor: a name of a certain kind, or certain fields or values.

use crate::folder::PACK_FILE;
use crate::names::Names;
use crate::parse::parse;
use crate::{Mention, Node, NodeValue, Project, Source, Span, SymbolKind};
use std::collections::BTreeMap;
use std::path::Path;
use ugas_doc::Kind;

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// The name of a definition.
    Name(SymbolKind),
    /// A field of a map.
    Field,
    /// One of a fixed list of values.
    Word,
}

/// A completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text to insert.
    pub text: String,
    /// The kind.
    pub kind: CompletionKind,
    /// A short description.
    pub detail: String,
    /// The span of the file that `text` replaces.
    pub replace: Span,
}

/// A word that no document contains. It starts like an attribute, so that expressions accept it.
const PROBE: &str = "Qz0UgasProbe0zQ";

/// The maximum number of bytes that are read for one completion.
const MAX_TRIED: usize = 1 << 20;

/// Returns the completions at a byte offset of a file, in alphabetical order.
///
/// ```
/// use ugas_data::{Project, language};
/// let mut project = Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Hurt}]\n");
/// let text = "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Infinite\nGrantedTags: [St]\n";
/// project.put("hit.yaml", text);
/// let found = language::complete(&project, "hit.yaml".as_ref(), text.find("]").unwrap());
/// assert_eq!(found[0].text, "State.Hurt");
/// ```
pub fn complete(project: &Project, path: &Path, at: usize) -> Vec<Completion> {
    let Some(source) = project.sources().iter().find(|s| s.path == path) else { return Vec::new() };
    let Some(word) = word_at(&source.text, at) else { return Vec::new() };
    let (start, end) = (word.start as usize, word.end as usize);
    let line = source.text[..start].rsplit('\n').next().unwrap_or("");
    let has_colon = source.text[end..].trim_start_matches(['"', '\'']).starts_with(':');
    let key = if has_colon { PROBE.to_owned() } else { format!("{PROBE}: 0") };
    let begins_line = line.chars().all(|c| c == ' ' || c == '-');
    let mut probes = vec![PROBE.to_owned(), key];
    if begins_line {
        probes.reverse();
    }
    // Brackets and quotes may be open.
    let closed =
        ["]", "}", "}]", "\"", "\"]"].map(|end| probes.iter().map(move |p| format!("{p}{end}")).collect::<Vec<_>>());
    probes.extend(closed.into_iter().flatten());
    let mut found = Vec::new();
    for (tried, probe) in probes.iter().enumerate() {
        // Every try reads the file, so large files get fewer tries.
        if tried > 1 && tried * source.text.len() > MAX_TRIED {
            break;
        }
        let text = [&source.text[..start], probe, &source.text[end..]].concat();
        found = proposals(project, source, &text, word);
        if !found.is_empty() {
            break;
        }
    }
    found.sort_by(|a, b| a.text.cmp(&b.text));
    found.dedup_by(|a, b| a.text == b.text);
    found
}

/// Returns the word around a byte, without a prefix such as `source.`.
fn word_at(text: &str, at: usize) -> Option<Span> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '$';
    let (before, after) = (text.get(..at)?, text.get(at..)?);
    let mut start = before.trim_end_matches(part).len();
    // A namespace is part of the word.
    while let Some(space) = before[..start].strip_suffix("::").filter(|s| s.ends_with(part)) {
        start = space.trim_end_matches(part).len();
    }
    let end = at + (after.len() - after.trim_start_matches(part).len());
    let owner = ["self.", "source.", "target."].iter().find(|o| before[start..].starts_with(**o));
    Some(Span::new(start + owner.map_or(0, |o| o.len()), end))
}

fn proposals(project: &Project, source: &Source, text: &str, replace: Span) -> Vec<Completion> {
    let (trees, _) = parse(&source.name, text);
    let Some((tree, way)) = trees.iter().find_map(|t| path_to(t).map(|way| (t, way))) else { return Vec::new() };
    let offer = |text: String, kind: CompletionKind, detail: String| Completion { text, kind, detail, replace };
    let is_pack = source.path.file_name().is_some_and(|n| n == PACK_FILE);
    let words = |list: Vec<String>, kind, detail: &str| -> Vec<Completion> {
        list.into_iter().map(|w| offer(w, kind, detail.to_owned())).collect()
    };
    if matches!(way.as_slice(), [CursorStep::Key("Kind")]) && !is_pack {
        let kinds = Kind::ALL.into_iter().map(|k| k.name().to_owned()).collect();
        return words(kinds, CompletionKind::Word, "kind of document");
    }
    // The file may be unreadable while typing; the last readable documents are used.
    let mut typed = project.clone();
    typed.put(source.path.clone(), text);
    let kind = crate::kind_of(&source.name, tree).ok().and_then(|k| match k {
        crate::KindName::Known(kind) => Some(kind),
        crate::KindName::Unsupported(_) => None,
    });
    let mentioned = kind.map(|kind| crate::mentions(kind, tree, text)).unwrap_or_default();
    if let Some(m) = mentioned.iter().find(|m| m.name == PROBE && !m.definition) {
        let names = defined(&typed, &source.path, m);
        return names.into_iter().map(|(name, detail)| offer(name, CompletionKind::Name(m.kind), detail)).collect();
    }
    let expected = expected(tree, &way, is_pack);
    if let Some(Expected::Fields(fields)) = expected {
        let beside = map_of(tree, &way);
        let mut fields: Vec<String> =
            fields.into_iter().filter(|f| beside.is_none_or(|map| map.get(f).is_none())).collect();
        if way.len() == 1 && !is_pack && tree.get("Kind").is_none() && tree.get("$schema").is_none() {
            fields.push("Kind".to_owned());
        }
        return words(fields, CompletionKind::Field, "field");
    }
    if let Some(Expected::Words(list)) = expected {
        return words(list, CompletionKind::Word, "word");
    }
    match (way.as_slice(), kind) {
        ([CursorStep::Key(key)], None) if !is_pack && *key == PROBE => {
            words(vec!["Kind".to_owned()], CompletionKind::Field, "kind of the document")
        }
        ([.., CursorStep::Key("Type")], Some(Kind::Ability)) => match ugas_core::Rules::builder().build() {
            Ok(rules) => {
                let kinds = rules.task_kinds().map(|(_, name, _)| name.to_owned()).collect();
                words(kinds, CompletionKind::Word, "task")
            }
            Err(_) => Vec::new(),
        },
        (way, Some(kind)) if names_hook(kind, way) => {
            let Some(set) = super::set_of(project, &source.path) else { return Vec::new() };
            let hooks = super::host_names(project, &set).flat_map(|host| host.hooks.iter().cloned()).collect();
            words(hooks, CompletionKind::Word, "function of host code")
        }
        _ => Vec::new(),
    }
}

/// Returns whether the key at the end of a path names a hook: a function that host code registers.
fn names_hook(kind: Kind, way: &[CursorStep<'_>]) -> bool {
    use CursorStep::{Index, Key};
    match way {
        [Key("CanActivate")] => kind == Kind::Ability,
        [Key("ApplicationRequirement")] | [Key("Rules"), Index(_), Key("Function")] => kind == Kind::Effect,
        _ => false,
    }
}

/// Returns the names that are valid at a place, with their files.
fn defined(project: &Project, path: &Path, wanted: &Mention) -> BTreeMap<String, String> {
    let Some(set) = super::set_of(project, path) else { return BTreeMap::new() };
    let mut names = BTreeMap::new();
    let all = Names::of(project);
    let here = project.sources().iter().position(|s| s.path == path).and_then(|i| all.space(i));
    for &i in set.required.iter().chain(&set.own) {
        let file = project.sources()[i].path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        for m in all.all_of(i).filter(|m| m.definition && m.kind == wanted.kind && !m.name.ends_with(PROBE)) {
            let name = here.map_or(m.name.as_str(), |space| space.short(&m.name));
            names.entry(name.to_owned()).or_insert_with(|| format!("{} in {file}", m.kind));
        }
    }
    if wanted.kind == SymbolKind::Calculation {
        let host = super::host_calculations(project, &set);
        names.extend(host.map(|name| (name.clone(), "calculation of host code".to_owned())));
    }
    if wanted.kind == SymbolKind::Capability {
        let host = super::host_capabilities(project, &set);
        names.extend(host.map(|name| (name.clone(), "capability of host code".to_owned())));
    }
    names
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CursorStep<'t> {
    Key(&'t str),
    Index(usize),
}

/// Returns the path to the probe.
fn path_to(node: &Node) -> Option<Vec<CursorStep<'_>>> {
    match &node.value {
        NodeValue::Text(text) => text.contains(PROBE).then(Vec::new),
        NodeValue::List(items) => items.iter().enumerate().find_map(|(i, n)| before(CursorStep::Index(i), path_to(n))),
        NodeValue::Map(entries) => entries.iter().find_map(|e| match e.key == PROBE {
            true => Some(vec![CursorStep::Key(&e.key)]),
            false => before(CursorStep::Key(&e.key), path_to(&e.value)),
        }),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => None,
    }
}

fn before<'t>(step: CursorStep<'t>, way: Option<Vec<CursorStep<'t>>>) -> Option<Vec<CursorStep<'t>>> {
    way.map(|mut way| {
        way.insert(0, step);
        way
    })
}

/// Returns the map that contains the last key of a path.
fn map_of<'t>(tree: &'t Node, way: &[CursorStep<'_>]) -> Option<&'t Node> {
    way[..way.len().checked_sub(1)?].iter().try_fold(tree, |node, step| match step {
        CursorStep::Key(key) => node.get(key),
        CursorStep::Index(i) => node.at(*i),
    })
}

enum Expected {
    Fields(Vec<String>),
    Words(Vec<String>),
}

/// Returns what is expected at the probe. Only its path is read, so that no other error is reported.
fn expected(tree: &Node, way: &[CursorStep<'_>], is_pack: bool) -> Option<Expected> {
    let text = narrowed(tree, way);
    let said: Vec<String> = if is_pack {
        let tree = &crate::read_trees("probe.json", &text).ok()?[0];
        crate::from_node::<crate::PackFile>("probe.json", tree).err().into_iter().map(|e| e.message).collect()
    } else {
        crate::read_str("probe.json", &text).err()?.into_vec().into_iter().map(|e| e.message).collect()
    };
    let list = |text: &str| text.split(", ").map(str::to_owned).collect();
    said.iter().find_map(|message| {
        if !message.contains(PROBE) {
            return None;
        }
        let fields = message.split_once("; the fields are ").map(|(_, rest)| Expected::Fields(list(rest)));
        fields.or_else(|| message.split_once(" is not one of ").map(|(_, rest)| Expected::Words(list(rest))))
    })
}

/// Returns the path to the probe as JSON: of each map only the next step and the keys that select its type.
fn narrowed(node: &Node, way: &[CursorStep<'_>]) -> String {
    let Some((step, rest)) = way.split_first() else { return format!("{PROBE:?}") };
    match step {
        CursorStep::Index(i) => format!("[{}]", node.at(*i).map_or("null".to_owned(), |n| narrowed(n, rest))),
        CursorStep::Key(key) => {
            let marks = node.entries().iter().filter(|e| ["Kind", "$schema", "Type"].contains(&e.key.as_str()));
            let marks = marks.filter(|e| e.key != *key).filter_map(|e| Some((e.key.as_str(), e.value.as_text()?)));
            let mut parts: Vec<String> = marks.map(|(key, text)| format!("{key:?}: {text:?}")).collect();
            let value = match node.get(key) {
                Some(value) if *key != PROBE => narrowed(value, rest),
                _ => "0".to_owned(),
            };
            parts.push(format!("{key:?}: {value}"));
            format!("{{{}}}", parts.join(", "))
        }
    }
}
