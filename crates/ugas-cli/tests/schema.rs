//! The JSON Schemas: current, in the right dialect, and agreeing with what the packs hold.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
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

#[test]
fn the_schemas_in_the_repository_are_current() {
    let folder = std::env::temp_dir().join(format!("ugas-cli-schemas-{}", std::process::id()));
    let ran = Command::new(env!("CARGO_BIN_EXE_ugas")).arg("schema").arg("--out").arg(&folder).output();
    assert!(ran.expect("the command starts").status.success());
    let list = |path: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(path).expect("a folder of schemas");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.retain(|n| n.ends_with(".json"));
        names.sort();
        names
    };
    let home = root().join("schemas");
    assert_eq!(list(&home), list(&folder));
    for name in list(&folder) {
        let read = |path: &Path| std::fs::read_to_string(path.join(&name)).expect("a schema");
        assert!(read(&home) == read(&folder), "schemas/{name} is old: run `ugas schema --out schemas`");
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
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
fn documents_of_the_packs_validate_and_wrong_ones_do_not() {
    for (name, schema) in schemas() {
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
    }
    let bundle = jsonschema::validator_for(&schema("ugas.json")).expect("a schema");
    let mut seen = 0;
    let project = Project::open(root().join("packs")).expect("the packs");
    for source in project.sources() {
        for doc in source.docs.iter().filter(|d| d.loaded.is_some()) {
            let value = json_of(&doc.tree);
            let errors: Vec<String> =
                bundle.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
            assert!(errors.is_empty(), "{}:{}: {errors:?}", source.name, doc.tree.line);
            seen += 1;
        }
    }
    assert!(seen > 80, "{seen}");
    let schema = "https://ugas.jbltx.com/v1.0.0-draft.9/schemas/gameplay_effect.json";
    let good = json!({"$schema": schema, "Name": "GE", "DurationPolicy": "Instant", "Priority": 2});
    assert!(bundle.is_valid(&good));
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
        assert!(!bundle.is_valid(&bad), "{bad}");
    }
    // What JSON cannot hold at all is refused by the reader.
    for number in [".nan", ".inf", "-.inf"] {
        let text = format!("Kind: attribute\nName: A\nDefaultBaseValue: {number}\n");
        assert!(ugas_data::read_str("a.yaml", &text).is_err(), "{number}");
    }
    let text = format!("$schema: {schema}\nName: GE\nDurationPolicy: Instant\nPriority: 2\n");
    assert_eq!(ugas_data::read_str("a.yaml", &text).expect("an effect").docs.len(), 1);
}
