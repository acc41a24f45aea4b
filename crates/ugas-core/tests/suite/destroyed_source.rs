//! The stored state of a destroyed source is part of the rows its effects act on: capture, resimulation, portable, reload
//! and hash.

use std::sync::Arc;
use ugas_core::{
    ActorId, ControllerId, DefId, EffectId, FactKind, Portable, Refusal, ResimulationStop, RowImage, Rules, Sim,
    SimConfig, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{
    Attribute, AttributeSet, Calculation, CalculationResult, Combat, CombatKind, CombatRule, Effect, Execution,
    Modifier, Modify, ModifyOperation, Operation,
};

/// A hero with effects of a witch on him: one executes a calculation, one has a filter on the witch's tags.
struct Scene {
    sim: Sim,
    hero: ControllerId,
    witch: ControllerId,
}

fn rules() -> Arc<Rules> {
    let mut poison = Effect::infinite("GE_Poison").every(1.0);
    poison.executions.push(Execution::new("Calc_Poison"));
    let mut curse = Effect::infinite("GE_Curse");
    curse.modifiers.push(Modifier::new("Luck", Operation::Add, -5.0).source_tag("State.Angry"));
    Rules::builder()
        .add(
            AttributeSet::new("S")
                .with(Attribute::new("Power", 10.0))
                .with(Attribute::new("Pool", 0.0))
                .with(Attribute::new("Luck", 0.0)),
        )
        .add(Calculation::new("Calc_Poison").result(CalculationResult::add("Pool", "source.Power")))
        .add(Effect::infinite("GE_Rage").add("Power", 20.0).grants("State.Angry"))
        .add(Effect::infinite("GE_Wet").grants("State.Wet"))
        .add(poison)
        .add(curse)
        .build()
        .unwrap()
}

impl Scene {
    fn new() -> Scene {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let set = rules.set("S").unwrap();
        let (hero, witch) =
            (sim.spawn(SpawnSpec::sets(vec![set])).unwrap(), sim.spawn(SpawnSpec::sets(vec![set])).unwrap());
        sim.keep_journal(hero).unwrap();
        let mut scene = Scene { sim, hero, witch };
        scene.apply("GE_Rage", witch);
        scene.apply("GE_Poison", hero);
        scene.apply("GE_Curse", hero);
        scene
    }

    fn apply(&mut self, effect: &str, to: ControllerId) {
        let effect = self.sim.rules().effect(effect).unwrap();
        self.sim.apply(&Spec::new(effect, to).from(self.witch)).unwrap();
    }

    fn to(&mut self, seconds: f64) {
        self.sim.advance_to(SimTime::seconds(seconds));
    }

    fn get(&self, name: &str) -> f64 {
        self.sim.get(self.hero, self.sim.rules().attribute(name).unwrap()).unwrap()
    }

    /// The witch is destroyed at 1 s, after her poison executed once.
    fn destroy(mut self) -> Scene {
        self.to(1.0);
        self.sim.despawn(self.witch).unwrap();
        assert_eq!((self.get("Pool"), self.get("Luck")), (30.0, -5.0));
        self
    }

    fn assert_continues(&mut self) {
        self.apply("GE_Wet", self.hero);
        self.to(3.0);
        assert_eq!((self.get("Pool"), self.get("Luck")), (90.0, -5.0));
    }
}

#[test]
fn effects_of_a_destroyed_source_continue_with_its_last_values() {
    Scene::new().destroy().assert_continues();
}

#[test]
fn frozen_values_survive_capture_and_restore() {
    let mut scene = Scene::new().destroy();
    let mut image = RowImage::default();
    scene.sim.capture(scene.hero, &mut image).unwrap();
    let hash = scene.sim.row_hash(scene.hero);
    scene.sim.restore(scene.hero, &image).unwrap();
    assert_eq!(scene.sim.row_hash(scene.hero), hash);
    scene.assert_continues();
}

#[test]
fn frozen_values_are_part_of_a_portable() {
    let mut scene = Scene::new().destroy();
    let hash = scene.sim.row_hash(scene.hero);
    let portable = scene.sim.extract(scene.hero).unwrap();
    let text = serde_json::to_string(&portable).unwrap();
    let portable: Portable = serde_json::from_str(&text).unwrap();
    scene.sim.insert(&portable).unwrap();
    assert_eq!(scene.sim.row_hash(scene.hero), hash);
    scene.assert_continues();
}

#[test]
fn a_resimulation_across_the_destruction_gives_the_same_row() {
    let scene = Scene::new();
    let mut image = RowImage::default();
    scene.sim.capture(scene.hero, &mut image).unwrap();
    let mut scene = scene.destroy();
    scene.assert_continues();
    let (hash, journal) = (scene.sim.row_hash(scene.hero), scene.sim.journal(scene.hero).unwrap());
    scene.sim.resimulate(&image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(3.0))]).unwrap();
    assert_eq!((scene.get("Pool"), scene.get("Luck")), (90.0, -5.0));
    assert_eq!(scene.sim.row_hash(scene.hero), hash);
}

#[test]
fn different_frozen_values_give_different_hashes() {
    let hash = |angry: bool| {
        let mut scene = Scene::new();
        if !angry {
            // The same row of the hero, another witch.
            let power = scene.sim.rules().attribute("Power").unwrap();
            let filter = ugas_core::EffectFilter { modifies: Some(power), ..Default::default() };
            scene.sim.run(ugas_core::Op::RemoveMatching { who: scene.witch, filter }).unwrap();
            let rage = scene.sim.rules().effect("GE_Rage").unwrap();
            scene.sim.apply(&Spec::new(rage, scene.witch).from(scene.witch).stacks(2)).unwrap();
        }
        scene.sim.despawn(scene.witch).unwrap();
        scene.sim.row_hash(scene.hero).unwrap()
    };
    assert_ne!(hash(true), hash(false));
}

#[test]
fn a_source_that_is_inserted_again_is_read_live() {
    let mut scene = Scene::new();
    scene.to(1.0);
    let witch = scene.sim.extract(scene.witch).unwrap();
    scene.to(2.0);
    assert_eq!((scene.get("Pool"), scene.get("Luck")), (60.0, -5.0));
    scene.sim.insert(&witch).unwrap();
    let power = scene.sim.rules().attribute("Power").unwrap();
    let filter = ugas_core::EffectFilter { modifies: Some(power), ..Default::default() };
    scene.sim.run(ugas_core::Op::RemoveMatching { who: scene.witch, filter }).unwrap();
    scene.to(3.0);
    assert_eq!((scene.get("Pool"), scene.get("Luck")), (70.0, 0.0));
}

/// A buff of a source: it doubles the damage that the source does.
fn fury() -> Effect {
    let modify = Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(2.0) };
    let rule = CombatRule { on: "DamageDone".into(), modify: Some(modify), ..CombatRule::default() };
    Effect { rules: vec![rule], ..Effect::infinite("GE_Fury") }
}

fn rot() -> Effect {
    let combat = Combat { kind: CombatKind::Damage, ..Combat::default() };
    Effect { combat: Some(combat), ..Effect::infinite("GE_Rot").every(1.0).add("Health", -5.0) }
}

fn health() -> AttributeSet {
    AttributeSet::new("S").with(Attribute::new("Health", 100.0))
}

/// A hero with the rot of a witch that had `fury` and was destroyed.
fn furious(rules: &Arc<Rules>, fury: impl FnOnce(&mut Sim) -> EffectId) -> (Sim, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let set = rules.set("S").unwrap();
    let [hero, witch] = [0; 2].map(|_| sim.spawn(SpawnSpec::sets([set])).unwrap());
    let fury = fury(&mut sim);
    sim.apply(&Spec::new(fury, witch)).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Rot").unwrap(), hero).from(witch)).unwrap();
    sim.despawn(witch).unwrap();
    (sim, hero)
}

fn health_after(sim: &mut Sim, hero: ControllerId, seconds: f64) -> f64 {
    sim.advance_to(SimTime::seconds(seconds));
    sim.get(hero, sim.rules().attribute("Health").unwrap()).unwrap()
}

// A stored rule may come from a definition of run time: the definition stays in use and travels with the row.
#[test]
fn a_stored_run_time_definition_stays_in_use_and_moves_with_the_row() {
    let rules = Rules::builder().add(health()).add(rot()).build().unwrap();
    let mut def = None;
    let (mut sim, hero) = furious(&rules, |sim| {
        let made = sim.define(fury()).unwrap();
        def = Some(made);
        let DefId::Effect(id) = made else { panic!("an effect") };
        id
    });
    assert_eq!(sim.undefine(def.unwrap()), Err(Refusal::InUse { who: hero }));
    let portable = sim.extract(hero).unwrap();
    let mut other_sim = Sim::new(rules.clone(), SimConfig::default());
    // Another definition has the same number there.
    other_sim.define(Effect::infinite("GE_Other").add("Health", 1.0)).unwrap();
    other_sim.insert(&portable).unwrap();
    assert_eq!(health_after(&mut other_sim, hero, 1.0), 90.0);
}

// A reload that removes the definition ends the stored rule; the row can still be saved and inserted.
#[test]
fn a_reload_without_the_definition_drops_the_stored_rule() {
    let before = Rules::builder().add(health()).add(rot()).add(fury()).build().unwrap();
    let (mut sim, hero) = furious(&before, |_| before.effect("GE_Fury").unwrap());
    assert_eq!(health_after(&mut sim, hero, 1.0), 90.0);
    let next = Rules::builder().after(before.clone()).add(health()).add(rot()).build().unwrap();
    sim.reload(next).unwrap();
    assert_eq!(health_after(&mut sim, hero, 2.0), 85.0);
    let portable = sim.extract(hero).unwrap();
    sim.insert(&portable).unwrap();
}

// A client does not learn which effects a destroyed source had.
#[test]
fn a_snapshot_for_a_client_has_no_effects_of_a_destroyed_source() {
    let rules = Rules::builder().add(health()).add(rot()).add(fury()).build().unwrap();
    let (sim, hero) = furious(&rules, |_| rules.effect("GE_Fury").unwrap());
    let text = |p: &Portable| serde_json::to_string(p).unwrap();
    let fury = format!("\"def\":{}", rules.effect("GE_Fury").unwrap().0);
    let hidden = [rules.attribute("Health").unwrap()];
    assert!(text(&sim.remote().snapshot(hero).unwrap()).contains(&fury));
    assert!(!text(&sim.remote().snapshot_without(hero, &hidden, &|_, _| false).unwrap()).contains(&fury));
}

// A pet's damage is credited to its owner, also after the pet was destroyed.
#[test]
fn the_owner_of_a_destroyed_pet_keeps_the_credit() {
    let rules = Rules::builder().add(health()).add(rot()).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let spec = || SpawnSpec::sets([rules.set("S").unwrap()]);
    let hero = sim.spawn(spec()).unwrap();
    let hunter = sim.spawn(SpawnSpec { owner: Some(ActorId(7)), avatar: Some(ActorId(7)), ..spec() }).unwrap();
    let wolf = sim.spawn(SpawnSpec { owner: Some(ActorId(7)), avatar: Some(ActorId(8)), ..spec() }).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Rot").unwrap(), hero).from(wolf)).unwrap();
    sim.advance_to(SimTime::seconds(1.0));
    sim.despawn(wolf).unwrap();
    let hash = sim.row_hash(hero);
    let portable: Portable =
        serde_json::from_str(&serde_json::to_string(&sim.extract(hero).unwrap()).unwrap()).unwrap();
    sim.insert(&portable).unwrap();
    assert_eq!(sim.row_hash(hero), hash);
    sim.advance_to(SimTime::seconds(2.0));
    let credit = |f: &ugas_core::Fact| if let FactKind::Damage { credit, .. } = f.kind { Some(credit) } else { None };
    assert_eq!(sim.facts().iter().filter_map(credit).collect::<Vec<_>>(), [hunter, hunter]);
}

/// A hero with a journal and the rot of a witch that doubles her damage at a distance below 5; and an image of the hero.
fn journalled() -> (Sim, [ControllerId; 2], RowImage) {
    let mut near = fury();
    near.rules[0].when = Some("distance() < 5".to_owned());
    let mut forbid = Effect::infinite("GE_Forbid");
    forbid.rules.push(CombatRule { on: "DamageDone".into(), restrict: true, ..CombatRule::default() });
    let rules = Rules::builder().add(health()).add(rot()).add(near).add(forbid).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let place = |x: f64| Some(ugas_core::Anchor::at([x, 0.0, 0.0]));
    let set = rules.set("S").unwrap();
    let [hero, witch] =
        [0.0, 3.0].map(|x| sim.spawn(SpawnSpec { anchor: place(x), ..SpawnSpec::sets([set]) }).unwrap());
    sim.keep_journal(hero).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Fury").unwrap(), witch)).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Rot").unwrap(), hero).from(witch)).unwrap();
    let mut image = RowImage::default();
    sim.capture(hero, &mut image).unwrap();
    (sim, [hero, witch], image)
}

/// Resimulates the hero up to 3 s and returns the health at 3 s of both runs.
fn both_runs(mut sim: Sim, hero: ControllerId, image: &RowImage) -> (f64, f64) {
    let first = health_after(&mut sim, hero, 3.0);
    let (hash, journal) = (sim.row_hash(hero), sim.journal(hero).unwrap());
    sim.resimulate(image, Some(&journal), &mut [ResimulationStop::at(SimTime::seconds(3.0))]).unwrap();
    let second = sim.get(hero, sim.rules().attribute("Health").unwrap()).unwrap();
    assert_eq!(second == first, sim.row_hash(hero) == hash);
    (first, second)
}

// The tick at 1 s had the fury, although the witch has none when it is resimulated.
#[test]
fn a_resimulation_uses_the_rules_that_the_source_had_then() {
    let (mut sim, [hero, witch], image) = journalled();
    sim.advance_to(SimTime::seconds(1.5));
    let fury = sim.rules().effect("GE_Fury").unwrap();
    let filter = ugas_core::EffectFilter { effect: Some(fury), ..Default::default() };
    sim.run(ugas_core::Op::RemoveMatching { who: witch, filter }).unwrap();
    assert_eq!(both_runs(sim, hero, &image), (80.0, 80.0));
}

#[test]
fn a_resimulation_of_ticks_before_the_death_of_the_source_uses_its_rules() {
    let (mut sim, [hero, witch], image) = journalled();
    sim.advance_to(SimTime::seconds(1.5));
    sim.despawn(witch).unwrap();
    assert_eq!(both_runs(sim, hero, &image), (70.0, 70.0));
}

#[test]
fn a_resimulation_does_not_use_a_restriction_that_the_source_got_later() {
    let (mut sim, [hero, witch], image) = journalled();
    sim.advance_to(SimTime::seconds(2.5));
    let forbid = sim.rules().effect("GE_Forbid").unwrap();
    sim.apply(&Spec::new(forbid, witch)).unwrap();
    assert_eq!(both_runs(sim, hero, &image), (80.0, 80.0));
}
