//! Random ops that fit the world as it is: mostly sensible, sometimes mistaken.

use super::effects::{Change, Filter, SECOND};
use super::gen_capability::{self, CapabilityOp};
use super::generate::{Documents, KEYS, Rng, effect};
use super::give::Which;
use super::ops_ability;
use super::play::Event;
use super::resources::{self, Gain};
use super::world::{NONE, Spawn, Spec, World};
use std::collections::BTreeMap;
use ugas_doc::Effect;

/// An op for both worlds.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Apply(Spec),
    Remove { who: u32, key: u64, stacks: i32 },
    RemoveMatching { who: u32, filter: Filter },
    Change { who: u32, key: u64, change: Change },
    ChangeMatching { who: u32, filter: Filter, change: Change },
    Advance { to: i64 },
    AddSet { who: u32, set: String },
    RemoveSet { who: u32, set: String, force: bool },
    SetRate { who: u32, rate: u32 },
    SetActive { who: u32, active: bool },
    Spawn(Spawn),
    Despawn { who: u32 },
    ExtractInsert { who: u32 },
    Define(Box<Effect>),
    Grant { who: u32, ability: String, level: u32, input: Option<String> },
    Revoke { who: u32, which: Which },
    Activate { who: u32, which: Which, target: Option<u32> },
    Cancel { who: u32, which: Which },
    End { who: u32, which: Which },
    Commit { who: u32, which: Which },
    Validate { who: u32, which: Which, ok: bool },
    Press { who: u32, input: String, target: Option<u32> },
    Release { who: u32, input: String },
    Event { who: u32, event: Event },
    Complete { who: u32, seq: u64, answer: Answer },
    GrantSet { who: u32, set: String },
    RevokeSet { who: u32, handle: u64 },
    SetLevel { who: u32, grant: u32, level: u32 },
    SetParam { who: u32, grant: u32, value: f64 },
    Restrict { who: u32, grant: u32, on: bool },
    Possess { who: u32, avatar: Option<u32> },
    Move { who: u32, place: Option<f64> },
    Interrupt { who: u32 },
    CaptureRestore { who: u32 },
    Capability(CapabilityOp),
    ModifyResource(Gain),
}

/// The answer of the host to a task.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) fail: bool,
    pub(crate) targets: Vec<u32>,
    pub(crate) value: f64,
}

/// The next op, fitting the world as it is.
pub(crate) fn op(rng: &mut Rng, world: &World, docs: &Documents, done: usize) -> Op {
    let live: Vec<u32> = world.rows.keys().copied().collect();
    if live.is_empty() || done < 2 {
        return Op::Spawn(spawn(rng, docs, world));
    }
    let who = |rng: &mut Rng| {
        if rng.percent(2) { rng.below(world.next_id as usize + 2) as u32 } else { *rng.pick(&live) }
    };
    let target = who(rng);
    if let Some(op) = gen_capability::op(rng, world, docs, target, &live) {
        return op;
    }
    // Only sequences with a resource draw these numbers: the others stay the same.
    if !docs.resources.is_empty() && rng.percent(14) {
        let source = if rng.percent(30) { NONE } else { *rng.pick(&live) };
        return Op::ModifyResource(resources::gain(rng, target, source));
    }
    if rng.percent(62) {
        return ops_ability::op(rng, world, docs, target, &live);
    }
    match rng.below(100) {
        0..44 => Op::Apply(spec(rng, docs, target, &live, world.next_id)),
        44..64 => {
            let stride = *rng.pick(&[1, SECOND / 60, SECOND / 10, SECOND / 4, SECOND / 2, SECOND, SECOND * 5 / 2]);
            Op::Advance { to: world.now + stride }
        }
        64..71 => {
            let (who, key) = any_key(rng, world, target, true);
            Op::Remove { who, key, stacks: *rng.pick(&[-1, -1, -1, 1, 1, 2, 0, -2]) }
        }
        71..75 => Op::RemoveMatching { who: target, filter: filter(rng, docs, &live) },
        75..82 => {
            let (who, key) = any_key(rng, world, target, false);
            Op::Change { who, key, change: change(rng) }
        }
        82..84 => Op::ChangeMatching { who: target, filter: filter(rng, docs, &live), change: change(rng) },
        84..86 => Op::AddSet { who: target, set: set(rng, docs) },
        86..88 => Op::RemoveSet { who: target, set: set(rng, docs), force: rng.percent(60) },
        88..90 => Op::SetRate { who: target, rate: *rng.pick(&[65536, 65536, 32768, 98304, 0, 12345, 131072]) },
        90..92 => Op::SetActive { who: target, active: rng.percent(70) },
        92..94 if live.len() < 5 => Op::Spawn(spawn(rng, docs, world)),
        94..96 => Op::Despawn { who: target },
        96 if gen_capability::is_owner(world, target) => Op::CaptureRestore { who: target },
        96 => Op::ExtractInsert { who: target },
        97..99 => {
            let names: Vec<String> =
                docs.sets.iter().flat_map(|s| s.attributes.iter().map(|a| a.name.clone())).collect();
            let later = docs.effects[docs.effects.len() / 2..].iter().map(|e| e.name.clone()).collect::<Vec<_>>();
            let name = format!("GE_Run{done}");
            // Run-time effects may cause authored ones only: those cannot cause it back.
            let later: Vec<String> = later.into_iter().filter(|n| !n.starts_with("GE_Run")).collect();
            let abilities: Vec<String> = docs.abilities.iter().map(|a| a.name.clone()).collect();
            Op::Define(Box::new(effect(rng, &name, &docs.sets, &names, &later, &abilities)))
        }
        _ => Op::Apply(spec(rng, docs, target, &live, world.next_id)),
    }
}

/// A set to add or remove.
fn set(rng: &mut Rng, docs: &Documents) -> String {
    match docs.resources.first() {
        Some(resource) if rng.percent(70) => resource.name.clone(),
        _ => rng.pick(&docs.sets).name.clone(),
    }
}

fn spawn(rng: &mut Rng, docs: &Documents, world: &World) -> Spawn {
    let mut sets = Vec::new();
    if !docs.resources.is_empty() {
        let table = if rng.percent(25) { resources::FIXED } else { resources::STATS };
        sets.extend(rng.percent(80).then(|| table.to_owned()));
        sets.extend(rng.percent(80).then(|| resources::RESOURCE.to_owned()));
    }
    sets.push(docs.sets[0].name.clone());
    if docs.sets.len() > 1 && rng.percent(60) {
        sets.push(docs.sets[1].name.clone());
    }
    let mut base = Vec::new();
    for a in &docs.sets[0].attributes {
        if a.derived_from.is_none() && rng.percent(20) {
            base.push((a.name.clone(), rng.number(-10, 80)));
        }
    }
    let count = docs.effects.len();
    let effects = (0..2).filter(|_| rng.percent(25)).collect::<Vec<_>>();
    let effects = effects.into_iter().map(|_| docs.effects[rng.below(count)].name.clone()).collect();
    let tags = rng.tags(60, 2);
    let mut unique: Vec<String> = Vec::new();
    tags.into_iter().for_each(|t| {
        if !unique.contains(&t) {
            unique.push(t)
        }
    });
    let mut abilities = Vec::new();
    for _ in 0..rng.range(1, 4) {
        let input = rng.percent(50).then(|| super::abilities::INPUTS[0].to_owned());
        abilities.push((rng.pick(&docs.abilities).name.clone(), rng.range(1, 3) as u32, input));
    }
    // The owner of a pet is the avatar of another controller.
    let masters: Vec<u32> = world.rows.values().filter_map(|r| r.avatar).collect();
    let owner = if !masters.is_empty() && rng.percent(40) { Some(*rng.pick(&masters)) } else { None };
    let avatar = rng.percent(70).then_some(100 + world.next_id);
    let place = rng.percent(60).then(|| rng.number(0, 8));
    let mut ability_sets = if rng.percent(10) { vec![docs.ability_sets[0].name.clone()] } else { Vec::new() };
    ability_sets.extend(gen_capability::spawned(rng, docs));
    Spawn { sets, base, tags: unique, abilities, effects, owner, avatar, place, ability_sets }
}

fn spec(rng: &mut Rng, docs: &Documents, target: u32, live: &[u32], next_id: u32) -> Spec {
    let source = match rng.below(100) {
        0..10 => NONE,
        10..13 => rng.below(next_id as usize + 1) as u32,
        13..55 => target,
        _ => *rng.pick(live),
    };
    let effect = rng.pick(&docs.effects);
    let mut set_by_caller = BTreeMap::new();
    for key in KEYS {
        if rng.percent(60) {
            set_by_caller.insert((*key).to_owned(), rng.number(-3, 6));
        }
    }
    if rng.percent(1) {
        set_by_caller.insert(KEYS[0].to_owned(), f64::NAN);
    }
    let stacks = if rng.percent(15) { rng.range(1, 3) as u32 } else { 1 };
    Spec {
        def: effect.name.clone(),
        target,
        source,
        level: if rng.percent(1) { 0 } else { rng.range(1, 4) as u32 },
        stacks: if rng.percent(1) { 0 } else { stacks },
        set_by_caller,
        duration: rng.percent(8).then(|| *rng.pick(&[SECOND, SECOND * 3, SECOND / 3, -1])),
        ability: None,
        period: rng.percent(6).then(|| *rng.pick(&[SECOND / 4, SECOND, SECOND / 3, 5])),
    }
}

/// An active effect's key, sometimes a queued one's, seldom a stale one's.
fn any_key(rng: &mut Rng, world: &World, who: u32, queued: bool) -> (u32, u64) {
    let mut keys = Vec::new();
    for (who, row) in &world.rows {
        keys.extend(row.effects.iter().map(|e| (*who, e.key)));
        keys.extend(row.queue.iter().filter(|_| queued).map(|q| (*who, q.0)));
    }
    if keys.is_empty() || rng.percent(4) {
        (who, rng.below(world.next_key as usize + 1) as u64)
    } else {
        *rng.pick(&keys)
    }
}

fn filter(rng: &mut Rng, docs: &Documents, live: &[u32]) -> Filter {
    let mut filter = Filter::default();
    match rng.below(100) {
        0..45 => filter.def = Some(rng.pick(&docs.effects).name.clone()),
        45..75 => filter.tags = rng.tags(100, 2),
        75..88 => filter.source = Some(*rng.pick(live)),
        _ => {
            let name = rng.pick(&docs.sets[0].attributes).name.clone();
            filter.modifies = Some(name);
        }
    }
    filter
}

fn change(rng: &mut Rng) -> Change {
    match rng.below(6) {
        0 => Change::Level(rng.range(0, 5) as u32),
        1 => Change::Remaining(*rng.pick(&[0, SECOND, SECOND / 2, -1])),
        2 => Change::Extend(*rng.pick(&[SECOND, -SECOND, SECOND / 7])),
        3 => Change::Period(*rng.pick(&[SECOND / 2, SECOND, 3])),
        4 => Change::Stacks(rng.range(0, 3) as u32),
        _ => Change::SetByCaller((*rng.pick(KEYS)).to_owned(), rng.number(-3, 6)),
    }
}
