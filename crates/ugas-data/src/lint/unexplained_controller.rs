//! Controller documents with a `CurrentValue` that differs from the value computed from the base value and the active
//! effects.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::Node;
use crate::diagnostic::Severity;
use ugas_core::{DiagnosticKind, Sim, SimConfig, SpawnSpec};

pub(super) static RULE: Rule = Rule {
    id: "unexplained-controller",
    severity: Severity::Warning,
    strict: false,
    summary: "a CurrentValue that differs from the value computed from the base value and the active effects",
    why: "The runtime computes current values from base values and active effects when a controller is spawned. It \
only compares the value in the document with the result. A difference means that a base value or an effect is wrong or \
missing.",
    example: "AttributeSets:\n  - Name: Combat\n    Attributes: [{Name: Damage, BaseValue: 10, CurrentValue: 12}]\nActiveEffects: []",
    fix: "Correct the value, add the missing effect to `ActiveEffects`, or remove `CurrentValue`.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    // Placeholders for host code return 0, so values cannot be compared.
    if !cx.set.host.calculations.is_empty() {
        return;
    }
    let stated = |c: &ugas_doc::Controller| {
        c.attribute_sets.iter().flat_map(|s| &s.attributes).any(|v| v.current_value.is_some())
    };
    for (d, c) in cx.each::<ugas_doc::Controller>().filter(|(d, c)| d.own && stated(c)) {
        let Some(template) = cx.rules.find_template(&c.owner_actor.actor_id) else { continue };
        let mut sim = Sim::new(cx.rules.clone(), SimConfig::default());
        if sim.spawn(SpawnSpec::template(template)).is_err() {
            continue;
        }
        let mut told = Vec::new();
        sim.take_diagnostics(&mut told);
        for diagnostic in told {
            let DiagnosticKind::ValueMismatch { attribute, stated, found } = diagnostic.kind else { continue };
            let name = cx.rules.attribute_name(attribute).unwrap_or("");
            let sets = d.tree.get("AttributeSets").map_or(&[][..], Node::items);
            let values = sets.iter().flat_map(|s| s.get("Attributes").map_or(&[][..], Node::items));
            let mut values = values.filter(|v| v.get("Name").and_then(Node::as_text) == Some(name));
            let span = values.find_map(|v| v.get("CurrentValue")).map_or_else(|| d.name_span(), |n| n.span);
            let message = format!("the document states {name} {stated}, but the base value and effects give {found}");
            report.add(d, span, message, "correct the value, add the missing effect, or remove CurrentValue");
        }
    }
}
