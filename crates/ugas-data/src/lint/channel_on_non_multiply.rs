//! `Channel` on a modifier that does not multiply.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use crate::fix::remove_entry;
use ugas_doc::Operation;

pub(super) static RULE: Rule = Rule {
    id: "channel-on-non-multiply",
    severity: Severity::Warning,
    strict: false,
    summary: "`Channel` on a modifier that does not multiply",
    why: "Channels group Multiply modifiers. Add, AddPost and Override ignore the field: an Override replaces the whole \
value, not the factor of a channel.",
    example: "Modifiers:\n  - {Attribute: Grip, Operation: Override, Magnitude: {Type: ScalableFloat, Value: 1}, Channel: Surface}",
    fix: "Remove `Channel`; `ugas fix` does this without changing behavior. To change only the factor, use Multiply.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, e) in cx.each::<ugas_doc::Effect>() {
        let ignored = e.modifiers.iter().enumerate().filter(|(_, m)| m.channel.is_some());
        for (i, m) in ignored.filter(|(_, m)| m.operation != Operation::Multiply) {
            let modifier = d.at(&format!("Modifiers[{i}]"));
            let Some(entry) = modifier.entry("Channel") else { continue };
            let span = crate::Span { start: entry.span.start, end: entry.value.span.end };
            let message = format!("{:?} ignores Channel", m.operation);
            let edit = remove_entry(modifier, "Channel", &d.source.text);
            let fix = edit.map(|edit| ("remove Channel".to_owned(), vec![edit]));
            report.add_with_fix(d, span, message, "remove Channel, or use Multiply to change only the factor", fix);
        }
    }
}
