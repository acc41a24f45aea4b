//! Names that do not look like what they name.

use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;

pub(super) static RULE: Rule = Rule {
    id: "naming",
    severity: Severity::Warning,
    strict: true,
    summary: "a definition that is not named as the specification's documents name theirs",
    why: "In lists of names the prefix says what a thing is: `GE_` an effect, `GA_` an ability, `AS_` an ability set, `TL_` a \
timeline. Attributes begin with a capital letter, which also tells them from the words of expressions.",
    example: "Kind: gameplay_effect\nName: Fireball",
    fix: "Rename it everywhere, `GE_Fireball` in the example.",
    check: Check::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for d in &cx.docs {
        for m in d.names.iter().filter(|m| m.definition) {
            let prefix = match m.kind {
                SymbolKind::Effect => "GE_",
                SymbolKind::Ability => "GA_",
                SymbolKind::AbilitySet => "AS_",
                SymbolKind::Timeline => "TL_",
                _ => "",
            };
            // The namespace is the pack's, the name the author's.
            let name = m.name.rsplit("::").next().unwrap_or(&m.name);
            if !name.starts_with(prefix) {
                let message = format!("the name of the {} {} does not begin with {prefix}", m.kind, name);
                report.say(d, m.span, message, &format!("call it {prefix}{name}"));
            } else if m.kind == SymbolKind::Attribute && !name.starts_with(|c: char| c.is_ascii_uppercase()) {
                let message = format!("the attribute {} does not begin with a capital letter", name);
                report.say(d, m.span, message, "begin it with a capital letter, as in MaxHealth");
            }
        }
    }
}
