//! Remapping and settings.

use crate::kit::{Rig, actions, input, mapping};
use ugas_doc::CompositeSlot;
use ugas_input::{Controls, OnConflict, Remap};

const WASD: &str = "Move: [Up Key.W, Down Key.S]";

fn rig() -> Rig {
    let lines = ["Jump: Key.Space", "Fire: Key.F", "Reload: Key.R", "Pause: Key.Escape; bIsRebindable: false", WASD];
    Rig::play("Jump Fire Reload Pause Move:Axis2D", &lines)
}

fn inputs(controls: &Controls, action: &str) -> Vec<String> {
    let infos = controls.bindings_for(action);
    infos.into_iter().flat_map(|info| info.inputs).map(|input| input.input).collect()
}

// covers: UGAS-11.8-01 UGAS-11.5-09
#[test]
fn a_binding_is_remapped_and_reset() {
    let mut rig = rig();
    assert_eq!(rig.remap("Jump", None, "Key.Space", "Key.J", OnConflict::Warn), Remap::Done);
    assert_eq!(inputs(&rig.controls, "Jump"), ["Key.J"]);
    assert_eq!(rig.press("Key.Space", 1).press("Key.J", 2).step(16), ["2 Press Jump"]);
    rig.controls.reset("Play");
    assert_eq!(inputs(&rig.controls, "Jump"), ["Key.Space"]);
    let mut fresh = rig.clone();
    fresh.seat = ugas_input::Seat::new();
    assert_eq!(fresh.press("Key.Space", 20).step(32), ["20 Press Jump"]);
}

#[test]
fn a_reset_writes_no_defaults_as_changes() {
    let mut rig = rig();
    rig.remap("Jump", None, "Key.Space", "Key.J", OnConflict::Warn);
    rig.remap("Fire", None, "Key.F", "Key.G", OnConflict::Warn);
    assert_eq!(rig.controls.profile().changes.len(), 2);
    rig.remap("Fire", None, "Key.G", "Key.F", OnConflict::Warn);
    assert_eq!(rig.controls.profile().changes.len(), 1, "back to the default is no change");
    rig.controls.reset("Play");
    assert!(rig.controls.profile().changes.is_empty());
}

// covers: UGAS-11.5-10 UGAS-11.8-03
#[test]
fn a_fixed_binding_is_neither_listed_nor_changed() {
    let mut rig = rig();
    assert!(rig.controls.rebindable().iter().all(|info| info.action != "Pause"));
    assert_eq!(rig.controls.rebindable().len(), 5, "three buttons and two directions");
    let before = rig.controls.bindings();
    assert_eq!(rig.remap("Pause", None, "Key.Escape", "Key.P", OnConflict::Swap), Remap::Fixed);
    let taken = Remap::Conflict { action: "Pause".into() };
    assert_eq!(rig.remap("Fire", None, "Key.F", "Key.Escape", OnConflict::Swap), taken);
    assert_eq!(rig.controls.bindings(), before);
}

// covers: UGAS-11.8-04
#[test]
fn a_conflict_is_reported_or_swapped() {
    let mut rig = rig();
    let taken = Remap::Conflict { action: "Reload".into() };
    assert_eq!(rig.remap("Fire", None, "Key.F", "Key.R", OnConflict::Warn), taken);
    assert_eq!(inputs(&rig.controls, "Fire"), ["Key.F"]);
    assert_eq!(rig.remap("Fire", None, "Key.F", "Key.R", OnConflict::Swap), Remap::Done);
    assert_eq!(
        (inputs(&rig.controls, "Fire"), inputs(&rig.controls, "Reload")),
        (vec!["Key.R".into()], vec!["Key.F".into()])
    );
}

#[test]
fn directions_of_a_composite_are_remapped_one_by_one() {
    let mut rig = rig();
    let up = Some(CompositeSlot::Up);
    assert_eq!(rig.remap("Move", up, "Key.W", "Key.ArrowUp", OnConflict::Warn), Remap::Done);
    assert_eq!(rig.remap("Move", up, "Key.ArrowUp", "Key.S", OnConflict::Swap), Remap::Done);
    assert_eq!(inputs(&rig.controls, "Move"), ["Key.S", "Key.ArrowUp"]);
    rig.press("Key.S", 1).step(16);
    assert_eq!(rig.values("Move"), [[0.0, 1.0, 0.0]]);
}

#[test]
fn inputs_that_do_not_fit_or_are_not_bound_change_nothing() {
    let mut rig = rig();
    let before = rig.controls.bindings();
    assert_eq!(rig.remap("Jump", None, "Key.J", "Key.K", OnConflict::Warn), Remap::NotBound);
    assert_eq!(rig.remap("Leap", None, "Key.Space", "Key.K", OnConflict::Warn), Remap::NotBound);
    let up = Some(CompositeSlot::Up);
    let stick = rig.remap("Move", up, "Key.W", "Gamepad.LeftStick", OnConflict::Warn);
    assert!(matches!(stick, Remap::WrongKind { .. }), "{stick:?}");
    let mut unknown = input("Key.J");
    unknown.input = "Key.Spac".into();
    let result = rig.controls.remap("Play", "Jump", None, &[input("Key.Space")], &[unknown], OnConflict::Warn);
    assert!(matches!(&result, Remap::WrongKind { reason } if reason.contains("did you mean")), "{result:?}");
    let none = rig.controls.remap("Play", "Jump", None, &[input("Key.Space")], &[], OnConflict::Warn);
    assert!(matches!(none, Remap::WrongKind { .. }));
    assert_eq!(rig.controls.bindings(), before);
}

#[test]
fn bindings_that_overlap_by_default_may_overlap_again() {
    let mut rig = Rig::new(&(actions("Pound Move:Axis2D") + &mapping(&["Pound: Key.S", WASD])));
    assert_eq!(rig.remap("Pound", None, "Key.S", "Key.Q", OnConflict::Warn), Remap::Done);
    assert_eq!(rig.remap("Pound", None, "Key.Q", "Key.S", OnConflict::Warn), Remap::Done);
    assert!(rig.controls.profile().changes.is_empty());
}

#[test]
fn a_chord_is_remapped_as_a_whole() {
    let mut rig = Rig::play("Alt", &["Alt: Key.LeftShift + Key.1"]);
    let (from, to) = ([input("Key.1"), input("Key.LeftShift")], [input("Key.LeftControl"), input("Key.2")]);
    assert_eq!(rig.controls.remap("Play", "Alt", None, &from, &to, OnConflict::Warn), Remap::Done);
    assert_eq!(rig.press("Key.LeftControl", 1).press("Key.2", 2).step(16), ["2 Press Alt"]);
}
