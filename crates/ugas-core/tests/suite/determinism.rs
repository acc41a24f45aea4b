//! Determinism: the same ops give the same bytes, in another sim, in another thread, in a clone and after a reset.

use crate::kit::*;
use std::sync::Arc;
use ugas_core::{
    ControllerId, EffectFilter, EffectKey, EffectUpdate, Fact, Op, Outcome, Rate, Rules, Sim, SimConfig, SimTime,
    SpawnSpec, Spec,
};
use ugas_doc::{
    Attribute, AttributeSet, ConditionalEffects, Effect, ExecutionPolicy, ImmunityEntry, Magnitude, Modifier,
    Operation, Stacking,
};

const EFFECTS: [&str; 14] = [
    "GE_Hit",
    "GE_Heal",
    "GE_Poison",
    "GE_Strong",
    "GE_Weak",
    "GE_Stun",
    "GE_Ward",
    "GE_Row",
    "GE_Merge",
    "GE_Stack",
    "GE_Follow",
    "GE_Bomb",
    "GE_Filtered",
    "GE_Cleanse",
];

fn rules() -> Arc<Rules> {
    let mut stun = Effect::lasting("GE_Stun", 1.2).grants("State.Debuff.Stunned").tagged("Type.Control");
    stun.application_chance = Some(Magnitude::value(0.6));
    let mut ward = Effect::lasting("GE_Ward", 2.0).grants("State.Buff");
    ward.immunity = vec![ImmunityEntry { effect_tags: vec!["Type.Control".into()], ..Default::default() }];
    let mut weak = Effect::infinite("GE_Weak").multiply_in("AttackPower", -0.2, "Curse");
    weak.ongoing_required_tags = vec!["State.Debuff".into()];
    let mut bomb = Effect::lasting("GE_Bomb", 0.9);
    bomb.effects = Some(ConditionalEffects {
        on_applied: vec!["GE_Hit".into()],
        on_expired: vec!["GE_Poison".into(), "GE_Hit".into()],
        on_removed: vec!["GE_Heal".into()],
        ..Default::default()
    });
    let mut cleanse = Effect::instant("GE_Cleanse");
    cleanse.remove_effects_with_tags = vec!["State.Debuff".into()];
    world()
        .add(
            AttributeSet::new("Derived")
                .needs("Combat")
                .with(Attribute::derived("Bulk", "Health * (1 + Defense / 100)")),
        )
        .add(Effect::instant("GE_Hit").execute("ExecCalc_Hit"))
        .add(Effect::instant("GE_Heal").add("Health", 13.7))
        .add(Effect::lasting("GE_Poison", 3.0).every(0.37).add("Health", -1.1).cue("GameplayCue.Poison"))
        .add(Effect::lasting("GE_Strong", 2.2).multiply("AttackPower", 0.13).add("MaxHealth", 11.0))
        .add(stun)
        .add(weak)
        .add(ward)
        .add(bomb)
        .add(cleanse)
        .add(Effect::lasting("GE_Row", 0.5).add_post("Defense", 1.5).policy(ExecutionPolicy::RunInSequence))
        .add(Effect::lasting("GE_Merge", 1.0).add("Defense", 2.5).policy(ExecutionPolicy::RunInMerge))
        .add(
            Effect::lasting("GE_Stack", 1.0)
                .add("Mana", -0.7)
                .stacking(Stacking { limit: Some(9), ..Default::default() }),
        )
        .add(Effect::lasting("GE_Follow", 4.0).add("Defense", Magnitude::attribute("AttackPower").times(0.3)))
        .add(Effect::infinite("GE_Filtered").modify(
            Modifier::new("AttackPower", Operation::Add, 4.0).target_tag("State.Buff").source_tag("State.Debuff"),
        ))
        .calc_fn("ExecCalc_Hit", [ugas_core::Read::source("AttackPower"), ugas_core::Read::target("Defense")], |cx| {
            let luck = cx.random();
            let damage = cx.source("AttackPower") * (0.5 + luck) - cx.target("Defense") * 0.1;
            cx.add("Health", -damage.max(0.0));
        })
        .build()
        .unwrap()
}

/// A stream of ops that depends only on its seed and on the results so far.
struct Driver {
    rng: Rng,
    keys: Vec<EffectKey>,
    alive: Vec<ControllerId>,
}

impl Driver {
    fn new(seed: u64) -> Driver {
        Driver { rng: Rng(seed), keys: Vec::new(), alive: Vec::new() }
    }

    fn op(&mut self, rules: &Rules) -> Op {
        let rng = &mut self.rng;
        if self.alive.len() < 3 || rng.below(40) == 0 && self.alive.len() < 12 {
            let mut spec = SpawnSpec::sets([set(rules, "Combat")]);
            if rng.below(2) == 0 {
                spec = spec.tag(tag(rules, "State.Alive"));
            }
            return Op::Spawn(Box::new(spec));
        }
        let who = *rng.pick(&self.alive);
        let name = *rng.pick(&EFFECTS);
        let id = effect(rules, name);
        let spec = Spec::new(id, who)
            .from(*rng.pick(&self.alive))
            .level(1 + rng.below(5) as u32)
            .stacks(1 + rng.below(3) as u32);
        match rng.below(20) {
            0 if !self.keys.is_empty() => {
                Op::Remove { key: *rng.pick(&self.keys), stacks: [None, Some(1), Some(2)][rng.below(3)] }
            }
            1 => Op::SetRate { who, rate: Rate(rng.below(3 << 16) as u32) },
            2 => Op::SetActive { who, active: rng.below(4) > 0 },
            3 if !self.keys.is_empty() => {
                let change = match rng.below(4) {
                    0 => EffectUpdate::Level(1 + rng.below(9) as u32),
                    1 => EffectUpdate::Extend(SimTime::millis(rng.below(900) as i64)),
                    2 => EffectUpdate::Stacks(1 + rng.below(9) as u32),
                    _ => EffectUpdate::Remaining(SimTime::millis(rng.below(900) as i64)),
                };
                Op::Change { key: *rng.pick(&self.keys), change }
            }
            4 => Op::RemoveMatching { who, filter: EffectFilter { effect: Some(id), ..Default::default() } },
            5 if rng.below(6) == 0 => Op::Despawn { who },
            6 => Op::AddSet { who, set: set(rules, "Derived") },
            7 => Op::RemoveSet { who, set: set(rules, "Derived"), force: true },
            8 => Op::ApplyToMany { spec, targets: self.alive.clone() },
            _ => Op::Apply(spec),
        }
    }

    fn step(&mut self, sim: &mut Sim) {
        let op = self.op(&sim.rules().clone());
        match sim.run(op) {
            Ok(Outcome::Spawned(who)) => self.alive.push(who),
            Ok(Outcome::Applied(key)) if self.keys.len() < 64 => self.keys.push(key),
            Ok(Outcome::Applied(key)) => {
                let at = self.rng.below(64);
                self.keys[at] = key;
            }
            _ => {}
        }
        self.alive.retain(|&w| sim.exists(w));
    }
}

/// A thousand frames with a few ops in each; the facts, the hash and every controller's bytes.
fn play(mut sim: Sim, seed: u64) -> (Vec<Fact>, u64, Vec<Vec<u8>>) {
    let mut driver = Driver::new(seed);
    let mut log = Vec::new();
    for frame in 1..=1_000 {
        for _ in 0..2 {
            driver.step(&mut sim);
        }
        go_to(&mut sim, SimTime::frames(frame, 60));
        log.extend(facts(&mut sim));
    }
    let hash = sim.hash();
    let all: Vec<ControllerId> = sim.controllers().collect();
    let bytes = all.iter().map(|&who| postcard::to_allocvec(&sim.extract(who).unwrap()).unwrap()).collect();
    (log, hash, bytes)
}

fn fresh() -> Sim {
    Sim::new(rules(), SimConfig { seed: 11, ..SimConfig::default() })
}

// covers: UGAS-1-02
#[test]
fn a_script_of_a_thousand_ticks_gives_the_same_bytes_twice() {
    let (facts, hash, bytes) = play(fresh(), 1);
    assert!(facts.len() > 2_000 && bytes.len() > 2, "{} {}", facts.len(), bytes.len());
    // Every sim and every thread would get another hash seed if anything in it were hashed by the standard library.
    for rerun in 0..3 {
        let other = std::thread::spawn(|| play(fresh(), 1)).join().unwrap();
        assert!(other.0 == facts, "run {rerun}");
        assert_eq!(other.1, hash, "run {rerun}");
        assert_eq!(other.2, bytes, "run {rerun}");
    }
    assert_ne!(play(fresh(), 2).1, hash);
}

#[test]
fn a_reset_sim_runs_like_a_new_one() {
    let (log, hash, bytes) = play(fresh(), 3);
    let mut used = fresh();
    let mut driver = Driver::new(9);
    for frame in 1..=200 {
        driver.step(&mut used);
        go_to(&mut used, SimTime::frames(frame, 60));
    }
    used.reset();
    let rerun = play(used, 3);
    assert!(rerun.0 == log);
    assert_eq!((rerun.1, rerun.2), (hash, bytes));
}

#[test]
fn a_clone_continues_like_the_original() {
    for seed in 0..6 {
        let mut sim = fresh();
        let mut driver = Driver::new(seed);
        for frame in 1..=300 {
            driver.step(&mut sim);
            go_to(&mut sim, SimTime::frames(frame, 60));
            if frame % 25 != 0 {
                continue;
            }
            let mut fork = sim.clone();
            assert_eq!(fork.hash(), sim.hash());
            facts(&mut sim);
            facts(&mut fork);
            let mut tail = Driver {
                rng: Rng(seed * 1_000 + frame as u64),
                keys: driver.keys.clone(),
                alive: driver.alive.clone(),
            };
            let mut other = Driver { rng: Rng(tail.rng.0), keys: tail.keys.clone(), alive: tail.alive.clone() };
            let mut original = sim.clone();
            for more in 1..=40 {
                tail.step(&mut original);
                other.step(&mut fork);
                let at = SimTime::frames(frame + more, 60);
                go_to(&mut original, at);
                go_to(&mut fork, at);
                assert_eq!(original.hash(), fork.hash(), "seed {seed}, frame {frame} + {more}");
            }
            assert!(facts(&mut original) == facts(&mut fork));
        }
    }
}

#[test]
fn the_incremental_hash_equals_a_hash_computed_once_at_the_end() {
    let mut asked = fresh();
    let mut silent = fresh();
    let (mut a, mut b) = (Driver::new(4), Driver::new(4));
    for frame in 1..=400 {
        a.step(&mut asked);
        b.step(&mut silent);
        asked.hash();
        go_to(&mut asked, SimTime::frames(frame, 60));
        asked.hash();
        go_to(&mut silent, SimTime::frames(frame, 60));
    }
    assert_eq!(asked.hash(), silent.hash());
}
