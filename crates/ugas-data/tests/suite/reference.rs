//! The reference pages of the book: current, and with examples that check without a finding.
#![cfg(feature = "schema")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use ugas_data::{Project, REFERENCE_EXAMPLES, Severity, reference_pages};
use ugas_doc::Kind;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src")
}

#[test]
fn the_reference_in_the_book_is_current() {
    let home = folder().join("reference");
    let pages = reference_pages();
    if std::env::var_os("UGAS_BLESS").is_some() {
        std::fs::create_dir_all(&home).expect("the folder");
        pages.iter().for_each(|(name, text)| std::fs::write(home.join(name), text).expect("a page to write"));
    }
    for (name, text) in &pages {
        let found = std::fs::read_to_string(home.join(name)).unwrap_or_default();
        assert!(found == *text, "reference/{name} is old: run `ugas schema --reference book/src/reference`");
    }
    let files: BTreeSet<String> = std::fs::read_dir(&home)
        .expect("the pages")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, pages.iter().map(|(name, _)| name.clone()).collect());
    let summary = std::fs::read_to_string(folder().join("SUMMARY.md")).expect("the summary");
    for (name, _) in &pages {
        assert!(summary.contains(&format!("(reference/{name})")), "SUMMARY.md does not list reference/{name}");
    }
}

#[test]
fn every_kind_has_an_example_and_the_examples_check_without_a_finding() {
    let mut project = Project::default();
    REFERENCE_EXAMPLES.iter().for_each(|(file, text)| project.put(*file, *text));
    let findings = project.check();
    let wrong: Vec<String> =
        findings.iter().filter(|f| f.severity != Severity::Info).map(|f| format!("{f:?}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let kinds: BTreeSet<&str> =
        project.sources().iter().flat_map(|s| &s.docs).filter_map(|d| d.kind).map(Kind::name).collect();
    assert_eq!(kinds, Kind::ALL.into_iter().map(Kind::name).collect());
}
