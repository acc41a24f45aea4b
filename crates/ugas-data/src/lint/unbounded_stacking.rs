//! `Stacking` without a `Limit`.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "unbounded-stacking",
    severity: Severity::Warning,
    strict: false,
    summary: "`Stacking` without a `Limit`",
    why: "Each application adds a stack and each stack adds its magnitude. Without a limit a small bonus grows without bound.",
    example: "Kind: gameplay_effect\nName: GE_Fury\nDurationPolicy: Infinite\nStacking: {By: Target}",
    fix: "Write a `Limit`. A large limit is valid.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let open = |e: &ugas_doc::Effect| e.stacking.as_ref().is_some_and(|s| s.limit.is_none());
    for (d, e) in cx.each::<ugas_doc::Effect>().filter(|(_, e)| open(e)) {
        let span = d.tree.entry("Stacking").map_or_else(|| d.name_span(), |e| e.span);
        let message = format!("{} stacks without a limit", e.name);
        report.add(d, span, message, "write Stacking.Limit");
    }
}
