//! Rolling back at random frames of the random worlds: a resimulation of a controller from an image and its journal, a
//! fork of the sim, and a capture that is restored at once all give the world that was there before.

use super::drive::Both;
use super::effects::SECOND;
use super::generate::Rng;
use std::collections::BTreeMap;
use ugas_core::{
    BlockSource, ControllerId, Fact, FactKind, Facts, InputId, Op, ResimulationStop, RowImage, Sim, SimTime,
};

/// The images from which controllers are resimulated.
pub(crate) type Images = BTreeMap<ControllerId, RowImage>;

/// How many facts a report shows of each run.
const SHOWN: usize = 40;

/// How often a check was made.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) resimulations: u64,
    pub(crate) forks: u64,
    pub(crate) captures: u64,
}

pub(crate) fn check(both: &mut Both, rng: &mut Rng, images: &mut Images, checks: &mut Checks) -> Result<(), String> {
    take_images(both, rng, images)?;
    let all: Vec<ControllerId> = both.sim.controllers().collect();
    if all.is_empty() {
        return Ok(());
    }
    let who = *rng.pick(&all);
    match rng.below(3) {
        0 => {
            checks.resimulations += 1;
            resimulate(&both.sim, who, &images[&who]).map_err(|e| {
                let facts = both.steps.iter().flat_map(|step| &step.facts).filter(|(f, _)| f.who == who);
                let last: Vec<&Fact> = facts.map(|(f, _)| f).collect();
                format!("{e}\n  the original run ended with{}", lines(&last[last.len().saturating_sub(SHOWN)..]))
            })
        }
        1 => {
            checks.forks += 1;
            fork(&both.sim, rng)
        }
        _ => {
            checks.captures += 1;
            capture(&both.sim, who, rng)
        }
    }
    .map_err(|e| format!("{who:?}: {e}"))
}

/// Keeps a journal and an image of each controller. A controller that was restored or inserted by the host starts
/// again.
fn take_images(both: &mut Both, rng: &mut Rng, images: &mut Images) -> Result<(), String> {
    let step = both.steps.last().ok_or("no step")?;
    let returned = step.facts.iter().filter(|(f, _)| matches!(f.kind, FactKind::Restored)).map(|(f, _)| f.who);
    for who in returned {
        images.remove(&who);
    }
    images.retain(|who, _| both.sim.row_hash(*who).is_ok());
    for who in both.sim.controllers().collect::<Vec<_>>() {
        if images.contains_key(&who) && !rng.percent(12) {
            continue;
        }
        let mut image = RowImage::default();
        both.sim.keep_journal(who).map_err(|r| r.to_string())?;
        both.sim.capture(who, &mut image).map_err(|r| r.to_string())?;
        images.insert(who, image);
    }
    Ok(())
}

fn resimulate(sim: &Sim, who: ControllerId, image: &RowImage) -> Result<(), String> {
    let mut copy = sim.clone();
    let (journal, now) = (copy.journal(who), copy.now());
    copy.take_facts(&mut Facts::default());
    copy.resimulate(image, journal.as_ref(), &mut [ResimulationStop::at(now)]).map_err(|r| r.to_string())?;
    same_rows("after a resimulation", sim, &copy).map_err(|e| {
        let last: Vec<&Fact> = copy.facts().list.iter().filter(|f| f.who == who).collect();
        let shown = lines(&last[last.len().saturating_sub(SHOWN)..]);
        format!("{e}\n  the resimulation emitted {} facts and ended with{shown}", last.len())
    })?;
    // It also continues equally.
    let mut plain = sim.clone();
    same_future(&mut plain, &mut copy, SECOND / 4)
}

/// Facts for a report.
fn lines(facts: &[&Fact]) -> String {
    facts.iter().map(|f| format!("\n    {:?} {:?} {:?}", f.at, f.effect, f.kind)).collect()
}

/// A fork that is advanced in other strides.
fn fork(sim: &Sim, rng: &mut Rng) -> Result<(), String> {
    let (mut one, mut other) = (sim.clone(), sim.clone());
    let end = sim.now().0 + SECOND / 3;
    let (mut ours, mut theirs) = (Facts::default(), Facts::default());
    one.advance_to(SimTime(end));
    one.take_facts(&mut ours);
    while other.now().0 < end {
        let stride = *rng.pick(&[SECOND / 60, SECOND / 90, SECOND / 7, 1]);
        other.advance_to(SimTime((other.now().0 + stride).min(end)));
    }
    other.take_facts(&mut theirs);
    same_rows("after other strides", &one, &other)?;
    let bare = |facts: &Facts| facts.list.iter().map(|f| format!("{:?}", bare(f))).collect::<Vec<_>>();
    super::compare::same("facts after other strides", &bare(&ours), &bare(&theirs))
}

/// Captured, changed, restored.
fn capture(sim: &Sim, who: ControllerId, rng: &mut Rng) -> Result<(), String> {
    let (mut one, mut other) = (sim.clone(), sim.clone());
    let mut image = RowImage::default();
    other.capture(who, &mut image).map_err(|r| r.to_string())?;
    let held = other.capabilities(who).map_err(|r| r.to_string())?;
    let mut ops = 1;
    if let Some(capability) = held.get(rng.below(held.len().max(1))).map(|c| c.class) {
        let tag = sim.rules().tag("Capability").map_err(|e| e.to_string())?;
        let interval = Some(SimTime(SECOND / 50));
        for op in [
            Op::Block { who, tag, source: BlockSource::host("Undone") },
            Op::Enable { who, capability, on: rng.percent(50) },
            Op::SetTick { who, capability, ticks: Some(rng.percent(50)), interval },
        ] {
            ops += 1;
            other.run(op).map_err(|r| r.to_string())?;
        }
    }
    other.restore(who, &image).map_err(|r| r.to_string())?;
    // As many ops in the other world, so that later ones have the same numbers.
    for _ in 0..ops {
        let _ = one.run(Op::Release { who, input: InputId(999) });
    }
    same_rows("after a capture and a restore", &one, &other)?;
    same_future(&mut one, &mut other, SECOND / 4)
}

/// Without the links of causes and the offsets of details, which depend on everything that the sim did before.
fn bare(f: &Fact) -> Fact {
    let mut f = Fact { link: 0, ..*f };
    if let FactKind::TaskRequest { detail, .. }
    | FactKind::GameplayEvent { detail, .. }
    | FactKind::Cue { detail, .. } = &mut f.kind
    {
        *detail = ugas_core::Span::default();
    }
    f
}

fn same_rows(when: &str, one: &Sim, other: &Sim) -> Result<(), String> {
    for who in one.controllers() {
        let (ours, theirs) = (one.row_hash(who), other.row_hash(who));
        if ours != theirs {
            let state = |sim: &Sim| format!("{:?}\n{:?}", sim.capabilities(who), sim.blocks(who));
            return Err(format!("{who:?} differs {when}\n{}\n{}", state(one), state(other)));
        }
    }
    Ok(())
}

fn same_future(one: &mut Sim, other: &mut Sim, time: i64) -> Result<(), String> {
    let end = SimTime(one.now().0 + time);
    let (mut ours, mut theirs) = (Facts::default(), Facts::default());
    one.take_facts(&mut Facts::default());
    other.take_facts(&mut Facts::default());
    one.advance_to(end);
    other.advance_to(end);
    one.take_facts(&mut ours);
    other.take_facts(&mut theirs);
    let bare = |facts: &Facts| facts.list.iter().map(|f| format!("{:?}", bare(f))).collect::<Vec<_>>();
    super::compare::same("later facts", &bare(&ours), &bare(&theirs))?;
    same_rows("later", one, other)
}
