//! Every crate has a description in its manifest and documentation at the top of its root file.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::repo::{self, Package};

/// Checks the packages under `crates/`.
pub(crate) fn check(root: &Path, packages: &[Package]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in packages {
        let Some(manifest) = repo::relative(root, &package.manifest_path) else {
            continue;
        };
        if !manifest.starts_with("crates/") {
            continue;
        }
        if package.description.as_deref().is_none_or(|description| description.trim().is_empty()) {
            findings.push(Finding::error(&manifest, 1, format!("{} has no description", package.name)));
        }
        let is_code = |kind: &String| kind == "lib" || kind == "bin" || kind == "proc-macro" || kind == "cdylib";
        for target in package.targets.iter().filter(|target| target.kind.iter().any(is_code)) {
            let Some(file) = repo::relative(root, &target.src_path) else {
                continue;
            };
            if let Some(text) = repo::read_text(root, &file)?
                && !opens_with_docs(&text)
            {
                findings.push(Finding::error(&file, 1, "the root file has no documentation at its top (`//!`)"));
            }
        }
    }
    Ok(findings)
}

/// Returns whether a crate-level doc comment comes before any item; attributes and plain comments may come first.
fn opens_with_docs(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| {
        let is_aside = line.starts_with("#!") || (line.starts_with("//") && !line.starts_with("//!"));
        !line.is_empty() && !is_aside
    });
    first.is_some_and(|line| line.strip_prefix("//!").is_some_and(|docs| !docs.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_come_first() {
        assert!(opens_with_docs("//! What it is.\n"));
        assert!(opens_with_docs("// licence\n#![no_std]\n\n//! What it is.\nuse x;\n"));
        assert!(!opens_with_docs("use x;\n//! late\n"));
        assert!(!opens_with_docs("//!\nuse x;\n"));
        assert!(!opens_with_docs(""));
    }
}
