//! Notes such as to-do comments are errors.
//!
//! Unfinished work must be described in an issue instead.

use super::Finding;
use crate::text::rust::find_word;

/// The words, concatenated so that this file does not match itself.
const WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("dbg", "!"), concat!("todo", "!(")];

/// Checks one Rust or YAML file.
pub(crate) fn check(file: &str, text: &str) -> Vec<Finding> {
    if ![".rs", ".yaml", ".yml"].iter().any(|ending| file.ends_with(ending)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for word in WORDS.iter().filter(|word| find_word(line, word).next().is_some()) {
            findings.push(Finding::error(file, at + 1, format!("found `{word}`; finish the work or open an issue")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_in_code_and_comments() {
        for word in WORDS {
            let text = format!("fine\n// {word} later\n");
            assert_eq!(check("a.rs", &text).iter().map(|f| f.line).collect::<Vec<_>>(), [2], "{word}");
            assert_eq!(check("a.yaml", &text).len(), 1, "{word}");
            assert!(check("a.md", &text).is_empty());
        }
    }

    #[test]
    fn longer_words_are_allowed() {
        assert!(check("a.rs", &format!("{}S and my{}x\n", WORDS[0], WORDS[1])).is_empty());
    }
}
