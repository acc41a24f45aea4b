//! Numbers that are not finite or near the limits of finite numbers, in `ModifyResource`, initial values and bounds.

use crate::kit::world::World;
use ugas_core::{Op, Refusal, ResourceSpec, Restriction, Rules, SpawnSpec, TagId};
use ugas_doc::{Attribute, AttributeSet, Controller, Resource, ResourceValues, Stat, StatTable};

const NOT_FINITE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn mana() -> Resource {
    Resource::new("Mana", 100.0).max(100.0).min(0.0)
}

fn world() -> World {
    World::new(Rules::builder().add(mana()).add(AttributeSet::new("V").with(Attribute::new("Health", 1.0))))
}

#[test]
fn modify_resource_refuses_numbers_that_are_not_finite() {
    let mut w = world();
    let who = w.spawn("Mana");
    let attribute = w.attr("Mana");
    let before = w.sim.row_hash(who);
    for by in NOT_FINITE {
        for plain in [false, true] {
            let op = Op::ModifyResource { who, attribute, by, source: None, tags: Vec::new(), plain };
            assert_eq!(w.sim.run(op), Err(Refusal::NonFinite { attribute: Some(attribute) }), "{by}");
        }
    }
    assert_eq!(w.sim.row_hash(who), before);
}

#[test]
fn modify_resource_by_the_largest_numbers_stays_within_the_bounds() {
    let mut w = world();
    let who = w.spawn("Mana");
    let attribute = w.attr("Mana");
    for (by, value) in [(1e308, 100.0), (-1e308, 0.0), (1e308, 100.0), (-f64::MAX, 0.0), (f64::MAX, 100.0)] {
        let op = Op::ModifyResource { who, attribute, by, source: None, tags: Vec::new(), plain: false };
        w.sim.run(op).unwrap();
        assert_eq!((w.get(who, "Mana"), w.base(who, "Mana")), (value, value));
    }
    // Without a maximum, a sum that is not finite is refused.
    let mut w = World::new(Rules::builder().add(Resource::new("Mana", 1e308)));
    let who = w.spawn("Mana");
    let attribute = w.attr("Mana");
    for plain in [false, true] {
        let op = Op::ModifyResource { who, attribute, by: 1e308, source: None, tags: Vec::new(), plain };
        assert_eq!(w.sim.run(op), Err(Refusal::NonFinite { attribute: Some(attribute) }));
        assert_eq!(w.get(who, "Mana"), 1e308);
    }
    w.sim.run(Op::ModifyResource { who, attribute, by: -1e308, source: None, tags: Vec::new(), plain: true }).unwrap();
    assert_eq!(w.get(who, "Mana"), 0.0);
}

#[test]
fn modify_resource_refuses_unknown_ids() {
    let mut w = world();
    let who = w.sim.spawn(SpawnSpec::sets([w.set("Mana"), w.set("V")])).unwrap();
    let (mana, health) = (w.attr("Mana"), w.attr("Health"));
    let op = |who, attribute, source, tags: &[TagId]| Op::ModifyResource {
        who,
        attribute,
        by: 1.0,
        source,
        tags: tags.to_vec(),
        plain: false,
    };
    let unknown = ugas_core::AttributeId(u32::MAX - 1);
    assert_eq!(w.sim.run(op(who, unknown, None, &[])), Err(Refusal::UnknownAttribute { who, attribute: unknown }));
    let not_resource = Err(Refusal::Restricted { by: Restriction::NotResource });
    assert_eq!(w.sim.run(op(who, health, None, &[])), not_resource);
    assert_eq!(w.sim.run(op(who, w.attr("MaxMana"), None, &[])), not_resource, "a bound is not the resource");
    assert_eq!(w.sim.run(op(ugas_core::ControllerId(77), mana, None, &[])), Err(Refusal::StaleHandle));
    assert_eq!(w.sim.run(op(who, mana, Some(ugas_core::ControllerId(77)), &[])), Err(Refusal::StaleHandle));
    let tag = TagId(u32::MAX - 1);
    assert!(matches!(w.sim.run(op(who, mana, None, &[tag])), Err(Refusal::UnknownName { .. })));
    assert_eq!(w.get(who, "Mana"), 100.0);
}

#[test]
fn initial_values_and_bounds_of_a_spawn_must_be_finite() {
    let mut w = world();
    let set = w.set("Mana");
    let refused = |w: &mut World, spec: ResourceSpec| w.sim.spawn(SpawnSpec::default().resource(spec)).unwrap_err();
    for value in NOT_FINITE {
        let at = |initial, max, min| ResourceSpec { resource: set, initial, max, min };
        for (spec, name) in [
            (at(Some(value), None, None), "Mana"),
            (at(None, Some(value), None), "MaxMana"),
            (at(None, None, Some(value)), "MinMana"),
        ] {
            let attribute = Some(w.attr(name));
            assert_eq!(refused(&mut w, spec), Refusal::NonFinite { attribute }, "{name} {value}");
        }
    }
    let vitals = ResourceSpec::new(w.set("V"));
    assert_eq!(refused(&mut w, vitals), Refusal::Restricted { by: Restriction::NotResource });
    let nothing = ResourceSpec::new(ugas_core::SetId(u32::MAX - 1));
    assert!(matches!(refused(&mut w, nothing), Refusal::UnknownName { .. }));
    assert_eq!(w.sim.controllers().count(), 0);
}

#[test]
fn the_largest_initial_values_and_bounds_are_clamped() {
    let mut w = world();
    let set = w.set("Mana");
    let spawn = |w: &mut World, initial: f64, max: f64, min: f64| {
        let spec = ResourceSpec { resource: set, initial: Some(initial), max: Some(max), min: Some(min) };
        let who = w.sim.spawn(SpawnSpec::default().resource(spec)).unwrap();
        (w.get(who, "Mana"), w.get(who, "MaxMana"), w.get(who, "MinMana"))
    };
    assert_eq!(spawn(&mut w, 1e308, 1e308, -1e308), (1e308, 1e308, 0.0));
    assert_eq!(spawn(&mut w, -1e308, 1e308, -1e308), (0.0, 1e308, 0.0));
    assert_eq!(spawn(&mut w, 5.0, -1e308, -1e308), (0.0, 0.0, 0.0));
    assert_eq!(spawn(&mut w, 5.0, 1.0, 1e308), (1e308, 1.0, 1e308), "the lower bound wins");
}

#[test]
fn initial_values_and_bounds_of_documents_must_be_finite() {
    for value in NOT_FINITE {
        let documents = [
            Resource { initial: value, ..mana() },
            Resource { max: Some(value), ..mana() },
            Resource { min: Some(value), ..mana() },
        ];
        for doc in documents {
            let error = Rules::builder().add(doc).build().unwrap_err();
            assert!(error.issues.iter().any(|i| i.code == "not-finite"), "{value}: {error}");
        }
        for values in [
            ResourceValues { initial: Some(value), ..ResourceValues::new("Mana") },
            ResourceValues { max: Some(value), ..ResourceValues::new("Mana") },
            ResourceValues { min: Some(value), ..ResourceValues::new("Mana") },
        ] {
            let doc = Controller::new("Mob").resource(values);
            let error = Rules::builder().add(mana()).add(doc).build().unwrap_err();
            assert!(error.issues.iter().any(|i| i.code == "not-finite"), "{value}: {error}");
        }
    }
    let large = Resource { initial: 1e308, max: Some(1e308), min: Some(-1e308), ..mana() };
    assert!(Rules::builder().add(large).build().is_ok());
}

#[test]
fn a_bound_that_follows_the_largest_stat_keeps_the_value_finite() {
    let table = StatTable::new("T").with(Stat::new("Stat.Size", 1e308));
    let mut w = World::new(
        Rules::builder()
            .add(table)
            .add(Resource::new("Mana", 50.0).max(100.0).max_stat("Stat.Size"))
            .add(ugas_doc::Effect::infinite("GE_Small").multiply("Stat.Size", -1.0))
            .add(ugas_doc::Effect::infinite("GE_Large").multiply("Stat.Size", 1e300)),
    );
    let (table, mana) = (w.set("T"), ResourceSpec::new(w.set("Mana")));
    let who = w.sim.spawn(SpawnSpec::default().stats([table]).resource(mana)).unwrap();
    let large = w.apply("GE_Large", who);
    assert!(w.get(who, "Mana").is_finite() && w.get(who, "MaxMana").is_finite());
    w.sim.run(Op::Remove { key: large, stacks: None }).unwrap();
    let small = w.apply("GE_Small", who);
    assert_eq!((w.get(who, "MaxMana"), w.get(who, "Mana")), (0.0, 0.0));
    w.sim.run(Op::Remove { key: small, stacks: None }).unwrap();
    assert!(w.get(who, "Mana").is_finite() && w.base(who, "Mana") >= 0.0);
}
