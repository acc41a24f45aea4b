//! Devices and files that lie: nothing panics, hangs or grows without limit, and no key stays down.

use crate::kit::{PAD, Rig, docs};
use ugas_core::SimTime;
use ugas_doc::{Device, Doc, InputProfile};
use ugas_input::{DeviceEvent, DeviceId, InputCode, Seat};

#[test]
fn events_from_the_past_and_the_far_future() {
    let mut rig = Rig::play("Fire Jump", &["Fire: Key.F", "Jump: Key.J"]);
    rig.step(1000);
    assert_eq!(rig.press("Key.F", -5000).step(1016), ["1000 Press Fire"], "the past is now");
    rig.release("Key.F", 9_000_000);
    assert_eq!(rig.step(1032), ["1032 Release Fire"], "a wrong time does not hold a key down");
    let at = |time: i64| DeviceEvent::press(SimTime(time), PAD, InputCode::named("Key.J").unwrap());
    rig.seat.take(at(i64::MAX));
    rig.seat.take(at(i64::MIN));
    rig.release("Key.J", 1033);
    assert_eq!(rig.step(1048), ["1048 Press Jump", "1048 Release Jump"]);
}

#[test]
fn a_hundred_thousand_events_in_a_step() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    let mut taken = 0;
    for i in 0..100_000_i64 {
        let value = [f64::from(i % 2 == 0), 0.0, 0.0];
        let input = InputCode::named("Key.F").unwrap();
        taken += i64::from(rig.seat.take(DeviceEvent { at: SimTime(i), device: PAD, input, value }));
    }
    assert_eq!((taken, rig.seat.dropped()), (65_536, 100_000 - 65_536));
    let told = rig.step(1000);
    assert_eq!(told.len(), 65_536, "everything that was taken is there");
    rig.press("Key.F", 1001);
    assert_eq!(rig.step(1016), ["1001 Press Fire"]);
}

#[test]
fn after_too_many_events_nothing_stays_down() {
    let mut rig = Rig::play("Fire Jump", &["Fire: Key.F", "Jump: Key.J"]);
    rig.press("Key.J", 0);
    (0..70_000_i64).for_each(|i| _ = rig.event("Key.F", 1, [f64::from(i % 2 == 0), 0.0, 0.0]));
    let told = rig.step(1000);
    assert_eq!(told.last().unwrap(), "1 LetGo everything");
    (0..70_000).for_each(|_| rig.seat.lose_focus(SimTime::millis(1001)));
    assert!(rig.step(2000).is_empty());
}

#[test]
fn unknown_codes() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    let unknown: InputCode = serde_json::from_str("100000").unwrap();
    assert_eq!((unknown.name(), unknown.device()), (None, Device::Custom));
    assert!(!rig.seat.take(DeviceEvent::press(SimTime::ZERO, PAD, unknown)));
    let custom: InputCode = serde_json::from_str("4294967295").unwrap();
    assert!(rig.seat.take(DeviceEvent::press(SimTime::ZERO, PAD, custom)));
    assert!(rig.step(16).is_empty());
    assert!(rig.seat.why_not(&rig.controls, &rig.world, ugas_core::ControllerId(0), unknown).is_empty());
}

#[test]
fn values_that_are_no_numbers() {
    let lines = ["Fire: Gamepad.RightTrigger", "Move: Gamepad.LeftStick", "Look: Mouse.Axis"];
    let mut rig = Rig::play("Fire Move:Axis2D Look:Axis2D", &lines);
    for (at, value) in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e308].into_iter().enumerate() {
        for name in ["Gamepad.RightTrigger", "Gamepad.LeftStick", "Mouse.Axis"] {
            rig.event(name, at as i64 * 16, [value; 3]);
        }
        rig.step(at as i64 * 16 + 15);
        for event in &rig.out.events {
            assert!(event.value.iter().all(|number| number.abs() <= 1e6), "{event:?}");
        }
    }
    for name in ["Gamepad.RightTrigger", "Gamepad.LeftStick"] {
        rig.event(name, 100, [f64::NAN; 3]);
    }
    rig.step(150);
    rig.step(200);
    assert!(rig.events().is_empty(), "{:?}", rig.events());
}

#[test]
fn a_device_that_flickers() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    for frame in 0..1000_i64 {
        rig.press("Key.F", frame * 16);
        rig.seat.lose_device(PAD, SimTime::millis(frame * 16 + 1));
        let at = frame * 16;
        assert_eq!(rig.step(at + 15), [format!("{at} Press Fire"), format!("{} LetGo Fire", at + 1)]);
    }
}

#[test]
fn two_devices_with_one_number() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    // Both keyboards report as one: the first release ends the press, and the second is nothing.
    rig.press("Key.F", 1).press("Key.F", 2).release("Key.F", 3).release("Key.F", 4);
    assert_eq!(rig.step(16), ["1 Press Fire", "3 Release Fire"]);
}

#[test]
fn sixty_four_inputs_held_and_more_than_fit() {
    let names: Vec<&str> =
        InputCode::all().filter_map(InputCode::name).filter(|name| name.starts_with("Key.")).take(64).collect();
    let text: Vec<String> = (0..64).map(|i| format!("A{i}: {}", names[i])).collect();
    let lines: Vec<&str> = text.iter().map(String::as_str).collect();
    let mut rig = Rig::play(&(0..64).map(|i| format!("A{i}")).collect::<Vec<_>>().join(" "), &lines);
    names.iter().for_each(|name| _ = rig.press(name, 1));
    assert_eq!(rig.step(16).len(), 64);
    names.iter().for_each(|name| _ = rig.release(name, 20));
    assert_eq!(rig.step(32).len(), 64);
    for device in 0..2000 {
        rig.seat.take(DeviceEvent::press(SimTime::millis(40), DeviceId(device), InputCode::named("Key.A").unwrap()));
    }
    rig.step(48);
    assert!(rig.seat.dropped() > 0, "a limit");
    rig.seat.lose_focus(SimTime::millis(50));
    assert_eq!(rig.step(64), ["50 LetGo everything"]);
}

#[test]
fn a_saved_seat_of_other_controls_or_of_nonsense() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    rig.press("Key.F", 1).step(16);
    let bytes = postcard::to_allocvec(&rig.seat).unwrap();
    for cut in 0..bytes.len() {
        assert!(postcard::from_bytes::<Seat>(&bytes[..cut]).is_err(), "{cut}");
    }
    for (at, bits) in (0..bytes.len()).flat_map(|at| (1..=255).map(move |bits| (at, bits))) {
        let mut bytes = bytes.clone();
        bytes[at] ^= bits;
        if let Ok(seat) = postcard::from_bytes::<Seat>(&bytes) {
            let mut rig = rig.clone();
            rig.seat = seat;
            rig.press("Key.F", 20).release("Key.F", 21).step(32);
        }
    }
}

const PROFILE: &str = "Kind: input_profile\nVersion: 1\nChanges:\n  - ActionSet: Play\n    Action: Fire\n    From: \
[{Device: Keyboard, Input: Key.F}]\n    To: [{Device: Keyboard, Input: Key.G}]\nModifiers: {Stick: {InnerThreshold: \
0.2}}\n";

#[test]
fn profiles_truncated_at_every_byte() {
    let rig = Rig::play("Fire", &["Fire: Key.F"]);
    for cut in 0..=PROFILE.len() {
        let Ok(read) = ugas_data::read_str("p.yaml", &PROFILE[..cut]) else { continue };
        for doc in read.docs {
            if let Doc::InputProfile(profile) = doc.doc {
                let mut controls = rig.controls.clone();
                let _ = controls.load_profile(&profile);
                assert_eq!(controls.bindings().len(), 1);
            }
        }
    }
}

#[test]
fn a_profile_of_ten_megabytes() {
    let mut profile: InputProfile = InputProfile::default();
    let Doc::InputProfile(one) = docs(PROFILE).remove(0) else { panic!("a profile") };
    profile.changes = vec![one.changes[0].clone(); 100_000];
    let text = serde_json::to_string(&profile).unwrap();
    assert!(text.len() > 10_000_000);
    let profile: InputProfile = serde_json::from_str(&text).unwrap();
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    let error = rig.controls.load_profile(&profile).unwrap_err();
    assert!(error.to_string().contains("100000"), "{error}");
    assert_eq!(rig.controls.profile(), InputProfile::default());
}

#[test]
fn profiles_with_names_of_markup() {
    let mut rig = Rig::play("Fire", &["Fire: Key.F"]);
    let mut profile = InputProfile::default();
    let Doc::InputProfile(one) = docs(PROFILE).remove(0) else { panic!("a profile") };
    for name in ["<script>alert(1)</script>", "\u{1b}[31mred", "a\nb", &"x".repeat(10_000), ""] {
        let mut change = one.changes[0].clone();
        change.action = name.to_owned();
        change.to[0].input = name.to_owned();
        profile.changes.push(change);
        profile.modifiers.insert(name.to_owned(), [(name.to_owned(), true.into())].into());
    }
    let issues = rig.controls.load_profile(&profile).unwrap();
    assert_eq!(issues.len(), 10);
    for issue in &issues {
        let text = issue.to_string();
        assert!(text.len() < 1000 && !text.contains(['\n', '\u{1b}']), "{text:?}");
    }
    assert_eq!(rig.controls.profile(), profile, "kept as they are");
}
