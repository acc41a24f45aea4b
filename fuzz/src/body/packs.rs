//! Arbitrary text as a project of several files: a line `=== path` starts the next file. Every query of a command or an
//! editor must be answered.

use super::Done;
use std::path::PathBuf;
use ugas_data::language::{complete, defined_names, definitions, hover, name_at, references, rename, show};
use ugas_data::{Diagnostic, FileFix, Project};

/// The maximum number of files of one input.
const FILES: usize = 64;
/// The maximum number of positions that are queried as by an editor.
const PLACES: usize = 4;

/// Checks, fixes, formats and queries.
pub fn packs(bytes: &[u8], done: Done<'_>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let project = project(text);
    done("read");
    let found = project.check_with(true);
    done("check");
    let cut = found.iter().any(|finding| finding.id == "limit");
    findings(&project, found);
    let found = project.extensions();
    done("extensions");
    findings(&project, found);
    for set in project.sets() {
        let (rules, issues) = project.build(&set);
        assert!(rules.is_some() || !issues.is_empty(), "what is not built has a reason");
        done("build");
    }
    let fixes = project.fixes();
    done("fix");
    // The number of reported findings is limited, so a file with more findings needs several runs.
    if !cut {
        mended_once(&project, fixes);
    }
    done("fix again");
    for source in project.sources() {
        super::yaml::shape(&source.name, &source.text, done);
    }
    ask(&project, done);
}

fn project(text: &str) -> Project {
    let mut project = Project::default();
    let mut path = PathBuf::from("loose.yaml");
    let mut body = String::new();
    let mut files = 0;
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("=== ") {
            Some(name) if files < FILES => {
                project.put(std::mem::replace(&mut path, name.trim_end().into()), std::mem::take(&mut body));
                files += 1;
            }
            _ => body.push_str(line),
        }
    }
    project.put(path, body);
    project
}

/// Checks that the span of every finding is in its file.
fn findings(project: &Project, findings: Vec<Diagnostic>) {
    for finding in findings {
        assert!(!finding.message.is_empty() && !finding.id.is_empty());
        let source = project.source(&finding.file).expect("a finding is about a file of the project");
        assert!(finding.span.of(&source.text).is_some(), "{finding:?} lies outside of its file");
        for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(edit.span.of(&source.text).is_some(), "{finding:?} edits what is not there");
        }
    }
}

/// Checks that fixing again changes nothing.
fn mended_once(project: &Project, fixes: Vec<FileFix>) {
    if fixes.iter().any(|fix| !fix.changes.is_empty()) {
        let mut mended = project.clone();
        fixes.into_iter().for_each(|fix| mended.put(fix.path, fix.text));
        assert!(mended.fixes().iter().all(|fix| fix.changes.is_empty()), "mending twice changes more");
    }
}

fn ask(project: &Project, done: Done<'_>) {
    for source in project.sources().iter().take(2) {
        for turn in 0..PLACES {
            let mut at = source.text.len() * (2 * turn + 1) / (2 * PLACES);
            while !source.text.is_char_boundary(at) {
                at -= 1;
            }
            let path = &source.path;
            complete(project, path, at);
            done("complete");
            hover(project, path, at);
            done("hover");
            let Some(found) = name_at(project, path, at) else { continue };
            definitions(project, path, found.kind, &found.name);
            done("definitions");
            references(project, path, found.kind, &found.name);
            done("references");
            let renamed = rename(project, path, at, "Renamed");
            done("rename");
            if let Ok(rename) = renamed {
                rename.applied(project);
                done("apply a rename");
            }
        }
    }
    let names = defined_names(project);
    done("list names");
    for name in names.into_iter().take(PLACES) {
        show(project, &name, 1);
        done("show");
    }
}
