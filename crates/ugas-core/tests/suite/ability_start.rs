//! The start of abilities: validation, triggers, passive abilities, groups, and changes of their controller.

use crate::kit::abilities::{cast, ended, has, id, running, waits, with};
use crate::kit::tasks::{Stage, base, wait};
use crate::kit::{self, apply, get, go, kinds, spawn, tag};
use ugas_core::{
    AbilityGrant, AbilityState, ActorId, Anchor, FactKind, Limits, Op, Refusal, RemoveReason, Sim, SimConfig, Spec,
    Target, Which,
};
use ugas_doc::{Ability, Effect, GrantedAbilityEntry, GroupPolicy, Trigger};

// covers: NXT-8.8-01 NXT-8.8-02
#[test]
fn an_ability_waits_for_its_validation_before_it_pays() {
    let (mut sim, who, grants) = with(&["GA_Ask"]);
    let ask = Which::Grant(grants[0]);
    cast(&mut sim, who, "GA_Ask").unwrap();
    assert_eq!(sim.ability_state(who, grants[0]).unwrap(), AbilityState::PendingConfirmation);
    assert_eq!((get(&sim, who, "Mana"), cast(&mut sim, who, "GA_Ask")), (50.0, Err(Refusal::Pending)));
    let mut passed = sim.clone();
    passed.validate(who, ask, true).unwrap();
    assert_eq!(passed.ability_state(who, grants[0]).unwrap(), AbilityState::Active);
    assert_eq!(get(&passed, who, "Mana"), 30.0);
    let mut poor = sim.clone();
    apply(&mut poor, "GE_Drain", who);
    poor.validate(who, ask, true).unwrap();
    assert_eq!((poor.ability_state(who, grants[0]).unwrap(), get(&poor, who, "Mana")), (AbilityState::Granted, 10.0));
    let mut failed = sim.clone();
    failed.validate(who, ask, false).unwrap();
    let of = |sim: &Sim| (sim.ability_state(who, grants[0]).unwrap(), get(sim, who, "Mana"));
    assert_eq!(of(&failed), (AbilityState::Granted, 50.0), "a failure costs nothing");
    let mut stopped = sim.clone();
    stopped.cancel(who, ask).unwrap();
    stopped.validate(who, ask, true).unwrap();
    assert_eq!(of(&stopped), (AbilityState::Granted, 50.0), "a cancelled ability ignores the answer");
    go(&mut sim, 0.5);
    assert_eq!(sim.ability_state(who, grants[0]).unwrap(), AbilityState::Granted);
    kinds(&mut sim);
    go(&mut sim, 0.6);
    sim.validate(who, ask, true).unwrap();
    assert_eq!((kinds(&mut sim), get(&sim, who, "Mana")), (vec![], 50.0), "too late");
}

// covers: NXT-17-03
#[test]
fn out_of_range_is_refused_without_cost() {
    let (mut sim, who, _) = with(&["GA_Far"]);
    let other = spawn(&mut sim);
    let at = |x: f64| Some(Anchor::at([x, 0.0, 0.0]));
    sim.run(Op::Move { who, anchor: at(0.0) }).unwrap();
    let far = id(&sim, "GA_Far");
    assert_eq!(sim.activate(who, far, Target::Controller(other)), Err(Refusal::NoTarget), "it is nowhere");
    sim.run(Op::Move { who: other, anchor: at(10.1) }).unwrap();
    let refused = sim.activate(who, far, Target::Controller(other));
    assert_eq!(refused, Err(Refusal::OutOfRange { distance: 10.1, max: 10.0 }));
    assert_eq!(get(&sim, who, "Mana"), 50.0);
    sim.run(Op::Move { who: other, anchor: at(10.0) }).unwrap();
    assert!(sim.activate(who, far, Target::Controller(other)).is_ok());
}

// covers: UGAS-4.3-05
#[test]
fn an_ability_that_needs_an_avatar_ends_without_one() {
    let (mut sim, who, _) = with(&["GA_Body"]);
    assert_eq!(cast(&mut sim, who, "GA_Body"), Err(Refusal::NotInitialized));
    sim.run(Op::Possess { who, avatar: Some(ActorId(5)) }).unwrap();
    cast(&mut sim, who, "GA_Body").unwrap();
    sim.run(Op::Possess { who, avatar: Some(ActorId(6)) }).unwrap();
    kinds(&mut sim);
    assert_eq!(running(&sim, who), 1);
    sim.run(Op::Possess { who, avatar: None }).unwrap();
    assert_eq!((ended(&mut sim), running(&sim, who)), (vec![true], 0));
}

// covers: PEER-08
#[test]
fn every_kind_of_trigger_activates_its_ability() {
    let (mut sim, who, g) = with(&["GA_Riposte", "GA_Flinch", "GA_Shiver", "GA_Panic", "GA_Echo"]);
    let foe = spawn(&mut sim);
    let state = |sim: &Sim, i: usize| sim.ability_state(who, g[i]).unwrap();
    let mut event = ugas_core::EventData::new(tag(sim.rules(), "Event.Parried"), who);
    event.instigator = Some(foe);
    sim.event(event).unwrap();
    assert_eq!(state(&sim, 0), AbilityState::Active);
    assert_eq!(sim.activations(who).unwrap().next().unwrap().target, Target::Controller(foe));
    apply(&mut sim, "GE_Silence", who);
    assert_eq!((state(&sim, 1), state(&sim, 2)), (AbilityState::Active, AbilityState::Granted));
    let ice = apply(&mut sim, "GE_Ice", who);
    assert_eq!((state(&sim, 2), state(&sim, 4)), (AbilityState::Active, AbilityState::Active));
    sim.remove(ice).unwrap();
    assert_eq!((state(&sim, 2), state(&sim, 4)), (AbilityState::Granted, AbilityState::Active));
    assert_eq!(state(&sim, 3), AbilityState::Granted);
    apply(&mut sim, "GE_Hit", who);
    assert_eq!(state(&sim, 3), AbilityState::Active);
}

#[test]
fn passives_start_by_themselves_groups_replace_and_retriggers_restart() {
    let (mut sim, who, g) = with(&["GA_Aura", "GA_Stance", "GA_Lock", "GA_Again"]);
    assert_eq!(sim.ability_state(who, g[0]).unwrap(), AbilityState::Active, "right after the grant");
    assert!(has(&sim, who, "State.Aura"));
    sim.cancel(who, Which::Grant(g[0])).unwrap();
    apply(&mut sim, "GE_Silence", who);
    assert!(!has(&sim, who, "State.Aura"));
    go(&mut sim, 3.0);
    assert!(has(&sim, who, "State.Aura"), "back when nothing speaks against it");

    cast(&mut sim, who, "GA_Stance").unwrap();
    cast(&mut sim, who, "GA_Lock").unwrap();
    assert_eq!(sim.ability_state(who, g[1]).unwrap(), AbilityState::Granted);
    let lock = id(&sim, "GA_Lock");
    assert_eq!(cast(&mut sim, who, "GA_Stance"), Err(Refusal::Group { by: lock }));

    let first = cast(&mut sim, who, "GA_Again").unwrap();
    kinds(&mut sim);
    let second = cast(&mut sim, who, "GA_Again").unwrap();
    assert_ne!(first, second);
    assert_eq!(ended(&mut sim), [true]);

    let portable = sim.extract(who).unwrap();
    let back = sim.insert(&portable).unwrap();
    assert!(has(&sim, back, "State.Aura"), "and after a load");
    assert_eq!(sim.ability_state(back, g[0]).unwrap(), AbilityState::Active);
    apply(&mut sim, "GE_Hit", back);
    apply(&mut sim, "GE_Last", back);
    assert_eq!(running(&sim, back), 0, "a restored ability still reacts to death");
}

/// A cooldown over the effect limit refuses the commit, and the abilities it would replace stay active.
#[test]
fn an_activation_refused_at_its_commit_replaces_nothing() {
    let rules = kit::abilities::world()
        .add(Effect::lasting("GE_Cool", 1.0).grants("Cooldown.Stance"))
        .add(Ability::new("GA_Redo").retriggered().cost("GE_Cost").cooldown("GE_Cool").task(waits()))
        .add(Ability::new("GA_Swap").group("Stance", GroupPolicy::Replaceable).cooldown("GE_Cool").task(waits()))
        .build()
        .unwrap();
    let limits = Limits { effects_per_controller: 1, ..Limits::default() };
    let mut sim = Sim::new(rules, SimConfig { limits, ..SimConfig::default() });
    let who = spawn(&mut sim);
    for name in ["GA_Redo", "GA_Stance", "GA_Swap"] {
        kit::abilities::grant(&mut sim, who, name);
    }
    cast(&mut sim, who, "GA_Redo").unwrap();
    cast(&mut sim, who, "GA_Stance").unwrap();
    go(&mut sim, 2.0);
    apply(&mut sim, "GE_Ice", who);
    kinds(&mut sim);
    let before: Vec<_> = sim.activations(who).unwrap().map(|a| a.key).collect();
    for name in ["GA_Redo", "GA_Swap"] {
        assert!(matches!(cast(&mut sim, who, name), Err(Refusal::Limit { .. })), "{name}");
        assert_eq!((kinds(&mut sim), get(&sim, who, "Mana")), (vec![], 30.0), "{name}");
    }
    assert_eq!(sim.activations(who).unwrap().map(|a| a.key).collect::<Vec<_>>(), before);
}

/// The cost of an ability may remove the effect that grants it: the ability ends and leaves nothing behind.
#[test]
fn an_ability_whose_cost_removes_its_grant_ends() {
    let mut scroll = Effect::infinite("GE_Scroll").tagged("Item.Scroll");
    scroll.granted_abilities.push(GrantedAbilityEntry::new("GA_Read"));
    let used = Effect { remove_effects_with_tags: vec!["Item.Scroll".into()], ..Effect::instant("GE_Used") };
    let rules = kit::abilities::world()
        .add(scroll)
        .add(used.add("Mana", -1.0))
        .add(Ability::new("GA_Read").cost("GE_Used").task(waits()))
        .build()
        .unwrap();
    let (mut sim, who) = kit::one(&rules);
    apply(&mut sim, "GE_Scroll", who);
    cast(&mut sim, who, "GA_Read").unwrap();
    assert_eq!((running(&sim, who), get(&sim, who, "Mana")), (0, 49.0));
    assert_eq!(cast(&mut sim, who, "GA_Read"), Err(Refusal::NotGranted));
}

// covers: UGAS-9.8-02 UGAS-9.8-03
#[test]
fn removing_an_effect_revokes_the_abilities_it_granted() {
    let (mut sim, who, _) = with(&[]);
    let sword = apply(&mut sim, "GE_Sword", who);
    cast(&mut sim, who, "GA_Bare").unwrap();
    kinds(&mut sim);
    sim.remove(sword).unwrap();
    assert_eq!((ended(&mut sim), running(&sim, who)), (vec![true], 0));
    assert_eq!(cast(&mut sim, who, "GA_Bare"), Err(Refusal::NotGranted));
    let lesson = apply(&mut sim, "GE_Lesson", who);
    sim.remove(lesson).unwrap();
    assert!(cast(&mut sim, who, "GA_Bare").is_ok());
}

// covers: UGAS-B.1-06 UGAS-2-01 UGAS-4.1-03
#[test]
fn inactive_controllers_refuse_activation_and_destroyed_ones_end_their_abilities() {
    let (mut sim, who, g) = with(&["GA_Bolt"]);
    let ward = apply(&mut sim, "GE_Cooldown", who);
    sim.run(Op::SetActive { who, active: false }).unwrap();
    assert_eq!(cast(&mut sim, who, "GA_Bolt"), Err(Refusal::Inactive));
    go(&mut sim, 2.0);
    assert_eq!(sim.effect(ward).unwrap().remaining, Some(ugas_core::SimTime::seconds(5.0)));
    sim.remove(ward).unwrap();
    apply(&mut sim, "GE_Last", who);
    assert_eq!(get(&sim, who, "Health"), 99.0);
    sim.run(Op::SetActive { who, active: true }).unwrap();
    cast(&mut sim, who, "GA_Bolt").unwrap();
    assert_eq!(sim.ability_state(who, g[0]).unwrap(), AbilityState::Active);
    apply(&mut sim, "GE_Ice", who);
    kinds(&mut sim);
    sim.despawn(who).unwrap();
    let log = kinds(&mut sim);
    let reason = |k: &FactKind| matches!(k, FactKind::EffectRemoved { reason: RemoveReason::Destroyed });
    let last = log.iter().rposition(reason).unwrap();
    let revoked = log.iter().position(|k| matches!(k, FactKind::Revoked { .. })).unwrap();
    let end = log.iter().position(|k| matches!(k, FactKind::AbilityEnded { .. })).unwrap();
    assert!(last < end && end < revoked, "{log:?}");
    assert_eq!(log.last(), Some(&FactKind::Despawned));
}

// covers: SAI-2.2-04
#[test]
fn the_castable_status_follows_every_change() {
    let (mut sim, who, g) = with(&["GA_Quick"]);
    let kind = |sim: &Sim| sim.castable(who, g[0]).unwrap().reason.map(|r| r.kind());
    assert_eq!(kind(&sim), None);
    cast(&mut sim, who, "GA_Quick").unwrap();
    cast(&mut sim, who, "GA_Quick").unwrap();
    assert_eq!((get(&sim, who, "Mana"), kind(&sim)), (10.0, Some("Cost")));
    cast(&mut sim, who, "GA_Quick").unwrap_err();
    assert_eq!(kind(&sim), Some("Cost"));
    apply(&mut sim, "GE_Potion", who);
    assert_eq!(kind(&sim), None);
}

// covers: UGAS-8.1-07
#[test]
fn an_ability_defined_at_run_time_runs_and_can_be_moved() {
    let (mut sim, who, _) = with(&[]);
    let doc = Ability::new("GA_Made").owned("State.Casting").cost("GE_Cost").task(waits());
    let ugas_core::DefId::Ability(made) = sim.define(doc).unwrap() else { panic!("an ability") };
    sim.grant(who, AbilityGrant::new(made)).unwrap();
    let key = sim.activate(who, made, Target::None).unwrap();
    assert!(has(&sim, who, "State.Casting"));
    let mut there = Sim::new(sim.rules().clone(), SimConfig::default());
    there.define(Effect::infinite("GE_Other")).unwrap();
    let portable = sim.extract(who).unwrap();
    let back = there.insert(&portable).unwrap();
    let view = there.activations(back).unwrap().next().unwrap();
    assert_eq!((view.key, view.state), (key, AbilityState::Active));
    assert_ne!(view.ability, made, "renumbered");
    there.cancel(back, Which::Activation(key)).unwrap();
    assert!(!has(&there, back, "State.Casting"));
}

#[test]
fn a_validated_ability_keeps_the_source_of_its_trigger() {
    let mut a =
        Ability::new("GA").trigger(Trigger::effect_applied("GE_Burn")).validated("Server", None).task(wait(9.0));
    a.source_required_tags.push("State.Buff".into());
    let rules = base().add(a).add(Effect::infinite("GE_Buff").grants("State.Buff")).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    let foe = spawn(&mut s.sim);
    s.sim.apply(&Spec::new(rules.effect("GE_Buff").unwrap(), foe)).unwrap();
    s.sim.apply(&Spec::new(rules.effect("GE_Burn").unwrap(), s.hero).from(foe)).unwrap();
    assert!(s.is_active());
    s.sim.validate(s.hero, Which::Ability(s.ability), true).unwrap();
    assert!(s.is_active(), "the check was made against the owner");
}
