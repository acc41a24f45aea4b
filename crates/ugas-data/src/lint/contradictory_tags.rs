//! Tags that are both required and blocked, and effects that inhibit themselves.

use super::cx::LintDoc;
use super::{CheckedBy, LintCx, Report, Rule, implies};
use crate::Node;
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "contradictory-tags",
    severity: Severity::Warning,
    strict: false,
    summary: "a tag that is both required and blocked, or an effect that inhibits itself",
    why: "Tags are hierarchical: a controller with `State.Debuff.Stunned` also has `State.Debuff`. A definition that \
requires `State.Debuff.Stunned` and is blocked by `State.Debuff` can never be activated or applied. An effect that \
grants one of its own `OngoingBlockedTags` inhibits itself as soon as it is active.",
    example: "Tags:\n  ActivationRequiredTags: [State.Debuff.Stunned]\n  ActivationBlockedTags: [State.Debuff]",
    fix: "Remove the tag from one of the two lists.",
    check: CheckedBy::Lint(check),
};

/// Pairs of lists about the same controller: tags that it must have, and tags that it must not have.
const PAIRS: &[(&str, &str)] = &[
    ("ActivationRequiredTags", "ActivationBlockedTags"),
    ("ActivationRequiredTags", "BlockedByTags"),
    ("ApplicationRequiredTags", "ApplicationBlockedTags"),
    ("SourceRequiredTags", "SourceBlockedTags"),
    ("TargetRequiredTags", "TargetBlockedTags"),
    ("OngoingRequiredTags", "OngoingBlockedTags"),
    ("RequiredTags", "BlockedTags"),
    ("RequireTags", "ExcludeTags"),
    ("GrantedTags", "OngoingBlockedTags"),
];

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for d in &cx.docs {
        walk(d, d.tree, report);
    }
}

fn walk(d: &LintDoc<'_>, node: &Node, report: &mut Report) {
    for (wanted, barred) in PAIRS {
        let (Some(wanted_list), Some(barred_list)) = (node.get(wanted), node.get(barred)) else { continue };
        for tag in wanted_list.items() {
            let name = tag.as_text().unwrap_or("");
            let blocks = |n: &&Node| n.as_text().is_some_and(|b| implies(name, b));
            let Some(blocker) = barred_list.items().iter().find(blocks).and_then(Node::as_text) else { continue };
            let message = match *wanted {
                "GrantedTags" => {
                    format!("{name} in GrantedTags matches {blocker} in {barred}: the effect inhibits itself")
                }
                _ if name == blocker => format!("{name} is in both {wanted} and {barred}"),
                _ => format!("{name} in {wanted} is a child of {blocker} in {barred}: the lists contradict each other"),
            };
            report.add(d, tag.span, message, "remove the tag from one of the two lists");
        }
    }
    node.entries().iter().for_each(|e| walk(d, &e.value, report));
    node.items().iter().for_each(|n| walk(d, n, report));
}
