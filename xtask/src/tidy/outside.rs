//! Files must not refer to folders outside the repository.

use super::Finding;
use crate::text::rust::is_word;

/// Folders of the development machine, concatenated so that this file does not match itself.
const PLACES: &[&str] = &[concat!("../", "shared"), concat!("/wo", "rk/")];

/// Checks one text file of any kind.
pub(crate) fn check(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for place in PLACES.iter().filter(|place| names(line, place)) {
            findings.push(Finding::error(file, at + 1, format!("`{place}` is outside the project")));
        }
    }
    findings
}

/// Returns whether `line` contains `place` as the start of a path, not in the middle of a longer path.
fn names(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].bytes().last();
        !before.is_some_and(|byte| is_word(byte) || byte == b'.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_repository_are_found_in_any_file() {
        for place in PLACES {
            for file in ["a.rs", "README.md", ".ci/run"] {
                assert_eq!(check(file, &format!("x\nsee `{place}x`\n")).len(), 1, "{place} in {file}");
            }
        }
    }

    #[test]
    fn a_repository_folder_with_such_a_name_is_allowed() {
        assert!(check("a.rs", &format!("book{}frame\n", PLACES[1])).is_empty());
    }
}
