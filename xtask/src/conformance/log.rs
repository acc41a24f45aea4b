//! Reads the text that `cargo test` prints.
//!
//! The stable test runner has no machine-readable format, so this module parses its lines. Cargo announces each test
//! program on stderr (`Running … (path/of/program-hash)`). The program prints `test path::name ... ok` on stdout. Both
//! streams must come through one pipe, so that a line belongs to the last announced program. Doc tests are skipped,
//! because a mark belongs to a test function.

use std::collections::BTreeMap;

/// The outcome of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Ignored,
}

/// The tests of one program by their path.
pub(crate) type Outcomes = BTreeMap<String, Outcome>;

/// Returns the outcomes in a log, by the file name of the test program (with its hash).
pub(crate) fn parse(log: &str) -> BTreeMap<String, Outcomes> {
    let mut programs: BTreeMap<String, Outcomes> = BTreeMap::new();
    let mut current: Option<&mut Outcomes> = None;
    for line in log.lines() {
        let line = without_colour(line);
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Running ") {
            if let Some(program) = program_name(rest) {
                current = Some(programs.entry(program.to_owned()).or_default());
            }
        } else if line.starts_with("Doc-tests ") {
            current = None;
        } else if let Some((name, outcome)) = test_line(line)
            && let Some(outcomes) = &mut current
        {
            outcomes.insert(name.to_owned(), outcome);
        }
    }
    programs
}

/// Returns the program's file name in `unittests src/lib.rs (target/debug/deps/name-0123)`.
fn program_name(announcement: &str) -> Option<&str> {
    let path = announcement.strip_suffix(')')?.rsplit_once('(')?.1;
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty())
}

fn test_line(line: &str) -> Option<(&str, Outcome)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let outcome = match result.split([' ', ',']).next()? {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "ignored" => Outcome::Ignored,
        _ => return None,
    };
    Some((name.strip_suffix(" - should panic").unwrap_or(name), outcome))
}

/// Removes the colour codes that cargo writes if colour is forced.
fn without_colour(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
   Compiling thing v0.1.0
     Running unittests src/lib.rs (target/debug/deps/thing-00ff)

running 4 tests
test tag::tests::counts ... ok
test tag::tests::slow ... ignored, takes an hour
test tag::tests::panics - should panic ... ok
test effect::tests::wrong ... FAILED
test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/model.rs (/somewhere/debug/deps/model-11aa)
test same_name ... ok
   Doc-tests thing
test crates/thing/src/lib.rs - f (line 3) ... ok
";

    #[test]
    fn lines_belong_to_the_program_announced_before() {
        let programs = parse(LOG);
        assert_eq!(programs.keys().collect::<Vec<_>>(), ["model-11aa", "thing-00ff"]);
        let unit = &programs["thing-00ff"];
        assert_eq!(unit["tag::tests::counts"], Outcome::Passed);
        assert_eq!(unit["tag::tests::slow"], Outcome::Ignored);
        assert_eq!(unit["tag::tests::panics"], Outcome::Passed);
        assert_eq!(unit["effect::tests::wrong"], Outcome::Failed);
        assert_eq!(programs["model-11aa"].len(), 1, "doc tests are left out");
    }

    #[test]
    fn colour_is_dropped() {
        let log =
            "\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m tests/a.rs (target/a-1)\ntest x ... \u{1b}[32mok\u{1b}[0m\n";
        assert_eq!(parse(log)["a-1"]["x"], Outcome::Passed);
    }

    #[test]
    fn lines_before_any_program_and_prose_are_ignored() {
        assert!(parse("test x ... ok\nRunning late (again\n").is_empty());
        let programs = parse("Running tests/a.rs (t/a-1)\ntest of patience\ntest x ... maybe\n");
        assert!(programs["a-1"].is_empty());
    }
}
