//! `ugas test`: runs scenarios as tests.

use crate::args::TestArgs;
use crate::output::{Colour, Exit, Line, Out, complain, complain_about};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use ugas_data::{ReadError, printable_line};
use ugas_lab::{Report, files_at, is_pack_file, nothing_at, run_file};

/// One scenario in the report file.
#[derive(Serialize)]
struct Entry {
    file: String,
    line: u32,
    scenario: String,
    passed: bool,
}

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    unreadable: bool,
}

pub(crate) fn run(args: &TestArgs, out: &mut Out) -> io::Result<Exit> {
    let mut count = Count::default();
    let mut entries = Vec::new();
    let complain_all = |errors: &[ReadError], count: &mut Count| {
        complain_about(errors);
        count.unreadable |= !errors.is_empty();
    };
    let mut files: Vec<(PathBuf, usize)> = Vec::new();
    for (of, path) in args.paths.iter().enumerate() {
        match files_at(path) {
            Ok(list) => files.extend(list.into_iter().filter(|f| f == path || !is_pack_file(f)).map(|f| (f, of))),
            Err(errors) => complain_all(&errors, &mut count),
        }
    }
    let mut found = vec![false; args.paths.len()];
    let progress = Progress::new(files.len());
    for (i, (file, of)) in files.iter().enumerate() {
        progress.show(i, file);
        let results = run_file(file);
        progress.clear();
        found[*of] |= !results.reports.is_empty() || !results.unreadable.is_empty();
        out.flush()?;
        complain_all(&results.unreadable, &mut count);
        for report in &results.reports {
            show(report, out)?;
            complain_all(&report.errors, &mut count);
            match report.passed() {
                true => count.passed += 1,
                false => count.failed += 1,
            }
            entries.push(Entry {
                file: report.file.to_string(),
                line: report.line,
                scenario: report.scenario.clone(),
                passed: report.passed(),
            });
        }
    }
    for (path, found) in args.paths.iter().zip(&found) {
        if !found && path.exists() {
            complain_all(&[nothing_at(path)], &mut count);
        }
    }
    if let Some(path) = &args.report
        && let Err(error) = write_report(path, &entries)
    {
        complain(&format!("{}: error: cannot write the report: {error}", path.display()));
        count.unreadable = true;
    }
    let failed = format!("{} failed", count.failed);
    let line = Line::default().coloured(Colour::Green, format!("{} passed", count.passed)).plain(", ");
    out.line(match count.failed {
        0 => line.plain(failed),
        _ => line.coloured(Colour::Red, failed),
    })?;
    Ok(match (count.unreadable, count.failed) {
        (true, _) => Exit::Unreadable,
        (false, 0) => Exit::Good,
        (false, _) => Exit::Failed,
    })
}

/// Prints one line for each failure, followed by its explanation.
fn show(report: &Report, out: &mut Out) -> io::Result<()> {
    for f in &report.failures {
        let place = format!("{}:{}:{}", f.file, f.line, f.column);
        let line = Line::default().coloured(Colour::Red, place);
        out.line(line.plain(format!(": {}: {}", report.scenario, f.message)))?;
        for line in f.explanation.iter().flat_map(|e| e.lines()) {
            out.line(format!("    {line}"))?;
        }
    }
    if !report.passed() {
        report.notes.iter().try_for_each(|note| out.line(format!("    note: {note}")))?;
    }
    Ok(())
}

fn write_report(path: &Path, entries: &[Entry]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let text = serde_json::to_string_pretty(entries).map_err(io::Error::other)?;
    std::fs::write(path, text + "\n")
}

/// A progress line on stderr, if stderr is a terminal and there are several files.
struct Progress {
    total: usize,
    visible: bool,
}

impl Progress {
    fn new(total: usize) -> Progress {
        Progress { total, visible: total > 1 && io::stderr().is_terminal() }
    }

    fn show(&self, done: usize, file: &Path) {
        if self.visible {
            let file = file.display().to_string();
            let _ = write!(io::stderr(), "\r\x1b[K[{}/{}] {}", done + 1, self.total, printable_line(&file));
        }
    }

    fn clear(&self) {
        if self.visible {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
