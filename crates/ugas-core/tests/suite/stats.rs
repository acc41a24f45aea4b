//! Stats: the attributes of stat tables.

use crate::kit::world::World;
use ugas_core::{
    AbilityGrant, ControllerId, FactKind, Facts, Op, Refusal, Restriction, Role, Rules, RulesBuilder, Sim, SimConfig,
    SimTime, SpawnSpec, Spec, Target,
};
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, Bound, Combat, CombatRule, Effect, Modify, ModifyOperation,
    ReplicationMode, ScaledValue, Scales, Stat, StatTable,
};

fn table() -> StatTable {
    StatTable::new("Stats")
        .with(Stat::new("Stat.Haste", 1.0))
        .with(Stat { min: Some(0.5), max: Some(3.0), replicate: false, ..Stat::new("Stat.Crit", 2.0) })
        .with(Stat { modifiable: false, ..Stat::new("Stat.Mass", 80.0) })
}

fn builder() -> RulesBuilder {
    Rules::builder().add(table())
}

fn hit(amount: f64) -> Effect {
    Effect { combat: Some(Combat::default()), ..Effect::instant("GE_Hit").add("Health", -amount) }
}

fn spawn(sim: &mut Sim) -> ControllerId {
    let rules = sim.rules().clone();
    sim.spawn(SpawnSpec::default().stats([rules.set("Stats").unwrap()])).unwrap()
}

/// Returns the codes of the errors of rules.
fn errors(builder: RulesBuilder) -> Vec<(&'static str, String)> {
    let error = builder.build().expect_err("the rules have errors");
    error.issues.iter().map(|i| (i.code, i.message.clone())).collect()
}

// covers: SAI-4.1-01
#[test]
fn a_table_of_three_rows_makes_three_stats_with_their_fields() {
    let mut w = World::new(builder());
    let who = spawn(&mut w.sim);
    let rules = w.sim.rules().clone();
    let set = rules.set_attributes(rules.set("Stats").unwrap()).unwrap();
    let read: Vec<_> = set.iter().map(|a| (rules.attribute_name(a.attribute).unwrap(), a.default)).collect();
    assert_eq!(read, [("Haste", 1.0), ("Crit", 2.0), ("Mass", 80.0)]);
    let modes: Vec<_> = set.iter().map(|a| a.replication).collect();
    assert_eq!(modes, [ReplicationMode::All, ReplicationMode::None, ReplicationMode::All]);
    assert_eq!(w.sim.bounds(who, w.attr("Crit")), Ok((0.5, 3.0)));
    assert_eq!(w.sim.bounds(who, w.attr("Haste")), Ok((0.0, f64::INFINITY)), "never below 0");
    assert!(rules.is_fixed_stat(w.attr("Mass")) && !rules.is_fixed_stat(w.attr("Haste")));
    // The tag of a stat names its attribute.
    assert_eq!(w.sim.get(who, rules.attribute("Stat.Mass").unwrap()), Ok(80.0));
}

// covers: SAI-4.1-02
#[test]
fn a_tag_outside_of_stat_and_a_tag_twice_are_errors() {
    for (tag, word) in [("Damage", "write Stat."), ("Stat.", "write Stat."), ("Stat.Resist.Fire", "write Stat.")] {
        let found = errors(Rules::builder().add(StatTable::new("T").with(Stat::new(tag, 1.0))));
        assert!(found.iter().any(|(code, text)| *code == "bad-stat" && text.contains(word)), "{tag}: {found:?}");
    }
    let twice = StatTable::new("T").with(Stat::new("Stat.A", 1.0)).with(Stat::new("Stat.A", 2.0));
    let found = errors(Rules::builder().add(twice));
    assert!(found.iter().any(|(code, text)| *code == "duplicate-name" && text.contains("A twice")), "{found:?}");
    let swapped = Stat { min: Some(2.0), max: Some(1.0), ..Stat::new("Stat.A", 1.0) };
    assert_eq!(errors(Rules::builder().add(StatTable::new("T").with(swapped)))[0].0, "bad-stat");
    let found = errors(Rules::builder().add(StatTable::new("T").with(Stat::new("Stat.A", 1.0).scales("DamagDone"))));
    assert!(found[0].1.contains("did you mean DamageDone"), "{found:?}");
}

// covers: SAI-4.1-03
#[test]
fn a_stat_is_never_below_zero_with_any_modifiers() {
    let mut w = World::new(
        builder()
            .add(Effect::infinite("GE_Slow").add("Stat.Haste", -5.0))
            .add(Effect::infinite("GE_Halt").multiply("Stat.Haste", -3.0))
            .add(Effect::infinite("GE_Low").set("Stat.Haste", -7.0)),
    );
    let who = spawn(&mut w.sim);
    let haste = w.attr("Stat.Haste");
    for effect in ["GE_Slow", "GE_Halt", "GE_Low"] {
        let key = w.apply(effect, who);
        assert_eq!(w.sim.get(who, haste), Ok(0.0), "{effect}");
        w.sim.remove(key).unwrap();
        assert_eq!(w.sim.get(who, haste), Ok(1.0), "{effect}");
    }
}

// covers: SAI-4-01, SAI-4.2-04
#[test]
fn a_stat_multiplies_a_combat_value_of_its_owner() {
    let mut w = World::new(
        Rules::builder()
            .add(StatTable::new("Stats").with(Stat::new("Stat.DamageDone", 1.2).scales("DamageDone")))
            .add(AttributeSet::new("V").with(Attribute::new("Health", 1000.0)))
            .add(hit(100.0))
            .add(Effect::infinite("GE_Weak").multiply("Stat.DamageDone", -0.5)),
    );
    let rules = w.sim.rules().clone();
    let (stats, vitals) = (rules.set("Stats").unwrap(), rules.set("V").unwrap());
    let hero = w.sim.spawn(SpawnSpec::default().stats([stats])).unwrap();
    let foe = w.sim.spawn(SpawnSpec::sets([vitals])).unwrap();
    let health = w.attr("Health");
    let strike = |w: &mut World, from: ControllerId| {
        let before = w.sim.get(foe, health).unwrap();
        w.sim.apply(&Spec::new(w.effect("GE_Hit"), foe).from(from)).unwrap();
        before - w.sim.get(foe, health).unwrap()
    };
    assert_eq!(strike(&mut w, hero), 120.0);
    assert_eq!(strike(&mut w, foe), 100.0, "a source without the stat");
    w.apply("GE_Weak", hero);
    assert_eq!(strike(&mut w, hero), 60.0, "the current value counts");
}

#[test]
fn a_scale_may_be_about_some_abilities_only() {
    let scales = |abilities: &[&str], tags: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
        let value = ScaledValue { on: "CastLength".into(), abilities: list(abilities), ability_tags: list(tags) };
        Scales::Selected(value)
    };
    let stat = |name: &str, value: f64, scales: Scales| Stat { scales: Some(scales), ..Stat::new(name, value) };
    let cast = |name: &str| Ability::new(name).cast(2.0, 1);
    let mut tagged = cast("GA_Tagged");
    tagged.tags.ability_tags = vec!["Spell.Fire".into()];
    let mut w = World::new(
        Rules::builder()
            .add(StatTable::new("Stats").with(stat("Stat.One", 0.5, scales(&["GA_One"], &[]))).with(stat(
                "Stat.Fire",
                0.25,
                scales(&[], &["Spell"]),
            )))
            .add(cast("GA_One"))
            .add(cast("GA_Other"))
            .add(tagged),
    );
    let rules = w.sim.rules().clone();
    for (name, length) in [("GA_One", 1.0), ("GA_Other", 2.0), ("GA_Tagged", 0.5)] {
        let who = spawn(&mut w.sim);
        let ability = rules.ability(name).unwrap();
        w.sim.grant(who, AbilityGrant::new(ability)).unwrap();
        w.sim.activate(who, ability, Target::None).unwrap();
        let cast = w.sim.cast(who).unwrap().unwrap();
        assert_eq!(cast.timer.total.as_seconds(), length, "{name}");
    }
}

// covers: SAI-4-02
#[test]
fn a_modifier_of_a_stat_is_one_change_and_tables_are_registered_at_spawn_only() {
    let other = StatTable::new("Other").with(Stat::new("Stat.Luck", 1.0));
    let set = AttributeSet::new("V").with(Attribute::new("Health", 100.0));
    let mut w = World::new(builder().add(other).add(set).add(Effect::infinite("GE_Haste").add("Stat.Haste", 0.5)));
    let who = spawn(&mut w.sim);
    w.sim.take_facts(&mut Facts::default());
    w.apply("GE_Haste", who);
    let mut facts = Facts::default();
    w.sim.take_facts(&mut facts);
    let haste = w.attr("Haste");
    let is_change =
        |kind: &FactKind| matches!(kind, FactKind::AttributeChanged { attribute, .. } if *attribute == haste);
    assert_eq!(facts.into_iter().filter(|f| is_change(&f.kind)).count(), 1);
    let rules = w.sim.rules().clone();
    let restricted = Err(Refusal::Restricted { by: Restriction::StatTable });
    let add = |name: &str| Op::AddSet { who, set: rules.set(name).unwrap() };
    assert_eq!(w.sim.run(add("Other")), restricted);
    w.sim.run(add("V")).unwrap();
    assert_eq!(w.sim.run(Op::RemoveSet { who, set: rules.set("Stats").unwrap(), force: true }), restricted);
}

#[test]
fn a_stat_table_is_no_attribute_set_of_a_document() {
    use ugas_doc::{AbilitySet, Controller};
    let set = AbilitySet { attribute_sets: vec!["Stats".into()], ..AbilitySet::new("AS_Item") };
    let hero = Controller::new("Hero").set("Stats");
    for found in [errors(builder().add(set)), errors(builder().add(hero))] {
        assert!(found.iter().any(|(code, text)| *code == "unknown-set" && text.contains("stat table")), "{found:?}");
    }
    let hero = Controller::new("Hero").stats("Stats");
    let rules = builder().add(hero).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::template(rules.template("Hero").unwrap())).unwrap();
    assert_eq!(sim.get(who, rules.attribute("Crit").unwrap()), Ok(2.0));
}

// covers: SAI-4.2-01, SAI-4.1-05
#[test]
fn a_client_does_not_change_stats_and_knows_their_defaults() {
    let rules = builder().add(Effect::infinite("GE_Haste").add("Stat.Haste", 0.5)).build().unwrap();
    let config = SimConfig { role: Role::Client, ..SimConfig::default() };
    let mut client = Sim::new(rules.clone(), config);
    let haste = rules.attribute("Stat.Haste").unwrap();
    assert_eq!(rules.stat_default(haste), Some(1.0), "before any state arrived");
    let who = spawn(&mut client);
    let effect = rules.effect("GE_Haste").unwrap();
    assert_eq!(client.apply(&Spec::new(effect, who)), Err(Refusal::AuthoritativeOnly));
    assert_eq!(client.get(who, haste), Ok(1.0));
    assert!(rules.is_for_authority(effect));
}

// covers: SAI-4.2-02
#[test]
fn a_fixed_stat_is_not_modified() {
    let found = errors(builder().add(Effect::infinite("GE_Heavy").add("Stat.Mass", 5.0)));
    assert!(found.iter().any(|(code, text)| *code == "fixed-stat" && text.contains("Modifiable")), "{found:?}");
    // `Mass` may also be a plain attribute of another controller, so that only the application tells.
    let plain = AttributeSet::new("Rock").with(Attribute::new("Mass", 5.0));
    let mut w = World::new(builder().add(plain).add(Effect::infinite("GE_Heavy").add("Mass", 5.0)));
    let (who, rock) = (spawn(&mut w.sim), w.spawn("Rock"));
    let (effect, mass) = (w.effect("GE_Heavy"), w.attr("Mass"));
    assert_eq!(w.sim.apply(&Spec::new(effect, who)), Err(Refusal::Static { attribute: mass }));
    assert_eq!(w.sim.get(who, mass), Ok(80.0));
    w.sim.apply(&Spec::new(effect, rock)).unwrap();
    assert_eq!(w.sim.get(rock, mass), Ok(10.0));
}

#[test]
fn a_calculation_does_not_write_a_fixed_stat() {
    let mut w = World::new(builder().add(Effect::instant("GE_Calc").execute("ExecCalc_Mass")).calc_fn(
        "ExecCalc_Mass",
        [],
        |cx| cx.add("Mass", 1.0),
    ));
    let who = spawn(&mut w.sim);
    let (effect, mass) = (w.effect("GE_Calc"), w.attr("Mass"));
    let _ = w.sim.apply(&Spec::new(effect, who));
    assert_eq!(w.sim.get(who, mass), Ok(80.0));
}

// covers: SAI-4.2-03
#[test]
fn a_rule_about_a_stat_is_an_error_that_names_the_modifier() {
    let modify = Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(1.25) };
    let rule = CombatRule {
        on: "StatValue".into(),
        attribute: Some("Stat.Haste".into()),
        modify: Some(modify),
        ..CombatRule::default()
    };
    let found = errors(builder().add(Effect { rules: vec![rule], ..Effect::infinite("GE_Haste") }));
    let (code, text) = &found[0];
    assert_eq!(*code, "stat-by-rule");
    assert!(
        text.contains("{Attribute: Stat.Haste, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: 0.25}}"),
        "{text}"
    );
}

#[test]
fn a_stat_that_scales_charges_changes_the_maximum_at_once() {
    let mut w = World::new(
        Rules::builder()
            .add(StatTable::new("Stats").with(Stat::new("Stat.Charges", 1.0).scales("MaxCharges")))
            .add(Ability::new("GA_Dash").charges(2, 10.0))
            .add(Effect::infinite("GE_More").add("Stat.Charges", 1.0)),
    );
    let who = spawn(&mut w.sim);
    let dash = w.sim.rules().ability("GA_Dash").unwrap();
    let grant = w.sim.grant(who, AbilityGrant::new(dash)).unwrap();
    let max = |w: &World| w.sim.charges(who, grant).unwrap().unwrap().max;
    assert_eq!(max(&w), 2);
    let key = w.apply("GE_More", who);
    assert_eq!(max(&w), 4);
    w.sim.remove(key).unwrap();
    assert_eq!(max(&w), 2);
}

#[test]
fn a_cost_scaled_by_a_stat_updates_the_castable_status() {
    let mut w = World::new(
        Rules::builder()
            .add(StatTable::new("Stats").with(Stat::new("Stat.Cost", 1.0).scales("ResourceCost")))
            .add(AttributeSet::new("V").with(Attribute::new("Mana", 20.0).min(0.0)))
            .add(Effect::instant("GE_Cost").add("Mana", -30.0))
            .add(Ability::new("GA_Spell").cost("GE_Cost"))
            .add(Effect::infinite("GE_Cheap").multiply("Stat.Cost", -0.5)),
    );
    let rules = w.sim.rules().clone();
    let spec = SpawnSpec::sets([rules.set("V").unwrap()]).stats([rules.set("Stats").unwrap()]);
    let who = w.sim.spawn(spec).unwrap();
    let spell = rules.ability("GA_Spell").unwrap();
    w.sim.grant(who, AbilityGrant::new(spell)).unwrap();
    let mana = w.attr("Mana");
    let refused = w.sim.activate(who, spell, Target::None);
    assert_eq!(refused, Err(Refusal::Cost { attribute: mana, have: 20.0, need: 30.0 }));
    w.apply("GE_Cheap", who);
    w.sim.activate(who, spell, Target::None).unwrap();
    assert_eq!(w.sim.get(who, mana), Ok(5.0));
}

#[test]
fn expressions_and_bounds_may_name_a_stat_by_its_tag() {
    let set = AttributeSet::new("V")
        .with(Attribute::new("Mana", 100.0).min(0.0).max("Stat.MaxMana"))
        .with(Attribute::derived("Power", "Stat.Haste * 10 + self.Stat.MaxMana"));
    let stats = StatTable::new("Stats").with(Stat::new("Stat.Haste", 2.0)).with(Stat::new("Stat.MaxMana", 60.0));
    let heal = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_More");
    let mut w = World::new(
        Rules::builder()
            .add(stats)
            .add(set)
            .add(Effect::infinite("GE_More").add("Stat.MaxMana", 30.0))
            .add(Ability::new("GA_More").task(heal)),
    );
    assert_eq!(Bound::from("Stat.MaxMana"), Bound::Attribute("Stat.MaxMana".into()));
    let rules = w.sim.rules().clone();
    let spec = SpawnSpec::sets([rules.set("V").unwrap()]).stats([rules.set("Stats").unwrap()]);
    let who = w.sim.spawn(spec).unwrap();
    let (mana, power) = (w.attr("Mana"), w.attr("Power"));
    assert_eq!((w.sim.get(who, mana), w.sim.get(who, power)), (Ok(60.0), Ok(80.0)));
    w.apply("GE_More", who);
    assert_eq!((w.sim.get(who, mana), w.sim.get(who, power)), (Ok(60.0), Ok(110.0)));
}

/// Damage over time whose source is destroyed. Two tables have the stat, but the source had one of them.
#[test]
fn a_stat_in_two_tables_multiplies_the_damage_of_a_destroyed_source_once() {
    let burn = Effect::lasting("GE_Burn", 10.0).every(1.0).add("Health", -100.0);
    let damage = |value: f64| Stat::new("Stat.Damage", value).scales("DamageDone");
    let mut w = World::new(
        Rules::builder()
            .add(StatTable::new("Fighter").with(damage(1.5)).with(Stat::new("Stat.Size", 1.0)))
            .add(StatTable::new("Boss").with(damage(2.0)).with(Stat::new("Stat.Mass", 1.0)))
            .add(StatTable::new("Pet").with(damage(3.0)))
            .add(AttributeSet::new("V").with(Attribute::new("Health", 10_000.0)))
            .add(Effect { combat: Some(Combat::default()), ..burn }),
    );
    let rules = w.sim.rules().clone();
    let health = w.attr("Health");
    for (table, factor) in [("Fighter", 1.5), ("Boss", 2.0), ("Pet", 3.0)] {
        let foe = w.sim.spawn(SpawnSpec::sets([rules.set("V").unwrap()])).unwrap();
        let source = w.sim.spawn(SpawnSpec::default().stats([rules.set(table).unwrap()])).unwrap();
        w.sim.apply(&Spec::new(w.effect("GE_Burn"), foe).from(source)).unwrap();
        let lost = |w: &mut World| {
            let before = w.sim.get(foe, health).unwrap();
            let now = w.sim.now();
            w.sim.advance_to(now + SimTime::seconds(1.0));
            before - w.sim.get(foe, health).unwrap()
        };
        assert_eq!(lost(&mut w), 100.0 * factor, "{table}");
        w.sim.despawn(source).unwrap();
        assert_eq!(lost(&mut w), 100.0 * factor, "{table}, destroyed");
    }
}

// The lower bound counts as 0 before and after its change, so the range does not change.
#[test]
fn a_bound_that_moves_below_zero_does_not_rescale_a_value_that_is_not_negative() {
    let energy = Attribute::new("Energy", 30.0).min("Floor").max(100.0).proportional().non_negative();
    let mut w = World::new(
        Rules::builder()
            .add(AttributeSet::new("V").with(Attribute::new("Floor", -10.0)).with(energy))
            .add(Effect::instant("GE_Lower").add("Floor", -10.0)),
    );
    let set = w.sim.rules().set("V").unwrap();
    let who = w.sim.spawn(SpawnSpec::sets([set])).unwrap();
    w.apply("GE_Lower", who);
    assert_eq!(w.sim.get(who, w.attr("Energy")), Ok(30.0));
}
