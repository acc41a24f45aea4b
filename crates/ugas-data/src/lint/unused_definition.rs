//! Definitions that nothing in the project mentions.

use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use ugas_doc::Doc;

pub(super) static RULE: Rule = Rule {
    id: "unused-definition",
    severity: Severity::Warning,
    strict: false,
    summary: "a definition that no other document mentions",
    why: "What nobody uses is mostly left over, or is meant to be used under another spelling. Curves, calculations and \
input modifiers can only be used by data and are always looked at; effects, abilities, attributes, tags and the rest may be \
used by the host or by another pack and are looked at with `--strict`.",
    example: "Kind: curve\nName: C_OldDamage # no magnitude and no expression names it\nPoints: [{X: 1, Y: 10}]",
    fix: "Name it where it was meant to be used, or remove it.",
    check: Check::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    use SymbolKind::{Calculation, Controller, Curve, InputModifier, Scene, Timeline};
    for d in cx.docs.iter().filter(|d| d.own) {
        for m in d.names.iter().filter(|m| m.definition) {
            let only_data = matches!(m.kind, Curve | Calculation | InputModifier);
            // Controllers and scenes are where hosts begin, and timelines are found by what they stand for.
            if matches!(m.kind, Controller | Scene | Timeline) || !(only_data || cx.strict) {
                continue;
            }
            // An attribute on its own defines the attribute and the set of the same name.
            let other = matches!(d.doc, Doc::Attribute(_)) && cx.names.is_used(SymbolKind::AttributeSet, &m.name);
            if !other && !cx.names.is_used(m.kind, &m.name) {
                let message = format!("the {} {} is used nowhere", m.kind, m.name);
                report.say(d, m.span, message, "use it or remove it");
            }
        }
    }
}
