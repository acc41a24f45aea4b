//! Packets to the server: baselines and hashes of owned controllers, commands, moves.

use super::{Client, ClientState, PendingCommand};
use crate::message::encode;
use crate::server::{MAX_COMMANDS, MOVE_SUB};
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use crate::wire::number::{put_int, put_uint};
use std::collections::VecDeque;

impl Client {
    /// Calls `out` with the datagram for the server, if there is one to send.
    pub fn send(&mut self, out: &mut dyn FnMut(&[u8])) {
        if matches!(self.state, ClientState::Disconnected(_)) {
            return;
        }
        let mut keys = Vec::new();
        let Client { carrier, writer, rows, pending, moves, sim, state, tick, now, .. } = self;
        let mut payload = |bytes: &mut Vec<u8>, room: usize| {
            if *state != ClientState::Playing || room < 64 + 8 * rows.len() {
                return;
            }
            writer.clear();
            let mut previous = None;
            for row in rows.iter_mut() {
                let baseline = row.newest_baseline();
                write_baseline(writer, *tick, previous, baseline);
                previous = Some(baseline);
                let hash = row.newest_hash(sim.rules()).filter(|(at, _)| at == tick && !row.requests_state);
                writer.bit(hash.is_some());
                if let Some((_, hash)) = hash {
                    writer.bits(hash as u64, 32);
                    row.record_sent_hash(*tick, hash);
                }
            }
            let mut own_moves = BitWriter::new();
            let left = room.saturating_sub(writer.byte_len() + 8);
            moves.write(*tick, left, &mut own_moves, &mut keys);
            write_commands(writer, pending, room.saturating_sub(own_moves.byte_len() + 1), &mut keys);
            let bits = own_moves.bit_len();
            // The bits were written by this writer, so they are in range.
            let _ = writer.append(own_moves.finish(), 0, bits);
            bytes.extend_from_slice(writer.finish());
        };
        let mut datagram = Vec::new();
        let number = carrier.write(*now, *tick, &mut datagram, &mut payload);
        if let Some(number) = number {
            if let Some(clock) = &mut self.clock_sync {
                clock.record_sent(number.0, self.tick);
            }
            self.sent_commands.push_back((number.0, keys));
            if self.sent_commands.len() > 512 {
                self.sent_commands.pop_front();
            }
            out(&datagram);
        }
    }
}

/// Writes the baseline of an owned controller; `previous` is the baseline of the controller before it.
fn write_baseline(out: &mut BitWriter, tick: Tick, previous: Option<Option<Tick>>, baseline: Option<Tick>) {
    if let Some(previous) = previous {
        out.bit(previous == baseline);
        if previous == baseline {
            return;
        }
    }
    out.bit(baseline.is_some());
    if let Some(baseline) = baseline {
        put_int(out, tick.0 as i64 - baseline.0 as i64);
    }
}

/// Writes the commands that fit into a packet of `room` bytes, in order, and appends their keys. If not all fit, those
/// that were never sent come first, then the newest.
fn write_commands(
    out: &mut BitWriter,
    pending: &mut VecDeque<PendingCommand>,
    room: usize,
    keys: &mut Vec<(u32, u16)>,
) {
    let is_open = |p: &PendingCommand| !p.is_acked && p.command.sub < MOVE_SUB;
    let mut choice: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut used = out.byte_len() + 4;
    let new = (0..pending.len()).filter(|&at| !pending[at].is_sent);
    let resent = (0..pending.len()).rev().filter(|&at| pending[at].is_sent);
    for at in new.chain(resent).filter(|&at| is_open(&pending[at])).take(MAX_COMMANDS as usize) {
        let bytes = encode(&pending[at].command);
        if used + bytes.len() + 3 > room {
            break;
        }
        used += bytes.len() + 3;
        choice.push((at, bytes));
    }
    choice.sort_unstable_by_key(|(at, _)| *at);
    put_uint(out, choice.len() as u64);
    for (at, bytes) in choice {
        put_uint(out, bytes.len() as u64);
        out.bytes(&bytes);
        let pending = &mut pending[at];
        pending.is_sent = true;
        keys.push((pending.command.base, pending.command.sub));
    }
}
