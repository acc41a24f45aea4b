//! The local runner: the capabilities that exist on one machine only.
//!
//! The row of a controller is compared between the server and the owning client, so a capability that runs on one of
//! them only cannot be state of the row. The local runner keeps such capabilities beside the sim: it reads the sim and
//! never changes it. What its capabilities may do is limited: they trigger cues, request abilities of a controller that
//! this machine plays, and switch or block other capabilities of the runner.

mod pass;
mod place;

pub use place::{FactPlace, LocalFact, insert_local_facts};

use super::Sim;
use crate::flow::{Home, LifeEvent, View, new_record};
use crate::query::{CapabilityReason, CapabilityView};
use crate::rules::{CapabilityAction, EntryPlace, Rules};
use crate::state::{Block, CapabilityRecord, RecordKey, Row, Stage};
use crate::{
    AbilityId, AbilitySetId, BlockSource, CapabilityId, CapabilityStep, ControllerId, Diagnostic, DiagnosticKind,
    NameKind, ReadError, Refusal, Role, SimTime, Target,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_doc::ReplicationMode;

/// Marks the handles of sets that this machine added for itself.
const LOCAL_HANDLE: u64 = 1 << 63;
/// The maximum number of diagnostics that are kept.
const MAX_DIAGNOSTICS: usize = 256;

/// An ability that a capability of the local runner requests. A session runs the request like a player's input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalRequest {
    /// The controller.
    pub who: ControllerId,
    /// The ability.
    pub ability: AbilityId,
    /// The target.
    pub target: Target,
}

/// The local capabilities of one controller.
#[derive(Clone, Debug, Default)]
struct LocalActor {
    /// Sorted by key.
    records: Vec<LocalRecord>,
    /// The blocks that local capabilities requested, sorted.
    blocks: Vec<Block>,
    /// The sets that this machine added for itself: handle and set, in the order in which they were added.
    sets: Vec<(u64, AbilitySetId)>,
    /// The entries of these sets, in order.
    entries: Vec<(RecordKey, EntryPlace)>,
    /// Whether the sets of the controller's document were added (`Mode: Local`).
    has_presets: bool,
    /// All capabilities that the row had when the runner last followed it, sorted.
    known: Vec<RecordKey>,
}

impl LocalActor {
    /// Gives records their new positions and indexes after a reload, and their blocks the new sources. `kept` has the
    /// old key of each record, in the order of the records.
    fn move_records(&mut self, kept: &[(RecordKey, u16, u16)]) {
        let source = |key: RecordKey| BlockSource::Capability { handle: key.handle, position: key.position };
        for block in &mut self.blocks {
            if let Some(&(key, position, _)) = kept.iter().find(|(key, ..)| source(*key) == block.source) {
                block.source = source(RecordKey { position, ..key });
            }
        }
        self.blocks.sort_unstable();
        for (LocalRecord { record, .. }, &(_, position, index)) in self.records.iter_mut().zip(kept) {
            (record.position, record.index) = (position, index);
        }
        self.records.sort_by_key(|local| local.record.key());
    }

    /// Lists the entries of the sets that this machine added. Called after every change of these sets.
    fn list_entries(&mut self, rules: &Rules) {
        self.entries.clear();
        for &(handle, set) in &self.sets {
            let places = rules.entries_of(set).into_iter().enumerate();
            self.entries.extend(places.map(|(at, place)| (RecordKey { handle, position: at as u16 }, place)));
        }
    }

    /// Returns whether nothing needs to be kept about the controller.
    fn is_idle(&self, exists: bool) -> bool {
        self.records.is_empty() && self.sets.is_empty() && !(self.has_presets && exists)
    }
}

/// A capability of the runner.
#[derive(Clone, Debug)]
struct LocalRecord {
    record: CapabilityRecord,
    /// The switches of the record in the row when the runner last read them.
    told: (bool, bool, SimTime),
}

/// Buffers that are reused, so that a frame in which nothing changes does not allocate.
#[derive(Clone, Debug, Default)]
struct Buffers {
    followed: Vec<ControllerId>,
    held: Vec<RecordKey>,
    wanted: Vec<CapabilityRecord>,
    running: Vec<ControllerId>,
    keys: Vec<RecordKey>,
    state: Vec<u8>,
    acts: Vec<CapabilityAction>,
}

/// Runs the capabilities that exist on this machine only; see [`Home::Local`].
///
/// The sessions of `ugas-net` own one. A host that uses a sim of a server or client without a session can run its own:
/// it calls [`LocalRunner::follow`] after every change and [`LocalRunner::run`] after every frame; see
/// [`LocalRunner::next_frame`].
///
/// ```
/// use ugas_core::{CapabilityState, LocalRunner, Role, Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, SetCapability, Side};
/// let rules = Rules::builder()
///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
///     .add(Capability::new("HealthBar"))
///     .add(CapabilitySet::new("CS_Hero").capability(SetCapability::new("HealthBar").side(Side::AllClients)))
///     .build()?;
/// // A listen server: an authoritative sim with a screen.
/// let mut sim = Sim::new(rules.clone(), SimConfig { role: Role::Authority, screen: true, ..Default::default() });
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals")?]))?;
/// sim.grant_set(hero, rules.ability_set("CS_Hero")?)?;
/// let bar = rules.capability("HealthBar")?;
/// assert_eq!(sim.capability_state(hero, bar)?, CapabilityState::Elsewhere);
/// let mut runner = LocalRunner::default();
/// runner.follow(&sim);
/// assert_eq!(runner.capabilities(&sim, hero)[0].state, CapabilityState::Active);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LocalRunner {
    actors: BTreeMap<ControllerId, LocalActor>,
    /// The rules of the records.
    rules: Option<Arc<Rules>>,
    handles: u64,
    /// The time of the last frame that ran.
    last_frame: SimTime,
    facts: Vec<LocalFact>,
    /// Where the facts of the steps that run now belong.
    place: FactPlace,
    requests: Vec<LocalRequest>,
    /// Handles of sets that a capability asked to remove.
    leaving: Vec<u64>,
    diagnostics: Vec<Diagnostic>,
    /// What was already reported, so that it is reported once.
    reported: Vec<(ControllerId, DiagnosticKind)>,
    buffers: Buffers,
}

impl LocalRunner {
    /// Follows the sim: starts the capabilities that run on this machine now, and ends those that no longer do.
    pub fn follow(&mut self, sim: &Sim) {
        if self.actors.is_empty() && sim.index.capable.is_empty() {
            self.rules = None;
            return;
        }
        self.follow_rules(sim);
        // A standalone sim runs everything in its rows, and so does a dedicated server.
        let runs_in_rows = match sim.config.role {
            Role::Standalone => true,
            Role::Authority => !sim.config.screen,
            Role::Client => false,
        };
        let has_presets = |who: &ControllerId| sim.row(*who).is_ok_and(|r| !r.play().capabilities().presets.is_empty());
        let capable = sim.index.capable.iter().copied().filter(|who| !runs_in_rows || has_presets(who));
        let mut all = std::mem::take(&mut self.buffers.followed);
        all.clear();
        all.extend(self.actors.keys().copied().chain(capable));
        all.sort_unstable();
        all.dedup();
        for &who in &all {
            self.follow_actor(sim, who);
        }
        self.buffers.followed = all;
    }

    /// Returns the time of the next frame that the runner runs before a time. A host whose ticks are longer than a frame
    /// advances the sim to each of these frames and calls [`LocalRunner::run`], so that each of them reads the state of
    /// its own time.
    ///
    /// ```
    /// use ugas_core::{LocalRunner, Role, Rules, Sim, SimConfig, SimTime};
    /// let mut sim = Sim::new(Rules::builder().build()?, SimConfig { role: Role::Authority, ..Default::default() });
    /// let (mut runner, end) = (LocalRunner::default(), SimTime::frames(3, 60));
    /// while let Some(frame) = runner.next_frame(&sim, end) {
    ///     sim.advance_to(frame);
    ///     runner.run(&sim);
    /// }
    /// sim.advance_to(end);
    /// runner.run(&sim);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_frame(&self, sim: &Sim, before: SimTime) -> Option<SimTime> {
        let frame = sim.config.frame.0.max(1);
        let next = (sim.state.now.0.div_euclid(frame) + 1).checked_mul(frame).map(SimTime)?;
        let has_records = || self.actors.values().any(|actor| !actor.records.is_empty());
        (next < before && has_records()).then_some(next)
    }

    /// Follows the sim, and then runs one frame if a frame moment has passed since the last call.
    pub fn run(&mut self, sim: &Sim) {
        self.follow(sim);
        let frame = sim.config.frame.0.max(1);
        let last = SimTime(sim.state.now.0.div_euclid(frame) * frame);
        if last > std::mem::replace(&mut self.last_frame, last) {
            let mut everyone = std::mem::take(&mut self.buffers.running);
            everyone.clear();
            everyone.extend(self.actors.keys().copied());
            for &who in &everyone {
                self.run_frame(sim, who);
            }
            self.buffers.running = everyone;
        }
    }

    /// Adds a capability set on this machine only, and returns its handle. This is how a machine adds sets to a
    /// controller whose document says `Mode: Local`. The attribute sets of its data components are not added: its
    /// capabilities wait until the controller has them.
    ///
    /// Returns [`Refusal::SetHeld`] if the controller already has the set.
    ///
    /// ```
    /// use ugas_core::{LocalRunner, Refusal, Role, Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, SetCapability};
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
    ///     .add(Capability::new("Steps"))
    ///     .add(CapabilitySet::new("CS_Sound").capability(SetCapability::new("Steps")))
    ///     .build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig { role: Role::Authority, ..Default::default() });
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals")?]))?;
    /// let (mut runner, sound) = (LocalRunner::default(), rules.ability_set("CS_Sound")?);
    /// let handle = runner.add_set(&sim, hero, sound)?;
    /// assert_eq!(runner.add_set(&sim, hero, sound), Err(Refusal::SetHeld { handle }));
    /// runner.remove_set(&sim, hero, handle)?;
    /// assert!(sim.capabilities(hero)?.is_empty(), "the sim has no part in it");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_set(&mut self, sim: &Sim, who: ControllerId, set: AbilitySetId) -> Result<u64, Refusal> {
        let row = sim.row(who)?;
        if !sim.rules.is_capability_set(set) {
            return Err(Refusal::UnknownName { kind: NameKind::AbilitySet, id: set.0 });
        }
        self.follow(sim);
        let shared = row.play().sets.iter().map(|held| (held.seq, held.set));
        let own = self.actors.get(&who).into_iter().flat_map(|actor| actor.sets.iter().copied());
        if let Some((handle, _)) = shared.chain(own).find(|held| held.1 == set) {
            return Err(Refusal::SetHeld { handle });
        }
        self.rules = Some(sim.rules.clone());
        let handle = self.push_set(&sim.view(), who, set);
        self.follow_actor(sim, who);
        Ok(handle)
    }

    /// Removes a set that this machine added for itself. Returns [`Refusal::StaleHandle`] for any other handle.
    pub fn remove_set(&mut self, sim: &Sim, who: ControllerId, handle: u64) -> Result<(), Refusal> {
        self.follow(sim);
        let actor = self.actors.get_mut(&who).ok_or(Refusal::StaleHandle)?;
        let at = actor.sets.iter().position(|held| held.0 == handle).ok_or(Refusal::StaleHandle)?;
        actor.sets.remove(at);
        actor.list_entries(&sim.rules);
        self.follow_actor(sim, who);
        Ok(())
    }

    /// Returns the capabilities of a controller as this machine runs them, in the order in which they run: those of the
    /// sim, with the states of the ones that the runner runs, and then those of the sets that this machine added.
    pub fn capabilities(&self, sim: &Sim, who: ControllerId) -> Vec<CapabilityView> {
        let mut all = sim.capabilities(who).unwrap_or_default();
        let (Some(actor), Ok(slot)) = (self.actors.get(&who), sim.slot(who)) else { return all };
        for LocalRecord { record, .. } in &actor.records {
            let mut seen = sim.view_capability(slot, who, record);
            let blocker = self.local_blocker(&sim.view(), who, record);
            if let Some(block) = blocker.filter(|_| record.ticks && record.stage == Stage::Inactive && record.enabled) {
                seen.state = crate::CapabilityState::Blocked;
                seen.blocked_by = seen.blocked_by.or(Some((block.tag, block.source)));
            }
            match all.iter_mut().find(|known| (known.handle, known.position) == (seen.handle, seen.position)) {
                Some(known) => *known = seen,
                None => all.push(seen),
            }
        }
        all
    }

    /// Returns every reason why the first capability of a class is not active on this machine. Unlike
    /// [`Sim::why_not_capability`], this function explains the capabilities that the runner runs.
    pub fn why_not_capability(
        &self,
        sim: &Sim,
        who: ControllerId,
        class: CapabilityId,
    ) -> Result<Vec<CapabilityReason>, ReadError> {
        let records = self.actors.get(&who).map_or(&[][..], |actor| &actor.records);
        let Some(LocalRecord { record, .. }) = records.iter().find(|local| local.record.class == class) else {
            return sim.why_not_capability(who, class);
        };
        let mut reasons = sim.reasons_of(sim.slot(who)?, who, record);
        let is_blocked = |reason: &CapabilityReason| matches!(reason, CapabilityReason::Blocked { .. });
        let blocker = self.local_blocker(&sim.view(), who, record);
        if let Some(Block { tag, source }) = blocker.filter(|_| record.ticks && record.stage != Stage::Active)
            && !reasons.iter().any(is_blocked)
        {
            reasons.retain(|reason| *reason != CapabilityReason::NextEvaluation);
            reasons.push(CapabilityReason::Blocked { tag, source });
        }
        Ok(reasons)
    }

    /// Returns the capability sets that this machine added to a controller for itself: handle and set.
    pub fn sets(&self, who: ControllerId) -> &[(u64, AbilitySetId)] {
        self.actors.get(&who).map_or(&[], |actor| &actor.sets)
    }

    /// Returns the facts since the last call; see [`insert_local_facts`].
    pub fn take_facts(&mut self) -> Vec<LocalFact> {
        std::mem::take(&mut self.facts)
    }

    /// Returns the abilities that capabilities requested since the last call.
    pub fn take_requests(&mut self) -> Vec<LocalRequest> {
        std::mem::take(&mut self.requests)
    }

    /// Returns the diagnostics since the last call: requests to change shared state, and classes without a document or
    /// code. Each is reported once for a controller.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    fn push_set(&mut self, view: &View<'_>, who: ControllerId, set: AbilitySetId) -> u64 {
        self.handles += 1;
        let handle = LOCAL_HANDLE | self.handles;
        let actor = self.actors.entry(who).or_default();
        actor.sets.push((handle, set));
        actor.list_entries(view.rules);
        for &place in &view.rules.entries_of(set) {
            if let Some(entry) = view.rules.capability_entry(place).filter(|entry| !view.has_behavior(entry.class)) {
                self.report_missing_code(view, who, place.set, entry.class);
            }
        }
        handle
    }

    /// Reports a class that has neither a document nor code here.
    fn report_missing_code(&mut self, view: &View<'_>, who: ControllerId, set: AbilitySetId, class: CapabilityId) {
        self.diagnose(view.st.now, who, DiagnosticKind::CapabilityWithoutCode { set, class });
    }

    /// Follows new rules. A record whose entry still exists keeps its stage and state. All others end under the old
    /// rules.
    fn follow_rules(&mut self, sim: &Sim) {
        let Some(past) = self.rules.replace(sim.rules.clone()).filter(|past| !Arc::ptr_eq(past, &sim.rules)) else {
            return;
        };
        let everyone: Vec<ControllerId> = self.actors.keys().copied().collect();
        for who in everyone {
            let Some(actor) = self.actors.get_mut(&who) else { continue };
            actor.sets.retain(|held| sim.rules.is_capability_set(held.1));
            actor.list_entries(&sim.rules);
            let mut wanted = Vec::new();
            self.list_wanted(sim, who, &mut wanted);
            let Some(actor) = self.actors.get_mut(&who) else { continue };
            // Entries that are the same have the same grant, set and class, and the same place among those.
            let mut left: Vec<Option<CapabilityRecord>> = wanted.into_iter().map(Some).collect();
            let (mut kept, mut ends) = (Vec::new(), Vec::new());
            for LocalRecord { record, .. } in &actor.records {
                let is_same = |new: &&mut Option<CapabilityRecord>| {
                    let name = |r: &CapabilityRecord| (r.handle, r.set, r.class, r.side);
                    new.as_ref().is_some_and(|new| name(new) == name(record))
                };
                match left.iter_mut().find(is_same).and_then(Option::take) {
                    Some(new) => kept.push((record.key(), new.position, new.index)),
                    None => ends.push(record.key()),
                }
            }
            self.place = FactPlace::BeforeEnd;
            for key in ends.into_iter().rev() {
                self.end(&View { rules: &past, ..sim.view() }, who, key);
            }
            self.place = FactPlace::Last;
            if let Some(actor) = self.actors.get_mut(&who) {
                actor.move_records(&kept);
            }
        }
    }

    /// Lists new records for all capabilities of a controller that the runner runs, sorted by key.
    fn list_wanted(&self, sim: &Sim, who: ControllerId, into: &mut Vec<CapabilityRecord>) {
        into.clear();
        let Ok(row) = sim.row(who) else { return };
        let view = sim.view();
        let is_proxy = sim.config.role == Role::Client && sim.index.hidden.is_proxy(who);
        // A client runs nothing of a set that is not replicated to it. The set may be part of one that is.
        let is_known = |set: AbilitySetId| match sim.rules.set_replication(set) {
            ReplicationMode::All => true,
            ReplicationMode::OwnerOnly => !is_proxy,
            ReplicationMode::None => sim.config.role != Role::Client,
        };
        let runs = |r: &CapabilityRecord| {
            view.has_behavior(r.class) && view.home_of(who, r.side) == Home::Local && is_known(r.set)
        };
        let shared = row.play().capabilities().records.iter().filter(|r| runs(r));
        into.extend(shared.map(|r| from_row(&view, r)));
        let own = self.actors.get(&who).map_or(&[][..], |actor| &actor.entries);
        into.extend(own.iter().filter_map(|&(key, place)| {
            let entry = sim.rules.capability_entry(place)?;
            Some(new_record(entry, place.set, place.index, key))
        }));
    }

    /// Starts and ends the capabilities of a controller as its sides require.
    fn follow_actor(&mut self, sim: &Sim, who: ControllerId) {
        self.add_presets(sim, who);
        let (mut held, mut wanted) = (std::mem::take(&mut self.buffers.held), std::mem::take(&mut self.buffers.wanted));
        let actor = self.actors.entry(who).or_default();
        held.clear();
        match sim.row(who) {
            Ok(row) => held.extend(row.play().capabilities().records.iter().map(CapabilityRecord::key)),
            Err(_) => {
                actor.sets.clear();
                actor.entries.clear();
            }
        }
        self.list_wanted(sim, who, &mut wanted);
        // A handle may come back with another set when an older state is restored.
        let is_wanted = |record: &CapabilityRecord| {
            let same = |new: &CapabilityRecord| (new.place(), new.class) == (record.place(), record.class);
            wanted.binary_search_by_key(&record.key(), CapabilityRecord::key).is_ok_and(|at| same(&wanted[at]))
        };
        let running = self.actors.get(&who).into_iter().flat_map(|actor| actor.records.iter().rev());
        let gone = running.map(|local| &local.record).filter(|record| !is_wanted(record));
        let gone: Vec<RecordKey> = gone.map(CapabilityRecord::key).collect();
        for key in gone {
            self.place = if held.binary_search(&key).is_ok() { FactPlace::Last } else { FactPlace::BeforeEnd };
            self.end(&sim.view(), who, key);
        }
        self.leave_own(sim, who);
        self.start_all(sim, who, &mut wanted);
        self.place = FactPlace::Last;
        self.report_inert(sim, who);
        self.take_switches(sim, who);
        match self.actors.get_mut(&who) {
            Some(actor) if held.is_empty() && actor.is_idle(sim.row(who).is_ok()) => {
                self.actors.remove(&who);
                self.reported.retain(|reported| reported.0 != who);
            }
            Some(actor) => actor.known.clone_from(&held),
            None => {}
        }
        (self.buffers.held, self.buffers.wanted) = (held, wanted);
    }

    /// Adds the sets of the controller's document (`Mode: Local`), once.
    fn add_presets(&mut self, sim: &Sim, who: ControllerId) {
        let presets = sim.row(who).map_or(&[][..], |row| &row.play().capabilities().presets);
        if !presets.is_empty() && !self.actors.get(&who).is_some_and(|actor| actor.has_presets) {
            self.actors.entry(who).or_default().has_presets = true;
            presets.iter().for_each(|&set| {
                self.push_set(&sim.view(), who, set);
            });
        }
    }

    /// Starts the capabilities that are not running yet, in order. Those of own sets begin their life here, also if
    /// their side does not run on this machine.
    fn start_all(&mut self, sim: &Sim, who: ControllerId, wanted: &mut Vec<CapabilityRecord>) {
        let view = sim.view();
        for record in wanted.drain(..) {
            let (key, runs) = (record.key(), runs_here(&view, who, &record));
            let Some(actor) = self.actors.get_mut(&who) else { return };
            let at = actor.records.binary_search_by_key(&key, |local| local.record.key());
            let is_known = actor.known.binary_search(&key).is_ok();
            self.place = if is_known { FactPlace::Last } else { FactPlace::AfterStart };
            match at {
                Ok(at) if actor.records[at].record.stage != Stage::Elsewhere => continue,
                Ok(_) => {}
                Err(at) => {
                    let told = (record.enabled, record.ticks, record.interval);
                    actor.records.insert(at, LocalRecord { record, told });
                    if is_own(key) {
                        self.emit(sim.state.now, who, key, CapabilityStep::StartLife);
                    }
                }
            }
            if runs {
                self.live(&view, who, key, LifeEvent::Arrive);
                self.set_up(&view, who, key);
            }
        }
    }

    /// Ends the capabilities of own sets whose side no longer runs here. They keep their life.
    fn leave_own(&mut self, sim: &Sim, who: ControllerId) {
        let view = sim.view();
        let records = self.actors.get(&who).into_iter().flat_map(|actor| actor.records.iter().rev());
        let own = records.map(|local| &local.record).filter(|r| is_own(r.key()) && r.stage != Stage::Elsewhere);
        let left: Vec<RecordKey> = own.filter(|r| !runs_here(&view, who, r)).map(CapabilityRecord::key).collect();
        for key in left {
            self.live(&view, who, key, LifeEvent::Leave);
        }
    }

    /// Reports the new capabilities of a row that have neither a document nor code on this client. An authoritative sim
    /// reports them itself.
    fn report_inert(&mut self, sim: &Sim, who: ControllerId) {
        let Ok(row) = sim.row(who) else { return };
        if sim.config.role != Role::Client {
            return;
        }
        let (view, known) = (sim.view(), self.actors.get(&who).map_or(&[][..], |actor| &actor.known));
        let new = row.play().capabilities().records.iter().filter(|r| known.binary_search(&r.key()).is_err());
        let inert: Vec<_> = new.filter(|r| !view.has_behavior(r.class)).map(|r| (r.set, r.class)).collect();
        for (set, class) in inert {
            self.report_missing_code(&view, who, set, class);
        }
    }

    /// Takes over the switches of the row's record if they changed there.
    fn take_switches(&mut self, sim: &Sim, who: ControllerId) {
        let (Some(actor), Ok(row)) = (self.actors.get_mut(&who), sim.row(who)) else { return };
        let now = local_now(row, sim.state.now);
        for LocalRecord { record, told } in &mut actor.records {
            let Some(shared) = row.play().capabilities().find(record.key()) else { continue };
            let new = (shared.enabled, shared.ticks, shared.interval);
            if std::mem::replace(told, new) != new {
                if record.interval != new.2 {
                    record.last = now;
                }
                (record.enabled, record.ticks, record.interval) = new;
            }
        }
    }

    fn record(&self, who: ControllerId, key: RecordKey) -> Option<&CapabilityRecord> {
        let records = &self.actors.get(&who)?.records;
        let at = records.binary_search_by_key(&key, |local| local.record.key()).ok()?;
        Some(&records[at].record)
    }

    fn record_mut(&mut self, who: ControllerId, key: RecordKey) -> Option<&mut CapabilityRecord> {
        let records = &mut self.actors.get_mut(&who)?.records;
        let at = records.binary_search_by_key(&key, |local| local.record.key()).ok()?;
        Some(&mut records[at].record)
    }

    /// Returns the records of a class on a controller.
    fn records_of(&mut self, who: ControllerId, class: CapabilityId) -> impl Iterator<Item = &mut CapabilityRecord> {
        let records = self.actors.get_mut(&who).into_iter().flat_map(|actor| actor.records.iter_mut());
        records.map(|local| &mut local.record).filter(move |record| record.class == class)
    }
}

/// Returns the record of a capability of the row, for the runner.
fn from_row(view: &View<'_>, shared: &CapabilityRecord) -> CapabilityRecord {
    let CapabilityRecord { enabled, ticks, interval, .. } = *shared;
    let made = view.rules.capability_entry(shared.place());
    let made = made.map(|entry| new_record(entry, shared.set, shared.index, shared.key()));
    CapabilityRecord { enabled, ticks, interval, ..made.unwrap_or_else(|| shared.clone()) }
}

/// Returns whether a capability belongs to a set that this machine added for itself.
fn is_own(key: RecordKey) -> bool {
    key.handle & LOCAL_HANDLE != 0
}

/// Returns whether a capability of the runner runs on this machine. The runner has those of shared sets only while they
/// do.
fn runs_here(view: &View<'_>, who: ControllerId, record: &CapabilityRecord) -> bool {
    let is_here = match view.home_of(who, record.side) {
        Home::Row | Home::Local => true,
        Home::Replicated | Home::Nowhere => false,
    };
    !is_own(record.key()) || is_here && view.has_behavior(record.class)
}

fn local_now(row: &Row, now: SimTime) -> SimTime {
    row.clock.local(now)
}
