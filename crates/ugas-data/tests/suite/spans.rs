//! Every value and key has the span of its bytes, in any style.

use ugas_data::{Node, NodeValue, read_trees};

fn spans(node: &Node, text: &str, out: &mut Vec<String>) {
    out.push(node.span.of(text).expect("a span lies inside the text").to_owned());
    for entry in node.entries() {
        out.push(format!("key {}", entry.span.of(text).unwrap()));
        spans(&entry.value, text, out);
    }
    node.items().iter().for_each(|n| spans(n, text, out));
}

#[test]
fn spans_select_the_source_text() {
    let text = "# größe\nName: \"Bölt\"   # why\nTags: [A.B, 'c']\nList:\n  - {X: 1, Y: 2 }\n  - Z: 3\n    W: |\n      a\n      b\nLast: é\n";
    let tree = &read_trees("a.yaml", text).unwrap()[0];
    let mut seen = Vec::new();
    spans(tree, text, &mut seen);
    for wanted in ["\"Bölt\"", "[A.B, 'c']", "A.B", "'c'", "{X: 1, Y: 2 }", "key Z", "3", "é", "key Last"] {
        assert!(seen.iter().any(|s| s == wanted), "{wanted} is not in {seen:?}");
    }
    assert!(seen[0].starts_with("Name:") && seen[0].ends_with('é'), "{:?}", seen[0]);
    let second = tree.get("List").and_then(|l| l.at(1)).unwrap();
    assert!(second.span.of(text).unwrap().starts_with("Z: 3\n    W: |"), "{second:?}");
}

#[test]
fn the_span_of_a_plain_value_is_its_text_in_any_style() {
    let text = "A:\n- 1\n- two words\n- {B: [3, {C: four}], D: }\nE: {}\nF: []\nG:\n  H:\n    I: end";
    let tree = &read_trees("a.yaml", text).unwrap()[0];
    fn check(node: &Node, text: &str) {
        let cut = node.span.of(text).unwrap();
        match &node.value {
            NodeValue::Number(n) => assert_eq!(cut.parse::<f64>().unwrap(), *n),
            NodeValue::Text(t) => assert_eq!(cut, t),
            NodeValue::Map(entries) => entries.iter().for_each(|e| {
                assert_eq!(e.span.of(text), Some(e.key.as_str()));
                assert!(node.span.start <= e.span.start && e.value.span.end <= node.span.end);
                check(&e.value, text);
            }),
            NodeValue::List(items) => items.iter().for_each(|n| check(n, text)),
            NodeValue::Null | NodeValue::Bool(_) => {}
        }
    }
    check(tree, text);
    assert_eq!(tree.get("E").unwrap().span.of(text), Some("{}"));
    assert_eq!(tree.get("F").unwrap().span.of(text), Some("[]"));
}
