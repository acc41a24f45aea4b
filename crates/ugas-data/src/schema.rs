//! JSON Schemas of the documents, generated from the types of `ugas-doc`. This module adds bounds, the keys that name
//! the kind, and the mark `x-ugas-extension` at each extension of the specification.

use crate::bounds::{BOUNDS, Bound};
use crate::portable::shape;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use ugas_doc::{Kind, MagnitudeType, schema_of};

/// The mark on extensions of the specification.
const EXTENSION: &str = "x-ugas-extension";

/// Returns the schemas by file name: one for each kind, and `ugas.json`, which selects one of them by `Kind` or
/// `$schema`.
///
/// ```
/// let schemas = ugas_data::schemas();
/// assert!(schemas.iter().any(|(name, _)| name == "gameplay_effect.json"));
/// ```
pub fn schemas() -> Vec<(String, Value)> {
    let mut all: Vec<(String, Value)> =
        Kind::ALL.into_iter().map(|kind| (format!("{}.json", kind.name()), of_kind(kind))).collect();
    all.push(("ugas.json".to_owned(), bundle()));
    all.into_iter().map(|(name, schema)| (name, sorted(schema))).collect()
}

/// Sorts the keys, independent of the map type of the build.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(list) => list.into_iter().map(sorted).collect(),
        other @ Value::Null | other @ Value::Bool(_) | other @ Value::Number(_) | other @ Value::String(_) => other,
    }
}

fn id(kind: Kind) -> String {
    format!("urn:ugas:schema:{}", kind.name())
}

fn of_kind(kind: Kind) -> Value {
    let mut schema = schema_of(kind);
    for_people(&mut schema);
    schema["$id"] = json!(id(kind));
    schema["title"] = json!(kind.name());
    mark(&mut schema, kind);
    for (_, path, bound) in BOUNDS.iter().filter(|b| b.0 == kind) {
        if let Some(pointer) = find(&schema, path)
            && let Some(Value::Object(at)) = schema.pointer_mut(&pointer)
        {
            keep(at, *bound);
        }
    }
    needs(&mut schema, kind);
    schema["properties"]["Kind"] =
        json!({"const": kind.name(), "description": "The kind of the document.", EXTENSION: true});
    schema["properties"]["$schema"] =
        json!({"type": "string", "pattern": address(kind), "description": "The kind of the document."});
    schema["anyOf"] = json!([{"required": ["Kind"]}, {"required": ["$schema"]}]);
    schema
}

/// Removes Rust examples from the descriptions.
fn for_people(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description")
                && let Some(end) = text.find("\n\n```")
            {
                text.truncate(end);
            }
            map.values_mut().for_each(for_people);
        }
        Value::Array(list) => list.iter_mut().for_each(for_people),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Fields that another field requires: the map, the key and value, and the fields, of which one is enough.
fn required_fields() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static [&'static str])> {
    let others: [(_, _, _, &[&str]); 2] =
        [("Effect", "DurationPolicy", "HasDuration", &["Duration"]), ("Area", "Shape", "Cone", &["HalfAngleDeg"])];
    let magnitudes = MagnitudeType::ALL.iter().map(|kind| ("Magnitude", "Type", kind.name(), kind.required()));
    others.into_iter().chain(magnitudes)
}

fn needs(schema: &mut Value, kind: Kind) {
    let one_of =
        |fields: &[&str]| json!({"anyOf": fields.iter().map(|f| json!({"required": [f]})).collect::<Vec<_>>()});
    let mut rules: Vec<(&str, Value)> = required_fields()
        .map(|(map, key, value, fields)| {
            let asks = json!({"properties": {key: {"const": value}}, "required": [key]});
            (map, json!({"if": asks, "then": one_of(fields)}))
        })
        .collect();
    rules.push(("Attribute", one_of(&["DefaultBaseValue", "DerivedFrom"])));
    for (map, rule) in rules {
        let is_root = matches!((map, kind), ("Effect", Kind::Effect) | ("Attribute", Kind::Attribute));
        let at = if is_root { Some(&mut *schema) } else { schema.pointer_mut(&format!("/$defs/{map}")) };
        if let Some(Value::Object(at)) = at
            && let Value::Array(all) = at.entry("allOf").or_insert_with(|| json!([]))
        {
            all.push(rule);
        }
    }
    if let Some(period) = schema.pointer_mut("/$defs/Period/properties/Period") {
        period["minimum"] = json!(0);
    }
}

fn address(kind: Kind) -> String {
    format!(
        r"^https://(raw\.githubusercontent\.com/jbltx/ugas|ugas\.jbltx\.com)/(main|v[0-9]+\.[0-9]+\.[0-9]+(-draft\.[0-9]+)?)/schemas/{}\.json$",
        kind.name()
    )
}

fn bundle() -> Value {
    let is = |kind: Kind| {
        json!({
            "if": {"anyOf": [
                {"properties": {"Kind": {"const": kind.name()}}, "required": ["Kind"]},
                {"properties": {"$schema": {"type": "string", "pattern": address(kind)}}, "required": ["$schema"]},
            ]},
            "then": {"$ref": id(kind)},
        })
    };
    let defs: Map<String, Value> = Kind::ALL.into_iter().map(|kind| (kind.name().to_owned(), of_kind(kind))).collect();
    let names: Vec<&str> = Kind::ALL.into_iter().map(Kind::name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:ugas:schema:ugas",
        "title": "A document of any kind",
        "type": "object",
        "properties": {"Kind": {"enum": names}, "$schema": {"type": "string"}},
        "anyOf": [{"required": ["Kind"]}, {"required": ["$schema"]}],
        "allOf": Kind::ALL.into_iter().map(is).collect::<Vec<_>>(),
        "$defs": defs,
    })
}

/// Follows references and optional types; returns a JSON pointer.
fn resolve(schema: &Value, pointer: &str) -> String {
    let Some(at) = schema.pointer(pointer) else { return pointer.to_owned() };
    if let Some(target) = at.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) {
        return resolve(schema, target);
    }
    let is_something = |choice: &Value| choice.get("type") != Some(&json!("null"));
    match at.get("anyOf").and_then(Value::as_array).and_then(|list| list.iter().position(is_something)) {
        Some(i) if at.get("properties").is_none() => resolve(schema, &format!("{pointer}/anyOf/{i}")),
        _ => pointer.to_owned(),
    }
}

/// Returns the pointer of a path such as `Bindings.[].Inputs`.
fn find(schema: &Value, path: &str) -> Option<String> {
    let mut pointer = String::new();
    for step in path.split('.') {
        let home = resolve(schema, &pointer);
        pointer = if step == "[]" { format!("{home}/items") } else { format!("{home}/properties/{step}") };
        schema.pointer(&pointer)?;
    }
    Some(pointer)
}

fn keep(at: &mut Map<String, Value>, bound: Bound) {
    match bound {
        Bound::Least(low) => {
            at.insert("minimum".to_owned(), json!(low));
        }
        Bound::Within(low, high) => {
            at.insert("minimum".to_owned(), json!(low));
            at.insert("maximum".to_owned(), json!(high));
        }
        Bound::NotEmpty => {
            at.insert("minItems".to_owned(), json!(1));
        }
    }
}

/// Marks every field that is an extension of the specification.
fn mark(schema: &mut Value, kind: Kind) {
    let Some(fields) = shape(kind.name()) else {
        schema[EXTENSION] = json!(true);
        return;
    };
    let mut wanted = vec![(String::new(), fields)];
    let mut seen = BTreeSet::new();
    while let Some((pointer, fields)) = wanted.pop() {
        let home = resolve(schema, &pointer);
        let items = format!("{home}/items");
        if schema.pointer(&items).is_some() {
            wanted.push((items, fields));
            continue;
        }
        if !seen.insert(home.clone()) {
            continue;
        }
        let Some(Value::Object(properties)) = schema.pointer_mut(&format!("{home}/properties")) else { continue };
        for (name, property) in properties.iter_mut() {
            match fields.iter().find(|f| f.0 == name) {
                Some((_, below)) => {
                    wanted.extend(shape(below).map(|fields| (format!("{home}/properties/{name}"), fields)));
                }
                None => {
                    if let Value::Object(property) = property {
                        property.insert(EXTENSION.to_owned(), json!(true));
                    }
                }
            }
        }
    }
}
