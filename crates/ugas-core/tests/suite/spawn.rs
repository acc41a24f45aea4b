//! The state of a controller right after it is spawned, and the order of its parts.

use std::sync::{Arc, Mutex};
use ugas_core::{AbilityGrant, Rules, RulesBuilder, Sim, SimConfig, SpawnSpec};
use ugas_doc::{Ability, Attribute, AttributeSet, Effect, Magnitude};

fn documents() -> RulesBuilder {
    Rules::builder()
        .add(AttributeSet::new("S").with(Attribute::new("Strength", 20.0)).with(Attribute::new("Damage", 10.0)))
        .add(Ability::new("GA_Slash"))
        .add(Ability::new("GA_Guard"))
        .add(Effect::infinite("GE_Might").add("Damage", Magnitude::attribute("Strength")).grants("State.Strong"))
}

fn spawn(rules: &Arc<Rules>) -> (Sim, ugas_core::ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let mut spec = SpawnSpec::sets([rules.set("S").unwrap()]).effect(rules.effect("GE_Might").unwrap());
    for ability in ["GA_Slash", "GA_Guard"] {
        let ability = rules.ability(ability).unwrap();
        spec.abilities.push(AbilityGrant { ability, level: 1, input: None });
    }
    let hero = sim.spawn(spec).unwrap();
    (sim, hero)
}

// covers: UGAS-4.1-01
#[test]
fn a_controller_keeps_its_abilities_effects_and_tags() {
    let rules = documents().build().unwrap();
    let (sim, hero) = spawn(&rules);
    let sizes = (sim.grants(hero).unwrap().len(), sim.effects(hero).unwrap().len(), sim.tags(hero).unwrap().len());
    assert_eq!(sizes, (2, 1, 1));
}

// covers: UGAS-4.3-02
#[test]
fn initial_effects_see_the_sets_and_the_abilities() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let rules = documents()
        .before_hook("Look", move |cx| {
            log.lock().unwrap().push(cx.target_abilities().count());
            true
        })
        .build()
        .unwrap();
    let (sim, hero) = spawn(&rules);
    assert_eq!(*seen.lock().unwrap(), [2]);
    assert_eq!(sim.get(hero, rules.attribute("Damage").unwrap()), Ok(30.0));
}
