//! Documents that name no version of the specification.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::portable::shape;
use std::collections::BTreeSet;
use ugas_doc::Kind;

pub(super) static RULE: Rule = Rule {
    id: "schema-missing",
    severity: Severity::Warning,
    strict: false,
    summary: "documents without a version of the specification",
    why: "Documents should name the version of the specification that they were written for. A document names the \
version in `$schema`; a pack names it in `Specification` of its pack.yaml. The finding is reported once for each pack; \
files outside packs are checked only with `--strict`. Kinds that are extensions need no version.",
    example: "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant",
    fix: "Write `Specification: v1.0.0-draft.3` into pack.yaml, or \
`$schema: https://ugas.jbltx.com/v1.0.0-draft.3/schemas/gameplay_effect.json` in place of `Kind`.",
    check: CheckedBy::Lint(check),
};

/// Returns whether the specification lacks a kind.
fn is_extension(kind: Kind) -> bool {
    shape(kind.name()).is_none()
}

fn check(cx: &LintCx<'_>, report: &mut Report) {
    let mut pinned = cx.set.own.iter().filter_map(|&i| cx.project.sources()[i].pack.as_ref());
    if pinned.any(|pack| pack.specification.is_some()) || (cx.set.folder.is_none() && !cx.strict) {
        return;
    }
    let mut said: BTreeSet<&str> = BTreeSet::new();
    for d in cx.docs.iter().filter(|d| d.tree.get("$schema").is_none() && !is_extension(d.doc.kind())) {
        let place = if cx.set.folder.is_some() { "" } else { &*d.source.name };
        if d.own && said.insert(place) {
            let span = d.tree.entry("Kind").map_or(d.tree.span, |e| e.value.span);
            let message = "the version of the specification is missing".to_owned();
            report.add(d, span, message, "write Specification: into pack.yaml, or $schema in place of Kind");
        }
    }
}
