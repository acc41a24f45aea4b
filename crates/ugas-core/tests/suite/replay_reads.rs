//! What a resimulated row read of other rows: the resimulation reads the same, however the other rows changed since.

use crate::kit::capability;
use crate::kit::tasks::*;
use std::sync::Arc;
use ugas_core::*;
use ugas_doc::{
    Ability, AbilityTask, Capability, CapabilitySet, Cast, Effect, Magnitude, OnTargetLost, SetCapability, Side,
};

/// A hero whose journal starts with an image.
fn journalled(rules: &Arc<Rules>) -> (Stage, RowImage) {
    let mut s = Stage::new(rules, "GA");
    let image = keep(&mut s.sim, s.hero);
    (s, image)
}

fn keep(sim: &mut Sim, who: ControllerId) -> RowImage {
    sim.keep_journal(who).unwrap();
    let mut image = RowImage::default();
    sim.capture(who, &mut image).unwrap();
    image
}

/// Resimulates one row up to now; no row may change.
fn replay(sim: &mut Sim, who: ControllerId, image: &RowImage) {
    let before = (sim.row_hash(who).unwrap(), sim.hash());
    let (journal, now) = (sim.journal(who).unwrap(), sim.now());
    sim.resimulate(image, Some(&journal), &mut [ResimulationStop::at(now)]).unwrap();
    assert_eq!((sim.row_hash(who).unwrap(), sim.hash()), before, "the replay gave another world");
}

fn place(sim: &mut Sim, who: ControllerId, x: f64) {
    sim.run(Op::Move { who, anchor: Some(Anchor::at([x, 0.0, 0.0])) }).unwrap();
}

fn in_radius(effect: &str) -> AbilityTask {
    task("ApplyEffectToActorsInRadius").param("EffectClass", effect).param("Radius", 5.0)
}

// Targets -------------------------------------------------------------------------------------------------------------

#[test]
fn an_activation_is_repeated_after_its_target_was_destroyed() {
    let cast = Cast { length: 1.0, on_target_lost: OnTargetLost::Cancel, ..Cast::default() };
    let rules = rules_with(Ability::new("GA").cast_as(cast).task(mark("GE_Mark")));
    let (mut s, image) = journalled(&rules);
    let foe = spawn(&mut s.sim);
    s.sim.activate(s.hero, s.ability, Target::Controller(foe)).unwrap();
    go(&mut s.sim, 2.0);
    assert!(!s.is_active());
    let power = s.get("AttackPower");
    assert!(power > 10.0, "the cast ended");
    s.sim.despawn(foe).unwrap();
    go(&mut s.sim, 3.0);
    replay(&mut s.sim, s.hero, &image);
    assert_eq!(s.get("AttackPower"), power);
}

#[test]
fn a_cast_that_lost_its_destroyed_target_is_repeated() {
    let cast = Cast { length: 1.0, on_target_lost: OnTargetLost::Cancel, ..Cast::default() };
    let mut ga = Ability::new("GA").cast_as(cast).task(mark("GE_Mark"));
    ga.on_cancel = vec![mark("GE_Mark10")];
    let rules = rules_with(ga);
    let (mut s, image) = journalled(&rules);
    let foe = spawn(&mut s.sim);
    s.sim.activate(s.hero, s.ability, Target::Controller(foe)).unwrap();
    go(&mut s.sim, 0.5);
    s.sim.despawn(foe).unwrap();
    go(&mut s.sim, 3.0);
    replay(&mut s.sim, s.hero, &image);
}

#[test]
fn an_activation_on_a_dead_target_is_refused_again_after_the_target_was_healed() {
    let cast = Cast { length: 1.0, on_target_lost: OnTargetLost::Cancel, ..Cast::default() };
    let ga = Ability::new("GA").cast_as(cast).task(mark("GE_Mark"));
    let rules = base().add(ga).add(Effect::instant("GE_Heal").add("Health", 50.0)).build().unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = spawn(&mut s.sim);
    let hurt = rules.effect("GE_Hurt").unwrap();
    while get(&s.sim, foe, "Health") > 0.0 {
        s.sim.apply(&Spec::new(hurt, foe)).unwrap();
    }
    let target = Target::Controller(foe);
    assert_eq!(s.sim.activate(s.hero, s.ability, target), Err(Refusal::NoTarget));
    go(&mut s.sim, 1.0);
    s.sim.apply(&Spec::new(rules.effect("GE_Heal").unwrap(), foe)).unwrap();
    go(&mut s.sim, 3.0);
    replay(&mut s.sim, s.hero, &image);
    assert_eq!(s.get("AttackPower"), 10.0);
}

#[test]
fn an_activation_is_refused_again_after_its_target_returned() {
    let cast = Cast { length: 1.0, on_target_lost: OnTargetLost::Cancel, ..Cast::default() };
    let rules = rules_with(Ability::new("GA").cast_as(cast).task(mark("GE_Mark")));
    let (mut s, image) = journalled(&rules);
    let foe = spawn(&mut s.sim);
    let away = s.sim.extract(foe).unwrap();
    assert_eq!(s.sim.activate(s.hero, s.ability, Target::Controller(foe)), Err(Refusal::NoTarget));
    go(&mut s.sim, 1.0);
    s.sim.insert(&away).unwrap();
    go(&mut s.sim, 3.0);
    replay(&mut s.sim, s.hero, &image);
    assert_eq!(s.get("AttackPower"), 10.0);
}

#[test]
fn an_answer_keeps_the_targets_that_were_destroyed_later() {
    let ga = Ability::new("GA")
        .task(task("WaitForTarget").param("MaxRange", 5.0))
        .task(mark("GE_Mark"))
        .task(task("WaitGameplayEvent").param("EventTag", "Event.Other"));
    let (mut s, image) = journalled(&rules_with(ga));
    let [near, far, gone] = [0, 1, 2].map(|_| spawn(&mut s.sim));
    for (who, x) in [(s.hero, 0.0), (near, 1.0), (far, 9.0), (gone, 2.0)] {
        place(&mut s.sim, who, x);
    }
    s.activate();
    let key = s.sim.tasks(s.hero).unwrap()[0].key;
    s.sim.complete(key, Answer { targets: vec![gone, far, near], ..Answer::default() }).unwrap();
    s.sim.despawn(gone).unwrap();
    place(&mut s.sim, far, 1.0);
    place(&mut s.sim, near, 9.0);
    go(&mut s.sim, 1.0);
    replay(&mut s.sim, s.hero, &image);
}

#[test]
fn a_search_finds_the_controllers_where_they_were() {
    let ga = Ability::new("GA")
        .task(task("SetTarget").param("Target", "Nearest").param("IgnoreTargetsWithTag", "Status.Burning"))
        .task(in_radius("GE_Hurt"))
        .task(wait(100.0));
    let rules = rules_with(ga);
    let (mut s, image) = journalled(&rules);
    let [burning, first, second, far] = [0, 1, 2, 3].map(|_| spawn(&mut s.sim));
    for (who, x) in [(s.hero, 0.0), (burning, 1.0), (first, 2.0), (second, 3.0), (far, 9.0)] {
        place(&mut s.sim, who, x);
    }
    let burn = s.sim.apply(&Spec::new(rules.effect("GE_Burn").unwrap(), burning)).unwrap();
    s.activate();
    assert_eq!(s.sim.activations(s.hero).unwrap().next().unwrap().target, Target::Controller(first));
    s.sim.remove(burn).unwrap();
    s.sim.despawn(first).unwrap();
    place(&mut s.sim, second, 20.0);
    place(&mut s.sim, far, 0.5);
    go(&mut s.sim, 1.0);
    replay(&mut s.sim, s.hero, &image);
    assert_eq!(s.sim.activations(s.hero).unwrap().next().unwrap().target, Target::Controller(first));
}

// Refusals ------------------------------------------------------------------------------------------------------------

#[test]
fn a_set_that_another_controller_of_the_avatar_prevented_is_prevented_again() {
    let log = capability::Log::default();
    let rules = capability::recording(&log, &["A"], capability::set_of("CS_One", &["A"]));
    let mut sim = Sim::new(rules.clone(), capability::config(Role::Standalone, true));
    let spec = || SpawnSpec { avatar: Some(ActorId(5)), ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) };
    let (first, second) = (sim.spawn(spec()).unwrap(), sim.spawn(spec()).unwrap());
    let handle = capability::add(&mut sim, first, "CS_One");
    let image = keep(&mut sim, second);
    let set = capability::cap_set(&sim, "CS_One");
    assert_eq!(sim.grant_set(second, set), Err(Refusal::SetHeld { handle }));
    sim.revoke_set(first, handle).unwrap();
    replay(&mut sim, second, &image);
    assert_eq!(sim.capabilities(second).unwrap(), []);
    // The other way round: the set was granted before the other controller had capabilities, at the same time.
    let granted = sim.grant_set(second, set).unwrap();
    sim.revoke_set(second, granted).unwrap();
    capability::add(&mut sim, first, "CS_One");
    assert!(sim.grant_set(second, set).is_err());
    replay(&mut sim, second, &image);
    capability::frames(&mut sim, 3);
    replay(&mut sim, second, &image);
}

#[test]
fn an_effect_that_a_cycle_through_another_row_prevented_is_prevented_again() {
    let rules = base()
        .add(Ability::new("GA").task(wait(100.0)))
        .add(live("GE_ByDefense", "AttackPower", "Defense"))
        .add(live("GE_ByPower", "Defense", "AttackPower"))
        .build()
        .unwrap();
    let (mut s, image) = journalled(&rules);
    let foe = spawn(&mut s.sim);
    let [by_defense, by_power] = ["GE_ByDefense", "GE_ByPower"].map(|name| rules.effect(name).unwrap());
    let link = s.sim.apply(&Spec::new(by_power, foe).from(s.hero)).unwrap();
    let refused = s.sim.apply(&Spec::new(by_defense, s.hero).from(foe)).unwrap_err();
    assert_eq!(refused.kind(), "Cycle");
    s.sim.remove(link).unwrap();
    go(&mut s.sim, 1.0);
    replay(&mut s.sim, s.hero, &image);
    assert_eq!(s.sim.effects(s.hero).unwrap(), []);
}

/// An infinite effect that adds an attribute of its source and follows its changes.
fn live(name: &str, to: &str, from: &str) -> Effect {
    Effect::infinite(name).add(to, Magnitude::attribute(from).times(0.5))
}

// Owners --------------------------------------------------------------------------------------------------------------

#[test]
fn a_capability_moves_with_its_owner_again() {
    let rules = capability::base()
        .add(Capability::new("Scope"))
        .add(
            CapabilitySet::new("CS_Scope").capability(SetCapability::new("Scope").side(Side::OwnerLocalControlledOnly)),
        )
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), capability::config(Role::Standalone, true));
    let spec = |owner, avatar| SpawnSpec {
        owner: Some(ActorId(owner)),
        avatar: Some(ActorId(avatar)),
        ..SpawnSpec::sets([rules.set("Vitals").unwrap()])
    };
    let player = sim.spawn(spec(1, 2)).unwrap();
    let gadget = sim.spawn(spec(2, 3)).unwrap();
    let image = keep(&mut sim, gadget);
    let player_image = keep(&mut sim, player);
    capability::add(&mut sim, gadget, "CS_Scope");
    for is_local in [false, true, false] {
        capability::frames(&mut sim, 2);
        sim.set_local(player, is_local).unwrap();
        let (state, now) = (sim.capability_state(gadget, capability::class(&sim, "Scope")), sim.now());
        assert_eq!(state.unwrap() == CapabilityState::Active, is_local, "{now:?}");
        replay(&mut sim, gadget, &image);
    }
    // The owner leaves its avatar and returns: a resimulation of the owner alone does not move the gadget.
    for avatar in [None, Some(ActorId(2))] {
        sim.run(Op::Possess { who: player, avatar }).unwrap();
        capability::frames(&mut sim, 2);
    }
    replay(&mut sim, player, &player_image);
    replay(&mut sim, gadget, &image);
}
