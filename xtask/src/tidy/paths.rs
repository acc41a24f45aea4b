//! Paths in documents must exist.
//!
//! In Markdown files this rule checks relative links and code spans that look like a path of this repository. It skips
//! fenced blocks, because they may show files of a reader's project.

use super::Finding;

/// The top-level folders of the repository. A code span that begins with one of these names is a path.
const TOP: &[&str] = &[
    ".cargo",
    ".ci",
    "benches",
    "bindings",
    "book",
    "conformance",
    "crates",
    "docs",
    "examples",
    "fuzz",
    "packs",
    "scenarios",
    "schemas",
    "xtask",
];

/// A page that is generated from test names, which may look like paths.
const GENERATED: &str = "conformance/MATRIX.md";

/// Checks one file if it is a Markdown document; `exists` returns whether a path from the root exists.
pub(crate) fn check(file: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    if !file.ends_with(".md") || file == GENERATED {
        return Vec::new();
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        for path in code_spans(line).filter_map(repository_path) {
            // A path is relative to the root or to the document, because a starter project refers to its own files.
            if !exists(path) && !joined(folder, path).is_some_and(|path| exists(&path)) {
                findings.push(Finding::error(file, at + 1, format!("`{path}` does not exist")));
            }
        }
        for target in link_targets(line).filter_map(relative_target) {
            if !joined(folder, target).is_some_and(|path| exists(&path)) {
                findings.push(Finding::error(file, at + 1, format!("the link target `{target}` does not exist")));
            }
        }
    }
    findings
}

fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Returns the path in a code span, without a line number; `None` if it is not a path of this repository.
fn repository_path(span: &str) -> Option<&str> {
    let (first, _) = span.split_once('/')?;
    let is_pattern = span.contains(['<', '>', '*', '{', '}', '$', '…', ' ', '|', '(']) || span.contains("...");
    if !TOP.contains(&first) || is_pattern {
        return None;
    }
    // `file.rs:12` and `file.rs::name` point into a file.
    let path = span.split(':').next().unwrap_or(span);
    Some(path.trim_end_matches('/'))
}

fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(|(at, open)| line[at + open.len()..].split(')').next())
}

/// Returns the target file of a link; `None` for other sites and for anchors of the page.
fn relative_target(target: &str) -> Option<&str> {
    if target.contains("://") || target.starts_with("mailto:") || target.contains('<') {
        return None;
    }
    let path = target.split(['#', ' ']).next().unwrap_or_default();
    (!path.is_empty()).then_some(path)
}

/// Resolves `target` relative to `folder`, as a path from the root; `None` if it leaves the repository.
fn joined(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<(usize, String)> {
        let exists = |path: &str| ["crates/a", "crates/a/src/lib.rs", "README.md", "book/one.md"].contains(&path);
        check(file, text, &exists).into_iter().map(|finding| (finding.line, finding.message)).collect()
    }

    #[test]
    fn missing_paths_are_found_at_their_line() {
        let text = "see `crates/a/src/lib.rs`, `crates/a/`\nand `crates/b` or `crates/a/src/lib.rs:12`\n";
        assert_eq!(found("README.md", text), [(2, "`crates/b` does not exist".to_owned())]);
    }

    #[test]
    fn text_that_is_not_a_path_of_the_repository_is_ignored() {
        let text = "`crates/<name>` `scenarios/**/*.yaml` `a/b` `cargo test` `https://x/crates/y` crates/none\n\
                    ```\n`crates/none`\n```\n";
        assert!(found("README.md", text).is_empty(), "{:?}", found("README.md", text));
    }

    #[test]
    fn relative_links_are_followed() {
        let text = "[a](../README.md) [b](one.md#part) [c](two.md) [d](https://e.org/x) [e](#here) [f](../../out.md)";
        let messages: Vec<_> = found("book/index.md", text).into_iter().map(|(_, message)| message).collect();
        let missing = ["the link target `two.md` does not exist", "the link target `../../out.md` does not exist"];
        assert_eq!(messages, missing);
    }

    #[test]
    fn other_files_and_the_matrix_are_not_documents() {
        assert!(found("a.rs", "`crates/b`").is_empty());
        assert!(found(GENERATED, "`crates/b`").is_empty());
    }
}
