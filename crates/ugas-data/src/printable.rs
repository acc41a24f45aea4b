//! Makes untrusted text, for example from files or other users, safe for a terminal or a log.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character controls a terminal or changes how the characters around it are displayed. These are
/// control characters, bidirectional marks, overrides and isolates, line separators, and invisible characters that hide
/// a difference between two names.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}'
                | '\u{200B}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{2064}'
                | '\u{2066}'..='\u{2069}'
                | '\u{FEFF}'
        )
}

/// Escapes the characters that control a terminal, reorder text or are invisible, except line breaks and tabs. An
/// escape such as `\u202e` is also valid inside a JSON string.
///
/// ```
/// assert_eq!(ugas_data::printable("GE_\u{202e}nruB\u{1b}[31m\n"), "GE_\\u202enruB\\u001b[31m\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\n' || c == '\t')
}

/// Escapes the same characters as [`printable`] and also line breaks, for text that must stay on one line.
///
/// ```
/// assert_eq!(ugas_data::printable_line("a.yaml\nerror: forged"), "a.yaml\\u000aerror: forged");
/// ```
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\t')
}

fn escape(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    let acts = |c: char| is_unprintable(c) && !keeps(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match acts(c) {
            true => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}
