//! What one client is told of controllers that are not its own: who is chosen, how it is written, and what becomes of it.

use super::peer::Told;
use crate::interest::{Ask, Bandwidth, Interest, Plan, Schedule, Viewer};
use crate::message::{ToClient, encode};
use crate::types::Tick;
use crate::view::Board;
use crate::wire::bits::BitWriter;
use ugas_core::{ControllerId, SimTime};

/// Bytes of a section above which it goes through the ordered stream: less than the smallest room a packet without owned
/// controllers has.
const LARGE: usize = 512;
/// Whom the client did something to, at most; the oldest is then told as others are.
const MAX_TOUCHED: usize = 64;
/// Ticks between two times everything is sent anew, so that a client cannot ask for more than its line takes.
const AGAIN: u32 = 15;

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
    /// Whom the client's commands changed, and when.
    touched: Vec<(ControllerId, Tick)>,
    targets: Vec<ControllerId>,
    /// Sections in the ordered stream, with their ticks.
    streaming: Vec<(ControllerId, Tick)>,
    wants_all: bool,
    all_at: Option<Tick>,
}

impl Observing {
    pub(crate) fn new(line: Bandwidth) -> Observing {
        Observing {
            schedule: Schedule::default(),
            plan: Plan::default(),
            line,
            touched: Vec::new(),
            targets: Vec::new(),
            streaming: Vec::new(),
            wants_all: false,
            all_at: None,
        }
    }

    /// Another line.
    pub(crate) fn set_line(&mut self, line: Bandwidth) {
        self.line = line;
    }

    /// A tick went by.
    pub(crate) fn pass(&mut self, length: SimTime) {
        self.line.pass(length);
    }

    /// So many bytes were sent.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.line.spend(bytes);
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

    /// Everything in the ordered stream arrived.
    pub(crate) fn stream_is_idle(&mut self) {
        for (who, tick) in self.streaming.drain(..) {
            self.schedule.streamed(who, Ok(tick));
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
        messages.extend(plan.left.iter().map(|&who| Message { who, since: None, bytes: gone(who, tick) }));
        for pick in &plan.large {
            let mut section = BitWriter::new();
            board.write(pick.who, pick.since, &mut section);
            let section = section.finish().to_vec();
            let bytes = encode(&ToClient::Seen { who: pick.who, tick, section });
            messages.push(Message { who: pick.who, since: Some(pick.since), bytes });
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

    /// A message was put into the ordered stream, or there was no room for it.
    pub(crate) fn pushed(&mut self, message: &Message, tick: Tick, is_in: bool) {
        let Some(since) = message.since else { return };
        match is_in {
            true => self.streaming.push((message.who, tick)),
            false => self.schedule.streamed(message.who, Err(since)),
        }
    }
}

/// Something about a controller that must arrive.
pub(crate) struct Message {
    pub(crate) who: ControllerId,
    /// From where it was written, if it is a section.
    pub(crate) since: Option<Tick>,
    pub(crate) bytes: Vec<u8>,
}

fn gone(who: ControllerId, tick: Tick) -> Vec<u8> {
    encode(&ToClient::Gone { who, tick })
}
