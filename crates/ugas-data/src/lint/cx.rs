//! What a rule may look at: the documents of a set with their trees and names, the rules built from them, and a few
//! indexes, so that every rule costs no more than one walk.

use super::implies;
use crate::locate::descend;
use crate::project::{DocSet, Project, Source, SourceDoc};
use crate::symbol::{Mention, SymbolKind, mentions};
use crate::{Node, Span};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_core::Rules;
use ugas_doc::{Ability, Attribute, Controller, Doc, DurationPolicy, Effect, InputMapping, Timeline};

/// The names of every document of a project, by file and document.
#[derive(Default)]
pub(crate) struct Names {
    by_file: Vec<Vec<Vec<Mention>>>,
    used: OnceCell<BTreeSet<(SymbolKind, String)>>,
    places: OnceCell<BTreeMap<String, Vec<(usize, Mention)>>>,
}

impl Names {
    pub(crate) fn of(project: &Project) -> Names {
        let of_doc = |source: &Source, d: &SourceDoc| {
            d.kind.map(|kind| mentions(kind, &d.tree, &source.text)).unwrap_or_default()
        };
        let of_file = |s: &Source| s.docs.iter().map(|d| of_doc(s, d)).collect();
        Names { by_file: project.sources().iter().map(of_file).collect(), ..Names::default() }
    }

    /// The names of one document, in the order of the file.
    pub(crate) fn of_doc(&self, file: usize, doc: usize) -> &[Mention] {
        &self.by_file[file][doc]
    }

    /// Every place a name stands at, with its file.
    pub(crate) fn places(&self, name: &str) -> &[(usize, Mention)] {
        let places = self.places.get_or_init(|| {
            let mut places: BTreeMap<String, Vec<(usize, Mention)>> = BTreeMap::new();
            for (file, docs) in self.by_file.iter().enumerate() {
                for m in docs.iter().flatten() {
                    places.entry(m.name.clone()).or_default().push((file, m.clone()));
                }
            }
            places
        });
        places.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether some document of the project refers to a name.
    pub(crate) fn is_used(&self, kind: SymbolKind, name: &str) -> bool {
        let used = self.used.get_or_init(|| {
            let all = self.by_file.iter().flatten().flatten().filter(|m| !m.definition);
            all.map(|m| (m.kind, m.name.clone())).collect()
        });
        used.contains(&(kind, name.to_owned()))
    }
}

/// A document of the set.
pub(crate) struct LintDoc<'p> {
    pub(crate) source: &'p Source,
    pub(crate) tree: &'p Node,
    pub(crate) doc: &'p Doc,
    pub(crate) names: &'p [Mention],
    /// Whether the set reports on it; what is required is reported on where it is at home.
    pub(crate) own: bool,
}

impl LintDoc<'_> {
    /// The value at `A[0].B`, or the deepest one on the way.
    pub(crate) fn at(&self, way: &str) -> &Node {
        descend(self.tree, way).unwrap_or(self.tree)
    }

    /// The span of the value at `A[0].B`, cut to its first line.
    pub(crate) fn span(&self, way: &str) -> Span {
        super::head(self.at(way), &self.source.text)
    }

    /// The document's own name, or its first key.
    pub(crate) fn name_span(&self) -> Span {
        let own = self.names.iter().find(|m| m.definition).map(|m| m.span);
        let first = self.tree.entries().first().map(|e| e.span);
        own.or_else(|| self.tree.get("Name").map(|n| n.span)).or(first).unwrap_or(self.tree.span)
    }

    /// The tasks of every list, in order, with what stands inside them.
    pub(crate) fn tasks(&self) -> Vec<&Node> {
        fn walk<'t>(list: &'t Node, into: &mut Vec<&'t Node>) {
            for task in list.items().iter().filter(|t| t.get("Type").is_some()) {
                into.push(task);
                ["Tasks", "Then", "Else"].iter().filter_map(|k| task.get(k)).for_each(|inner| walk(inner, into));
            }
        }
        let mut found = Vec::new();
        self.tree.entries().iter().filter(|e| e.key == "Tasks" || e.key.starts_with("On")).for_each(|e| {
            walk(&e.value, &mut found);
        });
        found
    }

    /// The places of an ability that name an effect it applies.
    pub(crate) fn applied(&self) -> Vec<&Node> {
        let applies = |t: &&Node| {
            let kind = t.get("Type").and_then(Node::as_text).unwrap_or("");
            kind.starts_with("ApplyEffect") || kind == "SpawnProjectile"
        };
        let tasks = self.tasks().into_iter().filter(applies);
        tasks.filter_map(|t| t.get("Params").and_then(|p| p.get("EffectClass"))).collect()
    }
}

/// What a rule may look at.
pub(crate) struct LintCx<'p> {
    pub(crate) set: &'p DocSet,
    pub(crate) project: &'p Project,
    pub(crate) rules: &'p Arc<Rules>,
    pub(crate) names: &'p Names,
    pub(crate) strict: bool,
    pub(crate) docs: Vec<LintDoc<'p>>,
    effects: BTreeMap<&'p str, usize>,
    granted: OnceCell<BTreeSet<&'p str>>,
}

impl<'p> LintCx<'p> {
    pub(crate) fn new(
        project: &'p Project,
        set: &'p DocSet,
        rules: &'p Arc<Rules>,
        names: &'p Names,
        strict: bool,
    ) -> LintCx<'p> {
        let files = set.required.iter().map(|&i| (i, false)).chain(set.own.iter().map(|&i| (i, true)));
        let mut docs = Vec::new();
        for (file, own) in files {
            let source = &project.sources()[file];
            for (d, names) in source.docs.iter().zip(&names.by_file[file]) {
                if let Some(loaded) = &d.loaded {
                    docs.push(LintDoc { source, tree: &d.tree, doc: &loaded.doc, names, own });
                }
            }
        }
        let effects = docs.iter().enumerate().filter(|(_, d)| matches!(d.doc, Doc::Effect(_)));
        let effects = effects.map(|(i, d)| (d.doc.name(), i)).collect();
        LintCx { set, project, rules, names, strict, docs, effects, granted: OnceCell::new() }
    }

    pub(crate) fn effects(&self) -> impl Iterator<Item = (&LintDoc<'p>, &'p Effect)> {
        self.docs.iter().filter_map(|d| if let Doc::Effect(e) = d.doc { Some((d, &**e)) } else { None })
    }

    pub(crate) fn abilities(&self) -> impl Iterator<Item = (&LintDoc<'p>, &'p Ability)> {
        self.docs.iter().filter_map(|d| if let Doc::Ability(a) = d.doc { Some((d, &**a)) } else { None })
    }

    pub(crate) fn controllers(&self) -> impl Iterator<Item = (&LintDoc<'p>, &'p Controller)> {
        self.docs.iter().filter_map(|d| if let Doc::Controller(c) = d.doc { Some((d, &**c)) } else { None })
    }

    pub(crate) fn timelines(&self) -> impl Iterator<Item = (&LintDoc<'p>, &'p Timeline)> {
        self.docs.iter().filter_map(|d| if let Doc::Timeline(t) = d.doc { Some((d, &**t)) } else { None })
    }

    pub(crate) fn mappings(&self) -> impl Iterator<Item = (&LintDoc<'p>, &'p InputMapping)> {
        self.docs.iter().filter_map(|d| if let Doc::InputMapping(m) = d.doc { Some((d, &**m)) } else { None })
    }

    /// Every attribute, of whatever set.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &'p Attribute> {
        self.docs.iter().flat_map(|d| match d.doc {
            Doc::AttributeSet(s) => s.attributes.as_slice(),
            Doc::Attribute(a) => std::slice::from_ref(&**a),
            _ => &[],
        })
    }

    pub(crate) fn effect(&self, name: &str) -> Option<(&LintDoc<'p>, &'p Effect)> {
        let d = &self.docs[*self.effects.get(name)?];
        if let Doc::Effect(e) = d.doc { Some((d, &**e)) } else { None }
    }

    /// Whether something gives a tag, or one below it, to a controller: an effect, an ability, a controller, a scene.
    pub(crate) fn is_granted(&self, tag: &str) -> bool {
        let granted = self.granted.get_or_init(|| {
            let gives =
                |d: &&LintDoc<'p>| !matches!(d.doc, Doc::Effect(e) if e.duration_policy == DurationPolicy::Instant);
            let keys = ["GrantedTags", "ActivationOwnedTags", "OwnedTags", "StartupTags", "Team"];
            let given = |m: &&Mention| m.kind == SymbolKind::Tag && keys.contains(&m.key.as_str());
            let all = self.docs.iter().filter(gives).flat_map(|d| d.names.iter());
            all.filter(given).map(|m| m.name.as_str()).collect()
        });
        // Tags below one another are neighbours, but for those whose names go on without a dot.
        granted.range(tag..).take_while(|g| g.starts_with(tag)).any(|g| implies(g, tag))
    }
}

/// The number of a magnitude that is written down: no curve, no attribute, no calculation.
pub(crate) fn fixed(m: &ugas_doc::Magnitude) -> Option<f64> {
    match m.kind {
        ugas_doc::MagnitudeType::ScalableFloat if m.curve.is_none() => m.value,
        _ => None,
    }
}
