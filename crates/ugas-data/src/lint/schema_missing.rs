//! Documents that do not say which version they were written for.

use super::{Check, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use std::collections::BTreeSet;
use ugas_doc::Kind;

pub(super) static RULE: Rule = Rule {
    id: "schema-missing",
    severity: Severity::Warning,
    strict: false,
    summary: "documents that pin no version of the specification",
    why: "Data should say for which version of the specification it was written. A document does so with `$schema`, a pack \
for all of its documents with `Specification` in its pack.yaml. Reported once per pack; files in no pack are looked at \
with `--strict`, each by itself. Kinds that the specification does not have need nothing.",
    example: "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant",
    fix: "Write `Specification: v1.0.0-draft.3` into pack.yaml, or \
`$schema: https://ugas.jbltx.com/v1.0.0-draft.3/schemas/gameplay_effect.json` in place of `Kind`.",
    check: Check::Lint(check),
};

/// Kinds of this runtime's own.
fn is_extension(kind: Kind) -> bool {
    matches!(kind, Kind::Curve | Kind::AbilitySet | Kind::Timeline | Kind::Calculation | Kind::Scene | Kind::Patch)
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
            let message = "nothing says for which version of the specification this was written".to_owned();
            report.say(d, span, message, "write Specification: into pack.yaml, or $schema in place of Kind");
        }
    }
}
