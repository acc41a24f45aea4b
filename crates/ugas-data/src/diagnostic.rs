//! A finding is a message with a file and line, a suggested action and an optional safe fix. The reader, the rules
//! builder and the lint rules report findings. Text, JSON and SARIF output is generated from findings.

use crate::{Code, ReadError, Span};
use serde::Serialize;
use std::sync::Arc;

/// The severity of a finding.
///
/// ```
/// assert!(ugas_data::Severity::Error < ugas_data::Severity::Warning);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The data is invalid.
    Error,
    /// The data is probably wrong.
    Warning,
    /// Information that needs no action.
    Info,
}

impl Severity {
    /// Returns the name for text output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A change of a file: the text in `span` is replaced with `text`.
///
/// ```
/// use ugas_data::{Edit, Span};
/// let edit = Edit { span: Span::new(5, 13), text: "MaxHealth".into() };
/// assert_eq!(edit.apply("Max: MaxHelth"), Some("Max: MaxHealth".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// The span that is replaced; with an empty span, the text is inserted.
    #[serde(flatten)]
    pub span: Span,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// Applies sorted edits that do not overlap; `None` if they overlap or are outside the text.
    pub(crate) fn apply_all(edits: &[Edit], text: &str) -> Option<String> {
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for edit in edits {
            result.push_str(text.get(at..edit.span.start as usize)?);
            result.push_str(&edit.text);
            at = edit.span.end as usize;
        }
        result.push_str(text.get(at..)?);
        Some(result)
    }

    /// Returns the text after the edit, if the span is inside the text.
    pub fn apply(&self, text: &str) -> Option<String> {
        self.span.of(text)?;
        let (start, end) = (self.span.start as usize, self.span.end as usize);
        Some([&text[..start], &self.text, &text[end..]].concat())
    }
}

/// A safe fix of a finding: its edits change only the value that the finding is about.
///
/// ```
/// let fix = ugas_data::Fix { title: "write MaxHealth".into(), edits: vec![] };
/// assert_eq!(fix.title, "write MaxHealth");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// A short description.
    pub title: String,
    /// The edits of the file, sorted and without overlap.
    pub edits: Vec<Edit>,
}

/// A finding about a file.
///
/// ```
/// use ugas_data::{Diagnostic, Severity};
/// let d = Diagnostic::new("unused-definition", Severity::Warning, "a.yaml", "GE_Old is not used");
/// assert_eq!((d.line, d.column), (1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The stable id, which `ugas explain-lint` explains.
    pub id: String,
    /// The severity.
    pub severity: Severity,
    /// The problem: what was found, and what was expected.
    pub message: String,
    /// The file.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Line of the end of the marked text, from 1.
    pub end_line: u32,
    /// Column after the last character of the marked text, from 1.
    pub end_column: u32,
    /// The bytes that the finding marks; empty if only a line and column are known.
    #[serde(skip)]
    pub span: Span,
    /// The suggested action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// A safe fix; `None` if no safe fix is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// Creates a finding about a whole file.
    pub fn new(
        id: impl Into<String>,
        severity: Severity,
        file: impl Into<Arc<str>>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            id: id.into(),
            severity,
            message: message.into(),
            file: file.into(),
            line: 1,
            column: 1,
            end_line: 1,
            end_column: 1,
            span: Span::default(),
            help: None,
            fix: None,
        }
    }

    /// Sets the place to a span of the text.
    pub fn at(mut self, span: Span, text: &str) -> Diagnostic {
        (self.line, self.column) = place_of(text, span.start as usize);
        (self.end_line, self.end_column) = place_of(text, span.end as usize);
        self.span = span;
        self
    }

    /// Sets the help.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Sets the fix.
    pub fn fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Diagnostic {
        self.fix = Some(Fix { title: title.into(), edits });
        self
    }

    /// Sorts findings by file and line and removes duplicates. Duplicates occur because the findings of a pack are
    /// reported once for each pack that requires it.
    pub fn arrange(findings: &mut Vec<Diagnostic>) {
        findings.sort_by(|a, b| {
            let key = |f: &Diagnostic| (f.line, f.column, f.severity);
            a.file.cmp(&b.file).then(key(a).cmp(&key(b))).then_with(|| a.message.cmp(&b.message))
        });
        findings.dedup();
    }

    /// Extends the finding from its line and column to the whole word there.
    pub fn stretched(mut self, text: &str) -> Diagnostic {
        let start = byte_at(text, self.line, self.column);
        let rest = text[start..].lines().next().unwrap_or("");
        let stop = |c: char| c.is_whitespace() || ",:]}#".contains(c);
        let quote = rest.chars().next().filter(|c| "\"'".contains(*c));
        let len = match quote.and_then(|q| rest[1..].find(q)) {
            Some(end) => end + 2,
            None => rest.find(stop).unwrap_or(rest.len()),
        };
        let (line, column) = (self.line, self.column);
        self = self.at(Span::new(start, start + len), text);
        (self.line, self.column) = (line, column);
        self.spelt_right(text)
    }

    /// Adds a fix with the suggested spelling, if the marked word is exactly the misspelt one.
    fn spelt_right(mut self, text: &str) -> Diagnostic {
        let meant = self.help.as_deref().and_then(|h| h.strip_prefix("did you mean \"")?.strip_suffix("\"?"));
        let word = self.span.of(text).unwrap_or_default();
        let bare = word.trim_matches(['"', '\'']);
        if let Some(meant) = meant
            && !bare.is_empty()
            && self.message.contains(&format!("{bare:?}"))
        {
            let fix = word.replacen(bare, meant, 1);
            let title = format!("write {meant}");
            self.fix = Some(Fix { title, edits: vec![Edit { span: self.span, text: fix }] });
        }
        self
    }

    /// Converts a read error to a finding.
    pub fn of_read_error(error: &ReadError) -> Diagnostic {
        let id = match error.code {
            Code::Unreadable => "unreadable",
            Code::Syntax => "syntax",
            Code::Limit => "limit",
            Code::DuplicateKey => "duplicate-key",
            Code::UnknownKind => "unknown-kind",
            Code::UnsupportedKind => "unsupported-kind",
            Code::Invalid => "invalid",
        };
        let (line, column) = (error.line.max(1), error.column.max(1));
        Diagnostic {
            line,
            column,
            end_line: line,
            end_column: column,
            help: error.help.clone(),
            ..Diagnostic::new(id, Severity::Error, error.file.clone(), error.message.clone())
        }
    }
}

/// Returns the line and column of a byte offset, both counted from 1. The column counts characters.
///
/// ```
/// assert_eq!(ugas_data::place_of("a: 1\nbö: 2", 9), (2, 4));
/// ```
pub fn place_of(text: &str, byte: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    // A continuation byte does not start a column.
    let column = before[start..].iter().filter(|b| **b & 0xC0 != 0x80).count() + 1;
    (line as u32, column as u32)
}

/// Returns the byte offset of a line and column, both counted from 1. The column counts characters. For a column beyond
/// the end of the line, the result is the end of the line.
///
/// ```
/// assert_eq!(ugas_data::byte_at("a: 1\nbö: 2", 2, 4), 9);
/// ```
pub fn byte_at(text: &str, line: u32, column: u32) -> usize {
    let mut start = 0;
    for _ in 1..line {
        match text[start..].find('\n') {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let rest = text[start..].split('\n').next().unwrap_or("");
    start + rest.char_indices().nth(column.saturating_sub(1) as usize).map_or(rest.len(), |(at, _)| at)
}
