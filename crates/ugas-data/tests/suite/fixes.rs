//! Fixes keep everything else: comments, order and spaces. A second run changes nothing.

use std::path::Path;
use ugas_data::{FileFix, Project, lint_rules};

const HEAD: &str = "# Boots.\nKind: attribute\nName: Speed\nDefaultBaseValue: 5\n---\n";

fn fixes(text: &str) -> Vec<FileFix> {
    let mut project = Project::default();
    project.put("a.yaml", text);
    let fixes = project.fixes();
    for fix in &fixes {
        let mut reread = Project::default();
        reread.put("a.yaml", fix.text.clone());
        assert!(reread.fixes().iter().all(|f| f.changes.is_empty()), "mending twice changes more: {}", fix.text);
    }
    fixes
}

fn fixed(text: &str) -> (String, Vec<String>) {
    match fixes(text).pop() {
        Some(fix) => (fix.text, fix.changes.iter().map(|c| format!("{}:{} {}", c.line, c.column, c.title)).collect()),
        None => (text.to_owned(), Vec::new()),
    }
}

#[test]
fn a_misspelt_name_is_corrected() {
    let before = format!(
        "{HEAD}Kind: gameplay_effect\nName: GE_Boots\nDurationPolicy:   Infinite # as long as they are worn\n\
         Modifiers:\n  # Speed, but for the spelling.\n  - Attribute: \"Sped\"\n    Operation: Add\n    \
         Magnitude: {{Type: ScalableFloat,   Value: 5}}\n"
    );
    let (after, changes) = fixed(&before);
    assert_eq!(changes, ["11:17 write Speed"]);
    assert_eq!(after, before.replace("\"Sped\"", "\"Speed\""));
}

#[test]
fn an_ignored_channel_is_removed_in_block_and_flow_style() {
    let before = format!(
        "{HEAD}Kind: gameplay_effect\nName: GE_Boots\nDurationPolicy: Infinite\nModifiers:\n  \
         - Attribute: Speed\n    Operation: Add\n    Channel: Boots\n    # five\n    \
         Magnitude: {{Type: ScalableFloat, Value: 5}}\n  \
         - {{Attribute: Speed, Channel: Boots, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: 6}}}} # six\n"
    );
    let (after, changes) = fixed(&before);
    assert_eq!(changes, ["12:5 remove Channel", "15:24 remove Channel"]);
    assert_eq!(after, before.replace("    Channel: Boots\n", "").replace(", Channel: Boots", ""));
}

#[test]
fn a_fix_that_would_remove_a_comment_is_not_made() {
    let before = format!(
        "{HEAD}Kind: gameplay_effect\nName: GE_Boots\nDurationPolicy: Infinite\nModifiers:\n  \
         - Attribute: Speed\n    Operation: Add\n    Channel: Boots # grouped\n    \
         Magnitude: {{Type: ScalableFloat, Value: 5}}\n"
    );
    assert_eq!(fixed(&before), (before, Vec::new()));
}

#[test]
fn json_is_fixed_too() {
    let modifier = r#"{"Attribute": "Speed", "Operation": "Add", "Magnitude": {"Type": "ScalableFloat", "Value": 5}, "Channel": "Boots"}"#;
    let mut project = Project::default();
    project.put("speed.json", r#"{"Kind": "attribute", "Name": "Speed", "DefaultBaseValue": 5}"#);
    let text = format!(
        r#"{{"Kind": "gameplay_effect", "Name": "GE_B", "DurationPolicy": "Infinite", "Modifiers": [{modifier}]}}"#
    );
    project.put("boots.json", text.clone());
    let fixes = project.fixes();
    assert_eq!(fixes.len(), 1);
    assert_eq!(fixes[0].path, Path::new("boots.json"));
    assert_eq!(fixes[0].text, text.replace(r#", "Channel": "Boots""#, ""));
}

#[test]
fn every_fix_changes_the_lines_it_lists_and_no_others() {
    let mut some = 0;
    for rule in lint_rules() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint").join(rule.id).join("bad.yaml");
        let before = std::fs::read_to_string(path).unwrap();
        for fix in fixes(&before) {
            some += fix.changes.len();
            let changed = before.lines().zip(fix.text.lines()).zip(1..).filter(|((a, b), _)| a != b);
            let changed: Vec<u32> = changed.map(|(_, line)| line).collect();
            assert_eq!(changed, fix.changes.iter().map(|c| c.line).collect::<Vec<_>>(), "{}", rule.id);
            assert!(fix.refused.is_empty());
        }
    }
    assert!(some > 0, "some rule should have a fix");
}
