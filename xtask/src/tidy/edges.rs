//! The allowed dependencies between crates.
//!
//! The lowest layer is the authored documents; the highest layer is the hosts. A crate may depend on any layer below
//! its own. Tests may also depend on higher layers, for example on the scenario runner. No crate and no test may depend
//! on a host.

use std::path::Path;

use super::Finding;
use crate::repo::{self, Package};

/// The layers, the lowest first. Add new crates here.
const LAYERS: &[&[&str]] = &[
    &["ugas-doc"],
    &["ugas-core"],
    &["ugas-data", "ugas-input"],
    &["ugas-net"],
    &["ugas-transport"],
    &["ugas-lab"],
    &["ugas-studio"],
    HOSTS,
];

const HOSTS: &[&str] = &["ugas-cli", "ugas-playground"];

/// The facade crate, which only re-exports the crates in `FACADE_USES`.
const FACADE: &str = "ugas";
const FACADE_USES: &[&str] = &["ugas-doc", "ugas-core", "ugas-data", "ugas-input", "ugas-net"];

/// Maintenance commands and benchmarks may depend on everything.
const FREE: &[&str] = &["xtask", "ugas-bench"];

/// Pages that may name only existing crates.
pub(crate) const MANUALS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];

/// Returns a finding for each crate that a page names in code style and the workspace does not have.
pub(crate) fn unknown_crates(file: &str, text: &str, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split('`').skip(1).step_by(2).filter(|word| word.starts_with("ugas-")) {
            let is_name = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            if is_name && !packages.iter().any(|package| package.name == word) {
                findings.push(Finding::error(file, number + 1, format!("the workspace has no crate {word}")));
            }
        }
    }
    findings
}

/// Returns a finding for each crate of the layers that the workspace does not have.
pub(crate) fn missing(packages: &[Package]) -> Vec<Finding> {
    let exists = |name: &str| packages.iter().any(|package| package.name == name);
    let missing = LAYERS.iter().copied().flatten().filter(|name| !exists(name));
    let message = |name: &&str| format!("the layers name {name}, which is not in the workspace");
    missing.map(|name| Finding::error("xtask/src/tidy/edges.rs", 1, message(name))).collect()
}

/// Checks every package of the workspace.
pub(crate) fn check(root: &Path, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let file = repo::relative(root, &package.manifest_path).unwrap_or_else(|| package.name.clone());
        if FREE.contains(&package.name.as_str()) {
            continue;
        }
        if package.name != FACADE && layer(&package.name).is_none() {
            let message = format!("{} is not in LAYERS; add it in xtask/src/tidy/edges.rs", package.name);
            findings.push(Finding::error(&file, 1, message));
            continue;
        }
        for dependency in &package.dependencies {
            let is_test_only = dependency.kind.as_deref() == Some("dev");
            if let Some(reason) = forbidden(&package.name, &dependency.name, is_test_only) {
                let line = line_of(root, &file, &dependency.name);
                findings.push(Finding::error(
                    &file,
                    line,
                    format!("{} uses {}: {reason}", package.name, dependency.name),
                ));
            }
        }
    }
    findings
}

fn layer(package: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&package))
}

/// Returns why `from` may not depend on `to`; `None` if it may, or if `to` is not in the workspace.
fn forbidden(from: &str, to: &str, is_test_only: bool) -> Option<&'static str> {
    if HOSTS.contains(&to) {
        return Some("no crate may depend on a host");
    }
    if FREE.contains(&to) {
        return Some("no crate may depend on xtask or on the benchmarks");
    }
    if is_test_only {
        return None;
    }
    if from == FACADE {
        let ours = layer(to).is_some();
        return (ours && !FACADE_USES.contains(&to))
            .then_some("the facade re-exports doc, core, data, input and net only");
    }
    if to == FACADE {
        return (!HOSTS.contains(&from)).then_some("the facade is for games and hosts; use the crate behind it");
    }
    match (layer(from), layer(to)) {
        (Some(own), Some(used)) if used >= own => Some("a crate may depend only on lower layers"),
        _ => None,
    }
}

fn line_of(root: &Path, manifest: &str, dependency: &str) -> usize {
    let text = std::fs::read_to_string(root.join(manifest)).unwrap_or_default();
    let names = |line: &str| line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
    text.lines().position(names).map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Dependency;

    #[test]
    fn dependencies_point_only_to_lower_layers() {
        assert_eq!(forbidden("ugas-core", "ugas-doc", false), None);
        assert_eq!(forbidden("ugas-lab", "ugas-data", false), None);
        assert_eq!(forbidden("ugas-cli", "ugas-lab", false), None);
        assert!(forbidden("ugas-doc", "ugas-core", false).is_some());
        assert!(forbidden("ugas-core", "ugas-data", false).is_some());
        assert!(forbidden("ugas-cli", "ugas-playground", false).is_some(), "not within a layer");
    }

    #[test]
    fn tests_may_reach_up_but_never_to_a_host() {
        assert_eq!(forbidden("ugas-core", "ugas-lab", true), None);
        assert!(forbidden("ugas-lab", "ugas-cli", true).is_some());
        assert!(forbidden("ugas-cli", "ugas-playground", false).is_some());
    }

    #[test]
    fn the_facade_is_thin_and_only_hosts_use_it() {
        assert_eq!(forbidden("ugas", "ugas-core", false), None);
        assert!(forbidden("ugas", "ugas-lab", false).is_some());
        assert!(forbidden("ugas-lab", "ugas", false).is_some());
        assert_eq!(forbidden("ugas-cli", "ugas", false), None);
    }

    #[test]
    fn external_crates_are_ignored() {
        assert_eq!(forbidden("ugas-core", "serde", false), None);
        assert_eq!(forbidden("ugas", "serde", false), None);
    }

    #[test]
    fn an_unplaced_crate_is_reported_with_its_manifest() {
        let package = |name: &str, uses: &str| Package {
            name: name.into(),
            description: None,
            manifest_path: format!("/r/crates/{name}/Cargo.toml").into(),
            dependencies: vec![Dependency { name: uses.into(), kind: None }],
            targets: Vec::new(),
        };
        let packages = [package("ugas-new", "serde"), package("xtask", "ugas-cli"), package("ugas-doc", "ugas-core")];
        let found = check(Path::new("/r"), &packages);
        let places: Vec<_> = found.iter().map(|finding| finding.file.as_str()).collect();
        assert_eq!(places, ["crates/ugas-new/Cargo.toml", "crates/ugas-doc/Cargo.toml"]);
    }
}
