//! Simple bindings, ranks, consumption, hold times, tags, platforms.

use crate::kit::{Rig, actions, docs, mapping};
use ugas_doc::Platform;
use ugas_input::{Controls, WhyNot};

// covers: UGAS-11.5-01 UGAS-11.2-02
#[test]
fn a_press_starts_goes_on_and_completes() {
    let mut rig = Rig::play("Reload", &["Reload: Key.R"]);
    assert_eq!(rig.press("Key.R", 5).step(16), ["5 Press Reload"]);
    let mut events = rig.events();
    for frame in 2..=4 {
        assert!(rig.step(16 * frame).is_empty());
        events.extend(rig.events());
    }
    assert_eq!(rig.release("Key.R", 70).step(80), ["70 Release Reload"]);
    events.extend(rig.events());
    let held = ["Ongoing Reload"; 3];
    assert_eq!(events, [&["Started Reload"][..], &held, &["Completed Reload"]].concat());
}

// covers: UGAS-11.2-12
#[test]
fn a_higher_rank_consumes_the_input_unless_its_action_does_not() {
    let lines = ["Use: Key.E; Priority: 1", "Wave: Key.E"];
    let mut rig = Rig::play("Use Wave", &lines);
    assert_eq!(rig.press("Key.E", 1).step(16), ["1 Press Use"]);
    assert!(matches!(&rig.why("Key.E")[..], [WhyNot::Acts, WhyNot::Consumed { .. }]));
    let text = actions("Use Wave").replacen("ValueType: Digital", "ValueType: Digital\nConsumeInput: false", 1);
    let mut rig = Rig::new(&(text + &mapping(&lines)));
    assert_eq!(rig.press("Key.E", 1).step(16), ["1 Press Use", "1 Press Wave"]);
}

#[test]
fn equal_ranks_both_fire_and_each_is_released() {
    let mut rig = Rig::play("Use Wave", &["Use: Key.E", "Wave: Key.E"]);
    assert_eq!(rig.press("Key.E", 1).step(16), ["1 Press Use", "1 Press Wave"]);
    assert_eq!(rig.release("Key.E", 20).step(32), ["20 Release Use", "20 Release Wave"]);
}

// covers: UGAS-11.5-11
#[test]
fn an_action_with_several_satisfied_bindings_is_pressed_once() {
    let mut rig = Rig::play("Use", &["Use: Key.LeftShift + Key.E; Priority: 1", "Use: Key.E"]);
    assert_eq!(rig.press("Key.LeftShift", 1).press("Key.E", 2).step(16), ["2 Press Use"]);
    assert_eq!(rig.events(), ["Started Use"]);
    assert!(rig.release("Key.LeftShift", 20).step(32).is_empty(), "the other binding still holds it");
    assert_eq!(rig.release("Key.E", 40).step(48), ["40 Release Use"]);
}

// covers: UGAS-11.5-12
#[test]
fn a_hold_threshold_is_inclusive_and_fires_once() {
    let lines = ["Loot: Key.E; HoldThreshold: 0.5"];
    let mut rig = Rig::play("Loot", &lines);
    rig.press("Key.E", 0).release("Key.E", 400);
    assert!(rig.step(1000).is_empty());
    let mut rig = Rig::play("Loot", &lines);
    rig.press("Key.E", 0);
    assert!(rig.step(400).is_empty());
    assert!(matches!(rig.why("Key.E")[..], [WhyNot::HoldTime { left }] if left == ugas_core::SimTime::millis(100)));
    assert_eq!(rig.release("Key.E", 500).step(1000), ["500 Press Loot", "500 Release Loot"]);
}

// covers: UGAS-11.5-13
#[test]
fn a_binding_needs_its_tags_when_the_key_goes_down() {
    let mut rig = Rig::play("Pound", &["Pound: Key.S; Tags: {RequiredTags: [State.InAir]}"]);
    assert!(rig.press("Key.S", 1).step(16).is_empty());
    assert!(matches!(&rig.why("Key.S")[..], [WhyNot::MissingTag { tag }] if tag == "State.InAir"));
    rig.world.owned.insert("State.InAir".into());
    assert!(rig.step(32).is_empty(), "the key was down before");
    assert_eq!(rig.why("Key.S"), [WhyNot::PressAgain]);
    assert_eq!(rig.release("Key.S", 40).press("Key.S", 41).step(48), ["41 Press Pound"]);
}

const PLATFORMS: &str = "Kind: input_mapping\nActionSet: Play\nPlatform: PC\nBindings:\n  - {Action: Fire, Inputs: \
[{Device: Mouse, Input: Mouse.LeftButton}]}\n---\nKind: input_mapping\nActionSet: Play\nPlatform: Console\nBindings:\n  \
- {Action: Fire, Inputs: [{Device: Gamepad, Input: Gamepad.RightTrigger}]}\n---\nKind: input_mapping\nActionSet: \
Play\nBindings:\n  - {Action: Fire, Inputs: [{Device: Keyboard, Input: Key.F}]}\n";

// covers: UGAS-11.5-06 UGAS-11.5-07 UGAS-11.5-08
#[test]
fn only_the_bindings_of_the_loaded_platforms_exist() {
    let docs = docs(&(actions("Fire") + PLATFORMS));
    let inputs = |platforms: &[Platform]| {
        let controls = Controls::new(&docs, platforms).unwrap();
        let infos = controls.bindings();
        infos.into_iter().map(|info| info.inputs[0].input.clone()).collect::<Vec<_>>()
    };
    assert_eq!(inputs(&[Platform::PC]), ["Mouse.LeftButton", "Key.F"]);
    assert_eq!(inputs(&[Platform::Console]), ["Gamepad.RightTrigger", "Key.F"]);
    assert_eq!(inputs(&[Platform::PC, Platform::Console]), ["Mouse.LeftButton", "Gamepad.RightTrigger", "Key.F"]);
    let mut rig = Rig::of(&docs, &[Platform::PC]);
    rig.event("Gamepad.RightTrigger", 1, [1.0, 0.0, 0.0]);
    assert!(rig.step(16).is_empty());
    assert_eq!(rig.press("Key.F", 20).step(32), ["20 Press Fire"]);
}

#[test]
fn an_analog_input_presses_above_one_half() {
    let mut rig = Rig::play("Fire", &["Fire: Gamepad.RightTrigger"]);
    let at = |value: f64| [value, 0.0, 0.0];
    rig.event("Gamepad.RightTrigger", 1, at(0.5)).event("Gamepad.RightTrigger", 2, at(0.51));
    rig.event("Gamepad.RightTrigger", 3, at(0.9)).event("Gamepad.RightTrigger", 4, at(0.4));
    assert_eq!(rig.step(16), ["2 Press Fire", "4 Release Fire"]);
}

#[test]
fn a_set_of_higher_priority_hides_keys_and_the_key_that_opens_a_menu_does_not_act_in_it() {
    let text = actions("Open Fire")
        + &mapping(&["Open: Key.E", "Fire: Key.F"])
        + "---\nKind: input_action\nName: Pick\nValueType: Digital\n---\nKind: input_action_set\nName: Menu\n\
Actions: [Pick]\nPriority: 10\n---\nKind: input_mapping\nActionSet: Menu\nBindings:\n  - {Action: Pick, Inputs: \
[{Device: Keyboard, Input: Key.E}]}\n";
    let mut rig = Rig::new(&text);
    rig.world.asleep.insert("Menu".into());
    assert_eq!(rig.press("Key.E", 1).step(16), ["1 Press Open"]);
    rig.world.asleep.clear();
    assert!(rig.step(32).is_empty(), "the menu is open and the key is still down");
    assert_eq!(rig.release("Key.E", 40).step(48), ["40 Release Open"]);
    assert_eq!(rig.press("Key.E", 50).step(64), ["50 Press Pick"], "two maps over one key: the higher one acts");
    assert!(rig.why("Key.E").contains(&WhyNot::Consumed { by: rig.controls.action("Pick").unwrap() }));
}

#[test]
fn a_sleeping_action_completes_and_goes_on_without_a_press() {
    let mut rig = Rig::play("Aim", &["Aim: Key.E"]);
    rig.press("Key.E", 1).step(16);
    rig.world.asleep.insert("Play".into());
    assert!(rig.step(32).is_empty(), "the sim mutes the action by itself");
    assert_eq!(rig.events(), ["Completed Aim"]);
    assert_eq!(rig.why("Key.E"), [WhyNot::Asleep]);
    rig.world.asleep.clear();
    assert!(rig.step(48).is_empty());
    assert_eq!(rig.events(), ["Ongoing Aim"]);
    assert_eq!(rig.release("Key.E", 50).step(64), ["50 Release Aim"]);
    assert_eq!(rig.events(), ["Completed Aim"]);
}

#[test]
fn a_suppressed_action_is_told_to_the_sim_and_not_to_the_host() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    rig.world.suppressed.insert("Fire".into());
    assert_eq!(rig.press("Key.F", 1).step(16), ["1 Press Fire"]);
    assert!(rig.events().is_empty());
    assert!(matches!(rig.why("Key.F")[..], [WhyNot::Suppressed { .. }]));
}

#[test]
fn everything_wrong_with_the_documents_is_named_at_once() {
    let text = actions("Fire Move:Axis2D")
        + "Kind: input_mapping\nActionSet: Play\nBindings:\n  - {Action: Fier, Inputs: [{Device: Keyboard, Input: \
Key.F}]}\n  - {Action: Fire, Inputs: [{Device: Keyboard, Input: Key.Spcae}], Modifiers: [Nothing]}\n  - {Action: Move, \
Inputs: [{Device: Gamepad, Input: Gamepad.LeftStick}, {Device: Gamepad, Input: Gamepad.RightStick}]}\n  - {Action: \
Fire, CompositeInputs: {Up: {Device: Keyboard, Input: Key.W}}}\n---\nKind: input_modifier\nName: Odd\nType: Custom\n\
Params: {CalculatorClass: Nobody}\n";
    let error = Controls::new(&docs(&text), &[]).unwrap_err();
    let all = error.to_string();
    for part in [
        "unknown input action 'Fier'; did you mean 'Fire'?",
        "did you mean 'Key.Space'?",
        "unknown input modifier 'Nothing'",
        "Gamepad.RightStick has 2 components more than the 2 of a Axis2D action",
        "the action is Digital",
        "no modifier is registered as 'Nobody'",
    ] {
        assert!(all.contains(part), "{part} in\n{all}");
    }
    assert_eq!(error.issues.len(), 6, "{all}");
}

#[test]
fn a_double_tap_does_not_delay_the_single_press() {
    let text = actions("Roll Step").replacen("Digital", "Digital\nTriggerBehavior: OnPressed", 1);
    let mut rig = Rig::new(&(text + &mapping(&["Roll: Key.A", "Step: Key.A"])));
    assert_eq!(rig.press("Key.A", 3).step(4), ["3 Press Roll", "3 Press Step"], "in the step of the event");
}
