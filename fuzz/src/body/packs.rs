//! Any text as a project of several files: a line `=== path` begins the next one. Everything a command or an editor may
//! ask of it has an answer.

use std::path::PathBuf;
use ugas_data::language::{complete, defined_names, definitions, hover, name_at, references, rename, show};
use ugas_data::{Diagnostic, Project};

/// Files of one input; an honest pack of a mebibyte has no more.
const FILES: usize = 64;
/// Places of one input that an editor asks about.
const PLACES: usize = 4;

/// Checks, mends, formats and asks.
pub fn packs(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let project = project(text);
    findings(&project, project.check_with(true));
    findings(&project, project.extensions());
    for set in project.sets() {
        let (rules, issues) = project.build(&set);
        assert!(rules.is_some() || !issues.is_empty(), "what is not built has a reason");
    }
    mend(&project);
    for source in project.sources() {
        super::yaml::shape(&source.name, &source.text);
    }
    ask(&project);
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

/// Every finding stands somewhere in its file.
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

/// Mending what is mended changes nothing more.
fn mend(project: &Project) {
    let fixes = project.fixes();
    if fixes.iter().any(|fix| !fix.changes.is_empty()) {
        let mut mended = project.clone();
        fixes.into_iter().for_each(|fix| mended.put(fix.path, fix.text));
        assert!(mended.fixes().iter().all(|fix| fix.changes.is_empty()), "mending twice changes more");
    }
}

fn ask(project: &Project) {
    for source in project.sources().iter().take(2) {
        for turn in 0..PLACES {
            let mut at = source.text.len() * (2 * turn + 1) / (2 * PLACES);
            while !source.text.is_char_boundary(at) {
                at -= 1;
            }
            let path = &source.path;
            complete(project, path, at);
            hover(project, path, at);
            if let Some(found) = name_at(project, path, at) {
                definitions(project, path, found.kind, &found.name);
                references(project, path, found.kind, &found.name);
                if let Ok(rename) = rename(project, path, at, "Renamed") {
                    rename.applied(project);
                }
            }
        }
    }
    for name in defined_names(project).into_iter().take(PLACES) {
        show(project, &name, 1);
    }
}
