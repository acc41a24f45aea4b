//! `ugas explain-lint`: a rule's page, or a table of all rules.

use crate::args::ExplainLintArgs;
use crate::output::{Exit, Out, complain};
use std::io;
use ugas_data::{lint_rule, lint_rules, nearest};

pub(crate) fn run(args: &ExplainLintArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(id) = &args.id else {
        let width = lint_rules().iter().map(|r| r.id.len()).max().unwrap_or(0);
        for rule in lint_rules() {
            let severity = if rule.strict { "strict" } else { rule.severity.name() };
            out.line(&format!("{:width$}  {severity:7}  {}", rule.id, rule.summary))?;
        }
        return Ok(Exit::Good);
    };
    match lint_rule(id) {
        Some(rule) => {
            out.text(&rule.page())?;
            Ok(Exit::Good)
        }
        None => {
            let near = nearest(id, lint_rules().iter().map(|r| r.id));
            let near = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            complain(&format!("ugas: there is no lint rule {id}{near}"));
            Ok(Exit::Unreadable)
        }
    }
}
