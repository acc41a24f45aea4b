//! The core must not use items whose results differ between machines or runs.
//!
//! The same data, ops and seed must give the same bytes on every machine. The iteration order
//! of hash maps, clocks and ambient randomness differ from run to run; files, sockets and threads depend on the machine; the
//! standard library's transcendental functions differ between platforms. Test modules are exempt.

use super::Finding;
use crate::text::rust::{find_word, is_word, mask};

const CORE: &str = "crates/ugas-core/src/";

const FORBIDDEN: &[(&str, &str)] = &[
    ("HashMap", "its iteration order differs from run to run; use a sorted or indexed table"),
    ("HashSet", "its iteration order differs from run to run; use a sorted or indexed table"),
    ("std::time", "the host passes the time as an argument"),
    ("Instant::now", "the host passes the time as an argument"),
    ("SystemTime", "the host passes the time as an argument"),
    ("thread_rng", "random numbers come from the sim's random stream"),
    ("rand::rng", "random numbers come from the sim's random stream"),
    ("std::fs", "the core must not read files"),
    ("std::net", "the core must not open sockets"),
    ("std::thread", "the core must not start threads"),
    ("std::env", "the core must not read environment variables"),
];

/// Modules of std that must not be imported in a braced `use` either.
const FORBIDDEN_STD: &[&str] = &["time", "fs", "net", "thread", "env"];

const TRANSCENDENTAL: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sin_cos", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf", "powi", "cbrt", "hypot",
];

/// Checks one file if it is a source file of the core.
pub(crate) fn check(file: &str, text: &str) -> Vec<Finding> {
    let is_test_file = file.ends_with("/tests.rs") || file.contains("/tests/");
    if !file.starts_with(CORE) || !file.ends_with(".rs") || is_test_file {
        return Vec::new();
    }
    let masked = mask(text);
    let code = without_test_modules(&masked.code);
    let mut findings = Vec::new();
    let mut found = |at: usize, what: &str, why: &str| {
        findings.push(Finding::error(file, masked.line_of(at), format!("`{what}` in the core: {why}")));
    };
    for (word, why) in FORBIDDEN {
        find_word(&code, word).for_each(|at| found(at, word, why));
    }
    for at in find_word(&code, "std::{") {
        let group = code[at..].split(';').next().unwrap_or_default();
        for name in FORBIDDEN_STD.iter().filter(|name| find_word(group, name).next().is_some()) {
            found(at, &format!("std::{name}"), "the core must not use this module");
        }
    }
    for name in TRANSCENDENTAL {
        let why = "use libm: std differs between platforms";
        for path in [format!("f64::{name}"), format!("f32::{name}")] {
            find_word(&code, &path).for_each(|at| found(at, &path, why));
        }
        // A method named `log` may be an event log instead of a logarithm. Clippy knows the types and reports it.
        if *name != "log" {
            let call = format!(".{name}(");
            find_word(&code, &call).for_each(|at| found(at, &call, why));
        }
    }
    findings
}

/// Replaces the code of `#[cfg(test)] mod name { … }` with spaces.
fn without_test_modules(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    for (start, attribute) in code.match_indices("#[cfg(test)]") {
        let item = start + attribute.len();
        let Some(open) = code[item..].find(['{', ';']).map(|n| item + n) else {
            continue;
        };
        let is_module = code[item..open].split(|c: char| !c.is_ascii() || !is_word(c as u8)).any(|word| word == "mod");
        if !is_module || code.as_bytes()[open] == b';' {
            continue;
        }
        let mut depth = 0usize;
        let end = code[open..].bytes().position(|byte| {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = end.map_or(code.len(), |n| open + n);
        for byte in &mut out[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check("crates/ugas-core/src/sim.rs", text).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn each_forbidden_item_is_found_at_its_line() {
        for (word, _) in FORBIDDEN {
            assert!(lines(&format!("\nlet x = {word};")).contains(&2), "{word}");
        }
        assert_eq!(lines("use std::{fmt, fs::File,\n time::Duration};"), [1, 1]);
        assert_eq!(lines("let a = x.sin();\nlet b = f64::powf(x, y);\nlet c = x.powi(2);"), [1, 2, 3]);
    }

    #[test]
    fn words_in_comments_strings_and_longer_names_are_allowed() {
        assert!(
            lines("// no HashMap\nlet s = \"std::fs\"; struct MyHashMapLike; libm::sin(x); self.log(fact); x.sqrt();")
                .is_empty()
        );
    }

    #[test]
    fn test_modules_and_other_crates_are_free() {
        assert!(lines("#[cfg(test)]\nmod tests { use std::thread; fn f() { x.sin(); } }\n").is_empty());
        assert_eq!(lines("#[cfg(test)]\nmod tests { fn f() { {} } }\nuse std::thread;"), [3]);
        assert_eq!(lines("#[cfg(test)]\nmod tests;\nuse std::thread;"), [3]);
        assert!(check("crates/ugas-cli/src/main.rs", "use std::fs;").is_empty());
        assert!(check("crates/ugas-core/src/flow/tests.rs", "use std::thread;").is_empty());
    }
}
