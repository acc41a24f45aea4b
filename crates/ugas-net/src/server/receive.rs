//! Receives packets from clients: validates them, counts rejections, and keeps commands until their tick.

use super::numbers::Number;
use super::owner::Owned;
use super::peer::{Peer, Phase, TickLimits};
use super::reveal::RevealedSeeds;
use super::{MAX_COMMAND, MAX_COMMANDS, MAX_CREDIT, MIN_HELLO, RejectionCounts, Server, ServerConfig};
use crate::authority::{RejectReason, check_tick};
use crate::message::{Command, Denial, PROTOCOL, ToClient, ToServer, Verdict, decode, encode};
use crate::types::{PeerId, Tick};
use crate::wire::bits::{BitReader, WireError};
use crate::wire::number::{get_int, get_uint_to};

impl Server {
    /// Receives a datagram from a peer. A rejected datagram is dropped and counted ([`Server::counts`]).
    pub fn receive(&mut self, peer: PeerId, datagram: &[u8]) {
        let now = self.now();
        let Some(p) = self.peers.get_mut(&peer) else {
            return self.counts.add(RejectReason::Packet);
        };
        if !p.packets.take() {
            return self.count_rejection(peer, RejectReason::PacketRate);
        }
        p.credit = p.credit.saturating_add(datagram.len()).min(MAX_CREDIT);
        let opened = match p.carrier.read(now, datagram) {
            Ok(opened) => opened,
            Err(error) => {
                let reason = RejectReason::from(&error);
                return self.count_rejection(peer, reason);
            }
        };
        let (tick, payload) = (opened.tick, opened.payload);
        p.process_packet_results(&mut self.packet_results);
        while let Some(message) = self.peers.get_mut(&peer).and_then(|p| p.carrier.next_message()) {
            self.receive_message(peer, &message);
        }
        let Some(p) = self.peers.get_mut(&peer) else { return };
        if p.phase == Phase::Playing && !payload.is_empty() {
            p.slack = (tick.0 as i64 - self.tick.0 as i64).clamp(-127, 127) as i32;
            let read = read_payload(p, payload, tick, self.tick, &self.config, &mut self.counts);
            if read.is_err() {
                // Without the ack the client does not refer to the poses in the packet.
                p.carrier.revoke_ack();
                self.count_rejection(peer, RejectReason::Payload);
            }
        }
    }

    pub(super) fn receive_message(&mut self, peer: PeerId, message: &[u8]) {
        let Some(p) = self.peers.get_mut(&peer) else { return };
        let (protocol, rules) = match decode(message) {
            Some(ToServer::Hello { protocol, rules, .. }) if message.len() >= MIN_HELLO => (protocol, rules),
            Some(ToServer::Resync) if p.phase == Phase::Playing => return p.views.request_resync(),
            Some(ToServer::Rules { rules }) if p.phase == Phase::Playing => return self.receive_rules(peer, rules),
            _ => return self.count_rejection(peer, RejectReason::Message),
        };
        if p.phase != Phase::AwaitingHello {
            return self.count_rejection(peer, RejectReason::Message);
        }
        let server_rules = self.rules.fingerprint();
        let is_known = |rules: u64| self.earlier_rules.iter().any(|r| r.fingerprint() == rules);
        let denial = if protocol != PROTOCOL {
            Some(Denial::Protocol { server: PROTOCOL, client: protocol })
        } else if rules != server_rules && !is_known(rules) {
            Some(Denial::Rules { server: server_rules, client: rules })
        } else {
            None
        };
        let answer = match denial {
            Some(denial) => {
                p.phase = Phase::Denied(denial.clone());
                ToClient::Denied(denial)
            }
            None => {
                p.phase = Phase::Playing;
                let Number { client, base } = p.number;
                p.seeds = RevealedSeeds::start(self.blocks, self.tick, self.config.late_ticks());
                p.owned.iter().for_each(|&who| self.sim.remote_mut().set_roll_owner(who, client));
                // All owned controllers, whatever their modes: controllers without exact state are away.
                p.rows = p.owned.iter().map(|&who| Owned::new(who)).collect();
                ToClient::Welcome { client, base, length: self.config.tick_length, owned: p.owned.clone() }
            }
        };
        let is_playing = p.phase == Phase::Playing;
        // The queue is full only for a client that never acknowledges.
        match p.carrier.push(&encode(&answer)) {
            Ok(receipt) => p.welcome = Some(receipt),
            Err(_) => self.count_rejection(peer, RejectReason::Message),
        }
        if rules != server_rules && is_playing {
            self.send_rules_after(peer, rules);
        }
        if is_playing {
            self.reveal_granted(peer);
        }
    }
}

/// Reads the baseline of an owned controller; `previous` is the baseline of the controller before it.
fn read_baseline(from: &mut BitReader, tick: Tick, previous: Option<Option<Tick>>) -> Result<Option<Tick>, WireError> {
    if let Some(previous) = previous
        && from.bit()?
    {
        return Ok(previous);
    }
    if !from.bit()? {
        return Ok(None);
    }
    let back = get_int(from)?;
    Ok(Some(Tick((tick.0 as i64).saturating_sub(back).clamp(0, u32::MAX as i64) as u32)))
}

/// Returns the reason that counts for the anomaly score. After an outage, a client sends its newest commands first, so
/// an older command may arrive when its number is no longer accepted. That command counts as late, which does not raise
/// the score.
fn scored_reason(reason: RejectReason, command: &Command, now: Tick, limits: TickLimits) -> RejectReason {
    let is_late = check_tick(command.tick, now, limits.max_early, limits.max_late) == Err(RejectReason::Past);
    if reason == RejectReason::Key && is_late { RejectReason::Past } else { reason }
}

fn read_payload(
    p: &mut Peer,
    payload: &[u8],
    tick: Tick,
    now: Tick,
    config: &ServerConfig,
    counts: &mut RejectionCounts,
) -> Result<(), WireError> {
    let mut from = BitReader::new(payload);
    let time = now.time(config.tick_length);
    let mut previous = None;
    for row in &mut p.rows {
        let baseline = read_baseline(&mut from, tick, previous)?;
        previous = Some(baseline);
        let hash = if from.bit()? { Some(from.bits(32)? as u32) } else { None };
        row.take_client_hash(now, tick, hash, baseline);
    }
    let count = get_uint_to(&mut from, MAX_COMMANDS, "commands")?;
    let mut bytes = Vec::new();
    for _ in 0..count {
        let length = get_uint_to(&mut from, MAX_COMMAND, "bytes of a command")?;
        bytes.clear();
        from.bytes(length as usize, &mut bytes)?;
        match decode::<Command>(&bytes) {
            Some(command) => {
                let (base, sub) = (command.base, command.sub);
                let limits = TickLimits { max_early: config.early_ticks(), max_late: config.late_ticks() };
                if let Err(reason) = p.keep(&command, &bytes, now, limits) {
                    counts.add(reason);
                    let scored = scored_reason(reason, &command, now, limits);
                    p.count_rejection_as(reason, scored, time);
                    p.record_rejected(&command, scored, now);
                    p.push_verdict(Verdict {
                        base,
                        sub,
                        rejected: true,
                        activated: Vec::new(),
                        who: command.request.who(),
                    });
                }
            }
            None => {
                counts.add(RejectReason::Payload);
                p.count_rejection(RejectReason::Payload, time);
            }
        }
    }
    // A payload without moves may end before the flag.
    if from.left() > 0 && from.bit()? {
        let mut reasons = Vec::new();
        let read = p.moves.read(&mut from, tick, now.plus(config.early_ticks()), |reason| reasons.push(reason));
        for reason in reasons {
            counts.add(reason);
            p.count_rejection(reason, time);
        }
        read?;
    }
    Ok(())
}
