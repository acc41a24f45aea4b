//! Resources without a maximum.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::Resource;

pub(super) static RULE: Rule = Rule {
    id: "resource-without-maximum",
    severity: Severity::Info,
    strict: false,
    summary: "a resource without `Max`",
    why: "Without `Max`, a resource grows without bound, and a bar on the screen has no full width. Regeneration then \
never stops. A currency may be meant to have no maximum.",
    example: "Kind: resource\nName: Mana\nInitial: 100",
    fix: "Add `Max`. If the maximum should follow a stat, add `MaxStat` too. If the resource has no maximum on purpose, \
allow the finding with a comment.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, resource) in cx.each::<Resource>().filter(|(_, resource)| resource.max.is_none()) {
        let message = format!("the resource {} has no maximum", resource.name);
        report.add(d, d.name_span(), message, "add Max, the maximum of the resource");
    }
}
