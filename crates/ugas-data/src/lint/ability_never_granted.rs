//! Abilities that nobody can ever have.

use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "ability-never-granted",
    severity: Severity::Warning,
    strict: false,
    summary: "an ability that no controller, ability set or effect grants, beside others that are granted",
    why: "An ability does nothing until somebody has it. Where other abilities of a project are granted in data, one that \
is not was mostly forgotten in a list. Projects that grant everything from code are not looked at.",
    example: "Kind: gameplay_ability\nName: GA_Dash # no GrantedAbilities, Abilities or ability set names it",
    fix: "Name it under `GrantedAbilities` of a controller or an effect or under `Abilities` of an ability set, or remove it.",
    check: Check::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let grants = |key: &str| matches!(key, "AbilityClass" | "Ability" | "Abilities");
    let grantors = cx.docs.iter().filter(|d| {
        use ugas_doc::Doc::{AbilitySet, Controller, Effect};
        matches!(d.doc, Controller(_) | AbilitySet(_) | Effect(_))
    });
    // A combat rule of an effect names the abilities it is about under `Abilities`; it grants none.
    let named = grantors.flat_map(|d| {
        let rules = d.tree.get("Rules").map(|r| r.span);
        let of_rule = move |at: u32| rules.is_some_and(|r| r.start <= at && at < r.end);
        d.names.iter().filter(move |m| m.kind == SymbolKind::Ability && grants(&m.key) && !of_rule(m.span.start))
    });
    let granted: BTreeSet<&str> = named.map(|m| m.name.as_str()).collect();
    if granted.is_empty() {
        return;
    }
    for (d, a) in cx.abilities().filter(|(_, a)| !granted.contains(a.name.as_str())) {
        let message = format!("{} is granted by no controller, ability set or effect", a.name);
        report.say(d, d.name_span(), message, "grant it in an ability set, or remove it");
    }
}
