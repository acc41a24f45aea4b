//! What a mask hides must not show in any byte: two servers play alike but for values that observers may not see.

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

/// One thing that happens on both servers; a hidden value is another on the second.
#[derive(Clone, Debug)]
enum Deed {
    Open { actor: usize, attribute: usize, value: u16 },
    Hidden { actor: usize, attribute: usize, values: (u16, u16) },
    Apply { actor: usize, effect: usize },
    Step,
}

fn deed() -> impl Strategy<Value = Deed> {
    let actor = 0..MODES.len();
    prop_oneof![
        (actor.clone(), 0..9usize, 0..1000u16).prop_map(|(actor, attribute, value)| Deed::Open {
            actor,
            attribute,
            value
        }),
        (actor.clone(), 0..11usize, (0..1000u16, 0..1000u16)).prop_map(|(actor, attribute, values)| Deed::Hidden {
            actor,
            attribute,
            values
        }),
        (actor, 0..4usize).prop_map(|(actor, effect)| Deed::Apply { actor, effect }),
        Just(Deed::Step),
    ]
}

const EFFECTS: [&str; 4] = ["GE_Mark", "GE_Slow", "GE_Hit", "GE_Burn"];

/// The attribute of this number: what all may see first, then the owner's, then nobody's.
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

fn play(rig: &mut Rig, actors: &[ControllerId], deed: &Deed, is_second: bool) {
    match *deed {
        Deed::Open { actor, attribute, value } => rig.set(actors[actor], &name(attribute), value as f64),
        Deed::Hidden { actor, attribute, values: (a, b) } => {
            let differs = is_hidden(MODES[actor], attribute) && is_second;
            rig.set(actors[actor], &name(attribute), if differs { b } else { a } as f64);
        }
        Deed::Apply { actor, effect } => drop(rig.apply(actors[actor], EFFECTS[effect])),
        Deed::Step => rig.step(),
    }
}

proptest! {
    #[test]
    fn a_hidden_change_alters_no_byte(deeds in prop::collection::vec(deed(), 1..60)) {
        let rules = rules();
        let mut pair = [Rig::new(rules.clone()), Rig::new(rules)];
        let [first, second] = pair.each_mut().map(|rig| {
            MODES.map(|mode| rig.spawn(&["Vitals", "Purse"], mode))
        });
        prop_assert_eq!(first, second);
        for deed in deeds.iter().chain([&Deed::Step]) {
            for (rig, is_second) in pair.iter_mut().zip([false, true]) {
                play(rig, &first, deed, is_second);
            }
            let [a, b] = &mut pair;
            prop_assert_eq!(a.store.stamps(), b.store.stamps(), "not even that something changed may show");
            for who in first {
                for since in [Tick(0), a.tick.minus(3), a.tick.minus(1)] {
                    prop_assert_eq!(a.section(who, since), b.section(who, since), "{:?} since {:?}", who, since);
                }
            }
        }
    }
}
