//! The selection of actors for the next packet of one client.
//!
//! The schedule visits only actors that may need an update: actors that changed or moved, that did not fit into an
//! earlier packet, or whose packet was lost. It does not visit unchanged actors.

use super::{Interest, PacketPlan, PlannedUpdate, RelevanceUpdate, ScheduleRequest, Viewer};
use crate::types::Tick;
use crate::view::ReplicationStore;
use std::cmp::Reverse;
use ugas_core::ControllerId;
use ugas_doc::ControllerReplication;

/// The maximum number of bits of an actor's id.
const ID_BITS: usize = 42;
/// The maximum number of bits of an actor's position with its id.
const POSE_BITS: usize = 184;

/// The state of one actor at the client.
#[derive(Clone, Copy, Debug)]
struct ScheduledActor {
    who: ControllerId,
    is_relevant: bool,
    /// The tick at which the actor became relevant; acks of earlier ticks are ignored.
    entered: Tick,
    /// The tick up to which all changes were sent and not lost.
    since: Tick,
    /// The last acknowledged tick, and the tick it was written from.
    acked: Tick,
    acked_since: Tick,
    sent: Tick,
    pose_since: Tick,
    pose_sent: Tick,
    /// Its priority, which rises while it waits.
    urgency: u64,
    /// Whether its state is in the reliable stream.
    is_streaming: bool,
    /// Whether it is in the list to visit.
    is_listed: bool,
    /// Whether the client gets its exact state.
    is_exact: bool,
}

impl ScheduledActor {
    fn new(who: ControllerId, is_relevant: bool, entered: Tick) -> ScheduledActor {
        let none = Tick(0);
        ScheduledActor {
            who,
            is_relevant,
            entered,
            since: none,
            acked: none,
            acked_since: none,
            sent: none,
            pose_since: none,
            pose_sent: none,
            urgency: 0,
            is_streaming: false,
            is_listed: false,
            is_exact: false,
        }
    }

    /// Returns whether the client may lack a change or a move of these ticks.
    fn is_behind(&self, stamp: Tick, moved: Tick, lossy: bool) -> bool {
        let is_unacked = lossy && stamp > self.acked;
        self.is_relevant && !self.is_exact && (stamp > self.since || moved > self.pose_since || is_unacked)
    }
}

/// An actor that needs an update.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    at: usize,
    who: ControllerId,
    urgency: u64,
    sent: Tick,
    /// The tick its state is written from, if it has changes.
    state: Option<Tick>,
    pose: bool,
    /// Whether all of its changes were sent before and may be in flight.
    is_repeat: bool,
    bits: usize,
}

/// The state that one client has of each actor, and the selection of the actors to send next.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
/// use ugas_net::interest::{Viewer};
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
/// schedule.select(&mut store, &interest, &ScheduleRequest { tick: Tick(2), ..request }, &mut plan);
/// assert!(plan.state.is_empty(), "nothing changed since");
/// schedule.on_lost(&PlannedUpdate { who, since: Tick(0) }, Tick(1));
/// schedule.select(&mut store, &interest, &ScheduleRequest { tick: Tick(3), ..request }, &mut plan);
/// assert_eq!(plan.state[0].who, who);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The roster of the store that the entries match.
    roster: u64,
    /// Parallel to the ids of the store.
    entries: Vec<ScheduledActor>,
    candidates: Vec<Candidate>,
    /// The change count of the store up to which changes were read.
    read: u64,
    /// The entries to visit.
    visits: Vec<u32>,
    /// The client at the last evaluation of relevance.
    position: Option<[f64; 3]>,
    owned: Vec<ControllerId>,
    targets: Vec<ControllerId>,
    /// Whether relevance is evaluated for all actors.
    evaluates_all: bool,
    /// The tick of the last periodic evaluation.
    last_evaluation: Tick,
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
        self.sync_entries(store, plan);
        self.collect_visits(store, interest, request, plan);
        self.collect_candidates(store, interest, request, plan);
        let room = request.room.saturating_mul(8);
        let total: usize = self.candidates.iter().map(|c| c.bits).sum();
        plan.more = total > room;
        if plan.more {
            self.candidates.sort_unstable_by_key(|c| (c.is_repeat, Reverse(c.urgency), c.sent, c.who));
            self.keep_fitting(room);
            self.candidates.sort_unstable_by_key(|c| c.who);
        }
        for candidate in &self.candidates {
            let entry = &mut self.entries[candidate.at];
            entry.urgency = 0;
            if let Some(since) = candidate.state {
                plan.state.push(PlannedUpdate { who: entry.who, since });
                (entry.since, entry.sent) = (request.tick, request.tick);
            }
            if candidate.pose {
                plan.poses.push(PlannedUpdate { who: entry.who, since: entry.pose_since });
                (entry.pose_since, entry.pose_sent) = (request.tick, request.tick);
            }
        }
        let (entries, stamps, moved) = (&mut self.entries, store.changed_ticks(), store.moved_ticks());
        self.visits.retain(|&at| {
            let at = at as usize;
            entries[at].is_listed = entries[at].is_behind(stamps[at], moved[at], request.lossy);
            entries[at].is_listed
        });
    }

    /// Keeps the candidates with the highest priority that fit. Smaller candidates may fill the remaining space, unless
    /// the first candidate does not fit: otherwise the first candidate could wait for ever.
    fn keep_fitting(&mut self, room: usize) {
        let (mut used, mut is_first, mut is_closed) = (0, true, false);
        self.candidates.retain(|c| {
            let fits = !is_closed && used + c.bits <= room;
            is_closed |= is_first && !fits;
            is_first = false;
            used += if fits { c.bits } else { 0 };
            fits
        });
    }

    /// Matches the entries with the actors of the store.
    fn sync_entries(&mut self, store: &ReplicationStore, plan: &mut PacketPlan) {
        if self.roster == store.roster() {
            return;
        }
        self.roster = store.roster();
        (self.evaluates_all, self.read) = (true, 0);
        self.visits.clear();
        let mut old = std::mem::take(&mut self.entries).into_iter().peekable();
        for &who in store.ids() {
            while let Some(removed) = old.next_if(|e| e.who < who) {
                plan.left.extend(removed.is_relevant.then_some(removed.who));
            }
            let known = old.next_if(|e| e.who == who).map(|e| ScheduledActor { is_listed: false, ..e });
            self.entries.push(known.unwrap_or(ScheduledActor::new(who, false, Tick(0))));
        }
        plan.left.extend(old.filter(|e| e.is_relevant).map(|e| e.who));
    }

    /// Collects the actors to visit, and evaluates relevance where its inputs changed.
    fn collect_visits(
        &mut self,
        store: &ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let Viewer { owned, targets, position } = request.viewer;
        let changes = store.changes_after(self.read);
        self.read = store.change_count();
        let update = interest.relevance.update();
        let is_moved = self.position != position && update != RelevanceUpdate::Once;
        let all = 0..self.entries.len() as u32;
        match changes {
            Some(changes) => changes.iter().for_each(|&at| self.list_at(at)),
            None => all.clone().for_each(|at| self.list_at(at)),
        }
        let evaluates_all = std::mem::take(&mut self.evaluates_all);
        if changes.is_none() || is_moved || self.owned != owned || evaluates_all {
            all.for_each(|at| self.evaluate_relevance(at, store, interest, request, plan));
        } else {
            for &at in changes.into_iter().flatten().filter(|_| update != RelevanceUpdate::Once) {
                self.evaluate_relevance(at, store, interest, request, plan);
            }
            if self.targets != targets {
                let (old, ids) = (std::mem::take(&mut self.targets), store.ids());
                for at in old.iter().chain(targets).filter_map(|who| ids.binary_search(who).ok()) {
                    self.evaluate_relevance(at as u32, store, interest, request, plan);
                }
            }
            if let RelevanceUpdate::Every(ticks) = update
                && self.last_evaluation != request.tick
            {
                let ticks = ticks.max(1);
                // Each tick evaluates another part of the actors.
                let part = all.skip((request.tick.0 % ticks) as usize).step_by(ticks as usize);
                part.for_each(|at| self.evaluate_relevance(at, store, interest, request, plan));
            }
        }
        for at in targets.iter().filter_map(|who| store.ids().binary_search(who).ok()) {
            self.list_at(at as u32);
        }
        (self.last_evaluation, self.position) = (request.tick, position);
        copy_if_changed(&mut self.owned, owned);
        copy_if_changed(&mut self.targets, targets);
        if !self.visits.is_sorted() {
            self.visits.sort_unstable();
        }
        if !plan.left.is_sorted() || !plan.entered.is_sorted() {
            plan.left.sort_unstable();
            plan.entered.sort_unstable();
        }
    }

    /// Adds an actor to the list to visit.
    fn list_at(&mut self, at: u32) {
        if let Some(entry) = self.entries.get_mut(at as usize)
            && !std::mem::replace(&mut entry.is_listed, true)
        {
            self.visits.push(at);
        }
    }

    /// Evaluates the relevance of an actor.
    fn evaluate_relevance(
        &mut self,
        at: u32,
        store: &ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let Some(entry) = self.entries.get_mut(at as usize) else { return };
        let (who, was_relevant) = (entry.who, entry.is_relevant);
        let position = store.pose_at(at as usize).map(|p| p.anchor().position);
        let is_own = request.viewer.owned.contains(&who);
        let is_relevant = is_own || interest.relevance.is_relevant(&request.viewer, who, position, was_relevant);
        if is_relevant != was_relevant {
            *entry =
                ScheduledActor { is_listed: entry.is_listed, ..ScheduledActor::new(who, is_relevant, request.tick) };
            if is_relevant { &mut plan.entered } else { &mut plan.left }.push(who);
            self.list_at(at);
        }
    }

    /// Collects the actors that need an update now.
    fn collect_candidates(
        &mut self,
        store: &mut ReplicationStore,
        interest: &Interest,
        request: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let Interest { priority, rates, .. } = interest;
        self.candidates.clear();
        let due = |sent: Tick, ticks: u32| sent == Tick(0) || request.tick >= sent.plus(ticks);
        // An owning client gets the exact state if the mode allows it.
        let is_exact_mode = |mode| matches!(mode, Some(ControllerReplication::Mixed | ControllerReplication::Full));
        for at in self.visits.iter().map(|&at| at as usize) {
            let entry = &mut self.entries[at];
            let who = entry.who;
            entry.is_exact = request.viewer.owned.contains(&who) && is_exact_mode(store.mode(who));
            let (stamp, moved) = (store.changed_ticks()[at], store.moved_ticks()[at]);
            if !entry.is_behind(stamp, moved, true) {
                continue;
            }
            // An actor that the client's commands changed is in every packet until acknowledged: otherwise a lost
            // packet would revert the prediction for a moment.
            let is_unacked = stamp > entry.acked && entry.sent < request.tick;
            let is_touched = is_unacked && request.viewer.targets.contains(&who);
            let position = store.pose_at(at).map(|p| p.anchor().position);
            let kind = priority.kind(&request.viewer, who, position);
            let (mut state, mut bits) = (None, 0);
            let is_due = (stamp > entry.since || is_unacked && request.lossy)
                && due(entry.sent, rates.state_ticks(kind, request.round_trip, request.length));
            if (is_due || is_touched) && !entry.is_streaming {
                // A partial state can be read only after the shape is acknowledged.
                let since = match () {
                    () if entry.acked < store.shape_ticks()[at] => Tick(0),
                    () if is_touched || request.lossy => entry.acked.min(entry.since),
                    () => entry.since,
                };
                let size = store.size_at(at, since);
                if size + ID_BITS > request.packet.saturating_mul(8) {
                    plan.large.push(PlannedUpdate { who, since });
                    (entry.since, entry.sent, entry.is_streaming) = (request.tick, request.tick, true);
                } else if size > 0 {
                    (state, bits) = (Some(since), size + ID_BITS);
                } else {
                    entry.since = request.tick;
                }
            }
            if position.is_none() {
                // There is no position to send.
                entry.pose_since = request.tick;
            }
            let pose = moved > entry.pose_since
                && due(entry.pose_sent, rates.pose_ticks(kind, request.round_trip, request.length));
            bits += if pose { POSE_BITS } else { 0 };
            if bits > 0 {
                let weight = priority.weight(&request.viewer, who, position).max(1) as u64;
                entry.urgency = if is_touched { u64::MAX } else { entry.urgency.saturating_add(weight) };
                let (urgency, sent) = (entry.urgency, entry.sent);
                let is_repeat = stamp <= entry.since && !is_touched && !pose;
                self.candidates.push(Candidate { at, who, urgency, sent, state, pose, is_repeat, bits });
            }
        }
    }

    /// Adds an actor to the list to visit. Returns its entry.
    fn list_entry(&mut self, who: ControllerId) -> Option<&mut ScheduledActor> {
        let at = self.entries.binary_search_by_key(&who, |e| e.who).ok()?;
        self.list_at(at as u32);
        self.entries.get_mut(at)
    }

    /// Records that a state of this tick was lost. Nothing is resent if a later state that contains the changes of the
    /// lost state has arrived.
    pub fn on_lost(&mut self, update: &PlannedUpdate, tick: Tick) {
        if let Some(entry) = self.list_entry(update.who).filter(|e| tick > e.acked || update.since < e.acked_since) {
            entry.since = entry.since.min(update.since);
        }
    }

    /// Records that a position update was lost; `since` is the tick of the update before the lost update.
    pub fn on_pose_lost(&mut self, who: ControllerId, since: Tick) {
        if let Some(entry) = self.list_entry(who) {
            entry.pose_since = entry.pose_since.min(since);
        }
    }

    /// Records that the client acknowledged a state of this tick.
    pub fn on_acked(&mut self, update: &PlannedUpdate, tick: Tick) {
        let entry = self.entries.binary_search_by_key(&update.who, |e| e.who).ok();
        let entry = entry.and_then(|at| self.entries.get_mut(at));
        if let Some(entry) = entry.filter(|e| tick >= e.entered && tick > e.acked) {
            (entry.acked_since, entry.acked) = (update.since, tick);
        }
    }

    /// Records that a state in the reliable stream arrived (`Ok` with its tick) or did not fit into the stream (`Err`
    /// with the tick after which its changes start).
    pub fn on_streamed(&mut self, who: ControllerId, arrived: Result<Tick, Tick>) {
        let Some(entry) = self.list_entry(who) else { return };
        entry.is_streaming = false;
        match arrived {
            // Other states are acknowledged separately.
            Ok(tick) => self.on_acked(&PlannedUpdate { who, since: tick }, tick),
            Err(since) => entry.since = entry.since.min(since),
        }
    }

    /// Requests a new evaluation of the relevance of all actors for the next packet.
    pub fn reevaluate(&mut self) {
        self.evaluates_all = true;
    }

    /// Returns whether the client may lack a change of an actor up to this tick.
    pub fn is_missing(&self, store: &ReplicationStore, who: ControllerId, tick: Tick) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok().and_then(|at| self.entries.get(at));
        let (Some(entry), Ok(at)) = (entry, store.ids().binary_search(&who)) else { return false };
        entry.is_relevant && entry.acked < tick && entry.acked < store.changed_ticks()[at]
    }

    /// Returns whether an actor is relevant to the client.
    pub fn is_relevant(&self, who: ControllerId) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok().and_then(|at| self.entries.get(at));
        entry.is_some_and(|e| e.is_relevant)
    }

    /// Schedules the state of all actors to be sent again from this tick on, because the client could not read an
    /// update.
    pub fn resync(&mut self, tick: Tick) {
        for entry in &mut self.entries {
            *entry = ScheduledActor {
                is_listed: entry.is_listed,
                ..ScheduledActor::new(entry.who, entry.is_relevant, tick)
            };
        }
        (0..self.entries.len() as u32).for_each(|at| self.list_at(at));
    }

    /// Returns whether the client has the complete visible state of an actor, counting updates in flight as received.
    pub fn is_current(&self, store: &ReplicationStore, who: ControllerId) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok();
        let (Some(entry), Ok(at)) = (entry.and_then(|at| self.entries.get(at)), store.ids().binary_search(&who)) else {
            return false;
        };
        store.changed_ticks()[at] <= entry.since
    }
}

/// Copies a list if it differs.
fn copy_if_changed(known: &mut Vec<ControllerId>, now: &[ControllerId]) {
    if known != now {
        known.clear();
        known.extend_from_slice(now);
    }
}
