//! Periods shorter than a frame at 60 frames per second.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;

/// A frame at sixty frames per second, slightly shortened, so that 0.0166 counts as a frame.
const FRAME: f64 = 1.0 / 60.5;

pub(super) static RULE: Rule = Rule {
    id: "period-below-frame",
    severity: Severity::Warning,
    strict: false,
    summary: "a period shorter than a frame at 60 frames per second",
    why: "Periods are exact, so an effect with a period of 5 ms executes three or four times in a frame. The \
additional executions cost time for every target and are not visible. Such a short period is usually a mistake in \
the unit.",
    example: "Period: {Period: 0.005}",
    fix: "Write a longer period with a larger magnitude; periods are in seconds.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, e) in cx.each::<ugas_doc::Effect>() {
        let Some(period) = e.period.map(|p| p.period).filter(|p| *p > 0.0 && *p < FRAME) else { continue };
        let message = format!("a Period of {period} s is shorter than a frame (0.0167 s)");
        report.add(d, d.span("Period.Period"), message, "write a longer period and a larger magnitude");
    }
}
