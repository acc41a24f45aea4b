//! Tags and names of families that have a meaning of their own.

use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use std::collections::BTreeSet;
use ugas_doc::Doc;

pub(super) static RULE: Rule = Rule {
    id: "reserved-prefix",
    severity: Severity::Warning,
    strict: false,
    summary: "a reserved family of tags or names used for something else",
    why: "Tags below `GameplayCue` trigger cues and are no state; tags below `Cooldown` are granted by cooldowns, and an \
ability is blocked by them. The names `GE_Initial_Tags` and `GE_OwnedTags_…` belong to effects the runtime makes.",
    example: "Kind: gameplay_effect\nName: GE_Burn\nDurationPolicy: Infinite\nGrantedTags: [GameplayCue.Fire]",
    fix: "Put a cue under `GameplayCues`, name the effect as `Cooldown` of an ability, or use a tag of another family.",
    check: Check::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let cooldowns: BTreeSet<&str> = cx.abilities().filter_map(|(_, a)| a.cooldown.as_deref()).collect();
    for d in &cx.docs {
        let cools = matches!(d.doc, Doc::Effect(e) if cooldowns.contains(e.name.as_str()));
        for m in d.names {
            let granted = matches!(m.key.as_str(), "GrantedTags" | "ActivationOwnedTags" | "OwnedTags");
            if m.kind == SymbolKind::Tag && granted {
                if m.name.starts_with("GameplayCue.") {
                    let message = format!("{} is a cue, and is granted as a state here", m.name);
                    report.say(d, m.span, message, "put it under GameplayCues, or use a tag below State");
                } else if m.name.starts_with("Cooldown.") && m.key == "GrantedTags" && !cools {
                    let message = format!("{} is granted by an effect that is the Cooldown of no ability", m.name);
                    report.say(d, m.span, message, "name the effect as Cooldown of an ability, or use another tag");
                }
            }
            let built_in = m.name == "GE_Initial_Tags" || m.name.starts_with("GE_OwnedTags_");
            if m.definition && m.kind == SymbolKind::Effect && built_in {
                let message = format!("{} is a name of effects the runtime makes itself", m.name);
                report.say(d, m.span, message, "choose another name");
            }
        }
    }
}
