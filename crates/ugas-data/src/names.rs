//! Resolves the names of a project. A pack with a `Namespace` uses short names for its own definitions; other packs and
//! the rules use `namespace::Name`. This module converts short names to qualified names. Tags have no namespace,
//! because packs share them.

use crate::patch::{PatchPath, nested};
use crate::project::{Project, Source, SourceDoc};
use crate::symbol::{Mention, SymbolKind, mentions};
use crate::{Node, Span};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_doc::Kind;

/// The namespace of a pack.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) name: String,
    own: BTreeSet<(SymbolKind, String)>,
}

impl Space {
    /// Returns the qualified name of a name that a document of the pack writes.
    pub(crate) fn whole(&self, kind: SymbolKind, written: &str) -> String {
        let is_own = |kind, name: &str| self.own.contains(&(kind, name.to_owned()));
        let space = &self.name;
        if kind == SymbolKind::Tag || written.contains("::") {
            return written.to_owned();
        }
        match written.split_once('.') {
            _ if is_own(kind, written) => format!("{space}::{written}"),
            Some((set, name)) if is_own(SymbolKind::AttributeSet, set) && is_own(kind, name) => {
                format!("{space}::{set}.{space}::{name}")
            }
            _ => written.to_owned(),
        }
    }

    /// Returns a qualified name as documents of the pack may write it.
    pub(crate) fn short<'n>(&self, whole: &'n str) -> &'n str {
        whole.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix("::")).unwrap_or(whole)
    }

    /// Shortens the pack's own names in a message.
    pub(crate) fn shorten(&self, text: &str) -> String {
        let prefix = format!("{}::", self.name);
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(&prefix) {
            let (before, after) = rest.split_at(at);
            out.push_str(before);
            if out.ends_with(part) {
                out.push_str(&prefix);
            }
            rest = &after[prefix.len()..];
        }
        out + rest
    }
}

/// The names of one document.
#[derive(Debug, Default)]
pub(crate) struct DocNames {
    /// The kind; for a patch, the kind of its target.
    pub(crate) kind: Option<Kind>,
    /// Its qualified names.
    pub(crate) mentions: Vec<Mention>,
}

/// The names of every document of a project, by file and document.
#[derive(Debug, Default)]
pub(crate) struct Names {
    files: Vec<Vec<DocNames>>,
    spaces: Vec<Option<Arc<Space>>>,
    used: OnceCell<BTreeSet<(SymbolKind, String)>>,
    places: OnceCell<BTreeMap<String, Vec<(usize, Mention)>>>,
}

impl Names {
    pub(crate) fn of(project: &Project) -> Names {
        let of_doc = |source: &Source, d: &SourceDoc| DocNames {
            kind: d.kind,
            mentions: d.kind.map(|kind| mentions(kind, &d.tree, &source.text)).unwrap_or_default(),
        };
        let files: Vec<Vec<DocNames>> =
            project.sources().iter().map(|s| s.docs.iter().map(|d| of_doc(s, d)).collect()).collect();
        let mut names = Names { spaces: spaces(project, &files), files, ..Names::default() };
        names.make_whole();
        names.read_patches(project);
        names
    }

    /// Returns the names of the documents of a file.
    pub(crate) fn of_file(&self, file: usize) -> &[DocNames] {
        self.files.get(file).map_or(&[], Vec::as_slice)
    }

    /// Returns all names of a file.
    pub(crate) fn all_of(&self, file: usize) -> impl Iterator<Item = &Mention> {
        self.of_file(file).iter().flat_map(|d| &d.mentions)
    }

    /// Returns the namespace of the pack of a file.
    pub(crate) fn space(&self, file: usize) -> Option<&Arc<Space>> {
        self.spaces.get(file)?.as_ref()
    }

    /// Returns every occurrence of a name, with its file.
    pub(crate) fn places(&self, name: &str) -> &[(usize, Mention)] {
        let places = self.places.get_or_init(|| {
            let mut places: BTreeMap<String, Vec<(usize, Mention)>> = BTreeMap::new();
            for file in 0..self.files.len() {
                for m in self.all_of(file) {
                    places.entry(m.name.clone()).or_default().push((file, m.clone()));
                }
            }
            places
        });
        places.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a document of the project refers to a name.
    pub(crate) fn is_used(&self, kind: SymbolKind, name: &str) -> bool {
        let used = self.used.get_or_init(|| {
            let all = self.files.iter().flatten().flat_map(|d| &d.mentions).filter(|m| !m.definition);
            all.map(|m| (m.kind, m.name.clone())).collect()
        });
        used.contains(&(kind, name.to_owned()))
    }

    fn make_whole(&mut self) {
        for (docs, space) in self.files.iter_mut().zip(&self.spaces) {
            let Some(space) = space else { continue };
            for m in docs.iter_mut().flat_map(|d| &mut d.mentions) {
                m.name = space.whole(m.kind, &m.name);
            }
        }
    }

    /// The names in a patch depend on the kind of its target.
    fn read_patches(&mut self, project: &Project) {
        let is_patch = |d: &DocNames| d.kind == Some(Kind::Patch);
        if !self.files.iter().flatten().any(is_patch) {
            return;
        }
        let mut defined: BTreeMap<String, Vec<(Kind, SymbolKind)>> = BTreeMap::new();
        for d in self.files.iter().flatten() {
            let Some(kind) = d.kind else { continue };
            // The name of a set comes before those of its attributes.
            if let Some(m) = d.mentions.iter().find(|m| m.definition && m.kind != SymbolKind::Tag) {
                defined.entry(m.name.clone()).or_default().push((kind, m.kind));
            }
        }
        for (file, source) in project.sources().iter().enumerate() {
            let space = self.spaces[file].clone();
            for (at, doc) in source.docs.iter().enumerate().filter(|(_, d)| d.kind == Some(Kind::Patch)) {
                let Some((name, node)) = target_of(&doc.tree, space.as_deref(), |n| defined.contains_key(n)) else {
                    continue;
                };
                let wanted = doc.tree.get("TargetKind").and_then(Node::as_text);
                let kinds = defined.get(&name).map_or(&[][..], Vec::as_slice);
                let found = kinds.iter().find(|(kind, _)| wanted.is_none_or(|w| w == kind.name()));
                let Some(&(kind, symbol)) = found else { continue };
                let mut all = names_of_patch(kind, &doc.tree, &source.text);
                if let Some(space) = &space {
                    all.iter_mut().for_each(|m| m.name = space.whole(m.kind, &m.name));
                }
                if let Some(span) = text_span(node, &source.text) {
                    let key = "Target".to_owned();
                    all.push(Mention { kind: symbol, name, span, definition: false, key });
                    // Names are rewritten in the order of the file.
                    all.sort_by_key(|m| m.span.start);
                }
                self.files[file][at] = DocNames { kind: Some(kind), mentions: all };
            }
        }
    }
}

/// Returns the qualified name of the target of a patch, and its place.
pub(crate) fn target_of<'t>(
    patch: &'t Node,
    space: Option<&Space>,
    is_defined: impl Fn(&str) -> bool,
) -> Option<(String, &'t Node)> {
    let node = patch.get("Target")?;
    let written = node.as_text()?;
    let own = space.map(|s| format!("{}::{written}", s.name)).filter(|name| is_defined(name));
    Some((own.unwrap_or_else(|| written.to_owned()), node))
}

/// Returns the names in the values of a patch, as written.
pub(crate) fn names_of_patch(kind: Kind, patch: &Node, text: &str) -> Vec<Mention> {
    let entries = patch.get("Set").map_or(&[][..], Node::entries);
    let mut all: Vec<Mention> = Vec::new();
    for entry in entries {
        let Ok(way) = PatchPath::parse(&entry.key) else { continue };
        all.extend(mentions(kind, &nested(&way, entry), text).into_iter().filter(|m| !m.definition));
    }
    all
}

fn text_span(node: &Node, text: &str) -> Option<Span> {
    let name = node.as_text()?;
    let at = node.span.start as usize + node.span.of(text)?.find(name)?;
    Some(Span::new(at, at + name.len()))
}

/// Returns the namespace of the pack of each file.
fn spaces(project: &Project, files: &[Vec<DocNames>]) -> Vec<Option<Arc<Space>>> {
    let named: BTreeMap<_, _> = project.namespaces();
    if named.is_empty() {
        return vec![None; files.len()];
    }
    let homes: Vec<_> = project.sources().iter().map(|s| project.home(&s.path)).collect();
    let mut own: BTreeMap<_, BTreeSet<(SymbolKind, String)>> = BTreeMap::new();
    for (docs, home) in files.iter().zip(&homes) {
        let Some(home) = home.as_ref().filter(|h| named.contains_key(*h)) else { continue };
        let own = own.entry(home.clone()).or_default();
        for d in docs {
            for m in d.mentions.iter().filter(|m| m.definition) {
                own.insert((m.kind, m.name.clone()));
                // A standalone attribute and a resource are also attribute sets of the same name.
                if let Some(Kind::Attribute | Kind::Resource) = d.kind {
                    own.insert((SymbolKind::AttributeSet, m.name.clone()));
                }
                if d.kind == Some(Kind::Resource) {
                    own.extend(["Max", "Min"].map(|bound| (SymbolKind::Attribute, format!("{bound}{}", m.name))));
                }
                // Ability sets and capability sets share their names, and a field for one accepts the other.
                if matches!(d.kind, Some(Kind::AbilitySet | Kind::CapabilitySet)) {
                    own.insert((SymbolKind::AbilitySet, m.name.clone()));
                    own.insert((SymbolKind::CapabilitySet, m.name.clone()));
                }
            }
        }
    }
    let spaces: BTreeMap<_, Arc<Space>> = named
        .into_iter()
        .map(|(home, name)| (home.clone(), Arc::new(Space { name, own: own.remove(&home).unwrap_or_default() })))
        .collect();
    homes.into_iter().map(|home| home.and_then(|h| spaces.get(&h).cloned())).collect()
}

/// Returns the tree of a document with qualified names; places are those of the file.
pub(crate) fn with_names(tree: &Node, text: &str, names: &[Mention]) -> Node {
    let mut out = tree.clone();
    write_names(&mut out, text, names);
    out
}

fn write_names(node: &mut Node, text: &str, names: &[Mention]) {
    use crate::NodeValue::{Bool, List, Map, Null, Number, Text};
    let span = node.span;
    match &mut node.value {
        Text(value) => rewrite(value, span, text, names),
        List(items) => items.iter_mut().for_each(|n| write_names(n, text, names)),
        Map(entries) => {
            for e in entries {
                rewrite(&mut e.key, e.span, text, names);
                write_names(&mut e.value, text, names);
            }
        }
        Null | Bool(_) | Number(_) => {}
    }
}

fn rewrite(value: &mut String, span: Span, text: &str, names: &[Mention]) {
    // The names are in the order of the file.
    let first = names.partition_point(|m| m.span.start < span.start);
    let within = names[first..].iter().take_while(|m| m.span.end <= span.end);
    let Some(start) = span.of(text).and_then(|cut| cut.find(value.as_str())) else { return };
    let start = span.start as usize + start;
    let mut grown = 0;
    for m in within {
        let (from, to) = (m.span.start as usize, m.span.end as usize);
        if from >= start && to - start + grown <= value.len() && m.span.of(text) != Some(&m.name) {
            value.replace_range(from - start + grown..to - start + grown, &m.name);
            grown = (grown + m.name.len()).saturating_sub(to - from);
        }
    }
}

/// Converts a column in a text with qualified names to the column as written, both from 1.
pub(crate) fn written_column(column: usize, start: u32, names: &[Mention]) -> usize {
    let mut grown = 0;
    for m in names.iter().filter(|m| m.span.start >= start) {
        let from = (m.span.start - start) as usize + 1;
        let written = (m.span.end - m.span.start) as usize;
        if column < from + grown {
            break;
        }
        if column < from + grown + m.name.len() {
            return from;
        }
        grown += m.name.len().saturating_sub(written);
    }
    column - grown
}
