//! The selection of actors for the next packet of one client.
//!
//! The schedule visits only actors that may need an update: actors that changed or moved, that did not fit into an
//! earlier packet, or whose packet was lost. It does not visit unchanged actors. Only relevant actors have an entry, so
//! that the entries of a client are close together in memory.

use super::fill::{Candidate, Fill};
use super::{Interest, PacketPlan, PlannedPose, PlannedUpdate, ScheduleRequest};
use crate::types::Tick;
use crate::view::ReplicationStore;
use ugas_core::ControllerId;
use ugas_doc::ControllerReplication;

/// The state of one relevant actor at the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScheduledActor {
    pub(super) who: ControllerId,
    /// The slot of the actor in the store.
    pub(super) slot: u32,
    /// The tick at which the actor became relevant; acks of earlier ticks are ignored.
    entered: Tick,
    /// The tick up to which all changes were sent and not lost.
    since: Tick,
    /// The tick of the newest state that the client acknowledged. That state contained the changes after `acked_since`.
    acked: Tick,
    acked_since: Tick,
    sent: Tick,
    pose_since: Tick,
    pose_sent: Tick,
    /// The tick of the newest position that the client acknowledged.
    pose_acked: Tick,
    /// The priority of the actor, which rises while its update waits to be sent.
    urgency: u64,
    /// Whether its state is in the reliable stream.
    is_streaming: bool,
    /// Whether the client gets its exact state.
    is_exact: bool,
}

impl ScheduledActor {
    /// The entry of an actor that became relevant at a tick: the client has nothing of it.
    pub(super) fn new(who: ControllerId, slot: u32, entered: Tick) -> ScheduledActor {
        let none = Tick(0);
        ScheduledActor {
            who,
            slot,
            entered,
            since: none,
            acked: none,
            acked_since: none,
            sent: none,
            pose_since: none,
            pose_sent: none,
            pose_acked: none,
            urgency: 0,
            is_streaming: false,
            is_exact: false,
        }
    }

    /// Returns whether the server should send the actor again. The actor last changed at tick `stamp` and last moved at
    /// tick `moved`. On a lossy link, a change is sent until the client acknowledges it.
    fn is_behind(&self, stamp: Tick, moved: Tick, lossy: bool) -> bool {
        let is_unacked = lossy && stamp > self.acked;
        !self.is_exact && (stamp > self.since || moved > self.pose_since || is_unacked)
    }
}

/// The state that one client has of each actor, and the selection of the actors to send next.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
/// use ugas_net::interest::Viewer;
/// use ugas_net::internals::{ScheduleRequest, Interest, PlannedUpdate, PacketPlan, Schedule};
/// use ugas_net::types::Tick;
/// use ugas_net::internals::view::ReplicationStore;
/// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()]))?;
/// let length = SimTime::millis(20);
/// let mut store = ReplicationStore::new(rules, length);
/// store.add(&sim, who, ControllerReplication::Full, Tick(1))?;
/// let (interest, mut schedule, mut plan) = (Interest::default(), Schedule::default(), PacketPlan::default());
/// let viewer = Viewer::default();
/// let request = ScheduleRequest { viewer, tick: Tick(1), length, round_trip: length, room: 1000, packet: 1000, lossy: false };
/// schedule.select(&mut store, &interest, &request, &mut plan);
/// assert_eq!((plan.entered[0], plan.state[0].since), (who, Tick(0)));
/// let sent: PlannedUpdate = plan.state[0];
/// schedule.select(&mut store, &interest, &ScheduleRequest { tick: Tick(2), ..request }, &mut plan);
/// assert!(plan.state.is_empty(), "nothing changed since");
/// schedule.on_lost(&sent, Tick(1));
/// schedule.select(&mut store, &interest, &ScheduleRequest { tick: Tick(3), ..request }, &mut plan);
/// assert_eq!(plan.state[0].who, who);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The relevant actors.
    pub(super) entries: Vec<ScheduledActor>,
    /// The index of the entry of each slot, if its actor is relevant.
    pub(super) places: Vec<u32>,
    /// Whether the actor of each slot is relevant. A separate list, because all actors of a client that moves are
    /// evaluated in each tick.
    pub(super) relevant: Vec<bool>,
    /// The tick at which an actor in each slot stopped being relevant; 0 if none did.
    pub(super) left: Vec<Tick>,
    /// Whether each slot is in the list to visit.
    pub(super) listed: Vec<bool>,
    /// Slots whose relevance may have changed.
    pub(super) changed: Vec<u32>,
    fill: Fill,
    /// The change count of the store up to which changes were read.
    pub(super) read: u64,
    /// The count of filled and cleared slots up to which the entries match the store.
    pub(super) synced: u64,
    /// The slots to visit.
    pub(super) visits: Vec<u32>,
    /// The positions, the owned controllers and the targets of the client when relevance was last evaluated.
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) owned: Vec<ControllerId>,
    pub(super) targets: Vec<ControllerId>,
    /// Whether the next packet evaluates the relevance of all actors.
    pub(super) evaluates_all: bool,
    /// The tick of the last periodic evaluation.
    pub(super) last_evaluation: Tick,
}

impl Schedule {
    /// Selects the actors of the next packet. The packet is assumed to be sent.
    pub fn select(
        &mut self,
        store: &mut ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        plan.clear();
        self.collect_visits(store, interest, request, plan);
        self.collect_candidates(store, interest, request);
        let room = request.room.saturating_mul(8);
        plan.more = self.fill.limit(room);
        self.measure(store, request, plan);
        plan.more |= self.fill.fit(room);
        for candidate in self.fill.chosen() {
            let entry = &mut self.entries[self.places[candidate.slot as usize] as usize];
            entry.urgency = 0;
            let (who, slot) = (entry.who, candidate.slot);
            if let Some(since) = candidate.state {
                plan.state.push(PlannedUpdate { who, slot, since });
                (entry.since, entry.sent) = (request.tick, request.tick);
            }
            if candidate.pose {
                let (since, acked) = (entry.pose_since, entry.pose_acked);
                plan.poses.push(PlannedPose { who, slot, since, acked });
                (entry.pose_since, entry.pose_sent) = (request.tick, request.tick);
            }
        }
        let (stamps, moved) = (store.changed_ticks(), store.moved_ticks());
        let Schedule { entries, places, relevant, listed, visits, .. } = self;
        visits.retain(|&slot| {
            let slot = slot as usize;
            let is_behind = || entries[places[slot] as usize].is_behind(stamps[slot], moved[slot], request.lossy);
            listed[slot] = relevant[slot] && is_behind();
            listed[slot]
        });
    }

    /// Collects the actors that need an update now.
    fn collect_candidates(&mut self, store: &ReplicationStore, interest: &Interest, request: &ScheduleRequest) {
        let Interest { priority, rates, .. } = interest;
        self.fill.clear();
        if self.visits.is_empty() {
            return;
        }
        let ticks = rates.ticks(request.round_trip, request.length);
        let due = |sent: Tick, ticks: u32| sent == Tick(0) || request.tick >= sent.plus(ticks);
        // An owning client gets the exact state if the mode allows it.
        let is_exact_mode = |mode| matches!(mode, Some(ControllerReplication::Mixed | ControllerReplication::Full));
        for &slot in &self.visits {
            let at = slot as usize;
            if !self.relevant[at] {
                continue;
            }
            let entry = &mut self.entries[self.places[at] as usize];
            let who = entry.who;
            entry.is_exact = request.viewer.owned.contains(&who) && is_exact_mode(store.mode_at(at));
            let (stamp, moved) = (store.changed_ticks()[at], store.moved_ticks()[at]);
            if !entry.is_behind(stamp, moved, true) {
                continue;
            }
            // An actor that the client's commands changed is in every packet until acknowledged: otherwise a lost
            // packet would revert the prediction for a moment.
            let is_unacked = stamp > entry.acked && entry.sent < request.tick;
            let is_touched = is_unacked && request.viewer.targets.contains(&who);
            let position = store.positions()[at];
            let (pose_ticks, state_ticks) = ticks[priority.kind(&request.viewer, who, position) as usize];
            let is_due = (stamp > entry.since || is_unacked && request.lossy) && due(entry.sent, state_ticks);
            // A partial state can be read only after the shape is acknowledged.
            let since = match () {
                () if entry.acked < store.shape_ticks()[at] => Tick(0),
                () if is_touched || request.lossy => entry.acked.min(entry.since),
                () => entry.since,
            };
            let state = ((is_due || is_touched) && !entry.is_streaming).then_some(since);
            if position.is_none() {
                // There is no position to send.
                entry.pose_since = request.tick;
            }
            let pose = moved > entry.pose_since && due(entry.pose_sent, pose_ticks);
            if state.is_some() || pose {
                let weight = priority.weight(&request.viewer, who, position).max(1) as u64;
                entry.urgency = if is_touched { u64::MAX } else { entry.urgency.saturating_add(weight) };
                let (urgency, sent) = (entry.urgency, entry.sent);
                let is_repeat = stamp <= entry.since && !is_touched && !pose;
                self.fill.push(Candidate { slot, who, urgency, sent, state, pose, is_repeat, bits: 0 });
            }
        }
    }

    /// Determines the size of each candidate. A state that is longer than a packet is planned for the reliable stream.
    fn measure(&mut self, store: &mut ReplicationStore, request: &ScheduleRequest, plan: &mut PacketPlan) {
        let Schedule { entries, places, fill, .. } = self;
        fill.measure(|candidate| {
            let at = candidate.slot as usize;
            let entry = &mut entries[places[at] as usize];
            let mut state_bits = 0;
            if let Some(since) = candidate.state {
                state_bits = store.size_at(at, since);
                if state_bits > request.packet.saturating_mul(8) {
                    plan.large.push(PlannedUpdate { who: entry.who, slot: candidate.slot, since });
                    (entry.since, entry.sent, entry.is_streaming) = (request.tick, request.tick, true);
                    state_bits = 0;
                } else if state_bits == 0 {
                    entry.since = request.tick;
                }
            }
            candidate.state = candidate.state.filter(|_| state_bits > 0);
            let pose = store.pose_at(at).filter(|_| candidate.pose);
            let pose_bits = pose.map(|pose| pose.bits(store.pose_baseline(at, entry.pose_acked)));
            candidate.pose = pose_bits.is_some();
            let bits = state_bits + pose_bits.unwrap_or(0);
            if bits == 0 {
                entry.urgency = 0;
            }
            bits
        });
        plan.large.sort_unstable_by_key(|update| update.who);
    }

    /// Returns the entry of an actor in a slot, if it is relevant.
    fn entry(&self, who: ControllerId, slot: u32) -> Option<&ScheduledActor> {
        let is_relevant = *self.relevant.get(slot as usize)?;
        is_relevant.then(|| &self.entries[self.places[slot as usize] as usize]).filter(|entry| entry.who == who)
    }

    fn entry_mut(&mut self, who: ControllerId, slot: u32) -> Option<&mut ScheduledActor> {
        let is_relevant = *self.relevant.get(slot as usize)?;
        is_relevant.then(|| &mut self.entries[self.places[slot as usize] as usize]).filter(|entry| entry.who == who)
    }

    /// Adds an actor to the list to visit. Returns its entry.
    fn list_entry(&mut self, who: ControllerId, slot: u32) -> Option<&mut ScheduledActor> {
        self.entry(who, slot)?;
        self.list_slot(slot);
        self.entry_mut(who, slot)
    }

    /// Records that a state of this tick was lost. Nothing is resent if a later state that contains the changes of the
    /// lost state has arrived.
    pub fn on_lost(&mut self, update: &PlannedUpdate, tick: Tick) {
        let entry = self.list_entry(update.who, update.slot);
        if let Some(entry) = entry.filter(|e| tick > e.acked || update.since < e.acked_since) {
            entry.since = entry.since.min(update.since);
        }
    }

    /// Records that a position update was lost.
    pub fn on_pose_lost(&mut self, update: &PlannedPose) {
        if let Some(entry) = self.list_entry(update.who, update.slot) {
            entry.pose_since = entry.pose_since.min(update.since);
        }
    }

    /// Records that the client acknowledged a position of this tick.
    pub fn on_pose_acked(&mut self, update: &PlannedPose, tick: Tick) {
        let entry = self.entry_mut(update.who, update.slot);
        if let Some(entry) = entry.filter(|e| tick >= e.entered && tick > e.pose_acked) {
            entry.pose_acked = tick;
        }
    }

    /// Records that the client acknowledged a state of this tick.
    pub fn on_acked(&mut self, update: &PlannedUpdate, tick: Tick) {
        let entry = self.entry_mut(update.who, update.slot);
        if let Some(entry) = entry.filter(|e| tick >= e.entered && tick > e.acked) {
            (entry.acked_since, entry.acked) = (update.since, tick);
        }
    }

    /// Records that a state in the reliable stream arrived; `tick` is the tick of the state.
    pub fn on_streamed(&mut self, update: &PlannedUpdate, tick: Tick) {
        if let Some(entry) = self.list_entry(update.who, update.slot) {
            entry.is_streaming = false;
            // Other states are acknowledged separately.
            self.on_acked(&PlannedUpdate { since: tick, ..*update }, tick);
        }
    }

    /// Records that a state did not fit into the reliable stream.
    pub fn on_stream_full(&mut self, update: &PlannedUpdate) {
        if let Some(entry) = self.list_entry(update.who, update.slot) {
            entry.is_streaming = false;
            entry.since = entry.since.min(update.since);
        }
    }

    /// Returns whether the client may lack a change of an actor up to this tick.
    pub fn is_missing(&self, store: &ReplicationStore, who: ControllerId, tick: Tick) -> bool {
        let Some(slot) = store.slot(who) else { return false };
        let is_behind = |e: &ScheduledActor| e.acked < tick && e.acked < store.changed_ticks()[slot];
        self.entry(who, slot as u32).is_some_and(is_behind)
    }

    /// Returns whether an actor is relevant to the client.
    pub fn is_relevant(&self, store: &ReplicationStore, who: ControllerId) -> bool {
        store.slot(who).is_some_and(|slot| self.entry(who, slot as u32).is_some())
    }

    /// Returns whether an actor stopped being relevant at this tick or later.
    pub fn was_relevant_since(&self, store: &ReplicationStore, who: ControllerId, since: Tick) -> bool {
        let left = store.slot(who).and_then(|slot| self.left.get(slot));
        left.is_some_and(|&left| left > Tick(0) && left >= since)
    }

    /// Schedules the state of all actors to be sent again from this tick on, because the client could not read an
    /// update.
    pub fn resync(&mut self, tick: Tick) {
        self.entries.iter_mut().for_each(|entry| *entry = ScheduledActor::new(entry.who, entry.slot, tick));
        self.list_all();
    }

    /// Returns whether the client has the complete visible state of an actor, counting updates in flight as received.
    pub fn is_current(&self, store: &ReplicationStore, who: ControllerId) -> bool {
        let Some(slot) = store.slot(who) else { return false };
        self.entry(who, slot as u32).is_some_and(|entry| store.changed_ticks()[slot] <= entry.since)
    }
}
