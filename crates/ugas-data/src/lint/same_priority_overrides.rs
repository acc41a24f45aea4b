//! Effects that override one attribute with the same priority.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use std::collections::BTreeMap;
use ugas_doc::{DurationPolicy, Operation};

pub(super) static RULE: Rule = Rule {
    id: "same-priority-overrides",
    severity: Severity::Warning,
    strict: false,
    summary: "two effects that override one attribute with the same priority",
    why: "If several Overrides are active, the Override with the highest `Priority` applies. If the priorities are \
equal, the Override that was applied last applies, and the documents do not show which one that is. Instant and \
periodic effects write the base value and are not reported.",
    example: "Kind: gameplay_effect\nName: GE_Ice\nDurationPolicy: Infinite\nModifiers:\n  \
- {Attribute: Grip, Operation: Override, Magnitude: {Type: ScalableFloat, Value: 0.2}}\n# and GE_Asphalt overrides Grip too",
    fix: "Give the two effects different priorities.",
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
                report.add(d, span, message, "give the two effects different values of Priority");
            }
        }
    }
}
