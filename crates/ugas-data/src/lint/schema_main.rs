//! Documents that name the version `main` of the specification.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "schema-main",
    severity: Severity::Warning,
    strict: false,
    summary: "a `$schema` that names the version `main`",
    why: "`main` changes with every commit to the specification. A document should name the version it was written for, so \
that its meaning does not change.",
    example: "$schema: https://ugas.jbltx.com/main/schemas/gameplay_effect.json",
    fix: "Write a released version, such as `v1.0.0-draft.3`.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for d in &cx.docs {
        let Some(schema) = d.tree.get("$schema") else { continue };
        let text = &d.source.text;
        let at = schema.span.of(text).and_then(|cut| cut.find("/main/"));
        if let Some(at) = at {
            let start = schema.span.start + at as u32 + 1;
            let span = crate::Span { start, end: start + "main".len() as u32 };
            let message = "the version main changes with every commit to the specification".to_owned();
            report.add(d, span, message, "write the version the document was written for, such as v1.0.0-draft.3");
        }
    }
}
