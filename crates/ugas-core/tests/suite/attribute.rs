//! Attributes in the public API: metadata, modifiers with their keys, results that do not depend on order, facts with
//! their cause.

use crate::kit::*;
use ugas_core::{BoundDef, ControllerId, Fact, FactKind, Rules, Sim, SimConfig, Spec};
use ugas_doc::{Attribute, AttributeSet, Category, Effect, ReplicationMode};

// covers: UGAS-3.3-03
#[test]
fn all_attributes_of_an_application_are_updated_before_its_facts_are_read() {
    let rules = world().add(Effect::infinite("GE_Big").add("Health", 50.0).add("MaxHealth", 50.0)).build().unwrap();
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Big", hero);
    let (health, max) = (attribute(&rules, "Health"), attribute(&rules, "MaxHealth"));
    let mut change_count = 0;
    for f in facts(&mut sim) {
        if let FactKind::AttributeChanged { attribute, new, .. } = f.kind {
            change_count += 1;
            assert_eq!(new, 150.0);
            assert_eq!((sim.get(hero, health).unwrap(), sim.get(hero, max).unwrap()), (150.0, 150.0), "{attribute:?}");
        }
    }
    // One fact per attribute and application: no intermediate value is emitted.
    assert_eq!(change_count, 2);
}

// covers: UGAS-5.1-01 UGAS-5.1-02
#[test]
fn an_attribute_shows_its_values_modifiers_and_metadata() {
    let mut owner_only = Attribute::new("Gold", 3.0).category(Category::Resource);
    owner_only.replication_mode = ReplicationMode::OwnerOnly;
    let rules = world().add(AttributeSet::new("Purse").with(owner_only)).build().unwrap();
    let (sim, hero) = one(&rules);
    let health = attribute(&rules, "Health");
    let shown = sim.explain(hero, health).unwrap();
    assert_eq!((shown.base, shown.value, shown.lines.len()), (100.0, 100.0, 0));
    assert_eq!(shown.name, "Health");
    assert_eq!((sim.base(hero, health).unwrap(), sim.get(hero, health).unwrap()), (100.0, 100.0));

    let list = rules.set_attributes(set(&rules, "Combat")).unwrap();
    let meta = list.iter().find(|a| a.attribute == health).unwrap();
    assert_eq!(rules.attribute_name(meta.attribute), Some("Health"));
    assert_eq!(meta.category, Category::Resource);
    assert_eq!(meta.replication, ReplicationMode::All);
    assert_eq!(meta.min, BoundDef::Value(0.0));
    assert_eq!(meta.max, BoundDef::Attribute(attribute(&rules, "MaxHealth")));
    let power = list.iter().find(|a| a.attribute == attribute(&rules, "AttackPower")).unwrap();
    assert_eq!((power.min, power.max), (BoundDef::Open, BoundDef::Open));
    let gold = &rules.set_attributes(set(&rules, "Purse")).unwrap()[0];
    assert_eq!(gold.replication, ReplicationMode::OwnerOnly);
}

// covers: UGAS-5.1-03
#[test]
fn exactly_three_categories_are_accepted() {
    let parse = |category: &str| {
        let text = format!(r#"{{"Name": "X", "DefaultBaseValue": 1, "Category": "{category}"}}"#);
        serde_json::from_str::<Attribute>(&text).map(|a| a.category)
    };
    assert_eq!(parse("Resource").unwrap(), Category::Resource);
    assert_eq!(parse("Statistic").unwrap(), Category::Statistic);
    assert_eq!(parse("Meta").unwrap(), Category::Meta);
    assert!(parse("Other").unwrap_err().to_string().contains("Other"));
}

// covers: UGAS-5.1-04
#[test]
fn removing_an_effect_removes_exactly_its_modifiers() {
    let rules = world()
        .add(Effect::infinite("GE_A").add("AttackPower", 10.0))
        .add(Effect::infinite("GE_B").add("AttackPower", 10.0))
        .build()
        .unwrap();
    let (mut sim, hero) = one(&rules);
    let power = attribute(&rules, "AttackPower");
    let (a, b) = (apply(&mut sim, "GE_A", hero), apply(&mut sim, "GE_B", hero));
    let keys = |sim: &Sim| sim.explain(hero, power).unwrap().lines.iter().map(|l| l.key).collect::<Vec<_>>();
    let mut both = keys(&sim);
    both.sort();
    assert_eq!(both, [a, b]);
    sim.remove(a).unwrap();
    assert_eq!(keys(&sim), [b]);
    assert_eq!(get(&sim, hero, "AttackPower"), 20.0);
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut out = Vec::new();
    for shorter in permutations(n - 1) {
        for at in 0..n {
            let mut p = shorter.clone();
            p.insert(at, n - 1);
            out.push(p);
        }
    }
    out
}

// covers: UGAS-5.3-15
#[test]
fn the_order_of_application_never_changes_the_result() {
    // Numbers whose sums and products round, so that a result that followed the order would show it.
    let effects = [
        Effect::infinite("GE_0").add("AttackPower", 0.1),
        Effect::infinite("GE_1").add("AttackPower", 1e16),
        Effect::infinite("GE_2").add("AttackPower", -1e16),
        Effect::infinite("GE_3").multiply("AttackPower", 0.3),
        Effect::infinite("GE_4").multiply_in("AttackPower", 0.7, "Gear"),
        Effect::infinite("GE_5").add_post("AttackPower", 0.7).multiply_in("AttackPower", 0.1, "Gear"),
    ];
    let rules = effects.into_iter().fold(world(), |b, e| b.add(e)).build().unwrap();
    let (clean, hero) = one(&rules);
    let mut seen: Option<u64> = None;
    for order in permutations(6) {
        let mut sim = clean.clone();
        // An effect applied and removed in between leaves no trace either.
        let passing = apply(&mut sim, &format!("GE_{}", order[5]), hero);
        for &i in &order {
            apply(&mut sim, &format!("GE_{i}"), hero);
        }
        sim.remove(passing).unwrap();
        let bits = get(&sim, hero, "AttackPower").to_bits();
        assert_eq!(*seen.get_or_insert(bits), bits, "{order:?}");
    }
}

// covers: UGAS-5.4-04
#[test]
fn a_cycle_of_bounds_is_refused_by_name() {
    let cycle =
        AttributeSet::new("Bad").with(Attribute::new("A", 1.0).max("B")).with(Attribute::new("B", 1.0).max("A"));
    let error = Rules::builder().add(combat_set()).add(cycle).build().unwrap_err();
    let issue = error.issues.iter().find(|i| i.code == "cycle").unwrap();
    assert_eq!(issue.document, "Bad");
    assert!(issue.message.contains('A') && issue.message.contains('B'), "{}", issue.message);

    // A cycle over two sets exists only on a controller with both; the second set is refused there.
    let rules = Rules::builder()
        .add(AttributeSet::new("One").with(Attribute::new("A", 1.0).max("B")))
        .add(AttributeSet::new("Two").with(Attribute::new("B", 1.0).max("A")))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let (first, second) = (set(&rules, "One"), set(&rules, "Two"));
    let refused = sim.spawn(ugas_core::SpawnSpec::sets([first, second])).unwrap_err();
    assert_eq!(refused.kind(), "Cycle");
    assert_eq!(sim.controllers().count(), 0);
    let who = sim.spawn(ugas_core::SpawnSpec::sets([first])).unwrap();
    let before = sim.row_hash(who).unwrap();
    let refused = sim.run(ugas_core::Op::AddSet { who, set: second }).unwrap_err();
    assert_eq!(refused.kind(), "Cycle");
    assert_eq!(sim.row_hash(who).unwrap(), before);
    assert_eq!(sim.sets(who).unwrap(), [first]);
}

// covers: UGAS-5.5-01
#[test]
fn lists_for_players_exclude_meta_attributes() {
    let rules = Rules::builder()
        .add(
            AttributeSet::new("V")
                .with(Attribute::new("Health", 100.0).category(Category::Resource))
                .with(Attribute::new("Power", 1.0))
                .with(Attribute::new("IncomingDamage", 0.0).category(Category::Meta)),
        )
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(ugas_core::SpawnSpec::sets([set(&rules, "V")])).unwrap();
    let names = |list: Vec<ugas_core::AttributeId>| -> Vec<&str> {
        list.into_iter().map(|a| rules.attribute_name(a).unwrap()).collect()
    };
    assert_eq!(names(sim.player_attributes(who).unwrap()), ["Health", "Power"]);
    assert_eq!(names(sim.attributes(who).unwrap()), ["Health", "Power", "IncomingDamage"]);
}

// covers: UGAS-5.6-02
#[test]
fn a_change_names_old_new_effect_source_and_target() {
    let rules = world().add(Effect::instant("GE_Hit").add("Health", -30.0)).build().unwrap();
    let (mut sim, _) = one(&rules);
    let (attacker, victim) = (spawn(&mut sim), spawn(&mut sim));
    assert_eq!((attacker, victim), (ControllerId(1), ControllerId(2)));
    let key = sim.apply(&Spec::new(effect(&rules, "GE_Hit"), victim).from(attacker)).unwrap();
    let health = attribute(&rules, "Health");
    let all = facts(&mut sim);
    let changes: Vec<&Fact> = all.iter().filter(|f| matches!(f.kind, FactKind::AttributeChanged { .. })).collect();
    assert_eq!(changes.len(), 1);
    let f = changes[0];
    assert_eq!((f.source, f.who, f.key, f.effect), (attacker, victim, key, effect(&rules, "GE_Hit")));
    let (old, new) = (100.0, 70.0);
    assert_eq!(f.kind, FactKind::AttributeChanged { attribute: health, old, new, old_base: old, new_base: new });
}
