//! Chords: order, windows, broken chords.

use crate::kit::Rig;
use ugas_input::WhyNot;

// covers: UGAS-11.5-02
#[test]
fn a_chord_needs_all_its_inputs_in_any_order() {
    let lines = ["Alt: Key.LeftShift + Key.1"];
    let mut rig = Rig::play("Alt", &lines);
    assert!(rig.press("Key.1", 1).step(16).is_empty());
    assert!(matches!(&rig.why("Key.1")[..], [WhyNot::PartsMissing { inputs }] if inputs[0].input == "Key.LeftShift"));
    assert_eq!(rig.press("Key.LeftShift", 20).step(32), ["20 Press Alt"]);
    assert_eq!(rig.release("Key.1", 40).step(48), ["40 Release Alt"]);
    let mut rig = Rig::play("Alt", &lines);
    assert_eq!(rig.press("Key.LeftShift", 1).press("Key.1", 2).step(16), ["2 Press Alt"]);
}

#[test]
fn a_chord_of_higher_rank_hides_its_part() {
    let mut rig = Rig::play("Alt One", &["Alt: Key.LeftShift + Key.1; Priority: 1", "One: Key.1"]);
    assert_eq!(rig.press("Key.LeftShift", 1).press("Key.1", 2).step(16), ["2 Press Alt"]);
}

#[test]
fn at_equal_rank_the_chord_wins_over_its_part_but_not_over_others() {
    let lines = ["One: Key.1", "Alt: Key.LeftShift + Key.1", "Run: Key.LeftShift", "Ctrl: Key.LeftControl + Key.1"];
    let mut rig = Rig::play("One Alt Run Ctrl", &lines);
    assert_eq!(rig.press("Key.LeftShift", 1).press("Key.1", 2).step(16), ["1 Press Run", "2 Press Alt"]);
    assert_eq!(rig.press("Key.LeftControl", 20).step(32), ["20 Press Ctrl"], "neither chord contains the other");
}

#[test]
fn a_broken_chord_does_not_fire_its_part() {
    let mut rig = Rig::play("Alt One", &["Alt: Key.LeftShift + Key.1; Priority: 1", "One: Key.1"]);
    rig.press("Key.LeftShift", 1).press("Key.1", 2).step(16);
    assert_eq!(rig.release("Key.LeftShift", 20).step(32), ["20 Release Alt"]);
    assert!(rig.step(48).is_empty(), "1 is still down and stays consumed");
    assert!(rig.release("Key.1", 50).step(64).is_empty());
    assert_eq!(rig.press("Key.1", 70).step(80), ["70 Press One"]);
}

#[test]
fn a_part_of_a_broken_chord_stays_consumed_for_other_chords_below() {
    let lines = ["Alt: Key.LeftShift + Key.1; Priority: 1", "Low: Key.1 + Key.2"];
    let mut rig = Rig::play("Alt Low", &lines);
    rig.press("Key.LeftShift", 1).press("Key.1", 2).release("Key.LeftShift", 3).step(16);
    assert!(rig.press("Key.2", 20).step(32).is_empty());
    rig.release("Key.1", 40).press("Key.1", 41);
    assert_eq!(rig.step(48), ["41 Press Low"]);
}

#[test]
fn without_a_window_the_first_part_fires_at_once_and_stays_fired() {
    let mut rig = Rig::play("Alt One", &["Alt: Key.LeftShift + Key.1; Priority: 1", "One: Key.1"]);
    assert_eq!(rig.press("Key.1", 1).press("Key.LeftShift", 2).step(16), ["1 Press One", "2 Press Alt"]);
    assert_eq!(rig.release("Key.1", 20).step(32), ["20 Release Alt", "20 Release One"]);
}

#[test]
fn a_chord_window_lets_a_part_wait_for_the_rest() {
    let lines = ["Both: Key.A + Key.B; Priority: 1; ChordWindow: 0.05", "A: Key.A", "B: Key.B"];
    let mut rig = Rig::play("Both A B", &lines);
    rig.press("Key.A", 1).press("Key.B", 40);
    assert_eq!(rig.step(200), ["40 Press Both"]);
    let mut rig = Rig::play("Both A B", &lines);
    assert!(rig.press("Key.A", 1).step(20).is_empty());
    let answers = rig.why("Key.A");
    assert!(
        matches!(answers[1], WhyNot::ChordWindow { left } if left == ugas_core::SimTime::millis(31)),
        "{answers:?}"
    );
    assert_eq!(rig.step(200), ["51 Press A"]);
    let mut rig = Rig::play("Both A B", &lines);
    rig.press("Key.A", 1).release("Key.A", 10);
    assert_eq!(rig.step(200), ["10 Press A", "10 Release A"], "a short press is not lost");
}

#[test]
fn a_chord_that_sleeps_delays_nothing() {
    let lines = ["Both: Key.A + Key.B; Priority: 1; ChordWindow: 0.05; Tags: {RequiredTags: [Free]}", "A: Key.A"];
    let mut rig = Rig::play("Both A", &lines);
    assert_eq!(rig.press("Key.A", 1).step(16), ["1 Press A"]);
}

#[test]
fn a_hold_below_a_chord_ends_when_the_chord_is_complete() {
    let lines = ["Both: Key.A + Key.B; Priority: 1", "Long: Key.A; HoldThreshold: 0.2"];
    let mut rig = Rig::play("Both Long", &lines);
    rig.press("Key.A", 1).press("Key.B", 100);
    assert_eq!(rig.step(500), ["100 Press Both"]);
}
