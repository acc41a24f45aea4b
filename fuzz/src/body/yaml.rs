//! Arbitrary bytes as a file of documents: spans are valid, saved documents read back equal, and the formatter keeps them.

use super::Done;
use ugas_data::{Documents, Node, NodeValue, Span, format, read_str, read_trees, to_yaml};

/// Reads, saves, reads again, formats.
pub fn yaml(bytes: &[u8], done: Done<'_>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        file("fuzz.yaml", text, done);
    }
}

/// Checks the invariants of a file of either format.
pub(super) fn file(name: &str, text: &str, done: Done<'_>) {
    let read = read_str(name, text);
    done("read");
    match read {
        Ok(documents) => documents.docs.iter().for_each(|loaded| {
            let saved = to_yaml(&loaded.doc);
            let again = read_str("saved.yaml", &saved).expect("what was saved can be read");
            assert_eq!(again.docs[0].doc, loaded.doc);
        }),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors.iter() {
                assert!(error.line >= 1 && error.column >= 1, "{error}");
                assert!(!error.message.is_empty());
            }
        }
    }
    done("save");
    if let Ok(trees) = read_trees(name, text) {
        trees.iter().for_each(|tree| places(tree, text));
        drop(trees);
        done("read as trees");
        shape(name, text, done);
    }
}

/// Checks that every span is within the text.
fn places(node: &Node, text: &str) {
    let lies = |span: Span| assert!(span.of(text).is_some(), "{span:?} is no part of the text");
    lies(node.span);
    match &node.value {
        NodeValue::List(items) => items.iter().for_each(|item| places(item, text)),
        NodeValue::Map(entries) => entries.iter().for_each(|entry| {
            lies(entry.span);
            places(&entry.value, text);
        }),
        _ => {}
    }
}

/// Checks that formatting is idempotent and keeps the documents.
pub(super) fn shape(name: &str, text: &str, done: Done<'_>) {
    let Ok(shaped) = format(name, text) else { return };
    done("format");
    assert_eq!(format(name, &shaped).as_ref(), Ok(&shaped), "a second run changes nothing");
    done("format again");
    let docs = |text: &str| {
        let list = |d: Documents| d.docs.into_iter().map(|l| l.doc).collect::<Vec<_>>();
        read_str(name, text).ok().map(list)
    };
    assert_eq!(docs(&shaped), docs(text), "the documents are the same");
    done("read what was formatted");
}
