//! The order of the writes of one effect: they settle in dependency order, live magnitudes included.

use ugas_core::{Rules, Sim, SimConfig, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, Effect, Magnitude, Modifier, Operation};

/// What `Pool` shows and its base after these effects, on both paths.
fn pool_after(effects: Vec<Effect>) -> (f64, f64) {
    let set =
        AttributeSet::new("S").with(Attribute::new("Stat", 10.0)).with(Attribute::new("Pool", 50.0).min(0.0).max(60.0));
    let names: Vec<String> = effects.iter().map(|e| e.name.clone()).collect();
    let builder = effects.into_iter().fold(Rules::builder().add(set), |b, e| b.add(e));
    let rules = builder.build().unwrap();
    let found = [false, true].map(|slow_path| {
        let mut sim = Sim::new(rules.clone(), SimConfig { slow_path, ..SimConfig::default() });
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        for name in &names {
            sim.apply(&Spec::new(rules.effect(name).unwrap(), who)).unwrap();
        }
        let pool = rules.attribute("Pool").unwrap();
        (sim.get(who, pool).unwrap(), sim.base(who, pool).unwrap())
    });
    assert_eq!(found[0], found[1]);
    found[0]
}

/// A live modifier adds Stat to Pool. The effect lowers Stat by 10 and fills Pool: Pool's window is that of the new Stat,
/// whichever of the two is authored first.
#[test]
fn a_write_uses_the_bounds_set_by_another_write_of_the_effect() {
    let live = || Effect::infinite("GE_Live").add("Pool", Magnitude::attribute("Stat").of_target().times(1.0));
    let first = Effect::instant("GE_Both").add("Stat", -10.0).add("Pool", 100.0);
    let second = Effect::instant("GE_Both").add("Pool", 100.0).add("Stat", -10.0);
    assert_eq!(pool_after(vec![live(), first]), (60.0, 60.0));
    assert_eq!(pool_after(vec![live(), second]), (60.0, 60.0));
}

#[test]
fn the_last_authored_override_of_an_effect_wins() {
    let set = |value: f64| Modifier::new("Pool", Operation::Override, Magnitude::value(value));
    let both = |e: Effect| Effect { modifiers: vec![set(20.0), set(30.0)], ..e };
    assert_eq!(pool_after(vec![both(Effect::infinite("GE_Hold"))]), (30.0, 50.0));
    assert_eq!(pool_after(vec![both(Effect::instant("GE_Set"))]), (30.0, 30.0));
}
