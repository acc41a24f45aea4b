//! The context of a lint rule: the documents of a document set with their trees and names, and the rules built from
//! them. Indexes over the documents let each rule run in one pass.

use super::implies;
use crate::assemble::{Assembled, AssembledDocument};
use crate::locate::descend;
use crate::names::Names;
use crate::project::{DocSet, Project, Source};
use crate::symbol::{Mention, SymbolKind};
use crate::{Node, Span};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_core::Rules;
use ugas_doc::{AbilitySet, Attribute, CapabilitySet, Doc, DocumentKind, DurationPolicy, Effect, SetCapability};

/// A document of the document set.
pub(crate) struct LintDoc<'p> {
    pub(crate) source: &'p Source,
    pub(crate) tree: &'p Node,
    pub(crate) doc: &'p Doc,
    pub(crate) names: &'p [Mention],
    /// Whether its findings are reported for this document set. Documents of required packs are reported in their own.
    pub(crate) own: bool,
}

impl LintDoc<'_> {
    /// Returns the value at a path such as `A[0].B`, or its deepest existing parent.
    pub(crate) fn at(&self, way: &str) -> &Node {
        descend(self.tree, way).unwrap_or(self.tree)
    }

    /// Returns the span of the first line of the value at a path.
    pub(crate) fn span(&self, way: &str) -> Span {
        super::head(self.at(way), &self.source.text)
    }

    /// Returns the span of the document's name, or of its first key.
    pub(crate) fn name_span(&self) -> Span {
        let own = self.names.iter().find(|m| m.definition).map(|m| m.span);
        let first = self.tree.entries().first().map(|e| e.span);
        own.or_else(|| self.tree.get("Name").map(|n| n.span)).or(first).unwrap_or(self.tree.span)
    }

    /// Returns the tasks of every list in order, nested tasks included.
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

    /// Returns the entries of `Capabilities` of a set.
    pub(crate) fn capability_entries(&self) -> impl Iterator<Item = (&Node, &SetCapability)> {
        let of_abilities = AbilitySet::of(self.doc).map(|set| &set.capabilities[..]);
        let list = of_abilities.or_else(|| CapabilitySet::of(self.doc).map(|set| &set.capabilities[..]));
        let list = list.unwrap_or_default();
        self.tree.get("Capabilities").map_or(&[][..], Node::items).iter().zip(list)
    }

    /// Returns the nodes of an ability that name an effect it applies.
    pub(crate) fn applied(&self) -> Vec<&Node> {
        let applies = |t: &&Node| {
            let kind = t.get("Type").and_then(Node::as_text).unwrap_or("");
            kind.starts_with("ApplyEffect") || kind == "SpawnProjectile"
        };
        let tasks = self.tasks().into_iter().filter(applies);
        tasks.filter_map(|t| t.get("Params").and_then(|p| p.get("EffectClass"))).collect()
    }
}

/// The context of a lint rule.
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
        whole: &'p Assembled<'p>,
        rules: &'p Arc<Rules>,
        names: &'p Names,
        strict: bool,
    ) -> LintCx<'p> {
        let own: BTreeSet<usize> = set.own.iter().copied().collect();
        let lint_doc = |d: &'p AssembledDocument<'p>| LintDoc {
            source: &project.sources()[d.file],
            tree: d.tree(),
            doc: &d.loaded.doc,
            names: &names.of_file(d.file)[d.at].mentions,
            own: own.contains(&d.file),
        };
        let docs: Vec<LintDoc<'p>> = whole.docs.iter().map(lint_doc).collect();
        let effects = docs.iter().enumerate().filter(|(_, d)| matches!(d.doc, Doc::Effect(_)));
        let effects = effects.map(|(i, d)| (d.doc.name(), i)).collect();
        LintCx { set, project, rules, names, strict, docs, effects, granted: OnceCell::new() }
    }

    /// Iterates over the documents of a kind: `cx.each::<Effect>()`.
    pub(crate) fn each<T: DocumentKind + 'p>(&self) -> impl Iterator<Item = (&LintDoc<'p>, &'p T)> {
        self.docs.iter().filter_map(|d| Some((d, T::of(d.doc)?)))
    }

    /// Returns the attributes of all attribute sets.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &'p Attribute> {
        self.docs.iter().flat_map(|d| d.doc.attributes())
    }

    pub(crate) fn effect(&self, name: &str) -> Option<(&LintDoc<'p>, &'p Effect)> {
        let d = &self.docs[*self.effects.get(name)?];
        Some((d, Effect::of(d.doc)?))
    }

    /// Returns whether an effect, an ability, a controller or a scene grants a tag or one of its children.
    pub(crate) fn is_granted(&self, tag: &str) -> bool {
        let granted = self.granted.get_or_init(|| {
            let gives =
                |d: &&LintDoc<'p>| !matches!(d.doc, Doc::Effect(e) if e.duration_policy == DurationPolicy::Instant);
            let keys = ["GrantedTags", "ActivationOwnedTags", "OwnedTags", "StartupTags", "Team"];
            let given = |m: &&Mention| m.kind == SymbolKind::Tag && keys.contains(&m.key.as_str());
            let all = self.docs.iter().filter(gives).flat_map(|d| d.names.iter());
            all.filter(given).map(|m| m.name.as_str()).collect()
        });
        // The children of a tag follow it in order, mixed with tags that only share its letters.
        granted.range(tag..).take_while(|g| g.starts_with(tag)).any(|g| implies(g, tag))
    }
}
