//! Sends remote actors to one client: selects the actors for each packet, writes them and records which updates
//! arrived.

use super::peer::SentPacket;
use crate::carrier::{Carrier, FRAGMENT, Receipt};
use crate::interest::{Bandwidth, Interest, PacketPlan, PlannedUpdate, Schedule, ScheduleRequest, Viewer};
use crate::message::{ToClient, encode, encode_removed};
use crate::types::Tick;
use crate::view::ReplicationStore;
use crate::wire::bits::BitWriter;
use std::collections::VecDeque;
use ugas_core::{ControllerId, SimTime};

/// The length in bytes above which a section is sent in the reliable stream: less than the smallest space in a packet
/// without owned controllers.
const LARGE: usize = 512;
/// The maximum number of actors that have priority because the client's commands changed them. If there are more, the
/// oldest loses its priority.
const MAX_TOUCHED: usize = 64;
/// The minimum number of ticks between two complete resends, so that a client cannot exceed its bandwidth with
/// requests.
const RESYNC_INTERVAL_TICKS: u32 = 15;

/// The maximum number of removals that wait to be sent.
const MAX_PENDING_REMOVALS: usize = 1024;
/// The removals per message: as many as fit into a fragment.
const REMOVALS_PER_MESSAGE: usize = 40;

/// The inputs for the remote actors in a packet.
pub(crate) struct ObserverContext<'a> {
    pub(crate) store: &'a mut ReplicationStore,
    pub(crate) interest: &'a Interest,
    pub(crate) owned: &'a [ControllerId],
    /// The positions of the owned controllers.
    pub(crate) positions: &'a [[f64; 3]],
    pub(crate) tick: Tick,
    pub(crate) length: SimTime,
    pub(crate) round_trip: SimTime,
    /// Whether the link loses many packets.
    pub(crate) lossy: bool,
    /// The maximum number of bits of the packet.
    pub(crate) room: usize,
}

/// The remote actors of one client.
#[derive(Clone, Debug)]
pub(crate) struct ObserverStream {
    schedule: Schedule,
    plan: PacketPlan,
    bandwidth: Bandwidth,
    /// Half of the bandwidth, reserved for the reliable stream while other data does not fit.
    stream_bandwidth: Bandwidth,
    /// Consecutive packets in which something did not fit.
    starved_packets: u32,
    /// Removals with their ticks, sorted by id, until they are sent.
    removals: Vec<(ControllerId, Tick)>,
    /// Whether there are too many removals to list, so that all actors are sent again.
    all_removed: bool,
    /// Actors that the client's commands changed, each with the tick of the last such change.
    touched: Vec<(ControllerId, Tick)>,
    targets: Vec<ControllerId>,
    /// Sections in the reliable stream, with their ticks.
    streaming: VecDeque<(PlannedUpdate, Tick, Receipt)>,
    resync_requested: bool,
    last_resync: Option<Tick>,
    /// Whether the client got its first state.
    pub(crate) is_started: bool,
}

impl ObserverStream {
    pub(crate) fn new(bandwidth: Bandwidth) -> ObserverStream {
        ObserverStream {
            schedule: Schedule::default(),
            plan: PacketPlan::default(),
            bandwidth,
            stream_bandwidth: bandwidth.half(),
            starved_packets: 0,
            removals: Vec::new(),
            all_removed: false,
            touched: Vec::new(),
            targets: Vec::new(),
            streaming: VecDeque::new(),
            resync_requested: false,
            last_resync: None,
            is_started: false,
        }
    }

    /// Sets the bandwidth.
    pub(crate) fn set_bandwidth(&mut self, bandwidth: Bandwidth) {
        (self.bandwidth, self.stream_bandwidth) = (bandwidth, bandwidth.half());
    }

    /// Advances by a tick.
    pub(crate) fn advance(&mut self, length: SimTime) {
        self.bandwidth.advance(length);
        self.stream_bandwidth.advance(length);
    }

    /// Accounts for sent bytes, `reliable` of them in the reliable stream.
    pub(crate) fn spend(&mut self, bytes: usize, reliable: usize) {
        self.bandwidth.spend(bytes);
        self.stream_bandwidth.spend(reliable.min(self.stream_bandwidth.left()));
    }

    /// Returns the number of bytes of the next packet that the reliable stream may use. While other data does not fit,
    /// the stream has half of the bandwidth, so that it makes progress: at most one fragment per packet, and none in
    /// every fourth packet.
    pub(crate) fn stream_share(&self) -> usize {
        match self.starved_packets {
            0 => self.bandwidth.left().max(self.stream_bandwidth.left()),
            // Owned controllers may need the space of even one fragment.
            starved_packets if starved_packets % 4 == 0 => 0,
            _ => self.stream_bandwidth.left().min(FRAGMENT + 8),
        }
    }

    /// Gives priority to an actor that a command of the client changed.
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

    /// Returns whether an actor is relevant to the client.
    pub(crate) fn is_relevant(&self, store: &ReplicationStore, who: ControllerId) -> bool {
        self.schedule.is_relevant(store, who)
    }

    /// Returns whether an actor stopped being relevant to the client at this tick or later.
    pub(crate) fn was_relevant_since(&self, store: &ReplicationStore, who: ControllerId, since: Tick) -> bool {
        self.schedule.was_relevant_since(store, who, since)
    }

    /// Evaluates the relevance of all actors again.
    pub(crate) fn reevaluate(&mut self) {
        self.schedule.reevaluate();
    }

    /// Schedules a complete resend, at the request of the client.
    pub(crate) fn request_resync(&mut self) {
        self.resync_requested = true;
    }

    /// Records that a packet arrived or was lost.
    pub(crate) fn on_packet_result(&mut self, sent: &SentPacket, arrived: bool) {
        for update in &sent.actors {
            match arrived {
                true => self.schedule.on_acked(update, sent.tick),
                false => self.schedule.on_lost(update, sent.tick),
            }
        }
        for update in &sent.poses {
            match arrived {
                true => self.schedule.on_pose_acked(update, sent.tick),
                false => self.schedule.on_pose_lost(update),
            }
        }
    }

    /// Confirms sections of the reliable stream that arrived.
    pub(crate) fn confirm_streamed(&mut self, carrier: &Carrier) {
        while let Some(&(update, tick, receipt)) = self.streaming.front()
            && carrier.has_arrived(receipt)
        {
            self.streaming.pop_front();
            self.schedule.on_streamed(&update, tick);
        }
    }

    /// Queues as many removals as fit into the reliable stream; the other removals wait.
    pub(crate) fn push_removals(&mut self, carrier: &mut Carrier, tick: Tick) {
        if self.all_removed {
            // Sections of this tick may be written already.
            if carrier.push(&encode(&ToClient::AllRemoved { tick: tick.minus(1) })).is_err() {
                return;
            }
            self.all_removed = false;
            self.schedule.resync(tick);
        }
        while !self.removals.is_empty() {
            let count = self.removals.len().min(REMOVALS_PER_MESSAGE);
            let mut buffer = [0; FRAGMENT];
            let message = encode_removed(&self.removals[..count], &mut buffer);
            if message.is_none_or(|message| carrier.push(message).is_err()) {
                return;
            }
            self.removals.drain(..count);
        }
    }

    /// Records that actors are no longer relevant. If there are too many to list, all actors are sent again.
    fn record_removals(&mut self, tick: Tick) {
        let left = &self.plan.left;
        if self.removals.len() + left.len() > MAX_PENDING_REMOVALS {
            self.removals.clear();
            self.all_removed = true;
            return;
        }
        for &who in left {
            match self.removals.binary_search_by_key(&who, |removal| removal.0) {
                Ok(at) => self.removals[at].1 = tick,
                Err(at) => self.removals.insert(at, (who, tick)),
            }
        }
    }

    /// Writes the remote actors of this packet. Returns whether there is more to send now. Nothing is written into a
    /// packet that `is_extra` if there are no updates. Messages for the reliable stream are added to the list.
    pub(crate) fn write(
        &mut self,
        context: ObserverContext,
        is_extra: bool,
        out: &mut BitWriter,
        sent: &mut SentPacket,
        messages: &mut Vec<Message>,
    ) -> bool {
        let ObserverContext { store, interest, owned, positions, tick, length, round_trip, lossy, room } = context;
        if self.resync_requested && self.last_resync.is_none_or(|at| tick >= at.plus(RESYNC_INTERVAL_TICKS)) {
            (self.resync_requested, self.last_resync) = (false, Some(tick));
            self.schedule.resync(tick);
        }
        let ObserverStream { schedule, touched, targets, .. } = self;
        touched.retain(|&(who, at)| schedule.is_missing(store, who, at));
        targets.clear();
        targets.extend(touched.iter().map(|t| t.0));
        // The ends of the two lists need one byte.
        let free = (room / 8).saturating_sub(out.byte_len() + 1);
        let bandwidth = self.bandwidth.left().saturating_sub(out.byte_len());
        let viewer = Viewer { owned, targets, positions };
        let request =
            ScheduleRequest { viewer, tick, length, round_trip, room: free.min(bandwidth), packet: LARGE, lossy };
        schedule.select(store, interest, &request, &mut self.plan);
        self.record_removals(tick);
        let plan = &self.plan;
        self.starved_packets = if plan.more { self.starved_packets.saturating_add(1) } else { 0 };
        for update in &plan.large {
            let mut section = BitWriter::new();
            store.write_at(update.slot as usize, update.since, &mut section);
            let section = section.finish().to_vec();
            let bytes = encode(&ToClient::ActorState { who: update.who, tick, section });
            messages.push(Message { update: *update, bytes });
        }
        sent.tick = tick;
        if !is_extra || !plan.state.is_empty() || !plan.poses.is_empty() {
            plan.write_state(store, out);
            plan.write_poses(store, out);
            copy_list(&plan.state, &mut sent.actors);
            copy_list(&plan.poses, &mut sent.poses);
        }
        plan.more && free < bandwidth
    }

    /// Records that a section was queued in the reliable stream, or did not fit.
    pub(crate) fn on_pushed(&mut self, message: &Message, tick: Tick, receipt: Option<Receipt>) {
        match receipt {
            Some(receipt) => self.streaming.push_back((message.update, tick, receipt)),
            None => self.schedule.on_stream_full(&message.update),
        }
    }
}

/// The minimum number of elements for which a list of a packet has memory.
const MIN_LIST: usize = 64;

/// Copies a list into the empty list of a packet. The memory is reused for packets with other lengths, so it grows in
/// large steps.
fn copy_list<T: Copy>(from: &[T], to: &mut Vec<T>) {
    if from.len() > to.capacity() {
        to.reserve_exact(from.len().next_power_of_two().max(MIN_LIST));
    }
    to.extend_from_slice(from);
}

/// A section for the reliable stream.
pub(crate) struct Message {
    pub(crate) update: PlannedUpdate,
    pub(crate) bytes: Vec<u8>,
}
