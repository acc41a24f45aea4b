//! The length of Rust files: a long file is a warning, a very long file is an error.

use super::Finding;

const WARN_LINES: usize = 800;
const MAX_LINES: usize = 1200;

/// Checks one Rust file.
pub(crate) fn check(file: &str, text: &str) -> Option<Finding> {
    if !file.ends_with(".rs") {
        return None;
    }
    let lines = text.lines().count();
    let message = |limit| format!("{lines} lines, more than {limit}; split the file");
    if lines > MAX_LINES {
        Some(Finding::error(file, lines, message(MAX_LINES)))
    } else if lines > WARN_LINES {
        Some(Finding::warning(file, lines, message(WARN_LINES)))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Severity;

    #[test]
    fn the_limits_are_exact() {
        let severity = |lines: usize| check("a.rs", &"x\n".repeat(lines)).map(|finding| finding.severity);
        assert_eq!(severity(WARN_LINES), None);
        assert_eq!(severity(WARN_LINES + 1), Some(Severity::Warning));
        assert_eq!(severity(MAX_LINES), Some(Severity::Warning));
        assert_eq!(severity(MAX_LINES + 1), Some(Severity::Error));
        assert_eq!(check("a.yaml", &"x\n".repeat(2000)), None);
    }
}
