//! Parses text into trees, one for each document. The parser's events are processed with an explicit stack instead of
//! recursion. The size of every value is checked against the limits before the value is stored.

use crate::limits::{MAX_BYTES, MAX_DEPTH, MAX_ERRORS, MAX_NODES, MAX_NODES_OF_SMALL, MAX_TEXT, MAX_TEXT_OF_SMALL};
use crate::tree::quoted;
use crate::{Code, Entry, Node, NodeValue, ReadError, ReadErrors, Span, scalar};
use serde_saphyr::granit_parser::{
    self, ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, StructureStyle, Tag,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Parses all documents of a text into trees. Documents without content (a trailing `---`) are skipped.
///
/// ```
/// let trees = ugas_data::read_trees("two.yaml", "A: 1\n---\nB: {C: 2}\n").unwrap();
/// assert_eq!(trees.len(), 2);
/// assert_eq!((trees[1].line, trees[1].column), (3, 1));
/// ```
pub fn read_trees(file: &str, text: &str) -> Result<Vec<Node>, ReadErrors> {
    let (trees, errors) = parse(&Arc::from(file), text);
    ReadErrors::unless(errors, trees)
}

/// Returns the trees that could be parsed and the errors.
pub(crate) fn parse(file: &Arc<str>, text: &str) -> (Vec<Node>, Vec<ReadError>) {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_BYTES}, so split the file", text.len());
        return (Vec::new(), vec![ReadError::of_file(file, Code::Limit, message)]);
    }
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder::new(file.clone(), text.len());
    while builder.errors.len() < MAX_ERRORS && !builder.exhausted {
        let step = match parser.next_event() {
            None => break,
            Some(Ok((event, span))) => builder.take(event, span),
            Some(Err(error)) => Err(builder.syntax(&error, text)),
        };
        if let Err(error) = step {
            builder.errors.push(error);
            builder.abandon();
            // Skip the rest of this document and continue with the next.
            if parser.proceed_next_document().is_err() {
                break;
            }
        }
    }
    if builder.errors.len() >= MAX_ERRORS {
        let message = format!("reading stopped after {MAX_ERRORS} errors; correct these errors first");
        let (line, column) = builder.errors.last().map_or((0, 0), |e| (e.line, e.column));
        builder.errors.push(builder.error(Code::Limit, line, column, message));
    }
    (builder.trees, builder.errors)
}

/// An open list or map.
struct Open {
    what: OpenValue,
    anchor: usize,
    line: u32,
    column: u32,
    start: u32,
    /// Whether it is `[]` or `{}`, which end with their bracket. Block values end with their content.
    flow: bool,
}

enum OpenValue {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashMap<String, u32>, key: Option<Key> },
}

struct Key {
    text: String,
    line: u32,
    column: u32,
    span: Span,
    /// Whether the key is a duplicate. Its value is dropped, so that it is reported once.
    is_duplicate: bool,
}

struct Builder {
    file: Arc<str>,
    trees: Vec<Node>,
    errors: Vec<ReadError>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes_left: usize,
    text_left: usize,
    exhausted: bool,
}

impl Builder {
    fn new(file: Arc<str>, bytes: usize) -> Builder {
        Builder {
            file,
            trees: Vec::new(),
            errors: Vec::new(),
            open: Vec::new(),
            anchors: HashMap::new(),
            nodes_left: MAX_NODES.min(MAX_NODES_OF_SMALL + 4 * bytes),
            text_left: MAX_TEXT.min(MAX_TEXT_OF_SMALL + 4 * bytes),
            exhausted: false,
        }
    }

    /// Handles one event. An error abandons the document.
    fn take(&mut self, event: Event<'_>, at: granit_parser::Span) -> Result<(), ReadError> {
        let (line, column) = place(&at.start);
        let span = at.byte_range().map_or(Span::default(), |r| Span::new(r.start, r.end));
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                // An empty scalar has no width; a document with only one is no document.
                let empty = style == ScalarStyle::Plain && at.start.index() == at.end.index();
                if empty && self.open.is_empty() {
                    return Ok(());
                }
                self.charge(1, text.len(), line, column)?;
                if empty && self.wants_key() {
                    return Err(self.no_key(line, column));
                }
                if self.wants_key() && style == ScalarStyle::Plain && text == "<<" {
                    return Err(self.merge_key(line, column));
                }
                let value = self.scalar(&text, style, tag.as_deref(), line, column)?;
                if self.wants_key() {
                    if anchor != 0 {
                        self.anchors.insert(anchor, Node { value, line, column, span });
                    }
                    return self.key(&text, line, column, span);
                }
                self.add(Node { value, line, column, span }, anchor)
            }
            Event::SequenceStart(style, anchor, tag) => {
                let flow = style == StructureStyle::Flow;
                let what = OpenValue::List(Vec::new());
                self.start(Open { what, anchor, line, column, start: span.start, flow }, "seq", tag.as_deref())
            }
            Event::MappingStart(style, anchor, tag) => {
                let flow = style == StructureStyle::Flow;
                let what = OpenValue::Map { entries: Vec::new(), seen: HashMap::new(), key: None };
                self.start(Open { what, anchor, line, column, start: span.start, flow }, "map", tag.as_deref())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { what, anchor, line, column, start, flow }) => {
                    let (value, inner) = match what {
                        OpenValue::List(items) => {
                            let end = items.iter().map(|n| n.span.end).max();
                            (NodeValue::List(items), end)
                        }
                        OpenValue::Map { entries, .. } => {
                            let end = entries.iter().map(|e| e.value.span.end.max(e.span.end)).max();
                            (NodeValue::Map(entries), end)
                        }
                    };
                    let end = if flow { span.end } else { inner.unwrap_or(start).max(start) };
                    self.add(Node { value, line, column, span: Span { start, end } }, anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => self.alias(anchor, line, column),
            Event::DocumentStart(..) | Event::DocumentEnd => {
                self.abandon();
                Ok(())
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::Anchor(..)
            | Event::UnresolvedAlias(_)
            | Event::Comment(..)
            | _ => Ok(()),
        }
    }

    /// Drops the open values and the anchors of the document.
    fn abandon(&mut self) {
        self.open.clear();
        self.anchors.clear();
    }

    fn start(&mut self, open: Open, core: &str, tag: Option<&Tag>) -> Result<(), ReadError> {
        let (line, column) = (open.line, open.column);
        if self.wants_key() {
            let message = "expected a key, found a list or a map";
            return Err(self.error(Code::Syntax, line, column, message));
        }
        if let Some(tag) = tag.filter(|t| t.core_suffix() != Some(core)) {
            return Err(self.unknown_tag(tag, line, column));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.too_deep(line, column));
        }
        self.charge(1, 0, line, column)?;
        self.open.push(open);
        Ok(())
    }

    /// Adds a finished node to its parent.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), ReadError> {
        if anchor != 0 {
            let size = Size::of(&node);
            self.charge(size.nodes, size.text, node.line, node.column)?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.trees.push(node),
            Some(Open { what: OpenValue::List(items), .. }) => items.push(node),
            Some(Open { what: OpenValue::Map { entries, key, .. }, .. }) => {
                if let Some(Key { text, line, column, span, is_duplicate: false }) = key.take() {
                    entries.push(Entry { key: text, line, column, span, value: node });
                }
            }
        }
        Ok(())
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { what: OpenValue::Map { key: None, .. }, .. }))
    }

    /// Starts an entry. A duplicate key is reported, and reading continues.
    fn key(&mut self, text: &str, line: u32, column: u32, span: Span) -> Result<(), ReadError> {
        let Some(Open { what: OpenValue::Map { seen, key, .. }, .. }) = self.open.last_mut() else {
            return Ok(());
        };
        let first = seen.get(text).copied();
        *key = Some(Key { text: text.to_owned(), line, column, span, is_duplicate: first.is_some() });
        if let Some(first) = first {
            let message = format!("duplicate key {}, first used in line {first}", quoted(text));
            let mut error = self.error(Code::DuplicateKey, line, column, message);
            error.help = Some("remove or rename one of them".to_owned());
            self.errors.push(error);
        } else {
            seen.insert(text.to_owned(), line);
        }
        Ok(())
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        line: u32,
        column: u32,
    ) -> Result<NodeValue, ReadError> {
        let plain = scalar::resolve(text);
        let Some(tag) = tag else {
            return Ok(if style == ScalarStyle::Plain { plain } else { NodeValue::Text(text.to_owned()) });
        };
        match (tag.core_suffix(), &plain) {
            (Some("str"), _) => Ok(NodeValue::Text(text.to_owned())),
            (Some("null"), NodeValue::Null)
            | (Some("bool"), NodeValue::Bool(_))
            | (Some("int" | "float"), NodeValue::Number(_)) => Ok(plain),
            (Some(core @ ("null" | "bool" | "int" | "float")), _) => {
                Err(self.error(Code::Syntax, line, column, format!("{} is not a valid !!{core}", quoted(text))))
            }
            _ => Err(self.unknown_tag(tag, line, column)),
        }
    }

    /// Copies the value of an alias. The copy keeps the places of the original, where an error must be corrected.
    fn alias(&mut self, anchor: usize, line: u32, column: u32) -> Result<(), ReadError> {
        if self.wants_key() {
            return Err(self.error(Code::Syntax, line, column, "an alias cannot be a key; write the key itself"));
        }
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(self.error(
                Code::Syntax,
                line,
                column,
                "the alias is inside the value it refers to; remove the alias",
            ));
        };
        let size = Size::of(node);
        if self.open.len() + size.depth > MAX_DEPTH {
            return Err(self.too_deep(line, column));
        }
        self.charge(size.nodes, size.text, line, column)?;
        match self.anchors.get(&anchor).cloned() {
            Some(node) => self.add(node, 0),
            None => Ok(()),
        }
    }

    /// Charges nodes and text to the budget before they are created.
    fn charge(&mut self, nodes: usize, text: usize, line: u32, column: u32) -> Result<(), ReadError> {
        match (self.nodes_left.checked_sub(nodes), self.text_left.checked_sub(text)) {
            (Some(nodes), Some(text)) => {
                (self.nodes_left, self.text_left) = (nodes, text);
                Ok(())
            }
            _ => {
                self.exhausted = true;
                let message = "the file has too many values or too much text after alias expansion";
                let mut error = self.error(Code::Limit, line, column, message);
                error.help = Some("split the file, and do not nest aliases".to_owned());
                Err(error)
            }
        }
    }

    fn error(&self, code: Code, line: u32, column: u32, message: impl Into<String>) -> ReadError {
        ReadError { code, file: self.file.clone(), line, column, message: message.into(), help: None }
    }

    fn no_key(&self, line: u32, column: u32) -> ReadError {
        self.error(Code::Syntax, line, column, "expected a key before this value")
    }

    /// YAML 1.2 has no merge keys, and reading one as a field would hide the fields that it should add.
    fn merge_key(&self, line: u32, column: u32) -> ReadError {
        let help = "write the fields in each map, or use an alias such as `*name` as the whole value of a key";
        ReadError {
            help: Some(help.to_owned()),
            ..self.error(Code::Syntax, line, column, "merge keys (`<<`) are not supported")
        }
    }

    fn too_deep(&self, line: u32, column: u32) -> ReadError {
        self.error(
            Code::Limit,
            line,
            column,
            format!("lists and maps are nested more than {MAX_DEPTH} levels deep; nest fewer"),
        )
    }

    fn unknown_tag(&self, tag: &Tag, line: u32, column: u32) -> ReadError {
        let message = format!("the YAML tag {} is not supported", quoted(&tag.original()));
        let mut error = self.error(Code::Syntax, line, column, message);
        error.help = Some("remove the YAML tag; the field determines the type of its value".to_owned());
        error
    }

    fn syntax(&self, error: &ScanError, text: &str) -> ReadError {
        let (line, column) = place(error.marker());
        if let Some((line, column)) = tab_of(error, text) {
            let mut error = self.error(Code::Syntax, line, column, "found a tab in the indentation");
            error.help = Some("indent with spaces instead of tabs".to_owned());
            return error;
        }
        if let ErrorKind::RecursionLimitExceeded = error.kind() {
            self.too_deep(line, column)
        } else {
            let help = syntax_help(&error.info()).map(str::to_owned);
            ReadError { help, ..self.error(Code::Syntax, line, column, error.info()) }
        }
    }
}

/// Returns the place of a tab in the indentation that caused an error. The parser reports the start of the value that the
/// tab breaks, which may be lines earlier, or the token after it.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other error kind")]
fn tab_of(error: &ScanError, text: &str) -> Option<(u32, u32)> {
    let (from, column) = place(error.marker());
    let most = match error.kind() {
        ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => usize::MAX,
        // After a text that a tab ended the parser expects a key.
        ErrorKind::ExpectedBlockMappingKey => 1,
        _ => return None,
    };
    let mut lines = text.split('\n').zip(1u32..).skip(from.saturating_sub(1) as usize).take(most);
    lines.find_map(|(line, number)| {
        let at = u32::try_from(line.bytes().take_while(|b| *b == b' ').count()).ok()?;
        let tab = line.as_bytes().get(at as usize) == Some(&b'\t');
        (tab && (number > from || at < column)).then_some((number, at + 1))
    })
}

/// Returns help for the messages of the parser.
fn syntax_help(info: &str) -> Option<&'static str> {
    let known = [
        ("mapping values are not allowed", "indent the line like its neighbours, or quote a text that contains `: `"),
        ("tabs disallowed", "replace the tab with a space"),
        ("unclosed bracket", "add the closing bracket"),
        ("invalid trailing content", "a comma or a line break is missing before this"),
    ];
    known.into_iter().find(|(start, _)| info.starts_with(start)).map(|(_, help)| help)
}

/// The cost of copying a node.
#[derive(Default)]
struct Size {
    nodes: usize,
    text: usize,
    depth: usize,
}

impl Size {
    /// Recursive: a tree is never deeper than `MAX_DEPTH`.
    fn of(node: &Node) -> Size {
        let mut size = Size { nodes: 1, ..Size::default() };
        match &node.value {
            NodeValue::Text(text) => size.text = text.len(),
            NodeValue::List(items) => items.iter().for_each(|n| size.include(&Size::of(n))),
            NodeValue::Map(entries) => {
                for entry in entries {
                    size.text += entry.key.len();
                    size.include(&Size::of(&entry.value));
                }
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
        }
        size.depth += usize::from(node.is_list() || node.is_map());
        size
    }

    fn include(&mut self, child: &Size) {
        self.nodes += child.nodes;
        self.text += child.text;
        self.depth = self.depth.max(child.depth);
    }
}

/// Line and column from 1; the parser counts columns from 0.
fn place(at: &Marker) -> (u32, u32) {
    let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    (clip(at.line()), clip(at.col().saturating_add(1)))
}
