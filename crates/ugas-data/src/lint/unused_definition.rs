//! Definitions that no other document refers to.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use ugas_doc::Doc;

pub(super) static RULE: Rule = Rule {
    id: "unused-definition",
    severity: Severity::Warning,
    strict: false,
    summary: "a definition that no other document refers to",
    why: "An unused definition is usually obsolete, or a reference to it is misspelt. Only documents can use curves, \
calculations and input modifiers, so these are always checked. Host code or another pack may use other definitions, so \
those are checked only with `--strict`.",
    example: "Kind: curve\nName: C_OldDamage # no magnitude and no expression names it\nPoints: [{X: 1, Y: 10}]",
    fix: "Refer to the definition where it should be used, or remove the definition.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    use SymbolKind::{Calculation, Controller, Curve, InputModifier, Scene, Timeline};
    for d in cx.docs.iter().filter(|d| d.own) {
        for m in d.names.iter().filter(|m| m.definition) {
            let only_data = matches!(m.kind, Curve | Calculation | InputModifier);
            // Hosts refer to controllers and scenes; timelines are found by their montage or ability.
            if matches!(m.kind, Controller | Scene | Timeline) || !(only_data || cx.strict) {
                continue;
            }
            // An attribute document defines both an attribute and an attribute set of the same name.
            let other = matches!(d.doc, Doc::Attribute(_)) && cx.names.is_used(SymbolKind::AttributeSet, &m.name);
            if !other && !cx.names.is_used(m.kind, &m.name) {
                let message = format!("the {} {} is not used", m.kind, m.name);
                report.add(d, m.span, message, "use the definition or remove it");
            }
        }
    }
}
