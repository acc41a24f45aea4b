//! A tree of values, each with its line, column and span. Typed values are read from this tree, so that an error can
//! name the exact line and column.

use std::fmt;

/// A range of bytes in a file: from `start` up to but not including `end`.
///
/// ```
/// let text = "Name: Bolt";
/// let tree = &ugas_data::read_trees("a.yaml", text).unwrap()[0];
/// assert_eq!(tree.get("Name").unwrap().span.of(text), Some("Bolt"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The first byte after the range.
    pub end: u32,
}

impl Span {
    /// Creates a span.
    pub fn new(start: usize, end: usize) -> Span {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clip(start), end: clip(end) }
    }

    /// Returns the text of the span, if it is inside `text`.
    pub fn of(self, text: &str) -> Option<&str> {
        text.get(self.start as usize..self.end as usize)
    }

    /// Returns whether a cursor at the byte offset `at` touches the span: the offset is inside the span or directly
    /// after it.
    pub fn touches(self, at: usize) -> bool {
        (self.start as usize..=self.end as usize).contains(&at)
    }
}

/// The value of a [`Node`].
///
/// ```
/// use ugas_data::{NodeValue, read_trees};
/// let tree = &read_trees("a.yaml", "yes").unwrap()[0];
/// assert_eq!(tree.value, NodeValue::Text("yes".into())); // YAML 1.2: not a boolean
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// `null`, `~` or an empty value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number. The number may be NaN or infinite; typed values reject such numbers.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map in the order of the file, without duplicate keys.
    Map(Vec<Entry>),
}

/// One entry of a map.
///
/// ```
/// let tree = &ugas_data::read_trees("a.yaml", "Name: A").unwrap()[0];
/// let entry = &tree.entries()[0];
/// assert_eq!((entry.key.as_str(), entry.line, entry.column), ("Name", 1, 1));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key as written (without quotes).
    pub key: String,
    /// Line of the key, from 1.
    pub line: u32,
    /// Column of the key in characters, from 1.
    pub column: u32,
    /// The span of the key in the file, quotes included.
    pub span: Span,
    /// The value of the entry.
    pub value: Node,
}

/// A value with its place in a file.
///
/// ```
/// let tree = &ugas_data::read_trees("a.yaml", "Name: A\nPoints:\n- {X: 1, Y: 2}\n").unwrap()[0];
/// let y = tree.get("Points").and_then(|p| p.at(0)).and_then(|p| p.get("Y")).unwrap();
/// assert_eq!((y.as_number(), y.line, y.column), (Some(2.0), 3, 13));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: NodeValue,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The span of the whole value in the file, quotes and brackets included.
    pub span: Span,
}

impl Node {
    /// Returns the value of `key`, if this node is a map with that key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|e| &e.value)
    }

    /// Returns the entry of `key`, if this node is a map with that key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|e| e.key == key)
    }

    /// Returns the entries of a map, or an empty slice for other values.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            NodeValue::Map(entries) => entries,
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) | NodeValue::List(_) => {
                &[]
            }
        }
    }

    /// Returns the elements of a list, or an empty slice for other values.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            NodeValue::List(items) => items,
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) | NodeValue::Map(_) => &[],
        }
    }

    /// Returns the element of a list at an index, or `None` if there is no such element.
    pub fn at(&self, index: usize) -> Option<&Node> {
        self.items().get(index)
    }

    /// Returns the text, if the value is a text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) => Some(text),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                None
            }
        }
    }

    /// Returns the number, if the value is a finite number.
    pub fn as_number(&self) -> Option<f64> {
        match self.value {
            NodeValue::Number(n) if n.is_finite() => Some(n),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::Text(_)
            | NodeValue::List(_)
            | NodeValue::Map(_) => None,
        }
    }

    /// Returns the boolean, if the value is a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            NodeValue::Bool(b) => Some(b),
            NodeValue::Null | NodeValue::Number(_) | NodeValue::Text(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                None
            }
        }
    }

    /// Returns whether the value is null.
    pub fn is_null(&self) -> bool {
        self.value == NodeValue::Null
    }

    /// Returns whether the value is a map.
    pub fn is_map(&self) -> bool {
        matches!(self.value, NodeValue::Map(_))
    }

    /// Returns whether the value is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.value, NodeValue::List(_))
    }

    /// Describes the value for messages: `the number 5`, `the text "yes"`, `a list`.
    pub fn describe(&self) -> impl fmt::Display {
        match &self.value {
            NodeValue::Null => "nothing".to_owned(),
            NodeValue::Bool(b) => b.to_string(),
            NodeValue::Number(n) => format!("the number {n}"),
            NodeValue::Text(text) => format!("the text {}", quoted(text)),
            NodeValue::List(_) => "a list".to_owned(),
            NodeValue::Map(_) => "a map".to_owned(),
        }
    }

    /// Creates an error about this value.
    pub fn error(&self, file: &str, message: impl Into<String>) -> crate::ReadError {
        crate::ReadError {
            code: crate::Code::Invalid,
            file: file.into(),
            line: self.line,
            column: self.column,
            message: message.into(),
            help: None,
        }
    }
}

/// Quotes a text for a message: one line, control characters escaped, shortened if long.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => {
            let mut shown = format!("{:?}", &text[..end]);
            shown.pop();
            shown.push_str("…\"");
            shown
        }
    }
}
