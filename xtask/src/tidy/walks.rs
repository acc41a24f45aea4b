//! The walks in CONTRIBUTING must list exactly the files that an addition changes.
//!
//! A walk is a step-by-step list, for example "add a fact kind". It names an existing example (`Possessed`) and the
//! source files that an addition changes. Between `<!-- walk: A | B -->` and `<!-- /walk -->` are bullets with one path
//! each. These paths must be exactly the files of `crates/*/src` that contain one of the words A, B.

use super::Finding;
use std::collections::BTreeSet;

const PAGE: &str = "CONTRIBUTING.md";

/// A walk of the page.
struct Walk<'p> {
    line: usize,
    words: Vec<&'p str>,
    files: BTreeSet<&'p str>,
}

/// Checks the page against the sources, which are pairs of path and text.
pub(crate) fn check(page: &str, sources: &[(String, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let walks = walks(page);
    if walks.len() < 5 {
        findings.push(Finding::error(PAGE, 1, format!("expected five walks, found {}", walks.len())));
    }
    for walk in walks {
        let names = |text: &str| walk.words.iter().any(|word| contains_word(text, word));
        let touched: BTreeSet<&str> =
            sources.iter().filter(|(_, text)| names(text)).map(|(path, _)| path.as_str()).collect();
        for path in touched.difference(&walk.files) {
            let message = format!("the walk does not list {path}, which mentions {}", walk.words.join(" or "));
            findings.push(Finding::error(PAGE, walk.line, message));
        }
        for path in walk.files.difference(&touched) {
            let message = format!("the walk lists {path}, which does not mention {}", walk.words.join(" or "));
            findings.push(Finding::error(PAGE, walk.line, message));
        }
    }
    findings
}

fn walks(page: &str) -> Vec<Walk<'_>> {
    let mut found: Vec<Walk<'_>> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if let Some(rest) = line.strip_prefix("<!-- walk: ") {
            let words = rest.trim_end_matches("-->").split(" | ").map(str::trim).collect();
            found.push(Walk { line: number + 1, words, files: BTreeSet::new() });
            inside = true;
        } else if line == "<!-- /walk -->" {
            inside = false;
        } else if inside
            && let Some(path) = line.strip_prefix("- `").and_then(|rest| rest.split('`').next())
            && let Some(walk) = found.last_mut()
        {
            walk.files.insert(path);
        }
    }
    found
}

/// Returns whether a text contains a word with no letter, digit or underscore next to it.
fn contains_word(text: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_word)
            && !text[at + word.len()..].chars().next().is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str, sources: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> = sources.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
        let all = check(page, &sources).into_iter().map(|f| f.message);
        all.filter(|m| !m.starts_with("expected five")).collect()
    }

    #[test]
    fn a_list_must_be_exact() {
        let page = "<!-- walk: WaitA | \"b\" -->\n- `crates/a/src/x.rs`: x\n- `crates/a/src/y.rs`: y\n<!-- /walk -->\n";
        let sources =
            [("crates/a/src/x.rs", "WaitA"), ("crates/a/src/y.rs", "f(\"b\")"), ("crates/a/src/z.rs", "WaitAll")];
        assert!(found(page, &sources).is_empty());
        let more = [sources[0], sources[1], ("crates/a/src/z.rs", "enum { WaitA }")];
        assert_eq!(found(page, &more), ["the walk does not list crates/a/src/z.rs, which mentions WaitA or \"b\""]);
        assert_eq!(
            found(page, &sources[..1]),
            ["the walk lists crates/a/src/y.rs, which does not mention WaitA or \"b\""]
        );
    }

    #[test]
    fn a_page_without_walks_is_reported() {
        assert_eq!(check("", &[]).len(), 1);
    }
}
