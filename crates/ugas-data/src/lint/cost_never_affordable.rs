//! Costs that nobody who has the ability can pay.

use super::cost_above_maximum::{plain_name, raised, starts, takes};
use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "cost-never-affordable",
    severity: Severity::Warning,
    strict: false,
    summary: "a cost of an attribute that starts below it and that nothing raises",
    why: "If every controller starts with less than an ability costs, and no effect, calculation or expression raises the \
attribute, the ability is refused for ever. Writing done by the host's code is not seen; then allow the finding.",
    example: "# Rage: {DefaultBaseValue: 0}, and no effect adds Rage\nKind: gameplay_effect\nName: GE_SlamCost\n\
DurationPolicy: Instant\nModifiers:\n  - {Attribute: Rage, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -20}}",
    fix: "Add an effect that fills the attribute, start with more of it, or lower the cost.",
    check: Check::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let costs: std::collections::BTreeSet<&str> = cx.abilities().filter_map(|(_, a)| a.cost.as_deref()).collect();
    // What host code calculates is unknown, and it may write anything.
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
            let message = format!("the cost is {need} {name}, but nobody has more than {have} and nothing raises it");
            let span = d.span(&format!("Modifiers[{at}].Magnitude.Value"));
            report.say(d, span, message, "add an effect that fills the attribute, start with more, or lower the cost");
        }
    }
}
