//! Definitions created at run time: procedural items are applied, explained and moved between sims like authored
//! effects.

use crate::kit::Rng;
use crate::kit::world::World;
use ugas_core::{DefId, EffectId, InsertError, Op, Outcome, Portable, Refusal, Rules, Sim, SimConfig, Spec};
use ugas_doc::{Ability, Attribute, AttributeSet, Curve, Doc, Effect, Magnitude, TagRegistry};

fn rules() -> ugas_core::RulesBuilder {
    Rules::builder()
        .add(
            AttributeSet::new("Hero")
                .with(Attribute::new("Health", 100.0).min(0.0))
                .with(Attribute::new("WeaponDamage", 10.0))
                .with(Attribute::new("MoveSpeed", 5.0)),
        )
        .add(TagRegistry::new(["Item.Type.Sword", "DamageType.Fire"]))
        .add(Effect::infinite("GE_Aura").multiply_in("WeaponDamage", 0.1, "Gear"))
        .add(Effect::instant("GE_Keyed").add("Health", Magnitude::set_by_caller("Data.Damage")))
}

fn item(seed: u64) -> Effect {
    let mut dice = Rng(seed);
    Effect::infinite(format!("GE_Item_{seed}"))
        .multiply_in("WeaponDamage", dice.between(0.1, 0.9), "Gear")
        .add("MoveSpeed", dice.between(-1.0, 1.0))
        .grants("Item.Type.Sword")
        .grants("DamageType.Fire")
}

fn effect_of(id: DefId) -> EffectId {
    match id {
        DefId::Effect(id) => id,
        DefId::Ability(_) => panic!("an ability"),
    }
}

// covers: UGAS-9.1-04
#[test]
fn an_effect_defined_at_run_time_is_applied_and_removed_completely() {
    let mut w = World::new(rules());
    let who = w.spawn("Hero");
    w.apply("GE_Aura", who);
    let state = |w: &World| {
        let values: Vec<u64> = ["Health", "WeaponDamage", "MoveSpeed"].map(|n| w.get(who, n).to_bits()).to_vec();
        (values, w.sim.tags(who).unwrap(), w.sim.effects(who).unwrap())
    };
    let before = state(&w);
    let id = effect_of(w.sim.define(item(3)).unwrap());
    assert!(id.is_runtime());
    assert_eq!(w.sim.effect_name(id), Some("GE_Item_3"));
    let key = w.sim.apply(&Spec::new(id, who)).unwrap();
    assert_ne!(state(&w), before);
    assert!(w.has(who, "Item.Type.Sword") && w.has(who, "DamageType.Fire"));
    assert_ne!(w.get(who, "WeaponDamage"), 11.0);
    w.sim.remove(key).unwrap();
    assert_eq!(state(&w), before);
}

#[test]
fn a_definition_in_use_cannot_be_undefined() {
    let mut w = World::new(rules());
    let who = w.spawn("Hero");
    let def = w.sim.define(item(1)).unwrap();
    let key = w.sim.apply(&Spec::new(effect_of(def), who)).unwrap();
    assert_eq!(w.sim.undefine(def), Err(Refusal::InUse { who }));
    w.sim.remove(key).unwrap();
    w.sim.undefine(def).unwrap();
    assert_eq!(w.sim.apply(&Spec::new(effect_of(def), who)).unwrap_err().kind(), "UnknownName");
    assert_eq!(w.sim.undefine(def).unwrap_err().kind(), "UnknownName");
    // The id of a removed definition is not reused: an old id never refers to another item.
    let next = w.sim.define(item(2)).unwrap();
    assert_ne!(next, def);
}

#[test]
fn an_invalid_definition_is_reported_and_changes_nothing() {
    let mut w = World::new(rules());
    let before = w.sim.clone().hash();
    let mut refused = |doc: Doc, code: &str, part: &str| {
        let error = w.sim.define(doc).unwrap_err();
        assert_eq!(error.issues[0].code, code, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    refused(Effect::infinite("GE_X").add("WeaponDamge", 1.0).into(), "unknown-attribute", "did you mean WeaponDamage?");
    refused(Effect::infinite("GE_X").grants("Item.Type.Swrd").into(), "undeclared-tag", "Item.Type.Swrd");
    refused(Effect::infinite("GE_X").add("Health", f64::NAN).into(), "not-finite", "finite");
    let keyed = Effect::instant("GE_X").add("Health", Magnitude::set_by_caller("Data.Unknown"));
    refused(keyed.into(), "unknown-key", "Data.Unknown");
    refused(Curve::new("C", [(1.0, 1.0)]).into(), "bad-kind", "effects and abilities");
    let known = Effect::instant("GE_X").add("Health", Magnitude::set_by_caller("Data.Damage"));
    w.sim.define(known).unwrap();
    // Only the ops were counted; no definition was kept from the refused ones.
    let mut other = World::new(rules());
    for _ in 0..5 {
        let _ = other.sim.define(Curve::new("C", [(1.0, 1.0)]));
    }
    assert_ne!(other.sim.hash(), before);
    other.sim.define(Effect::instant("GE_X").add("Health", Magnitude::set_by_caller("Data.Damage"))).unwrap();
    assert_eq!(w.sim.hash(), other.sim.hash());
}

#[test]
fn definitions_are_serialized_as_ops_and_abilities_can_be_defined_too() {
    let mut w = World::new(rules());
    let op = Op::Define(Box::new(item(5).into()));
    let bytes = postcard::to_allocvec(&op).unwrap();
    let back: Op = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(back, op);
    let Ok(Outcome::Defined(DefId::Effect(id))) = w.sim.run(back) else { panic!("not defined") };
    assert!(id.is_runtime());
    let ability = w.sim.define(Ability::new("GA_Roll")).unwrap();
    assert!(matches!(ability, DefId::Ability(id) if id.is_runtime()));
}

#[test]
fn an_item_survives_save_and_load_and_is_explained_like_authored_ones() {
    let mut first = World::new(rules());
    let who = first.spawn("Hero");
    first.sim.define(item(1)).unwrap();
    let id = effect_of(first.sim.define(item(2)).unwrap());
    first.apply("GE_Aura", who);
    first.sim.apply(&Spec::new(id, who).from(who)).unwrap();
    let damage = first.attr("WeaponDamage");
    let before = first.sim.explain(who, damage).unwrap();
    assert!(before.short().contains("GE_Item_2") && before.short().contains("GE_Aura"), "{}", before.short());
    let bytes = postcard::to_allocvec(&first.sim.extract(who).unwrap()).unwrap();
    let saved: Portable = postcard::from_bytes(&bytes).unwrap();
    // A sim without items, one with other items under the same ids, and one with this item.
    for others in [vec![], vec![7, 8, 9], vec![9, 2]] {
        let mut second = Sim::new(first.rules.clone(), SimConfig::default());
        for seed in &others {
            second.define(item(*seed)).unwrap();
        }
        assert_eq!(second.insert(&saved), Ok(who));
        let after = second.explain(who, damage).unwrap();
        assert_eq!(after.value.to_bits(), before.value.to_bits());
        assert_eq!(after.short(), before.short());
        assert!(second.has_tag(who, first.tag("DamageType.Fire")).unwrap());
        let active = second.effects(who).unwrap();
        let found = active.iter().find(|e| e.effect.is_runtime()).unwrap();
        assert_eq!(second.effect_name(found.effect), Some("GE_Item_2"));
        second.remove(found.key).unwrap();
        assert_eq!(second.get(who, damage), Ok(11.0));
    }
}

#[test]
fn a_definition_that_does_not_match_the_rules_is_refused_at_insert() {
    let mut first = World::new(rules());
    let who = first.spawn("Hero");
    let id = effect_of(first.sim.define(item(2)).unwrap());
    first.sim.apply(&Spec::new(id, who)).unwrap();
    let saved = first.sim.extract(who).unwrap();
    let text = serde_json::to_string(&saved).unwrap();
    let broken = text.replace("MoveSpeed", "MoveSped");
    assert_ne!(text, broken);
    let broken: Portable = serde_json::from_str(&broken).unwrap();
    let mut second = Sim::new(first.rules.clone(), SimConfig::default());
    let error = second.insert(&broken).unwrap_err();
    assert!(matches!(&error, InsertError::Definition(why) if why.contains("did you mean MoveSpeed?")), "{error}");
    assert!(!second.exists(who));
    let other = rules().add(Effect::infinite("GE_More")).build().unwrap();
    let mut elsewhere = Sim::new(other, SimConfig::default());
    assert!(matches!(elsewhere.insert(&saved), Err(InsertError::OtherRules { .. })));
}
