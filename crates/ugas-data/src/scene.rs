//! Merges a scene with the scenes that it extends: first the entries of the parents in order, then the entries of the
//! scene itself. No entry replaces another entry, so a duplicate name is an error. The finding names both files and
//! lines.

use crate::diagnostic::{Diagnostic, Severity};
use crate::project::{DocSet, Project, Source, SourceDoc};
use crate::symbol::{SymbolKind, mentions};
use crate::{Node, Span};
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Doc, Kind, Scene};

/// One scene with its file.
#[derive(Clone, Copy)]
struct Part<'p> {
    source: &'p Source,
    doc: &'p SourceDoc,
    scene: &'p Scene,
}

impl Part<'_> {
    fn finding(&self, id: &'static str, message: String, span: Span) -> Diagnostic {
        let finding = Diagnostic::new(id, Severity::Error, self.source.name.clone(), message);
        self.source.mark(finding, span)
    }
}

/// A scene and all scenes that it extends, each once, parents first.
#[derive(Default)]
struct Family<'p> {
    order: Vec<Part<'p>>,
    names: BTreeSet<&'p str>,
}

/// The scenes of a document set by name, each with its family.
struct Scenes<'p> {
    parts: BTreeMap<&'p str, Part<'p>>,
    families: BTreeMap<&'p str, Family<'p>>,
}

/// The maximum number of scenes in one family.
const MOST: usize = 64;
/// The maximum number of findings for one scene.
const MOST_FINDINGS: usize = 20;

/// A list of a scene, the key of the name of its entries, its noun, and the id of the finding about duplicates.
const NAMED: [(&str, &str, &str, &str); 3] = [
    ("Placements", "InstanceId", "instance id", "duplicate-instance"),
    ("Regions", "Name", "region", "duplicate-region"),
    ("SpawnPoints", "Name", "spawn point", "duplicate-spawn-point"),
];

/// Reports duplicate names and scenes that extend themselves, in the own files of a document set.
pub(crate) fn check(project: &Project, set: &DocSet) -> Vec<Diagnostic> {
    let scenes = Scenes::of(project, set);
    let own = |p: &&Part<'_>| set.own.iter().any(|&i| project.sources()[i].path == p.source.path);
    scenes.parts.values().filter(own).flat_map(|part| scenes.wrong(*part)).collect()
}

/// Returns a scene merged with the scenes it extends, parents first.
pub(crate) fn whole(project: &Project, set: &DocSet, name: &str) -> Option<Result<Scene, Vec<Diagnostic>>> {
    let scenes = Scenes::of(project, set);
    let part = scenes.parts.get(name)?;
    let parts = &scenes.families.get(name)?.order;
    let wrong: Vec<Diagnostic> = parts.iter().flat_map(|p| scenes.wrong(*p)).collect();
    if !wrong.is_empty() {
        return Some(Err(wrong));
    }
    let mut whole = Scene { extends: Vec::new(), ..part.scene.clone() };
    (whole.placements, whole.regions, whole.spawn_points) = Default::default();
    for Part { scene, .. } in parts {
        whole.placements.extend_from_slice(&scene.placements);
        whole.regions.extend_from_slice(&scene.regions);
        whole.spawn_points.extend_from_slice(&scene.spawn_points);
    }
    Some(Ok(whole))
}

impl<'p> Scenes<'p> {
    fn of(project: &'p Project, set: &'p DocSet) -> Scenes<'p> {
        let scene = |(source, doc): (&'p Source, &'p SourceDoc)| match doc.loaded.as_ref().map(|l| &l.doc) {
            Some(Doc::Scene(scene)) => Some((scene.name.as_str(), Part { source, doc, scene })),
            _ => None,
        };
        let parts: BTreeMap<_, _> = project.docs(set).filter_map(scene).collect();
        let mut scenes = Scenes { parts, families: BTreeMap::new() };
        let families = scenes.parts.iter().map(|(name, part)| {
            let mut family = Family::default();
            scenes.gather(*part, &mut family);
            (*name, family)
        });
        scenes.families = families.collect();
        scenes
    }

    /// Adds a scene and the scenes it extends to a family. A cycle is cut. The size is limited, because the recursion
    /// can be as deep as the family is large.
    fn gather(&self, part: Part<'p>, family: &mut Family<'p>) {
        if family.names.len() > MOST || !family.names.insert(&part.scene.name) {
            return;
        }
        for parent in part.scene.extends.iter().filter_map(|n| self.parts.get(n.as_str())) {
            self.gather(*parent, family);
        }
        family.order.push(part);
    }

    /// Returns whether a scene is or extends another.
    fn is_of(&self, scene: &str, other: &str) -> bool {
        self.families.get(scene).is_some_and(|f| f.names.contains(other))
    }

    /// Returns the findings of a scene that its parents do not already have.
    fn wrong(&self, part: Part<'p>) -> Vec<Diagnostic> {
        let name = part.scene.name.as_str();
        let Some(family) = self.families.get(name) else { return Vec::new() };
        if family.names.len() > MOST {
            let message = format!("{name}: extends more than {MOST} scenes");
            return vec![self.at_extends(part, "too-many-scenes", message, |_| true).help("extend fewer scenes")];
        }
        let parents: BTreeSet<&str> = part.scene.extends.iter().map(String::as_str).collect();
        if parents.iter().any(|p| self.is_of(p, name)) {
            let message = format!("{name}: extends itself through other scenes");
            let finding = self.at_extends(part, "scene-cycle", message, |parent| self.is_of(parent, name));
            return vec![finding.help("remove one of these scenes from `Extends`")];
        }
        let mut wrong = Vec::new();
        for (list, key, what, id) in NAMED {
            let mut first: BTreeMap<&str, (Part<'p>, Span)> = BTreeMap::new();
            for of in &family.order {
                for (word, span) in names(of.doc, list, key) {
                    let Some(&(before, at)) = first.get(word) else {
                        first.insert(word, (*of, span));
                        continue;
                    };
                    let both = |p: &&str| self.is_of(p, &of.scene.name) && self.is_of(p, &before.scene.name);
                    if wrong.len() < MOST_FINDINGS && !parents.iter().any(both) {
                        wrong.push(self.twice(part, (what, word, id), (before, at), (*of, span)));
                    }
                }
            }
        }
        wrong
    }

    /// Creates the finding about a duplicate name. Its place is the second entry if that belongs to the scene,
    /// otherwise the `Extends` entry that adds it.
    fn twice(
        &self,
        part: Part<'p>,
        (what, word, id): (&str, &str, &'static str),
        (before, at): (Part<'p>, Span),
        (of, span): (Part<'p>, Span),
    ) -> Diagnostic {
        let place = |p: Part<'_>, s: Span| {
            let line = p.finding(id, String::new(), s).line;
            format!("{} ({}:{line})", p.scene.name, p.source.name)
        };
        let name = &part.scene.name;
        let message = format!("{name}: the {what} {word} is in both {} and {}", place(before, at), place(of, span));
        let finding = match of.scene.name == *name {
            true => part.finding(id, message, span),
            false => self.at_extends(part, id, message, |parent| self.is_of(parent, &of.scene.name)),
        };
        finding.help("rename one of them")
    }

    /// Creates a finding at the first matching name under `Extends`.
    fn at_extends(
        &self,
        part: Part<'p>,
        id: &'static str,
        message: String,
        blame: impl Fn(&str) -> bool,
    ) -> Diagnostic {
        let all = mentions(Kind::Scene, &part.doc.tree, &part.source.text);
        let mut parents = all.iter().filter(|m| m.kind == SymbolKind::Scene && !m.definition && m.key == "Extends");
        let span = parents.find(|m| blame(&m.name)).map_or(part.doc.tree.span, |m| m.span);
        part.finding(id, message, span)
    }
}

/// Returns the names in a list of a document, with their places.
fn names<'p>(doc: &'p SourceDoc, list: &str, key: &str) -> impl Iterator<Item = (&'p str, Span)> {
    let items = doc.tree.get(list).map_or(&[][..], Node::items);
    items.iter().filter_map(move |item| item.get(key)).filter_map(|n| Some((n.as_text()?, n.span)))
}
