//! `ugas fix`: applies the safe fixes of findings, lists each fix, and reports files that cannot be read.

use crate::args::FixArgs;
use crate::output::{Exit, Out, complain, complain_about, count};
use std::path::{Component, Path};
use std::{fs, io};
use ugas_data::{AppliedFix, Code, FileFix, Project};

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
        // Required packs outside the path are not changed.
        let fixes = project.fixes();
        for fix in fixes.iter().filter(|f| lies_in(&f.path, path)) {
            for change in &fix.changes {
                show(fix, change, "", out)?;
            }
            for change in &fix.refused {
                show(fix, change, " (skipped: the fix would also change other values)", out)?;
            }
            if fix.changes.is_empty() {
                continue;
            }
            if !args.dry_run
                && let Err(error) = write(&fix.path, &fix.text)
            {
                complain(&format!("{}: error: cannot write the file: {error}", fix.name));
                exit = Exit::Unreadable;
                continue;
            }
            changes += fix.changes.len();
            files += 1;
        }
        if report_unreadable(project, &fixes, path) {
            exit = Exit::Unreadable;
        }
    }
    let done = if args.dry_run { "would be made" } else { "made" };
    out.line(format!("{} {done} in {}", count(changes, "change"), count(files, "file")))?;
    Ok(exit)
}

/// Reports the errors in files below `path` that still cannot be read after the fixes. Returns whether there are any.
fn report_unreadable(mut project: Project, fixes: &[FileFix], path: &Path) -> bool {
    fixes.iter().for_each(|fix| project.put(fix.path.clone(), fix.text.clone()));
    let mut found = false;
    for source in project.sources().iter().filter(|source| lies_in(&source.path, path)) {
        // `ugas check` reports documents of other tools and invalid values.
        let unreadable = source.errors.iter().filter(|e| !matches!(e.code, Code::UnknownKind | Code::Invalid));
        let mut unreadable = unreadable.peekable();
        found |= unreadable.peek().is_some();
        complain_about(unreadable);
    }
    found
}

fn lies_in(file: &Path, folder: &Path) -> bool {
    // A file of a pack is opened together with its pack, so the file's path may have another prefix.
    if folder.is_file() {
        return matches!((file.canonicalize(), folder.canonicalize()), (Ok(a), Ok(b)) if a == b);
    }
    let rest = file.strip_prefix(folder);
    rest.is_ok_and(|rest| !rest.components().any(|c| c == Component::ParentDir))
}

fn show(fix: &FileFix, change: &AppliedFix, note: &str, out: &mut Out) -> io::Result<()> {
    out.line(format!("{}:{}:{}: {} [{}]{note}", fix.name, change.line, change.column, change.title, change.id))
}

/// Replaces a file by renaming a temporary file, so that a crash leaves either the old text or the new text.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_extension("ugas-fix");
    fs::write(&temporary, text)?;
    fs::set_permissions(&temporary, fs::metadata(path)?.permissions())?;
    fs::rename(&temporary, path)
}
