//! Multiply magnitudes of 1 or more, where the author probably meant a factor.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::Operation;

pub(super) static RULE: Rule = Rule {
    id: "multiply-as-factor",
    severity: Severity::Warning,
    strict: false,
    summary: "a Multiply magnitude of 1 or more, where the author probably meant a factor",
    why: "Multiply takes a signed bonus: 0.25 is +25 %, and 1.5 is +150 %, two and a half times the value. An author who \
writes 1.5 usually means 1.5 times the value.",
    example: "Modifiers:\n  - {Attribute: Damage, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: 1.5}}",
    fix: "Write the bonus: the factor minus 1 (0.5 for 1.5 times). If the large bonus is intended, write `# ugas-allow: \
multiply-as-factor` above the line.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, e) in cx.each::<ugas_doc::Effect>() {
        for (i, m) in e.modifiers.iter().enumerate().filter(|(_, m)| m.operation == Operation::Multiply) {
            let Some(value) = m.magnitude.constant().filter(|v| *v >= 1.0) else { continue };
            let shown = |v: f64| (v * 1e6).round() / 1e6;
            let (percent, factor) = (shown(value * 100.0), shown(value + 1.0));
            let message = format!("Multiply {value} is a bonus of {percent} %: {factor} times {}", m.attribute);
            let help = match shown(value - 1.0) {
                0.0 => "to keep the value, remove the modifier; to double the value, 1 is correct".to_owned(),
                bonus => format!("for {value} times the value, write {bonus}"),
            };
            report.add(d, d.span(&format!("Modifiers[{i}].Magnitude.Value")), message, &help);
        }
    }
}
