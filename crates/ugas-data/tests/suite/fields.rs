//! Every field of every schema does something, is declared as data for another reader, or is refused (ruling R-104).
//!
//! The documents of the reference set every field that does something. Each field is set to other valid values; one of
//! them must change the compiled rules or the findings. A field is data for another reader where its schema, its type or
//! its kind says `x-ugas-metadata`: changing it must not change the compiled rules. A field with `x-ugas-unsupported`
//! must be refused. A new field that is none of the three fails this test.
#![cfg(feature = "schema")]

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use ugas_data::{Node, NodeValue, Project, REFERENCE_EXAMPLES, Severity, schemas};

/// A field: the type that has it, and its key.
type Field = (String, String);

/// Texts to put in the place of others: names of every kind, tags, expressions and times.
const TEXTS: [&str; 26] = [
    "Other.One",
    "GE_Soot",
    "GE_Explosion",
    "GE_FireballCost",
    "GE_FireballCooldown",
    "GA_Aura",
    "GA_Mount",
    "Armor",
    "Attack",
    "Mana",
    "Shield",
    "Rage",
    "Combat",
    "C_Other",
    "Calc_Host",
    "FlyCamera",
    "IsNight",
    "HasAmmunition",
    "EndAbility",
    "WaitOverlap",
    "1",
    "12f",
    "90f",
    "DamageDone",
    "MaxCharges",
    "Renamed",
];

/// Fields that cannot be changed inside one valid pack, with the test that shows what they do.
const ELSEWHERE: [(&str, &str, &str, &str); 3] = [
    ("curve", "Csv", "tests/suite/csv.rs", "csv_tables_are_read_in_the_formats_of_spreadsheets"),
    ("stat_table", "Csv", "tests/suite/csv.rs", "a_table_of_stats_is_read_from_a_csv_file"),
    ("Stat", "Tag", "tests/suite/csv.rs", "a_table_of_stats_is_read_from_a_csv_file"),
];

/// Data of the host whose tags the rules contain, so that the host can look up their ids.
const TAGS_OF_HOST_DATA: [(&str, &str); 1] = [("Placement", "StartupTags")];

/// Fields of which another value alone is an error: they name what other documents refer to, or they choose which other
/// fields must be there.
const DECIDING: [(&str, &str); 21] = [
    ("ability_set", "Name"),
    ("attribute_set", "Name"),
    ("calculation", "Name"),
    ("capability", "Name"),
    ("capability_set", "Name"),
    ("curve", "Name"),
    ("gameplay_ability", "Name"),
    ("gameplay_effect", "Name"),
    ("input_action", "Name"),
    ("input_action_set", "Name"),
    ("motion_pattern", "Action"),
    ("motion_pattern", "Name"),
    ("resource", "Name"),
    ("stat_table", "Name"),
    ("ResourceValues", "Resource"),
    ("Actor", "ActorID"),
    ("patch", "TargetKind"),
    ("CombatRule", "Restrict"),
    ("Modify", "Operation"),
    ("Trigger", "Died"),
    ("Magnitude", "Type"),
];

/// One document for each field that is refused.
const REFUSED: [(&str, &str, &str); 5] = [
    (
        "gameplay_effect",
        "Area",
        "Kind: gameplay_effect\nName: GE\nDurationPolicy: Instant\nArea: {Radius: {Type: ScalableFloat, Value: 5}}\n",
    ),
    (
        "gameplay_controller",
        "Team",
        "Kind: gameplay_controller\nOwnerActor: {ActorID: A}\nAttributeSets: [{Name: Vitals}]\nTeam: Team.Hostile\n",
    ),
    ("timeline", "Attack", "Kind: timeline\nName: TL\nLength: 1\nAttack: Attack.Light\n"),
    ("timeline", "Windows", "Kind: timeline\nName: TL\nLength: 1\nWindows: [{Type: Combo, Start: 0, End: 1}]\n"),
    ("timeline", "Sockets", "Kind: timeline\nName: TL\nLength: 1\nSockets: {Blade: [{At: 0, Position: [0, 0, 0]}]}\n"),
];

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

/// The schemas of all kinds with their root types' names. An attribute on its own has the type of those in a set.
fn kinds() -> Vec<(String, Value)> {
    let all = schemas().into_iter().filter(|(file, _)| file != "ugas.json");
    let name = |file: &str| match file.trim_end_matches(".json") {
        "attribute" => "Attribute".to_owned(),
        kind => kind.to_owned(),
    };
    all.map(|(file, schema)| (name(&file), schema)).collect()
}

/// A schema behind references and choices, with the name of its type.
fn resolved<'s>(home: &'s Value, schema: &'s Value) -> (Option<&'s str>, &'s Value) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/")) {
        return (Some(name), &home["$defs"][name]);
    }
    let choices = schema.get("anyOf").and_then(Value::as_array);
    match choices
        .filter(|_| schema.get("properties").is_none())
        .and_then(|list| list.iter().find(|c| c.get("type") != Some(&json!("null"))))
    {
        Some(choice) => resolved(home, choice),
        None => (None, schema),
    }
}

fn has(schema: &Value, mark: &str) -> bool {
    schema.get(mark).is_some()
}

/// The schema of every field.
#[derive(Default)]
struct Declared {
    fields: BTreeSet<Field>,
    refused: BTreeSet<Field>,
    /// Metadata in every kind that has it.
    metadata: BTreeSet<Field>,
}

impl Declared {
    fn read() -> Declared {
        let mut all = Declared::default();
        let mut acting = BTreeSet::new();
        for (kind, schema) in kinds() {
            let is_data = has(&schema, "x-ugas-metadata");
            let mut open = vec![(kind, schema.clone(), false)];
            let mut seen = BTreeSet::new();
            while let Some((name, at, below_refused)) = open.pop() {
                if !seen.insert((name.clone(), below_refused)) {
                    continue;
                }
                let type_is_data = is_data || has(&at, "x-ugas-metadata");
                for (key, field) in at["properties"].as_object().into_iter().flatten() {
                    if ["Kind", "$schema"].contains(&key.as_str()) {
                        continue;
                    }
                    let id = (name.clone(), key.clone());
                    let refused = has(field, "x-ugas-unsupported");
                    let below = types_in(&schema, field);
                    let of_data = below.iter().any(|(_, inner)| has(inner, "x-ugas-metadata"));
                    // A field that can have one value only cannot be changed.
                    if resolved(&schema, field).1["oneOf"].as_array().is_some_and(|values| values.len() == 1) {
                        continue;
                    }
                    all.fields.insert(id.clone());
                    match (refused || below_refused, type_is_data || of_data || has(field, "x-ugas-metadata")) {
                        (true, _) => _ = all.refused.insert(id.clone()),
                        (false, true) => _ = all.metadata.insert(id.clone()),
                        (false, false) => _ = acting.insert(id.clone()),
                    }
                    open.extend(below.into_iter().map(|(n, s)| (n, s, refused || below_refused)));
                }
            }
        }
        all.metadata.retain(|id| !acting.contains(id));
        // A type that is used elsewhere too, such as a magnitude, is not refused for it.
        all.refused.retain(|id| !acting.contains(id) && !all.metadata.contains(id));
        all
    }
}

/// The types that a field's value is made of.
fn types_in(home: &Value, field: &Value) -> Vec<(String, Value)> {
    let (name, schema) = resolved(home, field);
    if let Some(name) = name.filter(|_| schema.get("properties").is_some()) {
        return vec![(name.to_owned(), schema.clone())];
    }
    ["items", "additionalProperties"].iter().filter_map(|k| schema.get(k)).flat_map(|s| types_in(home, s)).collect()
}

/// The reference's documents by file.
fn base() -> BTreeMap<String, Vec<Value>> {
    let mut project = Project::default();
    REFERENCE_EXAMPLES.iter().for_each(|(file, text)| project.put(*file, *text));
    let docs = |s: &ugas_data::Source| s.docs.iter().map(|d| json_of(&d.tree)).collect();
    project.sources().iter().filter(|s| s.pack.is_none()).map(|s| (s.name.to_string(), docs(s))).collect()
}

/// What comes of documents.
enum Outcome {
    /// They have errors.
    Wrong,
    /// The compiled rules, and the findings if they were asked for.
    Right(String, Vec<String>),
}

/// Builds the rules; the findings of a whole check are costly and are collected only if `thorough`.
fn outcome(files: &BTreeMap<String, Vec<Value>>, thorough: bool) -> Outcome {
    let mut project = Project::default();
    for (file, text) in REFERENCE_EXAMPLES.iter().filter(|(file, _)| *file == "pack.yaml") {
        project.put(*file, *text);
    }
    for (file, docs) in files {
        let texts: Vec<String> = docs.iter().map(Value::to_string).collect();
        project.put(file, texts.join("\n---\n"));
    }
    let (Some(rules), _) = project.build(&project.sets()[0]) else { return Outcome::Wrong };
    if project.sources().iter().any(|s| !s.is_valid()) {
        return Outcome::Wrong;
    }
    let findings = if thorough { project.check() } else { Vec::new() };
    if findings.iter().any(|f| f.severity == Severity::Error) {
        return Outcome::Wrong;
    }
    Outcome::Right(rules.compiled_text(), findings.iter().map(|f| format!("{}: {}", f.id, f.message)).collect())
}

/// A replacement for a value; `None` removes the field.
fn others(home: &Value, schema: &Value, value: &Value) -> Vec<Option<Value>> {
    let (_, schema) = resolved(home, schema);
    let mut list: Vec<Option<Value>> = Vec::new();
    match value {
        Value::Bool(b) => list.push(Some(json!(!b))),
        Value::Number(n) => {
            let n = n.as_f64().unwrap_or_default();
            let near = [n + 1.0, n - 1.0, n + 0.1, n - 0.1, n * 2.0, 0.0];
            list.extend(near.map(|n| Some(if n.fract() == 0.0 { json!(n as i64) } else { json!(n) })));
        }
        Value::String(text) => {
            let consts = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
            list.extend(consts.filter_map(|c| c.get("const")).filter(|c| *c != value).map(|c| Some(c.clone())));
            if list.is_empty() {
                list.extend(TEXTS.iter().filter(|t| *t != text).map(|t| Some(json!(t))));
            }
        }
        Value::Array(items) => {
            if let Some(first) = items.first() {
                for other in others(home, &schema["items"], first).into_iter().flatten() {
                    let mut items = items.clone();
                    items[0] = other;
                    list.push(Some(Value::Array(items)));
                }
            }
        }
        Value::Object(map) if schema.get("properties").is_none() => {
            for (key, inner) in map {
                for other in others(home, &schema["additionalProperties"], inner).into_iter().flatten() {
                    let mut map = map.clone();
                    map.insert(key.clone(), other);
                    list.push(Some(Value::Object(map)));
                }
            }
        }
        _ => {}
    }
    list.push(None);
    list
}

/// One occurrence of a field in the documents, with the fields around it.
struct Occurrence {
    field: Field,
    around: Vec<Field>,
    file: String,
    doc: usize,
    pointer: String,
    others: Vec<Option<Value>>,
}

fn occurrences(files: &BTreeMap<String, Vec<Value>>) -> Vec<Occurrence> {
    let schemas: BTreeMap<String, Value> = schemas().into_iter().collect();
    let mut found = Vec::new();
    for (file, docs) in files {
        for (doc, value) in docs.iter().enumerate() {
            let kind = value["Kind"].as_str().expect("a kind");
            let home = &schemas[&format!("{kind}.json")];
            let root = if kind == "attribute" { "Attribute" } else { kind };
            let at = Place { home, pointer: String::new(), around: Vec::new() };
            walk(&at, (Some(root), home), value, &mut |field, at, others| {
                let (pointer, around) = (at.pointer.clone(), at.around.clone());
                found.push(Occurrence { field, around, file: file.clone(), doc, pointer, others });
            });
        }
    }
    found
}

/// The position of a walk through a document.
struct Place<'s> {
    home: &'s Value,
    pointer: String,
    around: Vec<Field>,
}

impl<'s> Place<'s> {
    fn below(&self, key: &str, field: Option<&Field>) -> Place<'s> {
        let around = self.around.iter().chain(field).cloned().collect();
        Place { home: self.home, pointer: format!("{}/{key}", self.pointer), around }
    }
}

fn walk(
    at: &Place<'_>,
    (name, schema): (Option<&str>, &Value),
    value: &Value,
    visit: &mut impl FnMut(Field, &Place<'_>, Vec<Option<Value>>),
) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter().filter(|(key, _)| !["Kind", "$schema"].contains(&key.as_str())) {
                let property = schema.get("properties").and_then(|p| p.get(key));
                let field = name.filter(|_| property.is_some()).map(|name| (name.to_owned(), key.clone()));
                if let (Some(field), Some(property)) = (&field, property) {
                    visit(field.clone(), &at.below(key, None), others(at.home, property, inner));
                }
                if let Some(below) = property.or_else(|| schema.get("additionalProperties")) {
                    walk(&at.below(key, field.as_ref()), resolved(at.home, below), inner, visit);
                }
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                walk(&at.below(&i.to_string(), None), resolved(at.home, &schema["items"]), inner, visit);
            }
        }
        _ => {}
    }
}

fn changed(
    files: &BTreeMap<String, Vec<Value>>,
    at: &Occurrence,
    other: &Option<Value>,
) -> BTreeMap<String, Vec<Value>> {
    let mut files = files.clone();
    let doc = &mut files.get_mut(&at.file).expect("a file")[at.doc];
    let (map, key) = at.pointer.rsplit_once('/').expect("a way to the field");
    if let Some(Value::Object(map)) = doc.pointer_mut(map) {
        match other {
            Some(value) => _ = map.insert(key.to_owned(), value.clone()),
            None => _ = map.remove(key),
        }
    }
    files
}

/// Whether another value of the field changes something.
fn acts(files: &BTreeMap<String, Vec<Value>>, before: (&str, &[String]), at: &Occurrence) -> bool {
    let decides = DECIDING.contains(&(&at.field.0, &at.field.1));
    at.others.iter().any(|other| {
        let files = changed(files, at, other);
        match outcome(&files, false) {
            Outcome::Wrong => decides,
            Outcome::Right(compiled, _) if compiled != before.0 => true,
            Outcome::Right(..) => match outcome(&files, true) {
                Outcome::Wrong => decides,
                Outcome::Right(_, findings) => findings != before.1,
            },
        }
    })
}

/// Whether another value of the field changes the compiled rules; a few values are enough.
fn changes_rules(files: &BTreeMap<String, Vec<Value>>, before: &str, at: &Occurrence) -> bool {
    at.others.iter().rev().take(2).any(|other| match outcome(&changed(files, at, other), false) {
        Outcome::Wrong => false,
        Outcome::Right(compiled, _) => compiled != before,
    })
}

#[test]
fn every_field_changes_the_rules_is_declared_as_data_or_is_refused() {
    let declared = Declared::read();
    let files = base();
    let Outcome::Right(compiled, findings) = outcome(&files, true) else { panic!("the reference has errors") };
    let mut acting: BTreeSet<Field> = BTreeSet::new();
    let mut failures = Vec::new();
    for at in occurrences(&files) {
        let is_data = |field: &Field| declared.metadata.contains(field);
        if is_data(&at.field) {
            let has_tags = TAGS_OF_HOST_DATA.contains(&(&at.field.0, &at.field.1));
            if changes_rules(&files, &compiled, &at) && !has_tags {
                failures.push(format!("{:?} is declared as data but changes the rules", at.field));
            }
        } else if at.around.iter().chain([&at.field]).any(|f| !acting.contains(f))
            && acts(&files, (&compiled, &findings), &at)
        {
            acting.extend(at.around.iter().chain([&at.field]).cloned());
        }
    }
    let elsewhere: BTreeSet<Field> = ELSEWHERE.iter().map(|(t, f, ..)| ((*t).to_owned(), (*f).to_owned())).collect();
    for field in &declared.fields {
        let known = acting.contains(field)
            || declared.metadata.contains(field)
            || declared.refused.contains(field)
            || elsewhere.contains(field);
        if !known {
            failures.push(format!(
                "{field:?}: no other value in the reference's example changes anything; set it there to something that \
                 does, mark it x-ugas-metadata, or refuse it"
            ));
        }
    }
    assert!(declared.fields.len() > 250, "{} fields", declared.fields.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_test_listed_for_a_field_exists() {
    for (_, _, file, name) in ELSEWHERE {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(&path).expect("a test");
        assert!(text.contains(&format!("fn {name}(")), "{file} has no test {name}");
    }
}

#[test]
fn every_refused_field_is_an_error_with_a_reason() {
    let listed: BTreeSet<Field> = REFUSED.iter().map(|(t, f, _)| ((*t).to_owned(), (*f).to_owned())).collect();
    let marked: BTreeSet<Field> = kinds()
        .into_iter()
        .flat_map(|(kind, schema)| {
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            let marked = fields.into_iter().filter(|(_, field)| has(field, "x-ugas-unsupported"));
            marked.map(move |(key, _)| (kind.clone(), key)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(listed, marked);
    for (_, field, text) in REFUSED {
        let mut project = Project::default();
        project
            .put("base.yaml", "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 1}]\n");
        project.put("it.yaml", text);
        let findings = project.check();
        let finding =
            findings.iter().find(|f| f.id == "unsupported-field").unwrap_or_else(|| panic!("{field}: {findings:#?}"));
        assert!(finding.severity == Severity::Error && finding.message.contains(field), "{finding:?}");
        let (line, start) = (text.lines().count() as u32, text.lines().last().map_or(0, |l| l.find(':').unwrap_or(0)));
        assert_eq!((&*finding.file, finding.line), ("it.yaml", line), "{field}");
        assert!(finding.column as usize > start, "{field}: {finding:?}");
    }
}
