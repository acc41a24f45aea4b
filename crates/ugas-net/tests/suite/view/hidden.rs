//! Hidden values do not affect any byte: two servers run the same except for values that are hidden from observers.

use super::rig::{Rig, rules};
use proptest::prelude::*;
use ugas_core::ControllerId;
use ugas_doc::ControllerReplication;
use ugas_net::types::Tick;

const MODES: [ControllerReplication; 4] = [
    ControllerReplication::None,
    ControllerReplication::Minimal,
    ControllerReplication::Mixed,
    ControllerReplication::Full,
];

/// An event on both servers; hidden values differ on the second.
#[derive(Clone, Debug)]
enum Action {
    Open { actor: usize, attribute: usize, value: u16 },
    Hidden { actor: usize, attribute: usize, values: (u16, u16) },
    Apply { actor: usize, effect: usize },
    Step,
}

fn action() -> impl Strategy<Value = Action> {
    let actor = 0..MODES.len();
    prop_oneof![
        (actor.clone(), 0..9usize, 0..1000u16).prop_map(|(actor, attribute, value)| Action::Open {
            actor,
            attribute,
            value
        }),
        (actor.clone(), 0..11usize, (0..1000u16, 0..1000u16)).prop_map(|(actor, attribute, values)| Action::Hidden {
            actor,
            attribute,
            values
        }),
        (actor, 0..4usize).prop_map(|(actor, effect)| Action::Apply { actor, effect }),
        Just(Action::Step),
    ]
}

const EFFECTS: [&str; 4] = ["GE_Mark", "GE_Slow", "GE_Hit", "GE_Burn"];

/// The attribute of this number: first those visible to all, then to the owner, then hidden ones.
fn name(attribute: usize) -> String {
    match attribute {
        0..8 => format!("A{attribute}"),
        8 => "Exact".into(),
        9 => "Own".into(),
        _ => "Hidden".into(),
    }
}

fn is_hidden(mode: ControllerReplication, attribute: usize) -> bool {
    mode != ControllerReplication::Full || attribute >= 9
}

fn play(rig: &mut Rig, actors: &[ControllerId], action: &Action, is_second: bool) {
    match *action {
        Action::Open { actor, attribute, value } => rig.set(actors[actor], &name(attribute), value as f64),
        Action::Hidden { actor, attribute, values: (a, b) } => {
            let differs = is_hidden(MODES[actor], attribute) && is_second;
            rig.set(actors[actor], &name(attribute), if differs { b } else { a } as f64);
        }
        Action::Apply { actor, effect } => drop(rig.apply(actors[actor], EFFECTS[effect])),
        Action::Step => rig.step(),
    }
}

proptest! {
    #[test]
    fn a_hidden_change_alters_no_byte(actions in prop::collection::vec(action(), 1..60)) {
        let rules = rules();
        let mut pair = [Rig::new(rules.clone()), Rig::new(rules)];
        let [first, second] = pair.each_mut().map(|rig| {
            MODES.map(|mode| rig.spawn(&["Vitals", "Purse"], mode))
        });
        prop_assert_eq!(first, second);
        for action in actions.iter().chain([&Action::Step]) {
            for (rig, is_second) in pair.iter_mut().zip([false, true]) {
                play(rig, &first, action, is_second);
            }
            let [a, b] = &mut pair;
            prop_assert_eq!(a.store.changed_ticks(), b.store.changed_ticks(), "not even the tick of a hidden change is visible");
            for who in first {
                for since in [Tick(0), a.tick.minus(3), a.tick.minus(1)] {
                    prop_assert_eq!(a.section(who, since), b.section(who, since), "{:?} since {:?}", who, since);
                }
            }
        }
    }
}
