//! Reads documents from text: the kind, the typed value and the file and line of each document. A document of a kind
//! that this release does not support is an error.

use crate::de::from_node_without;
use crate::kind::{KIND_KEYS, KindName, kind_of, unsupported};
use crate::limits::MAX_ERRORS;
use crate::parse::parse;
use crate::{Code, Node, ReadError, ReadErrors};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use ugas_doc::{Doc, Kind, Origin};

/// A document and its origin.
///
/// ```
/// let text = "Kind: gameplay_tag\nTags: [{Tag: State.Alive}]\n";
/// let loaded = ugas_data::read_str("tags.yaml", text).unwrap().docs.remove(0);
/// assert_eq!(loaded.origin.to_string(), "tags.yaml:1");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The document.
    pub doc: Doc,
    /// The file and line of the document. For an effect, the origin also contains the line of each modifier.
    pub origin: Origin,
}

/// The documents that were read.
///
/// ```
/// let documents = ugas_data::read_str("empty.yaml", "# nothing yet\n").unwrap();
/// assert!(documents.docs.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents {
    /// The documents, in the order of files and lines.
    pub docs: Vec<Loaded>,
}

impl Documents {
    pub(crate) fn append(&mut self, mut other: Documents) {
        self.docs.append(&mut other.docs);
    }
}

/// Reads all documents of a text. `file` is the file name in errors and origins. On failure, returns the errors of all
/// documents, up to [`MAX_ERRORS`](crate::limits::MAX_ERRORS).
///
/// ```
/// let text = r#"{"Kind": "gameplay_effect", "Name": "GE_Hit", "DurationPolicy": "Instant"}"#;
/// let documents = ugas_data::read_str("hit.json", text).unwrap();
/// assert_eq!(documents.docs.len(), 1);
/// ```
pub fn read_str(file: &str, text: &str) -> Result<Documents, ReadErrors> {
    let file: Arc<str> = file.into();
    let (trees, mut errors) = parse(&file, text);
    let mut documents = Documents::default();
    for tree in &trees {
        match read_tree(&file, tree) {
            Ok(loaded) => documents.docs.push(loaded),
            Err(more) => errors.extend(more),
        }
        // More errors than are shown were already found.
        if errors.len() > MAX_ERRORS {
            break;
        }
    }
    errors.sort_by_key(|e| (e.line, e.column));
    ReadErrors::cut(&mut errors);
    ReadErrors::unless(errors, documents)
}

/// Reads a document from a tree. `Kind` or `$schema` in the tree names the kind of the document.
///
/// ```
/// use ugas_data::{doc_from_node, read_trees};
/// let tree = &read_trees("s.yaml", "Entities:\n- Kind: curve\n  Name: [C]\n").unwrap()[0];
/// let inline = tree.get("Entities").and_then(|e| e.at(0)).unwrap();
/// let error = doc_from_node("s.yaml", inline).unwrap_err();
/// assert_eq!(error.to_string(), "s.yaml:3:9: Name: expected a text, found a list");
/// ```
pub fn doc_from_node(file: &str, node: &Node) -> Result<Loaded, ReadError> {
    read_tree(&file.into(), node).map_err(|mut errors| errors.remove(0))
}

/// Reads a document from a tree, or returns all errors.
pub(crate) fn read_tree(file: &Arc<str>, node: &Node) -> Result<Loaded, Vec<ReadError>> {
    let mut origin = Origin::new(file.clone(), node.line);
    let kind = match kind_of(file, node).map_err(|e| vec![e])? {
        KindName::Known(kind) => kind,
        KindName::Unsupported(kind) => return Err(vec![unsupported(file, kind, node)]),
    };
    let doc = typed(file, kind, node).map_err(|errors| match mistaken(file, kind, node, &errors) {
        Some(error) => vec![error],
        None => errors,
    })?;
    // Documents refer to each other by name, so a document needs one.
    if doc.name().is_empty() && kind.defines().is_some_and(|d| d.key == "Name") {
        let (at, message, help) = match node.get("Name") {
            Some(name) => (name, "Name: must not be empty", "write the name that other documents refer to"),
            None => (node, "the field Name is missing", "add `Name:`"),
        };
        return Err(vec![ReadError { help: Some(help.to_owned()), ..at.error(file, message) }]);
    }
    let out = crate::bounds::check(file, kind, node);
    if !out.is_empty() {
        return Err(out);
    }
    if kind == Kind::Effect {
        origin.modifier_lines =
            node.get("Modifiers").map(|list| list.items().iter().map(|m| m.line).collect()).unwrap_or_default();
    }
    Ok(Loaded { doc, origin })
}

macro_rules! typed {
    ($($(#[$doc:meta])* $kind:ident { $($entry:tt)* })*) => {
        fn typed(file: &str, kind: Kind, node: &Node) -> Result<Doc, Vec<ReadError>> {
            Ok(match kind {
                $(Kind::$kind => Doc::$kind(body(file, node)?),)*
            })
        }
    };
}
ugas_doc::for_each_kind!(typed);

/// Returns a single error if a document has unknown fields and is valid as another kind.
fn mistaken(file: &str, kind: Kind, node: &Node, errors: &[ReadError]) -> Option<ReadError> {
    if !errors.iter().any(|e| e.message.starts_with("unknown field")) {
        return None;
    }
    let fits = |other: &Kind| *other != kind && typed(file, *other, node).is_ok();
    let other = Kind::ALL.into_iter().find(fits)?;
    let (key, at) = KIND_KEYS.iter().find_map(|key| Some((*key, node.get(key)?)))?;
    let message = format!("{key} is {}, but the fields are those of {}", kind.name(), other.name());
    let help = Some(format!("write {}, or correct the fields", other.name()));
    Some(ReadError { code: Code::UnknownKind, help, ..at.error(file, message) })
}

fn body<T: DeserializeOwned>(file: &str, node: &Node) -> Result<T, Vec<ReadError>> {
    from_node_without(file, node, KIND_KEYS)
}

/// Checks that a text is well-formed, for files that are not read as documents.
pub(crate) fn check_map(file: &str, text: &str) -> Result<(), ReadErrors> {
    for tree in crate::read_trees(file, text)? {
        if !tree.is_map() {
            return Err(tree.error(file, format!("expected a map, found {}", tree.describe())).into());
        }
    }
    Ok(())
}
