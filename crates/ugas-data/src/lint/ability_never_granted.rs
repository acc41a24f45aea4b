//! Abilities that no controller, ability set or effect grants, although other abilities are granted.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::symbol::SymbolKind;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "ability-never-granted",
    severity: Severity::Warning,
    strict: false,
    summary: "an ability that no controller, ability set or effect grants, although other abilities are granted",
    why: "An ability cannot be activated before it is granted. If other abilities of the project are granted in data, \
this ability is probably missing from a list. Projects that grant all abilities from code are not checked.",
    example: "Kind: gameplay_ability\nName: GA_Dash # no GrantedAbilities, Abilities or ability set names it",
    fix: "Add the ability to `GrantedAbilities` of a controller or an effect, or to `Abilities` of an ability set. \
Otherwise remove the ability.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let grants = |key: &str| matches!(key, "AbilityClass" | "Ability" | "Abilities");
    let grantors = cx.docs.iter().filter(|d| {
        use ugas_doc::Doc::{AbilitySet, Controller, Effect};
        matches!(d.doc, Controller(_) | AbilitySet(_) | Effect(_))
    });
    // A combat rule of an effect lists under `Abilities` the abilities it applies to; it does not grant them.
    let named = grantors.flat_map(|d| {
        let rules = d.tree.get("Rules").map(|r| r.span);
        let of_rule = move |at: u32| rules.is_some_and(|r| r.start <= at && at < r.end);
        d.names.iter().filter(move |m| m.kind == SymbolKind::Ability && grants(&m.key) && !of_rule(m.span.start))
    });
    let granted: BTreeSet<&str> = named.map(|m| m.name.as_str()).collect();
    if granted.is_empty() {
        return;
    }
    for (d, a) in cx.each::<ugas_doc::Ability>().filter(|(_, a)| !granted.contains(a.name.as_str())) {
        let message = format!("no controller, ability set or effect grants {}", a.name);
        report.add(d, d.name_span(), message, "grant it in an ability set, or remove it");
    }
}
