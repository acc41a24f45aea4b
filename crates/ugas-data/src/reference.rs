//! The reference pages of the book: one page per document kind, generated from the schemas, with a checked example. The
//! examples form one pack in `src/reference`.

use crate::schema::schemas;
use serde_json::{Map, Value};
use std::fmt::Write;
use ugas_doc::Kind;

macro_rules! examples {
    ($($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("reference/", $file)))),*]
    };
}

/// The files of the pack that contains the examples of the reference pages, as pairs of file name and text.
///
/// ```
/// let mut project = ugas_data::Project::default();
/// ugas_data::REFERENCE_EXAMPLES.iter().for_each(|(file, text)| project.put(*file, *text));
/// assert!(project.check().iter().all(|f| f.severity == ugas_data::Severity::Info));
/// ```
pub const REFERENCE_EXAMPLES: &[(&str, &str)] = examples![
    "ability_set.yaml",
    "attribute.yaml",
    "attribute_set.yaml",
    "stat_table.yaml",
    "resource.yaml",
    "calculation.yaml",
    "capability.yaml",
    "capability_set.yaml",
    "curve.yaml",
    "gameplay_ability.yaml",
    "gameplay_controller.yaml",
    "gameplay_effect.yaml",
    "gameplay_tag.yaml",
    "input_action.yaml",
    "input_action_set.yaml",
    "input_mapping.yaml",
    "input_modifier.yaml",
    "input_profile.yaml",
    "input_settings.yaml",
    "motion_pattern.yaml",
    "pack.yaml",
    "patch.yaml",
    "scene.yaml",
    "timeline.yaml",
];

const INTRO: &str = "# Reference

These pages list every document kind with every field. They are generated from the JSON Schemas (`ugas schema --reference`).
The examples form one pack, which the tests check.

The description of a field may have marks. The runtime acts on every field without one of the first two marks:

- *Data for …*: the runtime does not act on the field; the named program does.
- *Not supported yet*: the rules builder rejects a document with the field and reports the reason.
- *Extension*: the specification does not have the field; `ugas check --portable` lists its uses.

| Kind | Meaning |
|---|---|
";

/// Returns the pages by file name: `index.md` and one page per kind.
///
/// ```
/// let pages = ugas_data::reference_pages();
/// let (_, page) = pages.iter().find(|(name, _)| name == "curve.md").unwrap();
/// assert!(page.contains("| `Points` |"));
/// ```
pub fn reference_pages() -> Vec<(String, String)> {
    let schemas = schemas();
    let mut index = INTRO.to_owned();
    let mut pages = Vec::new();
    for kind in Kind::ALL {
        let name = kind.name();
        let Some((_, schema)) = schemas.iter().find(|(file, _)| *file == format!("{name}.json")) else { continue };
        line(&mut index, &format!("| [`{name}`]({name}.md) | {} |", cell(schema)));
        pages.push((format!("{name}.md"), page(name, schema)));
    }
    pages.push(("index.md".to_owned(), index));
    pages
}

fn line(text: &mut String, more: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{more}");
}

fn page(name: &str, schema: &Value) -> String {
    let mut text = format!("# {name}\n\n{}\n", description(schema));
    if let Some(note) = note(schema) {
        line(&mut text, &format!("\n{note}"));
    }
    let example = REFERENCE_EXAMPLES.iter().find(|(file, _)| *file == format!("{name}.yaml"));
    if let Some((_, example)) = example {
        line(&mut text, &format!("\n## Example\n\n```yaml\n{}\n```", example.trim_end()));
    }
    line(&mut text, "\n## Fields");
    fields(&mut text, schema);
    for (name, definition) in definitions(schema) {
        line(&mut text, &format!("\n## {name}\n\n{}", description(definition)));
        if let Some(note) = note(definition) {
            line(&mut text, &format!("\n{note}"));
        }
        match definition.get("properties") {
            Some(_) => fields(&mut text, definition),
            None => values(&mut text, definition),
        }
    }
    text
}

/// Returns the types below a schema, by name.
fn definitions(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("$defs").and_then(Value::as_object).into_iter().flatten()
}

fn fields(text: &mut String, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|r| r == name));
    line(text, "\n| Field | Type | Default | Meaning |\n|---|---|---|---|");
    for (name, field) in properties.iter().filter(|(name, _)| !["Kind", "$schema"].contains(&name.as_str())) {
        let default = match field.get("default") {
            _ if is_required(name) => "required".to_owned(),
            Some(value) if !is_empty(value) => format!("`{}`", plain(value)),
            _ => "–".to_owned(),
        };
        line(text, &format!("| `{name}` | {} | {default} | {} |", type_of(field), cell(field)));
    }
}

/// The values of an enumeration.
fn values(text: &mut String, definition: &Value) {
    let Some(choices) = definition.get("oneOf").and_then(Value::as_array) else { return };
    line(text, "\n| Value | Meaning |\n|---|---|");
    for choice in choices {
        let name = choice.get("const").map(plain).unwrap_or_default();
        line(text, &format!("| `{name}` | {} |", cell(choice)));
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn description(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ")
}

/// Returns the meaning of a schema's marks for the author of a document.
fn note(schema: &Value) -> Option<String> {
    let reader = schema.get("x-ugas-metadata").and_then(Value::as_str);
    match reader {
        Some("display") => Some("*Data for display.*".to_owned()),
        Some(reader) => Some(format!("*Data for {reader}.*")),
        None if schema.get("x-ugas-unsupported").is_some() => Some("*Not supported yet.*".to_owned()),
        None => schema.get("x-ugas-extension").map(|_| "*Extension.*".to_owned()),
    }
}

/// Returns a description with its mark, for a cell of a table.
fn cell(schema: &Value) -> String {
    let text = description(schema);
    let text = note(schema).map_or_else(|| text.clone(), |note| format!("{text} {note}"));
    text.trim().replace('|', "\\|")
}

fn type_of(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/")) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let is_null = |choice: &&Value| choice.get("type").is_none_or(|t| t != "null");
        return choices.iter().filter(is_null).map(type_of).collect::<Vec<_>>().join(" or ");
    }
    match schema.get("type") {
        Some(Value::String(name)) => plain_type(name, schema),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.map(|name| plain_type(name, schema)).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn plain_type(name: &str, schema: &Value) -> String {
    let inner = |key: &str| schema.get(key).filter(|inner| inner.is_object()).map(type_of);
    match name {
        "array" => match (schema.get("minItems"), schema.get("maxItems")) {
            (Some(least), Some(most)) if least == most => {
                format!("{least} of {}", inner("items").unwrap_or_else(|| "any value".to_owned()))
            }
            _ => format!("list of {}", inner("items").unwrap_or_else(|| "any value".to_owned())),
        },
        "object" => format!("map of {}", inner("additionalProperties").unwrap_or_else(|| "any value".to_owned())),
        "integer" => format!("integer{}", bounds(schema)),
        "number" => format!("number{}", bounds(schema)),
        other => other.to_owned(),
    }
}

fn bounds(schema: &Value) -> String {
    let schema: Option<&Map<String, Value>> = schema.as_object();
    let bound = |key: &str| schema.and_then(|s| s.get(key)).and_then(Value::as_f64);
    match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => format!(" from {low} to {high}"),
        (Some(low), None) => format!(" from {low}"),
        (None, Some(high)) => format!(" to {high}"),
        (None, None) => String::new(),
    }
}
