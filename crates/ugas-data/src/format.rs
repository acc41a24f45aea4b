//! The formatter. It changes only white space: each level is indented by two columns, lists are indented below their
//! key, and one space follows a dash, a colon and a comma. Comments, key order and the notation of values are kept. The
//! result is parsed and compared with the original before it is returned.

use crate::parse::parse;
use crate::{Entry, Node, NodeValue, ReadErrors, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Columns a level is indented by.
const STEP: usize = 2;

/// Formats a text. Returns an error if the text is not valid YAML. A text that cannot be formatted without changing its
/// meaning is returned unchanged.
///
/// ```
/// let text = "Kind:   curve\nName: C   # why\nPoints:\n- {X: 1,Y: 2}\n\n\n";
/// let tidy = ugas_data::format("c.yaml", text).unwrap();
/// assert_eq!(tidy, "Kind: curve\nName: C   # why\nPoints:\n  - {X: 1, Y: 2}\n");
/// assert_eq!(ugas_data::format("c.yaml", &tidy).unwrap(), tidy);
/// ```
pub fn format(file: &str, text: &str) -> Result<String, ReadErrors> {
    let plain = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let name: Arc<str> = file.into();
    // A lone carriage return would join a following line feed, and a byte order mark after white space would move to the
    // start, so such texts are not formatted.
    if plain.contains(['\r', '\u{feff}']) {
        let (_, errors) = parse(&name, text);
        return ReadErrors::unless(errors, text.to_owned());
    }
    let (trees, errors) = parse(&name, &plain);
    let trees = ReadErrors::unless(errors, trees)?;
    let shaped = LineLayout::new(&plain, &trees).apply();
    let (again, errors) = parse(&name, &shaped);
    let same = errors.is_empty()
        && again.len() == trees.len()
        && again.iter().zip(&trees).all(|(a, b)| means_the_same(a, b))
        && without_space(&shaped) == without_space(&plain);
    Ok(if same { shaped } else { text.to_owned() })
}

/// Returns whether two trees have the same values, ignoring places.
fn means_the_same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (NodeValue::List(a), NodeValue::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| means_the_same(a, b))
        }
        (NodeValue::Map(a), NodeValue::Map(b)) => {
            let same = |(a, b): (&Entry, &Entry)| a.key == b.key && means_the_same(&a.value, &b.value);
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (NodeValue::Number(a), NodeValue::Number(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The indentation of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// Not determined by a value: a blank line, a comment or a separator.
    Free,
    /// The line starts at this column.
    At(usize),
    /// The line continues a value and keeps its indentation relative to another line.
    With(usize),
    /// Like `With`, for a line inside a text whose white space is significant.
    Verbatim(usize),
}

struct LineLayout<'t> {
    text: &'t str,
    /// The start of each line.
    starts: Vec<usize>,
    lines: Vec<Line>,
    /// White space inside lines that is replaced.
    gaps: Vec<(Span, &'static str)>,
}

impl<'t> LineLayout<'t> {
    fn new(text: &'t str, trees: &[Node]) -> LineLayout<'t> {
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut shape = LineLayout { text, lines: vec![Line::Free; starts.len()], starts, gaps: Vec::new() };
        trees.iter().for_each(|tree| shape.node(tree, 0));
        shape
    }

    fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|&s| s <= byte) - 1
    }

    /// Returns whether only spaces precede it in its line.
    fn begins_line(&self, byte: usize) -> bool {
        self.text[self.starts[self.line_of(byte)]..byte].bytes().all(|b| b == b' ')
    }

    /// Returns whether it is written in brackets. A block list may also start with the bracket of its first entry.
    fn is_flow(&self, node: &Node) -> bool {
        let first = match &node.value {
            NodeValue::Map(entries) => entries.first().map(|e| e.span.start),
            NodeValue::List(items) => items.first().map(|n| n.span.start),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => None,
        };
        first != Some(node.span.start) && self.text[node.span.start as usize..].starts_with(['{', '['])
    }

    fn node(&mut self, node: &Node, indent: usize) {
        match &node.value {
            NodeValue::Map(entries) if !self.is_flow(node) => {
                for entry in entries {
                    self.entry(entry, indent);
                }
            }
            NodeValue::List(items) if !self.is_flow(node) => {
                for item in items {
                    self.item(item, indent);
                }
            }
            NodeValue::Map(_) | NodeValue::List(_) => self.flow(node),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => {}
        }
    }

    fn entry(&mut self, entry: &Entry, indent: usize) {
        let key = entry.span.start as usize;
        if self.begins_line(key) {
            let line = self.line_of(key);
            self.lines[line] = Line::At(indent);
        }
        self.gap(entry.span.end as usize, entry.value.span.start as usize, ":", ": ");
        self.value(&entry.value, entry.span.end as usize, indent + STEP);
    }

    fn item(&mut self, item: &Node, indent: usize) {
        let start = item.span.start as usize;
        if let Some(dash) = self.dash_before(item) {
            if self.begins_line(dash) {
                let line = self.line_of(dash);
                self.lines[line] = Line::At(indent);
            }
            if self.line_of(dash) == self.line_of(start) {
                self.gap(dash, start, "-", "- ");
            }
            self.value(item, dash + 1, indent + STEP);
        } else {
            self.value(item, start, indent + STEP);
        }
    }

    /// Finds the dash of an item; comments and the sign of a literal text may be between them.
    fn dash_before(&self, item: &Node) -> Option<usize> {
        let mut before = &self.text[..item.span.start as usize];
        loop {
            before = before.trim_end();
            let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
            if line.trim_start().starts_with('#') {
                before = &before[..before.len() - line.len()];
                continue;
            }
            if item.as_text().is_some() {
                let sign = before.trim_end_matches(|c: char| "+-".contains(c) || c.is_ascii_digit());
                before = sign.strip_suffix(['|', '>']).map_or(before, str::trim_end);
            }
            // A comment may follow the dash.
            let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
            let head = line.split(" #").next().unwrap_or("").trim_end();
            return head.ends_with('-').then(|| before.len() - line.len() + head.len() - 1);
        }
    }

    /// Formats a value below a key or a dash that ends at `from`.
    fn value(&mut self, node: &Node, from: usize, indent: usize) {
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        let (first, owner) = (self.line_of(start), self.line_of(from.max(1) - 1));
        let head = self.text.get(from..start).unwrap_or("").trim_start_matches([':', '-', ' ']);
        // The span of a literal text starts after its sign and may include the indentation of the next line.
        if node.as_text().is_some() && head.starts_with(['|', '>']) {
            let last = self.line_of(start + self.text[start..end].trim_end_matches(' ').len().max(1) - 1);
            for line in owner + 1..=last {
                self.lines[line] = Line::Verbatim(owner);
            }
            return;
        }
        let block = matches!(node.value, NodeValue::Map(_) | NodeValue::List(_)) && !self.is_flow(node);
        if !block && start < end {
            if first != owner && self.begins_line(start) {
                self.lines[first] = Line::At(indent);
            }
            let last = self.line_of(end.saturating_sub(1).max(start));
            for line in first + 1..=last {
                self.lines[line] = Line::With(first);
            }
        }
        self.node(node, indent);
    }

    /// Formats one-line lists and maps in brackets: one space after commas and colons, none inside the brackets.
    fn flow(&mut self, node: &Node) {
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        if self.line_of(start) != self.line_of(end.saturating_sub(1)) {
            return;
        }
        let mut at = start + 1;
        let mut before = "";
        match &node.value {
            NodeValue::Map(entries) => {
                for e in entries {
                    self.gap(at, e.span.start as usize, before, if before.is_empty() { "" } else { ", " });
                    self.gap(e.span.end as usize, e.value.span.start as usize, ":", ": ");
                    self.node(&e.value, 0);
                    at = e.value.span.end.max(e.span.end) as usize;
                    before = ",";
                }
            }
            NodeValue::List(items) => {
                for n in items {
                    self.gap(at, n.span.start as usize, before, if before.is_empty() { "" } else { ", " });
                    self.node(n, 0);
                    at = n.span.end as usize;
                    before = ",";
                }
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => {}
        }
        self.gap(at, end.saturating_sub(1), "", "");
    }

    /// Replaces the text between two places of one line with `to`, if it is only `sign` and spaces.
    fn gap(&mut self, from: usize, until: usize, sign: &str, to: &'static str) {
        let Some(between) = self.text.get(from..until) else { return };
        if between.trim_matches(' ') == sign && between != to && !between.contains('\n') {
            self.gaps.push((Span::new(from, until), to));
        }
    }

    /// Returns the formatted text.
    fn apply(mut self) -> String {
        self.gaps.sort();
        let indents = self.indents();
        let mut out = String::with_capacity(self.text.len() + 64);
        let mut blank = true;
        for (i, &start) in self.starts.iter().enumerate() {
            let end = self.starts.get(i + 1).map_or(self.text.len(), |next| next - 1);
            let verbatim = matches!(self.lines[i], Line::Verbatim(_));
            let line = self.content(start, end);
            let line = if verbatim { line } else { line.trim_end().to_owned() };
            let bare = line.trim_start_matches(' ');
            if bare.is_empty() {
                // Several empty lines become one, except inside a text.
                if verbatim {
                    out.push_str(&line);
                } else if blank || self.is_last(i) {
                    continue;
                }
                blank = !verbatim;
            } else {
                blank = false;
                out.extend(std::iter::repeat_n(' ', indents[i]));
                out.push_str(bare);
            }
            out.push('\n');
        }
        let kept = out.trim_end_matches('\n').len();
        let literal_end = self.lines.iter().rposition(|l| matches!(l, Line::Verbatim(_)));
        // A literal text may keep its last line breaks.
        if literal_end.is_none_or(|at| at + 2 < self.starts.len()) {
            out.truncate(kept);
            if !out.is_empty() {
                out.push('\n');
            }
        }
        out
    }

    /// Returns whether only empty lines follow.
    fn is_last(&self, line: usize) -> bool {
        self.text[self.starts[line]..].trim().is_empty()
    }

    /// Returns a line with its gaps replaced.
    fn content(&self, start: usize, end: usize) -> String {
        let mut out = String::new();
        let mut at = start;
        let first = self.gaps.partition_point(|(span, _)| (span.start as usize) < start);
        for (span, to) in &self.gaps[first..] {
            if span.start as usize >= end {
                break;
            }
            // Words such as `:Y` may produce overlapping gaps; the final comparison catches errors.
            if (span.start as usize) < at {
                continue;
            }
            out.push_str(&self.text[at..span.start as usize]);
            out.push_str(to);
            at = span.end as usize;
        }
        out.push_str(&self.text[at.min(end)..end]);
        out
    }

    /// Returns the new indentation of each line.
    fn indents(&self) -> Vec<usize> {
        let old: Vec<usize> = (0..self.starts.len()).map(|i| self.indent_of(i)).collect();
        let mut new = old.clone();
        for (i, line) in self.lines.iter().enumerate() {
            match *line {
                Line::At(column) => new[i] = column,
                Line::With(other) | Line::Verbatim(other) => {
                    let moved = new[other] as isize - old[other] as isize;
                    new[i] = old[i].saturating_add_signed(moved);
                }
                Line::Free => {}
            }
        }
        // A comment moves with the next line of its column, else with the previous one, else with the next.
        let mut next = vec![None; self.lines.len() + 1];
        for i in (0..self.lines.len()).rev() {
            next[i] = if matches!(self.lines[i], Line::At(_)) { Some(i) } else { next[i + 1] };
        }
        let mut last = BTreeMap::new();
        for i in 0..self.lines.len() {
            if matches!(self.lines[i], Line::At(_)) {
                last.insert(old[i], i);
            } else if self.lines[i] == Line::Free && self.is_comment(i) {
                let next = next[i];
                let with = next.filter(|j| old[*j] == old[i]).or_else(|| last.get(&old[i]).copied()).or(next);
                new[i] = with.map_or(old[i], |j| new[j]);
            }
        }
        new
    }

    fn indent_of(&self, line: usize) -> usize {
        let start = self.starts[line];
        self.text[start..].bytes().take_while(|b| *b == b' ').count()
    }

    fn is_comment(&self, line: usize) -> bool {
        self.text[self.starts[line]..].trim_start_matches(' ').starts_with('#')
    }
}
