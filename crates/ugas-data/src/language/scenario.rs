//! Renames a definition in the scenarios that use its pack, directly or through a pack that requires it.

use crate::{Edit, Node, NodeValue, Project, Source, Span, SymbolKind, mentions};
use std::path::{Component, Path, PathBuf};

/// Returns the edits in the scenarios of a file when a definition in one of `homes` is renamed.
pub(super) fn rename_in(
    project: &Project,
    source: &Source,
    homes: &[PathBuf],
    kind: SymbolKind,
    old: &str,
    new: &str,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for doc in source.docs.iter().filter(|d| d.tree.get("Scenario").is_some()) {
        let packs = doc.tree.get("Packs").map_or(&[][..], Node::items).iter().filter_map(Node::as_text);
        let folder = source.path.parent().unwrap_or(Path::new(""));
        let mut packs = packs.map(|pack| plain(&folder.join(pack)));
        let stands =
            |pack: PathBuf| homes.contains(&pack) || project.required_packs(&pack).iter().any(|p| homes.contains(p));
        if !packs.any(stands) {
            continue;
        }
        let mut found = Words { text: &source.text, kind, old, spans: Vec::new() };
        for e in doc.tree.entries() {
            match e.key.as_str() {
                "Scenario" | "Covers" | "Packs" => {}
                "Entities" => e.value.items().iter().for_each(|entity| found.entity(&source.name, entity)),
                _ => found.walk(&e.value, &e.key),
            }
        }
        found.spans.sort();
        found.spans.dedup();
        edits.extend(found.spans.into_iter().map(|span| Edit { span, text: new.to_owned() }));
    }
    edits
}

/// Normalizes a path: removes `.` and resolves `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other @ Component::Prefix(_)
            | other @ Component::RootDir
            | other @ Component::ParentDir
            | other @ Component::Normal(_) => out.push(other),
        }
    }
    out
}

struct Words<'t> {
    text: &'t str,
    kind: SymbolKind,
    old: &'t str,
    spans: Vec<Span>,
}

impl Words<'_> {
    fn entity(&mut self, file: &str, node: &Node) {
        let Ok(crate::KindName::Known(kind)) = crate::kind_of(file, node) else { return };
        let is_it = |m: &crate::Mention| m.kind == self.kind && self.fits(&m.name);
        let found: Vec<Span> = mentions(kind, node, self.text)
            .iter()
            .filter(|m| is_it(m))
            .map(|m| Span { start: m.span.start, end: m.span.start + self.old.len() as u32 })
            .collect();
        self.spans.extend(found);
    }

    /// Matches the name, and for a tag also its children.
    fn fits(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.old);
        rest.is_some_and(|r| r.is_empty() || self.kind == SymbolKind::Tag && r.starts_with('.'))
    }

    fn walk(&mut self, node: &Node, key: &str) {
        match &node.value {
            NodeValue::Text(_) => self.words(node.span, ["Attribute", "Resource", "Resources"].contains(&key)),
            NodeValue::List(items) => items.iter().for_each(|n| self.walk(n, key)),
            NodeValue::Map(entries) => entries.iter().for_each(|e| {
                self.words(e.span, key == "Base");
                self.walk(&e.value, &e.key);
            }),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
        }
    }

    /// Finds the name in a span. An attribute is only matched after an actor and a dot (`Hero.Health`), or where only attributes
    /// are allowed, because its name may be any word.
    fn words(&mut self, span: Span, alone: bool) {
        let Some(cut) = span.of(self.text) else { return };
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        for (at, _) in cut.match_indices(self.old) {
            let before = cut[..at].chars().next_back();
            let after = cut[at + self.old.len()..].chars().next();
            let whole = !before.is_some_and(part) && !after.is_some_and(part);
            let dotted = before == Some('.');
            let fits =
                (self.kind != SymbolKind::Tag || !dotted) && (self.kind != SymbolKind::Attribute || alone || dotted);
            if whole && fits {
                let start = span.start + at as u32;
                self.spans.push(Span { start, end: start + self.old.len() as u32 });
            }
        }
    }
}
