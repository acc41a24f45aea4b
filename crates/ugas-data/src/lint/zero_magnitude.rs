//! Modifiers that add 0, and Multiply modifiers with a bonus of 0.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::{MagnitudeType, Operation};

pub(super) static RULE: Rule = Rule {
    id: "zero-magnitude",
    severity: Severity::Warning,
    strict: false,
    summary: "a modifier that adds 0, or a Multiply with a bonus of 0",
    why: "Adding 0 changes nothing, and a Multiply of 0 is a bonus of 0 %, not a factor of 0. To set a value to 0, write an \
Override of 0.",
    example: "Modifiers:\n  - {Attribute: Speed, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: 0}}",
    fix: "Remove the modifier, or write the intended number. To set the value to 0, write an Override of 0 or a Multiply of -1.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, e) in cx.each::<ugas_doc::Effect>() {
        for (i, m) in e.modifiers.iter().enumerate().filter(|(_, m)| m.operation != Operation::Override) {
            let g = &m.magnitude;
            let dead = g.kind == MagnitudeType::AttributeBased
                && g.coefficient == Some(0.0)
                && g.post_multiply_additive.unwrap_or(0.0) == 0.0;
            let key = if dead { "Coefficient" } else { "Value" };
            if dead || g.constant() == Some(0.0) {
                let message = format!("{:?} 0 changes nothing", m.operation);
                let span = d.span(&format!("Modifiers[{i}].Magnitude.{key}"));
                report.add(d, span, message, "remove the modifier; to set the value to 0, write an Override of 0");
            }
        }
    }
}
