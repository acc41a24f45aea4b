//! Abilities that trigger each other: cycles of triggers, events and cancels, thousands of tasks, endless loops and
//! zero-length waits. Each ends in a typed refusal with a causal chain, and nothing hangs.

use crate::kit::*;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, CauseWhat, ControllerId, DiagnosticKind, EventData, FactKind, LimitKind, Limits, Refusal,
    Rules, Sim, SimConfig, SimTime, Target, Which,
};
use ugas_doc::{Ability, AbilityTask as T, Effect, TagRegistry, Trigger};

fn task(kind: &str) -> T {
    T::new(kind)
}
fn send(tag: &str) -> T {
    task("SendEvent").param("EventTag", tag)
}
fn wait(seconds: f64) -> T {
    task("WaitDelay").param("Duration", seconds)
}

fn base() -> ugas_core::RulesBuilder {
    world()
        .add(TagRegistry::new(["Event.A", "Event.B", "Ability.A", "Ability.B"]))
        .add(Effect::instant("GE_Mark").add("AttackPower", 1.0))
        .add(Effect::infinite("GE_Burn").grants("Status.Burning"))
        .add(Effect::infinite("GE_Freeze").grants("Status.Frozen"))
        .add(Effect::instant("GE_Down").add("Health", -60.0))
        .add(Effect::instant("GE_Up").add("Health", 60.0))
}

/// A hero with these abilities.
fn hero_with(rules: &Arc<Rules>, names: &[&str]) -> (Sim, ControllerId, Vec<AbilityId>) {
    let limits = Limits { facts: 200_000, ..Limits::default() };
    let mut sim = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
    let hero = spawn(&mut sim);
    let ids: Vec<_> = names.iter().map(|n| rules.ability(n).unwrap()).collect();
    for id in &ids {
        sim.grant(hero, AbilityGrant::new(*id)).unwrap();
    }
    (sim, hero, ids)
}

/// The refused reactions, with the links they stopped at.
fn refusals(sim: &mut Sim) -> Vec<(LimitKind, u32)> {
    let of = |d: ugas_core::Diagnostic| match d.kind {
        DiagnosticKind::ReactionRefused { refusal: Refusal::Limit { what, link, .. } } => Some((what, link)),
        _ => None,
    };
    diagnostics(sim).into_iter().filter_map(of).collect()
}

/// Asserts that the causal chain of a refusal contains these abilities repeatedly.
fn assert_chain_repeats(sim: &Sim, link: u32, ids: &[AbilityId]) {
    let chain = sim.chain(link);
    for id in ids {
        let times = chain.iter().filter(|l| l.what == CauseWhat::Activated(*id)).count();
        assert!(times > 2, "{id:?} {times} times in {chain:?}");
    }
}

/// Asserts that the sim still works afterwards.
fn assert_still_works(sim: &mut Sim, hero: ControllerId) {
    let before = get(sim, hero, "AttackPower");
    apply(sim, "GE_Mark", hero);
    assert_eq!(get(sim, hero, "AttackPower"), before + 1.0);
    let later = sim.now() + SimTime::seconds(5.0);
    assert!(sim.advance_to(later).finished);
    let sum = sim.hash();
    assert_eq!(sim.clone().hash(), sum);
}

#[test]
fn events_that_trigger_each_other_end_in_a_refusal_with_a_causal_chain() {
    let a = Ability::new("GA_A").trigger(Trigger::event("Event.A")).task(send("Event.B"));
    let b = Ability::new("GA_B").trigger(Trigger::event("Event.B")).task(send("Event.A"));
    let rules = base().add(a).add(b).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A", "GA_B"]);
    sim.event(EventData::new(tag(&rules, "Event.A"), hero)).unwrap();
    let found = refusals(&mut sim);
    assert!(!found.is_empty());
    assert!(matches!(found[0].0, LimitKind::ChainDepth | LimitKind::Reactions), "{found:?}");
    assert_chain_repeats(&sim, found[0].1, &ids);
    assert!(sim.facts().list.len() < 2_000, "{}", sim.facts().list.len());
    assert_still_works(&mut sim, hero);
}

#[test]
fn an_event_that_triggers_itself_twice_is_cut_off() {
    let a = Ability::new("GA_A").trigger(Trigger::event("Event.A")).multiple();
    let a = a.task(send("Event.A")).task(send("Event.A"));
    let rules = base().add(a).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A"]);
    // Each event sets off two: without a limit on all of them together this would be 2^64.
    sim.event(EventData::new(tag(&rules, "Event.A"), hero)).unwrap();
    let found = refusals(&mut sim);
    assert_eq!(found[0].0, LimitKind::Reactions);
    // So many causes push old ones out: the chain is short, but it is there and knows the op that began it.
    let chain = sim.chain(found[0].1);
    assert!(!chain.is_empty() && chain.iter().all(|l| l.what == CauseWhat::Activated(ids[0])), "{chain:?}");
    assert!(chain.iter().all(|l| l.root == chain[0].root));
    assert_still_works(&mut sim, hero);
}

#[test]
fn tags_that_trigger_each_other_are_cut_off() {
    let own = |e: &str| task("ApplyEffectToOwner").param("EffectClass", e);
    let drop = |e: &str| task("RemoveEffectFromOwner").param("EffectClass", e);
    let a =
        Ability::new("GA_A").trigger(Trigger::tag_added("Status.Burning")).task(drop("GE_Burn")).task(own("GE_Freeze"));
    let b =
        Ability::new("GA_B").trigger(Trigger::tag_added("Status.Frozen")).task(drop("GE_Freeze")).task(own("GE_Burn"));
    let rules = base().add(a).add(b).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A", "GA_B"]);
    apply(&mut sim, "GE_Burn", hero);
    let found = refusals(&mut sim);
    assert!(!found.is_empty());
    assert_chain_repeats(&sim, found[0].1, &ids);
    assert_still_works(&mut sim, hero);
}

#[test]
fn thresholds_that_trigger_each_other_are_cut_off() {
    let own = |e: &str| task("ApplyEffectToOwner").param("EffectClass", e);
    let a = Ability::new("GA_A").trigger(Trigger::below("Health", 50.0)).task(own("GE_Up"));
    let b = Ability::new("GA_B").trigger(Trigger::above("Health", 50.0)).task(own("GE_Down"));
    let rules = base().add(a).add(b).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A", "GA_B"]);
    apply(&mut sim, "GE_Down", hero);
    let found = refusals(&mut sim);
    assert!(!found.is_empty());
    assert_chain_repeats(&sim, found[0].1, &ids);
    assert_still_works(&mut sim, hero);
}

#[test]
fn an_effect_that_triggers_its_own_application_is_cut_off() {
    let own = task("ApplyEffectToOwner").param("EffectClass", "GE_Mark");
    let a = Ability::new("GA_A").trigger(Trigger::effect_applied("GE_Mark")).task(own);
    let rules = base().add(a).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A"]);
    apply(&mut sim, "GE_Mark", hero);
    let found = refusals(&mut sim);
    assert!(!found.is_empty());
    assert_chain_repeats(&sim, found[0].1, &ids);
    assert!(get(&sim, hero, "AttackPower") < 1_000.0);
}

#[test]
fn abilities_that_cancel_and_restart_each_other_are_cut_off() {
    let a =
        Ability::new("GA_A").tag("Ability.A").cancels("Ability.B").trigger(Trigger::event("Event.A")).task(wait(9.0));
    let b =
        Ability::new("GA_B").tag("Ability.B").cancels("Ability.A").trigger(Trigger::event("Event.B")).task(wait(9.0));
    let rules = base().add(a.on_cancel(send("Event.A"))).add(b.on_cancel(send("Event.B"))).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A", "GA_B"]);
    sim.activate(hero, ids[0], Target::None).unwrap();
    let _ = sim.activate(hero, ids[1], Target::None);
    let found = refusals(&mut sim);
    assert!(!found.is_empty());
    assert_chain_repeats(&sim, found[0].1, &ids);
    assert_still_works(&mut sim, hero);
    assert!(sim.activations(hero).unwrap().count() <= 2);
}

#[test]
fn an_ability_that_restarts_itself_is_cut_off() {
    let a = Ability::new("GA_A").retriggered().trigger(Trigger::event("Event.A")).task(send("Event.A")).task(wait(1.0));
    let rules = base().add(a.on_cancel(send("Event.A"))).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A"]);
    let _ = sim.activate(hero, ids[0], Target::None);
    assert!(!refusals(&mut sim).is_empty());
    assert_still_works(&mut sim, hero);
}

#[test]
fn two_coupled_abilities_that_wait_for_each_other_to_end_do_not_hang() {
    let ends = |of: &str| task("WaitAbilityEnded").param("Ability", of);
    let a = Ability::new("GA_A").task(ends("GA_B")).on_cancel(task("CancelAbility").param("Ability", "GA_B"));
    let b = Ability::new("GA_B").task(ends("GA_A")).on_cancel(task("CancelAbility").param("Ability", "GA_A"));
    let rules = base().add(a).add(b).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA_A", "GA_B"]);
    for id in &ids {
        sim.activate(hero, *id, Target::None).unwrap();
    }
    sim.cancel(hero, Which::Ability(ids[0])).unwrap();
    assert_eq!(sim.activations(hero).unwrap().count(), 0);
    assert_still_works(&mut sim, hero);
}

// Tasks ---------------------------------------------------------------------------------------------------------

/// The ability is reported, cancelled, and leaves nothing behind.
fn assert_cut_off(list: Ability) {
    let rules = base().add(list).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA"]);
    sim.activate(hero, ids[0], Target::None).unwrap();
    assert!(sim.advance_to(SimTime::seconds(1.0)).finished);
    assert_eq!(sim.activations(hero).unwrap().count(), 0);
    assert!(sim.tasks(hero).unwrap().is_empty());
    assert!(diagnostics(&mut sim).iter().any(|d| d.kind == DiagnosticKind::Limit));
    let cut = facts(&mut sim).iter().any(|f| matches!(f.kind, FactKind::AbilityEnded { cancelled: true, .. }));
    assert!(cut);
    assert_still_works(&mut sim, hero);
}

#[test]
fn endless_loops_of_zero_length_waits_are_cut_off() {
    assert_cut_off(Ability::new("GA").task(T::repeat(u32::MAX, [wait(0.0)])));
    assert_cut_off(Ability::new("GA").task(T::repeat(u32::MAX, [])).task(T::repeat(u32::MAX, [send("Event.A")])));
    assert_cut_off(Ability::new("GA").task(T::repeat(u32::MAX, [T::parallel([wait(0.0), wait(0.0)])])));
    assert_cut_off(Ability::new("GA").task(T::repeat(u32::MAX, [T::race([wait(0.0), wait(1.0)])])));
    assert_cut_off(Ability::new("GA").task(T::repeat(u32::MAX, [task("WaitGameTime").param("Time", 0.0)])));
    let deep = (0..12).fold(wait(0.0), |inner, _| T::repeat(1_000, [inner]));
    assert_cut_off(Ability::new("GA").task(deep));
    // The list of the cancellation loops as well.
    let both = Ability::new("GA").task(T::repeat(u32::MAX, [send("Event.A")]));
    assert_cut_off(both.on_cancel(T::repeat(u32::MAX, [send("Event.A")])));
}

#[test]
fn a_loop_of_the_shortest_wait_is_stopped_by_the_budget_of_an_advance() {
    let list = Ability::new("GA").task(T::repeat(u32::MAX, [wait(1e-9)]));
    let rules = base().add(list).build().unwrap();
    let limits = Limits { due_per_advance: 5_000, facts: 20_000, ..Limits::default() };
    let mut sim = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
    let hero = spawn(&mut sim);
    let id = rules.ability("GA").unwrap();
    sim.grant(hero, AbilityGrant::new(id)).unwrap();
    sim.activate(hero, id, Target::None).unwrap();
    // The loop runs for long, but no single call does.
    let mut calls = 0;
    while sim.activations(hero).unwrap().count() > 0 && calls < 3 {
        assert!(sim.advance_to(SimTime::seconds(1.0)).due <= 5_000);
        calls += 1;
    }
    sim.cancel(hero, Which::Ability(id)).unwrap();
    assert_still_works(&mut sim, hero);
}

#[test]
fn thousands_of_tasks_are_bounded() {
    // Two times 450 at once are fine.
    let wide = |n: usize| Ability::new("GA").task(T::parallel((0..n).map(|_| wait(0.5)))).multiple();
    let rules = base().add(wide(450)).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA"]);
    for _ in 0..2 {
        sim.activate(hero, ids[0], Target::None).unwrap();
    }
    assert_eq!(sim.tasks(hero).unwrap().len(), 900);
    // Over the limit: the third is cut off, the others continue.
    let _ = sim.activate(hero, ids[0], Target::None);
    assert_eq!(sim.activations(hero).unwrap().count(), 2);
    assert_eq!(sim.tasks(hero).unwrap().len(), 900);
    assert!(diagnostics(&mut sim).iter().any(|d| d.kind == DiagnosticKind::Limit));
    go(&mut sim, 0.5);
    assert_eq!(sim.activations(hero).unwrap().count(), 0);
    assert_still_works(&mut sim, hero);
    // A list that is too long is a load error.
    let error = base().add(wide(5_000)).build().unwrap_err();
    assert!(error.issues.iter().any(|i| i.code == "too-long"), "{error}");
}

#[test]
fn a_zero_length_cast_with_a_million_ticks_ends() {
    let list = Ability::new("GA").cast(0.0, 1_000_000).on_tick(send("Event.A"));
    let rules = base().add(list).build().unwrap();
    let (mut sim, hero, ids) = hero_with(&rules, &["GA"]);
    sim.activate(hero, ids[0], Target::None).unwrap();
    assert!(sim.advance_to(SimTime::seconds(1.0)).finished);
    assert_eq!(sim.activations(hero).unwrap().count(), 0);
    assert_still_works(&mut sim, hero);
}
