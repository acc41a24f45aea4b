//! Packets to clients: verdicts, states of owned controllers, updates of remote actors.

use super::observe::{Message, ObserverContext};
use super::owner::{Owned, Written};
use super::peer::{Phase, SentPacket};
use super::{GONE, MAX_VERDICTS, MIN_HELLO, NOTHING, Server};
use crate::mask::{Recipient, is_seen};
use crate::message::{ToClient, Verdict, encode};
use crate::types::{MAX_DATAGRAM, PeerId};
use crate::wire::bits::BitWriter;
use crate::wire::number::{put_int, put_uint};
use ugas_core::{AttributeId, ControllerId, SimTime};

/// The loss rate, per thousand packets, from which on updates are resent without waiting for a loss report.
const LOSSY: u32 = 50;

/// The bytes in the reliable stream above which definitions wait.
const BULK: usize = 8 * 1024;

impl Server {
    /// Writes the datagrams for all peers, after the tick.
    pub fn send(&mut self, out: &mut dyn FnMut(PeerId, &[u8])) {
        let mut last = None;
        while let Some(id) = self.peer_after(last) {
            last = Some(id);
            self.send_to(id, &mut |datagram| out(id, datagram));
        }
    }

    /// Writes the datagrams for one peer, for example a denial before the game starts.
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
            // Other messages must not wait behind all of them.
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
        let (tick, now) = (self.tick, self.tick.time(self.config.tick_length));
        self.out.clear();
        let Some(p) = self.peers.get_mut(&id) else { return false };
        if p.phase != Phase::Playing && p.credit < MIN_HELLO {
            return false;
        }
        p.settle(&mut self.packet_results);
        let playing = p.is_welcomed();
        let mut sent = p.spare.pop().unwrap_or_default();
        let mut more = false;
        let Server { sim, store, interest, hidden, writer, coder, out, config, .. } = self;
        let arrived = p.arrived;
        let (rows, verdicts, views, owned, slack) = (&mut p.rows, &p.verdicts, &mut p.views, &p.owned, p.slack);
        // A controller that is away is not predicted.
        if let Some(matched) = rows.iter().filter(|row| !row.is_away()).map(Owned::matched).min().flatten() {
            p.own_confirmations.forget_until(matched);
        }
        let (echoes, own) = (&p.confirmations, &p.own_confirmations);
        let place = owned.first().and_then(|&who| sim.anchor(who).ok().flatten()).map(|a| a.position);
        let (length, round_trip) = (config.tick_length, p.carrier.round_trip().unwrap_or(SimTime::ZERO));
        let lossy = p.carrier.lost_share() >= LOSSY;
        if first {
            views.pass(length);
        }
        p.carrier.set_share(views.stream_share());
        let mut streamed: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut messages: Vec<Message> = Vec::new();
        let mut reliable = 0;
        let mut payload = |bytes: &mut Vec<u8>, room: usize| {
            reliable = MAX_DATAGRAM - room;
            if !playing || room < 32 {
                return;
            }
            let room = room * 8;
            // Room for rows without a state and for the end of the list of remote actors.
            let reserved = room.saturating_sub(64 + 48 * rows.len());
            writer.clear();
            writer.bit(first);
            if first {
                put_int(writer, slack as i64);
                write_verdicts(writer, verdicts, &mut sent, room / 4);
                sent.confirmations = echoes.write(tick, writer, room / 4);
                let knows = |who: ControllerId, attribute: AttributeId| {
                    let (sets, mode) = (sim.set_list(who).unwrap_or_default(), store.mode(who));
                    let eye = if owned.contains(&who) { Recipient::Owner } else { Recipient::Observer };
                    mode.is_some_and(|mode| is_seen(sim.rules(), sets, mode, eye, attribute))
                };
                // Usually every prediction is right at the packet's tick: one bit confirms all.
                let is_right = |row: &Owned| row.is_right(tick) && !sim.remote().awaits_validation(row.who);
                let all_right = rows.iter().all(is_right);
                if !rows.is_empty() {
                    writer.bit(all_right);
                }
                let mut written = false;
                for (at, row) in rows.iter_mut().enumerate().filter(|_| !all_right) {
                    // During a predicted validation the client's state is ahead of the server's.
                    if sim.remote().awaits_validation(row.who) {
                        writer.bits(NOTHING, 2);
                        continue;
                    }
                    // A state that needs a missing definition cannot be read, nor can the rest of its packet, which may
                    // contain the definition.
                    if sim.remote().definition_count() > arrived && sim.remote().required_definitions(row.who) > arrived
                    {
                        writer.bits(NOTHING, 2);
                        continue;
                    }
                    let peek = |who| sim.remote().snapshot_without(who, hidden, &knows);
                    match row.write(sim, peek, tick, coder, writer, reserved) {
                        Ok(Written::Word) => {}
                        Ok(Written::State) => written = true,
                        Ok(Written::TooLong) => {
                            writer.bits(NOTHING, 2);
                            let mut whole = BitWriter::new();
                            if row.whole(tick, coder, &mut whole) {
                                // Not counted as received: this stream is resent until it arrives.
                                own.write(tick, &mut whole, usize::MAX);
                                let state = whole.finish().to_vec();
                                streamed.push((at, encode(&ToClient::OwnerState { who: row.who, tick, state })));
                            }
                        }
                        Err(_) => writer.bits(GONE, 2),
                    }
                }
                if written {
                    let left = room.saturating_sub(writer.bit_len() + 128);
                    sent.own_confirmations = own.write(tick, writer, left.min(room / 4));
                }
            }
            let sight = ObserverContext { store, interest, owned, place, tick, length, round_trip, lossy, room };
            let begun = writer.bit_len();
            more = views.write(sight, !first, writer, &mut sent, &mut messages);
            if !first && writer.bit_len() == begun {
                return;
            }
            bytes.extend_from_slice(writer.finish());
        };
        let number = p.carrier.write(now, tick, out, &mut payload);
        for (at, message) in streamed {
            if p.carrier.push(&message).is_err() {
                p.rows[at].not_streamed();
            }
        }
        p.views.push_gone(&mut p.carrier, tick);
        // Half of the stream is reserved for urgent messages.
        let most = config.connection.max_unacked_bytes / 2;
        for message in messages {
            let pushed = if p.carrier.queued() < most { p.carrier.push(&message.bytes).ok() } else { None };
            p.views.pushed(&message, tick, pushed);
        }
        p.views.spend(out.len(), reliable);
        p.credit = p.credit.saturating_sub(self.out.len());
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

fn write_verdicts(out: &mut BitWriter, verdicts: &[Verdict], sent: &mut SentPacket, room: usize) {
    let begun = out.bit_len();
    let mut kept = 0;
    let mut body = BitWriter::new();
    for v in verdicts.iter().take(MAX_VERDICTS as usize) {
        let before = body.bit_len();
        put_uint(&mut body, v.base as u64);
        put_uint(&mut body, v.sub as u64);
        body.bit(v.rejected);
        if !v.rejected {
            put_uint(&mut body, v.activated.len() as u64);
            v.activated.iter().for_each(|a| put_uint(&mut body, a.0 as u64));
        }
        if begun + body.bit_len() > room {
            body.truncate(before);
            break;
        }
        kept += 1;
        sent.verdicts.push((v.base, v.sub));
    }
    put_uint(out, kept);
    let bits = body.bit_len();
    // The bits were written by this writer, so they are in range.
    let _ = out.append(body.finish(), 0, bits);
}
