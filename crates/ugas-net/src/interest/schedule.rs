//! What goes into the next packet of one client.

use super::{ByDistance, Everything, Priority, RateTable, Relevance, Viewer};
use crate::types::Tick;
use crate::view::{ActorList, Board};
use crate::wire::bits::BitWriter;
use std::cmp::Reverse;
use std::sync::Arc;
use ugas_core::{ControllerId, SimTime};
use ugas_doc::ControllerReplication;

/// Bits an actor's id takes before its section at most.
const ID_BITS: usize = 42;
/// Bits of an actor's place with its id at most, however far it is.
const POSE_BITS: usize = 184;

/// How clients are served: the same for all of a server.
#[derive(Clone)]
pub struct Interest {
    /// Whom they are told of.
    pub relevance: Arc<dyn Relevance>,
    /// Who comes first.
    pub priority: Arc<dyn Priority>,
    /// How often.
    pub rates: RateTable,
}

impl Default for Interest {
    fn default() -> Interest {
        Interest {
            relevance: Arc::new(Everything),
            priority: Arc::new(ByDistance::default()),
            rates: RateTable::default(),
        }
    }
}

impl std::fmt::Debug for Interest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interest").field("rates", &self.rates).finish_non_exhaustive()
    }
}

/// What is asked of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The client.
    pub viewer: Viewer<'a>,
    /// The tick whose state is sent.
    pub tick: Tick,
    /// How long a tick is.
    pub length: SimTime,
    /// The client's round trip.
    pub round_trip: SimTime,
    /// Bytes there is room for now.
    pub room: usize,
    /// Bytes there is room for in an empty packet. What is longer goes another way.
    pub packet: usize,
}

/// A controller that goes into a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Who.
    pub who: ControllerId,
    /// What the client has: everything later is written. If the packet is lost, this is what it still has.
    pub since: Tick,
}

/// What goes into a packet. Lists are by rising id and keep their memory.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Sections.
    pub state: Vec<Pick>,
    /// Places.
    pub poses: Vec<Pick>,
    /// Sections that are longer than a packet: they go as reliable messages.
    pub large: Vec<Pick>,
    /// Who became relevant. A first section follows as soon as there is room.
    pub entered: Vec<ControllerId>,
    /// Who is no longer relevant.
    pub left: Vec<ControllerId>,
    /// Whether something found no room.
    pub more: bool,
}

impl Plan {
    fn clear(&mut self) {
        self.state.clear();
        self.poses.clear();
        self.large.clear();
        self.entered.clear();
        self.left.clear();
        self.more = false;
    }

    /// Writes the sections as a list of actors.
    pub fn write_state(&self, board: &mut Board, out: &mut BitWriter) {
        let mut list = ActorList::default();
        for pick in &self.state {
            list.open(pick.who, out);
            board.write(pick.who, pick.since, out);
        }
        list.close(out);
    }

    /// Writes the places as a list of actors.
    pub fn write_poses(&self, board: &Board, out: &mut BitWriter) {
        let mut list = ActorList::default();
        for pick in &self.poses {
            if let Some(pose) = board.pose(pick.who) {
                list.open(pick.who, out);
                pose.put(out);
            }
        }
        list.close(out);
    }
}

/// What a client has of one controller.
#[derive(Clone, Copy, Debug)]
struct Entry {
    who: ControllerId,
    is_relevant: bool,
    /// Since when; what was confirmed of before is forgotten on the other side.
    entered: Tick,
    /// Everything up to here was sent and not lost.
    since: Tick,
    /// The last tick whose section the client confirmed.
    confirmed: Tick,
    sent: Tick,
    pose_since: Tick,
    pose_sent: Tick,
    /// How urgent it has become.
    urgency: u64,
    /// A section longer than a packet is on its way.
    is_streaming: bool,
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
            sent: none,
            pose_since: none,
            pose_sent: none,
            urgency: 0,
            is_streaming: false,
        }
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
    bits: usize,
}

/// What one client has of every controller, and who is next.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
/// use ugas_net::interest::{Ask, Interest, Plan, Schedule, Viewer};
/// use ugas_net::types::Tick;
/// use ugas_net::view::Board;
/// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let who = sim.spawn(SpawnSpec::sets(vec![rules.set("S").unwrap()]))?;
/// let length = SimTime::millis(20);
/// let mut board = Board::new(rules, length);
/// board.add(&sim, who, ControllerReplication::Full, Tick(1))?;
/// let (interest, mut schedule, mut plan) = (Interest::default(), Schedule::default(), Plan::default());
/// let viewer = Viewer::default();
/// let ask = Ask { viewer, tick: Tick(1), length, round_trip: length, room: 1000, packet: 1000 };
/// schedule.pick(&mut board, &interest, &ask, &mut plan);
/// assert_eq!((plan.entered[0], plan.state[0].since), (who, Tick(0)));
/// schedule.pick(&mut board, &interest, &Ask { tick: Tick(2), ..ask }, &mut plan);
/// assert!(plan.state.is_empty(), "nothing changed since");
/// schedule.lost(who, Tick(0));
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
}

impl Schedule {
    /// Chooses what goes into the next packet, and counts on it being sent.
    pub fn pick(&mut self, board: &mut Board, interest: &Interest, ask: &Ask, plan: &mut Plan) {
        plan.clear();
        self.follow(board, plan);
        self.gather(board, interest, ask, plan);
        let room = ask.room.saturating_mul(8);
        let total: usize = self.candidates.iter().map(|c| c.bits).sum();
        plan.more = total > room;
        if plan.more {
            self.candidates.sort_unstable_by_key(|c| (Reverse(c.urgency), c.sent, c.who));
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
        let mut old = std::mem::take(&mut self.entries).into_iter().peekable();
        for &who in board.ids() {
            while let Some(gone) = old.next_if(|e| e.who < who) {
                plan.left.extend(gone.is_relevant.then_some(gone.who));
            }
            self.entries.push(old.next_if(|e| e.who == who).unwrap_or(Entry::new(who, false, Tick(0))));
        }
        plan.left.extend(old.filter(|e| e.is_relevant).map(|e| e.who));
    }

    /// Everybody who has something to send and may send it now.
    fn gather(&mut self, board: &mut Board, interest: &Interest, ask: &Ask, plan: &mut Plan) {
        let Interest { relevance, priority, rates } = interest;
        self.candidates.clear();
        let due = |sent: Tick, ticks: u32| sent == Tick(0) || ask.tick >= sent.plus(ticks);
        for (at, entry) in self.entries.iter_mut().enumerate() {
            let who = entry.who;
            let place = board.pose_at(at).map(|p| p.anchor().position);
            let is_own = ask.viewer.owned.contains(&who);
            let is_relevant = is_own || relevance.is_relevant(&ask.viewer, who, place, entry.is_relevant);
            if is_relevant != entry.is_relevant {
                *entry = Entry::new(who, is_relevant, ask.tick);
                if is_relevant { &mut plan.entered } else { &mut plan.left }.push(who);
            }
            let (stamp, moved) = (board.stamps()[at], board.moved()[at]);
            // What the client itself did to somebody is in every packet until it has it: else a lost packet would take
            // back for a moment what the client has played ahead.
            let is_touched = stamp > entry.confirmed && entry.sent < ask.tick && ask.viewer.targets.contains(&who);
            let is_news = stamp > entry.since || moved > entry.pose_since || is_touched;
            if !entry.is_relevant || !is_news {
                continue;
            }
            // The owner is told by another way, if its mode tells it more than others.
            let tells_more = |mode| matches!(mode, Some(ControllerReplication::Mixed | ControllerReplication::Full));
            if is_own && tells_more(board.mode(who)) {
                continue;
            }
            let kind = priority.kind(&ask.viewer, who, place);
            let (mut state, mut bits) = (None, 0);
            let is_due = stamp > entry.since && due(entry.sent, rates.state_ticks(kind, ask.round_trip, ask.length));
            if (is_due || is_touched) && !entry.is_streaming {
                // Less than everything can only be read by who has confirmed the shape.
                let since = match () {
                    () if entry.confirmed < board.shaped()[at] => Tick(0),
                    () if is_touched => entry.confirmed.min(entry.since),
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
            let pose = moved > entry.pose_since
                && place.is_some()
                && due(entry.pose_sent, rates.pose_ticks(kind, ask.round_trip, ask.length));
            bits += if pose { POSE_BITS } else { 0 };
            if bits > 0 {
                let weight = priority.weight(&ask.viewer, who, place).max(1) as u64;
                entry.urgency = if is_touched { u64::MAX } else { entry.urgency.saturating_add(weight) };
                let (urgency, sent) = (entry.urgency, entry.sent);
                self.candidates.push(Candidate { at, who, urgency, sent, state, pose, bits });
            }
        }
    }

    fn entry(&mut self, who: ControllerId) -> Option<&mut Entry> {
        let at = self.entries.binary_search_by_key(&who, |e| e.who).ok()?;
        self.entries.get_mut(at)
    }

    /// A section was lost that was written from this tick.
    pub fn lost(&mut self, who: ControllerId, since: Tick) {
        if let Some(entry) = self.entry(who) {
            entry.since = entry.since.min(since);
        }
    }

    /// A place was lost that was written from this tick.
    pub fn lost_pose(&mut self, who: ControllerId, since: Tick) {
        if let Some(entry) = self.entry(who) {
            entry.pose_since = entry.pose_since.min(since);
        }
    }

    /// A section of this tick arrived.
    pub fn confirmed(&mut self, who: ControllerId, tick: Tick) {
        if let Some(entry) = self.entry(who).filter(|e| tick >= e.entered) {
            entry.confirmed = entry.confirmed.max(tick);
        }
    }

    /// What became of a section that went another way: the tick it was of if it arrived, or from where it was written.
    pub fn streamed(&mut self, who: ControllerId, arrived: Result<Tick, Tick>) {
        if let Some(entry) = self.entry(who) {
            entry.is_streaming = false;
        }
        match arrived {
            Ok(tick) => self.confirmed(who, tick),
            Err(since) => self.lost(who, since),
        }
    }

    /// Whether the client is known to lack something of a controller that was so at a tick.
    pub fn owes(&self, board: &Board, who: ControllerId, tick: Tick) -> bool {
        let entry = self.entries.binary_search_by_key(&who, |e| e.who).ok().and_then(|at| self.entries.get(at));
        let (Some(entry), Ok(at)) = (entry, board.ids().binary_search(&who)) else { return false };
        entry.is_relevant && entry.confirmed < tick && entry.confirmed < board.stamps()[at]
    }

    /// The client could not read something: from this tick on everything is sent anew.
    pub fn resync(&mut self, tick: Tick) {
        for entry in &mut self.entries {
            *entry = Entry::new(entry.who, entry.is_relevant, tick);
        }
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
