//! Changes one value of a YAML text, for form editors. Comments, key order, quotes and layout are kept. A changed text
//! is returned only if it parses to the intended tree. Otherwise an error is returned, and the text must be edited by
//! hand.

use crate::diagnostic::Edit;
use crate::fix::{remove_entry, same};
use crate::{Entry, Node, NodeValue, Span, read_trees, scalar};
use std::fmt;

/// A step of the path from a document to a value.
///
/// ```
/// use ugas_data::Step;
/// assert_eq!(Step::from("Period"), Step::Key("Period".into()));
/// assert_eq!(Step::from(2), Step::At(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// An index into a list.
    At(usize),
    /// A key of a map.
    Key(String),
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(at: usize) -> Step {
        Step::At(at)
    }
}

/// The reason why a value could not be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormError {
    /// The text cannot be read. The string is the first error.
    Unreadable(String),
    /// The document or the path does not exist.
    NoPlace(String),
    /// The value cannot be changed without changing other values, so the text must be edited by hand.
    ByHand(String),
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormError::Unreadable(why) => write!(f, "the text has an error: {why}; correct it first"),
            FormError::NoPlace(what) => write!(f, "{what}; reload the file"),
            FormError::ByHand(what) => {
                write!(f, "cannot change {what} without changing other values; edit the text")
            }
        }
    }
}
impl std::error::Error for FormError {}

/// Sets, adds or removes one value of a document and returns the new text of the file. `None` removes the value.
/// `document` is the index of the document in the file, from 0. Missing parents are added. An index one past the last
/// element of a list appends the value to the list.
///
/// ```
/// use ugas_data::{NodeValue, set_value};
/// let text = "Kind: gameplay_effect\nName: GE_Hit # ouch\nPeriod: {Period: 1} # a second\n";
/// let text = set_value(text, 0, &["Period".into(), "Period".into()], Some(&NodeValue::Number(0.5)))?;
/// assert_eq!(text, "Kind: gameplay_effect\nName: GE_Hit # ouch\nPeriod: {Period: 0.5} # a second\n");
/// let text = set_value(&text, 0, &["DurationPolicy".into()], Some(&NodeValue::Text("Instant".into())))?;
/// assert!(text.ends_with("} # a second\nDurationPolicy: Instant\n"));
/// # Ok::<(), ugas_data::FormError>(())
/// ```
pub fn set_value(text: &str, document: usize, way: &[Step], value: Option<&NodeValue>) -> Result<String, FormError> {
    let unreadable = |errors: crate::ReadErrors| {
        FormError::Unreadable(
            errors.iter().next().map_or_else(String::new, |e| format!("line {}: {}", e.line, e.message)),
        )
    };
    let before = read_trees("", text).map_err(unreadable)?;
    let tree =
        before.get(document).ok_or_else(|| FormError::NoPlace(format!("the file has no document {document}")))?;
    let what = path_text(way);
    let by_hand = || FormError::ByHand(what.clone());
    let (edit, meant) = match value {
        Some(value) => (put(tree, way, value, text).ok_or_else(by_hand)?, changed(tree, way, value)),
        None => (take(tree, way, text).ok_or_else(by_hand)?, without(tree, way)),
    };
    let meant = meant.ok_or_else(|| FormError::NoPlace(format!("the document has no field or entry {what}")))?;
    let result = edit.apply(text).ok_or_else(by_hand)?;
    let after = read_trees("", &result).map_err(|_| by_hand())?;
    let stays = |i: usize| if i == document { &meant } else { &before[i] };
    let holds = after.len() == before.len() && after.iter().enumerate().all(|(i, tree)| same(stays(i), tree));
    if holds { Ok(result) } else { Err(by_hand()) }
}

/// Returns the path as text: `Modifiers[0].Magnitude`.
fn path_text(way: &[Step]) -> String {
    let mut text = String::new();
    for step in way {
        match step {
            Step::Key(key) if text.is_empty() => text += key,
            Step::Key(key) => text += &format!(".{key}"),
            Step::At(at) => text += &format!("[{at}]"),
        }
    }
    text
}

fn child<'n>(node: &'n Node, step: &Step) -> Option<&'n Node> {
    match step {
        Step::Key(key) => node.get(key),
        Step::At(at) => node.at(*at),
    }
}

/// Wraps a value in the maps and lists of a path.
fn wrapped(way: &[Step], value: &NodeValue) -> Option<NodeValue> {
    way.iter().rev().try_fold(value.clone(), |inner, step| {
        let node = Node { value: inner, ..nowhere(NodeValue::Null) };
        match step {
            Step::Key(key) => {
                let entry = Entry { key: key.clone(), line: 0, column: 0, span: Span::default(), value: node };
                Some(NodeValue::Map(vec![entry]))
            }
            Step::At(0) => Some(NodeValue::List(vec![node])),
            Step::At(_) => None,
        }
    })
}

fn nowhere(value: NodeValue) -> Node {
    Node { value, line: 0, column: 0, span: Span::default() }
}

/// Returns the intended tree after setting a value.
fn changed(node: &Node, way: &[Step], value: &NodeValue) -> Option<Node> {
    let Some((step, rest)) = way.split_first() else { return Some(nowhere(value.clone())) };
    let below = |inner: Option<&Node>| match inner {
        Some(inner) if !inner.is_null() || rest.is_empty() => changed(inner, rest, value),
        _ => wrapped(rest, value).map(nowhere),
    };
    let mut out = node.clone();
    match (step, &mut out.value) {
        (Step::Key(key), NodeValue::Map(entries)) => match entries.iter_mut().find(|e| e.key == *key) {
            Some(entry) => entry.value = below(Some(&entry.value))?,
            None => {
                let value = below(None)?;
                entries.push(Entry { key: key.clone(), line: 0, column: 0, span: Span::default(), value });
            }
        },
        (Step::At(at), NodeValue::List(items)) if *at < items.len() => items[*at] = below(Some(&items[*at]))?,
        (Step::At(at), NodeValue::List(items)) if *at == items.len() => items.push(below(None)?),
        _ => return None,
    }
    Some(out)
}

/// Returns the intended tree after removing a value.
fn without(node: &Node, way: &[Step]) -> Option<Node> {
    let (step, rest) = way.split_first()?;
    let mut out = node.clone();
    match (step, &mut out.value) {
        (Step::Key(key), NodeValue::Map(entries)) => {
            let at = entries.iter().position(|e| e.key == *key)?;
            if rest.is_empty() {
                entries.remove(at);
            } else {
                entries[at].value = without(&entries[at].value, rest)?;
            }
        }
        (Step::At(at), NodeValue::List(items)) if *at < items.len() => {
            if rest.is_empty() {
                items.remove(*at);
            } else {
                items[*at] = without(&items[*at], rest)?;
            }
        }
        _ => return None,
    }
    Some(out)
}

/// Returns the edit that sets a value; `None` if there is no simple one.
fn put(tree: &Node, way: &[Step], value: &NodeValue, text: &str) -> Option<Edit> {
    let mut home = tree;
    let mut key = None;
    for (i, step) in way.iter().enumerate() {
        match child(home, step) {
            Some(inner) if !(inner.is_null() && i + 1 < way.len()) => {
                key = match step {
                    Step::Key(key) => home.entry(key).map(|e| e.span.end as usize),
                    Step::At(_) => None,
                };
                home = inner;
            }
            // A key without a value, or nothing there yet.
            Some(_) => return fill(home, step, &wrapped(&way[i + 1..], value)?, text),
            None => return add(home, step, &wrapped(&way[i + 1..], value)?, text),
        }
    }
    let old = home.span.of(text)?;
    if home.is_null() && old.trim().is_empty() {
        let colon = key? + text.get(key?..)?.find(':')? + 1;
        return Some(Edit { span: Span::new(colon, colon), text: format!(" {}", flow(value)) });
    }
    let in_brackets = old.starts_with(['{', '[']);
    if (home.is_map() || home.is_list()) && !in_brackets {
        return None;
    }
    let new = match value {
        NodeValue::Text(new) if old.starts_with('\'') && !new.contains(['\n', '\r']) => {
            format!("'{}'", new.replace('\'', "''"))
        }
        NodeValue::Text(new) if old.starts_with('"') => double(new),
        value @ NodeValue::Null
        | value @ NodeValue::Bool(_)
        | value @ NodeValue::Number(_)
        | value @ NodeValue::Text(_)
        | value @ NodeValue::List(_)
        | value @ NodeValue::Map(_) => flow(value),
    };
    Some(Edit { span: home.span, text: new })
}

/// Returns the edit that writes a value for a key without one.
fn fill(map: &Node, step: &Step, value: &NodeValue, text: &str) -> Option<Edit> {
    let Step::Key(key) = step else { return None };
    let end = map.entry(key)?.span.end as usize;
    let colon = end + text.get(end..)?.find(':')? + 1;
    let old = map.get(key)?.span;
    let stop = if old.of(text)?.trim().is_empty() { colon } else { old.end as usize };
    Some(Edit { span: Span::new(colon, stop), text: format!(" {}", flow(value)) })
}

/// Returns the edit that appends an entry.
fn add(home: &Node, step: &Step, value: &NodeValue, text: &str) -> Option<Edit> {
    let (entry, last) = match (step, &home.value) {
        (Step::Key(key), NodeValue::Map(entries)) => {
            (format!("{}: {}", word(key), flow(value)), entries.last().map(|e| &e.value))
        }
        (Step::At(at), NodeValue::List(items)) if *at == items.len() => (flow(value), items.last()),
        _ => return None,
    };
    let cut = home.span.of(text)?;
    if cut.starts_with(['{', '[']) {
        return match last {
            Some(last) => {
                let end = last.span.end as usize;
                Some(Edit { span: Span::new(end, end), text: format!(", {entry}") })
            }
            None => {
                let inside = home.span.start as usize + 1;
                Some(Edit { span: Span::new(inside, inside), text: entry })
            }
        };
    }
    // The last entry may end after empty lines and comments that belong to the next value.
    let last = last?;
    let written = text.get(..last.span.end as usize)?.trim_end();
    let end = written.len() + text.get(written.len()..)?.find('\n').unwrap_or(text.len() - written.len());
    let end = if text[..end].ends_with('\r') { end - 1 } else { end };
    let begins = match step {
        Step::Key(_) => home.entries().first()?.span.start,
        Step::At(_) => home.items().first()?.span.start,
    };
    let line = text.get(..begins as usize)?.rfind('\n').map_or(0, |n| n + 1);
    let before = text.get(line..begins as usize)?;
    let (indent, dash) = match step {
        Step::Key(_) => (before.chars().count(), ""),
        Step::At(_) => (before.rfind('-')?, "- "),
    };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let text = format!("{newline}{}{dash}{entry}", " ".repeat(indent));
    Some(Edit { span: Span::new(end, end), text })
}

/// Returns the edit that removes a value.
fn take(tree: &Node, way: &[Step], text: &str) -> Option<Edit> {
    let (last, way) = way.split_last()?;
    let home = way.iter().try_fold(tree, |node, step| child(node, step))?;
    let at = match last {
        Step::Key(key) => return remove_entry(home, key, text),
        Step::At(at) => *at,
    };
    let items = home.items();
    let item = items.get(at)?;
    let (start, end) = (item.span.start as usize, item.span.end as usize);
    let span = if home.span.of(text)?.starts_with('[') {
        match (at.checked_sub(1).map(|i| &items[i]), items.get(at + 1)) {
            (Some(before), _) => Span::new(before.span.end as usize, end),
            (None, Some(after)) => Span::new(start, after.span.start as usize),
            (None, None) => item.span,
        }
    } else {
        let line = text.get(..start)?.rfind('\n').map_or(0, |n| n + 1);
        let end = text.get(..end)?.trim_end().len();
        let stop = text.get(end..)?.find('\n').map_or(text.len(), |n| end + n + 1);
        if text.get(line..start)?.trim() != "-" || !text.get(end..stop)?.trim().is_empty() || items.len() == 1 {
            return None;
        }
        Span::new(line, stop)
    };
    (!span.of(text)?.contains('#')).then(|| Edit { span, text: String::new() })
}

/// Writes a value in one line.
fn flow(value: &NodeValue) -> String {
    match value {
        NodeValue::Null => "null".to_owned(),
        NodeValue::Bool(b) => b.to_string(),
        NodeValue::Number(n) => n.to_string(),
        NodeValue::Text(text) => word(text),
        NodeValue::List(items) => {
            format!("[{}]", items.iter().map(|n| flow(&n.value)).collect::<Vec<_>>().join(", "))
        }
        NodeValue::Map(entries) => {
            let each = entries.iter().map(|e| format!("{}: {}", word(&e.key), flow(&e.value.value)));
            format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Writes a text, without quotes if it needs none.
fn word(text: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || "_-./:+*()<>= ".contains(c);
    let plain = text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && text.chars().all(part)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && matches!(scalar::resolve(text), NodeValue::Text(_));
    match plain {
        true => text.to_owned(),
        false if text.chars().any(|c| c.is_control() || c == '\u{feff}' || ('\u{2028}'..='\u{2029}').contains(&c)) => {
            double(text)
        }
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

fn double(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() || c == '\u{feff}' || ('\u{2028}'..='\u{2029}').contains(&c) => {
                out += &format!("\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out + "\""
}
