//! Numbers in texts for players: `Deals {GE_Fireball.Health} damage`. A name between braces that says nothing is shown to
//! players as it is written, so a designer should hear of it before they do. It is a warning, not an error: the game runs,
//! and braces may be meant for something else.

use crate::diagnostic::{Diagnostic, Edit, Severity};
use crate::project::{DocSet, Project, Source};
use crate::spelling::nearest;
use crate::symbol::{Mention, SymbolKind, mentions};
use crate::{Node, Span};
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Doc, Effect};

/// The key that texts for players stand under.
const TEXT: &str = "Description";

/// What a text may say about an effect.
#[derive(Default)]
struct Tells<'p> {
    words: BTreeSet<&'p str>,
    /// Code of the host's may write any attribute.
    open: bool,
}

/// What texts of a set may name.
struct Known<'p> {
    effects: BTreeMap<&'p str, Tells<'p>>,
    attributes: BTreeSet<&'p str>,
}

/// Placeholders in the set's own files that say nothing.
pub(crate) fn check(project: &Project, set: &DocSet) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut known: Option<Known<'_>> = None;
    for &i in &set.own {
        let source = &project.sources()[i];
        for doc in &source.docs {
            let Some(kind) = doc.kind else { continue };
            // Most documents have no text; looking for one is cheaper than taking them apart.
            if !doc.tree.span.of(&source.text).is_some_and(|text| text.contains(TEXT) && text.contains('{')) {
                continue;
            }
            let names = mentions(kind, &doc.tree, &source.text);
            let mut in_text = names.iter().filter(|m| !m.definition && m.key == TEXT).peekable();
            if in_text.peek().is_none() {
                continue;
            }
            let known = known.get_or_insert_with(|| Known::of(project, set));
            let name = doc.tree.get("Name").and_then(Node::as_text).map(|n| format!("{n}: ")).unwrap_or_default();
            let mut end = 0;
            for m in in_text {
                // What follows an effect and a dot was looked at with the effect.
                let part = m.kind == SymbolKind::Attribute && m.span.start == end + 1;
                end = m.span.end;
                if !part {
                    found.extend(known.look_up(&name, m, source, &doc.tree));
                }
            }
        }
    }
    found
}

impl<'p> Known<'p> {
    fn of(project: &'p Project, set: &'p DocSet) -> Known<'p> {
        let mut results: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (_, doc) in project.docs(set) {
            if let Some(Doc::Calculation(c)) = doc.loaded.as_ref().map(|l| &l.doc) {
                results.insert(&c.name, c.results.iter().map(|r| r.attribute.as_str()).collect());
            }
        }
        let mut known = Known { effects: BTreeMap::new(), attributes: BTreeSet::new() };
        for (_, doc) in project.docs(set) {
            match doc.loaded.as_ref().map(|l| &l.doc) {
                Some(Doc::Effect(e)) => drop(known.effects.insert(&e.name, tells(e, &results))),
                Some(Doc::Attribute(a)) => drop(known.attributes.insert(&a.name)),
                Some(Doc::AttributeSet(s)) => known.attributes.extend(s.attributes.iter().map(|a| a.name.as_str())),
                _ => {}
            }
        }
        known
    }

    fn look_up(&self, of: &str, m: &Mention, source: &Source, tree: &Node) -> Option<Diagnostic> {
        if m.kind == SymbolKind::Attribute {
            if self.attributes.contains(m.name.as_str()) {
                return None;
            }
            let words = self.attributes.iter().copied().chain(["Level"]);
            let message = format!("{of}{TEXT}: {{{}}} is neither an attribute nor Level", m.name);
            return Some(finding(message, m.span, nearest(&m.name, words), source, tree));
        }
        let Some(tells) = self.effects.get(m.name.as_str()) else {
            let message = format!("{of}{TEXT}: unknown effect {}", m.name);
            return Some(finding(message, m.span, nearest(&m.name, self.effects.keys().copied()), source, tree));
        };
        let start = m.span.end as usize + 1;
        let what = source.text.get(start..)?.split('}').next()?;
        let any = tells.open && self.attributes.contains(what);
        if any || tells.words.contains(what) {
            return None;
        }
        let list: Vec<&str> = tells.words.iter().copied().collect();
        let has = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
        let message = format!("{of}{TEXT}: {} has no {what} to show; it has {has}", m.name);
        let near = nearest(what, list.iter().copied());
        Some(finding(message, Span::new(start, start + what.len()), near, source, tree))
    }
}

fn tells<'p>(e: &'p Effect, results: &BTreeMap<&'p str, Vec<&'p str>>) -> Tells<'p> {
    let mut tells = Tells::default();
    tells.words.extend(e.modifiers.iter().map(|m| m.attribute.as_str()));
    for x in &e.executions {
        match results.get(x.calculator_class.as_str()) {
            Some(attributes) => tells.words.extend(attributes),
            None => tells.open = true,
        }
    }
    let times = [
        ("Duration", e.duration.is_some()),
        ("Period", e.period.is_some()),
        ("Chance", e.application_chance.is_some()),
    ];
    tells.words.extend(times.into_iter().filter(|t| t.1).map(|t| t.0));
    tells
}

fn finding(message: String, span: Span, near: Option<&str>, source: &Source, tree: &Node) -> Diagnostic {
    let finding = Diagnostic::new("unknown-placeholder", Severity::Warning, source.name.clone(), message);
    let finding = finding.at_in(span, &source.text, tree);
    match near {
        Some(meant) => {
            let edits = vec![Edit { span, text: meant.to_owned() }];
            finding.help(format!("did you mean {meant}?")).fix(format!("write {meant}"), edits)
        }
        None => {
            finding.help("write {Effect.Attribute}, {Effect.Duration}, {Effect.Period}, {Effect.Chance} or {Level}")
        }
    }
}
