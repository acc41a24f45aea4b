//! Splits Rust source into code and comments.
//!
//! The commands search for words in code and for marks in comments. String literals would cause false matches, so this
//! module replaces comments and literals with spaces. Offsets and line numbers stay the same.

/// Rust source in which comments and literals are replaced with spaces, and a list of the comments.
#[derive(Debug)]
pub(crate) struct Masked {
    /// The source with comments, strings and characters replaced with spaces; its length is unchanged.
    pub(crate) code: String,
    /// The comments in order; a block comment is one entry at its first line.
    pub(crate) comments: Vec<Comment>,
    line_starts: Vec<usize>,
}

/// A comment and the line (from 1) on which it starts.
#[derive(Debug, PartialEq)]
pub(crate) struct Comment {
    pub(crate) line: usize,
    /// The text with its slashes and stars.
    pub(crate) text: String,
}

impl Masked {
    /// Returns the line (from 1) that contains the byte at `offset`.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }
}

/// Splits `source`; never fails, even if the text is not Rust.
pub(crate) fn mask(source: &str) -> Masked {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut comments = Vec::new();
    let line_starts = std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect::<Vec<_>>();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => source[at..].find('\n').map_or(bytes.len(), |n| at + n),
            b'/' if bytes.get(at + 1) == Some(&b'*') => block_comment_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'\'' => char_end(source, at),
            b'r' | b'b' | b'c' if !follows_word(bytes, at) => prefixed_literal_end(bytes, at),
            _ => at,
        };
        if end == at {
            at += 1;
            continue;
        }
        if bytes[at] == b'/' {
            let line = line_starts.partition_point(|start| *start <= at);
            comments.push(Comment { line, text: source[at..end].to_owned() });
        }
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    Masked { code: String::from_utf8_lossy(&code).into_owned(), comments, line_starts }
}

fn follows_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_word(bytes[at - 1])
}

/// Returns whether a byte can be part of an identifier.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => {
                (at, depth) = (at + 2, depth - 1);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the end of a character literal, or `start` when the quote begins a lifetime.
fn char_end(source: &str, start: usize) -> usize {
    let rest = &source[start + 1..];
    let Some(first) = rest.chars().next() else { return start };
    if first == '\\' {
        // Skips the escaped character itself, which may be a quote, then looks for the closing quote.
        let from = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
        return rest[from..].find('\'').map_or(start, |n| start + 1 + from + n + 1);
    }
    let after = first.len_utf8();
    if rest[after..].starts_with('\'') { start + 1 + after + 1 } else { start }
}

/// Returns the end of `b"…"`, `c"…"`, `b'…'`, `r"…"`, `r#"…"#`, `br#"…"#`; `start` if the text is an identifier.
fn prefixed_literal_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    if matches!(bytes[at], b'b' | b'c') {
        at += 1;
        match bytes.get(at) {
            Some(b'"') => return string_end(bytes, at),
            Some(b'\'') => {
                let escaped = bytes.get(at + 1) == Some(&b'\\');
                let from = at + if escaped { 3 } else { 2 };
                return bytes
                    .get(from..)
                    .and_then(|rest| rest.iter().position(|b| *b == b'\''))
                    .map_or(start, |n| from + n + 1);
            }
            Some(b'r') => {}
            _ => return start,
        }
    }
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let quote = at + 1 + hashes;
    if bytes.get(quote) != Some(&b'"') {
        return start;
    }
    let mut end = quote + 1;
    while end < bytes.len() {
        if bytes[end] == b'"' && bytes[end + 1..].iter().take_while(|byte| **byte == b'#').count() >= hashes {
            return end + 1 + hashes;
        }
        end += 1;
    }
    bytes.len()
}

/// Returns the offsets of `word` in `code` with no identifier character next to it.
///
/// An end of `word` that is not itself an identifier character (a dot, a bracket) needs no boundary.
pub(crate) fn find_word<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    let first_is_word = word.bytes().next().is_some_and(is_word);
    let last_is_word = word.bytes().last().is_some_and(is_word);
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let open = first_is_word && *at > 0 && is_word(bytes[at - 1]);
        let close = last_is_word && bytes.get(at + word.len()).copied().is_some_and(is_word);
        !open && !close
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        let masked = mask(source);
        assert_eq!(masked.code.len(), source.len(), "{source}");
        masked.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_blanked_and_offsets_kept() {
        assert_eq!(code("let a = \"x // y\"; // z"), "let a = ;");
        assert_eq!(code("a /* b /* c */ d */ e"), "a e");
        assert_eq!(code(r####"let s = r#"a " b"#; t"####), "let s = ; t");
        assert_eq!(code(r#"f(b"x\"y", c"z", br"q") g"#), "f( , , ) g");
    }

    #[test]
    fn a_lifetime_is_not_a_character() {
        assert_eq!(code("fn f<'a>(x: &'a str) -> char { '\\'' }"), "fn f<'a>(x: &'a str) -> char { }");
        assert_eq!(
            code("match c { '\"' => 1, 'é' => 2, b'\\'' => 3, b'x' => 4 }"),
            "match c { => 1, => 2, => 3, => 4 }"
        );
        assert_eq!(code("'\\u{1F600}' x"), "x");
    }

    #[test]
    fn raw_identifiers_and_words_ending_in_r_are_code() {
        assert_eq!(code("r#type var\"s\" x"), "r#type var x");
    }

    #[test]
    fn comments_know_their_line() {
        let masked = mask("a\n// one\n\"// no\" // two\n");
        assert_eq!(
            masked.comments,
            [Comment { line: 2, text: "// one".into() }, Comment { line: 3, text: "// two".into() }]
        );
        assert_eq!(masked.line_of(0), 1);
        assert_eq!(masked.line_of(2), 2);
    }

    #[test]
    fn unfinished_text_does_not_panic() {
        for source in ["\"abc", "'", "'\\", "/*", "r#\"x", "b'", "b'\\", "\"\\"] {
            mask(source);
        }
    }

    #[test]
    fn words_need_boundaries_only_where_they_are_words() {
        assert_eq!(find_word("HashMap MyHashMap HashMaps x::HashMap<", "HashMap").collect::<Vec<_>>(), [0, 30]);
        assert_eq!(find_word("x.sin() y.sinh()", ".sin(").collect::<Vec<_>>(), [1]);
    }
}
