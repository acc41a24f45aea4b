//! A sim with a replication store, and an observer that reads its sections.

use std::sync::Arc;
use ugas_core::{Anchor, ControllerId, EffectKey, Facts, Op, Rules, SetId, Sim, SimConfig, SimTime, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication, Effect, Magnitude, Quantize, ReplicationMode};
use ugas_net::internals::view::{Proxies, ProxyChange, ProxySnapshot, ReplicationStore};
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::types::Tick;

/// A tick of 50 Hz.
pub(crate) const LENGTH: SimTime = SimTime::millis(20);

/// An attribute that observers see in steps of this many bits between 0 and 1000.
pub(crate) fn rounded(name: &str, value: f64, bits: u8) -> Attribute {
    Attribute { quantize: Some(Quantize { min: 0.0, max: 1000.0, bits }), ..Attribute::new(name, value) }
}

/// The same attribute in another replication mode.
pub(crate) fn moded(attribute: Attribute, mode: ReplicationMode) -> Attribute {
    Attribute { replication_mode: mode, ..attribute }
}

/// An instant effect `Set_X` for each attribute, which sets it to a caller value.
pub(crate) fn setters(names: &[String]) -> Vec<Effect> {
    names.iter().map(|n| Effect::instant(format!("Set_{n}")).set(n.clone(), Magnitude::set_by_caller("V"))).collect()
}

/// Sets `Vitals` (eight attributes of ten bits), `Purse` (hidden, owner only, visible and exact) and `Item` (one attribute), and
/// effects with tags, cues, ends and stacks.
pub(crate) fn rules() -> Arc<Rules> {
    let mut vitals = AttributeSet::new("Vitals");
    let mut names: Vec<String> = (0..8).map(|i| format!("A{i}")).collect();
    for name in &names {
        vitals = vitals.with(rounded(name, 100.0, 10));
    }
    let purse = AttributeSet::new("Purse")
        .with(moded(Attribute::new("Hidden", 1.0), ReplicationMode::None))
        .with(moded(Attribute::new("Own", 2.0), ReplicationMode::OwnerOnly))
        .with(Attribute::new("Exact", 3.0));
    let item = AttributeSet::new("Item").with(rounded("Edge", 5.0, 6));
    names.extend(["Hidden", "Own", "Exact", "Edge"].map(String::from));
    let mut builder = Rules::builder().add(vitals).add(purse).add(item);
    for effect in setters(&names) {
        builder = builder.add(effect);
    }
    builder
        .add(Effect::infinite("GE_Mark").grants("State.Marked"))
        .add(Effect::infinite("GE_Ward").grants("State.Warded").cue("Cue.Ward").add("A1", 50.0))
        .add(Effect::lasting("GE_Slow", 0.3).grants("State.Slow").multiply("A2", -0.5))
        .add(Effect::instant("GE_Hit").add("A0", -7.0).cue("Cue.Hit"))
        .add(Effect::lasting("GE_Burn", 0.5).every(0.06).add("A0", -1.0).cue("Cue.Burn"))
        .build()
        .unwrap()
}

/// A server without clients.
pub(crate) struct Rig {
    pub(crate) rules: Arc<Rules>,
    pub(crate) sim: Sim,
    pub(crate) store: ReplicationStore,
    pub(crate) tick: Tick,
    facts: Facts,
}

impl Rig {
    pub(crate) fn new(rules: Arc<Rules>) -> Rig {
        let sim = Sim::new(rules.clone(), SimConfig::default());
        let store = ReplicationStore::new(rules.clone(), LENGTH);
        Rig { rules, sim, store, tick: Tick(1), facts: Facts::default() }
    }

    /// One controller with these sets in this mode.
    pub(crate) fn with(sets: &[&str], mode: ControllerReplication) -> (Rig, ControllerId) {
        let mut rig = Rig::new(rules());
        let who = rig.spawn(sets, mode);
        (rig, who)
    }

    pub(crate) fn set_id(&self, name: &str) -> SetId {
        self.rules.set(name).unwrap()
    }

    pub(crate) fn spawn(&mut self, sets: &[&str], mode: ControllerReplication) -> ControllerId {
        let sets = sets.iter().map(|s| self.set_id(s));
        let who = self.sim.spawn(SpawnSpec::sets(sets)).unwrap();
        self.store.add(&self.sim, who, mode, self.tick).unwrap();
        who
    }

    /// Sets an attribute's base; nothing if the controller has no such attribute.
    pub(crate) fn set(&mut self, who: ControllerId, attribute: &str, value: f64) {
        let effect = self.rules.effect(&format!("Set_{attribute}")).unwrap();
        let _ = self.sim.apply(&Spec::new(effect, who).set(self.rules.key("V").unwrap(), value));
    }

    pub(crate) fn apply(&mut self, who: ControllerId, effect: &str) -> Option<EffectKey> {
        self.sim.apply(&Spec::new(self.rules.effect(effect).unwrap(), who)).ok()
    }

    pub(crate) fn place(&mut self, who: ControllerId, position: [f64; 3]) {
        self.sim.run(Op::Move { who, anchor: Some(Anchor::at(position)) }).unwrap();
    }

    /// Ends the tick: updates the store from all rows.
    pub(crate) fn step(&mut self) {
        self.tick = self.tick.plus(1);
        self.sim.advance_to(self.tick.time(LENGTH));
        let all: Vec<ControllerId> = self.sim.controllers().collect();
        self.store.update(&self.sim, self.tick, &all);
        self.sim.take_facts(&mut self.facts);
        self.store.record_bursts(&self.facts);
    }

    /// Returns the section of a controller for a client at a tick, if there is one.
    pub(crate) fn section(&mut self, who: ControllerId, since: Tick) -> Option<(Vec<u8>, usize)> {
        let mut out = BitWriter::new();
        let is_written = self.store.write(who, since, &mut out);
        assert_eq!(out.bit_len(), self.store.size(who, since));
        is_written.then(|| (out.finish().to_vec(), out.bit_len()))
    }

    /// Returns the visible state by the slow path.
    pub(crate) fn truth(&self, who: ControllerId) -> ProxySnapshot {
        ProxySnapshot::of(&self.sim, who, self.store.mode(who).unwrap()).unwrap()
    }
}

/// An observer of one controller over a perfect link.
pub(crate) struct Observer {
    pub(crate) proxies: Proxies,
    pub(crate) since: Tick,
}

impl Observer {
    pub(crate) fn new(rig: &Rig) -> Observer {
        Observer { proxies: Proxies::new(rig.rules.clone(), LENGTH), since: Tick(0) }
    }

    /// Reads the newest section. Returns the changes.
    pub(crate) fn look(&mut self, rig: &mut Rig, who: ControllerId) -> Vec<ProxyChange> {
        let mut changes = Vec::new();
        if let Some((bytes, bits)) = rig.section(who, self.since) {
            let mut from = BitReader::new(&bytes);
            self.proxies.read(&mut from, who, rig.tick, &mut changes).unwrap();
            assert_eq!(from.position() as usize, bits, "reader and writer disagree");
        }
        self.since = rig.tick;
        changes.into_iter().map(|(of, change)| (of == who).then_some(change).unwrap()).collect()
    }

    pub(crate) fn seen(&self, who: ControllerId) -> ProxySnapshot {
        self.proxies.get(who).unwrap().snapshot()
    }
}
