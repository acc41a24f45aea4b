//! Late, duplicate and lost packets; cues that play once; sets and definitions in flight; positions.

use super::rig::{LENGTH, Observer, Rig};
use ugas_core::{Anchor, ControllerId, DefId, Op, SimTime, Spec};
use ugas_doc::{ControllerReplication, Effect};
use ugas_net::internals::view::{BURST_TICKS, HORIZON, Pose, ProxyChange, Track};
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::types::Tick;

/// A section and its tick.
type Section = (Vec<u8>, Tick);

fn post(rig: &mut Rig, who: ControllerId, since: Tick) -> Section {
    let (bytes, _) = rig.section(who, since).unwrap();
    (bytes, rig.tick)
}

/// What changed in the last tick.
fn last(rig: &mut Rig, who: ControllerId) -> Section {
    let since = rig.tick.minus(1);
    post(rig, who, since)
}

fn open(observer: &mut Observer, who: ControllerId, (bytes, tick): &Section) -> Vec<(ControllerId, ProxyChange)> {
    let mut changes = Vec::new();
    observer.proxies.read(&mut BitReader::new(bytes), who, *tick, &mut changes).unwrap();
    changes
}

#[test]
fn a_late_section_never_overwrites_newer_values() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    let mark = rig.apply(who, "GE_Mark").unwrap();
    rig.set(who, "A0", 10.0);
    rig.set(who, "A1", 10.0);
    rig.step();
    let first = last(&mut rig, who);
    rig.sim.remove(mark).unwrap();
    rig.set(who, "A0", 500.0);
    rig.step();
    let second = last(&mut rig, who);
    open(&mut observer, who, &second);
    open(&mut observer, who, &first);
    assert_eq!(observer.seen(who), rig.truth(who));
    assert!(open(&mut observer, who, &first).is_empty() && open(&mut observer, who, &second).is_empty());
}

#[test]
fn a_lost_section_is_repaired_by_writing_from_the_older_tick() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    let had = rig.tick;
    let key = rig.apply(who, "GE_Ward").unwrap();
    rig.step();
    rig.set(who, "A4", 321.0);
    rig.step();
    rig.sim.remove(key).unwrap();
    rig.step();
    open(&mut observer, who, &post(&mut rig, who, had));
    assert_eq!(observer.seen(who), rig.truth(who));
}

#[test]
fn a_client_far_behind_gets_a_full_section() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let key = rig.apply(who, "GE_Ward").unwrap();
    rig.step();
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    rig.sim.remove(key).unwrap();
    (0..HORIZON + 10).for_each(|_| rig.step());
    let section = post(&mut rig, who, observer.since);
    assert_eq!(section.0[0] & 0b111, 0b111, "removed items are no longer kept, so the section must be full");
    open(&mut observer, who, &section);
    assert_eq!(observer.seen(who), rig.truth(who));
    assert!(observer.seen(who).effects.is_empty());
}

#[test]
fn sets_are_added_and_removed_with_sections_in_flight() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    rig.set(who, "A7", 70.0);
    rig.step();
    let old_shape = last(&mut rig, who);
    let set = rig.set_id("Item");
    rig.sim.run(Op::AddSet { who, set }).unwrap();
    rig.step();
    let changes = open(&mut observer, who, &last(&mut rig, who));
    assert_eq!(changes[0].1, ProxyChange::Shaped);
    assert_eq!(observer.seen(who), rig.truth(who));
    assert!(open(&mut observer, who, &old_shape).is_empty(), "it is read with the shape it was written with");
    assert_eq!(observer.seen(who), rig.truth(who));
    rig.set(who, "Edge", 900.0);
    rig.sim.run(Op::RemoveSet { who, set, force: true }).unwrap();
    rig.step();
    open(&mut observer, who, &last(&mut rig, who));
    assert_eq!(observer.seen(who), rig.truth(who));
    assert_eq!(observer.proxies.get(who).unwrap().value(rig.rules.attribute("Edge").unwrap()), None);
}

#[test]
fn effects_defined_at_run_time_keep_their_ids() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let Ok(DefId::Effect(random)) = rig.sim.define(Effect::infinite("GE_Random").add("A3", 11.0)) else {
        panic!("an effect was defined")
    };
    rig.sim.apply(&Spec::new(random, who)).unwrap();
    rig.step();
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    assert_eq!(observer.seen(who), rig.truth(who));
    assert!(observer.seen(who).effects[0].effect.is_runtime());
}

#[test]
fn a_removed_actor_is_not_restored_by_sections_in_flight() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let mut observer = Observer::new(&rig);
    let everything = post(&mut rig, who, Tick(0));
    open(&mut observer, who, &everything);
    rig.set(who, "A0", 1.0);
    rig.step();
    let change = last(&mut rig, who);
    observer.proxies.remove(who, rig.tick);
    assert!(open(&mut observer, who, &change).is_empty() && open(&mut observer, who, &everything).is_empty());
    assert!(observer.proxies.is_empty());
    rig.step();
    open(&mut observer, who, &post(&mut rig, who, Tick(0)));
    observer.proxies.remove(who, rig.tick.minus(1));
    assert_eq!(observer.seen(who), rig.truth(who), "it has returned; the removal is older");
}

#[test]
fn a_burst_plays_once_however_often_it_is_sent() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Mixed);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    let had = rig.tick;
    rig.apply(who, "GE_Hit").unwrap();
    rig.apply(who, "GE_Hit").unwrap();
    rig.step();
    let bursts = |changes: &[(ControllerId, ProxyChange)]| {
        changes.iter().filter(|n| matches!(n.1, ProxyChange::Burst(_))).count()
    };
    let section = post(&mut rig, who, had);
    assert_eq!(bursts(&open(&mut observer, who, &section)), 2);
    assert_eq!(bursts(&open(&mut observer, who, &section)), 0);
    rig.step();
    let again = post(&mut rig, who, had);
    assert_eq!(bursts(&open(&mut observer, who, &again)), 0);
    (0..BURST_TICKS).for_each(|_| rig.step());
    assert_eq!(rig.section(who, had), None, "old bursts are not sent");
}

#[test]
fn every_execution_of_an_effect_is_a_separate_burst() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Mixed);
    let mut observer = Observer::new(&rig);
    observer.look(&mut rig, who);
    rig.apply(who, "GE_Burn").unwrap();
    let mut numbers = Vec::new();
    for _ in 0..40 {
        rig.step();
        let changes = observer.look(&mut rig, who);
        numbers.extend(changes.iter().filter_map(|c| match c {
            ProxyChange::Burst(b) => Some(b.ordinal),
            _ => None,
        }));
    }
    assert!(numbers.len() >= 8 && numbers.iter().copied().eq(0..numbers.len() as u32), "{numbers:?}");
}

#[test]
fn a_predicted_burst_is_not_emitted_again() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Mixed);
    let (mut seer, mut other) = (Observer::new(&rig), Observer::new(&rig));
    seer.look(&mut rig, who);
    other.look(&mut rig, who);
    rig.apply(who, "GE_Hit").unwrap();
    rig.step();
    let changes = other.look(&mut rig, who);
    let burst = changes.iter().find_map(|c| if let ProxyChange::Burst(b) = c { Some(*b) } else { None }).unwrap();
    seer.proxies.get_mut(who).unwrap().record_predicted_burst(burst.key, burst.cue);
    assert!(seer.look(&mut rig, who).is_empty());
    // A burst that was predicted and undone is emitted when it arrives.
    let mut seer = Observer::new(&rig);
    seer.look(&mut rig, who);
    seer.proxies.get_mut(who).unwrap().record_predicted_burst(burst.key, burst.cue);
    seer.proxies.get_mut(who).unwrap().forget(burst.key, burst.cue);
    rig.store.record_burst(who, burst.key, burst.cue, None);
    let (mut out, mut changes) = (BitWriter::new(), Vec::new());
    assert!(rig.store.write(who, rig.tick.minus(1), &mut out));
    seer.proxies.read(&mut BitReader::new(out.finish()), who, rig.tick, &mut changes).unwrap();
    assert!(changes.iter().any(|(_, c)| matches!(c, ProxyChange::Burst(b) if b.key == burst.key)), "{changes:?}");
}

// covers: UGAS-13.6-04
#[test]
fn positions_are_interpolated_between_samples() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Mixed);
    let mut track = Track::default();
    let mut samples = Vec::new();
    for (step, x) in [(0, 10.0), (4, 20.0)] {
        (0..step).for_each(|_| rig.step());
        rig.place(who, [x, -4.0, 0.5]);
        rig.step();
        let mut out = BitWriter::new();
        rig.store.pose(who).unwrap().put(None, &mut out);
        let pose = Pose::get(&mut BitReader::new(out.finish()), |_| None).unwrap().unwrap();
        samples.push((rig.tick.time(LENGTH), pose));
    }
    // The later one arrives first.
    samples.reverse();
    samples.iter().for_each(|&(at, pose)| track.push(at, pose));
    let (from, to) = (samples[1].0, samples[0].0);
    let at = |time| track.at(time).unwrap().position;
    assert_eq!(to - from, SimTime::millis(100));
    assert_eq!(at(SimTime((from.0 + to.0) / 2)), [15.0, -4.0, 0.5]);
    assert_eq!((at(from), at(to)), ([10.0, -4.0, 0.5], [20.0, -4.0, 0.5]));
    assert_eq!((at(SimTime::ZERO), at(SimTime::seconds(9.0))), (at(from), at(to)));
}

#[test]
fn a_pose_is_rounded_to_a_sixty_fourth() {
    let anchor = Anchor { position: [1.0 / 3.0, -1e300, 1e5 + 0.017], facing: [0.6, 0.0, -0.8] };
    let mut out = BitWriter::new();
    Pose::from(anchor).put(None, &mut out);
    let back = Pose::get(&mut BitReader::new(out.finish()), |_| None).unwrap().unwrap().anchor();
    assert!((back.position[0] - anchor.position[0]).abs() <= 1.0 / 128.0);
    assert!((back.position[2] - anchor.position[2]).abs() <= 1.0 / 128.0);
    assert!(back.position[1].is_finite());
    assert!(back.facing.iter().zip(anchor.facing).all(|(a, b)| (a - b).abs() <= 1.0 / 254.0));
}
