//! The server's records of replicated controllers, sorted by id.

use super::code::Cx;
use super::record::{Memo, Record, Scratch};
use super::{Pose, Shape, Shapes};
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use std::sync::Arc;
use ugas_core::{
    ControllerId, CueType, EffectKey, FactKind, Facts, OpId, ParamValue, Refusal, Rules, Sim, SimTime, TagId,
};
use ugas_doc::ControllerReplication;

/// The visible state of all replicated controllers, with the ticks of their changes.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
/// use ugas_net::types::Tick;
/// use ugas_net::internals::view::ReplicationStore;
/// use ugas_net::internals::wire::bits::BitWriter;
/// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()]))?;
/// let (mut store, mut out) = (ReplicationStore::new(rules, SimTime::millis(20)), BitWriter::new());
/// store.add(&sim, who, ControllerReplication::Full, Tick(1))?;
/// store.update(&sim, Tick(1), &[who]);
/// assert!(store.write(who, Tick(0), &mut out), "a client without state gets everything");
/// assert!(!store.write(who, Tick(1), &mut out), "a client at tick 1 has it already");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReplicationStore {
    shapes: Shapes,
    length: SimTime,
    tick: Tick,
    /// Rising; the following lists are parallel to it.
    ids: Vec<ControllerId>,
    /// The tick of the last visible change.
    stamps: Vec<Tick>,
    /// The tick of the last change of its shape.
    shaped: Vec<Tick>,
    poses: Vec<Option<Pose>>,
    moved: Vec<Tick>,
    slots: Vec<u32>,
    records: Vec<Option<Record>>,
    free: Vec<u32>,
    roster: u64,
    /// Indices of controllers that changed or moved in the last tick and in this one.
    changes: Vec<u32>,
    /// How many of them are of the last tick, and how many there were before.
    old_changes: usize,
    first_change: u64,
    /// Sections written in this tick, reused for other clients.
    written: BitWriter,
    scratch: Scratch,
}

impl ReplicationStore {
    /// Creates an empty store, for ticks of this length.
    pub fn new(rules: Arc<Rules>, length: SimTime) -> ReplicationStore {
        ReplicationStore {
            shapes: Shapes::new(rules),
            length,
            tick: Tick(0),
            ids: Vec::new(),
            stamps: Vec::new(),
            shaped: Vec::new(),
            poses: Vec::new(),
            moved: Vec::new(),
            slots: Vec::new(),
            records: Vec::new(),
            free: Vec::new(),
            roster: 0,
            changes: Vec::new(),
            old_changes: 0,
            first_change: 1,
            written: BitWriter::new(),
            scratch: Scratch::default(),
        }
    }

    // Controllers -------------------------------------------------------------------------------------------------

    /// Adds a controller at the current tick, or changes its mode. Call this function before a section of the
    /// controller is written. Returns whether the controller is replicated.
    pub fn add(
        &mut self,
        sim: &Sim,
        who: ControllerId,
        mode: ControllerReplication,
        tick: Tick,
    ) -> Result<bool, Refusal> {
        if mode == ControllerReplication::None {
            self.remove(who);
            return Ok(false);
        }
        self.begin(tick);
        let shape = self.shapes.of(sim.set_list(who)?, mode);
        let at = match self.ids.binary_search(&who) {
            Ok(at) => at,
            Err(at) => {
                self.insert(at, who, Record::new(shape, tick));
                at
            }
        };
        if let Some(record) = self.records.get_mut(self.slots[at] as usize).and_then(Option::as_mut) {
            record.reshape(sim.set_list(who)?, mode, tick, &mut self.shapes);
        }
        self.stamps[at] = tick;
        self.changes.push(at as u32);
        self.refresh(sim, at)?;
        Ok(true)
    }

    fn insert(&mut self, at: usize, who: ControllerId, record: Record) {
        let slot = self.free.pop().unwrap_or(self.records.len() as u32);
        if slot as usize == self.records.len() {
            self.records.push(None);
        }
        self.records[slot as usize] = Some(record);
        self.ids.insert(at, who);
        self.stamps.insert(at, Tick(0));
        self.shaped.insert(at, Tick(0));
        self.poses.insert(at, None);
        self.moved.insert(at, Tick(0));
        self.slots.insert(at, slot);
        self.invalidate_indices();
    }

    /// Removes a controller; does nothing if it is unknown.
    pub fn remove(&mut self, who: ControllerId) {
        let Ok(at) = self.ids.binary_search(&who) else { return };
        let slot = self.slots.remove(at);
        self.records[slot as usize] = None;
        self.free.push(slot);
        self.ids.remove(at);
        self.stamps.remove(at);
        self.shaped.remove(at);
        self.poses.remove(at);
        self.moved.remove(at);
        self.invalidate_indices();
    }

    /// Drops the recorded changes: after a change of the list of controllers their indices are invalid.
    fn invalidate_indices(&mut self) {
        self.roster += 1;
        self.first_change = self.change_count() + 1;
        self.changes.clear();
        self.old_changes = 0;
    }

    /// Returns all controllers, sorted by id.
    pub fn ids(&self) -> &[ControllerId] {
        &self.ids
    }

    /// Returns the tick of the last visible change of each controller, in the order of [`ReplicationStore::ids`].
    pub fn changed_ticks(&self) -> &[Tick] {
        &self.stamps
    }

    /// Returns the tick of the last change of the attribute sets or the mode of each controller, in the order of
    /// [`ReplicationStore::ids`]. A client may get partial sections only after it acknowledged a section of that tick
    /// or later.
    pub fn shape_ticks(&self) -> &[Tick] {
        &self.shaped
    }

    /// Returns the tick of the last move of each controller, in the order of [`ReplicationStore::ids`].
    pub fn moved_ticks(&self) -> &[Tick] {
        &self.moved
    }

    /// Returns a number that changes when a controller is added or removed.
    pub fn roster(&self) -> u64 {
        self.roster
    }

    /// Returns a counter that rises with each visible change and each move.
    pub fn change_count(&self) -> u64 {
        self.first_change + self.changes.len() as u64
    }

    /// Returns the indices into [`ReplicationStore::ids`] of the controllers that changed or moved since the change
    /// count was `count`, unordered and possibly repeated. Returns `None` if the changes since then are no longer
    /// recorded, because `count` was read before the last tick or controllers were added or removed since. A `count` of
    /// 0 always returns `None`.
    pub fn changes_after(&self, count: u64) -> Option<&[u32]> {
        self.changes.get(usize::try_from(count.checked_sub(self.first_change)?).ok()?..)
    }

    /// Returns the replication mode of a controller; `None` if it is unknown.
    pub fn mode(&self, who: ControllerId) -> Option<ControllerReplication> {
        let at = self.ids.binary_search(&who).ok()?;
        self.records.get(self.slots[at] as usize)?.as_ref().map(|r| r.shape.mode)
    }

    /// Returns the position of a controller, rounded for observers.
    pub fn pose(&self, who: ControllerId) -> Option<Pose> {
        self.pose_at(self.ids.binary_search(&who).ok()?)
    }

    /// Returns the position of a controller by its index into [`ReplicationStore::ids`].
    pub fn pose_at(&self, at: usize) -> Option<Pose> {
        self.poses.get(at).copied().flatten()
    }

    // Changes -----------------------------------------------------------------------------------------------------

    /// Begins a tick: sections written in the last tick are dropped.
    fn begin(&mut self, tick: Tick) {
        if self.tick != tick {
            self.tick = tick;
            self.written.clear();
            self.changes.drain(..self.old_changes);
            self.first_change += self.old_changes as u64;
            self.old_changes = self.changes.len();
        }
    }

    /// Updates the records of changed rows. Changes that observers cannot see are ignored.
    pub fn update(&mut self, sim: &Sim, tick: Tick, changed: &[ControllerId]) {
        self.begin(tick);
        for &who in changed {
            if let Ok(at) = self.ids.binary_search(&who) {
                // The record of a removed row stays until it is removed here too.
                let _ = self.refresh(sim, at);
            }
        }
    }

    fn refresh(&mut self, sim: &Sim, at: usize) -> Result<(), Refusal> {
        let (who, tick) = (self.ids[at], self.tick);
        let Some(record) = self.records.get_mut(self.slots[at] as usize).and_then(Option::as_mut) else {
            return Ok(());
        };
        let mut is_changed = record.refresh((sim, who), tick, (&mut self.shapes, &mut self.scratch))?;
        if is_changed {
            self.stamps[at] = tick;
            record.memos.clear();
        }
        self.shaped[at] = record.shaped;
        let pose = sim.anchor(who)?.map(Pose::from);
        if pose != self.poses[at] {
            (self.poses[at], self.moved[at]) = (pose, tick);
            is_changed = true;
        }
        self.changes.extend(is_changed.then_some(at as u32));
        Ok(())
    }

    /// Records the burst cues of a tick, after [`ReplicationStore::update`].
    pub fn record_bursts(&mut self, facts: &Facts) {
        for fact in &facts.list {
            if let FactKind::Cue { tag, cue: CueType::Execute, .. } = fact.kind {
                let position = facts.params(fact).find_map(|(name, value)| match value {
                    ParamValue::Vector(position) if name == "Position" => Some(position),
                    ParamValue::Null
                    | ParamValue::Bool(_)
                    | ParamValue::Number(_)
                    | ParamValue::Text(_)
                    | ParamValue::Vector(_)
                    | ParamValue::Tag(_)
                    | ParamValue::Controller(_) => None,
                });
                self.record_burst(fact.who, burst_key(fact.key, fact.root, fact.who), tag, position);
            }
        }
    }

    /// Returns the shape of a controller; `None` if it is not replicated.
    pub(crate) fn shape(&self, who: ControllerId) -> Option<&Shape> {
        let record = self.ids.binary_search(&who).ok().and_then(|at| self.records.get(self.slots[at] as usize));
        record.and_then(Option::as_ref).map(|r| &*r.shape)
    }

    /// Records a burst cue.
    pub fn record_burst(&mut self, who: ControllerId, key: EffectKey, cue: TagId, position: Option<[f64; 3]>) {
        let Ok(at) = self.ids.binary_search(&who) else { return };
        if let Some(record) = self.records.get_mut(self.slots[at] as usize).and_then(Option::as_mut) {
            record.burst(key, cue, position, self.tick);
            record.memos.clear();
            self.stamps[at] = self.tick;
            self.changes.push(at as u32);
        }
    }

    // Sections ----------------------------------------------------------------------------------------------------

    /// Writes the visible changes of a controller after the tick `since`. Values are absolute, so the same changes can
    /// be written again after a loss. If `since` is 0, or earlier than a removal that is no longer recorded
    /// ([`HORIZON`](super::HORIZON)), a full section is written. Writes nothing and returns `false` if nothing changed
    /// or the controller is unknown.
    ///
    /// The section belongs to the tick of the last [`ReplicationStore::update`].
    pub fn write(&mut self, who: ControllerId, since: Tick, out: &mut BitWriter) -> bool {
        let Some(memo) = self.section(who, since) else { return false };
        memo.bits > 0 && out.append(self.written.finish(), memo.begin, memo.bits).is_ok()
    }

    /// Returns how many bits [`ReplicationStore::write`] would write.
    pub fn size(&mut self, who: ControllerId, since: Tick) -> usize {
        self.section(who, since).map_or(0, |memo| memo.bits)
    }

    /// Returns how many bits [`ReplicationStore::write`] would write for the controller at an index into
    /// [`ReplicationStore::ids`].
    pub fn size_at(&mut self, at: usize, since: Tick) -> usize {
        self.section_at(at, since).map_or(0, |memo| memo.bits)
    }

    /// Returns where the section of a controller for clients at a tick is stored; it is written if it is missing.
    fn section(&mut self, who: ControllerId, since: Tick) -> Option<Memo> {
        self.section_at(self.ids.binary_search(&who).ok()?, since)
    }

    fn section_at(&mut self, at: usize, since: Tick) -> Option<Memo> {
        if *self.stamps.get(at)? <= since && since != Tick(0) {
            return None;
        }
        let record = self.records.get_mut(self.slots[at] as usize)?.as_mut()?;
        if record.memo_of != self.tick {
            record.memo_of = self.tick;
            record.memos.clear();
        }
        if let Some(known) = record.memos.iter().find(|m| m.since == since) {
            return Some(*known);
        }
        let cx = Cx {
            rules: self.shapes.rules(),
            tag_bits: self.shapes.tag_bits,
            effect_bits: self.shapes.effect_bits,
            tick: self.tick,
            length: self.length,
        };
        let begin = self.written.bit_len();
        record.write(&cx, since, &mut self.written);
        let memo = Memo { since, begin, bits: self.written.bit_len() - begin };
        record.memos.push(memo);
        Some(memo)
    }
}

/// Returns the key of a burst. A cue of an ability has no effect application; the op that caused it is used instead.
pub(crate) fn burst_key(key: EffectKey, root: OpId, who: ControllerId) -> EffectKey {
    if key == EffectKey::NONE {
        EffectKey { origin_id: root.0, target: who, ordinal: 0 }
    } else {
        EffectKey { target: who, ..key }
    }
}
