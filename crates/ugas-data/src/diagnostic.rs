//! What a tool tells a person about a file: one finding with its place, what to do, and where it is safe the edit that
//! does it. Reading, building rules and lints all speak in these; text, JSON and SARIF are made from them.

use crate::{Code, ReadError, Span};
use serde::Serialize;
use std::sync::Arc;

/// How bad a finding is.
///
/// ```
/// assert!(ugas_data::Severity::Error < ugas_data::Severity::Warning);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is wrong.
    Error,
    /// Somebody should look.
    Warning,
    /// Good to know.
    Info,
}

impl Severity {
    /// Its name in text output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A change of a file: what stands in `span` becomes `text`.
///
/// ```
/// use ugas_data::{Edit, Span};
/// let edit = Edit { span: Span::new(5, 13), text: "MaxHealth".into() };
/// assert_eq!(edit.apply("Max: MaxHelth"), Some("Max: MaxHealth".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// What is replaced; empty to insert.
    #[serde(flatten)]
    pub span: Span,
    /// By what.
    pub text: String,
}

impl Edit {
    /// A text with edits that stand apart and in order; `None` if they do not, or are not about this text.
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

    /// The text after the change, if the span lies inside it.
    pub fn apply(&self, text: &str) -> Option<String> {
        self.span.of(text)?;
        let (start, end) = (self.span.start as usize, self.span.end as usize);
        Some([&text[..start], &self.text, &text[end..]].concat())
    }
}

/// A change that mends a finding and changes nothing else.
///
/// ```
/// let fix = ugas_data::Fix { title: "write MaxHealth".into(), edits: vec![] };
/// assert_eq!(fix.title, "write MaxHealth");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// What it does, in a few words.
    pub title: String,
    /// The edits of the file, by rising place; they do not overlap.
    pub edits: Vec<Edit>,
}

/// One finding.
///
/// ```
/// use ugas_data::{Diagnostic, Severity};
/// let d = Diagnostic::new("unused-definition", Severity::Warning, "a.yaml", "GE_Old is used nowhere");
/// assert_eq!((d.line, d.column), (1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// A stable id of what found it.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, and what was expected.
    pub message: String,
    /// The file.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Line of the end, from 1.
    pub end_line: u32,
    /// Column behind the last character, from 1.
    pub end_column: u32,
    /// The bytes it is about; empty where only a line and column are known.
    #[serde(skip)]
    pub span: Span,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// A safe change that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding about a file as a whole.
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

    /// At a stretch of the file's text.
    pub fn at(mut self, span: Span, text: &str) -> Diagnostic {
        (self.line, self.column) = place_of(text, span.start as usize);
        (self.end_line, self.end_column) = place_of(text, span.end as usize);
        self.span = span;
        self
    }

    /// With what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// With the change that mends it.
    pub fn fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Diagnostic {
        self.fix = Some(Fix { title: title.into(), edits });
        self
    }

    /// Sorts findings as people read them, each once: what several packs require is found by each of them.
    pub fn arrange(findings: &mut Vec<Diagnostic>) {
        findings.sort_by(|a, b| {
            let key = |f: &Diagnostic| (f.line, f.column, f.severity);
            a.file.cmp(&b.file).then(key(a).cmp(&key(b))).then_with(|| a.message.cmp(&b.message))
        });
        findings.dedup();
    }

    /// From a bare line and column to the word that stands there.
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

    /// With the change to the nearest spelling, if the words it stands at are exactly the misspelt ones.
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

    /// What reading refused.
    pub fn of_read_error(error: &ReadError) -> Diagnostic {
        let id = match error.code {
            Code::Unreadable => "unreadable",
            Code::Syntax => "syntax",
            Code::Limit => "limit",
            Code::DuplicateKey => "duplicate-key",
            Code::UnknownKind => "unknown-kind",
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

/// Line and column (in characters), from 1, of a byte.
///
/// ```
/// assert_eq!(ugas_data::place_of("a: 1\nbö: 2", 9), (2, 4));
/// ```
pub fn place_of(text: &str, byte: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    // A byte that continues a character is not a column of its own.
    let column = before[start..].iter().filter(|b| **b & 0xC0 != 0x80).count() + 1;
    (line as u32, column as u32)
}

/// The byte at a line and column, both from 1; the end of the line where the column lies beyond it.
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
