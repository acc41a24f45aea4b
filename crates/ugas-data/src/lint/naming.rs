//! Names without the prefix of their kind.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use ugas_doc::Kind;

pub(super) static RULE: Rule = Rule {
    id: "naming",
    severity: Severity::Warning,
    strict: true,
    summary: "a name without the prefix that the specification uses for its kind",
    why: "The prefix shows the kind of a definition: `GE_` an effect, `GA_` an ability, `AS_` an ability set, `CS_` a \
capability set, `TL_` a timeline. Attributes start with a capital letter, which distinguishes them from the keywords of expressions.",
    example: "Kind: gameplay_effect\nName: Fireball",
    fix: "Rename the definition and its references. In the example, write `GE_Fireball`.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for d in &cx.docs {
        for m in d.names.iter().filter(|m| m.definition) {
            let prefix = m.kind.document_kind().and_then(Kind::defines).map_or("", |d| d.prefix);
            // The namespace comes from the pack and has no prefix.
            let name = m.name.rsplit("::").next().unwrap_or(&m.name);
            if !name.starts_with(prefix) {
                let message = format!("the name of the {} {} does not start with {prefix}", m.kind, name);
                report.add(d, m.span, message, &format!("rename it to {prefix}{name}"));
            } else if m.kind == SymbolKind::Attribute && !name.starts_with(|c: char| c.is_ascii_uppercase()) {
                let message = format!("the name of the attribute {} does not start with a capital letter", name);
                report.add(d, m.span, message, "start the name with a capital letter, as in MaxHealth");
            }
        }
    }
}
