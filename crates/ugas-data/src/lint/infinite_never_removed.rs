//! Infinite effects that an ability or another effect applies and nothing removes.

use super::{CheckedBy, LintCx, Report, Rule, implies};
use crate::Node;
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Doc, DurationPolicy, Effect, OnOngoingFail};

pub(super) static RULE: Rule = Rule {
    id: "infinite-never-removed",
    severity: Severity::Warning,
    strict: false,
    summary: "an infinite effect that an ability or another effect applies and nothing removes",
    why: "Effects that an ability applies outlive the ability. An Infinite effect then stays active, and each \
activation adds another instance. Effects that only controllers, ability sets or the host apply are not checked.",
    example: "Tasks:\n  - {Type: ApplyEffectToOwner, Params: {EffectClass: GE_Aiming}} # Infinite\n  - {Type: WaitInputRelease}",
    fix: "Remove the effect with RemoveEffectFromOwner (also under OnCancel), by RemoveEffectsWithTags of another \
effect, or with `OnOngoingFail: Remove`. Otherwise give the effect a duration.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let mut applied: BTreeMap<&str, (usize, crate::Span)> = BTreeMap::new();
    let mut removed: BTreeSet<&str> = BTreeSet::new();
    let mut by_tag: BTreeSet<&str> = BTreeSet::new();
    for (i, d) in cx.docs.iter().enumerate() {
        if let Doc::Ability(_) = d.doc {
            for node in d.applied() {
                applied.entry(node.as_text().unwrap_or("")).or_insert((i, node.span));
            }
            for task in d.tasks() {
                let Some(params) = task.get("Params").filter(|_| removes(task)) else { continue };
                removed.extend(params.get("EffectClass").and_then(Node::as_text));
                let tags = params.entries().iter().filter(|e| e.key != "EffectClass");
                by_tag.extend(tags.flat_map(|e| e.value.items().iter().chain([&e.value])).filter_map(Node::as_text));
            }
        }
        for m in d.names {
            match (m.kind, m.key.as_str()) {
                (SymbolKind::Tag, "RemoveEffectsWithTags") => drop(by_tag.insert(&m.name)),
                (SymbolKind::Effect, "OnApplied" | "OnExecuted" | "OnExpired" | "OnRemoved" | "OverflowEffects") => {
                    applied.entry(&m.name).or_insert((i, m.span));
                }
                _ => {}
            }
        }
    }
    for (name, (i, span)) in applied {
        let Some((_, e)) = cx.effect(name).filter(|(_, e)| e.duration_policy == DurationPolicy::Infinite) else {
            continue;
        };
        let tagged = e.granted_tags.iter().chain(&e.effect_tags).any(|t| by_tag.iter().any(|b| implies(t, b)));
        if !(removed.contains(name) || tagged || ends_itself(e)) {
            let message = format!("{name} is Infinite, and nothing removes it after it is applied here");
            report.add(
                &cx.docs[i],
                span,
                message,
                "remove it with RemoveEffectFromOwner or by a tag, or give it a duration",
            );
        }
    }
}

fn removes(task: &Node) -> bool {
    task.get("Type").and_then(Node::as_text).is_some_and(|kind| kind.starts_with("RemoveEffect"))
}

fn ends_itself(e: &Effect) -> bool {
    let watches = !e.ongoing_required_tags.is_empty() || !e.ongoing_blocked_tags.is_empty();
    e.on_ongoing_fail == OnOngoingFail::Remove && watches
}
