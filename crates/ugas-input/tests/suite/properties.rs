//! Properties over random streams of events and random profiles.

use crate::kit::{Rig, input};
use proptest::prelude::*;
use ugas_core::SimTime;
use ugas_doc::CompositeSlot;
use ugas_input::{DeviceEvent, DeviceId, InputCode, OnConflict, Phase, Seat};

const KEYS: [&str; 8] = [
    "Key.A",
    "Key.B",
    "Key.C",
    "Key.LeftShift",
    "Gamepad.RightTrigger",
    "Gamepad.LeftStick.X",
    "Mouse.LeftButton",
    "Key.W",
];

fn rig() -> Rig {
    let lines = [
        "One: Key.A",
        "Alt: Key.LeftShift + Key.A; Priority: 1; ChordWindow: 0.03",
        "Both: Key.B + Key.C",
        "B: Key.B",
        "Long: Key.C; HoldThreshold: 0.1",
        "Fire: Gamepad.RightTrigger",
        "Fire: Mouse.LeftButton; Priority: 1",
        "Move: [Up Key.W, Right Key.A, Left Key.B]",
        "Turn: Gamepad.LeftStick.X",
        "Dash: Key.W + Mouse.LeftButton; Priority: 2",
    ];
    Rig::play("One Alt Both B Long Fire Move:Axis2D Turn:Axis1D Dash", &lines)
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Event { key: usize, device: u32, value: f64 },
    Lost(Option<u32>),
}

/// Happenings with the time since the one before it in milliseconds.
fn stream() -> impl Strategy<Value = Vec<(i64, Happening)>> {
    let value = prop_oneof![Just(0.0), Just(1.0), Just(0.4), -1.0..1.0_f64];
    let event =
        (0..KEYS.len(), 0..2_u32, value).prop_map(|(key, device, value)| Happening::Event { key, device, value });
    let lost = prop_oneof![Just(None), (0..2_u32).prop_map(Some)].prop_map(Happening::Lost);
    prop::collection::vec((0..40_i64, prop_oneof![20 => event, 1 => lost]), 1..60)
}

fn take(seat: &mut Seat, ms: i64, happening: Happening) {
    let at = SimTime::millis(ms);
    match happening {
        Happening::Event { key, device, value } => {
            let input = InputCode::named(KEYS[key]).unwrap();
            seat.take(DeviceEvent { at, device: DeviceId(device), input, value: [value, 0.0, 0.0] });
        }
        Happening::Lost(None) => seat.lose_focus(at),
        Happening::Lost(Some(device)) => seat.lose_device(DeviceId(device), at),
    }
}

/// Runs a stream with a step at each of the given times, and returns what the sim and the host were told, without the
/// events of each frame. `cut` saves the seat, and continues with the loaded one, before the event with this number.
fn run(stream: &[(i64, Happening)], steps: impl Iterator<Item = i64>, cut: Option<usize>) -> Vec<String> {
    let mut rig = rig();
    let mut told = Vec::new();
    let mut at = 0;
    let mut waiting = stream.iter().map(|(gap, happening)| {
        at += gap;
        (at, *happening)
    });
    let mut next = waiting.next();
    let mut number = 0;
    for until in steps {
        while let Some((at, happening)) = next.filter(|(at, _)| *at <= until) {
            if cut == Some(number) {
                let bytes = postcard::to_allocvec(&rig.seat).unwrap();
                rig.seat = postcard::from_bytes(&bytes).unwrap();
            }
            take(&mut rig.seat, at, happening);
            next = waiting.next();
            number += 1;
        }
        told.extend(rig.step(until));
        let news = rig.out.events.iter().filter(|event| event.phase != Phase::Ongoing);
        told.extend(news.map(|e| format!("{:?} {:?} {}", e.at, e.phase, rig.controls.action_name(e.action))));
    }
    told
}

/// The ends of frames of a rate, up to a time after the stream.
fn frames(stream: &[(i64, Happening)], hz: i64) -> impl Iterator<Item = i64> {
    let end: i64 = stream.iter().map(|(gap, _)| gap).sum::<i64>() + 1000;
    (1..).map(move |frame| frame * 1000 / hz).take_while(move |at| *at < end).chain([end])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_stream_cut_at_any_event_gives_the_same(stream in stream(), hz in prop_oneof![Just(20), Just(60)]) {
        let whole = run(&stream, frames(&stream, hz), None);
        for cut in 0..stream.len() {
            prop_assert_eq!(&run(&stream, frames(&stream, hz), Some(cut)), &whole);
        }
    }

    #[test]
    fn every_rate_of_frames_gives_the_same_presses(stream in stream()) {
        let told = |hz| {
            let mut told = run(&stream, frames(&stream, hz), None);
            // Each step reports the sim's part before the host's.
            told.sort();
            told
        };
        let slow = told(20);
        for hz in [30, 60, 144] {
            prop_assert_eq!(&told(hz), &slow);
        }
    }

    #[test]
    fn presses_and_releases_alternate_and_nothing_stays_down(stream in stream()) {
        let mut all = stream.clone();
        all.push((1, Happening::Lost(None)));
        let told = run(&all, frames(&all, 60), None);
        for action in ["One", "Alt", "Both", "B", "Long", "Fire", "Dash"] {
            let mut is_down = false;
            for line in &told {
                let words: Vec<&str> = line.split(' ').collect();
                if words[1] == "Press" && words[2] == action {
                    prop_assert!(!is_down, "{:?}", told);
                    is_down = true;
                } else if ["Release", "LetGo"].contains(&words[1]) && words[2] == action {
                    prop_assert!(is_down, "{:?}", told);
                    is_down = false;
                } else if words[1] == "LetGo" && words[2] == "everything" {
                    is_down = false;
                }
            }
            prop_assert!(!is_down, "{:?}", told);
        }
    }

    #[test]
    fn remap_then_reset_and_save_then_load_are_the_identity(
        remaps in prop::collection::vec((0..12_usize, 0..12_usize, any::<bool>()), 0..20)
    ) {
        let names = [
            "Key.A", "Key.B", "Key.C", "Key.D", "Key.E", "Key.F", "Key.G", "Key.H", "Gamepad.FaceTop",
            "Gamepad.RightTrigger", "Mouse.LeftButton", "Key.W",
        ];
        let mut rig = rig();
        let default = rig.controls.bindings();
        for (unit, to, swaps) in remaps {
            let infos = rig.controls.bindings();
            let info = &infos[unit % infos.len()];
            let mode = if swaps { OnConflict::Swap } else { OnConflict::Warn };
            let slot: Option<CompositeSlot> = info.slot;
            rig.controls.remap("Play", &info.action.clone(), slot, &info.inputs.clone(), &[input(names[to])], mode);
        }
        let profile = rig.controls.profile();
        let mut other = self::rig();
        prop_assert_eq!(other.controls.load_profile(&profile), Ok(Vec::new()));
        prop_assert_eq!(other.controls.bindings(), rig.controls.bindings());
        prop_assert_eq!(other.controls.profile(), profile);
        rig.controls.reset("Play");
        prop_assert_eq!(rig.controls.bindings(), default);
        prop_assert!(rig.controls.profile().changes.is_empty());
    }
}
