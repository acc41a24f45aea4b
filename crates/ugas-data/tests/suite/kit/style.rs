//! Trees written as text in random styles, as people with other habits would write them.

use ugas_data::{Node, NodeValue};

/// A small generator, so that a seed gives the same text everywhere.
pub(crate) struct Draw(u64, AfterText);

/// Whether a block text ended just now: a deeper indented line would be part of it.
type AfterText = bool;

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1, false)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn spaces(&mut self, from: usize, to: usize) -> String {
        " ".repeat(from + self.below(to - from + 1))
    }

    /// The numbers below `n` in some order.
    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        if self.chance(50) {
            (1..n).rev().for_each(|i| order.swap(i, self.below(i + 1)));
        }
        order
    }
}

/// Documents as YAML.
pub(crate) fn yaml(documents: &[Node], draw: &mut Draw) -> String {
    let mut out = String::new();
    if draw.chance(20) {
        out.push_str("# A file.\n\n");
    }
    for (i, document) in documents.iter().enumerate() {
        if i > 0 || draw.chance(10) {
            let ends = i > 0 && draw.chance(10);
            out.push_str(if ends { "...\n---\n" } else { "---\n" });
        }
        block(document, 0, draw, &mut out);
        if draw.chance(20) {
            out.push_str("\n\n\n");
        }
    }
    if draw.chance(10) {
        out = out.replace('\n', "\r\n");
    }
    if draw.chance(5) {
        out.insert(0, '\u{feff}');
    }
    out
}

/// A list or map in block style, after a key or dash on the line before, or at the start.
fn block(node: &Node, indent: usize, draw: &mut Draw, out: &mut String) {
    match &node.value {
        NodeValue::Map(entries) if !entries.is_empty() => {
            for i in draw.order(entries.len()) {
                let entry = &entries[i];
                part(indent, draw, out);
                out.push_str(&" ".repeat(indent));
                out.push_str(&scalar_text(&entry.key, true, draw));
                out.push_str(if draw.chance(5) { " :" } else { ":" });
                value(&entry.value, indent, draw, out);
            }
        }
        NodeValue::List(items) if !items.is_empty() => {
            for item in items {
                part(indent, draw, out);
                out.push_str(&" ".repeat(indent));
                out.push('-');
                let gap = draw.spaces(1, 3);
                match &item.value {
                    NodeValue::Map(entries) if !entries.is_empty() && !draw.chance(30) => {
                        let mut inner = String::new();
                        block(item, indent + 1 + gap.len(), draw, &mut inner);
                        // The first line follows the dash, unless a comment or an empty line is there.
                        match inner.trim_start_matches(' ').starts_with(['#', '\n']) {
                            true => out.push_str(&format!("\n{inner}")),
                            false => out.push_str(&format!("{gap}{}", inner.trim_start_matches(' '))),
                        }
                    }
                    _ => value(item, indent, draw, out),
                }
            }
        }
        _ => {
            out.push_str(&" ".repeat(indent));
            out.push_str(&flow(node, draw));
            line_end(draw, out);
        }
    }
}

/// Text that may appear between entries.
fn part(indent: usize, draw: &mut Draw, out: &mut String) {
    let after_text = std::mem::take(&mut draw.1);
    match draw.below(40) {
        0 => out.push('\n'),
        1 => out.push_str("\n\n\n"),
        2 => out.push_str(&format!("{}# why: {{x}}, [y] - \"z\"\n", " ".repeat(indent))),
        3 => out.push_str("# at the margin\n"),
        4 if !after_text => out.push_str(&format!("{}# far in\n", " ".repeat(indent + 5))),
        _ => {}
    }
}

/// A value behind a colon or a dash.
fn value(node: &Node, indent: usize, draw: &mut Draw, out: &mut String) {
    let nested = match &node.value {
        NodeValue::Map(entries) => !entries.is_empty(),
        NodeValue::List(items) => !items.is_empty(),
        _ => false,
    };
    if nested && draw.chance(60) {
        line_end(draw, out);
        // A list may be in the column of its key; at the top level that is the margin.
        let list = matches!(node.value, NodeValue::List(_));
        let deeper = if list && draw.chance(30) && !out.trim_end().ends_with('-') { 0 } else { 1 + draw.below(4) };
        return block(node, indent + deeper, draw, out);
    }
    out.push_str(&draw.spaces(1, 3));
    if let NodeValue::Text(text) = &node.value
        && draw.chance(10)
        && literal(text)
    {
        draw.1 = true;
        let column = " ".repeat(indent + 1 + draw.below(4));
        let sign = if draw.chance(50) { "|-" } else { ">-" };
        return out.push_str(&format!("{sign}\n{column}{text}\n"));
    }
    out.push_str(&flow(node, draw));
    line_end(draw, out);
}

/// Whether a text may be written as a block of one line.
fn literal(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(' ') && !text.ends_with(' ') && text.chars().all(|c| !c.is_control())
}

fn line_end(draw: &mut Draw, out: &mut String) {
    match draw.below(30) {
        0 => out.push_str("   # note"),
        1 => out.push_str("  "),
        2 => out.push_str(" # {a: 1}"),
        _ => {}
    }
    out.push('\n');
}

/// A value in one line, or in several inside of brackets.
fn flow(node: &Node, draw: &mut Draw) -> String {
    let (open, close, parts) = match &node.value {
        NodeValue::Map(entries) => {
            let order = draw.order(entries.len());
            let mut part = |i: usize| {
                let key = scalar_text(&entries[i].key, false, draw);
                format!("{key}:{}{}", draw.spaces(1, 2), flow(&entries[i].value, draw))
            };
            ('{', '}', order.into_iter().map(&mut part).collect::<Vec<_>>())
        }
        NodeValue::List(items) => ('[', ']', items.iter().map(|item| flow(item, draw)).collect()),
        NodeValue::Text(text) => return scalar_text(text, false, draw),
        NodeValue::Number(n) => return number(*n),
        NodeValue::Bool(b) => return b.to_string(),
        NodeValue::Null => return "null".to_owned(),
    };
    let inner = draw.spaces(0, 1);
    let comma = [", ", ",", " , ", ",   "][draw.below(4)];
    format!("{open}{inner}{}{inner}{close}", parts.join(comma))
}

fn number(n: f64) -> String {
    if n == n.trunc() && n.abs() < 1e15 { format!("{n:.0}") } else { format!("{n:?}") }
}

/// A text with or without quotes, where it may go without.
fn scalar_text(text: &str, key: bool, draw: &mut Draw) -> String {
    let plain = !text.is_empty()
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_. /()*+".contains(c))
        && !text.ends_with(' ')
        && !["true", "false", "null", "yes", "no", "True", "False", "Null"].contains(&text);
    match draw.below(10) {
        0 => double_quoted(text),
        1 if !key || text.len() < 60 => match text.chars().all(|c| !c.is_control()) {
            true => format!("'{}'", text.replace('\'', "''")),
            false => double_quoted(text),
        },
        _ if plain => text.to_owned(),
        _ => double_quoted(text),
    }
}

fn double_quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// A document as JSON, in one line or in many.
pub(crate) fn json(node: &Node, draw: &mut Draw) -> String {
    let wide = draw.chance(50);
    let mut out = String::new();
    json_value(node, wide.then_some(0), draw, &mut out);
    out.push('\n');
    out
}

fn json_value(node: &Node, indent: Option<usize>, draw: &mut Draw, out: &mut String) {
    let inner = indent.map(|n| n + 2);
    let break_line = |out: &mut String, at: Option<usize>| {
        if let Some(n) = at {
            out.push('\n');
            out.push_str(&" ".repeat(n));
        }
    };
    match &node.value {
        NodeValue::Map(entries) => {
            out.push('{');
            for (turn, i) in draw.order(entries.len()).into_iter().enumerate() {
                out.push_str(if turn > 0 { "," } else { "" });
                break_line(out, inner);
                out.push_str(&double_quoted(&entries[i].key));
                out.push_str(if draw.chance(20) { ":" } else { ": " });
                json_value(&entries[i].value, inner, draw, out);
            }
            break_line(out, indent);
            out.push('}');
        }
        NodeValue::List(items) => {
            out.push('[');
            for (turn, item) in items.iter().enumerate() {
                out.push_str(if turn > 0 { "," } else { "" });
                break_line(out, inner);
                json_value(item, inner, draw, out);
            }
            break_line(out, indent);
            out.push(']');
        }
        NodeValue::Text(text) => out.push_str(&double_quoted(text)),
        NodeValue::Number(n) => out.push_str(&number(*n)),
        NodeValue::Bool(b) => out.push_str(&b.to_string()),
        NodeValue::Null => out.push_str("null"),
    }
}
