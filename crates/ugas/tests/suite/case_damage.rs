//! Chapter 14.1 as a host would write it: a damage function, and an observer that drives a health bar.

use ugas::prelude::*;

/// The values shown in the user interface.
#[derive(Default)]
struct Bar {
    percent: f64,
    numbers: Vec<f64>,
    deaths: Vec<EffectId>,
}

impl Bar {
    fn watch(&mut self, facts: &Facts, health: AttributeId, max: f64) {
        for fact in facts {
            match fact.kind {
                FactKind::AttributeChanged { attribute, old, new, .. } if attribute == health => {
                    self.percent = new / max;
                    if old > new {
                        self.numbers.push(old - new);
                    }
                }
                FactKind::Died { attribute } if attribute == health => self.deaths.push(fact.effect),
                _ => {}
            }
        }
    }
}

struct World {
    sim: Sim,
    hero: ControllerId,
    orc: ControllerId,
    health: AttributeId,
    applied: Vec<f64>,
}

impl World {
    fn new() -> World {
        let rules = Rules::builder()
            .add(
                AttributeSet::new("Vitals")
                    .with(Attribute::new("MaxHealth", 100.0))
                    .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth")),
            )
            .add(
                Effect::instant("GE_BasicDamage")
                    .add("Health", Magnitude::set_by_caller("Damage.Amount"))
                    .cue("GameplayCue.Impact.Generic"),
            )
            .add(Effect::instant("GE_Heal").add("Health", 20.0))
            .build()
            .unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let set = rules.set("Vitals").unwrap();
        let hero = sim.spawn(SpawnSpec::sets([set])).unwrap();
        let orc = sim.spawn(SpawnSpec::sets([set])).unwrap();
        World { health: rules.attribute("Health").unwrap(), sim, hero, orc, applied: Vec::new() }
    }

    /// Context, causer, spec of level 1, magnitude, application, and the report if it was applied.
    fn apply_damage(&mut self, target: ControllerId, amount: f64) -> Option<EffectKey> {
        let rules = self.sim.rules().clone();
        let mut spec = Spec::new(rules.effect("GE_BasicDamage").unwrap(), target).from(self.hero).level(1);
        spec.extra().causer = Some(ActorId::named("Arrow_17"));
        spec.put(rules.key("Damage.Amount").unwrap(), -amount);
        let key = self.sim.apply(&spec).ok()?;
        self.applied.push(amount);
        Some(key)
    }

    fn facts(&mut self) -> Facts {
        let mut facts = Facts::default();
        self.sim.take_facts(&mut facts);
        facts
    }
}

// covers: UGAS-14.1-02
#[test]
fn damage_is_reported_only_if_it_was_applied() {
    let mut world = World::new();
    let key = world.apply_damage(world.orc, 30.0).unwrap();
    assert_eq!((key.target, world.sim.get(world.orc, world.health).unwrap()), (world.orc, 70.0));
    assert_eq!(world.applied, [30.0]);
    assert!(world.apply_damage(ControllerId(99), 30.0).is_none());
    assert_eq!(world.applied, [30.0]);
}

// covers: UGAS-14.1-03
#[test]
fn the_health_bar_follows_the_facts_and_death_is_reported_once() {
    let mut world = World::new();
    let mut bar = Bar::default();
    world.facts();
    world.apply_damage(world.orc, 30.0);
    bar.watch(&world.facts(), world.health, 100.0);
    assert_eq!((bar.percent, bar.numbers.as_slice(), bar.deaths.len()), (0.7, &[30.0][..], 0));
    let heal = world.sim.rules().effect("GE_Heal").unwrap();
    world.sim.apply(&Spec::new(heal, world.orc)).unwrap();
    bar.watch(&world.facts(), world.health, 100.0);
    assert_eq!((bar.percent, bar.numbers.len()), (0.9, 1));
    world.apply_damage(world.orc, 95.0);
    bar.watch(&world.facts(), world.health, 100.0);
    world.apply_damage(world.orc, 5.0);
    bar.watch(&world.facts(), world.health, 100.0);
    assert_eq!(bar.percent, 0.0);
    assert_eq!(bar.numbers, [30.0, 90.0]);
    assert_eq!(bar.deaths, [world.sim.rules().effect("GE_BasicDamage").unwrap()]);
}
