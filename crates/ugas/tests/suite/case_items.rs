//! Chapter 15.3: procedural items. An item is a roll of stats; wearing it is an effect made at run time.

use std::collections::BTreeMap;
use std::sync::Arc;
use ugas::core::{AbilityState, DefId, Which};
use ugas::doc::GrantedAbilityEntry;
use ugas::prelude::*;

/// The rolls of the loot table.
struct Item {
    id: u64,
    slot: &'static str,
    kind: &'static str,
    stats: Vec<(&'static str, f64)>,
    abilities: Vec<&'static str>,
}

/// Worn items by their id.
#[derive(Default)]
struct Equipment(BTreeMap<u64, EffectKey>);

impl Equipment {
    fn equip(&mut self, sim: &mut Sim, who: ControllerId, item: &Item) -> Result<(), Box<dyn std::error::Error>> {
        let mut worn = Effect::infinite(format!("GE_Item_{}", item.id))
            .grants(format!("Item.Equipped.{}", item.slot))
            .grants(format!("Item.Type.{}", item.kind));
        for (attribute, bonus) in &item.stats {
            worn = worn.add(*attribute, *bonus);
        }
        worn.granted_abilities.extend(item.abilities.iter().map(|a| GrantedAbilityEntry::new(*a)));
        let DefId::Effect(worn) = sim.define(worn)? else { return Err("an effect was made".into()) };
        self.0.insert(item.id, sim.apply(&Spec::new(worn, who).from(who))?);
        Ok(())
    }

    fn unequip(&mut self, sim: &mut Sim, item: u64) -> Result<(), Refusal> {
        self.0.remove(&item).map_or(Err(Refusal::StaleHandle), |key| sim.remove(key))
    }
}

fn world() -> (Arc<Rules>, Sim, ControllerId) {
    let rules = Rules::builder()
        .add(AttributeSet::new("Stats").with(Attribute::new("AttackPower", 10.0)).with(Attribute::new("Armor", 3.0)))
        .add(TagRegistry::new(["Item.Equipped.Weapon", "Item.Equipped.Head", "Item.Type.Sword", "Item.Type.Helmet"]))
        .add(Ability::new("GA_FlameStrike").task(ugas::doc::AbilityTask::new("WaitDelay").param("Duration", 9.0)))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("Stats").unwrap()])).unwrap();
    (rules, sim, hero)
}

fn sword() -> Item {
    let stats = vec![("AttackPower", 5.0)];
    Item { id: 17, slot: "Weapon", kind: "Sword", stats, abilities: vec!["GA_FlameStrike"] }
}

fn helmet() -> Item {
    let stats = vec![("Armor", 2.0), ("AttackPower", 1.0)];
    Item { id: 4, slot: "Head", kind: "Helmet", stats, abilities: Vec::new() }
}

struct Seen {
    attack: f64,
    tags: [bool; 2],
    abilities: usize,
}

fn look(rules: &Rules, sim: &Sim, hero: ControllerId) -> Seen {
    let has = |tag: &str| sim.has_tag(hero, rules.tag(tag).unwrap()).unwrap();
    Seen {
        attack: sim.get(hero, rules.attribute("AttackPower").unwrap()).unwrap(),
        tags: [has("Item.Equipped.Weapon"), has("Item.Type.Sword")],
        abilities: sim.grants(hero).unwrap().len(),
    }
}

// covers: UGAS-15.3-06
#[test]
fn equipping_an_item_grants_its_stats_tags_and_abilities() {
    let (rules, mut sim, hero) = world();
    let mut worn = Equipment::default();
    worn.equip(&mut sim, hero, &sword()).unwrap();
    let seen = look(&rules, &sim, hero);
    assert_eq!((seen.attack, seen.tags, seen.abilities), (15.0, [true, true], 1));
    let key = worn.0[&17];
    assert_eq!(sim.effect(key).unwrap().remaining, None, "as long as it is worn");
    let grant = sim.grants(hero).unwrap()[0];
    assert_eq!((grant.ability, grant.by), (rules.ability("GA_FlameStrike").unwrap(), Some(key)));
    worn.equip(&mut sim, hero, &helmet()).unwrap();
    assert_eq!(look(&rules, &sim, hero).attack, 16.0);
    // The explanation names the item like any authored effect.
    let why = sim.explain(hero, rules.attribute("AttackPower").unwrap()).unwrap().to_string();
    assert!(why.contains("GE_Item_17") && why.contains("GE_Item_4"), "{why}");
}

// covers: UGAS-15.3-07
#[test]
fn unequipping_an_item_removes_exactly_what_it_granted() {
    let (rules, mut sim, hero) = world();
    let mut worn = Equipment::default();
    worn.equip(&mut sim, hero, &helmet()).unwrap();
    worn.equip(&mut sim, hero, &sword()).unwrap();
    let strike = rules.ability("GA_FlameStrike").unwrap();
    sim.activate(hero, strike, Target::None).unwrap();
    let grant = sim.grants(hero).unwrap()[0].id;
    worn.unequip(&mut sim, 17).unwrap();
    let seen = look(&rules, &sim, hero);
    assert_eq!((seen.attack, seen.tags, seen.abilities), (11.0, [false, false], 0), "the helmet stays");
    assert_eq!(sim.ability_state(hero, grant).unwrap(), AbilityState::NotGranted);
    assert_eq!(sim.activations(hero).unwrap().count(), 0, "what ran of it is cancelled");
    assert_eq!(sim.activate_which(hero, Which::Grant(grant), Target::None), Err(Refusal::NotGranted));
    assert_eq!(worn.unequip(&mut sim, 17), Err(Refusal::StaleHandle), "once");
    worn.unequip(&mut sim, 4).unwrap();
    assert_eq!(look(&rules, &sim, hero).attack, 10.0);
}
