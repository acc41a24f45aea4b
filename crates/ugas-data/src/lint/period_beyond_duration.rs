//! Periods that never come round.

use super::cx::fixed;
use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::DurationPolicy;

pub(super) static RULE: Rule = Rule {
    id: "period-beyond-duration",
    severity: Severity::Warning,
    strict: false,
    summary: "a period longer than the effect lasts",
    why: "The first execution comes one period after the application. If the effect is over by then, it never executes (but \
for the one at application, if that is asked for).",
    example: "DurationPolicy: HasDuration\nDuration: {Type: ScalableFloat, Value: 2}\nPeriod: {Period: 3}",
    fix: "Write a shorter period or a longer duration.",
    check: Check::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, e) in cx.effects().filter(|(_, e)| e.duration_policy == DurationPolicy::HasDuration) {
        let (Some(period), Some(duration)) = (e.period.map(|p| p.period), e.duration.as_ref().and_then(fixed)) else {
            continue;
        };
        if period > duration && duration > 0.0 {
            let message = format!("a Period of {period} s never comes round in a Duration of {duration} s");
            report.say(d, d.span("Period.Period"), message, "write a shorter period or a longer duration");
        }
    }
}
