//! Controllers: lifecycle order, owner and avatar, discovery, and the dependencies of the crate.

use crate::kit::*;
use std::collections::BTreeSet;
use ugas_core::{
    AbilityGrant, ActorId, Anchor, ControllerId, EffectFilter, EffectUpdate, FactKind, LifecycleStep, Op, ReadError,
    Refusal, RemoveReason, Sim, SimConfig, SimTime, SpawnSpec, Spec, TraceKind,
};
use ugas_doc::{Ability, Attribute, AttributeSet, Controller, Effect};

fn steps(sim: &mut Sim) -> Vec<LifecycleStep> {
    let mut trace = Vec::new();
    sim.take_trace(&mut trace);
    trace
        .into_iter()
        .filter_map(|t| match t.kind {
            TraceKind::Lifecycle(step) => Some(step),
            _ => None,
        })
        .collect()
}

fn traced() -> SimConfig {
    SimConfig { trace: true, ..SimConfig::default() }
}

#[test]
fn an_idle_sim_emits_no_facts_and_one_hit_emits_one() {
    let rules = world()
        .add(Effect::instant("GE_Hit").add("Health", -10.0))
        .add(Effect::infinite("GE_Aura").add("AttackPower", 1.0).grants("State.Buff"))
        .build()
        .unwrap();
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Aura", hero);
    facts(&mut sim);
    for frame in 1..=100 {
        go_to(&mut sim, SimTime::frames(frame, 60));
        assert_eq!(facts(&mut sim), []);
    }
    apply(&mut sim, "GE_Hit", hero);
    let health = attribute(&rules, "Health");
    assert_eq!(sim.facts().changes_of(health, Some(hero)).count(), 1);
}

/// Names of the `[section]` tables' keys of a manifest.
fn keys_of(manifest: &str, section: &str) -> BTreeSet<String> {
    let mut here = false;
    let mut keys = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            here = line == format!("[{section}]");
        } else if here && let Some((key, _)) = line.split_once('=') {
            keys.insert(key.trim().split('.').next().unwrap_or("").to_owned());
        }
    }
    keys
}

/// A package of the lock file and its dependencies.
fn locked(lock: &str, name: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for package in lock.split("[[package]]").filter(|p| p.contains(&format!("name = \"{name}\"\n"))) {
        let list = package.split_once("dependencies = [").map_or("", |(_, rest)| rest.split(']').next().unwrap_or(""));
        out.extend(list.split('"').skip(1).step_by(2).filter_map(|d| d.split(' ').next()).map(str::to_owned));
    }
    out
}

// covers: UGAS-1-04
#[test]
fn the_core_needs_no_engine_graphics_audio_or_physics() {
    let root = env!("CARGO_MANIFEST_DIR");
    let manifest = std::fs::read_to_string(format!("{root}/Cargo.toml")).unwrap();
    let direct = keys_of(&manifest, "dependencies");
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(direct, names(&["libm", "serde", "serde_json", "ugas-doc"]));
    assert!(keys_of(&manifest, "build-dependencies").is_empty());

    // The documents need serde; schemas of them are made behind a feature that the core does not ask for.
    let documents = std::fs::read_to_string(format!("{root}/../ugas-doc/Cargo.toml")).unwrap();
    let always: String =
        documents.lines().filter(|l| !l.contains("optional = true")).map(|l| format!("{l}\n")).collect();
    assert_eq!(keys_of(&always, "dependencies"), names(&["serde"]));
    let lock = std::fs::read_to_string(format!("{root}/../../Cargo.lock")).unwrap();
    let mut tree = direct;
    loop {
        let more: BTreeSet<String> = tree.iter().filter(|p| *p != "ugas-doc").flat_map(|p| locked(&lock, p)).collect();
        if more.is_subset(&tree) {
            break;
        }
        tree.extend(more);
    }
    // Number formatting and the derive macro are all that comes along.
    let known = names(&[
        "itoa",
        "libm",
        "memchr",
        "proc-macro2",
        "quote",
        "ryu",
        "serde",
        "serde_core",
        "serde_derive",
        "serde_json",
        "syn",
        "ugas-doc",
        "unicode-ident",
        "zmij",
    ]);
    let unknown: Vec<_> = tree.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

// covers: UGAS-4.1-04
#[test]
fn effects_are_applied_and_removed_by_key() {
    let rules = world().add(Effect::infinite("GE_Strong").add("AttackPower", 10.0)).build().unwrap();
    let (mut sim, hero) = one(&rules);
    let key = apply(&mut sim, "GE_Strong", hero);
    assert_eq!(get(&sim, hero, "AttackPower"), 20.0);
    sim.remove(key).unwrap();
    assert_eq!(get(&sim, hero, "AttackPower"), 10.0);
}

// covers: UGAS-4.3-01
#[test]
fn a_controller_is_made_in_six_steps_in_order() {
    let rules = world()
        .add(AttributeSet::new("Extra").with(Attribute::new("Luck", 1.0)))
        .add(Ability::new("GA_Fire"))
        .add(Effect::infinite("GE_Aura").add("AttackPower", 5.0).grants("State.Buff"))
        .add(Controller::new("Hero").set("Combat").set("Extra").ability("GA_Fire").effect("GE_Aura"))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), traced());
    let hero = sim.spawn(SpawnSpec::template(rules.template("Hero").unwrap())).unwrap();
    assert_eq!(
        steps(&mut sim),
        [
            LifecycleStep::Instantiated,
            LifecycleStep::SetRegistered(set(&rules, "Combat")),
            LifecycleStep::SetRegistered(set(&rules, "Extra")),
            LifecycleStep::ActorsSet,
            LifecycleStep::AbilityGranted(rules.ability("GA_Fire").unwrap()),
            LifecycleStep::EffectApplied(effect(&rules, "GE_Aura")),
            LifecycleStep::ReplicationConfigured,
        ]
    );
    assert_eq!(sim.owner(hero).unwrap(), Some(ActorId::named("Hero")));
    assert_eq!(get(&sim, hero, "AttackPower"), 15.0);
    assert_eq!(sim.grants(hero).unwrap().len(), 1);
}

// covers: UGAS-4.3-03
#[test]
fn a_change_of_avatar_has_four_steps() {
    let mut bound = Effect::infinite("GE_Ground").add("Defense", 5.0);
    bound.bound_to_avatar_location = true;
    let rules = world().add(bound).build().unwrap();
    let mut sim = Sim::new(rules.clone(), traced());
    let spec = SpawnSpec {
        sets: vec![set(&rules, "Combat")],
        owner: Some(ActorId(1)),
        avatar: Some(ActorId(2)),
        ..SpawnSpec::default()
    };
    let hero = sim.spawn(spec).unwrap();
    let ground = effect(&rules, "GE_Ground");
    let key = sim.apply(&Spec::new(ground, hero).origin([1.0, 0.0, 0.0])).unwrap();
    steps(&mut sim);
    facts(&mut sim);
    sim.run(Op::Possess { who: hero, avatar: Some(ActorId(3)) }).unwrap();
    assert_eq!(
        steps(&mut sim),
        [
            LifecycleStep::AvatarCleared,
            LifecycleStep::AvatarEffectsRevalidated,
            LifecycleStep::AvatarSet,
            LifecycleStep::AvatarAbilitiesRevalidated,
        ]
    );
    // The effect bound to the old place went while there was no avatar, so before the new one was set.
    let facts = facts(&mut sim);
    let at = |p: &dyn Fn(&FactKind) -> bool| facts.iter().position(|f| p(&f.kind)).unwrap();
    let removed = at(&|k| *k == FactKind::EffectRemoved { reason: RemoveReason::Avatar });
    let possessed = at(&|k| *k == FactKind::Possessed { old: ActorId(2), new: ActorId(3) });
    assert!(removed < possessed);
    assert_eq!(sim.effect(key), Err(ReadError::StaleHandle));
    assert_eq!(sim.avatar(hero).unwrap(), Some(ActorId(3)));
}

#[test]
fn destruction_removes_effects_then_abilities_then_subscriptions() {
    let rules = world()
        .add(Ability::new("GA_Fire"))
        .add(Effect::infinite("GE_A").add("AttackPower", 5.0))
        .add(Effect::infinite("GE_B").grants("State.Buff"))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), traced());
    let fire = rules.ability("GA_Fire").unwrap();
    let mut spec = SpawnSpec::sets([set(&rules, "Combat")]);
    spec.abilities.push(AbilityGrant { ability: fire, level: 1, input: None });
    let hero = sim.spawn(spec).unwrap();
    apply(&mut sim, "GE_A", hero);
    apply(&mut sim, "GE_B", hero);
    steps(&mut sim);
    facts(&mut sim);
    sim.despawn(hero).unwrap();
    assert_eq!(
        steps(&mut sim),
        [
            LifecycleStep::EffectsRemoved,
            LifecycleStep::AbilitiesRevoked,
            LifecycleStep::SubscriptionsCleared,
            LifecycleStep::ReplicationEnded,
        ]
    );
    let names: Vec<&str> = kinds(&mut sim).iter().map(FactKind::name).collect();
    assert_eq!(
        names,
        ["AttributeChanged", "EffectRemoved", "TagChanged", "TagChanged", "EffectRemoved", "Revoked", "Despawned"]
    );
}

// covers: UGAS-4.3-07
#[test]
fn destruction_emits_the_removed_tags_and_no_fact_after_it() {
    let rules = world().add(Effect::infinite("GE_Buff").grants("State.Buff")).build().unwrap();
    let (mut sim, hero) = one(&rules);
    apply(&mut sim, "GE_Buff", hero);
    facts(&mut sim);
    sim.despawn(hero).unwrap();
    let list = facts(&mut sim);
    let buff = tag(&rules, "State.Buff");
    let gone = FactKind::TagChanged { tag: buff, added: false, exact: true, presence: true };
    assert!(list.iter().any(|f| f.who == hero && f.kind == gone));
    assert_eq!(list.last().unwrap().kind, FactKind::Despawned);

    let buff = effect(&rules, "GE_Buff");
    assert_eq!(sim.apply(&Spec::new(buff, hero)), Err(Refusal::StaleHandle));
    go(&mut sim, 10.0);
    assert_eq!(facts(&mut sim), []);
    assert_eq!(sim.get(hero, attribute(&rules, "Health")), Err(ReadError::StaleHandle));
}

// covers: UGAS-4.4-01 UGAS-4.4-02
#[test]
fn an_actor_id_resolves_to_its_controller_or_to_none() {
    let rules = world().build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let combat = set(&rules, "Combat");
    let spawn = |sim: &mut Sim, owner, avatar| {
        let sets = vec![combat];
        sim.spawn(SpawnSpec { sets, owner: Some(owner), avatar, ..SpawnSpec::default() }).unwrap()
    };
    let player = spawn(&mut sim, ActorId(10), Some(ActorId(11)));
    let monsters: Vec<ControllerId> = (20..30).map(|a| spawn(&mut sim, ActorId(a), None)).collect();
    assert_eq!(sim.controller_of(ActorId(10)), Some(player));
    assert_eq!(sim.controller_of(ActorId(11)), Some(player));
    assert_eq!(sim.controller_of(ActorId(99)), None);
    assert_eq!(sim.controller_of(ActorId::NONE), None);
    for (i, &m) in monsters.iter().enumerate() {
        assert_eq!(sim.controller_of(ActorId(20 + i as u64)), Some(m));
    }
    sim.despawn(monsters[3]).unwrap();
    assert_eq!(sim.controller_of(ActorId(23)), None);
    sim.run(Op::Possess { who: player, avatar: Some(ActorId(12)) }).unwrap();
    assert_eq!(sim.controller_of(ActorId(11)), None);
    assert_eq!(sim.controller_of(ActorId(12)), Some(player));
    sim.despawn(player).unwrap();
    assert_eq!(sim.controller_of(ActorId(10)), None);
}

#[test]
fn owner_avatar_and_position_are_independent() {
    let rules = world().build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let spec = SpawnSpec {
        sets: vec![set(&rules, "Combat")],
        owner: Some(ActorId(1)),
        avatar: Some(ActorId(2)),
        anchor: Some(Anchor::at([1.0, 2.0, 3.0])),
        ..SpawnSpec::default()
    };
    let hero = sim.spawn(spec).unwrap();
    assert_eq!(sim.owner(hero).unwrap(), Some(ActorId(1)));
    assert_eq!(sim.avatar(hero).unwrap(), Some(ActorId(2)));
    sim.run(Op::Possess { who: hero, avatar: None }).unwrap();
    assert_eq!(sim.owner(hero).unwrap(), Some(ActorId(1)));
    assert_eq!(sim.avatar(hero).unwrap(), None);
    sim.run(Op::Move { who: hero, anchor: Some(Anchor::at([4.0, 0.0, 0.0])) }).unwrap();
    assert_eq!(sim.anchor(hero).unwrap().unwrap().position, [4.0, 0.0, 0.0]);
}

// covers: UGAS-4.2-02
#[test]
fn one_actor_may_be_owner_and_avatar() {
    let rules = world()
        .add(AttributeSet::new("Extra").with(Attribute::new("Luck", 1.0)))
        .add(Effect::instant("GE_Hit").add("Health", -10.0))
        .add(Effect::lasting("GE_Slow", 5.0).multiply("AttackPower", -0.5).grants("State.Debuff.Stunned"))
        .add(Effect::lasting("GE_Poison", 10.0).every(1.0).add("Health", -1.0))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let sets = vec![set(&rules, "Combat")];
    let orc = sim.spawn(SpawnSpec { sets, owner: Some(ActorId(7)), ..SpawnSpec::default() }).unwrap();
    assert_eq!(sim.owner(orc), sim.avatar(orc));

    let hit = effect(&rules, "GE_Hit");
    sim.apply(&Spec::new(hit, orc).from(orc)).unwrap();
    assert_eq!(get(&sim, orc, "Health"), 90.0);
    let slow = apply(&mut sim, "GE_Slow", orc);
    assert_eq!(get(&sim, orc, "AttackPower"), 5.0);
    assert!(sim.has_tag(orc, tag(&rules, "State.Debuff")).unwrap());
    let poison = apply(&mut sim, "GE_Poison", orc);
    go(&mut sim, 3.0);
    assert_eq!(get(&sim, orc, "Health"), 87.0);
    sim.run(Op::Change { key: slow, change: EffectUpdate::Extend(SimTime::seconds(5.0)) }).unwrap();
    go(&mut sim, 9.0);
    assert!(sim.effect(slow).is_ok());
    sim.remove(poison).unwrap();
    let extra = set(&rules, "Extra");
    sim.run(Op::AddSet { who: orc, set: extra }).unwrap();
    sim.run(Op::RemoveSet { who: orc, set: extra, force: false }).unwrap();
    sim.run(Op::RemoveMatching { who: orc, filter: EffectFilter::default() }).unwrap();
    assert_eq!(sim.effects(orc).unwrap().len(), 0);
    assert_eq!(get(&sim, orc, "AttackPower"), 10.0);
    sim.despawn(orc).unwrap();
    assert!(!sim.exists(orc));
}

// covers: UGAS-4.2-03
#[test]
fn a_controller_survives_the_loss_of_its_avatar() {
    let rules = world()
        .add(Ability::new("GA_Fire"))
        .add(Effect::instant("GE_Train").add("AttackPower", 7.0))
        .add(Effect::infinite("GE_Aura").add("Defense", 5.0).grants("State.Buff"))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let fire = rules.ability("GA_Fire").unwrap();
    let hero = sim
        .spawn(SpawnSpec {
            sets: vec![set(&rules, "Combat")],
            owner: Some(ActorId(1)),
            avatar: Some(ActorId(2)),
            abilities: vec![AbilityGrant { ability: fire, level: 3, input: None }],
            ..SpawnSpec::default()
        })
        .unwrap();
    apply(&mut sim, "GE_Train", hero);
    apply(&mut sim, "GE_Aura", hero);
    let seen = |sim: &Sim| {
        let base: Vec<f64> = sim.attributes(hero).unwrap().iter().map(|&a| sim.base(hero, a).unwrap()).collect();
        (sim.grants(hero).unwrap(), sim.effects(hero).unwrap(), base, sim.tags(hero).unwrap())
    };
    let before = seen(&sim);
    sim.run(Op::Possess { who: hero, avatar: None }).unwrap();
    sim.run(Op::Possess { who: hero, avatar: Some(ActorId(5)) }).unwrap();
    assert_eq!(seen(&sim), before);
    assert_eq!(sim.avatar(hero).unwrap(), Some(ActorId(5)));
}

#[test]
fn an_inactive_controller_keeps_the_time_its_effects_have_left() {
    let rules = world().add(Effect::lasting("GE_Buff", 5.0).every(1.0).add("Health", -1.0)).build().unwrap();
    let (mut sim, hero) = one(&rules);
    let key = apply(&mut sim, "GE_Buff", hero);
    go(&mut sim, 2.0);
    sim.run(Op::SetActive { who: hero, active: false }).unwrap();
    go(&mut sim, 100.0);
    assert_eq!(sim.effect(key).unwrap().remaining, Some(SimTime::seconds(3.0)));
    assert_eq!(get(&sim, hero, "Health"), 98.0);
    sim.run(Op::SetActive { who: hero, active: true }).unwrap();
    go(&mut sim, 103.0);
    assert_eq!(sim.effect(key), Err(ReadError::StaleHandle));
    assert_eq!(get(&sim, hero, "Health"), 95.0);
}
