//! What goes into the next packet of one client.
//!
//! Only those are looked at who may have something to send: who changed or moved, who has waited since, and whose packet
//! was lost. Of who stays as he is nothing is asked, so that he takes no time however many of him there are.

use super::{Ask, Asked, Interest, Pick, Plan, Viewer};
use crate::types::Tick;
use crate::view::Board;
use std::cmp::Reverse;
use ugas_core::ControllerId;
use ugas_doc::ControllerReplication;

/// Bits an actor's id takes before its section at most.
const ID_BITS: usize = 42;
/// Bits of an actor's place with its id at most, however far it is.
const POSE_BITS: usize = 184;

/// What a client has of one controller.
#[derive(Clone, Copy, Debug)]
struct Entry {
    who: ControllerId,
    is_relevant: bool,
    /// Since when; what was confirmed of before is forgotten on the other side.
    entered: Tick,
    /// Everything up to here was sent and not lost.
    since: Tick,
    /// The last tick whose section the client confirmed, and from where that was written.
    confirmed: Tick,
    confirmed_from: Tick,
    sent: Tick,
    pose_since: Tick,
    pose_sent: Tick,
    /// How urgent it has become.
    urgency: u64,
    /// A section longer than a packet is on its way.
    is_streaming: bool,
    /// Whether it is among those to be looked at.
    is_open: bool,
    /// Whether the client is told of it by another way.
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

    /// Whether the client may lack something of what was last changed and last moved at these ticks.
    fn is_behind(&self, stamp: Tick, moved: Tick, lossy: bool) -> bool {
        let is_unsure = lossy && stamp > self.confirmed;
        self.is_relevant && !self.is_exact && (stamp > self.since || moved > self.pose_since || is_unsure)
    }
}

/// Somebody who has something to send.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    at: usize,
    who: ControllerId,
    urgency: u64,
    sent: Tick,
    /// From where its section is written, if it has one.
    state: Option<Tick>,
    pose: bool,
    /// It was all sent before, and may be on its way.
    is_repeat: bool,
    bits: usize,
}

/// What one client has of every controller, and who is next.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
/// use ugas_net::interest::{Ask, Interest, Pick, Plan, Schedule, Viewer};
/// use ugas_net::types::Tick;
/// use ugas_net::view::Board;
/// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()]))?;
/// let length = SimTime::millis(20);
/// let mut board = Board::new(rules, length);
/// board.add(&sim, who, ControllerReplication::Full, Tick(1))?;
/// let (interest, mut schedule, mut plan) = (Interest::default(), Schedule::default(), Plan::default());
/// let viewer = Viewer::default();
/// let ask = Ask { viewer, tick: Tick(1), length, round_trip: length, room: 1000, packet: 1000, lossy: false };
/// schedule.pick(&mut board, &interest, &ask, &mut plan);
/// assert_eq!((plan.entered[0], plan.state[0].since), (who, Tick(0)));
/// schedule.pick(&mut board, &interest, &Ask { tick: Tick(2), ..ask }, &mut plan);
/// assert!(plan.state.is_empty(), "nothing changed since");
/// schedule.lost(&Pick { who, since: Tick(0) }, Tick(1));
/// schedule.pick(&mut board, &interest, &Ask { tick: Tick(3), ..ask }, &mut plan);
/// assert_eq!(plan.state[0].who, who);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Of which roster of the board the entries are.
    roster: u64,
    /// Alongside the board's ids.
    entries: Vec<Entry>,
    candidates: Vec<Candidate>,
    /// Up to where the board's news was read.
    read: u64,
    /// Whom to look at: places among the entries, rising while somebody is chosen.
    open: Vec<u32>,
    /// The client as it was when relevance was last asked.
    place: Option<[f64; 3]>,
    owned: Vec<ControllerId>,
    targets: Vec<ControllerId>,
    /// Whether relevance is asked of everybody, whatever has changed.
    asks_all: bool,
    /// The tick in which it was last asked by the clock.
    asked: Tick,
}

impl Schedule {
    /// Chooses what goes into the next packet, and counts on it being sent.
    pub fn pick(&mut self, board: &mut Board, interest: &Interest, ask: &Ask, plan: &mut Plan) {
        plan.clear();
        self.follow(board, plan);
        self.listen(board, interest, ask, plan);
        self.gather(board, interest, ask, plan);
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
                plan.state.push(Pick { who: entry.who, since });
                (entry.since, entry.sent) = (ask.tick, ask.tick);
            }
            if candidate.pose {
                plan.poses.push(Pick { who: entry.who, since: entry.pose_since });
                (entry.pose_since, entry.pose_sent) = (ask.tick, ask.tick);
            }
        }
        let (entries, stamps, moved) = (&mut self.entries, board.stamps(), board.moved());
        self.open.retain(|&at| {
            let at = at as usize;
            entries[at].is_open = entries[at].is_behind(stamps[at], moved[at], ask.lossy);
            entries[at].is_open
        });
    }

    /// Takes the most urgent as far as they fit. Smaller ones may fill up behind one that does not fit, but not before the
    /// most urgent of all: or it might wait for ever.
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

    /// Entries for whoever came, none for whoever went.
    fn follow(&mut self, board: &Board, plan: &mut Plan) {
        if self.roster == board.roster() {
            return;
        }
        self.roster = board.roster();
        (self.asks_all, self.read) = (true, 0);
        self.open.clear();
        let mut old = std::mem::take(&mut self.entries).into_iter().peekable();
        for &who in board.ids() {
            while let Some(gone) = old.next_if(|e| e.who < who) {
                plan.left.extend(gone.is_relevant.then_some(gone.who));
            }
            let known = old.next_if(|e| e.who == who).map(|e| Entry { is_open: false, ..e });
            self.entries.push(known.unwrap_or(Entry::new(who, false, Tick(0))));
        }
        plan.left.extend(old.filter(|e| e.is_relevant).map(|e| e.who));
    }

    /// Finds out who must be looked at, and who is relevant where that may be another than before.
    fn listen(&mut self, board: &Board, interest: &Interest, ask: &Ask, plan: &mut Plan) {
        let Viewer { owned, targets, place } = ask.viewer;
        let news = board.news_after(self.read);
        self.read = board.news();
        let every = interest.relevance.asked();
        let is_moved = self.place != place && every != Asked::Once;
        let all = 0..self.entries.len() as u32;
        match news {
            Some(news) => news.iter().for_each(|&at| self.open_at(at)),
            None => all.clone().for_each(|at| self.open_at(at)),
        }
        let asks_all = std::mem::take(&mut self.asks_all);
        if news.is_none() || is_moved || self.owned != owned || asks_all {
            all.for_each(|at| self.judge(at, board, interest, ask, plan));
        } else {
            for &at in news.into_iter().flatten().filter(|_| every != Asked::Once) {
                self.judge(at, board, interest, ask, plan);
            }
            if self.targets != targets {
                let (old, places) = (std::mem::take(&mut self.targets), board.ids());
                for at in old.iter().chain(targets).filter_map(|who| places.binary_search(who).ok()) {
                    self.judge(at as u32, board, interest, ask, plan);
                }
            }
            if let Asked::Every(ticks) = every
                && self.asked != ask.tick
            {
                let ticks = ticks.max(1);
                // Each tick another part of them.
                let part = all.skip((ask.tick.0 % ticks) as usize).step_by(ticks as usize);
                part.for_each(|at| self.judge(at, board, interest, ask, plan));
            }
        }
        for at in targets.iter().filter_map(|who| board.ids().binary_search(who).ok()) {
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

    /// Somebody is looked at when the next packet is written.
    fn open_at(&mut self, at: u32) {
        if let Some(entry) = self.entries.get_mut(at as usize)
            && !std::mem::replace(&mut entry.is_open, true)
        {
            self.open.push(at);
        }
    }

    /// Asks whether the client is told of somebody.
    fn judge(&mut self, at: u32, board: &Board, interest: &Interest, ask: &Ask, plan: &mut Plan) {
        let Some(entry) = self.entries.get_mut(at as usize) else { return };
        let (who, was) = (entry.who, entry.is_relevant);
        let place = board.pose_at(at as usize).map(|p| p.anchor().position);
        let is_own = ask.viewer.owned.contains(&who);
        let is_relevant = is_own || interest.relevance.is_relevant(&ask.viewer, who, place, was);
        if is_relevant != was {
            *entry = Entry { is_open: entry.is_open, ..Entry::new(who, is_relevant, ask.tick) };
            if is_relevant { &mut plan.entered } else { &mut plan.left }.push(who);
            self.open_at(at);
        }
    }

    /// Everybody who has something to send and may send it now.
    fn gather(&mut self, board: &mut Board, interest: &Interest, ask: &Ask, plan: &mut Plan) {
        let Interest { priority, rates, .. } = interest;
        self.candidates.clear();
        let due = |sent: Tick, ticks: u32| sent == Tick(0) || ask.tick >= sent.plus(ticks);
        // The owner is told by another way, if its mode tells it more than others.
        let tells_more = |mode| matches!(mode, Some(ControllerReplication::Mixed | ControllerReplication::Full));
        for at in self.open.iter().map(|&at| at as usize) {
            let entry = &mut self.entries[at];
            let who = entry.who;
            entry.is_exact = ask.viewer.owned.contains(&who) && tells_more(board.mode(who));
            let (stamp, moved) = (board.stamps()[at], board.moved()[at]);
            if !entry.is_behind(stamp, moved, true) {
                continue;
            }
            // What the client itself did to somebody is in every packet until it has it: else a lost packet would take
            // back for a moment what the client has played ahead.
            let is_unsure = stamp > entry.confirmed && entry.sent < ask.tick;
            let is_touched = is_unsure && ask.viewer.targets.contains(&who);
            let place = board.pose_at(at).map(|p| p.anchor().position);
            let kind = priority.kind(&ask.viewer, who, place);
            let (mut state, mut bits) = (None, 0);
            let is_due = (stamp > entry.since || is_unsure && ask.lossy)
                && due(entry.sent, rates.state_ticks(kind, ask.round_trip, ask.length));
            if (is_due || is_touched) && !entry.is_streaming {
                // Less than everything can only be read by who has confirmed the shape.
                let since = match () {
                    () if entry.confirmed < board.shaped()[at] => Tick(0),
                    () if is_touched || ask.lossy => entry.confirmed.min(entry.since),
                    () => entry.since,
                };
                let size = board.size_at(at, since);
                if size + ID_BITS > ask.packet.saturating_mul(8) {
                    plan.large.push(Pick { who, since });
                    (entry.since, entry.sent, entry.is_streaming) = (ask.tick, ask.tick, true);
                } else if size > 0 {
                    (state, bits) = (Some(since), size + ID_BITS);
                } else {
                    entry.since = ask.tick;
                }
            }
            if place.is_none() {
                // There is nothing to tell.
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

    /// Somebody's entry, which is looked at when the next packet is written.
    fn reopen(&mut self, who: ControllerId) -> Option<&mut Entry> {
        let at = self.entries.binary_search_by_key(&who, |e| e.who).ok()?;
        self.open_at(at as u32);
        self.entries.get_mut(at)
    }

    /// A section of this tick was lost. Where a later one that holds all of it arrived, nothing is missing.
    pub fn lost(&mut self, pick: &Pick, tick: Tick) {
        if let Some(entry) = self.reopen(pick.who).filter(|e| tick > e.confirmed || pick.since < e.confirmed_from) {
            entry.since = entry.since.min(pick.since);
        }
    }

    /// A place was lost that was written from this tick.
    pub fn lost_pose(&mut self, who: ControllerId, since: Tick) {
        if let Some(entry) = self.reopen(who) {
            entry.pose_since = entry.pose_since.min(since);
        }
    }

    /// A section of this tick arrived.
    pub fn confirmed(&mut self, pick: &Pick, tick: Tick) {
        let entry = self.entries.binary_search_by_key(&pick.who, |e| e.who).ok();
        let entry = entry.and_then(|at| self.entries.get_mut(at));
        if let Some(entry) = entry.filter(|e| tick >= e.entered && tick > e.confirmed) {
            (entry.confirmed_from, entry.confirmed) = (pick.since, tick);
        }
    }

    /// What became of a section that went another way: the tick it was of if it arrived, or from where it was written.
    pub fn streamed(&mut self, who: ControllerId, arrived: Result<Tick, Tick>) {
        let Some(entry) = self.reopen(who) else { return };
        entry.is_streaming = false;
        match arrived {
            // What other sections held is theirs to confirm.
            Ok(tick) => self.confirmed(&Pick { who, since: tick }, tick),
            Err(since) => entry.since = entry.since.min(since),
        }
    }

    /// Another relevance than before: everybody is asked about.
    pub fn reconsider(&mut self) {
        self.asks_all = true;
    }

    /// Whether the client is known to lack something of a controller that was so at a tick.
    pub fn owes(&self, board: &Board, who: ControllerId, tick: Tick) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok().and_then(|at| self.entries.get(at));
        let (Some(entry), Ok(at)) = (entry, board.ids().binary_search(&who)) else { return false };
        entry.is_relevant && entry.confirmed < tick && entry.confirmed < board.stamps()[at]
    }

    /// Whether the client is told of a controller.
    pub fn is_relevant(&self, who: ControllerId) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok().and_then(|at| self.entries.get(at));
        entry.is_some_and(|e| e.is_relevant)
    }

    /// The client could not read something: from this tick on everything is sent anew.
    pub fn resync(&mut self, tick: Tick) {
        for entry in &mut self.entries {
            *entry = Entry { is_open: entry.is_open, ..Entry::new(entry.who, entry.is_relevant, tick) };
        }
        (0..self.entries.len() as u32).for_each(|at| self.open_at(at));
    }

    /// Whether the client has everything of a controller that observers see, as far as was sent and not lost.
    pub fn is_current(&self, board: &Board, who: ControllerId) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok();
        let (Some(entry), Ok(at)) = (entry.and_then(|at| self.entries.get(at)), board.ids().binary_search(&who)) else {
            return false;
        };
        board.stamps()[at] <= entry.since
    }
}

/// Makes a list like another, if it is not.
fn remember(known: &mut Vec<ControllerId>, now: &[ControllerId]) {
    if known != now {
        known.clear();
        known.extend_from_slice(now);
    }
}
