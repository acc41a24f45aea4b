//! Requirements that cannot be met together.

use super::cx::LintDoc;
use super::{Check, LintCx, Report, Rule, implies};
use crate::Node;
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "contradictory-tags",
    severity: Severity::Warning,
    strict: false,
    summary: "a tag that is required and blocked at once, or an effect that inhibits itself",
    why: "Tags are hierarchical: whoever has `State.Debuff.Stunned` has `State.Debuff`. A document that requires the first \
and is blocked by the second never comes to be. An effect that grants a tag under its own `OngoingBlockedTags` switches \
itself off as soon as it is on.",
    example: "Tags:\n  ActivationRequiredTags: [State.Debuff.Stunned]\n  ActivationBlockedTags: [State.Debuff]",
    fix: "Remove the tag from one of the two lists.",
    check: Check::Lint(check),
};

/// Lists that speak of one controller: what it must have, and what it must not have.
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
                "GrantedTags" => format!("it grants {name}, and {barred} {blocker} then switches it off"),
                _ if name == blocker => format!("{name} stands under {wanted} and under {barred}"),
                _ => format!("{wanted} {name} lies below {blocker} of {barred}, so both cannot hold"),
            };
            report.say(d, tag.span, message, "remove it from one of the two lists");
        }
    }
    node.entries().iter().for_each(|e| walk(d, &e.value, report));
    node.items().iter().for_each(|n| walk(d, n, report));
}
