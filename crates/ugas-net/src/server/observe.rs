//! The remote actors of one client: which are selected, how they are written, and whether they arrived.

use super::peer::SentPacket;
use crate::carrier::{Carrier, FRAGMENT, Receipt};
use crate::interest::{Bandwidth, Interest, PacketPlan, Schedule, ScheduleRequest, Viewer};
use crate::message::{ToClient, encode};
use crate::types::Tick;
use crate::view::ReplicationStore;
use crate::wire::bits::BitWriter;
use std::collections::{BTreeMap, VecDeque};
use ugas_core::{ControllerId, SimTime};

/// The bytes of a section above which it uses the reliable stream: less than the smallest space in a packet without owned
/// controllers.
const LARGE: usize = 512;
/// The most actors that the client's commands changed; the oldest then loses its priority.
const MAX_TOUCHED: usize = 64;
/// The fewest ticks between two complete resends, so that a client cannot request more than its bandwidth.
const AGAIN: u32 = 15;

/// The most removals that wait to be sent.
const MAX_GONE: usize = 1024;
/// The removals per message: as many as fit into a fragment.
const TOLD_GONE: usize = 40;

/// The inputs of a packet.
pub(crate) struct ObserverContext<'a> {
    pub(crate) store: &'a mut ReplicationStore,
    pub(crate) interest: &'a Interest,
    pub(crate) owned: &'a [ControllerId],
    pub(crate) place: Option<[f64; 3]>,
    pub(crate) tick: Tick,
    pub(crate) length: SimTime,
    pub(crate) round_trip: SimTime,
    /// Whether the link loses many packets.
    pub(crate) lossy: bool,
    /// The most bits of the packet.
    pub(crate) room: usize,
}

/// The remote actors of one client.
#[derive(Clone, Debug)]
pub(crate) struct ObserverStream {
    schedule: Schedule,
    plan: PacketPlan,
    line: Bandwidth,
    /// Half of the bandwidth, reserved for the reliable stream while other data does not fit.
    stream: Bandwidth,
    /// Consecutive packets in which something did not fit.
    starved: u32,
    /// Removals with their ticks, until they are sent.
    gone: BTreeMap<ControllerId, Tick>,
    /// Too many removals to list: all actors are sent again.
    all_gone: bool,
    /// Actors that the client's commands changed, with the tick.
    touched: Vec<(ControllerId, Tick)>,
    targets: Vec<ControllerId>,
    /// Sections in the reliable stream, with their ticks.
    streaming: VecDeque<(ControllerId, Tick, Receipt)>,
    wants_all: bool,
    all_at: Option<Tick>,
}

impl ObserverStream {
    pub(crate) fn new(line: Bandwidth) -> ObserverStream {
        ObserverStream {
            schedule: Schedule::default(),
            plan: PacketPlan::default(),
            line,
            stream: line.half(),
            starved: 0,
            gone: BTreeMap::new(),
            all_gone: false,
            touched: Vec::new(),
            targets: Vec::new(),
            streaming: VecDeque::new(),
            wants_all: false,
            all_at: None,
        }
    }

    /// Sets the bandwidth.
    pub(crate) fn set_line(&mut self, line: Bandwidth) {
        (self.line, self.stream) = (line, line.half());
    }

    /// Advances by a tick.
    pub(crate) fn pass(&mut self, length: SimTime) {
        self.line.pass(length);
        self.stream.pass(length);
    }

    /// Accounts for sent bytes, `reliable` of them in the reliable stream.
    pub(crate) fn spend(&mut self, bytes: usize, reliable: usize) {
        self.line.spend(bytes);
        self.stream.spend(reliable.min(self.stream.left()));
    }

    /// The bytes of the next packet that the reliable stream may use. It always has half of the bandwidth, so that it makes
    /// progress.
    pub(crate) fn stream_share(&self) -> usize {
        match self.starved {
            0 => self.line.left().max(self.stream.left()),
            // Owned controllers may need the space of even one fragment.
            starved if starved % 4 == 0 => 0,
            _ => self.stream.left().min(FRAGMENT + 8),
        }
    }

    /// A command of the client changed an actor.
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

    /// Whether an actor is relevant to the client.
    pub(crate) fn is_relevant(&self, who: ControllerId) -> bool {
        self.schedule.is_relevant(who)
    }

    /// The relevance changed: all actors are evaluated again.
    pub(crate) fn reconsider(&mut self) {
        self.schedule.reconsider();
    }

    /// The client requested a complete resend.
    pub(crate) fn request_resync(&mut self) {
        self.wants_all = true;
    }

    /// A packet arrived or was lost.
    pub(crate) fn settle(&mut self, sent: &SentPacket, arrived: bool) {
        for pick in &sent.actors {
            match arrived {
                true => self.schedule.confirmed(pick, sent.tick),
                false => self.schedule.lost(pick, sent.tick),
            }
        }
        if !arrived {
            sent.poses.iter().for_each(|pick| self.schedule.lost_pose(pick.who, pick.since));
        }
    }

    /// Confirms sections of the reliable stream that arrived.
    pub(crate) fn settle_stream(&mut self, carrier: &Carrier) {
        while let Some(&(who, tick, receipt)) = self.streaming.front()
            && carrier.has_arrived(receipt)
        {
            self.streaming.pop_front();
            self.schedule.streamed(who, Ok(tick));
        }
    }

    /// Queues removals, as far as the reliable stream has room; the rest waits.
    pub(crate) fn push_gone(&mut self, carrier: &mut Carrier, tick: Tick) {
        if self.all_gone {
            // Sections of this tick may be written already.
            if carrier.push(&encode(&ToClient::AllRemoved { tick: tick.minus(1) })).is_err() {
                return;
            }
            self.all_gone = false;
            self.schedule.resync(tick);
        }
        while !self.gone.is_empty() {
            let gone: Vec<(ControllerId, Tick)> = self.gone.iter().take(TOLD_GONE).map(|(k, v)| (*k, *v)).collect();
            if carrier.push(&encode(&ToClient::Removed { gone: gone.clone() })).is_err() {
                return;
            }
            self.gone.retain(|who, _| gone.last().is_some_and(|last| *who > last.0));
        }
    }

    /// Writes the remote actors of this packet. Returns whether there is more to send now. Nothing is written into a packet
    /// that is for this alone and has no updates. Messages for the reliable stream are added to the list.
    pub(crate) fn write(
        &mut self,
        sight: ObserverContext,
        alone: bool,
        out: &mut BitWriter,
        sent: &mut SentPacket,
        messages: &mut Vec<Message>,
    ) -> bool {
        let ObserverContext { store, interest, owned, place, tick, length, round_trip, lossy, room } = sight;
        if self.wants_all && self.all_at.is_none_or(|at| tick >= at.plus(AGAIN)) {
            (self.wants_all, self.all_at) = (false, Some(tick));
            self.schedule.resync(tick);
        }
        let ObserverStream { schedule, touched, targets, .. } = self;
        touched.retain(|&(who, at)| schedule.owes(store, who, at));
        targets.clear();
        targets.extend(touched.iter().map(|t| t.0));
        // The ends of the two lists need one byte.
        let free = (room / 8).saturating_sub(out.byte_len() + 1);
        let line = self.line.left().saturating_sub(out.byte_len());
        let viewer = Viewer { owned, targets, place };
        let ask = ScheduleRequest { viewer, tick, length, round_trip, room: free.min(line), packet: LARGE, lossy };
        schedule.pick(store, interest, &ask, &mut self.plan);
        let plan = &self.plan;
        self.starved = if plan.more { self.starved.saturating_add(1) } else { 0 };
        self.gone.extend(plan.left.iter().map(|&who| (who, tick)));
        if self.gone.len() > MAX_GONE {
            self.gone.clear();
            self.all_gone = true;
        }
        for pick in &plan.large {
            let mut section = BitWriter::new();
            store.write(pick.who, pick.since, &mut section);
            let section = section.finish().to_vec();
            let bytes = encode(&ToClient::ActorState { who: pick.who, tick, section });
            messages.push(Message { who: pick.who, since: pick.since, bytes });
        }
        sent.tick = tick;
        if !alone || !plan.state.is_empty() || !plan.poses.is_empty() {
            plan.write_state(store, out);
            plan.write_poses(store, out);
            sent.actors.extend_from_slice(&plan.state);
            sent.poses.extend_from_slice(&plan.poses);
        }
        plan.more && free < line
    }

    /// A section was queued in the reliable stream, or did not fit.
    pub(crate) fn pushed(&mut self, message: &Message, tick: Tick, receipt: Option<Receipt>) {
        match receipt {
            Some(receipt) => self.streaming.push_back((message.who, tick, receipt)),
            None => self.schedule.streamed(message.who, Err(message.since)),
        }
    }
}

/// A section for the reliable stream.
pub(crate) struct Message {
    pub(crate) who: ControllerId,
    /// The tick it was written from.
    pub(crate) since: Tick,
    pub(crate) bytes: Vec<u8>,
}
