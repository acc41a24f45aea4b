//! Placeholders in descriptions: `Deals {GE_Fireball.Health} damage`. A game shows an unknown placeholder unchanged to
//! its players, so unknown placeholders are reported. The finding is a warning and not an error, because braces may
//! have another purpose.

use crate::assemble::Assembled;
use crate::diagnostic::{Diagnostic, Edit, Severity};
use crate::names::{Names, Space};
use crate::project::{DocSet, Project, Source};
use crate::resolve::COMPARISONS;
use crate::spelling::nearest;
use crate::symbol::{Mention, SymbolKind};
use crate::{Node, Span};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Doc, Effect};

/// The key of descriptions.
const TEXT: &str = "Description";

/// The values of an effect that a text may show.
#[derive(Default)]
struct EffectPlaceholders<'p> {
    words: BTreeSet<&'p str>,
    /// Whether any attribute is possible, because host code writes some or one is misspelt.
    open: bool,
}

/// The names that the texts of a document set may use.
struct Known<'p> {
    effects: BTreeMap<&'p str, EffectPlaceholders<'p>>,
    attributes: BTreeSet<Cow<'p, str>>,
}

/// Reports unknown placeholders in the own files of a document set.
pub(crate) fn check(project: &Project, set: &DocSet, names: &Names, whole: &Assembled<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut known: Option<Known<'_>> = None;
    for &i in &set.own {
        let source = &project.sources()[i];
        for (doc, named) in source.docs.iter().zip(names.of_file(i)) {
            // Most documents have no description.
            if !doc.tree.span.of(&source.text).is_some_and(|text| text.contains(TEXT) && text.contains('{')) {
                continue;
            }
            let mut in_text = named.mentions.iter().filter(|m| !m.definition && m.key == TEXT).peekable();
            if in_text.peek().is_none() {
                continue;
            }
            let known = known.get_or_insert_with(|| Known::of(whole));
            let name = doc.tree.get("Name").and_then(Node::as_text).map(|n| format!("{n}: ")).unwrap_or_default();
            let mut end = 0;
            for m in in_text {
                // The part after an effect and a dot was checked with the effect.
                let part = m.kind == SymbolKind::Attribute && m.span.start == end + 1;
                end = m.span.end;
                if !part {
                    let by = By { source, space: names.space(i).map(|s| &**s), found: found.len() };
                    found.extend(known.look_up(&name, m, by));
                }
            }
        }
    }
    found
}

impl<'p> Known<'p> {
    fn of(whole: &'p Assembled<'_>) -> Known<'p> {
        let docs = || whole.docs.iter().map(|d| &d.loaded.doc);
        let mut results: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for doc in docs() {
            if let Doc::Calculation(c) = doc {
                results.insert(&c.name, c.results.iter().map(|r| r.attribute.as_str()).collect());
            }
        }
        let mut known = Known { effects: BTreeMap::new(), attributes: BTreeSet::new() };
        known.attributes.extend(docs().flat_map(Doc::attributes).map(|a| Cow::Borrowed(a.name.as_str())));
        for doc in docs() {
            if let Doc::Resource(resource) = doc {
                known.attributes.extend(resource.attribute_set().attributes.into_iter().map(|a| Cow::Owned(a.name)));
            } else if let Doc::StatTable(table) = doc {
                known.attributes.extend(table.stats.iter().map(|s| Cow::Borrowed(s.attribute_name())));
            }
        }
        for doc in docs() {
            if let Doc::Effect(e) = doc {
                known.effects.insert(&e.name, effect_placeholders(e, &results, &known.attributes));
            }
        }
        known
    }

    fn look_up(&self, of: &str, m: &Mention, by: By<'_>) -> Option<Diagnostic> {
        if m.kind == SymbolKind::Attribute {
            if self.attributes.contains(m.name.as_str()) {
                return None;
            }
            let words = self.attributes.iter().map(|a| &**a).chain(["Level"]);
            let message = format!("{of}{TEXT}: {{{}}} is neither an attribute nor Level", m.name);
            return Some(by.finding(message, m.span, &m.name, words));
        }
        let Some(effect_placeholders) = self.effects.get(m.name.as_str()) else {
            let message = format!("{of}{TEXT}: unknown effect {}", m.name);
            return Some(by.finding(message, m.span, &m.name, self.effects.keys().copied()));
        };
        let start = m.span.end as usize + 1;
        let what = by.source.text.get(start..)?.split('}').next()?;
        let whole = by.space.map_or_else(|| what.to_owned(), |space| space.whole(SymbolKind::Attribute, what));
        let any = effect_placeholders.open && self.attributes.contains(&*whole);
        if any || effect_placeholders.words.contains(&*whole) {
            return None;
        }
        let list: Vec<&str> = effect_placeholders.words.iter().copied().collect();
        let has = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
        let message = format!("{of}{TEXT}: {} has no value {what}; it has {has}", m.name);
        Some(by.finding(message, Span::new(start, start + what.len()), what, list.iter().copied()))
    }
}

fn effect_placeholders<'p>(
    e: &'p Effect,
    results: &BTreeMap<&'p str, Vec<&'p str>>,
    attributes: &BTreeSet<Cow<'p, str>>,
) -> EffectPlaceholders<'p> {
    let mut effect_placeholders = EffectPlaceholders::default();
    for m in &e.modifiers {
        // A name may be qualified with its attribute set.
        let name = m.attribute.rsplit('.').next().unwrap_or_default();
        let is_known = attributes.contains(m.attribute.as_str()) || attributes.contains(name);
        effect_placeholders.words.extend(is_known.then_some(m.attribute.as_str()));
        // A misspelt attribute is reported in the effect.
        effect_placeholders.open |= !is_known;
    }
    for x in &e.executions {
        match results.get(x.calculator_class.as_str()) {
            Some(attributes) => effect_placeholders.words.extend(attributes),
            None => effect_placeholders.open = true,
        }
    }
    let times = [
        ("Duration", e.duration.is_some()),
        ("Period", e.period.is_some()),
        ("Chance", e.application_chance.is_some()),
    ];
    effect_placeholders.words.extend(times.into_iter().filter(|t| t.1).map(|t| t.0));
    effect_placeholders
}

/// The place of a text.
struct By<'p> {
    source: &'p Source,
    space: Option<&'p Space>,
    /// The number of findings before it.
    found: usize,
}

impl By<'_> {
    fn finding<'n>(
        &self,
        message: String,
        span: Span,
        written: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Diagnostic {
        let finding = self.source.finding("unknown-placeholder", Severity::Warning, message, span);
        // Suggestions are computed only for a readable number of findings.
        let few = self.found.saturating_mul(known.clone().count()) <= COMPARISONS;
        match few.then(|| nearest(written, known)).flatten() {
            Some(meant) => {
                let meant = self.space.map_or(meant, |space| space.short(meant));
                let edits = vec![Edit { span, text: meant.to_owned() }];
                finding.help(format!("did you mean {meant}?")).fix(format!("write {meant}"), edits)
            }
            None => {
                finding.help("write {Effect.Attribute}, {Effect.Duration}, {Effect.Period}, {Effect.Chance} or {Level}")
            }
        }
    }
}
