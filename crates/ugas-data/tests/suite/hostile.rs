//! Hostile files: alias bombs, deep nesting, very large files and random bytes are refused quickly and cause no panic.

use proptest::prelude::*;
use ugas_data::limits::{MAX_BYTES, MAX_DEPTH, MAX_ERRORS, MAX_ERRORS_PER_DOCUMENT};
use ugas_data::{Code, Node, NodeValue, ReadError, read_str, read_trees, to_yaml};
use ugas_doc::{Ability, AbilityTask, Doc, Metadata, Value};

fn refused(text: &str) -> ReadError {
    let mut errors = read_trees("evil.yaml", text).expect_err("must be refused").into_vec();
    errors.remove(0)
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..30 {
        let aliases = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{aliases}]\n"));
    }
    assert_eq!(refused(&bomb).code, Code::Limit);
}

#[test]
fn a_document_that_repeats_a_long_text_by_alias_is_refused() {
    let bomb = format!("- &a {}\n{}", "x".repeat(100_000), "- *a\n".repeat(1000));
    assert_eq!(refused(&bomb).code, Code::Limit);
}

#[test]
fn deep_nesting_is_refused_without_a_stack_overflow() {
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for i in 1..1000 {
        chain.push_str(&format!("a{i}: &a{i} [*a{}]\n", i - 1));
    }
    let towers = ["[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000), chain, "[".repeat(100)];
    for tower in &towers {
        let error = refused(tower);
        assert_eq!(error.code, Code::Limit, "{error}");
    }
    assert_eq!(refused(&"? ".repeat(100_000)).code, Code::Syntax, "a key that is a map");
    let highest = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(read_trees("high.yaml", &highest).is_ok());
    assert_eq!(refused(&format!("[{highest}]")).code, Code::Limit);
}

#[test]
fn nested_tasks_within_the_limit_are_read() {
    let mut text = "{Type: Wait}".to_owned();
    for _ in 0..(MAX_DEPTH - 4) / 2 {
        text = format!("{{Type: Sequence, Tasks: [{text}]}}");
    }
    let documents = read_str("tower.yaml", &format!("Kind: gameplay_ability\nName: GA\nTasks: [{text}]\n")).unwrap();
    assert_eq!(documents.docs.len(), 1);
}

#[test]
fn a_file_over_the_size_limit_is_refused_unread() {
    let giant = "a".repeat(MAX_BYTES + 1);
    let error = refused(&giant);
    assert_eq!((error.code, error.line), (Code::Limit, 0));
}

#[test]
fn the_number_of_reported_errors_is_limited() {
    let errors = read_trees("flood.yaml", &"[\n---\n".repeat(10_000)).unwrap_err();
    assert_eq!(errors.len(), MAX_ERRORS + 1);
    assert_eq!(
        errors[MAX_ERRORS].message,
        format!("reading stopped after {MAX_ERRORS} errors; correct these errors first")
    );
}

#[test]
fn unsupported_yaml_features_are_refused_with_a_message() {
    for (text, message) in [
        ("a: &a [*a]\n", "the alias is inside the value it refers to; remove the alias"),
        ("a: !weapon 1\n", "the YAML tag \"!weapon\" is not supported"),
        ("a: !weapon {b: 1}\n", "the YAML tag \"!weapon\" is not supported"),
        ("a: !!int text\n", "\"text\" is not a valid !!int"),
        ("? [a, b]\n: 1\n", "expected a key, found a list or a map"),
        ("&a a: 1\n*a : 2\n", "an alias cannot be a key; write the key itself"),
        (": 1\n", "expected a key before this value"),
    ] {
        let error = refused(text);
        assert_eq!((error.code, error.message.as_str()), (Code::Syntax, message), "{text}");
    }
}

#[test]
fn aliases_and_core_tags_are_read() {
    let tree = &read_trees("a.yaml", "a: &x {n: !!str 5, m: !!float 1}\nb: *x\nc: [*x]\n").unwrap()[0];
    assert_eq!(tree.get("b"), tree.get("a"));
    assert_eq!(tree.get("c").and_then(|c| c.at(0)), tree.get("a"));
    assert_eq!(tree.get("b").and_then(|b| b.get("n")).and_then(Node::as_text), Some("5"));
    assert_eq!(tree.get("b").and_then(|b| b.get("m")).and_then(Node::as_number), Some(1.0));
    assert_eq!(tree.get("b").map(|b| b.line), Some(1), "a copy keeps the location of its source");
}

#[test]
fn an_anchored_key_can_be_used_as_a_value() {
    let tree = &read_trees("a.yaml", "&k a: 1\nb: *k\n").unwrap()[0];
    assert_eq!(tree.get("b").and_then(Node::as_text), Some("a"));
}

#[test]
fn quoted_values_and_yaml_1_1_words_are_texts() {
    let tree = &read_trees("a.yaml", "[yes, on, 'true', \"1\", 1, true, ~, '']").unwrap()[0];
    let kinds: Vec<bool> = tree.items().iter().map(|n| n.as_text().is_some()).collect();
    assert_eq!(kinds, [true, true, true, true, false, false, false, true]);
    assert_eq!(tree.at(6).map(|n| &n.value), Some(&NodeValue::Null));
}

/// A document with a little of everything the reader knows.
const SEED: &str = r#"# a header
Kind: gameplay_effect
Name: &n "GE_Poison \u00e9"
DurationPolicy: HasDuration
Duration: {Type: ScalableFloat, Value: 1.0e1}
Modifiers:
  - Attribute: Health
    Operation: Add
    Magnitude: {Type: ScalableFloat, Value: -5}
GrantedTags: [State.Debuff.Poisoned, *n, 'single ''quoted''']
ApplicationCondition: |
  Health > 0
  and Mana > 0
---
{"Kind": "curve", "Name": "C", "Points": [{"X": 1, "Y": 2}, {"X": 0x10, "Y": .5}]}
...
---
Kind: curve
? Name
: Fire
"#;

#[test]
fn the_seed_of_the_mutations_is_valid() {
    let documents = read_str("seed.yaml", SEED).unwrap();
    assert_eq!(documents.docs.len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutations_of_a_document_never_panic(
        flips in prop::collection::vec((0..SEED.len(), any::<u8>()), 0..6),
        cut in 0..=SEED.len(),
        moved in prop::option::of((0..SEED.len(), 0..SEED.len(), 1usize..40)),
    ) {
        let mut bytes = SEED.as_bytes().to_vec();
        for (at, byte) in flips {
            bytes[at] = byte;
        }
        if let Some((from, to, length)) = moved {
            let piece = bytes[from..(from + length).min(bytes.len())].to_vec();
            bytes.splice(to..to, piece);
        }
        bytes.truncate(cut.max(SEED.len() / 4));
        let text = String::from_utf8_lossy(&bytes);
        match read_str("mutant.yaml", &text) {
            Ok(documents) => {
                for loaded in documents.docs {
                    let saved = to_yaml(&loaded.doc);
                    let reread = read_str("saved.yaml", &saved).map_err(|e| TestCaseError::fail(format!("{e}\n{saved}")))?;
                    prop_assert_eq!(&reread.docs[0].doc, &loaded.doc);
                }
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors.iter() {
                    // A lone carriage return also ends a line in YAML.
                    let lines = text.matches(['\n', '\r']).count() as u32 + 1;
                    prop_assert!(error.line >= 1 && error.line <= lines, "{}", error);
                    prop_assert!(error.column >= 1, "{}", error);
                }
            }
        }
    }

    #[test]
    fn random_text_never_panics(text in "[\\PC\\n\\t\\r\\[\\]{}:,&*!|>'\"#%@`?-]{0,200}") {
        let _ = read_str("noise.yaml", &text);
    }

    #[test]
    fn any_text_and_number_survives_saving(
        name in "\\PC{1,60}",
        description in any::<String>(),
        number in any::<f64>().prop_filter("finite", |n| n.is_finite()),
        word in prop::sample::select(vec!["yes", "null", "~", "1e5", "0x1F", ".nan", "true", "- a", "a: b", "#", "", " ", "\n\n", "=", "<<", "1_0", "---", "...", "\u{feff}", "\u{85}", "a\tb", "é\u{2028}", "\r\n"]),
        key in "\\PC{0,20}",
    ) {
        let params = [
            (key, Value::Text(word.to_owned())),
            ("number".to_owned(), Value::Number(number)),
            ("list".to_owned(), Value::List(vec![Value::Null, Value::Bool(true), Value::Map([(word.to_owned(), Value::Null)].into())])),
        ];
        let doc = Doc::from(Ability {
            metadata: Some(Metadata { description: Some(description), ..Metadata::default() }),
            tasks: vec![AbilityTask { kind: word.to_owned(), params: params.into(), tick_interval: Some(number), ..AbilityTask::default() }],
            ..Ability::new(name)
        });
        let saved = to_yaml(&doc);
        let reread = read_str("saved.yaml", &saved).map_err(|e| TestCaseError::fail(format!("{e}\n{saved}")))?;
        prop_assert_eq!(&reread.docs[0].doc, &doc, "{}", saved);
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    for number in ["1e999", "-1e999", ".inf", "-.inf", ".nan", &"9".repeat(400)] {
        let text = format!("Kind: curve\nName: C\nPoints: [{{X: 0, Y: {number}}}]\n");
        let error = read_str("huge.yaml", &text).unwrap_err().into_vec().remove(0);
        assert_eq!((error.line, error.column), (3, 20), "{number}: {error}");
    }
    for (level, good) in [("1", true), ("4294967295", true), ("4294967296", false), ("-1", false), ("1.5", false)] {
        let text = format!(
            "Kind: gameplay_effect\nName: GE\nDurationPolicy: Infinite\nGrantedAbilities: [{{AbilityClass: GA, Level: {level}}}]\n"
        );
        assert_eq!(read_str("level.yaml", &text).is_ok(), good, "{level}");
    }
}

#[test]
fn yes_is_neither_a_boolean_nor_a_number() {
    for word in ["yes", "on", "Yes", "y", "'true'", "1"] {
        let text = format!("Kind: gameplay_ability\nName: GA\nPassive: {word}\n");
        let error = read_str("yes.yaml", &text).unwrap_err().into_vec().remove(0);
        assert!(error.message.starts_with("Passive: expected true or false, found "), "{word}: {error}");
    }
    for word in ["yes", "true", "'1'", "one"] {
        let text = format!("Kind: gameplay_effect\nName: GE\nDurationPolicy: Instant\nPriority: {word}\n");
        let error = read_str("one.yaml", &text).unwrap_err().into_vec().remove(0);
        assert!(error.message.starts_with("Priority: expected a number, found "), "{word}: {error}");
    }
}

#[test]
fn a_duplicate_key_is_refused_at_any_depth() {
    for (text, place) in [
        ("a: 1\na: 2\n", (2, 1)),
        ("{a: 1, a: 2}", (1, 8)),
        ("a:\n  - {b: 1, \"b\": 2}\n", (2, 12)),
        ("{\"a\": 1,\n \"\\u0061\": 2}", (2, 2)),
    ] {
        let error = refused(text);
        assert_eq!((error.code, (error.line, error.column)), (Code::DuplicateKey, place), "{text}");
    }
}

#[test]
fn the_errors_of_one_document_are_limited() {
    let points: String = (0..10_000).map(|i| format!("  - {{X: {i}, Y: wrong}}\n")).collect();
    let errors = read_str("many.yaml", &format!("Kind: curve\nName: C\nPoints:\n{points}")).unwrap_err();
    assert_eq!(errors.len(), MAX_ERRORS_PER_DOCUMENT);
}
