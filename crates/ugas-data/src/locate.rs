//! Finds the exact line and column of an issue that the rules builder reports. The builder does not know the files: its
//! messages start with a path in the document (`Executions[0].Params.Scale: …`). This module resolves the path to a
//! span in the file.

use crate::diagnostic::{Diagnostic, Edit, Severity};
use crate::kind::{KindName, kind_of};
use crate::names::{Space, written_column};
use crate::parse::parse;
use crate::patch::{PatchPath, nested};
use crate::project::{Source, SourceDoc};
use crate::stat_rule;
use crate::symbol::{Mention, mentions};
use crate::{Node, Span};
use std::collections::BTreeSet;
use std::sync::Arc;
use ugas_core::LoadIssue;
use ugas_doc::{Kind, Patched};

/// Converts an issue of the rules builder to a finding with the exact line and column in the text. The issue may be
/// about a document or about an inline entity of a scenario. Returns `None` if no document or inline entity starts at
/// the line of the issue.
///
/// ```
/// use ugas_core::Rules;
/// let text = "Kind: gameplay_ability\nName: GA_Hit\nCost: GE_Lost\n";
/// let loaded = ugas_data::read_str("hit.yaml", text).unwrap().docs.remove(0);
/// let error = Rules::builder().add_at(loaded.doc, loaded.origin).build().err().unwrap();
/// let finding = ugas_data::place_issue(&error.issues[0], text).unwrap();
/// assert_eq!((&*finding.file, finding.line, finding.column), ("hit.yaml", 3, 7));
/// ```
pub fn place_issue(issue: &LoadIssue, text: &str) -> Option<Diagnostic> {
    let origin = issue.origin.as_ref()?;
    let (trees, _) = parse(&origin.file, text);
    let entities = |t: &'_ Node| t.get("Entities").map_or(Vec::new(), |e| e.items().to_vec());
    let (scenarios, documents): (Vec<Node>, Vec<Node>) = trees.into_iter().partition(|t| t.get("Scenario").is_some());
    let all: Vec<Node> = documents.into_iter().chain(scenarios.iter().flat_map(entities)).collect();
    let here = |t: &&Node| t.line == origin.line;
    // One line may have several documents.
    let named = |t: &&Node| here(t) && t.get("Name").and_then(Node::as_text) == Some(issue.document.as_str());
    let tree = all.iter().find(named).or_else(|| all.iter().find(here))?;
    let kind = match kind_of(&origin.file, tree) {
        Ok(KindName::Known(kind)) => Some(kind),
        _ => None,
    };
    let parts = IssueText::of(issue, None);
    let names = kind.map(|kind| mentions(kind, tree, text)).unwrap_or_default();
    let found = find(&parts.message, tree, &names, text);
    Some(parts.at(origin.file.clone(), found, |finding, span| finding.at(span, text)))
}

/// Returns the finding for an issue about a document of a file, whose pack may have a namespace.
pub(crate) fn diagnostic_of(
    issue: &LoadIssue,
    source: &Source,
    doc: &SourceDoc,
    names: &[Mention],
    space: Option<&Space>,
) -> Diagnostic {
    let parts = IssueText::of(issue, space);
    let found = find(&parts.message, &doc.tree, names, &source.text);
    let fix = (issue.code == "stat-by-rule").then(|| stat_rule::fix(&parts.message, &doc.tree, &source.text)).flatten();
    let finding = parts.at(source.name.clone(), found, |finding, span| source.mark(finding, span));
    match fix {
        Some((title, edits)) => finding.fix(title, edits),
        None => finding,
    }
}

/// Returns the finding for an issue about a value that a patch set; `None` for other issues.
pub(crate) fn at_patch(
    issue: &LoadIssue,
    target: (&Node, Kind),
    source: &Source,
    patch: &SourceDoc,
    field: (&str, u32),
) -> Option<Diagnostic> {
    let parts = IssueText::of(issue, None);
    let fields = patch.tree.get("Set").map_or(&[][..], Node::entries);
    let entry = fields.iter().find(|e| e.line == field.1 && same_field(&e.key, field.0))?;
    let tree = nested(&PatchPath::parse(field.0).ok()?, entry);
    let names = mentions(target.1, &tree, &source.text);
    let named = |m: &Mention| has_word(&parts.message, &m.name);
    let rest_of_message = split_place(&parts.message).0.map(|place| by_number(target.0, &place));
    let touches = |place: &str| Patched { field: field.0.to_owned(), file: "".into(), line: 0 }.touches(place);
    let about = match &rest_of_message {
        Some(place) => touches(place) || touches(&format!("{place}.Expression")),
        None => names.iter().any(named),
    };
    about.then(|| {
        let mut found = find(&parts.message, &tree, &names, &source.text);
        if !(entry.value.span.start <= found.span.start && found.span.end <= entry.value.span.end) {
            found = LocatedName { span: first_line(entry.value.span, &source.text), is_name: false, columns: None };
        }
        parts.at(source.name.clone(), found, |finding, span| source.mark(finding, span))
    })
}

/// Returns whether an entry of a patch set a field; the path of the field uses indices.
fn same_field(key: &str, field: &str) -> bool {
    let plain = |way: &str| {
        let cut = |part: &str| part.split('[').next().unwrap_or("").to_owned();
        way.split('.').map(cut).collect::<Vec<_>>()
    };
    plain(key) == plain(field)
}

/// Converts the path `Rage.Clamping.Max` of an attribute set to `Attributes[2].Clamping.Max`.
fn by_number(tree: &Node, place: &str) -> String {
    let (first, rest) = place.split_once('.').map_or((place, None), |(first, rest)| (first, Some(rest)));
    let list = tree.get("Attributes").map_or(&[][..], Node::items);
    let index = list.iter().position(|a| a.get("Name").and_then(Node::as_text) == Some(first));
    match index {
        Some(index) if tree.get(first).is_none() => match rest {
            Some(rest) => format!("Attributes[{index}].{rest}"),
            None => format!("Attributes[{index}]"),
        },
        _ => place.to_owned(),
    }
}

/// The parts of an issue of the rules builder.
struct IssueText<'i> {
    issue: &'i LoadIssue,
    severity: Severity,
    document: String,
    message: String,
    /// The suggested name.
    meant: Option<String>,
}

impl<'i> IssueText<'i> {
    fn of(issue: &'i LoadIssue, space: Option<&Space>) -> IssueText<'i> {
        let severity = match issue.severity {
            ugas_core::Severity::Error => Severity::Error,
            ugas_core::Severity::Warning => Severity::Warning,
        };
        // The own namespace is left out of messages.
        let shorten = |text: &str| space.map_or_else(|| text.to_owned(), |space| space.shorten(text));
        let whole = shorten(&issue.message);
        let (message, meant) = match whole.split_once("; did you mean ") {
            Some((message, rest)) => {
                let (meant, after) = rest.split_once('?').unwrap_or((rest, ""));
                (format!("{message}{after}"), Some(meant.to_owned()))
            }
            None => (whole, None),
        };
        IssueText { issue, severity, document: shorten(&issue.document), message, meant }
    }

    fn at(self, file: Arc<str>, found: LocatedName, mark: impl FnOnce(Diagnostic, Span) -> Diagnostic) -> Diagnostic {
        let issue = self.issue;
        let message = match found.columns {
            Some((from, to)) => self.message.replacen(&format!("column {from}: "), &format!("column {to}: "), 1),
            None => self.message,
        };
        let rest_of_message = match self.document.as_str() {
            "" => message,
            name => format!("{name}: {message}"),
        };
        let mut diagnostic = mark(Diagnostic::new(issue.code, self.severity, file, rest_of_message), found.span);
        if let Some(meant) = self.meant {
            diagnostic = diagnostic.help(format!("did you mean {meant}?"));
            if found.is_name {
                let edits = vec![Edit { span: found.span, text: meant.clone() }];
                diagnostic = diagnostic.fix(format!("write {meant}"), edits);
            }
        }
        if issue.code == "unknown-calculation" {
            diagnostic.help.get_or_insert(host_help("Calculations"));
        }
        if issue.code == "unknown-hook" {
            diagnostic.help.get_or_insert(host_help("Hooks"));
        }
        if issue.code == "unknown-capability" {
            diagnostic.help.get_or_insert(host_help("Capabilities"));
        }
        if issue.code == "unknown-task" {
            diagnostic.help.get_or_insert(host_help("Tasks"));
        }
        diagnostic
    }
}

fn host_help(list: &str) -> String {
    format!("if host code provides this name, list it in pack.yaml under `Host: {{{list}: [..]}}`")
}

struct LocatedName {
    span: Span,
    /// Whether the span is exactly the wrong name.
    is_name: bool,
    /// The column in the expression with qualified names, and the column as written.
    columns: Option<(usize, usize)>,
}

fn find(message: &str, tree: &Node, names: &[Mention], text: &str) -> LocatedName {
    let (place, rest_of_message) = split_place(message);
    let at = place.and_then(|place| descend(tree, &place));
    // `column 5: …` is relative to the expression.
    if let (Some(node), Some(column)) = (at.map(|n| n.get("Expression").unwrap_or(n)), column_of(rest_of_message))
        && let Some(expression) = node.as_text()
        && let Some(start) = node.span.of(text).and_then(|cut| cut.find(expression))
        && let written = written_column(column, node.span.start + start as u32, names)
        // An error at the end is shown at the last character.
        && let Some((offset, _)) = expression.char_indices().nth(written - 1).or(expression.char_indices().next_back())
    {
        let from = node.span.start as usize + start + offset;
        let word = expression[offset..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let to = from + word.unwrap_or(expression.len() - offset).max(1);
        let exact = names.iter().find(|m| m.span.start as usize >= from && m.span.end as usize <= to);
        let is_name = exact.is_some_and(|m| rest_of_message.contains(&m.name));
        return LocatedName {
            span: exact.filter(|_| is_name).map_or(Span::new(from, to), |m| m.span),
            is_name,
            columns: Some((column, written)),
        };
    }
    let within = at.map_or(tree.span, |node| node.span);
    let inside = |m: &&Mention| within.start <= m.span.start && m.span.end <= within.end;
    let written = |m: &Mention| m.span.of(text).is_some_and(|word| has_word(rest_of_message, word));
    let named = |m: &&Mention| !m.definition && (has_word(rest_of_message, &m.name) || written(m));
    if let Some(m) = names.iter().filter(inside).find(named) {
        return LocatedName { span: m.span, is_name: true, columns: None };
    }
    if let Some(value) = at.and_then(|node| value_of(rest_of_message, node)) {
        return LocatedName { span: value, is_name: true, columns: None };
    }
    let span = match at {
        Some(node) => node.span,
        None => key_in(message, tree)
            .or_else(|| value_in(message, tree))
            .or_else(|| {
                let words = MessageNames::of(message);
                names.iter().find(|m| m.definition && words.have(&m.name)).map(|m| m.span)
            })
            .unwrap_or_else(|| name_of(tree)),
    };
    LocatedName { span: first_line(span, text), is_name: false, columns: None }
}

/// Splits the path from a message: `A.B: …` or `A: B: …`.
fn split_place(message: &str) -> (Option<String>, &str) {
    let is_step = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
    let mut steps: Vec<&str> = Vec::new();
    let mut rest_of_message = message;
    while let Some((step, rest)) = rest_of_message.split_once(": ").filter(|(step, _)| step.chars().all(is_step)) {
        steps.push(step);
        rest_of_message = rest;
    }
    (Some(steps.join(".")).filter(|place| !place.is_empty()), rest_of_message)
}

fn column_of(rest_of_message: &str) -> Option<usize> {
    let digits = rest_of_message.strip_prefix("column ")?.split(':').next()?;
    digits.parse().ok().filter(|&n| n > 0)
}

/// Returns the value at the path `A[0].B`, or its deepest existing parent. `None` if not even the first step exists.
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

/// Returns the attribute of an attribute set by name.
fn by_name<'t>(node: &'t Node, name: &str) -> Option<&'t Node> {
    if node.get("Name").and_then(Node::as_text) == Some(name) {
        return Some(node);
    }
    let list = node.get("Attributes")?;
    list.items().iter().find(|a| a.get("Name").and_then(Node::as_text) == Some(name))
}

/// Returns the names in a message, so that not every known name must be searched.
struct MessageNames<'m> {
    message: &'m str,
    names: BTreeSet<&'m str>,
}

impl MessageNames<'_> {
    fn of(message: &str) -> MessageNames<'_> {
        let names = message.split(|c: char| !is_part(c)).map(|name| name.trim_matches('.')).collect();
        MessageNames { message, names }
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
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(is_part);
        let rest = &text[at + word.len()..];
        // A full stop at the end of a sentence is not part of a name.
        let after = rest.chars().next().is_some_and(|c| is_part(c) && c != '.')
            || rest.starts_with('.') && rest[1..].starts_with(is_part);
        !before && !after
    })
}

/// Returns the first key of the document that the message names.
fn key_in(message: &str, tree: &Node) -> Option<Span> {
    let words = message.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '[' || c == ']'));
    let mut ways = words.filter(|w| w.starts_with(|c: char| c.is_ascii_uppercase()));
    ways.find_map(|way| {
        let first = way.split(['.', '[']).next()?;
        tree.get(first)?;
        descend(tree, way).map(|node| node.span)
    })
}

/// Returns the first value of the document that the message names.
fn value_in(message: &str, tree: &Node) -> Option<Span> {
    let mut values = tree.entries().iter().filter(|e| !["Name", "Kind", "$schema"].contains(&e.key.as_str()));
    values.find(|e| e.value.as_text().is_some_and(|t| !t.is_empty() && has_word(message, t))).map(|e| e.value.span)
}

/// Returns a text that the message names: the value itself, or one directly in it.
fn value_of(rest_of_message: &str, node: &Node) -> Option<Span> {
    let named = |n: &&Node| n.as_text().is_some_and(|t| !t.is_empty() && has_word(rest_of_message, t));
    let plain = |n: &Node| n.as_text().is_some_and(|t| n.span.end - n.span.start == t.len() as u32);
    let mut all = std::iter::once(node).chain(node.entries().iter().map(|e| &e.value));
    all.find(named).filter(|n| plain(n)).map(|n| n.span)
}

fn name_of(tree: &Node) -> Span {
    let first = tree.entries().first().map(|e| e.span);
    tree.get("Name").map(|n| n.span).or(first).unwrap_or(tree.span)
}

/// Returns the span of the first line of a value.
fn first_line(span: Span, text: &str) -> Span {
    let cut = span.of(text).unwrap_or("");
    let line = cut.lines().next().unwrap_or("").trim_end();
    Span { start: span.start, end: span.start + line.len() as u32 }
}
