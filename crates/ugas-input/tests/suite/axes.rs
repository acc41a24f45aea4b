//! Axis actions: composites, components, relative inputs, several bindings.

use crate::kit::{Rig, actions, mapping, near};
use ugas_doc::Platform;

const WASD: &str = "Move: [Up Key.W, Down Key.S, Left Key.A, Right Key.D]";

// covers: UGAS-11.2-04 UGAS-11.5-04
#[test]
fn a_composite_is_a_direction_of_length_one() {
    let mut rig = Rig::play("Move:Axis2D", &[WASD]);
    rig.press("Key.W", 1).step(16);
    assert_eq!(rig.values("Move"), [[0.0, 1.0, 0.0]]);
    rig.press("Key.D", 20).step(32);
    assert!(near(rig.values("Move")[0], [0.707, 0.707, 0.0]));
    rig.release("Key.D", 40).press("Key.S", 41).step(48);
    assert_eq!(rig.events(), ["Completed Move"], "up and down cancel each other");
}

// covers: UGAS-11.2-05
#[test]
fn a_composite_of_three_axes_has_length_one() {
    let mut rig = Rig::play("Fly:Axis3D", &["Fly: [Up Key.Space, Forward Key.W, Backward Key.S]"]);
    rig.press("Key.Space", 1).press("Key.W", 1).step(16);
    assert!(near(*rig.values("Fly").last().unwrap(), [0.0, 0.707, 0.707]));
}

// covers: UGAS-11.2-03
#[test]
fn an_axis_reports_its_value_once_per_frame_until_it_is_zero() {
    let mut rig = Rig::play("Throttle:Axis1D", &["Throttle: Gamepad.RightTrigger"]);
    rig.event("Gamepad.RightTrigger", 1, [0.5, 0.0, 0.0]);
    let mut values = Vec::new();
    for frame in 1..=3 {
        rig.step(16 * frame);
        values.extend(rig.values("Throttle"));
    }
    rig.event("Gamepad.RightTrigger", 50, [0.0; 3]);
    for frame in 4..=6 {
        rig.step(16 * frame);
        values.extend(rig.values("Throttle"));
    }
    assert_eq!(values, [[0.5, 0.0, 0.0]; 3]);
}

// covers: UGAS-11.5-05
#[test]
fn two_axis_inputs_are_components_and_a_mouse_is_summed_over_the_frame() {
    let mut rig = Rig::play("Look:Axis2D", &["Look: Mouse.Axis.X + Mouse.Axis.Y"]);
    rig.event("Mouse.Axis.X", 1, [3.0, 0.0, 0.0]).step(16);
    assert_eq!(rig.values("Look"), [[3.0, 0.0, 0.0]]);
    rig.event("Mouse.Axis.X", 17, [2.0, 0.0, 0.0]).event("Mouse.Axis.Y", 18, [-5.0, 0.0, 0.0]);
    rig.event("Mouse.Axis.X", 19, [-4.0, 0.0, 0.0]).step(32);
    assert_eq!(rig.values("Look"), [[-2.0, -5.0, 0.0]]);
    rig.step(48);
    assert_eq!(rig.events(), ["Completed Look"]);
    rig.step(64);
    assert!(rig.events().is_empty());
}

#[test]
fn a_scroll_presses_a_digital_action_for_one_frame() {
    let mut rig = Rig::play("Next", &["Next: Mouse.Scroll"]);
    rig.event("Mouse.Scroll", 3, [1.0, 0.0, 0.0]).event("Mouse.Scroll", 4, [1.0, 0.0, 0.0]);
    assert_eq!(rig.step(16), ["3 Press Next", "16 Release Next"]);
    assert!(rig.step(32).is_empty());
    rig.event("Mouse.Scroll", 33, [-0.1, 0.0, 0.0]);
    assert_eq!(rig.step(48), ["33 Press Next", "48 Release Next"]);
}

#[test]
fn opposing_keys_follow_the_binding() {
    let value = |opposing: &str| {
        let line = format!("Move: [Left Key.A, Right Key.D]; Opposing: {opposing}");
        let mut rig = Rig::play("Move:Axis1D", &[&line]);
        let mut values = Vec::new();
        for (first, second) in [("Key.A", "Key.D"), ("Key.D", "Key.A")] {
            rig.press(first, 1).press(second, 2).step(16);
            values.push(rig.values("Move").last().map_or(0.0, |value| value[0]));
            // Both go up at once.
            rig.release(first, 17).release(second, 17).step(32);
        }
        values
    };
    // With Neutral the last value before the second key was that of the first.
    assert_eq!(value("Last"), [1.0, -1.0]);
    assert_eq!(value("First"), [-1.0, 1.0]);
    assert_eq!(value("Positive"), [1.0, 1.0]);
    let mut rig = Rig::play("Move:Axis1D", &["Move: [Left Key.A, Right Key.D]"]);
    rig.press("Key.A", 1).press("Key.D", 2).step(16);
    assert_eq!(rig.events(), ["Started Move", "Completed Move"]);
}

#[test]
fn a_stick_can_be_reported_whole_and_bound_by_parts() {
    let lines = ["X: Gamepad.LeftStick.X", "Left: Gamepad.LeftStick.Left"];
    let mut rig = Rig::play("X:Axis1D Left", &lines);
    rig.event("Gamepad.LeftStick", 1, [-0.75, 0.5, 0.0]);
    assert_eq!(rig.step(16), ["1 Press Left"]);
    assert_eq!(rig.values("X"), [[-0.75, 0.0, 0.0]]);
    let mut rig = Rig::play("Move:Axis2D", &["Move: Gamepad.DPad"]);
    rig.press("Gamepad.DPad.Up", 1).step(16);
    assert_eq!(rig.values("Move"), [[0.0, 1.0, 0.0]]);
}

#[test]
fn of_several_bindings_the_highest_rank_counts_and_then_the_largest_value() {
    let lines = ["Move: Gamepad.LeftStick", "Move: Gamepad.RightStick", "Move: Gamepad.DPad; Priority: 1"];
    let mut rig = Rig::play("Move:Axis2D", &lines);
    rig.event("Gamepad.LeftStick", 1, [0.3, 0.0, 0.0]).event("Gamepad.RightStick", 2, [0.0, 0.9, 0.0]).step(16);
    assert_eq!(rig.values("Move").last(), Some(&[0.0, 0.9, 0.0]));
    rig.press("Gamepad.DPad.Left", 20).step(32);
    assert_eq!(rig.values("Move").last(), Some(&[-1.0, 0.0, 0.0]));
}

#[test]
fn a_chord_takes_its_key_from_an_axis_below_it() {
    let mut rig = Rig::play("Move:Axis2D Dash", &[WASD, "Dash: Key.LeftShift + Key.W; Priority: 1"]);
    rig.press("Key.W", 1).press("Key.LeftShift", 10);
    assert_eq!(rig.step(16), ["10 Press Dash"]);
    assert_eq!(rig.events(), ["Started Move", "Started Dash", "Completed Move"]);
}

#[test]
fn axes_take_over_a_key_that_is_down() {
    let text = actions("Walk:Axis1D")
        + &mapping(&["Walk: [Right Key.D]"])
        + "---\nKind: input_action\nName: Steer\nValueType: Axis1D\n---\nKind: input_action_set\nName: Drive\n\
Actions: [Steer]\nPriority: 1\n---\nKind: input_mapping\nActionSet: Drive\nBindings:\n  - {Action: Steer, \
CompositeInputs: {Right: {Device: Keyboard, Input: Key.D}}}\n";
    let mut rig = Rig::new(&text);
    rig.world.asleep.insert("Drive".into());
    rig.press("Key.D", 1).step(16);
    assert_eq!(rig.events(), ["Started Walk"]);
    rig.world.asleep = ["Play".to_owned()].into();
    rig.step(32);
    assert_eq!(rig.events(), ["Started Steer", "Completed Walk"]);
}

// covers: UGAS-11.6-13
#[test]
fn a_setting_takes_effect_at_once() {
    let stick = "---\nKind: input_modifier\nName: StickDeadzone\nType: DeadZone\nParams: {DeadZoneShape: Radial, \
InnerThreshold: 0.15, OuterThreshold: 0.95}\nUserConfigurable: true\nMetadata: {DisplayName: Stick Dead Zone}\n";
    let text = actions("Move:Axis2D") + &mapping(&["Move: Gamepad.LeftStick; Modifiers: [StickDeadzone]"]) + stick;
    let mut rig = Rig::of(&crate::kit::docs(&text), &[Platform::PC]);
    rig.event("Gamepad.LeftStick", 1, [0.25, 0.0, 0.0]).step(16);
    assert!(near(rig.values("Move")[0], [0.125, 0.0, 0.0]));
    let settings = rig.controls.settings();
    let inner = settings.iter().find(|s| s.param == "InnerThreshold").unwrap();
    assert_eq!((inner.label.as_str(), &inner.value), ("Stick Dead Zone", &0.15.into()));
    rig.controls.set("StickDeadzone", "InnerThreshold", 0.3.into()).unwrap();
    rig.step(32);
    assert_eq!(rig.events(), ["Completed Move"]);
    assert!(rig.controls.set("StickDeadzone", "InnerThreshold", 1.5.into()).is_err());
    assert!(rig.controls.set("StickDeadzone", "InnerThreshold", 0.96.into()).is_err(), "not above the outer one");
}
