//! Entries of capability sets that are never evaluated, although they have tags or a query that could block them.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::Node;
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "blocked-but-never-ticks",
    severity: Severity::Info,
    strict: false,
    summary: "a capability with CanEverTick: false that has Tags or BlockedBy",
    why: "Blocks are evaluated when a capability is evaluated. A capability with `CanEverTick: false` keeps the state that \
it has after its setup, so its `Tags` and its `BlockedBy` have no effect. They are useful only if host code makes the \
capability tick later.",
    example: "Capabilities:\n  - {Class: FlyCamera, CanEverTick: false, BlockedBy: State.Stunned}",
    fix: "Remove `CanEverTick: false`, or remove `Tags` and `BlockedBy`.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for d in cx.docs.iter().filter(|d| d.own) {
        for (entry, _) in d.capability_entries().filter(|(_, doc)| !doc.can_ever_tick) {
            let has = |key: &str| entry.get(key).is_some_and(|n| !n.is_list() || !n.items().is_empty());
            let Some(key) = ["BlockedBy", "Tags"].into_iter().find(|key| has(key)) else { continue };
            let span = entry.entry("CanEverTick").map_or(entry.span, |e| e.span);
            let class = entry.get("Class").and_then(Node::as_text).unwrap_or("");
            let message = format!("{class} is never evaluated, so {key} does not block it");
            report.add(d, span, message, "remove CanEverTick: false, or remove Tags and BlockedBy");
        }
    }
}
