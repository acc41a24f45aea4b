//! Devices: what happens between two steps, lost focus, lost devices, seats, listening, saving.

use crate::kit::{Rig, actions, mapping};
use ugas_core::SimTime;
use ugas_doc::Device;
use ugas_input::{DeviceEvent, DeviceId, InputCode, ListenFor, Seat};

fn key(name: &str) -> InputCode {
    InputCode::named(name).unwrap()
}

#[test]
fn a_press_and_its_release_between_two_steps_are_both_there_once_and_in_order() {
    let mut rig = Rig::play("Jump", &["Jump: Key.Space"]);
    rig.press("Key.Space", 3).release("Key.Space", 9).press("Key.Space", 12).release("Key.Space", 14);
    assert_eq!(rig.step(16), ["3 Press Jump", "9 Release Jump", "12 Press Jump", "14 Release Jump"]);
    assert_eq!(rig.events(), ["Started Jump", "Completed Jump", "Started Jump", "Completed Jump"]);
    assert!(rig.step(32).is_empty());
    rig.press("Key.Space", 40);
    assert!(rig.step(36).is_empty(), "the event is later than the step");
    assert_eq!(rig.step(40), ["40 Press Jump"]);
}

#[test]
fn auto_repeat_is_nothing() {
    let mut rig = Rig::play("Jump", &["Jump: Key.Space"]);
    (0..20).for_each(|i| _ = rig.press("Key.Space", i));
    assert_eq!(rig.step(16), ["0 Press Jump"]);
    assert_eq!(rig.step(32), [""; 0]);
}

#[test]
fn a_key_does_not_stay_down_after_the_window_lost_focus() {
    let mut rig = Rig::play("Fire Move:Axis1D", &["Fire: Key.F", "Move: [Right Key.D]"]);
    rig.press("Key.F", 1).press("Key.D", 2).step(16);
    rig.seat.lose_focus(SimTime::millis(20));
    assert_eq!(rig.step(32), ["20 LetGo everything"]);
    assert_eq!(rig.events(), ["Completed Fire", "Completed Move"]);
    assert!(rig.release("Key.F", 40).step(48).is_empty(), "the release comes too late and means nothing");
    assert_eq!(rig.press("Key.F", 50).step(64), ["50 Press Fire"]);
    rig.release("Key.F", 65).step(80);
    rig.seat.lose_focus(SimTime::millis(81));
    assert!(rig.step(96).is_empty(), "nothing was down");
}

#[test]
fn half_a_chord_a_hold_and_a_window_are_forgotten_with_the_focus() {
    let lines = ["Both: Key.A + Key.B; Priority: 1; ChordWindow: 0.1", "A: Key.A", "Long: Key.E; HoldThreshold: 0.1"];
    let mut rig = Rig::play("Both A Long", &lines);
    rig.press("Key.A", 1).press("Key.E", 1).step(16);
    rig.seat.lose_focus(SimTime::millis(20));
    assert!(rig.step(500).is_empty());
    assert!(rig.press("Key.B", 501).step(516).is_empty(), "A is up");
}

#[test]
fn a_lost_device_lets_go_of_what_was_down_on_it_alone() {
    let mut rig = Rig::play("Fire Jump", &["Fire: Key.F", "Jump: Gamepad.FaceBottom", "Fire: Gamepad.FaceTop"]);
    let mut take = |device: u32, name: &str| {
        rig.seat.take(DeviceEvent::press(SimTime::millis(1), DeviceId(device), key(name)));
    };
    take(0, "Key.F");
    take(1, "Gamepad.FaceBottom");
    take(1, "Gamepad.FaceTop");
    assert_eq!(rig.step(16), ["1 Press Fire", "1 Press Jump"]);
    rig.seat.lose_device(DeviceId(1), SimTime::millis(20));
    assert_eq!(rig.step(32), ["20 LetGo Jump"], "the keyboard still holds Fire");
}

#[test]
fn a_device_belongs_to_one_seat_and_the_last_used_one_is_known() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F", "Fire: Gamepad.FaceTop"]);
    rig.seat.give(DeviceId(1));
    assert!(!rig.seat.take(DeviceEvent::press(SimTime::millis(1), DeviceId(2), key("Key.F"))));
    assert!(rig.step(16).is_empty());
    assert!(rig.seat.take(DeviceEvent::press(SimTime::millis(17), DeviceId(1), key("Gamepad.FaceTop"))));
    assert_eq!(rig.step(32), ["17 Press Fire"]);
    assert_eq!(rig.seat.last_used(), Some((DeviceId(1), Device::Gamepad)));
    let drift = DeviceEvent::axis(SimTime::millis(33), DeviceId(1), key("Gamepad.LeftStick.X"), [0.02, 0.0, 0.0]);
    rig.seat.give(DeviceId(3));
    rig.seat.take(DeviceEvent::press(SimTime::millis(33), DeviceId(3), key("Key.W")));
    rig.seat.take(drift);
    assert_eq!(rig.seat.last_used(), Some((DeviceId(3), Device::Keyboard)), "a stick that trembles is not used");
    rig.seat.take_away(DeviceId(1), SimTime::millis(40));
    assert_eq!(rig.step(48), ["40 LetGo Fire"]);
    assert!(!rig.seat.has_device(DeviceId(1)));
}

#[test]
fn two_keyboards_in_one_seat_hold_a_key_together() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    let at = |ms, device: u32, value: f64| {
        DeviceEvent::axis(SimTime::millis(ms), DeviceId(device), key("Key.F"), [value, 0.0, 0.0])
    };
    for event in [at(1, 0, 1.0), at(2, 1, 1.0), at(3, 0, 0.0), at(9, 1, 0.0)] {
        rig.seat.take(event);
    }
    assert_eq!(rig.step(16), ["1 Press Fire", "9 Release Fire"]);
}

#[test]
fn the_key_that_a_player_chooses_does_nothing_else() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    rig.press("Key.F", 1).step(16);
    rig.seat.listen(ListenFor::Button);
    rig.event("Gamepad.LeftStick.X", 17, [1.0, 0.0, 0.0]).press("Key.F", 17);
    assert_eq!(rig.seat.heard(), None, "a button is wanted, and not one that was down before");
    rig.release("Key.F", 18).press("Key.G", 19);
    assert_eq!(rig.seat.heard(), Some(key("Key.G")));
    rig.remap("Fire", None, "Key.F", "Key.G", ugas_input::OnConflict::Warn);
    rig.press("Key.G", 20);
    let told = rig.step(32);
    assert_eq!(told, ["16 LetGo everything"], "the keyboard repeats G, which does nothing until it is released");
    assert_eq!(rig.release("Key.G", 33).press("Key.G", 34).step(40), ["34 Press Fire"]);
    rig.controls.reset("Play");
    assert_eq!(rig.step(42), ["40 LetGo everything"]);
    assert_eq!(rig.press("Key.F", 43).step(48), ["43 Press Fire"]);
}

#[test]
fn other_controls_let_go_of_buttons_and_continue_axes() {
    let mut rig = Rig::play("Fire Move:Axis1D", &["Fire: Key.F", "Move: [Right Key.D]"]);
    rig.press("Key.F", 1).press("Key.D", 1).step(16);
    let text = actions("Fire Move:Axis1D") + &mapping(&["Fire: Key.G", "Move: [Right Key.D]", "Fire: Key.F"]);
    rig.controls = Rig::new(&text).controls;
    assert_eq!(rig.step(32), ["16 LetGo everything"]);
    assert_eq!(rig.events(), ["Completed Fire", "Completed Move", "Started Move"]);
    assert_eq!(rig.values("Move"), [[1.0, 0.0, 0.0]]);
    assert_eq!(rig.release("Key.F", 40).press("Key.F", 41).step(48), ["41 Press Fire"]);
}

#[test]
fn a_seat_is_saved_with_keys_down() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    rig.press("Key.F", 1).step(16);
    rig.release("Key.F", 20);
    let text = serde_json::to_string(&rig.seat).unwrap();
    let bytes = postcard::to_allocvec(&rig.seat).unwrap();
    let loaded: Seat = serde_json::from_str(&text).unwrap();
    assert!(loaded == rig.seat && postcard::from_bytes::<Seat>(&bytes).unwrap() == rig.seat);
    rig.seat = loaded;
    assert_eq!(rig.step(32), ["20 Release Fire"]);
}
