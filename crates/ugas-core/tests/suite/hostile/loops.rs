//! Effects that cause effects endlessly: cut off at the limit with a diagnostic; earlier changes stay.

use crate::kit::*;
use ugas_core::{
    ControllerId, Diagnostic, DiagnosticKind, LimitKind, Limits, Refusal, Rules, Sim, SimConfig, SimTime, Spec,
};
use ugas_doc::{ConditionalEffects, Effect, ExecutionPolicy, Magnitude, OnOngoingFail};

fn then(mut effect: Effect, on: impl FnOnce(&mut ConditionalEffects)) -> Effect {
    on(effect.effects.get_or_insert_default());
    effect
}

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| n.to_string()).collect()
}

fn build(effects: impl IntoIterator<Item = Effect>) -> std::sync::Arc<Rules> {
    effects.into_iter().fold(world(), |b, e| b.add(e)).build().unwrap()
}

fn limits_hit(list: &[Diagnostic]) -> Vec<LimitKind> {
    list.iter()
        .filter_map(|d| match d.kind {
            DiagnosticKind::ReactionRefused { refusal: Refusal::Limit { what, .. } } => Some(what),
            _ => None,
        })
        .collect()
}

#[test]
fn an_effect_that_applies_itself_stops_at_the_chain_depth_limit() {
    let rules =
        build([then(Effect::instant("GE_Self").add("AttackPower", 1.0), |e| e.on_applied = list(&["GE_Self"]))]);
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Self", hero);
    assert_eq!(get(&sim, hero, "AttackPower"), 10.0 + 65.0);
    let reported = diagnostics(&mut sim);
    assert_eq!(limits_hit(&reported), [LimitKind::ChainDepth]);
    // The chain behind the refusal can be read, down to the op.
    let link = match reported[0].kind {
        DiagnosticKind::ReactionRefused { refusal: Refusal::Limit { link, .. } } => link,
        other => panic!("{other:?}"),
    };
    assert!(sim.chain(link).len() > 60);
    // The next op starts anew.
    apply(&mut sim, "GE_Self", hero);
    assert_eq!(get(&sim, hero, "AttackPower"), 10.0 + 130.0);
}

#[test]
fn two_effects_that_apply_each_other_stop_too() {
    let rules = build([
        then(Effect::instant("GE_A").add("AttackPower", 1.0), |e| e.on_applied = list(&["GE_B"])),
        then(Effect::instant("GE_B").add("Defense", 1.0), |e| e.on_applied = list(&["GE_A"])),
    ]);
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_A", hero);
    assert_eq!(get(&sim, hero, "AttackPower") + get(&sim, hero, "Defense"), 15.0 + 65.0);
    assert_eq!(limits_hit(&diagnostics(&mut sim)), [LimitKind::ChainDepth]);
}

#[test]
fn an_effect_that_applies_itself_twice_stops_at_the_reaction_limit() {
    let rules = build([then(Effect::instant("GE_Breed").add("AttackPower", 1.0), |e| {
        e.on_applied = list(&["GE_Breed", "GE_Breed"]);
    })]);
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Breed", hero);
    assert_eq!(get(&sim, hero, "AttackPower"), 10.0 + 10_001.0);
    assert_eq!(limits_hit(&diagnostics(&mut sim)), [LimitKind::Reactions]);
    // Nothing of the cut chain is left to run later.
    facts(&mut sim);
    go(&mut sim, 10.0);
    assert_eq!(facts(&mut sim), []);
}

#[test]
fn an_effect_that_applies_itself_at_each_execution_stops_at_the_effect_limit() {
    let rules = build([then(Effect::infinite("GE_Breed").every(0.1).add("Mana", -0.001), |e| {
        e.on_executed = list(&["GE_Breed"]);
    })]);
    let limits = Limits { effects_per_controller: 500, ..Limits::default() };
    let mut sim = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
    let hero = spawn(&mut sim);
    apply(&mut sim, "GE_Breed", hero);
    go(&mut sim, 3.0);
    assert_eq!(sim.effects(hero).unwrap().len(), 500);
    let reported = diagnostics(&mut sim);
    assert!(!reported.is_empty() && reported.len() <= limits.diagnostics as usize);
    assert!(limits_hit(&reported).iter().all(|&k| k == LimitKind::Effects));
}

#[test]
fn effects_of_zero_duration_that_reapply_themselves_stop() {
    let nothing = || Magnitude::value(0.0);
    let rules = build([
        then(Effect::lasting("GE_Expired", nothing()), |e| e.on_expired = list(&["GE_Expired"])),
        then(Effect::lasting("GE_Both", nothing()), |e| {
            e.on_expired = list(&["GE_Both"]);
            e.on_applied = list(&["GE_Both"]);
        }),
    ]);
    for name in ["GE_Expired", "GE_Both"] {
        // Each application reports a zero duration; the limit leaves room for the last diagnostic.
        let limits = Limits { diagnostics: 100_000, ..Limits::default() };
        let mut sim = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
        let hero = spawn(&mut sim);
        apply(&mut sim, name, hero);
        assert_eq!(sim.effects(hero).unwrap().len(), 0);
        assert!(!limits_hit(&diagnostics(&mut sim)).is_empty(), "{name}");
    }
}

#[test]
fn effects_that_remove_and_reapply_each_other_stop() {
    let side = |name: &str, mine: &str, other: &str, next: &str| {
        let mut e = Effect::infinite(name).grants(mine);
        e.remove_effects_with_tags = list(&[other]);
        then(e, |c| c.on_removed = list(&[next]))
    };
    let rules = build([
        side("GE_Day", "Time.Day", "Time.Night", "GE_Day"),
        side("GE_Night", "Time.Night", "Time.Day", "GE_Night"),
    ]);
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Day", hero);
    apply(&mut sim, "GE_Night", hero);
    assert!(!limits_hit(&diagnostics(&mut sim)).is_empty());
    let left = sim.effects(hero).unwrap().len();
    assert!(left <= 2, "{left}");
}

#[test]
fn an_after_hook_that_always_requests_another_effect_stops() {
    let rules = world()
        .add(Effect::instant("GE_Hit").add("AttackPower", 1.0))
        .after_hook("More", |cx| {
            let effect = cx.context().spec().effect;
            cx.then(effect);
        })
        .build()
        .unwrap();
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Hit", hero);
    assert_eq!(get(&sim, hero, "AttackPower"), 75.0);
    assert_eq!(limits_hit(&diagnostics(&mut sim)), [LimitKind::ChainDepth]);
}

/// Two effects whose ongoing requirements switch each other.
fn flippers() -> [Effect; 2] {
    let mut a = Effect::infinite("GE_A").grants("X.A").add("AttackPower", 1.0);
    a.ongoing_blocked_tags = list(&["X.B"]);
    let mut b = Effect::infinite("GE_B").grants("X.B").add("Defense", 1.0);
    b.ongoing_required_tags = list(&["X.A"]);
    [a, b]
}

fn cycles(sim: &mut Sim) -> usize {
    diagnostics(sim).iter().filter(|d| d.kind == DiagnosticKind::Cycle).count()
}

#[test]
fn ongoing_requirements_that_toggle_each_other_stop_with_a_diagnostic() {
    for order in [["GE_A", "GE_B"], ["GE_B", "GE_A"]] {
        let rules = build(flippers());
        let (mut sim, hero) = one(&rules);
        for name in order {
            apply(&mut sim, name, hero);
        }
        assert!(cycles(&mut sim) > 0, "{order:?}");
        let changed = facts(&mut sim).iter().filter(|f| f.kind.name() == "EffectChanged").count();
        assert!(changed <= 4, "{changed}");
        // In the final state, values and tags agree with the effect states.
        let on = |sim: &Sim, name: &str| {
            let id = effect(&rules, name);
            let view = *sim.effects(hero).unwrap().iter().find(|e| e.effect == id).unwrap();
            view.state == ugas_core::EffectState::Active
        };
        assert_eq!(get(&sim, hero, "AttackPower") == 11.0, on(&sim, "GE_A"));
        assert_eq!(get(&sim, hero, "Defense") == 6.0, on(&sim, "GE_B"));
        assert_eq!(sim.has_tag(hero, tag(&rules, "X.A")).unwrap(), on(&sim, "GE_A"));
        assert_eq!(sim.has_tag(hero, tag(&rules, "X.B")).unwrap(), on(&sim, "GE_B"));
    }
}

#[test]
fn a_hundred_pairs_that_toggle_each_other_stop() {
    let rules = build(flippers());
    let (mut sim, hero) = one(&rules);
    for _ in 0..100 {
        apply(&mut sim, "GE_A", hero);
        apply(&mut sim, "GE_B", hero);
    }
    assert_eq!(sim.effects(hero).unwrap().len(), 200);
    sim.despawn(hero).unwrap();
}

#[test]
fn an_effect_is_not_removed_by_its_own_granted_tag() {
    let mut own = Effect::infinite("GE_Own").grants("X.Own");
    own.ongoing_blocked_tags = list(&["X"]);
    own.on_ongoing_fail = OnOngoingFail::Remove;
    let rules = build([own]);
    let (mut sim, hero) = one(&rules);
    let key = apply(&mut sim, "GE_Own", hero);
    assert!(sim.effect(key).is_ok());
    assert_eq!(cycles(&mut sim), 0);
}

#[test]
fn a_queue_of_effects_of_zero_duration_runs_to_its_end() {
    let rules = build([
        Effect::lasting("GE_Row", Magnitude::set_by_caller("Data.Length")).policy(ExecutionPolicy::RunInSequence)
    ]);
    for reactions in [10_000, 20] {
        let limits = Limits { reactions, ..Limits::default() };
        let mut sim = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
        let hero = spawn(&mut sim);
        let spec = Spec::new(effect(&rules, "GE_Row"), hero);
        let key = rules.key("Data.Length").unwrap();
        sim.apply(&spec.clone().set(key, 1.0)).unwrap();
        for _ in 0..50 {
            sim.apply(&spec.clone().set(key, 0.0)).unwrap();
        }
        go(&mut sim, 100.0);
        // Where the limit cut the row short, the queue may not block the definition for ever.
        sim.apply(&spec.clone().set(key, 1.0)).unwrap();
        go(&mut sim, 200.0);
        go(&mut sim, 300.0);
        assert_eq!(sim.effects(hero).unwrap().len(), 0, "reactions {reactions}");
    }
}

#[test]
fn the_shortest_periods_on_many_controllers_end_within_the_budget() {
    let rules = build([Effect::infinite("GE_Fast").every(0.001).add("Mana", -1e-9)]);
    let limits = Limits { due_per_advance: 50_000, ..Limits::default() };
    let mut sim = Sim::new(rules.clone(), SimConfig { limits, ..SimConfig::default() });
    let all: Vec<ControllerId> = (0..50).map(|_| spawn(&mut sim)).collect();
    for &who in &all {
        apply(&mut sim, "GE_Fast", who);
    }
    // A year would be 1.6 · 10¹² executions: the call returns after its budget and reports the time reached.
    let p = sim.advance_to(SimTime::seconds(31_536_000.0));
    assert!(!p.finished && p.due == 50_000);
    assert_eq!(p.reached, SimTime::millis(1_000));
}
