//! `ugas fix`: applies the safe edits of findings and lists each of them.

use crate::args::FixArgs;
use crate::output::{Exit, Out, complain, complain_about, count};
use std::path::{Component, Path};
use std::{fs, io};
use ugas_data::{Change, FileFix, Project};

pub(crate) fn run(args: &FixArgs, out: &mut Out) -> io::Result<Exit> {
    let (mut exit, mut changes, mut files) = (Exit::Good, 0, 0);
    for path in &args.paths {
        let project = match Project::open_at_home(path) {
            Ok((project, _)) => project,
            Err(errors) => {
                complain_about(errors.iter());
                exit = Exit::Unreadable;
                continue;
            }
        };
        // Packs that are only required lie elsewhere and are not ours to change.
        for fix in project.fixes().iter().filter(|f| lies_in(&f.path, path)) {
            for change in &fix.changes {
                show(fix, change, "", out)?;
            }
            for change in &fix.refused {
                show(fix, change, " (left alone: it would change more than that)", out)?;
            }
            if fix.changes.is_empty() {
                continue;
            }
            if !args.dry_run
                && let Err(error) = write(&fix.path, &fix.text)
            {
                complain(&format!("{}: error: cannot be written: {error}", fix.name));
                exit = Exit::Unreadable;
                continue;
            }
            changes += fix.changes.len();
            files += 1;
        }
    }
    let done = if args.dry_run { "would be made" } else { "made" };
    out.line(&format!("{} {done} in {}", count(changes, "change"), count(files, "file")))?;
    Ok(exit)
}

fn lies_in(file: &Path, folder: &Path) -> bool {
    // A file of a pack was opened with its pack, whose path may begin in another way.
    if folder.is_file() {
        return matches!((file.canonicalize(), folder.canonicalize()), (Ok(a), Ok(b)) if a == b);
    }
    let rest = file.strip_prefix(folder);
    rest.is_ok_and(|rest| !rest.components().any(|c| c == Component::ParentDir))
}

fn show(fix: &FileFix, change: &Change, note: &str, out: &mut Out) -> io::Result<()> {
    out.line(&format!("{}:{}:{}: {} [{}]{note}", fix.name, change.line, change.column, change.title, change.id))
}

/// The new text beside the old file, then in its place, so that a crash leaves one of the two.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("ugas-fix");
    fs::write(&beside, text)?;
    fs::set_permissions(&beside, fs::metadata(path)?.permissions())?;
    fs::rename(&beside, path)
}
