//! Entries of capability sets that run on one machine only, although their class applies effects.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use std::collections::BTreeMap;
use ugas_doc::{Capability, Side};

pub(super) static RULE: Rule = Rule {
    id: "effects-on-a-local-side",
    severity: Severity::Warning,
    strict: false,
    summary: "a capability with effects on a side that exists on one machine only",
    why: "A capability with the side `LocalControlledOnly`, `OwnerLocalControlledOnly` or `AllClients` exists on one \
machine only, so it must not change the state that all machines share. The runtime does not apply its effects and emits a \
diagnostic when it is activated.",
    example: "Capabilities:\n  - {Class: Regen, Side: LocalControlledOnly} # the capability Regen has Effects",
    fix: "Use the side `Always`, `AuthorityOnly` or `AuthorityAndLocalControlled`, or remove the effects from the \
capability.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let classes: BTreeMap<&str, &Capability> = cx.each::<Capability>().map(|(_, c)| (c.name.as_str(), c)).collect();
    for d in cx.docs.iter().filter(|d| d.own) {
        for (entry, doc) in d.capability_entries().filter(|(_, doc)| is_local(doc.side)) {
            let Some(key) = classes.get(doc.class.as_str()).and_then(|class| effect_key(class)) else { continue };
            let span = entry.get("Side").map_or(entry.span, |n| n.span);
            let message =
                format!("{} exists on one machine only with this side, so its {key} are not applied", doc.class);
            report.add(d, span, message, "use a side that includes the server, or remove the effects");
        }
    }
}

fn is_local(side: Side) -> bool {
    match side {
        Side::LocalControlledOnly | Side::OwnerLocalControlledOnly | Side::AllClients => true,
        Side::Always | Side::AuthorityOnly | Side::AuthorityAndLocalControlled => false,
    }
}

/// Returns the first field of a capability that lists effects.
fn effect_key(class: &Capability) -> Option<&'static str> {
    let fields = [
        ("Effects", &class.effects),
        ("OnActivated", &class.on_activated),
        ("OnDeactivated", &class.on_deactivated),
        ("OnTick", &class.on_tick),
    ];
    fields.into_iter().find(|(_, list)| !list.is_empty()).map(|(key, _)| key)
}
