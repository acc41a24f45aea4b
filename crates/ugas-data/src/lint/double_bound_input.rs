//! Inputs that are bound to two actions of the same action set.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use std::collections::BTreeMap;
use ugas_doc::{DeviceInput, InputBinding, Platform};

pub(super) static RULE: Rule = Rule {
    id: "double-bound-input",
    severity: Severity::Warning,
    strict: false,
    summary: "one input that is bound to two actions of the same action set",
    why: "While the action set is active, a press matches both actions, and their order decides which action receives \
the press. Bindings with different priorities, hold times or required tags are not reported. With `--strict`, the rule \
also reports two abilities of one grant list with the same InputID, because such abilities are tried in order.",
    example: "Bindings:\n  - {Action: Fire, Inputs: [{Device: Mouse, Input: Mouse.LeftButton}]}\n  \
- {Action: Melee, Inputs: [{Device: Mouse, Input: Mouse.LeftButton}]}",
    fix: "Give one of the bindings another input, a `Priority`, a `HoldThreshold` or `Tags`.",
    check: CheckedBy::Lint(check),
};

/// The properties that distinguish the bindings of one action set.
type BindingKey<'b> = (&'b str, Vec<(u8, &'b str, Option<&'b str>)>, i32, Option<u64>, &'b [String]);

fn key<'b>(set: &'b str, b: &'b InputBinding, inputs: &'b [DeviceInput]) -> BindingKey<'b> {
    let of = |i: &'b DeviceInput| (i.device as u8, i.input.as_str(), i.custom_device_name.as_deref());
    let mut chord: Vec<_> = inputs.iter().map(of).collect();
    chord.sort_unstable();
    (set, chord, b.priority, b.hold_threshold.map(f64::to_bits), &b.tags.required_tags)
}

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let mut seen: BTreeMap<BindingKey<'_>, Vec<(Option<Platform>, &str)>> = BTreeMap::new();
    for (d, m) in cx.each::<ugas_doc::InputMapping>() {
        for (i, b) in m.bindings.iter().enumerate().filter(|(_, b)| !b.inputs.is_empty()) {
            let others = seen.entry(key(&m.action_set, b, &b.inputs)).or_default();
            let meets = |p: Option<Platform>| p.is_none() || m.platform.is_none() || p == m.platform;
            if let Some((_, other)) = others.iter().find(|(p, action)| meets(*p) && *action != b.action) {
                let chord: Vec<&str> = b.inputs.iter().map(|i| i.input.as_str()).collect();
                let message = format!("{} is bound to both {} and {other}", chord.join(" + "), b.action);
                let span = d.span(&format!("Bindings[{i}].Inputs"));
                report.add(
                    d,
                    span,
                    message,
                    "use another input, or set Priority, HoldThreshold or Tags on one of the bindings",
                );
            }
            others.push((m.platform, &b.action));
        }
    }
    if cx.strict {
        shared_by_abilities(cx, report);
    }
}

fn shared_by_abilities(cx: &LintCx<'_>, report: &mut Report) {
    for d in &cx.docs {
        for list in ["GrantedAbilities", "Abilities"].iter().filter_map(|key| d.tree.get(key)) {
            let mut seen = BTreeMap::new();
            for entry in list.items() {
                let Some(input) = entry.get("InputID") else { continue };
                let name = entry.get("AbilityClass").or_else(|| entry.get("Ability"));
                let name = name.and_then(|n| n.as_text()).unwrap_or("");
                if let Some(first) = seen.insert(input.as_text().unwrap_or(""), name) {
                    let message = format!("{name} and {first} have the same input; they are tried in order");
                    report.add(d, input.span, message, "give one of the abilities another input");
                }
            }
        }
    }
}
