//! Observers and spec handles as hosts use them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use ugas::prelude::*;

fn rules() -> Arc<Rules> {
    Rules::builder()
        .add(
            AttributeSet::new("V")
                .with(Attribute::new("MaxHealth", 100.0))
                .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
                .with(Attribute::new("Mana", 50.0)),
        )
        .add(Effect::instant("GE_Hit").add("Health", -10.0))
        .add(Effect::instant("GE_Drain").add("Mana", -10.0))
        .add(Effect::instant("GE_Grow").add("Health", 50.0).add("MaxHealth", 100.0))
        .add(Effect::instant("GE_Damage").add("Health", Magnitude::set_by_caller("Damage.Amount")))
        .add(Effect::infinite("GE_Buff").grants("State.Buff"))
        .build()
        .unwrap()
}

fn world(rules: &Arc<Rules>) -> (Sim, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()])).unwrap();
    sim.take_facts(&mut Facts::default());
    (sim, hero)
}

fn apply(sim: &mut Sim, effect: &str, on: ControllerId) -> EffectKey {
    let effect = sim.rules().effect(effect).unwrap();
    sim.apply(&Spec::new(effect, on)).unwrap()
}

fn dispatch(observers: &mut Observers<'_>, sim: &mut Sim) {
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    observers.dispatch(sim, &facts);
}

// covers: UGAS-1-01 UGAS-5.6-04
#[test]
fn an_observer_is_called_once_per_change_of_its_attribute_and_never_while_idle() {
    let rules = rules();
    let (mut sim, hero) = world(&rules);
    let calls = AtomicU32::new(0);
    let mut observers = Observers::default();
    observers.on_attribute(rules.attribute("Health").unwrap(), Some(hero), |_| {
        calls.fetch_add(1, Relaxed);
    });
    for tick in 1..=100 {
        sim.advance_to(SimTime::frames(tick, 60));
        dispatch(&mut observers, &mut sim);
    }
    assert_eq!(calls.load(Relaxed), 0);
    apply(&mut sim, "GE_Drain", hero);
    apply(&mut sim, "GE_Hit", hero);
    dispatch(&mut observers, &mut sim);
    assert_eq!(calls.load(Relaxed), 1);
}

// covers: UGAS-5.6-05
#[test]
fn an_observer_can_unregister_inside_its_callback() {
    let rules = rules();
    let (mut sim, hero) = world(&rules);
    let calls = AtomicU32::new(0);
    let mut observers = Observers::default();
    observers.on_attribute(rules.attribute("Health").unwrap(), None, |n| {
        calls.fetch_add(1, Relaxed);
        n.unregister();
    });
    apply(&mut sim, "GE_Hit", hero);
    apply(&mut sim, "GE_Hit", hero);
    dispatch(&mut observers, &mut sim);
    assert_eq!((calls.load(Relaxed), observers.len()), (1, 0));
}

// covers: UGAS-3.3-03
#[test]
fn a_callback_reads_every_value_of_the_application() {
    let rules = rules();
    let (mut sim, hero) = world(&rules);
    let max = rules.attribute("MaxHealth").unwrap();
    let seen = AtomicU32::new(0);
    let mut observers = Observers::default();
    observers.on_attribute(rules.attribute("Health").unwrap(), None, |n| {
        assert_eq!(n.sim.get(n.fact.who, max), Ok(200.0));
        let FactKind::AttributeChanged { old, new, .. } = n.fact.kind else { panic!("not a change") };
        assert_eq!((old, new), (100.0, 150.0));
        seen.fetch_add(1, Relaxed);
    });
    apply(&mut sim, "GE_Grow", hero);
    dispatch(&mut observers, &mut sim);
    assert_eq!(seen.load(Relaxed), 1);
}

// covers: UGAS-4.3-07
#[test]
fn observers_receive_the_removed_tags_of_a_destroyed_controller_and_are_unregistered() {
    let rules = rules();
    let (mut sim, hero) = world(&rules);
    let buff = rules.tag("State.Buff").unwrap();
    let calls = AtomicU32::new(0);
    let mut observers = Observers::default();
    observers.on_tag(buff, Some(hero), |n| {
        if let FactKind::TagChanged { added: false, .. } = n.fact.kind {
            calls.fetch_add(1, Relaxed);
        }
    });
    apply(&mut sim, "GE_Buff", hero);
    sim.despawn(hero).unwrap();
    dispatch(&mut observers, &mut sim);
    assert_eq!((calls.load(Relaxed), observers.len()), (1, 0));
}

// covers: UGAS-9.9-05
#[test]
fn a_spec_handle_shares_its_spec_and_does_not_change_applied_effects() {
    let rules = rules();
    let (mut sim, hero) = world(&rules);
    let (amount, health) = (rules.key("Damage.Amount").unwrap(), rules.attribute("Health").unwrap());
    let a = SpecHandle::new(Spec::new(rules.effect("GE_Damage").unwrap(), hero));
    let b = a.clone();
    b.set(amount, -30.0);
    assert_eq!(a.value(amount), Some(-30.0));
    a.apply(&mut sim).unwrap();
    a.set(amount, -1.0);
    assert_eq!((b.value(amount), sim.get(hero, health)), (Some(-1.0), Ok(70.0)));
}

// covers: UGAS-4.1-05
#[test]
fn an_ability_with_a_buff_notifies_every_kind_of_observer() {
    let wait = ugas::doc::AbilityTask::new("WaitDelay").param("Duration", 1.0);
    let might = ugas::doc::AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Might");
    let rules = Rules::builder()
        .add(AttributeSet::new("V").with(Attribute::new("AttackPower", 10.0)).with(Attribute::new("Mana", 50.0)))
        .add(Effect::lasting("GE_Might", 0.5).add("AttackPower", 5.0).grants("State.Might"))
        .add(Effect::infinite("GE_Other").add("Mana", 5.0).grants("State.Other"))
        .add(Ability::new("GA_Might").task(might).task(wait))
        .add(Ability::new("GA_Other"))
        .build()
        .unwrap();
    let (mut sim, hero) = world(&rules);
    let counts: [AtomicU32; 8] = Default::default();
    let count = |n: usize| {
        let counts = &counts;
        move |_: &mut ugas::Notice<'_>| {
            counts[n].fetch_add(1, Relaxed);
        }
    };
    let mut observers = Observers::default();
    let (a, t, e) = (|n| rules.attribute(n).unwrap(), |n| rules.tag(n).unwrap(), |n| rules.effect(n).unwrap());
    let g = |n: &str| rules.ability(n).unwrap();
    observers.on_attribute(a("AttackPower"), Some(hero), count(0));
    observers.on_tag(t("State.Might"), Some(hero), count(1));
    observers.on_effect(e("GE_Might"), Some(hero), count(2));
    observers.on_ability(g("GA_Might"), Some(hero), count(3));
    // Other observers of each kind are not called.
    observers.on_attribute(a("Mana"), None, count(4));
    observers.on_tag(t("State.Other"), None, count(5));
    observers.on_effect(e("GE_Other"), None, count(6));
    observers.on_ability(g("GA_Other"), None, count(7));
    sim.grant(hero, AbilityGrant::new(g("GA_Might"))).unwrap();
    sim.activate(hero, g("GA_Might"), Target::None).unwrap();
    sim.advance_to(SimTime::seconds(2.0));
    dispatch(&mut observers, &mut sim);
    // Up and down, came and went, applied and removed; granted, active, ended.
    assert_eq!(counts.each_ref().map(|c| c.load(Relaxed)), [2, 2, 2, 3, 0, 0, 0, 0]);
}
