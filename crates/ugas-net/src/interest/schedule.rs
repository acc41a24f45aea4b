//! The selection of actors for the next packet of one client.
//!
//! Only actors that may have something to send are visited: those that changed or moved, that have waited, or whose packet was
//! lost. Unchanged actors take no time.

use super::{Interest, PacketPlan, PlannedUpdate, RelevanceUpdate, ScheduleRequest, Viewer};
use crate::types::Tick;
use crate::view::ReplicationStore;
use std::cmp::Reverse;
use ugas_core::ControllerId;
use ugas_doc::ControllerReplication;

/// The most bits of an actor's id.
const ID_BITS: usize = 42;
/// The most bits of an actor's position with its id.
const POSE_BITS: usize = 184;

/// The state of one actor at the client.
#[derive(Clone, Copy, Debug)]
struct Entry {
    who: ControllerId,
    is_relevant: bool,
    /// Since when it is relevant; older acks do not count.
    entered: Tick,
    /// Everything up to this tick was sent and not lost.
    since: Tick,
    /// The last acknowledged tick, and the tick it was written from.
    confirmed: Tick,
    confirmed_from: Tick,
    sent: Tick,
    pose_since: Tick,
    pose_sent: Tick,
    /// Its priority, which rises while it waits.
    urgency: u64,
    /// Its state is in the reliable stream.
    is_streaming: bool,
    /// Whether it is in the list to visit.
    is_open: bool,
    /// Whether the client gets its exact state.
    is_exact: bool,
}

impl Entry {
    fn new(who: ControllerId, is_relevant: bool, entered: Tick) -> Entry {
        let none = Tick(0);
        Entry {
            who,
            is_relevant,
            entered,
            since: none,
            confirmed: none,
            confirmed_from: none,
            sent: none,
            pose_since: none,
            pose_sent: none,
            urgency: 0,
            is_streaming: false,
            is_open: false,
            is_exact: false,
        }
    }

    /// Whether the client may lack a change or a move of these ticks.
    fn is_behind(&self, stamp: Tick, moved: Tick, lossy: bool) -> bool {
        let is_unsure = lossy && stamp > self.confirmed;
        self.is_relevant && !self.is_exact && (stamp > self.since || moved > self.pose_since || is_unsure)
    }
}

/// An actor that has something to send.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    at: usize,
    who: ControllerId,
    urgency: u64,
    sent: Tick,
    /// The tick its state is written from, if it has changes.
    state: Option<Tick>,
    pose: bool,
    /// All of it was sent before and may be in flight.
    is_repeat: bool,
    bits: usize,
}

/// What one client has of each actor, and which actor is next.
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
/// let ask = ScheduleRequest { viewer, tick: Tick(1), length, round_trip: length, room: 1000, packet: 1000, lossy: false };
/// schedule.pick(&mut store, &interest, &ask, &mut plan);
/// assert_eq!((plan.entered[0], plan.state[0].since), (who, Tick(0)));
/// schedule.pick(&mut store, &interest, &ScheduleRequest { tick: Tick(2), ..ask }, &mut plan);
/// assert!(plan.state.is_empty(), "nothing changed since");
/// schedule.lost(&PlannedUpdate { who, since: Tick(0) }, Tick(1));
/// schedule.pick(&mut store, &interest, &ScheduleRequest { tick: Tick(3), ..ask }, &mut plan);
/// assert_eq!(plan.state[0].who, who);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The roster of the store that the entries match.
    roster: u64,
    /// Parallel to the ids of the store.
    entries: Vec<Entry>,
    candidates: Vec<Candidate>,
    /// Up to where the changes of the store were read.
    read: u64,
    /// The entries to visit.
    open: Vec<u32>,
    /// The client at the last evaluation of relevance.
    place: Option<[f64; 3]>,
    owned: Vec<ControllerId>,
    targets: Vec<ControllerId>,
    /// Whether relevance is evaluated for all actors.
    asks_all: bool,
    /// The tick of the last periodic evaluation.
    asked: Tick,
}

impl Schedule {
    /// Selects the actors of the next packet, which is assumed to be sent.
    pub fn pick(
        &mut self,
        store: &mut ReplicationStore,
        interest: &Interest,
        ask: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        plan.clear();
        self.follow(store, plan);
        self.listen(store, interest, ask, plan);
        self.gather(store, interest, ask, plan);
        let room = ask.room.saturating_mul(8);
        let total: usize = self.candidates.iter().map(|c| c.bits).sum();
        plan.more = total > room;
        if plan.more {
            self.candidates.sort_unstable_by_key(|c| (c.is_repeat, Reverse(c.urgency), c.sent, c.who));
            self.cut(room);
            self.candidates.sort_unstable_by_key(|c| c.who);
        }
        for candidate in &self.candidates {
            let entry = &mut self.entries[candidate.at];
            entry.urgency = 0;
            if let Some(since) = candidate.state {
                plan.state.push(PlannedUpdate { who: entry.who, since });
                (entry.since, entry.sent) = (ask.tick, ask.tick);
            }
            if candidate.pose {
                plan.poses.push(PlannedUpdate { who: entry.who, since: entry.pose_since });
                (entry.pose_since, entry.pose_sent) = (ask.tick, ask.tick);
            }
        }
        let (entries, stamps, moved) = (&mut self.entries, store.stamps(), store.moved());
        self.open.retain(|&at| {
            let at = at as usize;
            entries[at].is_open = entries[at].is_behind(stamps[at], moved[at], ask.lossy);
            entries[at].is_open
        });
    }

    /// Keeps the candidates with the highest priority as far as they fit. Smaller ones may fill up the rest, unless the first
    /// one does not fit: otherwise it could wait for ever.
    fn cut(&mut self, room: usize) {
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
    fn follow(&mut self, store: &ReplicationStore, plan: &mut PacketPlan) {
        if self.roster == store.roster() {
            return;
        }
        self.roster = store.roster();
        (self.asks_all, self.read) = (true, 0);
        self.open.clear();
        let mut old = std::mem::take(&mut self.entries).into_iter().peekable();
        for &who in store.ids() {
            while let Some(gone) = old.next_if(|e| e.who < who) {
                plan.left.extend(gone.is_relevant.then_some(gone.who));
            }
            let known = old.next_if(|e| e.who == who).map(|e| Entry { is_open: false, ..e });
            self.entries.push(known.unwrap_or(Entry::new(who, false, Tick(0))));
        }
        plan.left.extend(old.filter(|e| e.is_relevant).map(|e| e.who));
    }

    /// Collects the actors to visit, and evaluates relevance where its inputs changed.
    fn listen(&mut self, store: &ReplicationStore, interest: &Interest, ask: &ScheduleRequest, plan: &mut PacketPlan) {
        let Viewer { owned, targets, place } = ask.viewer;
        let news = store.changes_after(self.read);
        self.read = store.change_count();
        let every = interest.relevance.update();
        let is_moved = self.place != place && every != RelevanceUpdate::Once;
        let all = 0..self.entries.len() as u32;
        match news {
            Some(news) => news.iter().for_each(|&at| self.open_at(at)),
            None => all.clone().for_each(|at| self.open_at(at)),
        }
        let asks_all = std::mem::take(&mut self.asks_all);
        if news.is_none() || is_moved || self.owned != owned || asks_all {
            all.for_each(|at| self.judge(at, store, interest, ask, plan));
        } else {
            for &at in news.into_iter().flatten().filter(|_| every != RelevanceUpdate::Once) {
                self.judge(at, store, interest, ask, plan);
            }
            if self.targets != targets {
                let (old, places) = (std::mem::take(&mut self.targets), store.ids());
                for at in old.iter().chain(targets).filter_map(|who| places.binary_search(who).ok()) {
                    self.judge(at as u32, store, interest, ask, plan);
                }
            }
            if let RelevanceUpdate::Every(ticks) = every
                && self.asked != ask.tick
            {
                let ticks = ticks.max(1);
                // Another part of them in each tick.
                let part = all.skip((ask.tick.0 % ticks) as usize).step_by(ticks as usize);
                part.for_each(|at| self.judge(at, store, interest, ask, plan));
            }
        }
        for at in targets.iter().filter_map(|who| store.ids().binary_search(who).ok()) {
            self.open_at(at as u32);
        }
        (self.asked, self.place) = (ask.tick, place);
        remember(&mut self.owned, owned);
        remember(&mut self.targets, targets);
        if !self.open.is_sorted() {
            self.open.sort_unstable();
        }
        if !plan.left.is_sorted() || !plan.entered.is_sorted() {
            plan.left.sort_unstable();
            plan.entered.sort_unstable();
        }
    }

    /// Adds an actor to those visited for the next packet.
    fn open_at(&mut self, at: u32) {
        if let Some(entry) = self.entries.get_mut(at as usize)
            && !std::mem::replace(&mut entry.is_open, true)
        {
            self.open.push(at);
        }
    }

    /// Evaluates the relevance of an actor.
    fn judge(
        &mut self,
        at: u32,
        store: &ReplicationStore,
        interest: &Interest,
        ask: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let Some(entry) = self.entries.get_mut(at as usize) else { return };
        let (who, was) = (entry.who, entry.is_relevant);
        let place = store.pose_at(at as usize).map(|p| p.anchor().position);
        let is_own = ask.viewer.owned.contains(&who);
        let is_relevant = is_own || interest.relevance.is_relevant(&ask.viewer, who, place, was);
        if is_relevant != was {
            *entry = Entry { is_open: entry.is_open, ..Entry::new(who, is_relevant, ask.tick) };
            if is_relevant { &mut plan.entered } else { &mut plan.left }.push(who);
            self.open_at(at);
        }
    }

    /// Collects the actors that have something to send now.
    fn gather(
        &mut self,
        store: &mut ReplicationStore,
        interest: &Interest,
        ask: &ScheduleRequest,
        plan: &mut PacketPlan,
    ) {
        let Interest { priority, rates, .. } = interest;
        self.candidates.clear();
        let due = |sent: Tick, ticks: u32| sent == Tick(0) || ask.tick >= sent.plus(ticks);
        // An owning client gets the exact state if the mode allows it.
        let tells_more = |mode| matches!(mode, Some(ControllerReplication::Mixed | ControllerReplication::Full));
        for at in self.open.iter().map(|&at| at as usize) {
            let entry = &mut self.entries[at];
            let who = entry.who;
            entry.is_exact = ask.viewer.owned.contains(&who) && tells_more(store.mode(who));
            let (stamp, moved) = (store.stamps()[at], store.moved()[at]);
            if !entry.is_behind(stamp, moved, true) {
                continue;
            }
            // An actor that the client's commands changed is in every packet until acknowledged: otherwise a lost packet
            // would revert the prediction for a moment.
            let is_unsure = stamp > entry.confirmed && entry.sent < ask.tick;
            let is_touched = is_unsure && ask.viewer.targets.contains(&who);
            let place = store.pose_at(at).map(|p| p.anchor().position);
            let kind = priority.kind(&ask.viewer, who, place);
            let (mut state, mut bits) = (None, 0);
            let is_due = (stamp > entry.since || is_unsure && ask.lossy)
                && due(entry.sent, rates.state_ticks(kind, ask.round_trip, ask.length));
            if (is_due || is_touched) && !entry.is_streaming {
                // A partial state can be read only after the shape is acknowledged.
                let since = match () {
                    () if entry.confirmed < store.shaped()[at] => Tick(0),
                    () if is_touched || ask.lossy => entry.confirmed.min(entry.since),
                    () => entry.since,
                };
                let size = store.size_at(at, since);
                if size + ID_BITS > ask.packet.saturating_mul(8) {
                    plan.large.push(PlannedUpdate { who, since });
                    (entry.since, entry.sent, entry.is_streaming) = (ask.tick, ask.tick, true);
                } else if size > 0 {
                    (state, bits) = (Some(since), size + ID_BITS);
                } else {
                    entry.since = ask.tick;
                }
            }
            if place.is_none() {
                // There is nothing to send.
                entry.pose_since = ask.tick;
            }
            let pose =
                moved > entry.pose_since && due(entry.pose_sent, rates.pose_ticks(kind, ask.round_trip, ask.length));
            bits += if pose { POSE_BITS } else { 0 };
            if bits > 0 {
                let weight = priority.weight(&ask.viewer, who, place).max(1) as u64;
                entry.urgency = if is_touched { u64::MAX } else { entry.urgency.saturating_add(weight) };
                let (urgency, sent) = (entry.urgency, entry.sent);
                let is_repeat = stamp <= entry.since && !is_touched && !pose;
                self.candidates.push(Candidate { at, who, urgency, sent, state, pose, is_repeat, bits });
            }
        }
    }

    /// The entry of an actor, which is visited for the next packet.
    fn reopen(&mut self, who: ControllerId) -> Option<&mut Entry> {
        let at = self.entries.binary_search_by_key(&who, |e| e.who).ok()?;
        self.open_at(at as u32);
        self.entries.get_mut(at)
    }

    /// A state of this tick was lost. If a later one with all of it arrived, nothing is missing.
    pub fn lost(&mut self, pick: &PlannedUpdate, tick: Tick) {
        if let Some(entry) = self.reopen(pick.who).filter(|e| tick > e.confirmed || pick.since < e.confirmed_from) {
            entry.since = entry.since.min(pick.since);
        }
    }

    /// A position written from this tick was lost.
    pub fn lost_pose(&mut self, who: ControllerId, since: Tick) {
        if let Some(entry) = self.reopen(who) {
            entry.pose_since = entry.pose_since.min(since);
        }
    }

    /// A state of this tick arrived.
    pub fn confirmed(&mut self, pick: &PlannedUpdate, tick: Tick) {
        let entry = self.entries.binary_search_by_key(&pick.who, |e| e.who).ok();
        let entry = entry.and_then(|at| self.entries.get_mut(at));
        if let Some(entry) = entry.filter(|e| tick >= e.entered && tick > e.confirmed) {
            (entry.confirmed_from, entry.confirmed) = (pick.since, tick);
        }
    }

    /// A state in the reliable stream arrived (its tick), or did not fit (the tick it was written from).
    pub fn streamed(&mut self, who: ControllerId, arrived: Result<Tick, Tick>) {
        let Some(entry) = self.reopen(who) else { return };
        entry.is_streaming = false;
        match arrived {
            // Other states are acknowledged separately.
            Ok(tick) => self.confirmed(&PlannedUpdate { who, since: tick }, tick),
            Err(since) => entry.since = entry.since.min(since),
        }
    }

    /// The relevance changed: all actors are evaluated again.
    pub fn reconsider(&mut self) {
        self.asks_all = true;
    }

    /// Whether the client lacks a change of an actor at a tick.
    pub fn owes(&self, store: &ReplicationStore, who: ControllerId, tick: Tick) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok().and_then(|at| self.entries.get(at));
        let (Some(entry), Ok(at)) = (entry, store.ids().binary_search(&who)) else { return false };
        entry.is_relevant && entry.confirmed < tick && entry.confirmed < store.stamps()[at]
    }

    /// Whether an actor is relevant to the client.
    pub fn is_relevant(&self, who: ControllerId) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok().and_then(|at| self.entries.get(at));
        entry.is_some_and(|e| e.is_relevant)
    }

    /// The client could not read an update: from this tick on everything is sent again.
    pub fn resync(&mut self, tick: Tick) {
        for entry in &mut self.entries {
            *entry = Entry { is_open: entry.is_open, ..Entry::new(entry.who, entry.is_relevant, tick) };
        }
        (0..self.entries.len() as u32).for_each(|at| self.open_at(at));
    }

    /// Whether the client has the complete visible state of an actor, as far as it was sent and not lost.
    pub fn is_current(&self, store: &ReplicationStore, who: ControllerId) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok();
        let (Some(entry), Ok(at)) = (entry.and_then(|at| self.entries.get(at)), store.ids().binary_search(&who)) else {
            return false;
        };
        store.stamps()[at] <= entry.since
    }
}

/// Copies a list if it differs.
fn remember(known: &mut Vec<ControllerId>, now: &[ControllerId]) {
    if known != now {
        known.clear();
        known.extend_from_slice(now);
    }
}
