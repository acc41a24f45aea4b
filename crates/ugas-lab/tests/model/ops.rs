//! Random ops that fit the world as it is: mostly sensible, sometimes mistaken.

use super::effects::{Change, Filter, SECOND};
use super::generate::{ABILITIES, Documents, KEYS, Rng, effect};
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
}

/// The next op, fitting the world as it is.
pub(crate) fn op(rng: &mut Rng, world: &World, docs: &Documents, done: usize) -> Op {
    let live: Vec<u32> = world.rows.keys().copied().collect();
    if live.is_empty() || done < 2 {
        return Op::Spawn(spawn(rng, docs));
    }
    let who = |rng: &mut Rng| {
        if rng.percent(2) { rng.below(world.next_id as usize + 2) as u32 } else { *rng.pick(&live) }
    };
    let target = who(rng);
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
        84..86 => Op::AddSet { who: target, set: rng.pick(&docs.sets).name.clone() },
        86..88 => Op::RemoveSet { who: target, set: rng.pick(&docs.sets).name.clone(), force: rng.percent(60) },
        88..90 => Op::SetRate { who: target, rate: *rng.pick(&[65536, 65536, 32768, 98304, 0, 12345, 131072]) },
        90..92 => Op::SetActive { who: target, active: rng.percent(70) },
        92..94 if live.len() < 5 => Op::Spawn(spawn(rng, docs)),
        94 => Op::Despawn { who: target },
        95..97 => Op::ExtractInsert { who: target },
        97..99 => {
            let names: Vec<String> =
                docs.sets.iter().flat_map(|s| s.attributes.iter().map(|a| a.name.clone())).collect();
            let later = docs.effects[docs.effects.len() / 2..].iter().map(|e| e.name.clone()).collect::<Vec<_>>();
            let name = format!("GE_Run{done}");
            // Run-time effects may cause authored ones only: those cannot cause it back.
            let later: Vec<String> = later.into_iter().filter(|n| !n.starts_with("GE_Run")).collect();
            Op::Define(Box::new(effect(rng, &name, &docs.sets, &names, &later)))
        }
        _ => Op::Apply(spec(rng, docs, target, &live, world.next_id)),
    }
}

fn spawn(rng: &mut Rng, docs: &Documents) -> Spawn {
    let mut sets = vec![docs.sets[0].name.clone()];
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
    let abilities = if rng.percent(20) { vec![(ABILITIES[0].to_owned(), 2)] } else { Vec::new() };
    Spawn { sets, base, tags: unique, abilities, effects }
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
