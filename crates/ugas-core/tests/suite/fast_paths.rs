//! Fast paths of applications, executions, activations and cached refusals: a sim with `slow_path` takes none of them and
//! must emit the same facts with the same causes and reach the same hashes.

use crate::kit::{self, Rng};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, ControllerId, EventData, Limits, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target,
    Which,
};
use ugas_doc::{Ability, AbilityTask, CombatRule, Effect, ImmunityEntry, Modify, ModifyOperation, Trigger};

fn rules() -> Arc<Rules> {
    let modify = Some(Modify { operation: ModifyOperation::Add, value: Some(-5.0), factor: None });
    let cheaper = CombatRule { on: "ResourceCost".into(), modify, ..CombatRule::default() };
    kit::world()
        .add(Effect::instant("GE_Cost").add("Mana", -15.0))
        .add(Effect::instant("GE_Blood").add("Health", -30.0).add("Mana", -1.0))
        .add(Effect::instant("GE_Gain").add("Mana", 40.0))
        .add(Effect::instant("GE_Heal").add("Health", 80.0))
        .add(Effect::lasting("GE_Cool", 1.0).grants("Cooldown.A"))
        .add(Effect::lasting("GE_Two", 2.0).grants("Cooldown.B").grants("Cooldown.C").add("Defense", 3.0))
        .add(Effect::lasting("GE_B", 1.5).grants("Cooldown.B"))
        .add(Effect::lasting("GE_Mute", 0.5).grants("State.Silenced"))
        .add(Effect { rules: vec![cheaper], ..Effect::lasting("GE_Cheap", 2.0) })
        .add(Ability::new("GA_Plain").cost("GE_Cost").cooldown("GE_Cool").blocked("State.Silenced"))
        .add(Ability::new("GA_Blood").cost("GE_Blood").cooldown("GE_Two").tag("Ability.Dark"))
        .add(Ability::new("GA_Free").trigger(Trigger::event("Event.Hit")).cooldown("GE_B"))
        .add(Ability::new("GA_Again").retriggered().multiple().target_requires("State.Alive"))
        .add(
            Ability::new("GA_Waits")
                .cost("GE_Cost")
                .blocks("Ability.Dark")
                .task(AbilityTask::new("WaitAbilityEnded").param("Ability", "GA_Plain"))
                .task(AbilityTask::new("WaitDelay").param("Duration", 0.25)),
        )
        .add(Ability::new("GA_Reply").trigger(Trigger::tag_added("Cooldown.A")).cost("GE_Cost"))
        .build()
        .unwrap()
}

const ABILITIES: [&str; 6] = ["GA_Plain", "GA_Blood", "GA_Free", "GA_Again", "GA_Waits", "GA_Reply"];

/// Runs one random op and returns its result as text.
fn step(sim: &mut Sim, n: &mut Rng, all: &[ControllerId]) -> String {
    let rules = sim.rules().clone();
    let (who, other) = (*n.pick(all), *n.pick(all));
    let ability: AbilityId = rules.ability(n.pick::<&str>(&ABILITIES)).unwrap();
    let target = *n.pick(&[Target::None, Target::None, Target::Controller(other)]);
    match n.below(12) {
        0..=5 => format!("{:?}", sim.activate(who, ability, target)),
        6 => format!("{:?}", sim.activate_which(who, Which::Ability(ability), target)),
        7 => {
            let effects = ["GE_Gain", "GE_Heal", "GE_Mute", "GE_Cheap", "GE_B", "GE_Cost"];
            let effect = rules.effect(n.pick::<&str>(&effects)).unwrap();
            format!("{:?}", sim.apply(&Spec::new(effect, who)))
        }
        8 => {
            let hit = rules.tag("Event.Hit").unwrap();
            format!("{:?}", sim.event(EventData { instigator: Some(other), ..EventData::new(hit, who) }))
        }
        9 => format!("{:?}", sim.cancel(who, Which::Ability(ability))),
        _ => {
            let until = sim.now() + SimTime::millis(125 * n.below(5) as i64);
            kit::go_to(sim, until);
            String::new()
        }
    }
}

fn world(rules: &Arc<Rules>, slow_path: bool, limits: Limits) -> (Sim, Vec<ControllerId>) {
    let mut sim = Sim::new(rules.clone(), SimConfig { slow_path, limits, ..SimConfig::default() });
    let set = rules.set("Combat").unwrap();
    let all: Vec<ControllerId> = (0..3).map(|_| sim.spawn(SpawnSpec::sets([set])).unwrap()).collect();
    for (i, &who) in all.iter().enumerate() {
        for (k, name) in ABILITIES.iter().enumerate() {
            // Controllers have different abilities, and one has an ability twice.
            for _ in 0..[1, 2, 0][(i + k) % 3].max((i == 0) as usize) {
                sim.grant(who, AbilityGrant::new(rules.ability(name).unwrap())).unwrap();
            }
        }
    }
    (sim, all)
}

fn compare(limits: Limits) {
    let rules = rules();
    for seed in 0..400 {
        let (mut fast, all) = world(&rules, false, limits);
        let (mut slow, _) = world(&rules, true, limits);
        let (mut a, mut b) = (Rng(seed), Rng(seed));
        for at in 0..60 {
            let (x, y) = (step(&mut fast, &mut a, &all), step(&mut slow, &mut b, &all));
            assert_eq!(x, y, "seed {seed} op {at}");
            let facts = kit::facts(&mut fast);
            assert_eq!(facts, kit::facts(&mut slow), "seed {seed} op {at}: {x}");
            for fact in &facts {
                assert_eq!(fast.chain(fact.link), slow.chain(fact.link), "seed {seed} op {at}: {fact:?}");
            }
            assert_eq!(kit::diagnostics(&mut fast), kit::diagnostics(&mut slow), "seed {seed} op {at}");
            assert_eq!(fast.hash(), slow.hash(), "seed {seed} op {at}: {x}");
        }
    }
}

#[test]
fn fast_paths_emit_the_same_facts_and_changes_as_the_slow_path() {
    compare(Limits::default());
}

#[test]
fn the_fast_paths_agree_with_the_slow_path_at_the_limits_of_a_controller() {
    compare(Limits { effects_per_controller: 2, modifiers_per_controller: 1, ..Limits::default() });
}

/// A cooldown over the limit refuses the whole commit: the cost is returned.
#[test]
fn a_cooldown_over_the_modifier_limit_refuses_the_commit_and_costs_nothing() {
    let rules = rules();
    for slow_path in [false, true] {
        let limits = Limits { modifiers_per_controller: 0, ..Limits::default() };
        let mut sim = Sim::new(rules.clone(), SimConfig { slow_path, limits, ..SimConfig::default() });
        let who = sim.spawn(SpawnSpec::sets([rules.set("Combat").unwrap()])).unwrap();
        let blood = rules.ability("GA_Blood").unwrap();
        sim.grant(who, AbilityGrant::new(blood)).unwrap();
        assert!(sim.activate(who, blood, Target::None).is_err());
        assert_eq!((kit::get(&sim, who, "Health"), kit::get(&sim, who, "Mana")), (100.0, 50.0));
    }
}

/// An immunity that does not match, a listener for something else: the causes of a hit stay the same.
#[test]
fn the_chain_of_causes_does_not_depend_on_what_else_the_target_has() {
    let frozen = ImmunityEntry { effect_tags: vec!["Status.Frozen".into()], ..ImmunityEntry::default() };
    let rules = kit::world()
        .add(Effect::instant("GE_Hit").add("Health", -10.0))
        .add(Effect::lasting("GE_Poison", 3.0).every(1.0).add("Health", -1.0))
        .add(Effect { immunity: vec![frozen], ..Effect::infinite("GE_Ward") })
        .build()
        .unwrap();
    let chain = |warded: bool| {
        let (mut sim, who) = kit::one(&rules);
        // Both have an op, so that numbers are the same.
        let first = if warded { "GE_Ward" } else { "GE_Hit" };
        sim.apply(&Spec::new(rules.effect(first).unwrap(), who)).unwrap();
        kit::facts(&mut sim);
        for effect in ["GE_Hit", "GE_Poison"] {
            sim.apply(&Spec::new(rules.effect(effect).unwrap(), who)).unwrap();
        }
        kit::go_to(&mut sim, SimTime::seconds(3.0));
        let facts = kit::facts(&mut sim);
        facts.iter().map(|f| sim.chain(f.link).iter().map(|c| c.what).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(chain(false), chain(true));
}
