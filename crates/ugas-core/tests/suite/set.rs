//! Attribute sets at run time: look-up, required sets, and refused cycles.

use crate::kit::*;
use ugas_core::{BoundDef, Op, Refusal, Rules, Sim, SimConfig, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, Category, Effect};

// covers: UGAS-6.2-04
#[test]
fn a_registered_set_is_found_and_another_is_not() {
    let rules = world().add(AttributeSet::new("Vehicle").with(Attribute::new("Fuel", 10.0))).build().unwrap();
    let (mut sim, hero) = one(&rules);
    let find = |sim: &Sim, name: &str| {
        let id = rules.find_set(name)?;
        sim.sets(hero).unwrap().contains(&id).then(|| rules.set_attributes(id).unwrap().len())
    };
    assert_eq!(find(&sim, "Combat"), Some(6));
    assert_eq!(find(&sim, "Vehicle"), None);
    assert_eq!(find(&sim, "Nonsense"), None);
    sim.run(Op::AddSet { who: hero, set: set(&rules, "Vehicle") }).unwrap();
    assert_eq!(find(&sim, "Vehicle"), Some(1));
}

// covers: UGAS-6.3-01
#[test]
fn the_sample_set_has_its_defaults_categories_and_bounds() {
    let rules = world().add(Effect::infinite("GE_Crush").add("MaxHealth", -500.0)).build().unwrap();
    let (mut sim, hero) = one(&rules);
    let open = BoundDef::Open;
    let of = |name: &str| BoundDef::Attribute(attribute(&rules, name));
    let expected = [
        ("Health", 100.0, Category::Resource, BoundDef::Value(0.0), of("MaxHealth")),
        ("MaxHealth", 100.0, Category::Statistic, BoundDef::Value(1.0), open),
        ("Mana", 50.0, Category::Resource, BoundDef::Value(0.0), of("MaxMana")),
        ("MaxMana", 50.0, Category::Statistic, BoundDef::Value(0.0), open),
        ("AttackPower", 10.0, Category::Statistic, open, open),
        ("Defense", 5.0, Category::Statistic, open, open),
    ];
    let list = rules.set_attributes(set(&rules, "Combat")).unwrap();
    assert_eq!(list.len(), expected.len());
    for (a, (name, default, category, min, max)) in list.iter().zip(expected) {
        assert_eq!(rules.attribute_name(a.attribute), Some(name));
        assert_eq!((a.default, a.category, a.min, a.max), (default, category, min, max), "{name}");
        assert_eq!(sim.base(hero, a.attribute).unwrap(), default, "{name}");
        assert_eq!(sim.get(hero, a.attribute).unwrap(), default, "{name}");
    }
    apply(&mut sim, "GE_Crush", hero);
    assert_eq!(get(&sim, hero, "MaxHealth"), 1.0);
    assert_eq!(get(&sim, hero, "Health"), 1.0);
}

// covers: UGAS-6.4-03
#[test]
fn a_required_set_must_be_registered_first() {
    let rules = world()
        .add(AttributeSet::new("Other").with(Attribute::new("Luck", 1.0)))
        .add(AttributeSet::new("DerivedStats").needs("Combat").with(Attribute::derived("Bulk", "Health + Defense")))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let (combat, derived, other) = (set(&rules, "Combat"), set(&rules, "DerivedStats"), set(&rules, "Other"));
    let missing = Refusal::SetMissing { set: combat };
    assert_eq!(sim.spawn(SpawnSpec::sets([derived])), Err(missing));
    assert_eq!(sim.spawn(SpawnSpec::sets([derived, combat])), Err(missing));
    assert_eq!(sim.controllers().count(), 0);

    let who = sim.spawn(SpawnSpec::sets([other])).unwrap();
    facts(&mut sim);
    let before = sim.row_hash(who).unwrap();
    let refused = sim.run(Op::AddSet { who, set: derived }).unwrap_err();
    assert_eq!(refused, missing);
    assert!(refused.describe(&rules).contains("Combat"));
    assert_eq!(sim.row_hash(who).unwrap(), before);
    assert_eq!(sim.sets(who).unwrap(), [other]);
    assert_eq!(facts(&mut sim), []);

    sim.run(Op::AddSet { who, set: combat }).unwrap();
    sim.run(Op::AddSet { who, set: derived }).unwrap();
    assert_eq!(get(&sim, who, "Bulk"), 105.0);
}

// covers: UGAS-6.4-05
#[test]
fn cycles_of_derived_attributes_and_of_sets_are_refused() {
    let rules = Rules::builder()
        .add(AttributeSet::new("S1").with(Attribute::derived("X", "Y + 1")))
        .add(AttributeSet::new("S2").with(Attribute::derived("Y", "X + 1")))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let (s1, s2) = (set(&rules, "S1"), set(&rules, "S2"));
    let who = sim.spawn(SpawnSpec::sets([s1])).unwrap();
    let before = sim.row_hash(who).unwrap();
    match sim.run(Op::AddSet { who, set: s2 }) {
        Err(Refusal::Cycle { who: at, .. }) => assert_eq!(at, who),
        other => panic!("{other:?}"),
    }
    assert_eq!(sim.row_hash(who).unwrap(), before);

    let error = Rules::builder()
        .add(AttributeSet::new("P").needs("Q").with(Attribute::new("A", 1.0)))
        .add(AttributeSet::new("Q").needs("P").with(Attribute::new("B", 1.0)))
        .build()
        .unwrap_err();
    assert!(error.issues.iter().any(|i| i.code == "cycle"), "{error}");
}

#[test]
fn a_derived_attribute_has_its_default_while_it_lacks_what_it_reads() {
    let bound = Attribute { default_base_value: Some(100.0), ..Attribute::derived("MaxMana", "Wisdom * 10") };
    let rules = Rules::builder()
        .add(AttributeSet::new("Mage").with(bound).with(Attribute::new("Mana", 80.0).max("MaxMana")))
        .add(AttributeSet::new("Mind").with(Attribute::new("Wisdom", 5.0)))
        .add(Effect::instant("GE_Write").add("MaxMana", 1.0))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("Mage").unwrap()])).unwrap();
    let (max, mana) = (rules.attribute("MaxMana").unwrap(), rules.attribute("Mana").unwrap());
    assert_eq!((sim.get(who, max), sim.get(who, mana)), (Ok(100.0), Ok(80.0)));
    let mut found = Vec::new();
    sim.take_diagnostics(&mut found);
    assert!(found.is_empty(), "the default is no error: {found:?}");
    let refused = sim.apply(&Spec::new(rules.effect("GE_Write").unwrap(), who));
    assert_eq!(refused, Err(Refusal::Restricted { by: ugas_core::Restriction::DerivedAttribute }));
    let mind = rules.set("Mind").unwrap();
    sim.run(Op::AddSet { who, set: mind }).unwrap();
    assert_eq!((sim.get(who, max), sim.get(who, mana)), (Ok(50.0), Ok(50.0)));
}
