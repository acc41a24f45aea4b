//! Costs that no controller can pay at the start, on an attribute that nothing raises.

use super::cost_above_maximum::{plain_name, raised, starts, takes};
use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "cost-never-affordable",
    severity: Severity::Warning,
    strict: false,
    summary: "a cost that no controller can pay at the start, on an attribute that nothing raises",
    why: "If every controller starts below the cost of an ability, and no effect, calculation or expression raises the \
attribute, the ability can never be activated. The rule does not see writes from host code. Allow the finding if host \
code raises the attribute.",
    example: "# Rage: {DefaultBaseValue: 0}, and no effect adds Rage\nKind: gameplay_effect\nName: GE_SlamCost\n\
DurationPolicy: Instant\nModifiers:\n  - {Attribute: Rage, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -20}}",
    fix: "Add an effect that raises the attribute, raise its start value, or lower the cost.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let costs: std::collections::BTreeSet<&str> =
        cx.each::<ugas_doc::Ability>().filter_map(|(_, a)| a.cost.as_deref()).collect();
    // Host code may calculate any cost and write any attribute.
    if costs.is_empty() || !cx.set.host.calculations.is_empty() {
        return;
    }
    let (starts, raised) = (starts(cx), raised(cx));
    for (d, e) in costs.iter().filter_map(|name| cx.effect(name)) {
        for (name, (need, at)) in takes(e) {
            let plain = plain_name(name);
            let Some(have) = starts.get(plain).filter(|have| **have < need && !raised.contains(plain)) else {
                continue;
            };
            let message =
                format!("the cost is {need} {name}, but controllers start with at most {have} and nothing raises it");
            let span = d.span(&format!("Modifiers[{at}].Magnitude.Value"));
            report.add(
                d,
                span,
                message,
                "add an effect that raises the attribute, raise its start value, or lower the cost",
            );
        }
    }
}
