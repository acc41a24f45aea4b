//! Simulated axes. Documents decide whether an axis is simulated; these tests set it directly.

use super::*;
use crate::sim_side::{Activity, Liveness};
use ugas_core::AxisValue;
use ugas_core::{ControllerId, Target};

const CONTROLS: &str = "Kind: input_action\nName: Move\nValueType: Axis2D\n---\nKind: input_action_set\nName: Play\n\
Actions: [Move]\n---\nKind: input_mapping\nActionSet: Play\nBindings:\n  - {Action: Move, CompositeInputs: {Up: \
{Device: Keyboard, Input: Key.W}, Right: {Device: Keyboard, Input: Key.D}}}\n  - {Action: Move, Inputs: [{Device: \
Gamepad, Input: Gamepad.LeftStick}]}\n";

struct World {
    activity: Activity,
}

impl Liveness for World {
    fn rules_key(&self) -> u64 {
        0
    }
    fn find_input(&self, _: &str) -> Option<InputId> {
        Some(InputId(4))
    }
    fn find_action_set(&self, _: &str) -> Option<u32> {
        Some(0)
    }
    fn find_tag(&self, _: &str) -> Option<TagId> {
        None
    }
    fn action_life(&self, _: ControllerId, _: InputId) -> ActionLife {
        ActionLife { set: (self.activity != Activity::Asleep).then_some(0), activity: self.activity }
    }
    fn has_tag(&self, _: ControllerId, _: TagId) -> bool {
        false
    }
}

struct Rig {
    controls: Controls,
    world: World,
    seat: Seat,
}

impl Rig {
    fn new() -> Rig {
        let docs = ugas_data::read_str("input.yaml", CONTROLS).unwrap().docs;
        let docs: Vec<_> = docs.into_iter().map(|doc| doc.doc).collect();
        let mut controls = Controls::new(&docs, &[]).unwrap();
        controls.actions[0].is_simulated = true;
        Rig { controls, world: World { activity: Activity::Active }, seat: Seat::new() }
    }

    fn set(&mut self, name: &str, ms: i64, value: [f64; 3]) {
        let input = InputCode::named(name).unwrap();
        let device = DeviceId(u32::from(name.starts_with("Gamepad")));
        self.seat.take(DeviceEvent { at: SimTime::millis(ms), device, input, value });
    }

    fn step(&mut self, ms: i64) -> Vec<(i64, Intent)> {
        let mut out = SeatOutput::default();
        let until = SimTime::millis(ms);
        self.seat.step(&self.controls, &self.world, ControllerId(0), Target::None, until, &mut out);
        out.intents.into_iter().map(|(at, intent)| (at.0 / SimTime::millis(1).0, intent)).collect()
    }
}

fn axis(x: i32, y: i32) -> Intent {
    Intent::Axis { input: InputId(4), value: AxisValue([x, y, 0]) }
}

const ON: [f64; 3] = [1.0, 0.0, 0.0];
const OFF: [f64; 3] = [0.0; 3];

#[test]
fn the_sim_is_told_each_change_at_its_own_time() {
    let mut rig = Rig::new();
    rig.set("Key.W", 1, ON);
    rig.set("Key.D", 5, ON);
    rig.set("Key.W", 9, OFF);
    rig.set("Key.D", 12, OFF);
    assert_eq!(rig.step(16), [(1, axis(0, 1024)), (5, axis(724, 724)), (9, axis(1024, 0)), (12, axis(0, 0))]);
    assert!(rig.step(32).is_empty());
    rig.set("Gamepad.LeftStick", 40, [0.5, 0.0, 0.0]);
    rig.set("Gamepad.LeftStick", 41, [0.50001, 0.0, 0.0]);
    assert_eq!(rig.step(48), [(40, axis(512, 0))], "a change below a step of 1/1024 is none");
}

#[test]
fn lost_inputs_let_go_and_do_not_release() {
    let mut rig = Rig::new();
    rig.set("Gamepad.LeftStick", 1, [0.5, 0.0, 0.0]);
    rig.step(16);
    rig.seat.lose_device(DeviceId(1), SimTime::millis(20));
    assert_eq!(rig.step(32), [(20, Intent::LetGo { input: Some(InputId(4)) })]);
    rig.set("Key.W", 40, ON);
    rig.step(48);
    rig.seat.lose_focus(SimTime::millis(50));
    assert_eq!(rig.step(64), [(50, Intent::LetGo { input: None })]);
    rig.set("Key.W", 65, OFF);
    rig.set("Key.W", 70, ON);
    assert_eq!(rig.step(80), [(70, axis(0, 1024))]);
}

#[test]
fn a_sleeping_axis_keeps_its_value_in_the_sim_until_its_inputs_rest() {
    let mut rig = Rig::new();
    rig.set("Key.W", 1, ON);
    rig.step(16);
    rig.world.activity = Activity::Asleep;
    assert!(rig.step(32).is_empty(), "the sim mutes it");
    rig.world.activity = Activity::Active;
    assert!(rig.step(48).is_empty(), "it is down again without a press");
    rig.world.activity = Activity::Asleep;
    rig.set("Key.W", 50, OFF);
    assert_eq!(rig.step(64), [(50, axis(0, 0))]);
    rig.set("Key.D", 70, ON);
    assert!(rig.step(80).is_empty());
    rig.world.activity = Activity::Active;
    assert_eq!(rig.step(96), [(80, axis(1024, 0))], "axes take over a key that is down");
}

#[test]
fn a_suppressed_axis_is_told_to_the_sim_and_not_to_the_host() {
    let mut rig = Rig::new();
    rig.world.activity = Activity::Suppressed(TagId(0));
    rig.set("Key.W", 1, ON);
    assert_eq!(rig.step(16), [(1, axis(0, 1024))]);
    assert!(!rig.seat.is_active(ActionIndex(0)));
}
