//! `cargo xtask tidy`: checks conventions of the repository that the compiler does not check.
//!
//! Each rule is one file with a function that takes text or packages and returns findings. This file only reads the
//! repository, runs the rules and prints the findings.

mod core_purity;
mod crate_docs;
mod edges;
mod functions;
mod leftovers;
mod outside;
mod paths;
mod size;
mod walks;

use std::path::Path;

use anyhow::{Result, bail};

use crate::repo;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Does not fail the check.
    Warning,
    /// Fails the check.
    Error,
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) severity: Severity,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn error(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.into(), line, severity: Severity::Error, message: message.into() }
    }

    pub(crate) fn warning(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.into(), line, severity: Severity::Warning, message: message.into() }
    }
}

/// Runs the command; returns `false` if a rule found an error.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    if let Some(arg) = args.first() {
        bail!("unknown option `{arg}` of tidy");
    }
    let root = repo::root()?;
    let findings = findings(&root)?;
    for finding in &findings {
        let kind = match finding.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        println!("{}:{}: {kind}: {}", finding.file, finding.line, finding.message);
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    println!("tidy: {errors} errors, {} warnings", findings.len() - errors);
    Ok(errors == 0)
}

fn findings(root: &Path) -> Result<Vec<Finding>> {
    let packages = repo::packages(root)?;
    let mut findings = edges::check(root, &packages);
    findings.extend(edges::missing(&packages));
    findings.extend(crate_docs::check(root, &packages)?);
    findings.extend(functions::stale(&|file| std::fs::read_to_string(root.join(file)).ok()));
    let mut sources = Vec::new();
    for file in &repo::files(root)? {
        // Files that are not text, such as images, are skipped.
        let Some(text) = repo::read_text(root, file)? else {
            continue;
        };
        findings.extend(core_purity::check(file, &text));
        findings.extend(leftovers::check(file, &text));
        findings.extend(outside::check(file, &text));
        findings.extend(paths::check(file, &text, &|path| root.join(path).exists()));
        findings.extend(size::check(file, &text));
        findings.extend(functions::check(file, &text));
        if edges::MANUALS.contains(&file.as_str()) {
            findings.extend(edges::unknown_crates(file, &text, &packages));
        }
        let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
        if file.starts_with("crates/") && file.contains("/src/") && file.ends_with(".rs") && !is_test {
            sources.push((file.clone(), text));
        }
    }
    let page = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap_or_default();
    findings.extend(walks::check(&page, &sources));
    findings.sort_by(|a, b| (&a.file, a.line, &a.message).cmp(&(&b.file, b.line, &b.message)));
    Ok(findings)
}
