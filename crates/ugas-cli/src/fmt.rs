//! `ugas fmt`: formats files. A file is either replaced completely or left unchanged.

use crate::args::FmtArgs;
use crate::output::{Exit, Out, complain_about, count};
use std::io;
use std::path::Path;
use ugas_data::format;
use ugas_lab::{files_at, text_of};

pub(crate) fn run(args: &FmtArgs, out: &mut Out) -> io::Result<Exit> {
    let mut exit = Exit::Good;
    let (mut seen, mut changed) = (0, 0);
    for path in &args.paths {
        let files = match files_at(path) {
            Ok(files) => files,
            Err(errors) => {
                complain_about(&errors);
                exit = Exit::Unreadable;
                continue;
            }
        };
        for file in files {
            seen += 1;
            let name = file.display().to_string();
            let text = match text_of(&file) {
                Ok(text) => text,
                Err(error) => {
                    complain_about([&error]);
                    exit = Exit::Unreadable;
                    continue;
                }
            };
            match format(&name, &text) {
                Ok(formatted) if formatted == text => {}
                Ok(formatted) => {
                    changed += 1;
                    out.line(&name)?;
                    if args.check {
                        exit = exit.max(Exit::Failed);
                    } else {
                        replace(&file, &formatted)?;
                    }
                }
                Err(errors) => {
                    complain_about(errors.iter());
                    exit = Exit::Unreadable;
                }
            }
        }
    }
    let what = if args.check { "not formatted" } else { "changed" };
    out.line(format!("{}, {changed} {what}", count(seen, "file")))?;
    Ok(exit)
}

/// Replaces a file by renaming a temporary file, so that a crash leaves either the old text or the new text.
pub(crate) fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut temporary = file.as_os_str().to_owned();
    temporary.push(".ugas-new");
    let failed = |e: io::Error| io::Error::new(e.kind(), format!("{}: cannot write the file: {e}", file.display()));
    std::fs::write(&temporary, text).map_err(failed)?;
    if let Ok(metadata) = std::fs::metadata(file) {
        std::fs::set_permissions(&temporary, metadata.permissions()).map_err(failed)?;
    }
    std::fs::rename(&temporary, file).map_err(failed)
}
