//! The formatter: idempotent, keeps every value, comment and key, and every generated file.

use proptest::prelude::*;
use ugas_data::{Node, NodeValue, format, read_str, read_trees, to_yaml};

fn tidy(text: &str) -> String {
    let once = format("a.yaml", text).unwrap();
    assert_eq!(format("a.yaml", &once).unwrap(), once, "a second run changes nothing");
    once
}

#[test]
fn indentation_dashes_colons_and_commas_are_formatted() {
    let text = "# head\nKind:   gameplay_effect\nName: GE_A\nModifiers:\n-   Attribute:  Health\n    Operation: Add   # why\n    # about the magnitude\n    Magnitude: { Type: ScalableFloat ,Value: -5 }\n\n\n\nGrantedTags:\n        - State.A\n        # between\n        - State.B\n";
    let wanted = "# head\nKind: gameplay_effect\nName: GE_A\nModifiers:\n  - Attribute: Health\n    Operation: Add   # why\n    # about the magnitude\n    Magnitude: {Type: ScalableFloat, Value: -5}\n\nGrantedTags:\n  - State.A\n  # between\n  - State.B\n";
    assert_eq!(tidy(text), wanted);
}

#[test]
fn multi_line_texts_keep_their_indentation() {
    let text = "Name: A\nText: |\n    one\n      two  \n\n    three\nMap:\n      Deep: >-\n          folded\n          text\n      Next: \"quoted\n        over lines\"\nFlow: [1,\n  2,\n     3]\n---\nName: B\n";
    let shaped = tidy(text);
    assert!(shaped.contains("Text: |\n    one\n      two  \n\n    three\n"), "{shaped}");
    assert!(
        shaped.contains("Map:\n  Deep: >-\n      folded\n      text\n  Next: \"quoted\n    over lines\"\n"),
        "{shaped}"
    );
    assert!(shaped.ends_with("---\nName: B\n"), "{shaped}");
}

#[test]
fn a_comment_stays_with_its_block() {
    let text = "A:\n    B: 1\n    # of A\nC: 2\n# last\n";
    assert_eq!(tidy(text), "A:\n  B: 1\n  # of A\nC: 2\n# last\n");
}

#[test]
fn invalid_yaml_is_refused_with_its_location() {
    let errors = format("a.yaml", "A: [1\nB: 2\n").unwrap_err();
    assert!(errors[0].line >= 1);
}

#[test]
fn every_pack_and_scenario_file_is_formatted_and_keeps_its_meaning() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    let mut folders = vec![root.join("packs"), root.join("scenarios")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "yaml") {
                let text = std::fs::read_to_string(&path).unwrap();
                assert_eq!(tidy(&text), text, "{} is not formatted; run `ugas fmt`", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

/// Trees written in odd ways: any indentation, comments, flow and block mixed.
fn yaml(depth: u32) -> BoxedStrategy<(String, bool)> {
    let scalar = prop_oneof![
        "[a-zA-Z][a-zA-Z0-9_.]{0,8}",
        (-1000i32..1000).prop_map(|n| n.to_string()),
        Just("\"a: b # c\"".to_owned()),
        Just("'it''s'".to_owned()),
        Just("[1 ,2,  x]".to_owned()),
        Just("{A:  1,B: [ 2 ]}".to_owned()),
        Just("{}".to_owned()),
    ]
    .prop_map(|s| (s, false));
    if depth == 0 {
        return scalar.boxed();
    }
    let inner = yaml(depth - 1);
    let gap = prop_oneof![Just(""), Just("# note\n"), Just("\n\n\n")];
    let map =
        (prop::collection::vec((inner.clone(), gap, 1usize..4), 1..4), 1usize..5).prop_map(|(entries, indent)| {
            let mut out = String::new();
            for (i, ((value, block), note, spaces)) in entries.into_iter().enumerate() {
                out.push_str(note);
                if block {
                    out.push_str(&format!("K{i}:\n{}", shift(&value, indent)));
                } else {
                    out.push_str(&format!("K{i}:{}{value}  # end\n", " ".repeat(spaces)));
                }
            }
            (out, true)
        });
    let list = (prop::collection::vec(inner, 1..4), 1usize..4).prop_map(|(items, spaces)| {
        let mut out = String::new();
        for (value, block) in items {
            let head = format!("-{}", " ".repeat(spaces));
            if block && !value.starts_with(['#', '\n']) {
                out.push_str(&head);
                out.push_str(shift(&value, spaces + 1).trim_start());
            } else if block {
                out.push_str(&format!("-\n{}", shift(&value, spaces + 1)));
            } else {
                out.push_str(&format!("{head}{value}\n"));
            }
        }
        (out, true)
    });
    prop_oneof![scalar, map, list].boxed()
}

fn shift(text: &str, by: usize) -> String {
    text.lines().map(|l| if l.is_empty() { "\n".to_owned() } else { format!("{}{l}\n", " ".repeat(by)) }).collect()
}

/// Writes a tree as one line with types, order and values, without lines, columns and spans.
fn without_places(node: &Node) -> String {
    match &node.value {
        NodeValue::List(items) => format!("[{}]", items.iter().map(without_places).collect::<Vec<_>>().join(", ")),
        NodeValue::Map(entries) => {
            let entry = |e: &ugas_data::Entry| format!("{:?}: {}", e.key, without_places(&e.value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        scalar => format!("{scalar:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn formatting_any_style_is_idempotent_and_keeps_every_comment((text, _) in yaml(4)) {
        if let Ok(trees) = read_trees("a.yaml", &text) {
            let shaped = tidy(&text);
            let reread = read_trees("a.yaml", &shaped).unwrap();
            let values = |trees: &[Node]| trees.iter().map(without_places).collect::<Vec<_>>();
            prop_assert_eq!(values(&reread), values(&trees), "{}", shaped);
            prop_assert_eq!(text.matches('#').count(), shaped.matches('#').count());
            // Only a shape that had to be left alone may still have three empty lines in a row.
            prop_assert!(shaped == text || !shaped.contains("\n\n\n"), "{shaped}");
        }
    }

    #[test]
    fn saved_documents_read_the_same_when_formatted(name in "[A-Z][a-z]{1,8}", value in -1e6f64..1e6) {
        let doc = ugas_doc::Doc::from(ugas_doc::Effect::instant(name).add("Health", value).grants("State.A"));
        let shaped = tidy(&to_yaml(&doc));
        prop_assert_eq!(&read_str("a.yaml", &shaped).unwrap().docs[0].doc, &doc);
    }
}

#[test]
fn list_items_are_indented_after_comments_and_block_markers() {
    for (text, wanted) in [
        ("A:\n- |-\n     one\n- b\n", "A:\n  - |-\n       one\n  - b\n"),
        ("A:\n- >-\n   two\n", "A:\n  - >-\n     two\n"),
        ("A:\n-   # why\n    B: 1\n", "A:\n  -   # why\n    B: 1\n"),
        ("A:\n-\n# margin\n    C: 2\n", "A:\n  -\n  # margin\n    C: 2\n"),
        ("A:\n-     - 3\n", "A:\n  - - 3\n"),
    ] {
        assert_eq!(tidy(text), wanted);
    }
}
