//! Errors that occur while reading. One type represents all errors. It contains the cause, the file and line, and a
//! suggested action.

use crate::limits::MAX_ERRORS;
use crate::printable::printable_line;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The cause of a [`ReadError`], for callers that handle causes differently.
///
/// ```
/// let errors = ugas_data::read_str("a.yaml", "Kind: curve\nName: [").unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Syntax);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// The file could not be read, or is not UTF-8.
    Unreadable,
    /// The text is not YAML 1.2 (or JSON).
    Syntax,
    /// A limit of [`crate::limits`] was exceeded.
    Limit,
    /// A map has the same key twice.
    DuplicateKey,
    /// The kind of the document is missing or unknown.
    UnknownKind,
    /// The kind of the document is known, but this release does not support it.
    UnsupportedKind,
    /// The document has an unknown or missing field, a value of the wrong type, or an unknown name.
    Invalid,
}

/// An error in a file.
///
/// ```
/// let errors = ugas_data::read_str("a.yaml", "Kind: curve\nName: 5\n").unwrap_err();
/// assert_eq!(errors[0].to_string(), "a.yaml:2:7: Name: expected a text, found the number 5");
/// assert_eq!(errors[0].help.as_deref(), Some("put the value in quotes"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The cause.
    pub code: Code,
    /// The path of the file, as the caller wrote it.
    pub file: Arc<str>,
    /// Line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// Column in characters, from 1; 0 for the file as a whole.
    pub column: u32,
    /// What was found and what was expected.
    pub message: String,
    /// The suggested action.
    pub help: Option<String>,
}

impl ReadError {
    /// Creates an error about a whole file.
    pub(crate) fn of_file(file: &str, code: Code, message: impl Into<String>) -> ReadError {
        ReadError { code, file: file.into(), line: 0, column: 0, message: message.into(), help: None }
    }
}

impl From<&crate::Diagnostic> for ReadError {
    /// Converts a finding to an error. If the finding was not reported while reading, its id is appended to the
    /// message.
    fn from(finding: &crate::Diagnostic) -> ReadError {
        let code = match finding.id.as_str() {
            "unreadable" => Some(Code::Unreadable),
            "syntax" => Some(Code::Syntax),
            "limit" => Some(Code::Limit),
            "duplicate-key" => Some(Code::DuplicateKey),
            "unknown-kind" => Some(Code::UnknownKind),
            "unsupported-kind" => Some(Code::UnsupportedKind),
            "invalid" => Some(Code::Invalid),
            _ => None,
        };
        let id = if code.is_some() { String::new() } else { format!(" [{}]", finding.id) };
        ReadError {
            code: code.unwrap_or(Code::Invalid),
            file: finding.file.clone(),
            line: finding.line,
            column: finding.column,
            message: format!("{}{id}", finding.message),
            help: finding.help.clone(),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, message) = (printable_line(&self.file), printable_line(&self.message));
        match self.line {
            0 => write!(f, "{file}: {message}"),
            line => write!(f, "{file}:{line}:{}: {message}", self.column),
        }
    }
}

impl std::error::Error for ReadError {}

/// All errors of the files that were read, sorted by file and line. The list is never empty.
///
/// ```
/// let text = "Kind: curve\nNmae: A\n---\nKind: curve\nName: 5\n";
/// let errors = ugas_data::read_str("a.yaml", text).unwrap_err();
/// assert_eq!(errors.iter().map(|e| e.line).collect::<Vec<_>>(), [2, 5]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadErrors(Vec<ReadError>);

impl ReadErrors {
    /// Returns `value` if there are no errors.
    pub(crate) fn unless<T>(errors: Vec<ReadError>, value: T) -> Result<T, ReadErrors> {
        if errors.is_empty() { Ok(value) } else { Err(ReadErrors(errors)) }
    }

    /// Truncates sorted errors to the limit for one file and adds a note.
    pub(crate) fn cut(errors: &mut Vec<ReadError>) {
        if errors.len() > MAX_ERRORS && !errors.iter().any(|e| e.code == Code::Limit) {
            errors.truncate(MAX_ERRORS);
            let last = errors[MAX_ERRORS - 1].clone();
            let message = format!("reading stopped after {MAX_ERRORS} errors; correct these errors first");
            errors.push(ReadError { code: Code::Limit, message, help: None, ..last });
        }
    }

    /// Returns the errors as a list.
    pub fn into_vec(self) -> Vec<ReadError> {
        self.0
    }
}

impl From<ReadError> for ReadErrors {
    fn from(error: ReadError) -> ReadErrors {
        ReadErrors(vec![error])
    }
}

impl Deref for ReadErrors {
    type Target = [ReadError];

    fn deref(&self) -> &[ReadError] {
        &self.0
    }
}

impl IntoIterator for ReadErrors {
    type Item = ReadError;
    type IntoIter = std::vec::IntoIter<ReadError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for ReadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
            if let Some(help) = &error.help {
                write!(f, " ({})", printable_line(help))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ReadErrors {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_an_error_survives_the_conversion_to_a_finding() {
        use Code::{DuplicateKey, Invalid, Limit, Syntax, UnknownKind, Unreadable, UnsupportedKind};
        for code in [Unreadable, Syntax, Limit, DuplicateKey, UnknownKind, UnsupportedKind, Invalid] {
            let error = ReadError { line: 1, column: 1, ..ReadError::of_file("a.yaml", code, "wrong") };
            assert_eq!(ReadError::from(&crate::Diagnostic::of_read_error(&error)), error);
        }
    }
}
