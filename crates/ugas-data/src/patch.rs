//! Parses the paths of patches and sets values at these paths in a tree. Other modules select the target and validate
//! the result.

use crate::spelling::nearest;
use crate::tree::quoted;
use crate::{Entry, Node, NodeValue, Span};

/// Added to the lines of patched values, so that errors about them can be recognised. No file has as many lines.
pub(crate) const PATCHED_LINE: u32 = 1 << 30;

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PatchStep {
    /// A key of a map.
    Key(String),
    /// An index into a list.
    Index(usize),
    /// The list entry whose `Name` or `Attribute` has this value.
    Named(String),
}

/// The path to a field: `Modifiers[0].Magnitude.Value`, `Attributes[Health].Clamping.Max`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PatchPath(pub(crate) Vec<PatchStep>);

impl PatchPath {
    /// Parses a path.
    pub(crate) fn parse(text: &str) -> Result<PatchPath, String> {
        let bad =
            || format!("{} is not a path to a field; write a path such as Modifiers[0].Magnitude.Value", quoted(text));
        let word = |w: &str| !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (key, lists) = part.split_once('[').map_or((part, None), |(key, rest)| (key, Some(rest)));
            if !word(key) {
                return Err(bad());
            }
            steps.push(PatchStep::Key(key.to_owned()));
            for entry in lists.iter().flat_map(|l| l.split('[')) {
                let inner = entry.strip_suffix(']').filter(|i| word(i)).ok_or_else(bad)?;
                let number = inner.starts_with(|c: char| c.is_ascii_digit());
                steps.push(match inner.parse() {
                    Ok(index) => PatchStep::Index(index),
                    Err(_) if number => return Err(bad()),
                    Err(_) => PatchStep::Named(inner.to_owned()),
                });
            }
        }
        Ok(PatchPath(steps))
    }
}

impl std::fmt::Display for PatchPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                PatchStep::Key(key) if i == 0 => f.write_str(key)?,
                PatchStep::Key(key) => write!(f, ".{key}")?,
                PatchStep::Index(index) => write!(f, "[{index}]")?,
                PatchStep::Named(name) => write!(f, "[{name}]")?,
            }
        }
        Ok(())
    }
}

/// Wraps the value of a patch entry in the structure of its target.
pub(crate) fn nested(way: &PatchPath, entry: &Entry) -> Node {
    let mut node = entry.value.clone();
    for step in way.0.iter().rev() {
        let (line, column, span) = (node.line, node.column, node.span);
        let value = match step {
            PatchStep::Key(key) => {
                // The key is part of the path and contains no name.
                let at = Span { start: entry.span.start, end: entry.span.start };
                NodeValue::Map(vec![Entry {
                    key: key.clone(),
                    line: entry.line,
                    column: entry.column,
                    span: at,
                    value: node,
                }])
            }
            PatchStep::Named(_) => NodeValue::List(vec![node]),
            PatchStep::Index(index) => {
                // Earlier entries do not belong to the patch; the number of placeholders is limited.
                let nothing =
                    Node { value: NodeValue::Null, line, column, span: Span { start: span.start, end: span.start } };
                let mut items = vec![nothing; (*index).min(1000)];
                items.push(node);
                NodeValue::List(items)
            }
        };
        node = Node { value, line, column, span };
    }
    node
}

/// Sets a value at a path; `null` removes the field. Returns the path with indices, or an error.
pub(crate) fn set_at_path(tree: &mut Node, way: &PatchPath, value: &Node) -> Result<PatchPath, String> {
    let mut value = value.clone();
    shift(&mut value);
    let mut at = tree;
    let mut done: Vec<PatchStep> = Vec::new();
    for (i, step) in way.0.iter().enumerate() {
        let last = i + 1 == way.0.len();
        let here = PatchPath(done.clone()).to_string();
        let place = if here.is_empty() { "the definition".to_owned() } else { here };
        match step {
            PatchStep::Key(key) => {
                if at.is_null() {
                    at.value = NodeValue::Map(Vec::new());
                }
                let found = at.describe().to_string();
                let (line, column, span) = (value.line, value.column, value.span);
                let NodeValue::Map(entries) = &mut at.value else {
                    return Err(format!("{place} is {found}, expected a map with the field {key}"));
                };
                let known = entries.iter().position(|e| e.key == *key);
                if last && value.is_null() {
                    let Some(known) = known else {
                        return Err(format!("{place} has no field {key} to remove; correct the path"));
                    };
                    entries.remove(known);
                    done.push(step.clone());
                    return Ok(PatchPath(done));
                }
                let index = known.unwrap_or_else(|| {
                    let nothing = Node { value: NodeValue::Null, line, column, span };
                    entries.push(Entry { key: key.clone(), line, column, span, value: nothing });
                    entries.len() - 1
                });
                done.push(step.clone());
                at = &mut entries[index].value;
            }
            PatchStep::Index(_) | PatchStep::Named(_) => {
                let found = at.describe().to_string();
                let NodeValue::List(items) = &mut at.value else {
                    return Err(format!("{place} is {found}, expected a list"));
                };
                let index = entry_of(items, step, &place)?;
                if last && value.is_null() {
                    items.remove(index);
                    done.push(PatchStep::Index(index));
                    return Ok(PatchPath(done));
                }
                done.push(PatchStep::Index(index));
                at = &mut items[index];
            }
        }
    }
    *at = value;
    Ok(PatchPath(done))
}

fn entry_of(items: &[Node], step: &PatchStep, place: &str) -> Result<usize, String> {
    let wanted = match step {
        PatchStep::Index(index) if *index < items.len() => return Ok(*index),
        PatchStep::Index(index) => {
            let most = match items.len() {
                0 => "the list is empty".to_owned(),
                n => format!("the last entry is [{}]", n - 1),
            };
            return Err(format!("{place} has no entry [{index}]; {most}"));
        }
        PatchStep::Named(name) | PatchStep::Key(name) => name,
    };
    let name = |n: &Node| ["Name", "Attribute"].iter().find_map(|key| n.get(key)?.as_text().map(str::to_owned));
    let names: Vec<String> = items.iter().map(|n| name(n).unwrap_or_default()).collect();
    // A target in a namespace has qualified names; a patch may write short ones.
    let short = |n: &str| n.rsplit("::").next().unwrap_or(n).to_owned();
    let mut found = names.iter().enumerate().filter(|(_, n)| *n == wanted || short(n) == *wanted).map(|(i, _)| i);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(format!("{place} has several entries named {wanted}; write an index such as [0]")),
        _ => {
            let shorts: Vec<String> = names.iter().map(|n| short(n)).collect();
            let near = nearest(wanted, shorts.iter().map(String::as_str));
            let near = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            Err(format!("{place} has no entry {wanted}{near}"))
        }
    }
}

fn shift(node: &mut Node) {
    each_line(node, &mut |line| *line += PATCHED_LINE);
}

/// Resets the lines of patched values to `line`.
pub(crate) fn settle(node: &mut Node, line: u32) {
    each_line(node, &mut |l| {
        if *l >= PATCHED_LINE {
            *l = line;
        }
    });
}

fn each_line(node: &mut Node, with: &mut dyn FnMut(&mut u32)) {
    with(&mut node.line);
    match &mut node.value {
        NodeValue::List(items) => items.iter_mut().for_each(|n| each_line(n, with)),
        NodeValue::Map(entries) => entries.iter_mut().for_each(|e| {
            with(&mut e.line);
            each_line(&mut e.value, with);
        }),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => {}
    }
}
