//! Requests about the documents: files, definitions, checks, forms and edits.

use super::request::DataRequest;
use crate::Library;
use crate::disk::{Disk, NO_DISK, TextHash};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use ugas_data::{KindName, Node, NodeValue, Severity, SymbolKind, kind_of, language, read_trees, set_value};

/// Answers a request that does not change the documents. `is_now` is false if the library belongs to an earlier tick.
pub(crate) fn reply(
    request: DataRequest,
    library: &Library,
    disk: Option<&Disk>,
    is_now: bool,
) -> Result<Value, String> {
    match request {
        DataRequest::Files => Ok(json!(library.files().map(|s| s.name.to_string()).collect::<Vec<_>>())),
        DataRequest::File { name } => file(library, disk, &name, is_now),
        DataRequest::Check { file, text } => Ok(json!(library.check(&file, &text))),
        DataRequest::Definitions => Ok(json!(definitions(library))),
        DataRequest::Definition { kind, name, level } => definition(library, kind, &name, level),
        DataRequest::Form { text } => form(&text),
        DataRequest::Set { text, document, path, value } => {
            let value = value.map(|v| value_of(&v)).transpose()?;
            let text = set_value(&text, document, &path, value.as_ref()).map_err(|e| e.to_string())?;
            Ok(json!({ "text": text }))
        }
        DataRequest::Save { .. } => Err(NO_DISK.to_owned()),
    }
}

fn file(library: &Library, disk: Option<&Disk>, name: &str, is_now: bool) -> Result<Value, String> {
    let source = library.project().source(name).ok_or_else(|| format!("file {name} does not exist"))?;
    let refused = match disk {
        None => Some(NO_DISK.to_owned()),
        Some(disk) => disk.writable_path(&source.path).err(),
    };
    // A text of an earlier tick has its own hash, so that saving it is rejected if the file on disk has changed since.
    let read = |disk: &Disk| disk.hash_of(&source.path).filter(|_| is_now).unwrap_or(TextHash::of(&source.text));
    let hash = disk.map(|disk| read(disk).hex());
    Ok(json!({ "name": name, "text": &*source.text, "hash": hash, "live": library.is_live(), "refused": refused }))
}

fn definitions(library: &Library) -> Vec<language::Definition> {
    library.set().map_or(Vec::new(), |set| language::index(library.project(), &set))
}

fn definition(library: &Library, kind: SymbolKind, name: &str, level: u32) -> Result<Value, String> {
    let found = definitions(library).into_iter().find(|d| d.kind == kind && d.name == name);
    let found = found.ok_or_else(|| format!("unknown {kind} '{name}'"))?;
    let mut answer = json!(found);
    if let Some(about) = language::about(library.project(), kind, name, level.clamp(1, 1_000)) {
        answer["summary"] = json!(about.summary);
        answer["text"] = json!(about.text);
        answer["missing"] = json!(about.missing);
        answer["of_owners"] = json!(about.of_owners);
        answer["values"] = json!(about.values);
        answer["understood"] = json!(about.understood);
    }
    Ok(answer)
}

/// Returns the documents of a text as values, with the location of every value.
fn form(text: &str) -> Result<Value, String> {
    let trees = read_trees("", text).map_err(|errors| {
        let first = errors.iter().next().map_or_else(String::new, |e| format!("line {}: {}", e.line, e.message));
        format!("cannot show the form because the text cannot be parsed: {first}")
    })?;
    let documents = trees.iter().map(|tree| {
        let kind = match kind_of("", tree) {
            Ok(KindName::Known(kind)) => Some(kind.name()),
            _ => None,
        };
        let mut places = Vec::new();
        let value = json_of(tree, &mut Vec::new(), &mut places);
        let name = tree.get("Name").or_else(|| tree.get("OwnerActor")?.get("ActorID")).and_then(Node::as_text);
        json!({ "kind": kind, "name": name, "line": tree.line, "value": value, "places": places })
    });
    Ok(json!({ "documents": documents.collect::<Vec<_>>() }))
}

/// Converts a tree to JSON; `places` receives the path, line and column of every value.
fn json_of(node: &Node, path: &mut Vec<Value>, places: &mut Vec<Value>) -> Value {
    places.push(json!([path, node.line, node.column]));
    let mut below = |step: Value, inner: &Node| {
        path.push(step);
        let value = json_of(inner, path, places);
        path.pop();
        value
    };
    match &node.value {
        NodeValue::Null => Value::Null,
        NodeValue::Bool(b) => json!(b),
        NodeValue::Number(n) => json!(n),
        NodeValue::Text(text) => json!(text),
        NodeValue::List(items) => items.iter().enumerate().map(|(i, item)| below(json!(i), item)).collect(),
        NodeValue::Map(entries) => {
            let entries = entries.iter().map(|e| (e.key.clone(), below(json!(e.key), &e.value)));
            Value::Object(entries.collect::<Map<String, Value>>())
        }
    }
}

/// Converts a JSON value to a document value. The YAML parser reads the value, because JSON is a subset of YAML.
fn value_of(value: &Value) -> Result<NodeValue, String> {
    let unread = || "invalid value".to_owned();
    let mut trees = read_trees("", &value.to_string()).map_err(|_| unread())?;
    match trees.len() {
        1 => Ok(trees.remove(0).value),
        _ => Err(unread()),
    }
}

/// Saves a text if it is valid, and returns the path of the file.
pub(crate) fn save(library: &Library, disk: &mut Disk, file: &str, text: &str, hash: &str) -> Result<PathBuf, String> {
    let source = library.project().source(file).ok_or_else(|| format!("file {file} does not exist"))?;
    let path = source.path.clone();
    disk.writable_path(&path)?;
    let wrong: Vec<_> = library.check(file, text).into_iter().filter(|f| f.severity == Severity::Error).collect();
    if !wrong.is_empty() {
        return Err(json!(wrong).to_string());
    }
    disk.save(&path, hash, text)?;
    Ok(path)
}
