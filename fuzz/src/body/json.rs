//! Arbitrary bytes as a JSON file: valid JSON is read, with the same values as by `serde_json`.

use super::Done;
use serde_json::Value;
use ugas_data::{Code, Node, NodeValue, read_trees};

/// Reads, compares with `serde_json`, saves, formats.
pub fn json(bytes: &[u8], done: Done<'_>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let meant =
        serde_json::from_str::<Value>(text).ok().filter(|value| text.chars().all(printable) && short_keys(value));
    done("");
    if let Some(meant) = meant {
        match read_trees("fuzz.json", text) {
            Ok(trees) => {
                assert_eq!(trees.len(), 1, "one value is one document");
                assert!(same(&trees[0], &meant), "read as {:?}, meant {meant:?}", trees[0]);
            }
            // Duplicate keys and deep nesting are rejected on purpose.
            Err(errors) => {
                let meant = |code| matches!(code, Code::DuplicateKey | Code::Limit);
                assert!(errors.iter().all(|e| meant(e.code)), "JSON is refused: {}", errors[0]);
            }
        }
    }
    done("compare");
    super::yaml::file("fuzz.json", text, done);
}

/// Returns whether YAML allows a text unescaped; JSON allows a few more characters.
fn printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

/// Returns whether all keys are short enough: JSON is read as YAML, which limits plain keys to 1024 characters.
fn short_keys(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().all(short_keys),
        Value::Object(map) => map.iter().all(|(key, value)| key.chars().count() < 160 && short_keys(value)),
        _ => true,
    }
}

fn same(node: &Node, value: &Value) -> bool {
    match (&node.value, value) {
        (NodeValue::Null, Value::Null) => true,
        (NodeValue::Bool(a), Value::Bool(b)) => a == b,
        (NodeValue::Number(a), Value::Number(b)) => b.as_f64() == Some(*a),
        (NodeValue::Text(a), Value::String(b)) => a == b,
        (NodeValue::List(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (NodeValue::Map(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|e| b.get(&e.key).is_some_and(|v| same(&e.value, v)))
        }
        _ => false,
    }
}
