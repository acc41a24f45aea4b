//! `ugas check`: documents and scenarios, without running anything.

use crate::args::{CheckArgs, CheckFormat, Deny};
use crate::output::{Colour, Exit, Out, complain_about};
use serde::Serialize;
use std::io;
use ugas_data::{Diagnostic, Severity};
use ugas_lab::check_path_with;

/// The JSON that tools read.
#[derive(Serialize)]
struct All<'a> {
    diagnostics: &'a [Diagnostic],
    errors: usize,
    warnings: usize,
}

pub(crate) fn run(args: &CheckArgs, out: &mut Out) -> io::Result<Exit> {
    let mut findings = Vec::new();
    let mut exit = Exit::Good;
    for path in &args.paths {
        match check_path_with(path, args.strict) {
            Ok(more) => findings.extend(more),
            Err(errors) => {
                complain_about(&errors);
                exit = Exit::Unreadable;
            }
        }
    }
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    match args.format {
        CheckFormat::Text => {
            for finding in &findings {
                show(finding, out)?;
            }
            out.line(&format!("{errors} errors, {warnings} warnings"))?;
        }
        CheckFormat::Json => {
            let all = All { diagnostics: &findings, errors, warnings };
            out.line(&serde_json::to_string_pretty(&all).map_err(io::Error::other)?)?;
        }
    }
    let denied = errors + if args.deny == Some(Deny::Warnings) { warnings } else { 0 };
    Ok(if denied > 0 { exit.max(Exit::Failed) } else { exit })
}

fn show(f: &Diagnostic, out: &mut Out) -> io::Result<()> {
    let severity = format!("{}[{}]", f.severity.name(), f.id);
    let severity = match f.severity {
        Severity::Error => out.paint(Colour::Red, &severity),
        Severity::Warning => out.paint(Colour::Yellow, &severity),
        Severity::Info => severity,
    };
    out.line(&format!("{}:{}:{}: {severity}: {}", f.file, f.line, f.column, f.message))?;
    match &f.help {
        Some(help) => out.line(&format!("    {help}")),
        None => Ok(()),
    }
}
