//! Parses the paths of patches and sets values at these paths in a tree. Other modules select the target and validate
//! the result.

use crate::spelling::nearest;
use crate::tree::quoted;
use crate::{Entry, Node, NodeValue, Span};

/// Added to the lines of patched values, so that errors about them can be recognised. No file has as many lines.
pub(crate) const GRAFTED: u32 = 1 << 30;

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A key of a map.
    Key(String),
    /// An index of a list.
    Index(usize),
    /// The entry of a list with this name or attribute.
    Named(String),
}

/// The path to a field: `Modifiers[0].Magnitude.Value`, `Attributes[Health].Clamping.Max`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Way(pub(crate) Vec<Step>);

impl Way {
    /// Parses a path.
    pub(crate) fn parse(text: &str) -> Result<Way, String> {
        let bad =
            || format!("{} is not a path to a field; write a path such as Modifiers[0].Magnitude.Value", quoted(text));
        let word = |w: &str| !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (key, lists) = part.split_once('[').map_or((part, None), |(key, rest)| (key, Some(rest)));
            if !word(key) {
                return Err(bad());
            }
            steps.push(Step::Key(key.to_owned()));
            for entry in lists.iter().flat_map(|l| l.split('[')) {
                let inner = entry.strip_suffix(']').filter(|i| word(i)).ok_or_else(bad)?;
                let number = inner.starts_with(|c: char| c.is_ascii_digit());
                steps.push(match inner.parse() {
                    Ok(index) => Step::Index(index),
                    Err(_) if number => return Err(bad()),
                    Err(_) => Step::Named(inner.to_owned()),
                });
            }
        }
        Ok(Way(steps))
    }
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if i == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Named(name) => write!(f, "[{name}]")?,
            }
        }
        Ok(())
    }
}

/// Wraps the value of a patch entry in the structure of its target.
pub(crate) fn nested(way: &Way, entry: &Entry) -> Node {
    let mut node = entry.value.clone();
    for step in way.0.iter().rev() {
        let (line, column, span) = (node.line, node.column, node.span);
        let value = match step {
            Step::Key(key) => {
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
            Step::Named(_) => NodeValue::List(vec![node]),
            Step::Index(index) => {
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
pub(crate) fn graft(tree: &mut Node, way: &Way, value: &Node) -> Result<Way, String> {
    let mut value = value.clone();
    shift(&mut value);
    let mut at = tree;
    let mut done: Vec<Step> = Vec::new();
    for (i, step) in way.0.iter().enumerate() {
        let last = i + 1 == way.0.len();
        let here = Way(done.clone()).to_string();
        let place = if here.is_empty() { "the definition".to_owned() } else { here };
        match step {
            Step::Key(key) => {
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
                    let Some(known) = known else { return Err(format!("{place} has no field {key} to remove")) };
                    entries.remove(known);
                    done.push(step.clone());
                    return Ok(Way(done));
                }
                let index = known.unwrap_or_else(|| {
                    let nothing = Node { value: NodeValue::Null, line, column, span };
                    entries.push(Entry { key: key.clone(), line, column, span, value: nothing });
                    entries.len() - 1
                });
                done.push(step.clone());
                at = &mut entries[index].value;
            }
            Step::Index(_) | Step::Named(_) => {
                let found = at.describe().to_string();
                let NodeValue::List(items) = &mut at.value else {
                    return Err(format!("{place} is {found}, expected a list"));
                };
                let index = entry_of(items, step, &place)?;
                if last && value.is_null() {
                    items.remove(index);
                    done.push(Step::Index(index));
                    return Ok(Way(done));
                }
                done.push(Step::Index(index));
                at = &mut items[index];
            }
        }
    }
    *at = value;
    Ok(Way(done))
}

fn entry_of(items: &[Node], step: &Step, place: &str) -> Result<usize, String> {
    let wanted = match step {
        Step::Index(index) if *index < items.len() => return Ok(*index),
        Step::Index(index) => {
            let most = match items.len() {
                0 => "the list is empty".to_owned(),
                n => format!("the last entry is [{}]", n - 1),
            };
            return Err(format!("{place} has no entry [{index}]; {most}"));
        }
        Step::Named(name) | Step::Key(name) => name,
    };
    let name = |n: &Node| ["Name", "Attribute"].iter().find_map(|key| n.get(key)?.as_text().map(str::to_owned));
    let names: Vec<String> = items.iter().map(|n| name(n).unwrap_or_default()).collect();
    // A target in a namespace has qualified names; a patch may write short ones.
    let short = |n: &str| n.rsplit("::").next().unwrap_or(n).to_owned();
    let mut found = names.iter().enumerate().filter(|(_, n)| *n == wanted || short(n) == *wanted).map(|(i, _)| i);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(format!("{place} has several entries {wanted}; write the index, as in [0]")),
        _ => {
            let shorts: Vec<String> = names.iter().map(|n| short(n)).collect();
            let near = nearest(wanted, shorts.iter().map(String::as_str));
            let near = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            Err(format!("{place} has no entry {wanted}{near}"))
        }
    }
}

fn shift(node: &mut Node) {
    each_line(node, &mut |line| *line += GRAFTED);
}

/// Resets the lines of patched values to `line`.
pub(crate) fn settle(node: &mut Node, line: u32) {
    each_line(node, &mut |l| {
        if *l >= GRAFTED {
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
