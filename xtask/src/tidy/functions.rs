//! The length of functions: more than 70 lines is an error, apart from a short list of exceptions with reasons.

use super::Finding;

const MAX_LINES: usize = 70;

/// Functions that may be longer, by file and name, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crates/ugas-core/src/fact/describe.rs", "event_text", "one match, one arm per fact kind"),
    ("crates/ugas-core/src/refusal_text.rs", "sentence", "one match, one arm per refusal kind"),
    ("crates/ugas-core/src/rules/ability_compile.rs", "ability", "one struct literal, one field per authored field"),
    ("crates/ugas-core/src/flow/apply.rs", "apply_lasting", "the fixed order of one application"),
    ("crates/ugas-core/src/flow/plain.rs", "apply_simple", "the fixed order of one application"),
    ("crates/ugas-data/src/assemble.rs", "apply", "one pass over the entries of a patch"),
    ("crates/ugas-lab/src/scenario/verbs.rs", "parse_verb", "one match, one arm per verb"),
    ("crates/ugas-lab/src/scenario/ability.rs", "parse", "one match, one arm per verb"),
    ("crates/ugas-lab/src/run/ability.rs", "ability_verb", "one match, one arm per verb"),
];

/// Checks one Rust file of a crate's sources. Tests are exempt.
pub(crate) fn check(file: &str, text: &str) -> Vec<Finding> {
    if !file.ends_with(".rs")
        || !(file.contains("/src/") && (file.starts_with("crates/") || file.starts_with("xtask/")))
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (name, line, lines) in functions(text) {
        let excused = EXCEPTIONS.iter().any(|&(f, n, _)| f == file && n == name);
        if lines > MAX_LINES && !excused {
            let message = format!("fn {name} has {lines} lines, more than {MAX_LINES}; split the function");
            findings.push(Finding::error(file, line, message));
        }
    }
    findings
}

/// Returns a finding for each exception that no longer exists or is short enough.
pub(crate) fn stale(read: &dyn Fn(&str) -> Option<String>) -> Vec<Finding> {
    let this = "xtask/src/tidy/functions.rs";
    let is_long = |file: &str, name: &str| {
        read(file).is_some_and(|text| functions(&text).iter().any(|&(n, _, lines)| n == name && lines > MAX_LINES))
    };
    let stale = EXCEPTIONS.iter().filter(|(file, name, _)| !is_long(file, name));
    stale
        .map(|(file, name, _)| {
            Finding::error(this, 1, format!("{file} no longer has a long fn {name}; remove this exception"))
        })
        .collect()
}

/// Returns name, first line and number of lines of each function, found by the indentation of its closing brace.
fn functions(text: &str) -> Vec<(&str, usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<(&str, usize, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some(name) = function_name(trimmed) {
            open.push((name, number + 1, indent));
        }
        if trimmed.starts_with('}')
            && let Some(&(name, start, at)) = open.last()
            && at == indent
        {
            open.pop();
            found.push((name, start, number + 1 - start));
        }
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let mut rest = line;
    for prefix in ["pub ", "pub(crate) ", "pub(super) ", "pub(in crate::flow) ", "const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    // A declaration without a body ends on its own line.
    let name = rest.strip_prefix("fn ").filter(|_| !line.ends_with(';') && !line.ends_with('}'))?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|n| !n.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_function_is_found_and_a_short_one_is_not() {
        let body =
            |lines: usize| format!("impl A {{\n    pub fn long() {{\n{}    }}\n}}\n", "        x();\n".repeat(lines));
        assert!(check("crates/a/src/a.rs", &body(MAX_LINES - 1)).is_empty());
        let found = check("crates/a/src/a.rs", &body(MAX_LINES));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("fn long") && found[0].line == 2, "{found:?}");
        assert!(check("crates/a/tests/a.rs", &body(500)).is_empty());
    }

    #[test]
    fn a_nested_function_is_counted_separately() {
        let text = "fn a() {\n    fn b() {\n        x();\n    }\n    b();\n}\n";
        assert_eq!(functions(text), [("b", 2, 2), ("a", 1, 5)]);
    }

    #[test]
    fn an_exception_that_is_not_needed_is_reported() {
        assert_eq!(stale(&|_| None).len(), EXCEPTIONS.len());
    }
}
