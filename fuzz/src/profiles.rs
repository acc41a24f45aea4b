//! Arbitrary bytes as a file with the profile of a player.

use ugas_core::{ControllerId, InputId, SimTime, TagId, Target};
use ugas_data::read_str;
use ugas_doc::{Doc, InputProfile};
use ugas_input::{ActionLife, Controls, DeviceEvent, DeviceId, InputCode, Liveness, Seat, SeatOutput};

/// A callback that receives the name of each finished step.
pub type Done<'d> = &'d mut dyn FnMut(&'static str);

const CONTROLS: &str = "\
Kind: input_action
Name: Fire
ValueType: Digital
---
Kind: input_action
Name: Move
ValueType: Axis2D
---
Kind: input_action_set
Name: OnFoot
Actions: [Fire, Move]
---
Kind: input_mapping
ActionSet: OnFoot
Bindings:
  - {Action: Fire, Inputs: [{Device: Keyboard, Input: Key.F}]}
  - {Action: Fire, Inputs: [{Device: Keyboard, Input: Key.LeftShift}, {Device: Keyboard, Input: Key.E}], Priority: 1}
  - Action: Move
    CompositeInputs: {Up: {Device: Keyboard, Input: Key.W}, Down: {Device: Keyboard, Input: Key.S}}
  - {Action: Move, Inputs: [{Device: Gamepad, Input: Gamepad.LeftStick}], Modifiers: [Stick]}
---
Kind: input_modifier
Name: Stick
Type: DeadZone
Params: {InnerThreshold: 0.15, OuterThreshold: 0.95, DeadZoneShape: Radial}
UserConfigurable: true
";

/// A sim in which every action is active.
struct Always;

impl Liveness for Always {
    fn rules_key(&self) -> u64 {
        0
    }

    fn find_input(&self, name: &str) -> Option<InputId> {
        (name == "Fire").then_some(InputId(0))
    }

    fn find_action_set(&self, _: &str) -> Option<u32> {
        None
    }

    fn find_tag(&self, _: &str) -> Option<TagId> {
        None
    }

    fn action_life(&self, _: ControllerId, _: InputId) -> ActionLife {
        ActionLife::ALWAYS
    }

    fn has_tag(&self, _: ControllerId, _: TagId) -> bool {
        false
    }
}

/// Reads, loads, saves and loads again, and plays with the result.
pub fn profiles(bytes: &[u8], done: Done<'_>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = read_str("profile.yaml", text);
    done("read");
    let docs = read.map(|read| read.docs).unwrap_or_default();
    let from_yaml = docs.into_iter().filter_map(|doc| match doc.doc {
        Doc::InputProfile(profile) => Some(*profile),
        _ => None,
    });
    let from_json = serde_json::from_str::<InputProfile>(text).ok();
    let docs: Vec<Doc> = read_str("controls.yaml", CONTROLS).unwrap().docs.into_iter().map(|doc| doc.doc).collect();
    let default = Controls::new(&docs, &[]).unwrap();
    for profile in from_yaml.chain(from_json).take(4) {
        let mut controls = default.clone();
        let Ok(issues) = controls.load_profile(&profile) else {
            assert_eq!(controls.profile(), InputProfile::default(), "a rejected profile changes nothing");
            continue;
        };
        done("load");
        assert!(issues.iter().all(|issue| !issue.to_string().contains(['\n', '\u{1b}'])), "{issues:?}");
        let saved = controls.profile();
        let mut again = default.clone();
        let repeated = again.load_profile(&saved).unwrap();
        assert_eq!(repeated.len(), issues.len(), "{repeated:?} {issues:?}");
        assert_eq!(again.bindings(), controls.bindings());
        assert_eq!(again.profile(), saved);
        done("save");
        let (mut seat, mut out) = (Seat::new(), SeatOutput::default());
        for (at, input) in InputCode::all().enumerate() {
            let event = |value| DeviceEvent { at: SimTime(at as i64), device: DeviceId(0), input, value };
            seat.take(event([1.0, -0.5, 0.25]));
            seat.take(event([0.0; 3]));
        }
        seat.step(&controls, &Always, ControllerId(0), Target::None, SimTime::seconds(1.0), &mut out);
        seat.step(&controls, &Always, ControllerId(0), Target::None, SimTime::seconds(2.0), &mut out);
        let is_finite = |value: &[f64; 3]| value.iter().all(|number| number.is_finite());
        assert!(out.events.iter().all(|event| is_finite(&event.value)));
        done("play");
    }
}
