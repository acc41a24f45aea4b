//! Profiles of players, saved, loaded and older than the data.

use crate::kit::{Rig, actions, docs, mapping};
use ugas_doc::{Doc, InputProfile};
use ugas_input::{OnConflict, ProfileError};

const STICK: &str = "---\nKind: input_modifier\nName: Stick\nType: DeadZone\nParams: {InnerThreshold: 0.1}\n\
UserConfigurable: true\n---\nKind: input_modifier\nName: Hidden\nType: DeadZone\n";

fn rig(lines: &[&str]) -> Rig {
    Rig::new(&(actions("Jump Fire Move:Axis2D") + &mapping(lines) + STICK))
}

const LINES: [&str; 3] = ["Jump: Key.Space", "Fire: Key.F", "Move: Gamepad.LeftStick; Modifiers: [Stick]"];

/// Writes a profile as a file and reads it again.
fn through_a_file(profile: &InputProfile) -> InputProfile {
    let text = ugas_data::to_yaml(&Doc::from(profile.clone()));
    let Doc::InputProfile(read) = docs(&text).remove(0) else { panic!("a profile") };
    *read
}

// covers: UGAS-11.8-02
#[test]
fn a_saved_profile_restores_the_changes() {
    let mut first = rig(&LINES);
    first.remap("Jump", None, "Key.Space", "Key.J", OnConflict::Warn);
    first.controls.set("Stick", "InnerThreshold", 0.3.into()).unwrap();
    let saved = through_a_file(&first.controls.profile());
    let mut second = rig(&LINES);
    assert_eq!(second.controls.load_profile(&saved), Ok(Vec::new()));
    assert_eq!(second.controls.bindings(), first.controls.bindings());
    assert_eq!(second.controls.settings(), first.controls.settings());
    assert_eq!(second.press("Key.J", 1).step(16), ["1 Press Jump"]);
}

#[test]
fn a_profile_survives_new_data_and_keeps_what_fits_no_more() {
    let mut old = rig(&LINES);
    old.remap("Jump", None, "Key.Space", "Key.J", OnConflict::Warn);
    old.remap("Fire", None, "Key.F", "Key.G", OnConflict::Warn);
    old.controls.set("Stick", "InnerThreshold", 0.3.into()).unwrap();
    let saved = old.controls.profile();
    // The new data has another default for Jump, and a new binding of Fire.
    let lines = ["Jump: Key.Tab", "Fire: Key.F", "Fire: Mouse.LeftButton", LINES[2]];
    let mut new = rig(&lines);
    let issues = new.controls.load_profile(&saved).unwrap();
    assert_eq!(issues.len(), 1);
    assert_eq!(issues[0].to_string(), "Play Jump: the controls have no such binding");
    assert_eq!(new.press("Key.G", 1).press("Key.Tab", 2).step(16), ["1 Press Fire", "2 Press Jump"]);
    assert_eq!(new.press("Mouse.LeftButton", 20).release("Key.G", 21).step(32).len(), 0, "the new binding is there");
    let mut again = rig(&LINES);
    assert_eq!(again.controls.load_profile(&through_a_file(&new.controls.profile())), Ok(Vec::new()));
    assert_eq!(again.controls.bindings(), old.controls.bindings(), "nothing was lost");
}

#[test]
fn a_profile_cannot_change_what_is_fixed_or_invalid() {
    let text = "Kind: input_profile\nVersion: 1\nChanges:\n  - {ActionSet: Play, Action: Fire, From: [{Device: \
Keyboard, Input: Key.F}], To: [{Device: Gamepad, Input: Key.G}]}\n  - {ActionSet: Play, Action: Jump, From: [{Device: \
Keyboard, Input: Key.Space}], To: [{Device: Keyboard, Input: Key.H}]}\n  - {ActionSet: Play, Action: Fire, From: \
[{Device: Keyboard, Input: Key.F}], To: [{Device: Keyboard, Input: Key.G}]}\n  - {ActionSet: Play, Action: Fire, From: \
[{Device: Keyboard, Input: Key.F}], To: [{Device: Keyboard, Input: Key.K}]}\nModifiers: {Hidden: {InnerThreshold: \
0.2}, Stick: {InnerThreshold: 7, OuterThreshold: 0.05}, Gone: {X: 1}}\n";
    let Doc::InputProfile(profile) = docs(text).remove(0) else { panic!("a profile") };
    let lines = ["Jump: Key.Space; bIsRebindable: false", "Fire: Key.F", LINES[2]];
    let mut rig = rig(&lines);
    let issues = rig.controls.load_profile(&profile).unwrap();
    let all: Vec<String> = issues.iter().map(ToString::to_string).collect();
    assert_eq!(all.len(), 7, "{all:#?}");
    for part in ["not of Gamepad", "cannot be changed", "twice", "from 0 to 1", "must be less", "no such modifier"] {
        assert!(all.iter().any(|issue| issue.contains(part)), "{part} in {all:#?}");
    }
    assert_eq!(rig.press("Key.G", 1).press("Key.Space", 2).step(16), ["1 Press Fire", "2 Press Jump"]);
    let mut saved = rig.controls.profile();
    let key = |change: &ugas_doc::BindingChange| format!("{change:?}");
    let mut given = profile.changes.clone();
    saved.changes.sort_by_key(key);
    given.sort_by_key(key);
    assert_eq!((saved.changes, saved.modifiers), (given, profile.modifiers), "everything is kept");
}

#[test]
fn another_version_is_refused_and_changes_nothing() {
    let mut rig = rig(&LINES);
    rig.remap("Jump", None, "Key.Space", "Key.J", OnConflict::Warn);
    let before = rig.controls.profile();
    let future = InputProfile { version: 2, ..InputProfile::default() };
    assert_eq!(rig.controls.load_profile(&future), Err(ProfileError::Version { found: 2 }));
    assert_eq!(rig.controls.profile(), before);
}
