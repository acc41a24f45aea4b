//! Packets to clients: verdicts, states of owned controllers, updates of remote actors.

use super::confirm::ConfirmationQueue;
use super::observe::{Message, ObserverContext};
use super::owner::{Owned, Written};
use super::peer::{Peer, Phase, SentPacket};
use super::{MAX_VERDICTS, MIN_HELLO, NOTHING, REMOVED, Server, USUAL_SLACK};
use crate::mask::{Recipient, is_seen};
use crate::message::{ToClient, USE_BITS, USE_MASK, Verdict, encode};
use crate::types::{MAX_DATAGRAM, PeerId, Tick};
use crate::view::ReplicationStore;
use crate::wire::bits::BitWriter;
use crate::wire::delta::Coder;
use crate::wire::number::{put_int, put_uint, uint_bits};
use std::sync::Arc;
use ugas_core::{AttributeId, ControllerId, Sim, SimTime, UsedAbility};

/// The loss rate, per thousand packets, at or above which updates are resent without waiting for a loss report.
const LOSSY: u32 = 50;

/// How many of the newest confirmations that are in flight a packet repeats.
const REPEATED: usize = 16;

/// If more bytes than this wait in the reliable stream, run-time definitions are queued later, so that other messages
/// do not wait for them.
const BULK: usize = 8 * 1024;

impl Server {
    /// Calls `out` with each datagram for each peer. Call this method after [`Server::step`].
    pub fn send(&mut self, out: &mut dyn FnMut(PeerId, &[u8])) {
        let mut last = None;
        while let Some(id) = self.peer_after(last) {
            last = Some(id);
            self.send_to(id, &mut |datagram| out(id, datagram));
        }
    }

    /// Calls `out` with each datagram for one peer, for example to send a denial before the game starts.
    pub fn send_to(&mut self, peer: PeerId, out: &mut dyn FnMut(&[u8])) {
        self.define(peer);
        for round in 0..self.config.datagrams_per_tick {
            let more = self.write(peer, round == 0);
            if !self.out.is_empty() {
                out(&self.out);
            }
            if !more {
                break;
            }
        }
    }

    /// Queues run-time definitions that a client does not have.
    pub(super) fn define(&mut self, id: PeerId) {
        let given = self.sim.remote().definition_count();
        let Some(p) = self.peers.get_mut(&id) else { return };
        while let Some((_, many)) = p.defining.pop_front_if(|(message, _)| p.carrier.has_arrived(*message)) {
            p.arrived = many;
        }
        if p.phase != Phase::Playing || p.defined == given {
            return;
        }
        let known = p.defined | ugas_core::RUNTIME_BIT;
        let number = |id: &ugas_core::DefId| match id {
            ugas_core::DefId::Effect(e) => e.0,
            ugas_core::DefId::Ability(a) => a.0,
        };
        for (def, doc) in self.sim.remote().definitions().filter(|(def, _)| number(def) >= known) {
            let Ok(doc) = serde_json::to_string(doc) else { continue };
            // Other messages must not wait for all definitions.
            if p.carrier.queued() > BULK.min(self.config.connection.max_unacked_bytes / 2) {
                return;
            }
            let Ok(message) = p.carrier.push(&encode(&ToClient::Define { id: def, doc })) else { return };
            p.defined = (number(&def) & !ugas_core::RUNTIME_BIT) + 1;
            p.defining.push_back((message, p.defined));
        }
        p.defined = given;
    }

    /// Writes one datagram for a client. Returns whether there is more to send.
    pub(super) fn write(&mut self, id: PeerId, first: bool) -> bool {
        let (tick, now) = (self.tick, self.now());
        self.out.clear();
        let Some(p) = self.peers.get_mut(&id) else { return false };
        if p.phase != Phase::Playing && p.credit < MIN_HELLO {
            return false;
        }
        p.process_packet_results(&mut self.packet_results);
        // Under new rules a state is sent only after the session follows them.
        let follows_rules = Arc::ptr_eq(&self.rules, self.sim.rules());
        let is_welcomed = follows_rules && p.may_get_states(&mut self.starts_left);
        let seeds = if first && is_welcomed { p.seeds_to_send(self.blocks, tick) } else { 0..0 };
        let first_owned = p.first_owned();
        let (mut sent, mut more) = (p.spare.pop().unwrap_or_default(), false);
        let Server { sim, store, interest, hidden, writer, coder, out, config, secret, blocks, positions, .. } = self;
        let arrived_definitions = p.arrived;
        let (rows, verdicts, views, owned, slack) = (&mut p.rows, &p.verdicts, &mut p.views, &p.owned, p.slack);
        // A controller that is away is not predicted.
        if let Some(matched) = rows.iter().filter(|row| !row.is_away()).map(Owned::matched).min().flatten() {
            p.own_confirmations.drop_until(matched);
        }
        let (confirmations, own_confirmations) = (&mut p.confirmations, &mut p.own_confirmations);
        positions.clear();
        positions.extend(owned.iter().filter_map(|&who| sim.anchor(who).ok().flatten()).map(|a| a.position));
        let (length, round_trip) = (config.tick_length, p.carrier.round_trip().unwrap_or(SimTime::ZERO));
        let lossy = p.carrier.lost_share() >= LOSSY;
        if first {
            views.advance(length);
        }
        p.carrier.set_share(views.stream_share());
        let mut queued = QueuedMessages::default();
        let mut reliable = 0;
        let mut payload = |bytes: &mut Vec<u8>, room: usize| {
            reliable = MAX_DATAGRAM - room;
            if !is_welcomed || room < 32 {
                return;
            }
            let room = room * 8;
            writer.clear();
            writer.bit(first);
            if first {
                put_int(writer, slack as i64 - USUAL_SLACK);
                sent.seeds = if seeds.is_empty() { 0 } else { seeds.end };
                blocks.write(tick, seeds.clone(), |block| secret.seed_of(first_owned, block), writer);
                write_verdicts(writer, sim, verdicts, &mut sent, room / 4);
                confirmations.write(tick, writer, room / 4, REPEATED, &mut sent.confirmations);
                let mut owner =
                    OwnerContext { sim, store, hidden, owned, own_confirmations, arrived_definitions, tick, room };
                owner.write(rows, coder, writer, &mut sent, &mut queued.owner_states);
            }
            let context = ObserverContext { store, interest, owned, positions, tick, length, round_trip, lossy, room };
            let start = writer.bit_len();
            more = views.write(context, !first, writer, &mut sent, &mut queued.sections);
            if !first && writer.bit_len() == start {
                return;
            }
            bytes.extend_from_slice(writer.finish());
        };
        let number = p.carrier.write(now, tick, out, &mut payload);
        queued.push(p, tick, config.connection.max_unacked_bytes);
        p.views.spend(out.len(), reliable);
        p.credit = p.credit.saturating_sub(out.len());
        match number {
            Some(number) => {
                (sent.number, sent.tick) = (number.0, tick);
                p.track_packet(sent);
            }
            None => p.spare.push(sent),
        }
        more && self.out.len() <= MAX_DATAGRAM
    }
}

/// Messages for the reliable stream that were created while a packet was written.
#[derive(Default)]
struct QueuedMessages {
    /// States of owned controllers that did not fit, with the row of each.
    owner_states: Vec<(usize, Vec<u8>)>,
    /// Sections of remote actors that are longer than a packet.
    sections: Vec<Message>,
}

impl QueuedMessages {
    /// Queues the messages and the removals in the reliable stream.
    fn push(self, p: &mut Peer, tick: Tick, max_unacked_bytes: usize) {
        for (at, message) in self.owner_states {
            if p.carrier.push(&message).is_err() {
                p.rows[at].on_stream_full();
            }
        }
        p.views.push_removals(&mut p.carrier, tick);
        // Half of the stream is reserved for urgent messages.
        let most = max_unacked_bytes / 2;
        for message in self.sections {
            let receipt = if p.carrier.queued() < most { p.carrier.push(&message.bytes).ok() } else { None };
            p.views.on_pushed(&message, tick, receipt);
        }
    }
}

/// The inputs of the part of a packet about owned controllers.
struct OwnerContext<'a> {
    sim: &'a Sim,
    store: &'a ReplicationStore,
    /// Attributes that are hidden from owners.
    hidden: &'a [AttributeId],
    owned: &'a [ControllerId],
    own_confirmations: &'a mut ConfirmationQueue,
    /// The number of run-time definitions that the client has.
    arrived_definitions: u32,
    tick: Tick,
    /// The maximum number of bits of the packet.
    room: usize,
}

impl OwnerContext<'_> {
    /// Writes the status or state of each owned controller, then the confirmations about them if a state was written.
    /// States that do not fit are added to the list, for the reliable stream.
    fn write(
        &mut self,
        rows: &mut [Owned],
        coder: &mut Coder,
        writer: &mut BitWriter,
        sent: &mut SentPacket,
        too_long: &mut Vec<(usize, Vec<u8>)>,
    ) {
        let (sim, hidden, tick, room) = (self.sim, self.hidden, self.tick, self.room);
        // Space for rows without a state and for the end of the list of remote actors.
        let state_room = room.saturating_sub(64 + 48 * rows.len());
        let is_visible = |who: ControllerId, attribute: AttributeId| self.is_visible(who, attribute);
        // Usually every prediction is right at the packet's tick: one bit confirms all.
        let all_matched = rows.iter().all(|row| row.is_matched_at(tick));
        if !rows.is_empty() {
            writer.bit(all_matched);
        }
        let mut has_state = false;
        for (at, row) in rows.iter_mut().enumerate().filter(|_| !all_matched) {
            if !self.can_send_state(row.who) {
                writer.bits(NOTHING, 2);
                continue;
            }
            let snapshot = |who| sim.remote().snapshot_without(who, hidden, &is_visible);
            match row.write(sim, snapshot, tick, coder, writer, state_room) {
                Ok(Written::Status) => {}
                Ok(Written::State) => has_state = true,
                Ok(Written::TooLong) => {
                    writer.bits(NOTHING, 2);
                    let mut full = BitWriter::new();
                    if row.write_full(tick, coder, &mut full) {
                        // Not counted as received: this stream is resent until it arrives.
                        self.own_confirmations.write_all(tick, &mut full);
                        let state = full.finish().to_vec();
                        too_long.push((at, encode(&ToClient::OwnerState { who: row.who, tick, state })));
                    }
                }
                Err(_) => writer.bits(REMOVED, 2),
            }
        }
        if has_state {
            let left = room.saturating_sub(writer.bit_len() + 128);
            let room = left.min(room / 4);
            self.own_confirmations.write(tick, writer, room, usize::MAX, &mut sent.own_confirmations);
        }
    }

    /// Returns whether the client may receive an attribute of a controller.
    fn is_visible(&self, who: ControllerId, attribute: AttributeId) -> bool {
        let (sets, mode) = (self.sim.set_list(who).unwrap_or_default(), self.store.mode(who));
        let recipient = if self.owned.contains(&who) { Recipient::Owner } else { Recipient::Observer };
        mode.is_some_and(|mode| is_seen(self.sim.rules(), sets, mode, recipient, attribute))
    }

    /// Returns whether the status or state of a controller may be sent now.
    fn can_send_state(&self, who: ControllerId) -> bool {
        let remote = self.sim.remote();
        // A state that refers to a missing definition cannot be read, and neither can the rest of its packet, which may
        // contain the definition.
        remote.definition_count() <= self.arrived_definitions
            || remote.required_definitions(who) <= self.arrived_definitions
    }
}

/// Writes the verdicts that fit into `room` bits of the packet, the oldest first.
fn write_verdicts(out: &mut BitWriter, sim: &Sim, verdicts: &[Verdict], sent: &mut SentPacket, room: usize) {
    let mut bits = out.bit_len();
    let fits = |verdict: &&Verdict| {
        bits += verdict_bits(verdict);
        bits <= room
    };
    let kept = verdicts.iter().take(MAX_VERDICTS as usize).take_while(fits).count();
    put_uint(out, kept as u64);
    for v in &verdicts[..kept] {
        put_uint(out, v.base as u64);
        put_uint(out, v.sub as u64);
        out.bit(v.rejected);
        if !v.rejected {
            put_uint(out, v.activated.len() as u64);
            for &ability in &v.activated {
                put_uint(out, ability.0 as u64);
                let next = sim.remote().next_use(UsedAbility { who: v.who, ability });
                out.bit(next.is_some());
                if let Some(next) = next {
                    out.bits(next as u64 & USE_MASK, USE_BITS);
                }
            }
        }
        sent.verdicts.push((v.base, v.sub));
    }
}

/// Returns the highest number of bits that a verdict can need. An ability whose uses are not numbered needs fewer bits.
fn verdict_bits(v: &Verdict) -> usize {
    let activated = || v.activated.iter().map(|a| uint_bits(a.0 as u64) + 1 + USE_BITS as usize).sum::<usize>();
    let result = if v.rejected { 0 } else { uint_bits(v.activated.len() as u64) + activated() };
    uint_bits(v.base as u64) + uint_bits(v.sub as u64) + 1 + result
}

#[cfg(test)]
mod tests {
    use super::*;
    use ugas_core::{AbilityId, Rules, SimConfig};

    #[test]
    fn verdicts_are_written_while_they_fit() {
        let who = ControllerId(3);
        let mut sim = Sim::new(Rules::builder().build().unwrap(), SimConfig::default());
        for ability in [0, 100, 200].map(AbilityId) {
            sim.remote_mut().add_use_seeds(UsedAbility { who, ability }, 0, [5]);
        }
        let verdict = |base, rejected, count| {
            let activated = (0..count).map(|n| AbilityId(n * 100)).collect();
            Verdict { base, sub: 7, rejected, activated, who }
        };
        let verdicts = [verdict(1, false, 3), verdict(90_000, true, 0), verdict(u32::MAX, false, 0)];
        let sizes: Vec<usize> = verdicts.iter().map(verdict_bits).collect();
        for (count, room) in [(0, sizes[0] - 1), (1, sizes[0]), (2, sizes[0] + sizes[1]), (3, 10_000)] {
            let (mut out, mut sent) = (BitWriter::new(), SentPacket::default());
            write_verdicts(&mut out, &sim, &verdicts, &mut sent, room);
            assert_eq!(sent.verdicts.len(), count);
            let bits: usize = sizes[..count].iter().sum();
            assert_eq!(out.bit_len(), uint_bits(count as u64) + bits, "the calculated sizes are the written ones");
        }
    }
}
