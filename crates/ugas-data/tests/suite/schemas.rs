//! The JSON Schemas: current, in the right dialect, and in agreement with the packs.
#![cfg(feature = "schema")]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use ugas_data::{Node, NodeValue, Project, schemas};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema(name: &str) -> Value {
    let found = schemas().into_iter().find(|(file, _)| file == name);
    found.unwrap_or_else(|| panic!("no schema {name}")).1
}

fn json_of(node: &Node) -> Value {
    match &node.value {
        NodeValue::Null => Value::Null,
        NodeValue::Bool(b) => json!(b),
        NodeValue::Number(n) if n.fract() == 0.0 && n.abs() < 1e15 => json!(*n as i64),
        NodeValue::Number(n) => json!(n),
        NodeValue::Text(text) => json!(text),
        NodeValue::List(items) => items.iter().map(json_of).collect(),
        NodeValue::Map(entries) => entries.iter().map(|e| (e.key.clone(), json_of(&e.value))).collect(),
    }
}

/// Validates a value: as much of 2020-12 as the schemas use, and a panic at anything else.
struct Validator {
    bundle: Value,
}

impl Validator {
    fn errors(&self, value: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        self.check(&self.bundle, &self.bundle, value, "", &mut errors);
        errors
    }

    fn holds(&self, home: &Value, schema: &Value, value: &Value) -> bool {
        let mut errors = Vec::new();
        self.check(home, schema, value, "", &mut errors);
        errors.is_empty()
    }

    /// `home` is the document that `#` refers to.
    fn check(&self, home: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let Value::Object(words) = schema else {
            assert!(schema == &json!(true), "{schema}");
            return;
        };
        let each = |list: &Value| list.as_array().expect("a list of schemas").clone();
        for (word, rule) in words {
            let good = match word.as_str() {
                "$ref" => {
                    let target = rule.as_str().expect("an address");
                    match (target.strip_prefix('#'), target.strip_prefix("urn:ugas:schema:")) {
                        (Some(way), _) => self.check(home, home.pointer(way).expect("a target"), value, at, errors),
                        (_, Some(kind)) => {
                            let other = &self.bundle["$defs"][kind];
                            self.check(other, other, value, at, errors);
                        }
                        _ => panic!("{target}"),
                    }
                    true
                }
                "type" => {
                    let is = |name: &Value| match name.as_str().expect("a type") {
                        "null" => value.is_null(),
                        "boolean" => value.is_boolean(),
                        "number" => value.is_number(),
                        "integer" => value.is_i64() || value.is_u64(),
                        "string" => value.is_string(),
                        "array" => value.is_array(),
                        "object" => value.is_object(),
                        other => panic!("{other}"),
                    };
                    rule.as_array().map_or_else(|| is(rule), |list| list.iter().any(is))
                }
                "const" => value == rule,
                "enum" => each(rule).contains(value),
                "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().expect("a bound")),
                "maximum" => value.as_f64().is_none_or(|n| n <= rule.as_f64().expect("a bound")),
                "minItems" => value.as_array().is_none_or(|l| l.len() as u64 >= rule.as_u64().expect("a size")),
                "maxItems" => value.as_array().is_none_or(|l| l.len() as u64 <= rule.as_u64().expect("a size")),
                "minProperties" => value.as_object().is_none_or(|m| m.len() as u64 >= rule.as_u64().expect("a size")),
                "maxProperties" => value.as_object().is_none_or(|m| m.len() as u64 <= rule.as_u64().expect("a size")),
                // The two patterns: frames and addresses, which differ in their last part.
                "pattern" => value.as_str().is_none_or(|text| match rule.as_str().expect("a pattern") {
                    "^[0-9]+f$" => text.strip_suffix('f').is_some_and(|n| n.parse::<u32>().is_ok()),
                    address => {
                        let end = address.rsplit_once("/schemas/").expect("an address").1;
                        text.starts_with("https://")
                            && text.ends_with(&format!("/{}", end.replace("\\", "").trim_end_matches('$')))
                    }
                }),
                "required" => value
                    .as_object()
                    .is_none_or(|m| each(rule).iter().all(|k| m.contains_key(k.as_str().expect("a key")))),
                "properties" => {
                    for (key, inner) in value.as_object().into_iter().flatten() {
                        if let Some(rule) = rule.get(key) {
                            self.check(home, rule, inner, &format!("{at}/{key}"), errors);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = |key: &String| words.get("properties").is_some_and(|p| p.get(key).is_some());
                    let extra: Vec<_> =
                        value.as_object().into_iter().flatten().filter(|(key, _)| !known(key)).collect();
                    if rule != &json!(false) {
                        extra
                            .iter()
                            .for_each(|(key, inner)| self.check(home, rule, inner, &format!("{at}/{key}"), errors));
                    }
                    rule != &json!(false) || extra.is_empty()
                }
                "items" => {
                    for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(home, rule, inner, &format!("{at}/{i}"), errors);
                    }
                    true
                }
                "allOf" => {
                    each(rule).iter().for_each(|rule| self.check(home, rule, value, at, errors));
                    true
                }
                "anyOf" => each(rule).iter().any(|rule| self.holds(home, rule, value)),
                "oneOf" => each(rule).iter().filter(|rule| self.holds(home, rule, value)).count() == 1,
                "if" => !self.holds(home, rule, value) || self.holds(home, &words["then"], value),
                "then" | "$defs" | "$id" | "$schema" | "title" | "description" | "default" | "format" => true,
                "x-ugas-extension" | "x-ugas-metadata" | "x-ugas-unsupported" => true,
                other => panic!("the schemas use {other}"),
            };
            if !good {
                errors.push(format!("{at}: {word} {rule}"));
            }
        }
    }
}

#[test]
fn the_schemas_in_the_repository_are_current() {
    let home = root().join("schemas");
    let mut expected: Vec<String> = Vec::new();
    for (name, schema) in schemas() {
        let text = serde_json::to_string_pretty(&schema).expect("a text") + "\n";
        if std::env::var_os("UGAS_BLESS").is_some() {
            std::fs::write(home.join(&name), &text).expect("a schema to write");
        }
        let found = std::fs::read_to_string(home.join(&name)).expect("a schema");
        assert!(found == text, "schemas/{name} is old: run `ugas schema --out schemas`");
        expected.push(name);
    }
    let entries = std::fs::read_dir(&home).expect("the schemas");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn extensions_are_marked_and_the_specifications_fields_are_not() {
    let effect = schema("gameplay_effect.json");
    let mark = |at: &Value, field: &str| at["properties"][field]["x-ugas-extension"].as_bool();
    for field in ["EffectTags", "Stacking", "Area", "Kind", "Rules"] {
        assert_eq!(mark(&effect, field), Some(true), "{field}");
    }
    for field in ["Name", "DurationPolicy", "Modifiers", "GrantedTags", "GameplayCues", "$schema"] {
        assert!(effect["properties"][field].is_object(), "{field}");
        assert_eq!(mark(&effect, field), None, "{field}");
    }
    let modifier = &effect["$defs"]["Modifier"];
    assert_eq!((mark(modifier, "SourceTags"), mark(modifier, "Channel")), (Some(true), None));
    assert_eq!(schema("curve.json")["x-ugas-extension"], true);
    assert_eq!(schema("input_mapping.json")["x-ugas-extension"], Value::Null);
    assert_eq!(schema("input_mapping.json")["properties"]["Bindings"]["minItems"], 1);
}

// covers: UGAS-1-03
#[test]
fn documents_of_the_packs_validate_and_invalid_ones_do_not() {
    for (name, schema) in schemas() {
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
    }
    let validator = Validator { bundle: schema("ugas.json") };
    let mut seen = 0;
    let project = Project::open(root().join("packs")).expect("the packs");
    for source in project.sources() {
        for doc in source.docs.iter().filter(|d| d.loaded.is_some()) {
            let errors = validator.errors(&json_of(&doc.tree));
            assert!(errors.is_empty(), "{}:{}: {errors:?}", source.name, doc.tree.line);
            seen += 1;
        }
    }
    assert!(seen > 80, "{seen}");
    let schema = "https://ugas.jbltx.com/v1.0.0-draft.9/schemas/gameplay_effect.json";
    let good = json!({"$schema": schema, "Name": "GE", "DurationPolicy": "Instant", "Priority": 2});
    assert_eq!(validator.errors(&good), [""; 0]);
    for (key, wrong) in [
        ("Priority", json!("high")),
        ("DurationPolicy", json!("Timed")),
        ("Priorty", json!(1)),
        ("Name", Value::Null),
        ("$schema", json!("https://ugas.jbltx.com/v1.0.0-draft.9/schemas/curve.json")),
        ("Kind", json!("curve")),
        ("GrantedAbilities", json!([{"AbilityClass": "GA", "Level": 0}])),
        ("DurationPolicy", json!("HasDuration")),
        ("Duration", json!({"Type": "ScalableFloat"})),
        ("Duration", json!({"Type": "SetByCaller", "Value": 3})),
        ("Period", json!({"Period": -1})),
        ("Area", json!({"Shape": "Cone", "Radius": {"Type": "ScalableFloat", "Value": 3}})),
        ("Area", json!({"Shape": "Sphere"})),
    ] {
        let mut bad = good.clone();
        bad[key] = wrong;
        assert!(!validator.errors(&bad).is_empty(), "{bad}");
    }
    // What JSON cannot hold at all is refused by the reader.
    for number in [".nan", ".inf", "-.inf"] {
        let text = format!("Kind: attribute\nName: A\nDefaultBaseValue: {number}\n");
        assert!(ugas_data::read_str("a.yaml", &text).is_err(), "{number}");
    }
    let text = format!("$schema: {schema}\nName: GE\nDurationPolicy: Instant\nPriority: 2\n");
    assert_eq!(ugas_data::read_str("a.yaml", &text).expect("an effect").docs.len(), 1);
}
