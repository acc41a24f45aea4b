//! From what the rules builder says to the exact words it is about. The builder knows documents, not files; it names
//! the place in words (`Executions[0].Params.Scale: …`), and here the words become bytes.

use crate::diagnostic::{Diagnostic, Edit, Severity};
use crate::project::{Source, SourceDoc};
use crate::symbol::Mention;
use crate::{Node, Span};
use std::collections::BTreeSet;
use ugas_core::LoadIssue;

/// The finding for an issue about a document of a file.
pub(crate) fn diagnostic_of(issue: &LoadIssue, source: &Source, doc: &SourceDoc, names: &[Mention]) -> Diagnostic {
    let severity = match issue.severity {
        ugas_core::Severity::Error => Severity::Error,
        ugas_core::Severity::Warning => Severity::Warning,
    };
    let (message, meant) = match issue.message.split_once("; did you mean ") {
        Some((message, rest)) => {
            let (meant, after) = rest.split_once('?').unwrap_or((rest, ""));
            (format!("{message}{after}"), Some(meant))
        }
        None => (issue.message.clone(), None),
    };
    let text = &source.text;
    let found = find(&message, &doc.tree, names, text);
    let said = match issue.document.as_str() {
        "" => message,
        name => format!("{name}: {message}"),
    };
    let mut diagnostic = source.say(issue.code, severity, said, found.span);
    if let Some(meant) = meant {
        diagnostic = diagnostic.help(format!("did you mean {meant}?"));
        if found.is_name {
            let edits = vec![Edit { span: found.span, text: meant.to_owned() }];
            diagnostic = diagnostic.fix(format!("write {meant}"), edits);
        }
    }
    if issue.code == "unknown-calculation" {
        diagnostic.help.get_or_insert(host_help("Calculations"));
    }
    if issue.code == "unknown-hook" {
        diagnostic.help.get_or_insert(host_help("Hooks"));
    }
    if issue.code == "unknown-task" {
        diagnostic.help.get_or_insert(host_help("Tasks"));
    }
    diagnostic
}

fn host_help(list: &str) -> String {
    format!("name what host code provides in pack.yaml under `Host: {{{list}: [..]}}`")
}

struct Found {
    span: Span,
    /// Whether it is exactly the name that is wrong.
    is_name: bool,
}

fn find(message: &str, tree: &Node, names: &[Mention], text: &str) -> Found {
    let (place, said) = split_place(message);
    let at = place.and_then(|place| descend(tree, &place));
    // `column 5: …` counts inside an expression.
    if let (Some(node), Some(column)) = (at.map(|n| n.get("Expression").unwrap_or(n)), column_of(said))
        && let Some(expression) = node.as_text()
        && let Some(start) = node.span.of(text).and_then(|cut| cut.find(expression))
        // What is missing at the end is shown at the last character.
        && let Some((offset, _)) = expression.char_indices().nth(column - 1).or(expression.char_indices().next_back())
    {
        let from = node.span.start as usize + start + offset;
        let word = expression[offset..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let to = from + word.unwrap_or(expression.len() - offset).max(1);
        let exact = names.iter().find(|m| m.span.start as usize >= from && m.span.end as usize <= to);
        let is_name = exact.is_some_and(|m| said.contains(&m.name));
        return Found { span: exact.filter(|_| is_name).map_or(Span::new(from, to), |m| m.span), is_name };
    }
    let within = at.map_or(tree.span, |node| node.span);
    let inside = |m: &&Mention| within.start <= m.span.start && m.span.end <= within.end;
    let words = Words::of(said);
    let named = |m: &&Mention| !m.definition && words.have(&m.name);
    if let Some(m) = names.iter().filter(inside).find(named) {
        return Found { span: m.span, is_name: true };
    }
    if let Some(value) = at.and_then(|node| value_of(said, node)) {
        return Found { span: value, is_name: true };
    }
    let span = match at {
        Some(node) => node.span,
        None => key_in(message, tree)
            .or_else(|| value_in(message, tree))
            .or_else(|| {
                let words = Words::of(message);
                names.iter().find(|m| m.definition && words.have(&m.name)).map(|m| m.span)
            })
            .unwrap_or_else(|| name_of(tree)),
    };
    Found { span: first_line(span, text), is_name: false }
}

/// The way through a document that stands before what is said: `A.B: …` or `A: B: …`.
fn split_place(message: &str) -> (Option<String>, &str) {
    let is_step = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
    let mut steps: Vec<&str> = Vec::new();
    let mut said = message;
    while let Some((step, rest)) = said.split_once(": ").filter(|(step, _)| step.chars().all(is_step)) {
        steps.push(step);
        said = rest;
    }
    (Some(steps.join(".")).filter(|place| !place.is_empty()), said)
}

fn column_of(said: &str) -> Option<usize> {
    let digits = said.strip_prefix("column ")?.split(':').next()?;
    digits.parse().ok().filter(|&n| n > 0)
}

/// The value at `A[0].B`; the deepest one on the way if the last is not there. `None` if not even the first is.
pub(crate) fn descend<'t>(tree: &'t Node, place: &str) -> Option<&'t Node> {
    let mut at = None;
    let mut node = tree;
    for step in place.split('.') {
        let (key, indexes) = step.split_once('[').unwrap_or((step, ""));
        let next = node.get(key).or_else(|| by_name(node, key));
        let Some(mut next) = next else { break };
        for index in indexes.split('[').filter_map(|i| i.trim_end_matches(']').parse().ok()) {
            match next.at(index) {
                Some(entry) => next = entry,
                None => break,
            }
        }
        node = next;
        at = Some(next);
    }
    at
}

/// The attribute of a set that has this name.
fn by_name<'t>(node: &'t Node, name: &str) -> Option<&'t Node> {
    if node.get("Name").and_then(Node::as_text) == Some(name) {
        return Some(node);
    }
    let list = node.get("Attributes")?;
    list.items().iter().find(|a| a.get("Name").and_then(Node::as_text) == Some(name))
}

/// The names in a message, so that each of many names need not be looked for.
struct Words<'m> {
    message: &'m str,
    names: BTreeSet<&'m str>,
}

impl Words<'_> {
    fn of(message: &str) -> Words<'_> {
        let names = message.split(|c: char| !is_part(c)).map(|name| name.trim_matches('.')).collect();
        Words { message, names }
    }

    fn have(&self, name: &str) -> bool {
        let plain = name.chars().all(is_part) && !name.starts_with('.') && !name.ends_with('.');
        if plain { self.names.contains(name) } else { has_word(self.message, name) }
    }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

fn has_word(text: &str, word: &str) -> bool {
    let part = is_part;
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(part);
        let rest = &text[at + word.len()..];
        // A full stop at the end of a sentence is no part of a name.
        let after = rest.chars().next().is_some_and(|c| part(c) && c != '.')
            || rest.starts_with('.') && rest[1..].starts_with(part);
        !before && !after
    })
}

/// The first key of the document that the message names, with the ways below it.
fn key_in(message: &str, tree: &Node) -> Option<Span> {
    let words = message.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '[' || c == ']'));
    let mut ways = words.filter(|w| w.starts_with(|c: char| c.is_ascii_uppercase()));
    ways.find_map(|way| {
        let first = way.split(['.', '[']).next()?;
        tree.get(first)?;
        descend(tree, way).map(|node| node.span)
    })
}

/// The first value of the document that the message names.
fn value_in(message: &str, tree: &Node) -> Option<Span> {
    let mut values = tree.entries().iter().filter(|e| !["Name", "Kind", "$schema"].contains(&e.key.as_str()));
    values.find(|e| e.value.as_text().is_some_and(|t| !t.is_empty() && has_word(message, t))).map(|e| e.value.span)
}

/// A text that the message names: the value itself, or one directly in it.
fn value_of(said: &str, node: &Node) -> Option<Span> {
    let named = |n: &&Node| n.as_text().is_some_and(|t| !t.is_empty() && has_word(said, t));
    let plain = |n: &Node| n.as_text().is_some_and(|t| n.span.end - n.span.start == t.len() as u32);
    let mut all = std::iter::once(node).chain(node.entries().iter().map(|e| &e.value));
    all.find(named).filter(|n| plain(n)).map(|n| n.span)
}

fn name_of(tree: &Node) -> Span {
    let first = tree.entries().first().map(|e| e.span);
    tree.get("Name").map(|n| n.span).or(first).unwrap_or(tree.span)
}

/// A long value is shown by its first line.
fn first_line(span: Span, text: &str) -> Span {
    let cut = span.of(text).unwrap_or("");
    let line = cut.lines().next().unwrap_or("").trim_end();
    Span { start: span.start, end: span.start + line.len() as u32 }
}
