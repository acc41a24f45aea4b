//! Embeds the runtime in a program: builds rules, spawns 100 enemies, advances time, and heals the hero when an enemy
//! dies.
//!
//! `cargo run -p ugas --example embed`

use ugas::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rules = Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0).min(0.0)))
        .add(Effect::infinite("GE_Burning").every(0.5).add("Health", -7.0))
        .add(Effect::instant("GE_Feast").add("Health", 10.0))
        .build()?;
    let vitals = rules.set("Vitals")?;
    let [burning, feast] = ["GE_Burning", "GE_Feast"].map(|n| rules.effect(n).expect("defined above"));
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([vitals]))?;
    for n in 0..100 {
        let enemy = sim.spawn(SpawnSpec::sets([vitals]))?;
        sim.apply(&Spec::new(burning, enemy).from(hero).every(SimTime::millis(400 + 10 * n)))?;
    }
    let (mut facts, mut deaths) = (Facts::default(), 0);
    for tick in 1..=60 * 30 {
        sim.advance_to(SimTime::frames(tick, 60));
        sim.take_facts(&mut facts);
        for fact in facts.list.iter().filter(|f| matches!(f.kind, FactKind::Died { .. })) {
            deaths += 1;
            sim.despawn(fact.who)?;
            sim.apply(&Spec::new(feast, fact.source))?;
        }
    }
    let health = sim.get(hero, rules.attribute("Health")?)?;
    println!("after 30 s: {deaths} of 100 enemies died, the hero has {health} Health");
    assert_eq!((deaths, health), (100, 1100.0));
    Ok(())
}
