//! `GrantedTags` on Instant effects.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::DurationPolicy;

pub(super) static RULE: Rule = Rule {
    id: "instant-with-granted-tags",
    severity: Severity::Warning,
    strict: false,
    summary: "an Instant effect with GrantedTags",
    why: "Tags are granted while an effect is active. An Instant effect is never active, so it grants no tags. To classify \
the effect for immunity and queries, use `EffectTags`.",
    example: "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\nGrantedTags: [State.Debuff.Stunned]",
    fix: "Give the effect a duration, or move the tags to `EffectTags` if they classify the effect.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let instant = cx.each::<ugas_doc::Effect>().filter(|(_, e)| e.duration_policy == DurationPolicy::Instant);
    for (d, _) in instant.filter(|(_, e)| !e.granted_tags.is_empty()) {
        let span = d.tree.entry("GrantedTags").map_or_else(|| d.name_span(), |e| e.span);
        let message = "an Instant effect is never active, so it grants no tags".to_owned();
        report.add(d, span, message, "give the effect a duration, or move tags that classify the effect to EffectTags");
    }
}
