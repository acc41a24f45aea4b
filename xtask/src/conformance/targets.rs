//! Finds the test program of a source file, and the names of the file's tests in that program.
//!
//! The root file of a target belongs to that target. Any other file is a module of the targets whose root file is in
//! the nearest parent folder. For example, `src/tag.rs` is a module of `src/lib.rs` and of `src/main.rs`, and
//! `tests/common/mod.rs` is a module of every test in `tests`.

use std::collections::BTreeMap;

use super::log::{Outcome, Outcomes};

/// A target's root file, and whether it is an integration test.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) file: String,
    pub(crate) is_test: bool,
}

/// Returns the outcome of the test at `path` (modules inside `file`, then the function); `None` if it did not run.
pub(crate) fn outcome(
    file: &str,
    path: &[String],
    roots: &[Root],
    results: &BTreeMap<String, Outcomes>,
) -> Option<Outcome> {
    let (candidates, modules) = candidates(file, roots);
    let exact = modules.iter().chain(path).map(String::as_str).collect::<Vec<_>>().join("::");
    let mut found: Vec<Outcome> =
        candidates.iter().filter_map(|root| results.get(&root.file)?.get(&exact)).copied().collect();
    if found.is_empty() {
        // Test folders share modules with `#[path]`, which changes module names; in a library the names are exact.
        let tail = path.join("::");
        let nested = format!("::{tail}");
        for root in candidates.iter().filter(|root| root.is_test) {
            let named = results.get(&root.file).into_iter().flatten();
            found.extend(named.filter(|(name, _)| **name == tail || name.ends_with(&nested)).map(|(_, o)| *o));
        }
    }
    let any = |outcome| found.contains(&outcome).then_some(outcome);
    any(Outcome::Failed).or(any(Outcome::Passed)).or(any(Outcome::Ignored))
}

fn candidates<'a>(file: &str, roots: &'a [Root]) -> (Vec<&'a Root>, Vec<String>) {
    if let Some(root) = roots.iter().find(|root| root.file == file) {
        return (vec![root], Vec::new());
    }
    let nearest = roots
        .iter()
        .map(|root| folder(&root.file))
        .filter(|folder| file.starts_with(&format!("{folder}/")))
        .max_by_key(|folder| folder.len());
    let Some(nearest) = nearest else {
        return (Vec::new(), Vec::new());
    };
    let inside = file[nearest.len() + 1..].trim_end_matches(".rs");
    let modules = inside.split('/').filter(|part| *part != "mod").map(str::to_owned).collect();
    (roots.iter().filter(|root| folder(&root.file) == nearest).collect(), modules)
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Vec<Root> {
        let root = |file: &str, is_test| Root { file: file.into(), is_test };
        vec![
            root("crates/a/src/lib.rs", false),
            root("crates/a/src/main.rs", false),
            root("crates/a/tests/one.rs", true),
            root("crates/a/tests/two/main.rs", true),
        ]
    }

    fn ended(file: &str, path: &[&str], ran: &[(&str, &str, Outcome)]) -> Option<Outcome> {
        let mut results: BTreeMap<String, Outcomes> = BTreeMap::new();
        for (root, name, outcome) in ran {
            results.entry((*root).into()).or_default().insert((*name).into(), *outcome);
        }
        let path: Vec<String> = path.iter().map(|part| (*part).into()).collect();
        outcome(file, &path, &roots(), &results)
    }

    #[test]
    fn a_module_of_the_library_is_named_by_its_path() {
        let ran = [("crates/a/src/lib.rs", "flow::apply::tests::x", Outcome::Passed)];
        assert_eq!(ended("crates/a/src/flow/apply.rs", &["tests", "x"], &ran), Some(Outcome::Passed));
        assert_eq!(ended("crates/a/src/flow/settle.rs", &["tests", "x"], &ran), None, "same tail, other module");
        let ran = [("crates/a/src/lib.rs", "flow::x", Outcome::Ignored)];
        assert_eq!(ended("crates/a/src/flow/mod.rs", &["x"], &ran), Some(Outcome::Ignored));
    }

    #[test]
    fn a_failure_in_one_program_outweighs_a_pass_in_another() {
        let ran = [("crates/a/src/lib.rs", "m::x", Outcome::Passed), ("crates/a/src/main.rs", "m::x", Outcome::Failed)];
        assert_eq!(ended("crates/a/src/m.rs", &["x"], &ran), Some(Outcome::Failed));
    }

    #[test]
    fn integration_tests_and_their_modules() {
        let ran = [("crates/a/tests/one.rs", "x", Outcome::Passed)];
        assert_eq!(ended("crates/a/tests/one.rs", &["x"], &ran), Some(Outcome::Passed));
        assert_eq!(ended("crates/a/tests/two/main.rs", &["x"], &ran), None, "another program's test");
        let ran = [("crates/a/tests/two/main.rs", "part::x", Outcome::Passed)];
        assert_eq!(ended("crates/a/tests/two/part.rs", &["x"], &ran), Some(Outcome::Passed));
        let ran = [("crates/a/tests/one.rs", "shared::x", Outcome::Passed)];
        assert_eq!(ended("crates/a/tests/common/mod.rs", &["x"], &ran), Some(Outcome::Passed));
    }

    #[test]
    fn a_file_of_no_package_did_not_run() {
        assert_eq!(ended("elsewhere/x.rs", &["x"], &[]), None);
    }
}
