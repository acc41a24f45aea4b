//! A form changes one value of a text and nothing else.

use proptest::prelude::*;
use ugas_data::{FormError, Node, NodeValue, Step, read_trees, set_value};

const TEXT: &str = "\
# Two documents, written by somebody with habits.
Kind: gameplay_effect   # the first
Name: GE_Burn
Duration: {Type: ScalableFloat, Value: 4} # seconds
Period:   # to be thought about
Modifiers:
  # the burn itself
  - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: -5}}
  - Attribute: Mana   # and this
    Operation: Add

    Magnitude: {Type: ScalableFloat, Value: -1}
GrantedTags: [State.Burning]
Metadata: {Description: 'It''s hot'}
---
# The other one.
Kind: curve
Name: \"C_A\"
Points: [{X: 1, Y: 2}]
";

fn way(steps: &[&str]) -> Vec<Step> {
    steps.iter().map(|s| s.parse().map_or_else(|_| Step::Key((*s).to_owned()), Step::At)).collect()
}

fn value(text: &str) -> NodeValue {
    read_trees("value", text).unwrap().remove(0).value
}

fn set(text: &str, document: usize, steps: &[&str], json: &str) -> String {
    set_value(text, document, &way(steps), Some(&value(json))).unwrap()
}

#[test]
fn setting_a_value_changes_only_that_value() {
    let cases = [
        (0, &["Duration", "Value"][..], "2.5", "Value: 4}", "Value: 2.5}"),
        (0, &["Modifiers", "0", "Magnitude", "Value"], "-7", "Value: -5}", "Value: -7}"),
        (0, &["Modifiers", "1", "Operation"], "\"Multiply\"", "    Operation: Add", "    Operation: Multiply"),
        (0, &["Name"], "\"a: b\"", "Name: GE_Burn", "Name: 'a: b'"),
        (0, &["Metadata", "Description"], "\"it's cold\"", "'It''s hot'", "'it''s cold'"),
        (1, &["Name"], "\"C_B\"", "\"C_A\"", "\"C_B\""),
        (0, &["GrantedTags", "1"], "\"State.Hot\"", "[State.Burning]", "[State.Burning, State.Hot]"),
        (0, &["GrantedTags"], "[]", "[State.Burning]", "[]"),
        (0, &["Period", "Period"], "1", "Period:   # to", "Period: {Period: 1}   # to"),
        (0, &["Stacking", "Limit"], "3", "'It''s hot'}\n", "'It''s hot'}\nStacking: {Limit: 3}\n"),
        (0, &["Modifiers", "2"], "{\"Attribute\": \"Rage\"}", "Value: -1}\n", "Value: -1}\n  - {Attribute: Rage}\n"),
        (0, &["Modifiers", "1", "Channel"], "\"Fire\"", "Value: -1}\n", "Value: -1}\n    Channel: Fire\n"),
    ];
    for (document, steps, json, from, to) in cases {
        assert_eq!(TEXT.matches(from).count(), 1, "{from}");
        assert_eq!(set(TEXT, document, steps, json), TEXT.replace(from, to), "{steps:?}");
    }
}

#[test]
fn removing_a_value_removes_its_line_and_nothing_else() {
    let without = |steps: &[&str]| set_value(TEXT, 0, &way(steps), None);
    assert_eq!(without(&["GrantedTags"]).unwrap(), TEXT.replace("GrantedTags: [State.Burning]\n", ""));
    assert_eq!(without(&["Modifiers", "0", "Operation"]).unwrap(), TEXT.replacen(", Operation: Add", "", 1));
    assert_eq!(without(&["GrantedTags", "0"]).unwrap(), TEXT.replace("[State.Burning]", "[]"));
    // A comment would go with it.
    for steps in [&["Duration"][..], &["Modifiers", "1"], &["Period"]] {
        assert!(matches!(without(steps), Err(FormError::ByHand(_))), "{steps:?}");
    }
}

#[test]
fn an_impossible_change_is_an_error_with_a_reason() {
    let of = |text: &str, document, steps: &[&str]| set_value(text, document, &way(steps), Some(&NodeValue::Null));
    assert!(matches!(of(TEXT, 2, &["Name"]), Err(FormError::NoPlace(_))));
    assert!(matches!(of(TEXT, 0, &["Modifiers", "9"]), Err(FormError::ByHand(_) | FormError::NoPlace(_))));
    assert!(matches!(of(TEXT, 0, &["Modifiers"]), Err(FormError::ByHand(_))), "a block of lines is not a field");
    assert!(matches!(of("{{{", 0, &["Name"]), Err(FormError::Unreadable(_))));
    let error = of(TEXT, 0, &["Modifiers"]).unwrap_err().to_string();
    assert_eq!(error, "cannot change Modifiers without changing other values; edit the text");
}

#[test]
fn line_endings_are_kept() {
    let text = "Kind: curve\r\nName: C_A # a\r\n";
    assert_eq!(set(text, 0, &["Csv"], "\"a.csv\""), "Kind: curve\r\nName: C_A # a\r\nCsv: a.csv\r\n");
    assert_eq!(set("Kind: curve\nName: C_A", 0, &["Csv"], "\"a.csv\""), "Kind: curve\nName: C_A\nCsv: a.csv");
}

/// Every place of a tree, with the way there.
fn places(node: &Node, way: &mut Vec<Step>, all: &mut Vec<Vec<Step>>) {
    all.push(way.clone());
    let below = node.entries().iter().map(|e| (Step::Key(e.key.clone()), &e.value));
    let below: Vec<_> = below.chain(node.items().iter().enumerate().map(|(i, n)| (Step::At(i), n))).collect();
    for (step, inner) in below {
        way.push(step);
        places(inner, way, all);
        way.pop();
    }
}

/// Every comment of the text that is changed.
fn comments() -> Vec<&'static str> {
    TEXT.lines().filter_map(|l| l.find('#').map(|at| &l[at..])).collect()
}

proptest! {
    #[test]
    fn any_set_value_reads_back_and_every_comment_is_kept(
        at in 0usize..40,
        text in "[ -~äß\n\t]{0,12}",
        number in prop_oneof![-1e6f64..1e6, Just(0.0), Just(1e21), Just(1e-9)],
        kind in 0u8..4,
    ) {
        let tree = &read_trees("a.yaml", TEXT).unwrap()[0];
        let mut all = Vec::new();
        places(tree, &mut Vec::new(), &mut all);
        let way = &all[at % all.len()];
        let new = match kind {
            0 => NodeValue::Text(text),
            1 => NodeValue::Number(number),
            2 => NodeValue::Bool(true),
            _ => value("[{\"A\": \"b c\"}, 1]"),
        };
        if let Ok(result) = set_value(TEXT, 0, way, Some(&new)) {
            let lines = |comment: &&str| result.lines().any(|l| l.ends_with(*comment));
            prop_assert!(comments().iter().all(lines), "{}", result);
            let after = &read_trees("a.yaml", &result).unwrap();
            let found = way.iter().try_fold(&after[0], |n, s| match s {
                Step::Key(k) => n.get(k),
                Step::At(i) => n.at(*i),
            });
            let actual = format!("{:?}", found.map(|n| n.describe().to_string()));
            let expected = Node { value: new, line: 0, column: 0, span: Default::default() };
            prop_assert_eq!(actual, format!("{:?}", Some(expected.describe().to_string())));
            // The rest of the file is unchanged.
            let kept = TEXT.lines().filter(|l| result.lines().any(|r| r == *l)).count();
            prop_assert!(TEXT.lines().count() - kept <= 1, "{}", result);
        }
    }
}
