//! Multiply penalties of one channel that add up to -1 or less.

use super::cx::LintDoc;
use super::{CheckedBy, LintCx, Report, Rule};
use crate::Span;
use crate::diagnostic::Severity;
use std::collections::BTreeMap;
use ugas_doc::{DurationPolicy, Effect, Operation};

pub(super) static RULE: Rule = Rule {
    id: "channel-below-minus-one",
    severity: Severity::Warning,
    strict: false,
    summary: "Multiply penalties of one channel that add up to -1 or less",
    why: "A channel's factor is 1 plus the sum of its bonuses. If the sum is -1, the attribute becomes 0 and other \
factors have no effect. If the sum is below -1, the attribute becomes negative. The rule checks the modifiers of one \
effect at its stack limit, and all active effects of a controller document together.",
    example: "Modifiers:\n  - {Attribute: Speed, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: -0.6}, Channel: Slow}\n  \
- {Attribute: Speed, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: -0.5}, Channel: Slow}",
    fix: "Reduce the penalties, put them into separate channels, or lower the stack limit. To set the attribute to 0, \
write an Override of 0.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, e) in cx.each::<Effect>() {
        let stacks = e.stacking.as_ref().map_or(1, |s| s.limit.unwrap_or(1));
        let mut sums = BTreeMap::new();
        add(&mut sums, e, stacks);
        for ((attribute, channel, _), (sum, last)) in sums.into_iter().filter(|(_, (sum, _))| *sum <= -1.0) {
            let span = d.span(&format!("Modifiers[{last}].Magnitude.Value"));
            say(report, d, span, attribute, channel, sum, stacks);
        }
    }
    for (d, c) in cx.each::<ugas_doc::Controller>() {
        let mut sums = BTreeMap::new();
        for active in &c.active_effects {
            if let Some((_, e)) = cx.effect(&active.effect_class) {
                add(&mut sums, e, active.stacks);
            }
        }
        for ((attribute, channel, _), (sum, _)) in sums.into_iter().filter(|(_, (sum, _))| *sum <= -1.0) {
            let span = d.tree.entry("ActiveEffects").map_or_else(|| d.name_span(), |e| e.span);
            say(report, d, span, attribute, channel, sum, 1);
        }
    }
}

/// By attribute and channel; a modifier without a channel has a number of its own.
type Sums<'e> = BTreeMap<(&'e str, Option<&'e str>, usize), (f64, usize)>;

fn add<'e>(sums: &mut Sums<'e>, e: &'e Effect, stacks: u32) {
    // Base writes of Instant and periodic effects are applied one after the other.
    if e.duration_policy == DurationPolicy::Instant || e.period.is_some() {
        return;
    }
    for (i, m) in e.modifiers.iter().enumerate().filter(|(_, m)| m.operation == Operation::Multiply) {
        let Some(value) = m.magnitude.constant() else { continue };
        let own = if m.channel.is_some() { 0 } else { 1 + sums.len() };
        let sum = sums.entry((&m.attribute, m.channel.as_deref(), own)).or_default();
        *sum = (sum.0 + value * f64::from(stacks), i);
    }
}

fn say(
    report: &mut Report,
    d: &LintDoc<'_>,
    span: Span,
    attribute: &str,
    channel: Option<&str>,
    sum: f64,
    stacks: u32,
) {
    let channel = channel.map_or(String::new(), |c| format!(" in channel {c}"));
    let stacks = if stacks > 1 { format!(" with {stacks} stacks") } else { String::new() };
    let end = if sum == -1.0 { "the value becomes 0" } else { "the value becomes negative" };
    let message = format!("the bonuses on {attribute}{channel} add up to {sum}{stacks}: {end}");
    report.add(
        d,
        span,
        message,
        "use smaller penalties or separate channels; to set the value to 0, write an Override of 0",
    );
}
