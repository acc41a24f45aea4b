//! A frame of many seats allocates nothing. The program counts the allocations of the whole process, so it holds this
//! one test alone.

#[path = "../../../benches/src/alloc.rs"]
#[allow(dead_code)]
mod alloc;

use ugas_core::{ControllerId, InputId, SimTime, TagId, Target};
use ugas_input::{ActionLife, Controls, DeviceEvent, DeviceId, InputCode, Liveness, Seat, SeatOutput};

const SEATS: u32 = 1000;
const KEYS: &str = "ABCDEFGHIJKLMNOPQR";

/// Every action is active; the name of an action is a letter.
struct Always;

impl Liveness for Always {
    fn rules_key(&self) -> u64 {
        0
    }
    fn find_input(&self, name: &str) -> Option<InputId> {
        name.bytes().next().map(|letter| InputId(u32::from(letter)))
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

/// Eighteen keys, a stick and a mouse.
fn controls() -> Controls {
    let mut text = String::new();
    let mut bindings = String::new();
    for letter in KEYS.chars() {
        text += &format!("Kind: input_action\nName: {letter}\nValueType: Digital\n---\n");
        bindings += &format!("  - {{Action: {letter}, Inputs: [{{Device: Keyboard, Input: Key.{letter}}}]}}\n");
    }
    for (name, device, input) in [("Y", "Gamepad", "Gamepad.LeftStick"), ("Z", "Mouse", "Mouse.Axis")] {
        text += &format!("Kind: input_action\nName: {name}\nValueType: Axis2D\n---\n");
        bindings += &format!("  - {{Action: {name}, Inputs: [{{Device: {device}, Input: {input}}}]}}\n");
    }
    let list: Vec<String> = KEYS.chars().chain("YZ".chars()).map(String::from).collect();
    text += &format!("Kind: input_action_set\nName: Play\nActions: [{}]\n---\n", list.join(", "));
    text += &format!("Kind: input_mapping\nActionSet: Play\nBindings:\n{bindings}");
    let docs: Vec<_> = ugas_data::read_str("input.yaml", &text).unwrap().docs.into_iter().map(|doc| doc.doc).collect();
    Controls::new(&docs, &[]).unwrap()
}

#[test]
fn a_frame_of_a_thousand_seats_with_twenty_bindings_allocates_nothing() {
    let controls = controls();
    assert_eq!(controls.bindings().len(), 20);
    let keys: Vec<InputCode> = KEYS.chars().map(|letter| InputCode::named(&format!("Key.{letter}")).unwrap()).collect();
    let [stick, mouse] = ["Gamepad.LeftStick", "Mouse.Axis"].map(|name| InputCode::named(name).unwrap());
    let mut seats = vec![Seat::new(); SEATS as usize];
    let mut out = SeatOutput::default();
    let mut frame = |number: i64| {
        let at = SimTime(number * 1000);
        let key = keys[number as usize / 2 % keys.len()];
        let mut told = 0;
        for (who, seat) in (0..).zip(&mut seats) {
            let event = |input, value| DeviceEvent { at, device: DeviceId(0), input, value };
            seat.take(event(key, [f64::from(number % 2 == 0), 0.0, 0.0]));
            seat.take(event(stick, [0.01 * (number % 90) as f64, 0.5, 0.0]));
            seat.take(event(mouse, [1.0, 2.0, 0.0]));
            out.clear();
            seat.step(&controls, &Always, ControllerId(who), Target::None, SimTime(number * 1000 + 999), &mut out);
            told += out.intents.len();
        }
        told
    };
    (0..40).for_each(|number| _ = frame(number));
    let before = alloc::allocations();
    let told: usize = (40..100).map(&mut frame).sum();
    assert_eq!(alloc::allocations() - before, 0);
    assert_eq!(told, 60 * SEATS as usize, "a press or a release per seat and frame");
}
