//! The error of the deserializer. Each enclosing map or list adds its key or index to the path of the error.

use crate::spelling::nearest;
use crate::tree::quoted;
use crate::{Code, Node, ReadError};
use serde::de::{self, Expected, Unexpected};
use std::fmt;

/// An error with the path to the value that caused it.
#[derive(Debug)]
pub(crate) struct DeError {
    message: Box<str>,
    help: Option<Box<str>>,
    place: Option<(u32, u32)>,
    /// From the leaf to the root.
    path: Vec<PathStep>,
    cause: Cause,
}

/// The cause, as far as it decides how reading continues.
#[derive(Debug)]
pub(crate) enum Cause {
    /// The value is invalid.
    Value,
    /// The map has an unknown key; the second value is the suggested key.
    Extra(String, Option<&'static str>),
    /// The map lacks this key.
    Missing(&'static str),
}

/// One step of the path from a map or list to a value in it.
#[derive(Debug)]
pub(crate) enum PathStep {
    Key(String),
    Index(usize),
}

impl DeError {
    /// Creates an error without a place.
    pub(crate) fn new(message: impl Into<String>) -> DeError {
        DeError { message: message.into().into(), help: None, place: None, path: Vec::new(), cause: Cause::Value }
    }

    fn because(mut self, cause: Cause) -> DeError {
        self.cause = cause;
        self
    }

    /// Returns the cause.
    pub(crate) fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Returns the invalid value (the map for an unknown or missing key) and its parent.
    pub(crate) fn node<'t>(&self, root: &'t Node) -> Option<(&'t Node, Option<(&'t Node, &'t str)>)> {
        let mut at = (root, None);
        for step in self.path.iter().rev() {
            at = match step {
                PathStep::Key(key) => {
                    let entry = at.0.entry(key)?;
                    (&entry.value, Some((at.0, entry.key.as_str())))
                }
                PathStep::Index(i) => (at.0.at(*i)?, Some((at.0, ""))),
            };
        }
        Some(at)
    }

    /// Sets the help.
    pub(crate) fn helped(mut self, help: Option<String>) -> DeError {
        self.help = help.map(Into::into);
        self
    }

    /// Sets the place to `node`, unless a deeper one is known.
    pub(crate) fn within(mut self, node: &Node) -> DeError {
        if self.place.is_none() {
            self.place = Some((node.line, node.column));
            if let Some(kind) = self.message.strip_prefix("data did not match any variant of untagged enum ") {
                self.message = format!("expected a {kind}, found {}", node.describe()).into();
            }
        }
        self
    }

    /// Sets the place, unless a deeper one is known.
    pub(crate) fn at(mut self, line: u32, column: u32) -> DeError {
        self.place.get_or_insert((line, column));
        self
    }

    /// Adds a step to the path.
    pub(crate) fn under(mut self, step: PathStep) -> DeError {
        self.path.push(step);
        self
    }

    /// Converts to the final error; `root` is the place if no other is known.
    pub(crate) fn into_read_error(self, file: &str, root: &Node) -> ReadError {
        let mut message = String::new();
        for step in self.path.iter().rev() {
            match step {
                PathStep::Key(key) if message.is_empty() => message.push_str(key),
                PathStep::Key(key) => message.extend([".", key]),
                PathStep::Index(i) => message.push_str(&format!("[{i}]")),
            }
        }
        if !message.is_empty() {
            message.push_str(": ");
        }
        message.push_str(&self.message);
        let (line, column) = self.place.unwrap_or((root.line, root.column));
        ReadError { code: Code::Invalid, file: file.into(), line, column, message, help: self.help.map(Into::into) }
    }
}

impl fmt::Display for DeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DeError {}

impl de::Error for DeError {
    fn custom<T: fmt::Display>(message: T) -> DeError {
        DeError::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> DeError {
        DeError::new(match found {
            Unexpected::Str(text) => format!("expected {expected}, found the text {}", quoted(text)),
            Unexpected::Float(n) => format!("expected {expected}, found the number {n}"),
            Unexpected::Signed(n) => format!("expected {expected}, found the number {n}"),
            Unexpected::Unsigned(n) => format!("expected {expected}, found the number {n}"),
            Unexpected::Bool(b) => format!("expected {expected}, found {b}"),
            Unexpected::Unit | Unexpected::Option => format!("expected {expected}, found nothing"),
            Unexpected::Seq => format!("expected {expected}, found a list"),
            Unexpected::Map => format!("expected {expected}, found a map"),
            other @ Unexpected::Char(_)
            | other @ Unexpected::Bytes(_)
            | other @ Unexpected::NewtypeStruct
            | other @ Unexpected::Enum
            | other @ Unexpected::UnitVariant
            | other @ Unexpected::NewtypeVariant
            | other @ Unexpected::TupleVariant
            | other @ Unexpected::StructVariant
            | other @ Unexpected::Other(_) => format!("expected {expected}, found {other}"),
        })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> DeError {
        DeError::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> DeError {
        DeError::new(format!("expected {expected}, found a list of {length}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> DeError {
        DeError::new(format!("{} is not one of {}", quoted(variant), expected.join(", ")))
            .helped(did_you_mean(variant, expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> DeError {
        let message = format!("unknown field {}", quoted(field));
        let meant = nearest(field, expected.iter().copied());
        // A key with spaces is usually the rest of a text: `{Description: It burns, and hurts}`.
        if meant.is_none() && field.contains(' ') {
            return DeError::new(message)
                .helped(Some("quote a text that contains a comma".to_owned()))
                .because(Cause::Extra(field.to_owned(), meant));
        }
        let error = match (meant, expected) {
            // With a suggestion the list of fields is not needed.
            (Some(_), _) | (None, []) => DeError::new(message),
            (None, _) => DeError::new(format!("{message}; the fields are {}", expected.join(", "))),
        };
        error.helped(did_you_mean(field, expected)).because(Cause::Extra(field.to_owned(), meant))
    }

    fn missing_field(field: &'static str) -> DeError {
        DeError::new(format!("the field {field} is missing"))
            .helped(Some(format!("add `{field}:`")))
            .because(Cause::Missing(field))
    }
}

/// Returns the suggestion for a misspelt name.
pub(crate) fn did_you_mean(name: &str, expected: &[&str]) -> Option<String> {
    nearest(name, expected.iter().copied()).map(|n| format!("did you mean \"{n}\"?"))
}
