//! The server's records of replicated controllers, sorted by id.

use super::code::Cx;
use super::record::{Memo, Record, Scratch};
use super::{Baseline, Pose, PoseHistory, Shape, Shapes};
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use std::sync::Arc;
use ugas_core::{
    ControllerId, CueType, EffectKey, FactKind, Facts, OpId, ParamValue, Refusal, Rules, Sim, SimTime, TagId,
};
use ugas_doc::ControllerReplication;

/// The maximum number of records of removed controllers that are kept for reuse.
const MAX_SPARE: usize = 256;

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
    /// The replicated controllers, sorted by id.
    ids: Vec<ControllerId>,
    /// The slot of each id. A controller keeps its slot until it is removed; the following lists are by slot.
    slots: Vec<u32>,
    /// The controller of each slot; `NONE` for a free slot.
    owners: Vec<ControllerId>,
    /// The tick of the last visible change.
    stamps: Vec<Tick>,
    /// The tick of the last change of its shape.
    shaped: Vec<Tick>,
    poses: Vec<Option<Pose>>,
    pose_history: Vec<PoseHistory>,
    /// The positions of the poses.
    positions: Vec<Option<[f64; 3]>>,
    moved: Vec<Tick>,
    records: Vec<Option<Record>>,
    /// Records of removed controllers, whose memory is reused.
    spare: Vec<Record>,
    free: Vec<u32>,
    /// Slots that were filled, cleared, changed or moved in the last tick and in this one.
    changes: Vec<u32>,
    /// How many of `changes` are of the last tick. `first_change` is the change count at the first of `changes`.
    old_changes: usize,
    first_change: u64,
    /// Slots that were filled or cleared in the last tick and in this one, with the same counts.
    filled: Vec<u32>,
    old_filled: usize,
    first_filled: u64,
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
            slots: Vec::new(),
            owners: Vec::new(),
            stamps: Vec::new(),
            shaped: Vec::new(),
            poses: Vec::new(),
            pose_history: Vec::new(),
            positions: Vec::new(),
            moved: Vec::new(),
            records: Vec::new(),
            spare: Vec::new(),
            free: Vec::new(),
            changes: Vec::new(),
            old_changes: 0,
            first_change: 1,
            filled: Vec::new(),
            old_filled: 0,
            first_filled: 1,
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
        let sets = self.shapes.visible(sim.set_list(who)?);
        let shape = self.shapes.of(&sets, mode);
        let slot = match self.ids.binary_search(&who) {
            Ok(at) => self.slots[at] as usize,
            Err(at) => {
                let record = match self.spare.pop() {
                    Some(mut record) => {
                        record.reuse(shape, tick);
                        record
                    }
                    None => Record::new(shape, tick),
                };
                self.insert(at, who, record)
            }
        };
        if let Some(record) = &mut self.records[slot] {
            record.reshape(&sets, mode, tick, &mut self.shapes);
        }
        self.stamps[slot] = tick;
        let before = self.changes.len();
        let refreshed = self.refresh(sim, slot);
        if self.changes.len() == before {
            self.changes.push(slot as u32);
        }
        refreshed.map(|()| true)
    }

    /// Follows the rules of a reloaded sim at a tick: full sections are sent from then on.
    pub(crate) fn reload(&mut self, sim: &Sim, tick: Tick) {
        self.begin(tick);
        self.shapes = Shapes::new(sim.rules().clone());
        for slot in 0..self.records.len() {
            let Some(record) = &mut self.records[slot] else { continue };
            let mode = record.shape.mode;
            // A controller that is no longer in the sim is removed with the next changes.
            let Ok(sets) = sim.set_list(self.owners[slot]) else { continue };
            let sets = self.shapes.visible(sets);
            record.restart(self.shapes.of(&sets, mode), tick);
            self.stamps[slot] = tick;
            self.changes.push(slot as u32);
            let _ = self.refresh(sim, slot);
        }
    }

    /// Adds a controller as the id at an index. Returns its slot.
    fn insert(&mut self, at: usize, who: ControllerId, record: Record) -> usize {
        let slot = self.free.pop().map_or(self.records.len(), |slot| slot as usize);
        if slot == self.records.len() {
            self.owners.push(ControllerId::NONE);
            self.stamps.push(Tick(0));
            self.shaped.push(Tick(0));
            self.poses.push(None);
            self.pose_history.push(PoseHistory::default());
            self.positions.push(None);
            self.moved.push(Tick(0));
            self.records.push(None);
        }
        (self.owners[slot], self.records[slot]) = (who, Some(record));
        self.ids.insert(at, who);
        self.slots.insert(at, slot as u32);
        self.filled.push(slot as u32);
        slot
    }

    /// Removes a controller; does nothing if it is unknown.
    pub fn remove(&mut self, who: ControllerId) {
        let Ok(at) = self.ids.binary_search(&who) else { return };
        self.ids.remove(at);
        let number = self.slots.remove(at);
        let slot = number as usize;
        self.owners[slot] = ControllerId::NONE;
        if let Some(record) = self.records[slot].take().filter(|_| self.spare.len() < MAX_SPARE) {
            self.spare.push(record);
        }
        (self.stamps[slot], self.shaped[slot], self.moved[slot]) = (Tick(0), Tick(0), Tick(0));
        (self.poses[slot], self.positions[slot]) = (None, None);
        self.pose_history[slot].clear();
        self.free.push(number);
        self.changes.push(number);
        self.filled.push(number);
    }

    /// Returns all controllers, sorted by id.
    pub fn ids(&self) -> &[ControllerId] {
        &self.ids
    }

    /// Returns the slot of a controller; `None` if it is unknown. A controller keeps its slot until it is removed.
    pub fn slot(&self, who: ControllerId) -> Option<usize> {
        self.ids.binary_search(&who).ok().map(|at| self.slots[at] as usize)
    }

    /// Returns the controller of each slot; [`ControllerId::NONE`] for a free slot.
    pub fn owners(&self) -> &[ControllerId] {
        &self.owners
    }

    /// Returns the tick of the last visible change of each slot.
    pub fn changed_ticks(&self) -> &[Tick] {
        &self.stamps
    }

    /// Returns the tick of the last change of the attribute sets or the mode of each slot. A client may get partial
    /// sections only after it acknowledged a section of that tick or later.
    pub fn shape_ticks(&self) -> &[Tick] {
        &self.shaped
    }

    /// Returns the tick of the last move of each slot.
    pub fn moved_ticks(&self) -> &[Tick] {
        &self.moved
    }

    /// Returns the position of each slot, rounded for observers.
    pub fn positions(&self) -> &[Option<[f64; 3]>] {
        &self.positions
    }

    /// Returns a counter that rises with each visible change, each move, and each added or removed controller.
    pub fn change_count(&self) -> u64 {
        self.first_change + self.changes.len() as u64
    }

    /// Returns the slots that were filled, cleared, changed or moved since the change count was `count`, unordered and
    /// possibly repeated. Returns `None` if the changes since then are no longer recorded, because `count` was read
    /// before the last tick. A `count` of 0 always returns `None`.
    pub fn changes_after(&self, count: u64) -> Option<&[u32]> {
        self.changes.get(usize::try_from(count.checked_sub(self.first_change)?).ok()?..)
    }

    /// Returns a counter that rises with each added or removed controller.
    pub fn filled_count(&self) -> u64 {
        self.first_filled + self.filled.len() as u64
    }

    /// Returns the slots that were filled or cleared since [`ReplicationStore::filled_count`] was `count`, under the
    /// same conditions as [`ReplicationStore::changes_after`].
    pub fn filled_after(&self, count: u64) -> Option<&[u32]> {
        self.filled.get(usize::try_from(count.checked_sub(self.first_filled)?).ok()?..)
    }

    /// Returns the replication mode of a controller; `None` if it is unknown.
    pub fn mode(&self, who: ControllerId) -> Option<ControllerReplication> {
        self.mode_at(self.slot(who)?)
    }

    /// Returns the replication mode of the controller in a slot.
    pub fn mode_at(&self, slot: usize) -> Option<ControllerReplication> {
        self.records.get(slot)?.as_ref().map(|r| r.shape.mode)
    }

    /// Returns the position of a controller, rounded for observers.
    pub fn pose(&self, who: ControllerId) -> Option<Pose> {
        self.pose_at(self.slot(who)?)
    }

    /// Returns the position of the controller in a slot.
    pub fn pose_at(&self, slot: usize) -> Option<Pose> {
        self.poses.get(slot).copied().flatten()
    }

    /// Returns the baseline for the position of the controller in a slot: the position that the client has of a tick.
    pub fn pose_baseline(&self, slot: usize, acked: Tick) -> Option<Baseline> {
        self.pose_history.get(slot)?.baseline(acked, self.tick)
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
            self.filled.drain(..self.old_filled);
            self.first_filled += self.old_filled as u64;
            self.old_filled = self.filled.len();
        }
    }

    /// Updates the records of changed rows. Changes that observers cannot see are ignored.
    pub fn update(&mut self, sim: &Sim, tick: Tick, changed: &[ControllerId]) {
        self.begin(tick);
        for &who in changed {
            if let Some(slot) = self.slot(who) {
                // The record of a removed row stays until it is removed here too.
                let _ = self.refresh(sim, slot);
            }
        }
    }

    fn refresh(&mut self, sim: &Sim, slot: usize) -> Result<(), Refusal> {
        let (who, tick) = (self.owners[slot], self.tick);
        let Some(record) = &mut self.records[slot] else { return Ok(()) };
        let mut is_changed = record.refresh((sim, who), tick, (&mut self.shapes, &mut self.scratch))?;
        if is_changed {
            self.stamps[slot] = tick;
            record.memos.clear();
        }
        self.shaped[slot] = record.shaped;
        let pose = sim.anchor(who)?.map(Pose::from);
        if pose != self.poses[slot] {
            (self.poses[slot], self.moved[slot]) = (pose, tick);
            match pose {
                Some(pose) => self.pose_history[slot].push(tick, pose),
                None => self.pose_history[slot].clear(),
            }
            self.positions[slot] = pose.map(|p| p.anchor().position);
            is_changed = true;
        }
        self.changes.extend(is_changed.then_some(slot as u32));
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
        self.records[self.slot(who)?].as_ref().map(|r| &*r.shape)
    }

    /// Records a burst cue.
    pub fn record_burst(&mut self, who: ControllerId, key: EffectKey, cue: TagId, position: Option<[f64; 3]>) {
        let Some(slot) = self.slot(who) else { return };
        if let Some(record) = &mut self.records[slot] {
            record.burst(key, cue, position, self.tick);
            record.memos.clear();
            self.stamps[slot] = self.tick;
            self.changes.push(slot as u32);
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
        self.slot(who).is_some_and(|slot| self.write_at(slot, since, out))
    }

    /// Returns how many bits [`ReplicationStore::write`] would write.
    pub fn size(&mut self, who: ControllerId, since: Tick) -> usize {
        self.slot(who).map_or(0, |slot| self.size_at(slot, since))
    }

    /// Returns how many bits [`ReplicationStore::write`] would write for the controller in a slot.
    pub fn size_at(&mut self, slot: usize, since: Tick) -> usize {
        self.section_at(slot, since).map_or(0, |memo| memo.bits)
    }

    /// Writes the visible changes of the controller in a slot, like [`ReplicationStore::write`].
    pub fn write_at(&mut self, slot: usize, since: Tick, out: &mut BitWriter) -> bool {
        let Some(memo) = self.section_at(slot, since) else { return false };
        memo.bits > 0 && out.append(self.written.finish(), memo.begin, memo.bits).is_ok()
    }

    /// Returns where the section of a slot for clients at a tick is stored; it is written if it is missing.
    fn section_at(&mut self, slot: usize, since: Tick) -> Option<Memo> {
        if *self.stamps.get(slot)? <= since && since != Tick(0) {
            return None;
        }
        let record = self.records.get_mut(slot)?.as_mut()?;
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
            has_holdings: self.shapes.has_holdings,
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
