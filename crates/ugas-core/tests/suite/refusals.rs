//! Images, journals, changes, ids and specs that a sim refuses whole, and the limits of controllers.

use std::sync::Arc;
use ugas_core::{
    BlockSource, ControllerId, EffectFilter, EffectState, EffectUpdate, Limits, Op, OpId, Refusal, ResimulationStop,
    RowImage, Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{Ability, Attribute, AttributeSet, Effect, GrantedAbilityEntry, Magnitude, Stacking};

fn documents() -> RulesBuilder {
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
        .add(AttributeSet::new("Magic").with(Attribute::new("Mana", 50.0)))
        .add(Effect::instant("GE_Hit").add("Health", -1.0))
        .add(Effect::lasting("GE_Long", 100.0).add("Health", 3.0))
        .add(Effect::infinite("GE_Follow").add("Health", Magnitude::attribute("Health")))
}

fn sim(rules: &Arc<Rules>, config: SimConfig) -> Sim {
    Sim::new(rules.clone(), config)
}

fn spawn(sim: &mut Sim, set: &str) -> ControllerId {
    let set = sim.rules().set(set).unwrap();
    sim.spawn(SpawnSpec::sets([set])).unwrap()
}

fn health(sim: &Sim, who: ControllerId) -> f64 {
    sim.get(who, sim.rules().attribute("Health").unwrap()).unwrap()
}

#[test]
fn an_image_of_another_sim_is_restored_with_its_own_sets() {
    let rules = documents().build().unwrap();
    let (mut a, mut b) = (sim(&rules, SimConfig::default()), sim(&rules, SimConfig::default()));
    let hero = spawn(&mut a, "Vitals");
    spawn(&mut b, "Magic");
    let mut image = RowImage::default();
    a.capture(hero, &mut image).unwrap();
    b.restore(hero, &image).unwrap();
    assert_eq!(health(&b, hero), 100.0);
    assert!(b.get(hero, rules.attribute("Mana").unwrap()).is_err());
}

#[test]
fn a_definition_removed_since_the_capture_refuses_the_restore() {
    let rules = documents().build().unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let hero = spawn(&mut sim, "Vitals");
    let item = sim.define(Effect::infinite("GE_Item").add("Health", 3.0)).unwrap();
    let ugas_core::DefId::Effect(effect) = item else { panic!("an effect") };
    let key = sim.apply(&Spec::new(effect, hero)).unwrap();
    let mut image = RowImage::default();
    sim.capture(hero, &mut image).unwrap();
    sim.remove(key).unwrap();
    sim.undefine(item).unwrap();
    assert_eq!(sim.restore(hero, &image), Err(Refusal::Mismatch));
    assert_eq!(health(&sim, hero), 100.0);
}

#[test]
fn a_resimulation_with_a_journal_that_is_too_short_is_refused() {
    let rules = documents().build().unwrap();
    let limits = Limits { journal: 4, ..Limits::default() };
    let mut sim = sim(&rules, SimConfig { limits, ..SimConfig::default() });
    let hero = spawn(&mut sim, "Vitals");
    sim.keep_journal(hero).unwrap();
    let mut image = RowImage::default();
    sim.capture(hero, &mut image).unwrap();
    for _ in 0..10 {
        sim.apply(&Spec::new(rules.effect("GE_Hit").unwrap(), hero)).unwrap();
    }
    let journal = sim.journal(hero).unwrap();
    let now = sim.now();
    assert_eq!(sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(now)]), Err(Refusal::Mismatch));
    assert_eq!(health(&sim, hero), 90.0);
}

#[test]
fn one_op_id_used_twice_gives_two_keys() {
    let rules = documents().build().unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let hero = spawn(&mut sim, "Vitals");
    let long = Op::Apply(Spec::new(rules.effect("GE_Long").unwrap(), hero));
    let id = OpId::new(4, 1, 0);
    let a = sim.run_as(id, &long).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Hit").unwrap(), hero)).unwrap();
    assert_ne!(sim.run_as(id, &long).unwrap(), a);
    assert_eq!(sim.run_as(OpId(3), &long), Err(Refusal::Authority));
}

#[test]
fn a_restored_controller_updates_its_dependent_controllers() {
    let rules = documents().build().unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let (master, pet) = (spawn(&mut sim, "Vitals"), spawn(&mut sim, "Vitals"));
    sim.apply(&Spec::new(rules.effect("GE_Follow").unwrap(), pet).from(master)).unwrap();
    let (mut first, mut second) = (RowImage::default(), RowImage::default());
    sim.capture(master, &mut first).unwrap();
    sim.capture(pet, &mut second).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Hit").unwrap(), master)).unwrap();
    assert_eq!(health(&sim, pet), 199.0);
    sim.restore(pet, &second).unwrap();
    assert_eq!(health(&sim, pet), 199.0);
    sim.restore(master, &first).unwrap();
    assert_eq!(health(&sim, pet), 200.0);
}

#[test]
fn a_change_of_many_effects_that_one_refuses_changes_none() {
    let rules = documents()
        .add(ugas_doc::Curve::new("C", [(1.0, 1.0), (2.0, 1e308)]))
        .add(Effect::infinite("GE_Curve").add("Health", Magnitude { value: Some(1.0), ..Magnitude::curve("C") }))
        .add(Effect::infinite("GE_Steep").add("Health", Magnitude { value: Some(10.0), ..Magnitude::curve("C") }))
        .build()
        .unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let hero = spawn(&mut sim, "Vitals");
    for effect in ["GE_Curve", "GE_Steep"] {
        sim.apply(&Spec::new(rules.effect(effect).unwrap(), hero)).unwrap();
    }
    let (before, hash) = (health(&sim, hero), sim.row_hash(hero));
    let change = Op::ChangeMatching { who: hero, filter: EffectFilter::default(), change: EffectUpdate::Level(2) };
    assert_eq!(sim.run(change).unwrap_err().kind(), "NonFinite");
    assert_eq!((health(&sim, hero), sim.row_hash(hero)), (before, hash));
}

#[test]
fn an_application_fits_in_part_and_a_full_stack_overflows_or_is_denied() {
    let stack = |deny_overflow| Stacking {
        limit: Some(3),
        deny_overflow,
        overflow_effects: vec!["GE_Hit".into()],
        ..Stacking::default()
    };
    let rules = documents()
        .add(Effect::infinite("GE_Open").add("Health", 10.0).stacking(stack(false)))
        .add(Effect::infinite("GE_Closed").add("Health", 10.0).stacking(stack(true)))
        .build()
        .unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let hero = spawn(&mut sim, "Vitals");
    let [closed, open] = ["GE_Closed", "GE_Open"].map(|name| Spec::new(rules.effect(name).unwrap(), hero).stacks(5));
    for spec in [&closed, &open] {
        let key = sim.apply(spec).unwrap();
        assert_eq!(sim.effect(key).unwrap().stacks, 3);
    }
    assert_eq!(health(&sim, hero), 160.0, "no overflow effect: neither stack was full");
    assert_eq!(sim.apply(&closed), Err(Refusal::Stacks { limit: 3 }));
    sim.apply(&open).unwrap();
    assert_eq!(health(&sim, hero), 159.0);
}

#[test]
fn a_timed_effect_cannot_be_extended_into_an_endless_one() {
    let rules = documents().build().unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let hero = spawn(&mut sim, "Vitals");
    let key = sim.apply(&Spec::new(rules.effect("GE_Long").unwrap(), hero)).unwrap();
    for _ in 0..6 {
        let _ = sim.run(Op::Change { key, change: EffectUpdate::Extend(SimTime::LONGEST) });
    }
    let view = sim.effect(key).unwrap();
    assert_eq!(view.state, EffectState::Active);
    assert!(view.remaining.is_some_and(|r| r <= SimTime::LONGEST));
}

#[test]
fn the_id_of_a_removed_controller_is_not_reused() {
    let rules = documents().build().unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let hero = spawn(&mut sim, "Vitals");
    sim.despawn(hero).unwrap();
    let again = SpawnSpec { id: Some(hero), ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) };
    assert_eq!(sim.spawn(again), Err(Refusal::IdTaken { who: hero }));
}

#[test]
fn grants_and_layouts_are_bounded() {
    let mut giver = Effect::infinite("GE_Give");
    let keep = GrantedAbilityEntry { remove_on_effect_removal: false, ..GrantedAbilityEntry::new("GA_Slash") };
    giver.granted_abilities = vec![keep];
    let rules = documents().add(Ability::new("GA_Slash")).add(giver).build().unwrap();
    let limits = Limits { grants_per_controller: 8, layouts: 2, ..Limits::default() };
    let mut sim = sim(&rules, SimConfig { limits, ..SimConfig::default() });
    let hero = spawn(&mut sim, "Vitals");
    let give = Spec::new(rules.effect("GE_Give").unwrap(), hero);
    let mut given = 0;
    while let Ok(key) = sim.apply(&give) {
        sim.remove(key).unwrap();
        given += 1;
    }
    assert_eq!((given, sim.grants(hero).unwrap().len()), (8, 8));
    let (vitals, magic) = (rules.set("Vitals").unwrap(), rules.set("Magic").unwrap());
    for _ in 0..5 {
        sim.run(Op::AddSet { who: hero, set: magic }).unwrap();
        sim.run(Op::RemoveSet { who: hero, set: vitals, force: true }).unwrap();
        sim.run(Op::AddSet { who: hero, set: vitals }).unwrap();
        sim.run(Op::RemoveSet { who: hero, set: magic, force: true }).unwrap();
    }
    sim.advance_to(SimTime::seconds(1.0));
    assert_eq!(health(&sim, hero), 100.0);
}

#[test]
fn unsorted_caller_values_are_refused() {
    let rules = documents()
        .add(Effect::instant("GE_A").add("Health", Magnitude::set_by_caller("A")))
        .add(Effect::instant("GE_B").add("Health", Magnitude::set_by_caller("B")))
        .build()
        .unwrap();
    let mut sim = sim(&rules, SimConfig::default());
    let hero = spawn(&mut sim, "Vitals");
    let mut spec = Spec::new(rules.effect("GE_A").unwrap(), hero);
    spec.extra().set_by_caller = vec![(rules.key("B").unwrap(), 1.0), (rules.key("A").unwrap(), 1.0)];
    assert_eq!(sim.apply(&spec).unwrap_err().kind(), "BadValue");
}

/// An application removes an effect that blocks capabilities of another controller, and is then refused.
#[test]
fn a_refused_application_keeps_the_blocks_of_the_effects_that_it_would_have_removed() {
    let mark = Effect { effect_tags: vec!["Mark".into()], ..Effect::infinite("GE_Mark").grants("Capability.Move") };
    let clear = Effect::instant("GE_Clear").add("Health", 1e308);
    let set = AttributeSet::new("V").with(Attribute::new("Health", 1e308));
    let rules = Rules::builder()
        .add(set)
        .add(mark)
        .add(Effect { remove_effects_with_tags: vec!["Mark".into()], ..clear })
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let [one, other] = [(); 2].map(|()| sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()])).unwrap());
    let key = sim.apply(&Spec::new(rules.effect("GE_Mark").unwrap(), one)).unwrap();
    let tag = rules.tag("Capability.Move").unwrap();
    sim.run(Op::Block { who: other, tag, source: BlockSource::Effect(key) }).unwrap();
    let hashes = [one, other].map(|who| sim.row_hash(who).unwrap());
    let refused = sim.apply(&Spec::new(rules.effect("GE_Clear").unwrap(), one));
    assert!(matches!(refused, Err(Refusal::NonFinite { .. })), "{refused:?}");
    assert_eq!(sim.is_blocked(other, tag), Ok(true));
    assert_eq!([one, other].map(|who| sim.row_hash(who).unwrap()), hashes);
    sim.run(Op::Remove { key, stacks: None }).unwrap();
    assert_eq!(sim.is_blocked(other, tag), Ok(false), "the block ends with its source");
}
