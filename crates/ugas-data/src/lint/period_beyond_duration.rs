//! Periods longer than the duration of the effect.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::{DurationPolicy, Magnitude};

pub(super) static RULE: Rule = Rule {
    id: "period-beyond-duration",
    severity: Severity::Warning,
    strict: false,
    summary: "a period longer than the duration of the effect",
    why: "The first execution happens one period after the application. An effect that expires earlier never executes, \
except at application with `ExecuteOnApplication`.",
    example: "DurationPolicy: HasDuration\nDuration: {Type: ScalableFloat, Value: 2}\nPeriod: {Period: 3}",
    fix: "Write a shorter period or a longer duration.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, e) in cx.each::<ugas_doc::Effect>().filter(|(_, e)| e.duration_policy == DurationPolicy::HasDuration) {
        let (Some(period), Some(duration)) =
            (e.period.map(|p| p.period), e.duration.as_ref().and_then(Magnitude::constant))
        else {
            continue;
        };
        if period > duration && duration > 0.0 {
            let message = format!("the effect ends after {duration} s, before its first execution at {period} s");
            report.add(d, d.span("Period.Period"), message, "write a shorter period or a longer duration");
        }
    }
}
