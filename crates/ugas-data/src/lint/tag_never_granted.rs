//! Required tags that no effect, ability, controller or scene grants.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;

pub(super) static RULE: Rule = Rule {
    id: "tag-never-granted",
    severity: Severity::Warning,
    strict: false,
    summary: "a required tag that no effect, ability, controller or scene grants",
    why: "The requirement of a tag that nothing grants is never met. Usually the tag is misspelt, or the effect \
that grants it is missing. If host code adds the tag at spawn, allow the finding.",
    example: "Tags:\n  ActivationRequiredTags: [Weapon.Equiped] # the granted tag is Weapon.Equipped",
    fix: "Require a tag that something grants, or write an effect that grants the tag.",
    check: CheckedBy::Lint(check),
};

const REQUIRES: [&str; 7] = [
    "ActivationRequiredTags",
    "ApplicationRequiredTags",
    "SourceRequiredTags",
    "TargetRequiredTags",
    "OngoingRequiredTags",
    "RequiredTags",
    "RequireTags",
];

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for d in cx.docs.iter().filter(|d| d.own) {
        let required = d.names.iter().filter(|m| m.kind == SymbolKind::Tag && REQUIRES.contains(&m.key.as_str()));
        for m in required.filter(|m| !cx.is_granted(&m.name)) {
            let message = format!("{} is required here, but nothing grants it", m.name);
            report.add(d, m.span, message, "require a tag that something grants, or grant this tag with an effect");
        }
    }
}
