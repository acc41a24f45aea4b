//! Excerpts: the source line of a finding, shortened to the width of a screen, with marks below the words that the
//! finding is about.

use crate::Diagnostic;
use crate::printable::is_unprintable;

/// The number of characters shown.
const WIDTH: usize = 110;

/// A source line with the words that a finding marks.
///
/// ```
/// use ugas_data::{Diagnostic, Excerpt, Severity, Span};
/// let text = "Name: GE_Hit\nCost: GE_Hti\n";
/// let found = Diagnostic::new("unknown-effect", Severity::Error, "a.yaml", "unknown").at(Span::new(19, 25), text);
/// let excerpt = Excerpt::of(&found, text).unwrap();
/// assert_eq!((excerpt.number, excerpt.line.as_str(), excerpt.marks.as_str()), (2, "Cost: GE_Hti", "      ^^^^^^"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line number, from 1.
    pub number: u32,
    /// The line, or the part of a long line around the marked words. Tabs become spaces, and other control characters
    /// become `�`.
    pub line: String,
    /// A line of spaces and `^` that marks the words above it.
    pub marks: String,
}

impl Excerpt {
    /// Returns the excerpt of a finding, if its line is in the text.
    pub fn of(finding: &Diagnostic, text: &str) -> Option<Excerpt> {
        let line: Vec<char> = text.lines().nth(finding.line.checked_sub(1)? as usize)?.chars().collect();
        let from = (finding.column.max(1) as usize - 1).min(line.len());
        let one_line = finding.end_line == finding.line && finding.end_column > finding.column;
        let to = if one_line { finding.end_column as usize - 1 } else { from + 1 };
        let to = to.min(line.len()).max(from + 1);
        // A long line is cut to the part around the words.
        let room = WIDTH.saturating_sub(to - from) / 2;
        let start = if line.len() <= WIDTH { 0 } else { from.saturating_sub(room) };
        let end = (start + WIDTH).min(line.len());
        let dots = |is_cut: bool| if is_cut { "…" } else { "" };
        let visible = |c: &char| match *c {
            '\t' => ' ',
            c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        };
        let shown: String = line[start..end].iter().map(visible).collect();
        let before = from - start + usize::from(start > 0);
        Some(Excerpt {
            number: finding.line,
            line: [dots(start > 0), &shown, dots(end < line.len())].concat(),
            marks: " ".repeat(before) + &"^".repeat((to - from).min(WIDTH)),
        })
    }
}
