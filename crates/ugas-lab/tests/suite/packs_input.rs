//! The input documents of the packs: every name is defined, and the numbers equal the specification.

use std::collections::BTreeSet;
use std::path::Path;
use ugas_data::{read_packs, read_str};
use ugas_doc::{Bound, Category, Doc, InputModifier, ModifierType, ReplicationMode, Value};

const PACKS: [&str; 6] = ["action", "arena", "mmo", "racing", "rpg", "shooter"];

/// A pack's own documents.
fn docs(pack: &str) -> Vec<Doc> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(pack);
    let own = read_packs([folder]).unwrap().pop().unwrap();
    own.documents.docs.into_iter().map(|d| d.doc).collect()
}

#[test]
fn inputs_map_from_device_to_ability() {
    for pack in PACKS {
        let docs = docs(pack);
        let (mut actions, mut modifiers, mut sets, mut inputs) = (BTreeSet::new(), BTreeSet::new(), 0, BTreeSet::new());
        for doc in &docs {
            match doc {
                Doc::InputAction(a) => assert!(actions.insert(a.name.as_str()), "{pack}: {} twice", a.name),
                Doc::InputModifier(m) => assert!(modifiers.insert(m.name.as_str()), "{pack}: {} twice", m.name),
                Doc::Controller(c) => inputs.extend(c.granted_abilities.iter().filter_map(|g| g.input_id.as_deref())),
                Doc::AbilitySet(s) => inputs.extend(s.abilities.iter().filter_map(|g| g.input_id.as_deref())),
                _ => {}
            }
        }
        let mut live = BTreeSet::new();
        for doc in &docs {
            if let Doc::InputActionSet(set) = doc {
                sets += 1;
                live.extend(set.actions.iter().map(String::as_str));
            }
        }
        assert_eq!((sets, &live), (1, &actions), "{pack}: the set names exactly the actions there are");
        for doc in &docs {
            let Doc::InputMapping(mapping) = doc else { continue };
            assert!(docs.iter().any(|d| matches!(d, Doc::InputActionSet(s) if s.name == mapping.action_set)));
            let bound: BTreeSet<&str> = mapping.bindings.iter().map(|b| b.action.as_str()).collect();
            assert_eq!(bound, actions, "{pack}: a mapping binds every action");
            for modifier in mapping.bindings.iter().flat_map(|b| &b.modifiers) {
                assert!(modifiers.contains(modifier.as_str()), "{pack}: {modifier}");
            }
        }
        assert!(!inputs.is_empty() && inputs.is_subset(&actions), "{pack}: {inputs:?} of {actions:?}");
    }
}

fn modifier(pack: &str, name: &str) -> InputModifier {
    let found = docs(pack).into_iter().find_map(|d| match d {
        Doc::InputModifier(m) if m.name == name => Some((*m).clone()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{pack} has no {name}"))
}

fn is_stick_deadzone(m: &InputModifier) {
    assert_eq!((m.kind, m.user_configurable), (ModifierType::DeadZone, true));
    let number = |key: &str| m.params.get(key).and_then(Value::as_number);
    assert_eq!((number("InnerThreshold"), number("OuterThreshold")), (Some(0.15), Some(0.95)));
    assert_eq!(m.params.get("DeadZoneShape").and_then(Value::as_text), Some("Radial"));
}

// covers: UGAS-PACK.ACT-10
#[test]
fn the_platformer_has_one_modifier_and_twelve_tags() {
    is_stick_deadzone(&modifier("action", "StickDeadzone"));
    let docs = docs("action");
    assert_eq!(docs.iter().filter(|d| matches!(d, Doc::InputModifier(_))).count(), 1);
    let registry = docs.iter().find_map(|d| match d {
        Doc::TagRegistry(r) => Some(r),
        _ => None,
    });
    let tags: Vec<&str> = registry.unwrap().tags.iter().map(|t| t.tag.as_str()).collect();
    assert_eq!(tags.len(), 12);
    assert!(tags.contains(&"Status.JumpBuffered") && tags.contains(&"DamageType.Pit"));
}

// covers: UGAS-B.EX-08
#[test]
fn the_example_attribute_and_modifier_are_read_with_their_values() {
    let text = "\
$schema: https://raw.githubusercontent.com/jbltx/ugas/v1.0.0-draft.3/schemas/attribute.json
Name: Health
DefaultBaseValue: 100.0
Category: Resource
Clamping: {Min: 0, Max: MaxHealth}
ReplicationMode: All
Metadata: {DisplayName: Life, UICategory: Vital Stats}
---
$schema: https://raw.githubusercontent.com/jbltx/ugas/v1.0.0-draft.3/schemas/input_modifier.json
Name: StickDeadzone
Type: DeadZone
Params: {InnerThreshold: 0.15, OuterThreshold: 0.95, DeadZoneShape: Radial}
UserConfigurable: true
";
    let mut docs = read_str("examples.yaml", text).unwrap().docs.into_iter().map(|d| d.doc);
    let Some(Doc::Attribute(health)) = docs.next() else { panic!("an attribute") };
    assert_eq!((health.default_base_value, health.category), (Some(100.0), Category::Resource));
    assert_eq!(health.replication_mode, ReplicationMode::All);
    let clamping = health.clamping.as_ref().unwrap();
    assert_eq!((&clamping.min, &clamping.max), (&Some(Bound::Value(0.0)), &Some(Bound::Attribute("MaxHealth".into()))));
    assert_eq!(health.metadata.as_ref().unwrap().ui_category.as_deref(), Some("Vital Stats"));
    let Some(Doc::InputModifier(stick)) = docs.next() else { panic!("a modifier") };
    is_stick_deadzone(&stick);
}
