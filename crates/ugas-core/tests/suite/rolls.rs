//! Random numbers of predicted attacks: a roll depends only on the seed, the op and its position in it. So a predicting
//! client, the server and a resimulation get the same rolls.

use crate::kit::{spawn, tag};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, ControllerId, FactKind, Facts, Op, OpId, Rules, Sim, SimConfig, SimTime, Spec, Target,
    Which,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, TagRegistry};

const ATTACKS: u32 = 1000;
/// The frames until the server receives an attack.
const DELAY: u32 = 6;

fn rules() -> Arc<Rules> {
    let strike = AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Attack");
    Rules::builder()
        .add(AttributeSet::new("Combat").with(Attribute::new("Health", 1e9)))
        .add(TagRegistry::new(["Hit.Critical"]))
        .add(Effect::instant("GE_Attack").execute("ExecCalc_Attack"))
        .add(Effect::lasting("GE_Noise", 0.05))
        .calc_fn("ExecCalc_Attack", [], |cx| {
            let critical = cx.roll(0.5);
            cx.add("Health", if critical { -20.0 } else { -10.0 });
            if critical {
                cx.tag_context("Hit.Critical");
            }
        })
        .add(Ability::new("GA_Attack").task(strike))
        .build()
        .unwrap()
}

struct World {
    sim: Sim,
    ability: AbilityId,
    attacker: ControllerId,
    target: ControllerId,
}

impl World {
    fn new(rules: &Arc<Rules>, seed: u64) -> World {
        let mut sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
        let (attacker, target) = (spawn(&mut sim), spawn(&mut sim));
        let ability = rules.ability("GA_Attack").unwrap();
        sim.grant(attacker, AbilityGrant::new(ability)).unwrap();
        sim.take_facts(&mut Facts::default());
        World { sim, ability, attacker, target }
    }

    /// The attack of a frame of client 3; whether it was critical.
    fn attack(&mut self, frame: u32) -> bool {
        let which = Which::Ability(self.ability);
        let op = Op::Activate { who: self.attacker, which, target: Target::Controller(self.target) };
        self.sim.run_as(OpId::new(3, frame, (frame % 3) as u16), &op).unwrap();
        let mut facts = Facts::default();
        self.sim.take_facts(&mut facts);
        let critical = tag(self.sim.rules(), "Hit.Critical");
        facts.list.iter().any(|f| matches!(f.kind, FactKind::ContextTag { tag } if tag == critical))
    }

    fn frame(&mut self, frame: u32) {
        self.sim.advance_to(SimTime::frames(i64::from(frame), 60));
    }
}

// covers: NXT-9.5-01
#[test]
fn client_server_and_replay_agree_on_every_roll() {
    let rules = rules();
    let mut client = World::new(&rules, 42);
    let mut server = World::new(&rules, 42);
    let stranger = spawn(&mut server.sim);
    let start = client.sim.clone();
    let predicted: Vec<bool> = (1..=ATTACKS)
        .map(|frame| {
            client.frame(frame);
            client.attack(frame)
        })
        .collect();
    let mut confirmed = Vec::new();
    for frame in 1..=ATTACKS + DELAY {
        server.frame(frame);
        // Others act before and after: other ops, other rolls on the same target, effects applied and removed.
        for effect in ["GE_Noise", "GE_Attack"] {
            let spec = Spec::new(rules.effect(effect).unwrap(), server.target).from(stranger);
            server.sim.apply(&spec).unwrap();
        }
        server.sim.take_facts(&mut Facts::default());
        if frame > DELAY {
            confirmed.push(server.attack(frame - DELAY));
        }
    }
    assert_eq!(predicted, confirmed, "no prediction is undone");
    // Rolled back to the beginning and replayed.
    client.sim = start;
    let replayed: Vec<bool> = (1..=ATTACKS).map(|frame| client.attack(frame)).collect();
    assert_eq!(predicted, replayed);
    // Fair, and another seed is another sequence.
    let hits = predicted.iter().filter(|c| **c).count();
    assert!((450..=550).contains(&hits), "{hits}");
    let mut other = World::new(&rules, 43);
    assert_ne!((1..=ATTACKS).map(|frame| other.attack(frame)).collect::<Vec<_>>(), predicted);
    // Every platform: the first rolls as they were when this was written.
    let first = predicted[..32].iter().fold(0u32, |bits, c| bits << 1 | u32::from(*c));
    assert_eq!(first, FIRST, "{first:#034b}");
}

/// One bit per roll.
const FIRST: u32 = 0b0010_1010_0100_0010_1000_0011_0011_0110;
