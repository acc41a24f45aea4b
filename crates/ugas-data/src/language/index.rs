//! An index of the definitions of a document set and of the references between them, in both directions.

use crate::names::Names;
use crate::{DocSet, Mention, Node, Project, Source, SourceDoc, Span, SymbolKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_doc::{Doc, Kind};

/// A file, line and column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// The file.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A reference between two definitions. Both definitions list the reference, each with the name of the other
/// definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Use {
    /// The kind of the other definition; `None` for a document without a name.
    pub kind: Option<SymbolKind>,
    /// The name of the other definition.
    pub name: String,
    /// The key under which the name is written.
    pub key: String,
    /// The file, line and column of the reference.
    #[serde(flatten)]
    pub at: SourceLocation,
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// The kind.
    pub kind: SymbolKind,
    /// The name of the definition, with the namespace of its pack.
    pub name: String,
    /// The file, line and column of the definition.
    #[serde(flatten)]
    pub at: SourceLocation,
    /// The index of the document in its file.
    pub document: usize,
    /// The description of the definition; placeholders are not replaced.
    pub description: Option<String>,
    /// The references from this definition to other definitions, in the order of the file.
    pub uses: Vec<Use>,
    /// The references from other definitions to this definition.
    pub used_by: Vec<Use>,
}

/// Returns all definitions of a document set: first those in its own files, then those in the files of required packs.
///
/// ```
/// use ugas_data::{Project, SymbolKind, language};
/// let mut project = Project::default();
/// project.put("tags.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Hurt, Description: In pain}]\n");
/// project.put("hit.yaml", "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Infinite\nGrantedTags: [State.Hurt]\n");
/// let all = language::index(&project, &project.sets()[0]);
/// let hurt = all.iter().find(|d| d.kind == SymbolKind::Tag).unwrap();
/// assert_eq!((hurt.at.line, hurt.description.as_deref()), (2, Some("In pain")));
/// assert_eq!((hurt.used_by[0].name.as_str(), hurt.used_by[0].at.line), ("GE_Hit", 4));
/// let hit = all.iter().find(|d| d.name == "GE_Hit").unwrap();
/// assert_eq!((hit.uses[0].name.as_str(), hit.uses[0].key.as_str()), ("State.Hurt", "GrantedTags"));
/// ```
pub fn index(project: &Project, set: &DocSet) -> Vec<Definition> {
    let names = Names::of(project);
    let mut all: Vec<Definition> = Vec::new();
    let mut known: BTreeMap<(SymbolKind, String), usize> = BTreeMap::new();
    let files = || set.own.iter().chain(&set.required).filter_map(|&i| Some((i, project.sources().get(i)?)));
    for (i, source) in files() {
        for (document, (doc, named)) in source.docs.iter().zip(names.of_file(i)).enumerate() {
            for m in named.mentions.iter().filter(|m| m.definition) {
                known.entry((m.kind, m.name.clone())).or_insert(all.len());
                all.push(Definition {
                    kind: m.kind,
                    name: m.name.clone(),
                    at: spot(source, m.span),
                    document,
                    description: description(doc, m),
                    uses: Vec::new(),
                    used_by: Vec::new(),
                });
            }
        }
    }
    for (i, source) in files() {
        for (doc, named) in source.docs.iter().zip(names.of_file(i)) {
            let homes: Vec<(Span, &Mention)> =
                named.mentions.iter().filter(|m| m.definition).map(|m| (home(doc, m), m)).collect();
            for m in named.mentions.iter().filter(|m| !m.definition) {
                let holds = |home: &Span| home.start <= m.span.start && m.span.end <= home.end;
                // The innermost definition: an attribute before its attribute set.
                let user = homes.iter().filter(|(h, _)| holds(h)).min_by_key(|(h, _)| h.end - h.start).map(|(_, u)| *u);
                let at = spot(source, m.span);
                if let Some(&user) = user.and_then(|u| known.get(&(u.kind, u.name.clone()))) {
                    let name = m.name.clone();
                    all[user].uses.push(Use { kind: Some(m.kind), name, key: m.key.clone(), at: at.clone() });
                }
                if let Some(&used) = known.get(&(m.kind, m.name.clone())) {
                    let name = user.map_or_else(String::new, |u| u.name.clone());
                    all[used].used_by.push(Use { kind: user.map(|u| u.kind), name, key: m.key.clone(), at });
                }
            }
        }
    }
    all
}

fn spot(source: &Source, span: Span) -> SourceLocation {
    let (line, column) = source.place(span.start as usize);
    SourceLocation { file: source.name.clone(), line, column }
}

/// Returns the node of a definition: its entry in an attribute set or tag registry, or the whole document.
fn home(doc: &SourceDoc, m: &Mention) -> Span {
    let key = match doc.kind {
        Some(Kind::AttributeSet) => "Attributes",
        Some(Kind::StatTable) => "Stats",
        Some(Kind::TagRegistry) => "Tags",
        _ => return doc.tree.span,
    };
    let parts = doc.tree.get(key).map_or(&[][..], Node::items);
    let part = parts.iter().find(|n| n.span.start <= m.span.start && m.span.end <= n.span.end);
    part.map_or(doc.tree.span, |n| n.span)
}

fn description(doc: &SourceDoc, m: &Mention) -> Option<String> {
    let doc = &doc.loaded.as_ref()?.doc;
    match (m.kind, doc) {
        (SymbolKind::Tag, Doc::TagRegistry(registry)) => {
            registry.tags.iter().find(|t| t.tag == m.name)?.description.clone()
        }
        (SymbolKind::Attribute, doc) => {
            let short = m.name.rsplit("::").next().unwrap_or(&m.name);
            let a = super::summary::attribute(doc, short)?;
            a.metadata.as_ref().and_then(|d| d.description.clone()).or_else(|| a.description.clone())
        }
        (_, doc) => doc.metadata()?.description.clone(),
    }
}
