//! `ugas fmt`: files in the house's shape. A file is written whole or not at all.

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
                Ok(shaped) if shaped == text => {}
                Ok(shaped) => {
                    changed += 1;
                    out.line(&name)?;
                    if args.check {
                        exit = exit.max(Exit::Failed);
                    } else {
                        replace(&file, &shaped)?;
                    }
                }
                Err(errors) => {
                    complain_about(errors.iter());
                    exit = Exit::Unreadable;
                }
            }
        }
    }
    let what = if args.check { "not in shape" } else { "changed" };
    out.line(&format!("{}, {changed} {what}", count(seen, "file")))?;
    Ok(exit)
}

/// Writes beside the file and puts the result in its place, so that nothing is lost if the machine stops in between.
pub(crate) fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".ugas-new");
    let said = |e: io::Error| io::Error::new(e.kind(), format!("{}: cannot be written: {e}", file.display()));
    std::fs::write(&beside, text).map_err(said)?;
    if let Ok(metadata) = std::fs::metadata(file) {
        std::fs::set_permissions(&beside, metadata.permissions()).map_err(said)?;
    }
    std::fs::rename(&beside, file).map_err(said)
}
