//! What one client is told of controllers that are not its own: who is chosen, how it is written, and what becomes of it.

use super::peer::Told;
use crate::carrier::{Carrier, FRAGMENT, Receipt};
use crate::interest::{Ask, Bandwidth, Interest, Plan, Schedule, Viewer};
use crate::message::{ToClient, encode};
use crate::types::Tick;
use crate::view::Board;
use crate::wire::bits::BitWriter;
use std::collections::{BTreeMap, VecDeque};
use ugas_core::{ControllerId, SimTime};

/// Bytes of a section above which it goes through the ordered stream: less than the smallest room a packet without owned
/// controllers has.
const LARGE: usize = 512;
/// Whom the client did something to, at most; the oldest is then told as others are.
const MAX_TOUCHED: usize = 64;
/// Ticks between two times everything is sent anew, so that a client cannot ask for more than its line takes.
const AGAIN: u32 = 15;

/// Controllers that are gone and of which a client could not be told yet.
const MAX_GONE: usize = 1024;
/// How many of them are told in one message: as many as fit into a fragment.
const TOLD_GONE: usize = 40;

/// What a packet is written from.
pub(crate) struct Sight<'a> {
    pub(crate) board: &'a mut Board,
    pub(crate) interest: &'a Interest,
    pub(crate) owned: &'a [ControllerId],
    pub(crate) place: Option<[f64; 3]>,
    pub(crate) tick: Tick,
    pub(crate) length: SimTime,
    pub(crate) round_trip: SimTime,
    /// Whether much is lost on the way.
    pub(crate) lossy: bool,
    /// Bits the packet may have.
    pub(crate) room: usize,
}

/// What one client is told of others.
#[derive(Clone, Debug)]
pub(crate) struct Observing {
    schedule: Schedule,
    plan: Plan,
    line: Bandwidth,
    /// The half of the line that the ordered stream has to itself while something else finds no room.
    stream: Bandwidth,
    /// Packets in a row in which something found no room.
    hungry: u32,
    /// Who is gone or out of sight since when, until it can be told.
    gone: BTreeMap<ControllerId, Tick>,
    /// More are gone than can be listed: everybody is told of anew.
    all_gone: bool,
    /// Whom the client's commands changed, and when.
    touched: Vec<(ControllerId, Tick)>,
    targets: Vec<ControllerId>,
    /// Sections in the ordered stream, with their ticks.
    streaming: VecDeque<(ControllerId, Tick, Receipt)>,
    wants_all: bool,
    all_at: Option<Tick>,
}

impl Observing {
    pub(crate) fn new(line: Bandwidth) -> Observing {
        Observing {
            schedule: Schedule::default(),
            plan: Plan::default(),
            line,
            stream: line.half(),
            hungry: 0,
            gone: BTreeMap::new(),
            all_gone: false,
            touched: Vec::new(),
            targets: Vec::new(),
            streaming: VecDeque::new(),
            wants_all: false,
            all_at: None,
        }
    }

    /// Another line.
    pub(crate) fn set_line(&mut self, line: Bandwidth) {
        (self.line, self.stream) = (line, line.half());
    }

    /// A tick went by.
    pub(crate) fn pass(&mut self, length: SimTime) {
        self.line.pass(length);
        self.stream.pass(length);
    }

    /// So many bytes were sent, so many of them in the ordered stream.
    pub(crate) fn spend(&mut self, bytes: usize, reliable: usize) {
        self.line.spend(bytes);
        self.stream.spend(reliable.min(self.stream.left()));
    }

    /// Bytes the ordered stream may have of the next packet. What rides beside it has its share of each packet and of the
    /// line; the stream always has half of the line, or nothing would ever arrive.
    pub(crate) fn stream_share(&self) -> usize {
        match self.hungry {
            0 => self.line.left().max(self.stream.left()),
            // Even one fragment may be too much beside what the client's own controllers need.
            hungry if hungry % 4 == 0 => 0,
            _ => self.stream.left().min(FRAGMENT + 8),
        }
    }

    /// The client's commands changed somebody.
    pub(crate) fn touch(&mut self, who: ControllerId, tick: Tick) {
        if let Some(known) = self.touched.iter_mut().find(|t| t.0 == who) {
            known.1 = tick;
            return;
        }
        if self.touched.len() >= MAX_TOUCHED {
            self.touched.remove(0);
        }
        self.touched.push((who, tick));
    }

    /// Whether the client is told of somebody.
    pub(crate) fn is_told_of(&self, who: ControllerId) -> bool {
        self.schedule.is_relevant(who)
    }

    /// Another relevance decides.
    pub(crate) fn reconsider(&mut self) {
        self.schedule.reconsider();
    }

    /// The client could not read something.
    pub(crate) fn again(&mut self) {
        self.wants_all = true;
    }

    /// What became of a packet.
    pub(crate) fn settle(&mut self, told: &Told, arrived: bool) {
        for pick in &told.actors {
            match arrived {
                true => self.schedule.confirmed(pick, told.tick),
                false => self.schedule.lost(pick, told.tick),
            }
        }
        if !arrived {
            told.poses.iter().for_each(|pick| self.schedule.lost_pose(pick.who, pick.since));
        }
    }

    /// Sections in the ordered stream may have arrived.
    pub(crate) fn settle_stream(&mut self, carrier: &Carrier) {
        while let Some(&(who, tick, receipt)) = self.streaming.front()
            && carrier.has_arrived(receipt)
        {
            self.streaming.pop_front();
            self.schedule.streamed(who, Ok(tick));
        }
    }

    /// Tells who is gone, as far as there is room in the ordered stream; the rest waits.
    pub(crate) fn push_gone(&mut self, carrier: &mut Carrier, tick: Tick) {
        if self.all_gone {
            // Sections of this tick may have been written already.
            if carrier.push(&encode(&ToClient::AllGone { tick: tick.minus(1) })).is_err() {
                return;
            }
            self.all_gone = false;
            self.schedule.resync(tick);
        }
        while !self.gone.is_empty() {
            let gone: Vec<(ControllerId, Tick)> = self.gone.iter().take(TOLD_GONE).map(|(k, v)| (*k, *v)).collect();
            if carrier.push(&encode(&ToClient::Gone { gone: gone.clone() })).is_err() {
                return;
            }
            self.gone.retain(|who, _| gone.last().is_some_and(|last| *who > last.0));
        }
    }

    /// Writes whom the client is told of in this packet; whether there is more to tell it now. Nothing is written into a
    /// packet that is for this alone and has nothing to tell. Messages for the ordered stream are added to the list.
    pub(crate) fn write(
        &mut self,
        sight: Sight,
        alone: bool,
        out: &mut BitWriter,
        told: &mut Told,
        messages: &mut Vec<Message>,
    ) -> bool {
        let Sight { board, interest, owned, place, tick, length, round_trip, lossy, room } = sight;
        if self.wants_all && self.all_at.is_none_or(|at| tick >= at.plus(AGAIN)) {
            (self.wants_all, self.all_at) = (false, Some(tick));
            self.schedule.resync(tick);
        }
        let Observing { schedule, touched, targets, .. } = self;
        touched.retain(|&(who, at)| schedule.owes(board, who, at));
        targets.clear();
        targets.extend(touched.iter().map(|t| t.0));
        // The ends of the two lists need a byte.
        let free = (room / 8).saturating_sub(out.byte_len() + 1);
        let line = self.line.left().saturating_sub(out.byte_len());
        let viewer = Viewer { owned, targets, place };
        let ask = Ask { viewer, tick, length, round_trip, room: free.min(line), packet: LARGE, lossy };
        schedule.pick(board, interest, &ask, &mut self.plan);
        let plan = &self.plan;
        self.hungry = if plan.more { self.hungry.saturating_add(1) } else { 0 };
        self.gone.extend(plan.left.iter().map(|&who| (who, tick)));
        if self.gone.len() > MAX_GONE {
            self.gone.clear();
            self.all_gone = true;
        }
        for pick in &plan.large {
            let mut section = BitWriter::new();
            board.write(pick.who, pick.since, &mut section);
            let section = section.finish().to_vec();
            let bytes = encode(&ToClient::Seen { who: pick.who, tick, section });
            messages.push(Message { who: pick.who, since: pick.since, bytes });
        }
        told.tick = tick;
        if !alone || !plan.state.is_empty() || !plan.poses.is_empty() {
            plan.write_state(board, out);
            plan.write_poses(board, out);
            told.actors.extend_from_slice(&plan.state);
            told.poses.extend_from_slice(&plan.poses);
        }
        plan.more && free < line
    }

    /// A section was put into the ordered stream, or there was no room for it.
    pub(crate) fn pushed(&mut self, message: &Message, tick: Tick, receipt: Option<Receipt>) {
        match receipt {
            Some(receipt) => self.streaming.push_back((message.who, tick, receipt)),
            None => self.schedule.streamed(message.who, Err(message.since)),
        }
    }
}

/// A section that goes through the ordered stream.
pub(crate) struct Message {
    pub(crate) who: ControllerId,
    /// From where it was written.
    pub(crate) since: Tick,
    pub(crate) bytes: Vec<u8>,
}
