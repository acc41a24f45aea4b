//! Runs the scenarios through the `ugas` command and reads its report.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::repo;

/// Whether each scenario passed, by its file and the line of its `Scenario:` key.
pub(crate) type ScenarioReport = BTreeMap<(String, usize), bool>;

#[derive(Deserialize)]
struct Entry {
    file: String,
    line: usize,
    passed: bool,
}

/// Runs every scenario of the repository and writes the report to `report`.
pub(crate) fn run(root: &Path, report: &Path) -> Result<ScenarioReport> {
    let mut command = repo::cargo(root);
    command.args(["run", "--quiet", "-p", "ugas-cli", "--", "test", "scenarios", "--report"]).arg(report);
    let status = command.status().context("cannot start the ugas command")?;
    // Exit code 1 means that the report contains failed scenarios; after any other failure code no valid report exists.
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("`ugas test scenarios` did not finish: {status}");
    }
    read(root, report)
}

/// Reads the report of an earlier run.
pub(crate) fn read(root: &Path, report: &Path) -> Result<ScenarioReport> {
    let text = std::fs::read_to_string(report).with_context(|| format!("cannot read {}", report.display()))?;
    parse(root, &text).with_context(|| format!("in {}", report.display()))
}

fn parse(root: &Path, text: &str) -> Result<ScenarioReport> {
    let entries: Vec<Entry> = serde_json::from_str(text).context("not a scenario report")?;
    let mut report = ScenarioReport::new();
    for entry in entries {
        let file = entry.file.replace('\\', "/");
        let file = repo::relative(root, Path::new(&file)).unwrap_or(file);
        let file = file.strip_prefix("./").unwrap_or(&file).to_owned();
        *report.entry((file, entry.line)).or_insert(true) &= entry.passed;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_name_files_relative_to_the_root() {
        let text = r#"[{"file": "/r/scenarios/a.yaml", "line": 1, "scenario": "A", "passed": true},
                       {"file": "./scenarios/a.yaml", "line": 9, "scenario": "B", "passed": false},
                       {"file": "scenarios/a.yaml", "line": 9, "scenario": "B", "passed": true}]"#;
        let report = parse(Path::new("/r"), text).unwrap();
        let passed = |line| report[&("scenarios/a.yaml".to_owned(), line)];
        assert!(passed(1));
        assert!(!passed(9), "a scenario that failed once has not passed");
    }

    #[test]
    fn an_invalid_report_is_an_error() {
        assert!(parse(Path::new("/r"), "{}").is_err());
    }
}
