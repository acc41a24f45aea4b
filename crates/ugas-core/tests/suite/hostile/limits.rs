//! Every limit reached: typed refusals, bounded logs.

use crate::kit::tasks::{Stage, rules_with};
use crate::kit::*;
use ugas_core::{
    ControllerId, DefId, EffectUpdate, EventData, FactKind, Facts, LimitKind, Limits, Op, ParamId, ParamValue, Refusal,
    Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{Ability, Controller, Effect, ExecutionPolicy, Stacking};

fn sim_with(rules: &std::sync::Arc<Rules>, limits: Limits) -> Sim {
    Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() })
}

fn limit_of(refusal: Refusal) -> (LimitKind, u32) {
    match refusal {
        Refusal::Limit { what, max, .. } => (what, max),
        other => panic!("{other:?}"),
    }
}

fn small_world() -> std::sync::Arc<Rules> {
    world()
        .add(Controller::new("Hero").set("Combat"))
        .add(Effect::instant("GE_Hit").add("Health", -0.001))
        .add(Effect::infinite("GE_Buff").add("AttackPower", 1.0).grants("State.Buff"))
        .add(Effect::infinite("GE_Plain").add("AttackPower", 1.0))
        .add(Effect::infinite("GE_Two").add("AttackPower", 1.0).add("Defense", 1.0))
        .add(Effect::lasting("GE_Row", 1.0).policy(ExecutionPolicy::RunInSequence))
        .add(Effect::infinite("GE_Stack").add("Defense", 1.0).stacking(Stacking::default()))
        .add(Effect::infinite("GE_Tick").every(0.01).add("Mana", -0.001).cue("GameplayCue.Tick"))
        .build()
        .unwrap()
}

#[test]
fn thousands_of_instances_fit_and_one_more_is_refused() {
    let rules = small_world();
    let (mut sim, hero) = one(&rules);
    let max = Limits::default().effects_per_controller;
    for name in ["GE_Buff", "GE_Plain"] {
        for _ in 0..max / 2 {
            apply(&mut sim, name, hero);
        }
    }
    assert_eq!(get(&sim, hero, "AttackPower"), 10.0 + max as f64);
    assert_eq!(sim.tag_count(hero, tag(&rules, "State.Buff")).unwrap(), max as u64 / 2);
    let before = sim.row_hash(hero).unwrap();
    for name in ["GE_Buff", "GE_Plain", "GE_Row", "GE_Stack"] {
        let refused = sim.apply(&Spec::new(effect(&rules, name), hero)).unwrap_err();
        assert_eq!(limit_of(refused), (LimitKind::Effects, max), "{name}");
    }
    assert_eq!(sim.row_hash(hero).unwrap(), before);
    // Instants still work, and removal makes room.
    apply(&mut sim, "GE_Hit", hero);
    let first = sim.effects(hero).unwrap()[0].key;
    sim.remove(first).unwrap();
    apply(&mut sim, "GE_Row", hero);
    let refused = sim.apply(&Spec::new(effect(&rules, "GE_Row"), hero)).unwrap_err();
    assert_eq!(limit_of(refused), (LimitKind::Effects, max), "a queue counts too");
    sim.despawn(hero).unwrap();
}

#[test]
fn modifiers_controllers_and_definitions_are_limited() {
    let rules = small_world();
    let limits = Limits { modifiers_per_controller: 5, controllers: 3, definitions: 2, stacks: 7, ..Limits::default() };
    let mut sim = sim_with(&rules, limits);
    let hero = spawn(&mut sim);
    apply(&mut sim, "GE_Two", hero);
    apply(&mut sim, "GE_Two", hero);
    let refused = sim.apply(&Spec::new(effect(&rules, "GE_Two"), hero)).unwrap_err();
    assert_eq!(limit_of(refused), (LimitKind::Modifiers, 5));
    apply(&mut sim, "GE_Plain", hero);

    spawn(&mut sim);
    let template = rules.template("Hero").unwrap();
    let refused = sim.spawn_many(template, 2).unwrap_err();
    assert_eq!(limit_of(refused), (LimitKind::Controllers, 3));
    assert_eq!(sim.controllers().count(), 2);
    spawn(&mut sim);
    let refused = sim.spawn(SpawnSpec::template(template)).unwrap_err();
    assert_eq!(limit_of(refused), (LimitKind::Controllers, 3));

    let stack = effect(&rules, "GE_Stack");
    assert_eq!(sim.apply(&Spec::new(stack, hero).stacks(8)).unwrap_err().kind(), "BadValue");
    for i in 0..2 {
        sim.define(Effect::instant(format!("GE_New{i}")).add("Health", -1.0)).unwrap();
    }
    let error = sim.define(Effect::instant("GE_New2").add("Health", -1.0)).unwrap_err();
    assert!(!error.issues.is_empty());
    let doc = Box::new(Effect::instant("GE_New3").add("Health", -1.0).into());
    assert_eq!(sim.run(Op::Define(doc)), Err(Refusal::BadDefinition));
}

#[test]
fn the_id_of_an_undefined_definition_is_never_reused() {
    let rules = small_world();
    let mut sim = sim_with(&rules, Limits { definitions: 4, ..Limits::default() });
    let mut seen: Vec<DefId> = Vec::new();
    for i in 0..4 {
        let id = sim.define(Effect::instant(format!("GE_New{i}")).add("Health", -1.0)).unwrap();
        assert!(!seen.contains(&id));
        sim.undefine(id).unwrap();
        assert_eq!(sim.undefine(id).unwrap_err().kind(), "UnknownName");
        seen.push(id);
    }
    // So the limit counts every definition made, and the table stays bounded.
    let error = sim.define(Effect::instant("GE_New4").add("Health", -1.0)).unwrap_err();
    assert_eq!(error.issues[0].code, "limit");
}

#[test]
fn requested_controller_ids_are_limited() {
    let rules = small_world();
    let mut sim = sim_with(&rules, Limits { controllers: 100, ..Limits::default() });
    let combat = set(&rules, "Combat");
    let with_id = |n| SpawnSpec { id: Some(ControllerId(n)), ..SpawnSpec::sets([combat]) };
    for n in [u32::MAX, u32::MAX - 1, 1 << 31, 1_000_000] {
        assert_eq!(limit_of(sim.spawn(with_id(n)).unwrap_err()).0, LimitKind::Controllers, "{n}");
    }
    assert_eq!(sim.spawn(with_id(50)).unwrap(), ControllerId(50));
    assert_eq!(sim.spawn(with_id(50)).unwrap_err().kind(), "IdTaken");
    assert_eq!(spawn(&mut sim), ControllerId(51));
}

#[test]
fn facts_that_are_not_taken_are_dropped_oldest_first() {
    let rules = small_world();
    let mut sim = sim_with(&rules, Limits { facts: 1_000, ..Limits::default() });
    let hero = spawn(&mut sim);
    for i in 0..20_000 {
        apply(&mut sim, "GE_Hit", hero);
        assert!(sim.facts().list.len() <= 1_000, "{i}");
    }
    let newest = sim.facts().list.last().unwrap().root;
    let mut taken = Facts::default();
    sim.take_facts(&mut taken);
    assert_eq!(taken.list.last().unwrap().root, newest);
    assert!(taken.list.len() >= 400);
    let reported = diagnostics(&mut sim);
    assert!(!reported.is_empty() && reported.iter().all(|d| d.kind.name() == "Limit"));
    assert!(reported.len() <= Limits::default().diagnostics as usize);
}

#[test]
fn diagnostics_journals_and_causes_are_bounded() {
    let mut loud = Effect::lasting("GE_Loud", 0.0);
    loud.effects = Some(Default::default());
    let rules = world()
        .add(loud)
        .add(Effect::infinite("GE_Tick").every(0.01).add("Mana", -0.001).cue("GameplayCue.Tick"))
        .build()
        .unwrap();
    let limits = Limits { diagnostics: 10, journal: 50, cause_links: 16, ..Limits::default() };
    let mut sim = sim_with(&rules, limits);
    let hero = spawn(&mut sim);
    sim.keep_journal(hero).unwrap();
    apply(&mut sim, "GE_Tick", hero);
    for i in 0..5_000 {
        apply(&mut sim, "GE_Loud", hero);
        assert!(sim.journal(hero).unwrap().ops().count() <= 50, "{i}");
    }
    go(&mut sim, 10.0);
    assert_eq!(diagnostics(&mut sim).len(), 10);
    for f in facts(&mut sim) {
        assert!(sim.chain(f.link).len() <= 16);
    }
}

#[test]
fn a_due_budget_of_zero_runs_nothing() {
    let rules = small_world();
    let mut sim = sim_with(&rules, Limits { due_per_advance: 0, ..Limits::default() });
    let hero = spawn(&mut sim);
    apply(&mut sim, "GE_Tick", hero);
    for _ in 0..3 {
        let p = sim.advance_to(SimTime::seconds(1.0));
        assert!(!p.finished && p.due == 0);
        assert!(p.reached < SimTime::seconds(1.0));
    }
    assert_eq!(get(&sim, hero, "Mana"), 50.0);
}

fn all_limits(n: u32) -> Limits {
    Limits {
        controllers: n,
        effects_per_controller: n,
        modifiers_per_controller: n,
        attributes_per_controller: n.max(6),
        grants_per_controller: n,
        layouts: n.max(1),
        stacks: n,
        chain_depth: n,
        reactions: n,
        due_per_advance: n as u64,
        facts: n,
        diagnostics: n,
        cause_links: n,
        definitions: n,
        journal: n,
        flips: n,
        ..Limits::default()
    }
}

#[test]
fn the_smallest_and_largest_limits_do_not_panic() {
    let rules = small_world();
    for n in [0, 1, 2, 3, u32::MAX] {
        let mut sim = sim_with(&rules, all_limits(n));
        let combat = set(&rules, "Combat");
        let mut rng = Rng(n as u64);
        let names = ["GE_Hit", "GE_Buff", "GE_Plain", "GE_Two", "GE_Row", "GE_Stack", "GE_Tick"];
        for _ in 0..300 {
            if let Ok(who) = sim.spawn(SpawnSpec::sets([combat])) {
                let _ = sim.keep_journal(who);
            }
            let all: Vec<ControllerId> = sim.controllers().take(4).collect();
            for &who in &all {
                let name = *rng.pick(&names);
                if let Ok(key) = sim.apply(&Spec::new(effect(&rules, name), who).from(who)) {
                    let _ = sim.run(Op::Change { key, change: EffectUpdate::Level(2) });
                }
            }
            let to = sim.now() + SimTime::millis(20);
            sim.advance_to(to);
            let _ = sim.define(Effect::instant("GE_New").add("Health", -1.0));
            sim.hash();
            if let (Some(&who), 0) = (all.first(), rng.below(10)) {
                let _ = sim.despawn(who);
            }
            for link in 0..5 {
                let _ = sim.chain(link);
            }
            assert!(sim.facts().list.len() <= n.max(2) as usize);
        }
    }
}

#[test]
fn details_do_not_accumulate_when_facts_are_not_taken() {
    let rules = rules_with(Ability::new("GA"));
    let limits = Limits { facts: 100, ..Limits::default() };
    let mut s = Stage::with(&rules, "GA", SimConfig { limits, ..SimConfig::default() });
    let tag = tag(&rules, "Event.Hit");
    for n in 0..5_000 {
        let payload = (0..60).map(|i| (ParamId(i), n as f64)).collect();
        s.sim.event(EventData { payload, magnitude: n as f64, ..EventData::new(tag, s.hero) }).unwrap();
    }
    let mut f = Facts::default();
    s.sim.take_facts(&mut f);
    assert!(f.list.len() <= 100 && f.detail.len() < 400_000, "{} facts, {} bytes", f.list.len(), f.detail.len());
    // Each remaining fact still has its own payload.
    for fact in &f.list {
        let FactKind::GameplayEvent { magnitude, .. } = fact.kind else { continue };
        assert_eq!(f.params(fact).count(), 60);
        assert!(f.params(fact).all(|(_, v)| v == ParamValue::Number(magnitude)));
    }
}
