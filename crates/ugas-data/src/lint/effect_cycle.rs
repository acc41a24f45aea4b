//! Effects that apply each other in a cycle.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{DurationPolicy, Effect};

pub(super) static RULE: Rule = Rule {
    id: "effect-cycle",
    severity: Severity::Warning,
    strict: false,
    summary: "effects that apply each other in a cycle",
    why: "Effects under `OnApplied` (or `OnExecuted` of an Instant effect) are applied at the same time. A cycle of \
such effects ends only at the runtime's limit on reactions; the runtime then emits a diagnostic. A cycle through \
`OnExpired` takes time and is valid.",
    example: "Kind: gameplay_effect\nName: GE_A\nDurationPolicy: Instant\nEffects: {OnApplied: [GE_B]}\n---\n\
Kind: gameplay_effect\nName: GE_B\nDurationPolicy: Instant\nEffects: {OnApplied: [GE_A]}",
    fix: "Remove one effect from the cycle, or apply it with `OnExpired` of an effect that has a duration.",
    check: CheckedBy::Lint(check),
};

/// Returns the effects that an effect applies immediately, each with its key and index.
fn at_once(e: &Effect) -> Vec<(&'static str, usize, &str)> {
    // Conditions and chances may end the cycle.
    let gated = e.application_condition.is_some()
        || e.application_chance.is_some()
        || e.application_requirement.is_some()
        || !e.application_required_tags.is_empty()
        || !e.application_blocked_tags.is_empty();
    let Some(effects) = e.effects.as_ref().filter(|_| !gated) else { return Vec::new() };
    let list =
        |key, names: &'_ [String]| -> Vec<(&'static str, usize)> { (0..names.len()).map(|i| (key, i)).collect() };
    let mut found: Vec<(&'static str, usize, &str)> = Vec::new();
    for (key, i) in list("OnApplied", &effects.on_applied) {
        found.push((key, i, &effects.on_applied[i]));
    }
    if e.duration_policy == DurationPolicy::Instant {
        for (key, i) in list("OnExecuted", &effects.on_executed) {
            found.push((key, i, &effects.on_executed[i]));
        }
    }
    found
}

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let edges: BTreeMap<&str, Vec<_>> = cx.each::<Effect>().map(|(_, e)| (e.name.as_str(), at_once(e))).collect();
    // A depth-first search that visits each effect once. An edge to an effect on the current path closes a cycle.
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for &root in edges.keys() {
        let mut way: Vec<(&str, usize)> = vec![(root, 0)];
        while let Some(&mut (name, ref mut next)) = way.last_mut() {
            let Some(&(key, i, to)) = edges.get(name).and_then(|list| list.get(*next)).filter(|_| !done.contains(name))
            else {
                done.insert(name);
                way.pop();
                continue;
            };
            *next += 1;
            if let Some(start) = way.iter().position(|(n, _)| *n == to) {
                let mut cycle: Vec<&str> = way[start..].iter().map(|(n, _)| *n).collect();
                cycle.push(to);
                if let Some((d, _)) = cx.effect(name) {
                    let message = format!("{} apply each other in a cycle", cycle.join(" > "));
                    let span = d.span(&format!("Effects.{key}[{i}]"));
                    report.add(d, span, message, "remove one effect from the cycle, or apply it with OnExpired");
                }
            } else if !done.contains(to) {
                way.push((to, 0));
            }
        }
    }
}
