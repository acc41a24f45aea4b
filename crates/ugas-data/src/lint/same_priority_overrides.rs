//! Overrides of one attribute with the same priority.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use std::collections::BTreeMap;
use ugas_doc::{DurationPolicy, Operation};

pub(super) static RULE: Rule = Rule {
    id: "same-priority-overrides",
    severity: Severity::Warning,
    strict: false,
    summary: "two effects that override one attribute with the same priority",
    why: "Of several active Overrides the one with the highest `Priority` applies. With equal priorities it is the one that \
was applied last, which the data does not show. Instant and periodic effects write the base value and are not reported.",
    example: "Kind: gameplay_effect\nName: GE_Ice\nDurationPolicy: Infinite\nModifiers:\n  \
- {Attribute: Grip, Operation: Override, Magnitude: {Type: ScalableFloat, Value: 0.2}}\n# and GE_Asphalt overrides Grip too",
    fix: "Give them different priorities.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let mut first: BTreeMap<(&str, i32), &str> = BTreeMap::new();
    let lasting = |e: &ugas_doc::Effect| e.duration_policy != DurationPolicy::Instant && e.period.is_none();
    for (d, e) in cx.each::<ugas_doc::Effect>().filter(|(_, e)| lasting(e)) {
        for (i, m) in e.modifiers.iter().enumerate().filter(|(_, m)| m.operation == Operation::Override) {
            let other = *first.entry((&m.attribute, e.priority)).or_insert(&e.name);
            if other != e.name {
                let message = format!("{other} also overrides {} with priority {}", m.attribute, e.priority);
                let span = d.at(&format!("Modifiers[{i}]")).entry("Operation").map_or(d.name_span(), |o| o.value.span);
                report.add(d, span, message, "give them different values of Priority");
            }
        }
    }
}
