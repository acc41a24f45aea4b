//! Reserved tag prefixes and names that are used for another purpose.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use std::collections::BTreeSet;
use ugas_doc::Doc;

pub(super) static RULE: Rule = Rule {
    id: "reserved-prefix",
    severity: Severity::Warning,
    strict: false,
    summary: "a reserved tag prefix or name that is used for another purpose",
    why: "Tags below `GameplayCue` trigger cues and do not describe state. Tags below `Cooldown` are granted by cooldown \
effects and block abilities. The names `GE_Initial_Tags` and `GE_OwnedTags_…` are reserved for effects that the runtime \
creates.",
    example: "Kind: gameplay_effect\nName: GE_Burn\nDurationPolicy: Infinite\nGrantedTags: [GameplayCue.Fire]",
    fix: "Put a cue under `GameplayCues`, use the effect as `Cooldown` of an ability, or use another tag.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let cooldowns: BTreeSet<&str> = cx.each::<ugas_doc::Ability>().filter_map(|(_, a)| a.cooldown.as_deref()).collect();
    for d in &cx.docs {
        let cools = matches!(d.doc, Doc::Effect(e) if cooldowns.contains(e.name.as_str()));
        for m in d.names {
            let granted = matches!(m.key.as_str(), "GrantedTags" | "ActivationOwnedTags" | "OwnedTags");
            if m.kind == SymbolKind::Tag && granted {
                if m.name.starts_with("GameplayCue.") {
                    let message = format!("{} is a cue tag, but it is granted as a state tag", m.name);
                    report.add(d, m.span, message, "put it under GameplayCues, or use a tag below State");
                } else if m.name.starts_with("Cooldown.") && m.key == "GrantedTags" && !cools {
                    let message = format!("{} is granted by an effect that no ability uses as Cooldown", m.name);
                    report.add(d, m.span, message, "use the effect as Cooldown of an ability, or use another tag");
                }
            }
            let built_in = m.name == "GE_Initial_Tags" || m.name.starts_with("GE_OwnedTags_");
            if m.definition && m.kind == SymbolKind::Effect && built_in {
                let message = format!("{} is reserved for effects that the runtime creates", m.name);
                report.add(d, m.span, message, "choose another name");
            }
        }
    }
}
