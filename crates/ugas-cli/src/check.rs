//! `ugas check`: checks documents and scenarios without running them.

use crate::args::{CheckArgs, CheckFormat, Deny};
use crate::output::{Colour, Exit, Line, Out, complain_about, count};
use crate::sarif;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use ugas_data::{Diagnostic, Excerpt, Project, Severity};
use ugas_lab::check_path_with;

/// The JSON output.
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
            Ok(more) => {
                findings.extend(more);
                if args.portable {
                    findings.extend(Project::open(path).map(|p| p.extensions()).unwrap_or_default());
                }
            }
            Err(errors) => {
                complain_about(&errors);
                exit = Exit::Unreadable;
            }
        }
    }
    Diagnostic::arrange(&mut findings);
    let mut texts = Texts::default();
    let of = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    match args.format {
        CheckFormat::Text => {
            for finding in &findings {
                show(finding, texts.of(&finding.file), out)?;
            }
            out.line(format!("{}, {}", count(errors, "error"), count(warnings, "warning")))?;
        }
        CheckFormat::Json => {
            let all = All { diagnostics: &findings, errors, warnings };
            out.text(&format!("{}\n", serde_json::to_string_pretty(&all).map_err(io::Error::other)?))?;
        }
        CheckFormat::Sarif => {
            let log = sarif::log(&findings, |file| texts.of(file).to_owned());
            out.text(&format!("{}\n", serde_json::to_string_pretty(&log).map_err(io::Error::other)?))?;
        }
    }
    let denied = errors + if args.deny == Some(Deny::Warnings) { warnings } else { 0 };
    Ok(if denied > 0 { exit.max(Exit::Failed) } else { exit })
}

/// A cache of the texts of files that have findings.
#[derive(Default)]
struct Texts(BTreeMap<String, String>);

impl Texts {
    /// Returns the text of a file, or an empty text if the file can no longer be read.
    fn of(&mut self, file: &str) -> &str {
        self.0.entry(file.to_owned()).or_insert_with(|| std::fs::read_to_string(file).unwrap_or_default())
    }
}

fn show(f: &Diagnostic, text: &str, out: &mut Out) -> io::Result<()> {
    let colour = match f.severity {
        Severity::Error => Colour::Red,
        Severity::Warning => Colour::Yellow,
        Severity::Info => Colour::Blue,
    };
    let place = Line::from(format!("{}:{}:{}: ", f.file, f.line, f.column));
    let severity = format!("{}[{}]", f.severity.name(), f.id);
    out.line(place.coloured(colour, severity).plain(format!(": {}", f.message)))?;
    match (Excerpt::of(f, text), &f.help) {
        (Some(excerpt), help) => {
            let number = excerpt.number.to_string();
            let blank = " ".repeat(number.len());
            let bar = |number: &str| Line::default().coloured(Colour::Blue, format!("{number} |"));
            let label = help.as_deref().unwrap_or_default();
            let marks = format!("{} {label}", excerpt.marks);
            out.line(bar(&blank))?;
            out.line(bar(&number).plain(format!(" {}", excerpt.line)))?;
            out.line(bar(&blank).plain(" ").coloured(colour, marks.trim_end()))
        }
        (None, Some(help)) => out.line(format!("    {help}")),
        (None, None) => Ok(()),
    }
}
