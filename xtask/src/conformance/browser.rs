//! The marks and outcomes of browser tests.
//!
//! A mark is a comment `// covers: …` directly above `test("…"`. The outcomes are the lines that `tests/browser/run` writes:
//! state, file, name and ids, separated by tabs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::log::Outcome;
use super::rust_marks::split_ids;

/// The outcomes of tests, by file and name.
pub(crate) type BrowserReport = BTreeMap<(String, String), Outcome>;

/// A test and the requirements that it claims to cover.
#[derive(Debug, PartialEq)]
pub(crate) struct Marked {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) ids: Vec<String>,
}

pub(crate) fn is_test_file(file: &str) -> bool {
    file.starts_with("tests/browser/") && file.ends_with(".test.mjs")
}

/// Returns the marked tests of a file, and the lines of marks that belong to no test.
pub(crate) fn find(text: &str) -> (Vec<Marked>, Vec<usize>) {
    let (mut tests, mut loose) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(ids) = line.strip_prefix("// covers:") else { continue };
        let below = lines.get(at + 1).and_then(|line| line.strip_prefix("test(\""));
        match below.and_then(|rest| rest.split_once('"')) {
            Some((name, _)) => tests.push(Marked { name: name.to_owned(), line: at + 2, ids: split_ids(ids) }),
            None => loose.push(at + 1),
        }
    }
    (tests, loose)
}

/// Runs the browser tests.
pub(crate) fn run(root: &Path) -> Result<BrowserReport> {
    let status = Command::new(root.join("tests/browser/run")).status().context("cannot start tests/browser/run")?;
    if !status.success() {
        bail!("the browser tests failed; without a browser, use --browser with the report of an earlier run");
    }
    read(&root.join("target/browser-tests.tsv"))
}

/// Reads an earlier report.
pub(crate) fn read(file: &Path) -> Result<BrowserReport> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    parse(&text).with_context(|| format!("in {}", file.display()))
}

fn parse(text: &str) -> Result<BrowserReport> {
    let mut report = BrowserReport::new();
    for (n, line) in text.lines().enumerate() {
        let mut parts = line.split('\t');
        let (Some(state), Some(file), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            bail!("line {} is not a line of a browser test report", n + 1);
        };
        let outcome = match state {
            "ok" => Outcome::Passed,
            "skipped" => Outcome::Ignored,
            _ => Outcome::Failed,
        };
        report.insert((file.replace('\\', "/"), name.to_owned()), outcome);
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_directly_above_a_test() {
        let text = "// covers: OWN-05, OWN-10\ntest(\"a name\", async () => {});\n\n// covers: OWN-10\nconst x = 1;\n";
        let (tests, loose) = find(text);
        let ids = vec!["OWN-05".to_owned(), "OWN-10".to_owned()];
        assert_eq!(tests, [Marked { name: "a name".to_owned(), line: 2, ids }]);
        assert_eq!(loose, [4]);
    }

    #[test]
    fn a_report_has_the_outcome_of_each_test() {
        let report = parse("ok\ttests/browser/a.test.mjs\tA\tOWN-10\nfailed\ttests/browser/a.test.mjs\tB\t\n").unwrap();
        let of = |name: &str| report[&("tests/browser/a.test.mjs".to_owned(), name.to_owned())];
        assert_eq!((of("A"), of("B")), (Outcome::Passed, Outcome::Failed));
        assert!(parse("nonsense\n").is_err());
    }
}
