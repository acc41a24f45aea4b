//! Bytes that no server wrote: an error or a state, never a panic, and nothing grows without bound.

use super::rig::{LENGTH, Observer, Rig, rules};
use proptest::prelude::*;
use std::sync::Arc;
use ugas_core::{
    Anchor, CapabilityState, ControllerId, FactKind, LocalRunner, Op, ProxyRow, ResimulationStop, Role, Rules, Sim,
    SimConfig,
};
use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, ControllerReplication, SetCapability, Side};
use ugas_net::internals::view::{Pose, Proxies, read_next};
use ugas_net::internals::wire::bits::BitReader;
use ugas_net::types::Tick;

/// Reads lists of actors as a session does, until the data ends.
fn read_all(proxies: &mut Proxies, bytes: &[u8], tick: Tick) {
    let (mut from, mut last, mut changes) = (BitReader::new(bytes), None, Vec::new());
    while let Ok(Some(who)) = read_next(&mut from, &mut last) {
        if proxies.read(&mut from, who, tick, &mut changes).is_err() {
            break;
        }
    }
    assert!(changes.len() <= 200 * bytes.len() + 200, "{} changes from {} bytes", changes.len(), bytes.len());
    let baseline = Pose::from(Anchor::at([1.0, 2.0, 3.0]));
    let _ = Pose::get(&mut BitReader::new(bytes), |_| Some(baseline));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..300), tick in any::<u32>()) {
        let mut proxies = Proxies::new(rules(), LENGTH);
        read_all(&mut proxies, &bytes, Tick(tick));
    }

    #[test]
    fn a_damaged_section_is_read_or_rejected(
        flips in prop::collection::vec((any::<usize>(), 0..8u32), 1..6),
        cut in any::<usize>(),
        full in any::<bool>(),
    ) {
        let (mut rig, who) = Rig::with(&["Vitals", "Purse"], ControllerReplication::Full);
        let mut observer = Observer::new(&rig);
        observer.look(&mut rig, who);
        rig.set(who, "A3", 9.0);
        for effect in ["GE_Ward", "GE_Slow", "GE_Hit"] {
            rig.apply(who, effect).unwrap();
        }
        rig.step();
        let (mut bytes, _) = rig.section(who, if full { Tick(0) } else { observer.since }).unwrap();
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        bytes.truncate(1 + cut % bytes.len());
        let mut changes = Vec::new();
        let _ = observer.proxies.read(&mut BitReader::new(&bytes), who, rig.tick, &mut changes);
        // A full section repairs the state.
        rig.set(who, "A3", 19.0);
        rig.step();
        let (full_section, _) = rig.section(who, Tick(0)).unwrap();
        observer.proxies.read(&mut BitReader::new(&full_section), who, rig.tick, &mut changes).unwrap();
        prop_assert_eq!(observer.seen(who), rig.truth(who));
    }
}

#[test]
fn a_partial_section_of_an_unknown_actor_is_rejected_with_a_message() {
    let mut proxies = Proxies::new(rules(), LENGTH);
    let error = proxies.read(&mut BitReader::new(&[0; 8]), ControllerId(3), Tick(9), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("a partial section of an unknown actor"), "{error}");
}

/// Rules with a capability set that needs the attribute set `Item`. A forger has the same rules without that need.
fn rules_with_set(needs_item: bool) -> Arc<Rules> {
    let mut set = CapabilitySet::new("CS_Scan").capability(SetCapability::new("Scan").side(Side::AllClients));
    set.data_components.extend(needs_item.then(|| "Item".to_owned()));
    let attribute = |name: &str| Attribute::new(name, 5.0);
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(attribute("Health")))
        .add(AttributeSet::new("Item").with(attribute("Edge")))
        .add(Capability::new("Scan"))
        .add(set)
        .build()
        .unwrap()
}

/// The machine of an observer: its proxies, its sim and its local runner.
struct Machine {
    proxies: Proxies,
    sim: Sim,
    runner: LocalRunner,
}

impl Machine {
    fn new(rules: &Arc<Rules>) -> Machine {
        let sim = Sim::new(rules.clone(), SimConfig { role: Role::Client, ..SimConfig::default() });
        Machine { proxies: Proxies::new(rules.clone(), LENGTH), sim, runner: LocalRunner::default() }
    }

    /// Reads a section as a client does. Returns the state of the capability.
    fn read(&mut self, section: &[u8], who: ControllerId, tick: Tick) -> Option<CapabilityState> {
        self.sim.advance_to(tick.time(LENGTH));
        let read = self.proxies.read(&mut BitReader::new(section), who, tick, &mut Vec::new());
        let snapshot = read.ok().and_then(|_| self.proxies.get(who)).map(|proxy| proxy.snapshot())?;
        let row = ProxyRow {
            who,
            at: tick.time(LENGTH),
            sets: &snapshot.sets,
            values: &snapshot.values,
            tags: &snapshot.tags,
            anchor: None,
            holdings: &snapshot.holdings,
        };
        let start = self.sim.remote().journal_start(who);
        let image = self.sim.remote_mut().import_proxy(&row, start).ok()?;
        self.sim.resimulate(&image, None, &mut [ResimulationStop::at(self.sim.now())]).ok()?;
        self.runner.run(&self.sim);
        self.runner.capabilities(&self.sim, who).first().map(|view| view.state)
    }
}

// covers: CAP-46
#[test]
fn a_forged_view_with_a_capability_set_before_its_attribute_set_waits() {
    let (forged, rules) = (rules_with_set(false), rules_with_set(true));
    let mut rig = Rig::new(forged.clone());
    let who = rig.spawn(&["Vitals"], ControllerReplication::Full);
    rig.sim.grant_set(who, forged.ability_set("CS_Scan").unwrap()).unwrap();
    rig.step();
    let mut observer = Machine::new(&rules);
    let (first, _) = rig.section(who, Tick(0)).unwrap();
    assert_eq!(observer.read(&first, who, rig.tick), Some(CapabilityState::Waiting));
    let steps: Vec<_> = observer.runner.take_facts();
    assert!(steps.is_empty(), "no setup: {steps:?}");
    let item = forged.set("Item").unwrap();
    rig.sim.run(Op::AddSet { who, set: item }).unwrap();
    rig.step();
    let (second, _) = rig.section(who, Tick(0)).unwrap();
    assert_eq!(observer.read(&second, who, rig.tick), Some(CapabilityState::Active));
    let steps = observer.runner.take_facts();
    let is_step = |fact: &&ugas_core::LocalFact| matches!(fact.fact.kind, FactKind::Capability { .. });
    assert_eq!(steps.iter().filter(is_step).count(), 2, "setup and activation");
    // The attribute set leaves and the capability set stays.
    rig.sim.run(Op::RemoveSet { who, set: item, force: true }).unwrap();
    rig.step();
    let (third, _) = rig.section(who, Tick(0)).unwrap();
    assert!(observer.read(&third, who, rig.tick).is_some());
}

#[test]
fn forged_lists_of_capability_sets_are_read_or_rejected() {
    let (forged, rules) = (rules_with_set(false), rules_with_set(true));
    let mut rig = Rig::new(forged.clone());
    let who = rig.spawn(&["Vitals"], ControllerReplication::Full);
    rig.sim.grant_set(who, forged.ability_set("CS_Scan").unwrap()).unwrap();
    rig.step();
    let (section, bits) = rig.section(who, Tick(0)).unwrap();
    for at in 0..bits {
        let mut damaged = section.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        let mut observer = Machine::new(&rules);
        let _ = observer.read(&damaged, who, rig.tick);
        rig.step();
        let (repaired, _) = rig.section(who, Tick(0)).unwrap();
        // It is set up only if the damaged section contained the attribute set.
        let state = observer.read(&repaired, who, rig.tick);
        assert!(matches!(state, Some(CapabilityState::Waiting | CapabilityState::Active)), "bit {at}: {state:?}");
        let seen = observer.proxies.get(who).unwrap().snapshot();
        assert_eq!(seen.renumbered(), rig.truth(who).renumbered(), "bit {at}");
    }
}
