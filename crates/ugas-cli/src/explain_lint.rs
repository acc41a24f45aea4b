//! `ugas explain-lint`: prints the explanation of a finding id, or a table of all ids.

use crate::args::ExplainLintArgs;
use crate::output::{Exit, Out, complain};
use std::io;
use ugas_data::{finding_page, finding_pages, lint_rules, nearest};

pub(crate) fn run(args: &ExplainLintArgs, out: &mut Out) -> io::Result<Exit> {
    let ids = || lint_rules().iter().map(|rule| rule.id).chain(finding_pages().iter().map(|page| page.id));
    let Some(id) = &args.id else {
        let width = ids().map(str::len).max().unwrap_or(0);
        for rule in lint_rules() {
            let severity = if rule.strict { "strict" } else { rule.severity.name() };
            out.line(format!("{:width$}  {severity:7}  {}", rule.id, rule.summary))?;
        }
        for page in finding_pages() {
            out.line(format!("{:width$}  {:7}  {}", page.id, "", page.summary))?;
        }
        return Ok(Exit::Good);
    };
    match finding_page(id) {
        Some(page) => {
            out.text(&page)?;
            Ok(Exit::Good)
        }
        None => {
            let near = nearest(id, ids()).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            complain(&format!("error: unknown finding id '{id}'{near}"));
            Ok(Exit::Unreadable)
        }
    }
}
