//! Random ops about abilities.

use super::abilities::{EVENTS, INPUTS};
use super::generate::{Documents, Rng};
use super::give::Which;
use super::number::is_host_answered;
use super::ops::{Answer, Op};
use super::play::Event;
use super::world::{NONE, World};

/// An op about abilities that fits the world as it is.
pub(crate) fn op(rng: &mut Rng, world: &World, docs: &Documents, who: u32, live: &[u32]) -> Op {
    let target = |rng: &mut Rng| match rng.below(10) {
        0..3 => None,
        3..9 => Some(*rng.pick(live)),
        _ => Some(rng.below(world.next_id as usize + 1) as u32),
    };
    let grant = |rng: &mut Rng| {
        let ids: Vec<u32> = world.rows.get(&who).map_or(Vec::new(), |r| r.grants.iter().map(|g| g.id).collect());
        if ids.is_empty() || rng.percent(4) { 9999 } else { *rng.pick(&ids) }
    };
    let lost = world.rows.iter().find_map(|(who, r)| {
        let act = r.play.cast.as_ref()?.act;
        let a = r.play.acts.iter().find(|a| a.seq == act)?;
        let cast = world.abilities[&a.ability].cast.as_ref()?;
        // Worlds with capabilities have fewer ops about abilities.
        let chance = if docs.capabilities.is_empty() { 30 } else { 90 };
        (cast.max_range.is_some() && rng.aside(4).percent(chance)).then_some(a.target.unwrap_or(*who))
    });
    if let Some(who) = lost {
        return Op::Move { who, place: Some(40.0) };
    }
    match rng.below(100) {
        0..33 => Op::Activate { who, which: which(rng, world, docs, who), target: target(rng) },
        33..39 => {
            let ability = rng.pick(&docs.abilities);
            // Only one input may be tried again at frames: the order of several is the runtime's own.
            let input = if ability.held_activation { Some(INPUTS[0]) } else { Some(*rng.pick(INPUTS)) };
            let input = input.filter(|_| rng.percent(60)).map(str::to_owned);
            let level = if rng.percent(3) { 0 } else { rng.range(1, 3) as u32 };
            Op::Grant { who, ability: ability.name.clone(), level, input }
        }
        39..42 => Op::Revoke { who, which: which(rng, world, docs, who) },
        42..46 => Op::Cancel { who, which: which(rng, world, docs, who) },
        46..49 => Op::End { who, which: which(rng, world, docs, who) },
        49..56 => Op::Press { who, input: (*rng.pick(INPUTS)).to_owned(), target: target(rng) },
        56..61 => Op::Release { who, input: (*rng.pick(INPUTS)).to_owned() },
        61..69 => {
            let instigator = if rng.percent(20) { NONE } else { *rng.pick(live) };
            let magnitude = if rng.percent(2) { f64::NAN } else { rng.number(0, 9) };
            Op::Event { who, event: Event { tag: (*rng.pick(EVENTS)).to_owned(), instigator, magnitude } }
        }
        69..77 => complete(rng, world, who, live),
        77..79 => Op::Commit { who, which: which(rng, world, docs, who) },
        79..83 => Op::Validate { who, which: pending(world, who), ok: rng.percent(70) },
        83..86 => Op::GrantSet { who, set: rng.pick(&docs.ability_sets).name.clone() },
        86..89 => {
            let sets: Vec<u64> =
                world.rows.get(&who).map_or(Vec::new(), |r| r.play.sets.iter().map(|s| s.handle).collect());
            Op::RevokeSet { who, handle: if sets.is_empty() { 0 } else { *rng.pick(&sets) } }
        }
        89..90 => Op::SetLevel { who, grant: grant(rng), level: rng.below(4) as u32 },
        90..92 => Op::SetParam { who, grant: grant(rng), value: rng.number(0, 4) },
        92..94 => Op::Restrict { who, grant: grant(rng), on: rng.percent(50) },
        94..95 => Op::Possess { who, avatar: rng.percent(60).then(|| 100 + who) },
        95..97 => Op::Move { who, place: rng.percent(80).then(|| rng.number(0, 8)) },
        97..99 => {
            // Mostly a controller that is casting.
            let casting = world.rows.iter().find(|(_, r)| r.play.cast.is_some()).map(|(who, _)| *who);
            Op::Interrupt { who: casting.unwrap_or(who) }
        }
        _ => Op::CaptureRestore { who },
    }
}

fn which(rng: &mut Rng, world: &World, docs: &Documents, who: u32) -> Which {
    let Some(row) = world.rows.get(&who) else { return Which::Grant(0) };
    match rng.below(10) {
        0..4 => Which::Ability(match row.grants.is_empty() || rng.percent(10) {
            true => rng.pick(&docs.abilities).name.clone(),
            false => rng.pick(&row.grants).ability.clone(),
        }),
        4..9 if !row.grants.is_empty() => Which::Grant(rng.pick(&row.grants).id),
        _ if rng.percent(50) => Which::Input((*rng.pick(INPUTS)).to_owned()),
        _ if !row.play.acts.is_empty() => Which::Act(rng.pick(&row.play.acts).seq),
        _ => Which::Act(0),
    }
}

fn pending(world: &World, who: u32) -> Which {
    let acts = world.rows.get(&who).map_or(&[][..], |r| &r.play.acts);
    let found = acts.iter().find(|a| a.state == super::play::State::Pending).or(acts.first());
    Which::Act(found.map_or(0, |a| a.seq))
}

fn complete(rng: &mut Rng, world: &World, who: u32, live: &[u32]) -> Op {
    let mut answerable = Vec::new();
    for (who, row) in &world.rows {
        answerable.extend(
            row.play.tasks.iter().filter(|t| is_host_answered(&t.task) || rng.percent(2)).map(|t| (*who, t.seq)),
        );
    }
    let (who, seq) = if answerable.is_empty() || rng.percent(3) { (who, 0) } else { *rng.pick(&answerable) };
    let targets = (0..rng.below(3)).map(|_| *rng.pick(live)).collect();
    Op::Complete { who, seq, answer: Answer { fail: rng.percent(20), targets, value: rng.number(0, 5) } }
}
