//! Finds the requirement marks of Rust tests.
//!
//! A mark is a comment that begins with the word covers and a colon, followed by ids. A mark belongs to the test
//! function that contains it or that directly follows it. Attributes and other comments may be between the mark and the
//! function, but not a blank line. A mark that belongs to no test is an error, because it would look like coverage.

use crate::text::rust::{Masked, is_word, mask};

/// A test function and the requirements that it claims to cover.
#[derive(Debug, PartialEq)]
pub(crate) struct MarkedTest {
    /// The modules inside the file, outermost first, then the function: `["tests", "name"]`.
    pub(crate) path: Vec<String>,
    /// The line of the function's `fn`.
    pub(crate) line: usize,
    pub(crate) ids: Vec<String>,
}

impl MarkedTest {
    /// Returns the function's own name.
    pub(crate) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// The marks of one file.
#[derive(Debug, Default)]
pub(crate) struct FileMarks {
    /// Tests with at least one id.
    pub(crate) tests: Vec<MarkedTest>,
    /// Lines of marks that belong to no test.
    pub(crate) loose: Vec<usize>,
}

/// Finds the marks of one Rust file.
pub(crate) fn find(source: &str) -> FileMarks {
    let masked = mask(source);
    let marks: Vec<(usize, Vec<String>)> =
        masked.comments.iter().filter_map(|comment| Some((comment.line, ids_of(&comment.text)?))).collect();
    if marks.is_empty() {
        return FileMarks::default();
    }
    let source_lines: Vec<&str> = source.lines().collect();
    let code_lines: Vec<&str> = masked.code.lines().collect();
    let only_comment = |line: usize| {
        let at = line - 1;
        code_lines.get(at).is_some_and(|l| l.trim().is_empty()) && !source_lines[at].trim().is_empty()
    };
    let mut claimed = vec![false; marks.len()];
    let mut tests = Vec::new();
    for test in Scanner::new(&masked).tests() {
        let mut top = test.first_line;
        while top > 1 && only_comment(top - 1) {
            top -= 1;
        }
        let mut ids = Vec::new();
        for (claimed, (line, found)) in claimed.iter_mut().zip(&marks) {
            if (top..=test.last_line).contains(line) {
                *claimed = true;
                ids.extend(found.iter().cloned());
            }
        }
        if !ids.is_empty() {
            tests.push(MarkedTest { path: test.path, line: test.line, ids });
        }
    }
    let loose = marks.iter().zip(claimed).filter(|(_, claimed)| !claimed).map(|((line, _), _)| *line).collect();
    FileMarks { tests, loose }
}

/// Returns the ids of a comment if it is a mark.
fn ids_of(comment: &str) -> Option<Vec<String>> {
    let text = comment.trim_start_matches(['/', '!', '*']).trim_start();
    let (word, ids) = text.split_at_checked("covers:".len())?;
    word.eq_ignore_ascii_case("covers:").then(|| split_ids(ids))
}

/// Splits a list of ids that are separated by blanks or commas.
pub(crate) fn split_ids(text: &str) -> Vec<String> {
    text.split([' ', ',', '\t']).filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

struct TestFn {
    path: Vec<String>,
    first_line: usize,
    line: usize,
    last_line: usize,
}

enum Scope {
    Module,
    Test(usize),
    Other,
}

/// A scanner that reads the code once and keeps the open modules and functions on a stack.
struct Scanner<'a> {
    masked: &'a Masked,
    bytes: &'a [u8],
    at: usize,
    scopes: Vec<Scope>,
    modules: Vec<String>,
    found: Vec<TestFn>,
    /// Offset of the first attribute of the item being read.
    item_start: Option<usize>,
    item_is_test: bool,
}

impl<'a> Scanner<'a> {
    fn new(masked: &'a Masked) -> Self {
        Self {
            masked,
            bytes: masked.code.as_bytes(),
            at: 0,
            scopes: Vec::new(),
            modules: Vec::new(),
            found: Vec::new(),
            item_start: None,
            item_is_test: false,
        }
    }

    fn tests(mut self) -> Vec<TestFn> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'#' => self.attribute(),
                b'{' => {
                    self.scopes.push(Scope::Other);
                    self.end_item();
                }
                b'}' => {
                    self.close();
                    self.end_item();
                }
                b';' => {
                    self.at += 1;
                    self.forget_attributes();
                }
                _ if is_word(byte) => self.word(),
                _ => self.at += 1,
            }
        }
        self.found
    }

    fn end_item(&mut self) {
        self.at += 1;
        self.forget_attributes();
    }

    fn forget_attributes(&mut self) {
        self.item_start = None;
        self.item_is_test = false;
    }

    fn close(&mut self) {
        match self.scopes.pop() {
            Some(Scope::Module) => {
                self.modules.pop();
            }
            Some(Scope::Test(index)) => self.found[index].last_line = self.masked.line_of(self.at),
            Some(Scope::Other) | None => {}
        }
    }

    fn attribute(&mut self) {
        let start = self.at;
        self.at += 1;
        if self.bytes.get(self.at) != Some(&b'[') {
            return;
        }
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'[' => depth += 1,
                b']' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
        }
        self.item_start.get_or_insert(start);
        let text = &self.masked.code[start + 2..self.at.saturating_sub(1).max(start + 2)];
        self.item_is_test |= is_test_attribute(text);
    }

    fn word(&mut self) {
        let start = self.at;
        match self.read_word() {
            "mod" => {
                let Some(name) = self.next_name() else { return };
                self.skip_blanks();
                if self.bytes.get(self.at) == Some(&b'{') {
                    self.scopes.push(Scope::Module);
                    self.modules.push(name);
                    self.end_item();
                }
            }
            "fn" => {
                let (is_test, first) = (self.item_is_test, self.item_start.unwrap_or(start));
                let Some(name) = self.next_name() else { return };
                self.forget_attributes();
                if is_test && self.seek_body() {
                    let mut path = self.modules.clone();
                    path.push(name);
                    self.scopes.push(Scope::Test(self.found.len()));
                    self.found.push(TestFn {
                        path,
                        first_line: self.masked.line_of(first),
                        line: self.masked.line_of(start),
                        last_line: usize::MAX,
                    });
                    self.end_item();
                }
            }
            _ => {}
        }
    }

    /// Moves past the parameters to the `{` of a function's body; returns false if the function has no body.
    fn seek_body(&mut self) -> bool {
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                b'{' if depth == 0 => return true,
                b';' if depth == 0 => return false,
                _ => {}
            }
            self.at += 1;
        }
        false
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn next_name(&mut self) -> Option<String> {
        self.skip_blanks();
        let name = self.read_word();
        (!name.is_empty()).then(|| name.to_owned())
    }

    fn read_word(&mut self) -> &'a str {
        let start = self.at;
        while self.bytes.get(self.at).copied().is_some_and(is_word) {
            self.at += 1;
        }
        &self.masked.code[start..self.at]
    }
}

/// Returns whether an attribute makes its function a test: `test`, `some::test`, `rstest`, `test_case(…)`.
fn is_test_attribute(text: &str) -> bool {
    let path = text.split('(').next().unwrap_or_default();
    let last = path.rsplit("::").next().unwrap_or_default().trim();
    matches!(last, "test" | "rstest" | "test_case")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(source: &str) -> Vec<(String, Vec<String>)> {
        let found = find(source);
        assert_eq!(found.loose, Vec::<usize>::new(), "{source}");
        found.tests.into_iter().map(|test| (test.path.join("::"), test.ids)).collect()
    }

    fn one(path: &str, ids: &[&str]) -> Vec<(String, Vec<String>)> {
        vec![(path.to_owned(), ids.iter().map(|id| (*id).to_owned()).collect())]
    }

    #[test]
    fn a_mark_above_a_test_is_found() {
        assert_eq!(marks("// covers: T-1 T-2, T-3\n#[test]\nfn a() {}\n"), one("a", &["T-1", "T-2", "T-3"]));
    }

    #[test]
    fn attributes_and_comments_may_be_in_between() {
        let source =
            "// covers: T-1\n/// What it shows.\n#[test]\n// covers: T-2\n#[should_panic(expected = \"x\")]\nfn a() {}";
        assert_eq!(marks(source), one("a", &["T-1", "T-2"]));
    }

    #[test]
    fn a_mark_inside_the_body_is_found_and_the_module_path_kept() {
        let source = "mod outer { #[cfg(test)] mod tests {\n  #[test]\n  fn a() {\n    if x { y() }\n    // covers: T-1\n  }\n} }";
        assert_eq!(marks(source), one("outer::tests::a", &["T-1"]));
    }

    #[test]
    fn property_tests_are_tests() {
        let source = "proptest! {\n  #![proptest_config(c())]\n  // covers: T-9\n  #[test]\n  fn p(x in vec(0..5, {3}), y in any::<u8>()) {\n    let z = [1; 2];\n  }\n}";
        assert_eq!(marks(source), one("p", &["T-9"]));
    }

    #[test]
    fn other_test_attributes_count_and_cfg_test_does_not() {
        assert_eq!(marks("// covers: T-1\n#[tokio::test(flavor = \"x\")]\nasync fn a() {}"), one("a", &["T-1"]));
        assert_eq!(find("// covers: T-1\n#[cfg(test)]\nfn helper() {}").loose, [1]);
    }

    #[test]
    fn each_mark_belongs_to_its_own_test() {
        let source = "// covers: T-1\n#[test]\nfn a() {}\n// covers: T-2\n#[test]\nfn b() {}\n#[test]\nfn c() {}\n";
        let found = marks(source);
        assert_eq!(found, [one("a", &["T-1"]), one("b", &["T-2"])].concat());
    }

    #[test]
    fn a_mark_away_from_a_test_is_loose() {
        let source = "// covers: T-1\n\n#[test]\nfn a() {}\n// covers: T-2\nfn b() {}\n";
        let found = find(source);
        assert_eq!(found.loose, [1, 5]);
        assert!(found.tests.is_empty());
    }

    #[test]
    fn marks_in_strings_and_in_prose_are_not_marks() {
        assert!(marks("#[test]\nfn a() { let s = \"// covers: T-1\"; }\n// what it covers: T-2\n").is_empty());
    }

    #[test]
    fn names_from_macros_and_incomplete_code_do_not_panic() {
        for source in [
            "macro_rules! m { ($n:ident) => { #[test] fn $n() {} } }",
            "// covers: T\n#[test]\nfn a(",
            "// covers: T\n#[",
        ] {
            find(source);
        }
    }
}
