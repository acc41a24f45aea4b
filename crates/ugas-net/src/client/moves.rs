//! The moves of owned controllers.
//!
//! A move is predicted at once like every command, but it has no verdict and no number. Each packet contains the newest
//! poses of each controller ([`crate::wire::moves`]). The client keeps a move until the server has simulated its tick;
//! the newest one is resent until it is acknowledged.

use super::{Client, CommandStatus, PendingCommand};
use crate::server::{MOVE_SUB, move_command, move_id};
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use crate::wire::moves::{MAX_COPIES, MoveEntry, MovePose, put_moves};
use std::collections::VecDeque;
use ugas_core::{Anchor, ControllerId, Outcome, Refusal};

/// The maximum number of kept moves of one controller.
const MAX_KEPT: usize = 256;
/// The bytes of a packet that moves may use. The newest move of each controller is always sent; earlier ones are sent
/// again only within this limit.
const MOVE_BYTES: usize = 128;

/// A move that the server may not have run yet.
#[derive(Clone, Copy, Debug)]
struct OwnMove {
    entry: MoveEntry,
    /// The tick of the server's packet that first acknowledged the move.
    acked_at: Option<Tick>,
}

/// The moves of one controller.
#[derive(Clone, Debug, Default)]
struct OwnMoves {
    /// Sorted by tick.
    list: VecDeque<OwnMove>,
    /// The newest acknowledged pose.
    reference: Option<(Tick, MovePose)>,
}

impl OwnMoves {
    /// Returns the newest moves up to the tick `until` that are not acknowledged. Returns none if the newest of them is
    /// acknowledged, because a newer pose replaces the older ones.
    fn unacked(&self, until: Tick, most: usize) -> Vec<MoveEntry> {
        let sealed = self.list.iter().rev().skip_while(|m| m.entry.tick > until);
        let mut moves: Vec<MoveEntry> =
            sealed.take_while(|m| m.acked_at.is_none()).take(most).map(|m| m.entry).collect();
        moves.reverse();
        moves
    }

    /// Removes the moves that the server has run, or will never run, according to a packet of this tick. Appends their
    /// ticks to `removed`.
    fn remove_decided(&mut self, tick: Tick, removed: &mut Vec<Tick>) {
        let count = self.list.partition_point(|m| m.entry.tick <= tick);
        let Some(last) = count.checked_sub(1).and_then(|at| self.list.get(at)) else { return };
        // The server received the move before it sent the packet that acknowledged it, so it ran the move at the latest
        // in the next tick.
        let is_decided = last.acked_at.is_some_and(|at| at < tick);
        let count = if is_decided { count } else { count - 1 };
        removed.extend(self.list.drain(..count).map(|m| m.entry.tick));
    }
}

/// Returns the newest moves of a list.
fn newest(moves: &[MoveEntry], count: usize) -> &[MoveEntry] {
    &moves[moves.len().saturating_sub(count)..]
}

/// The moves of all owned controllers, in the order of the welcome.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveSender {
    list: Vec<OwnMoves>,
    removed: Vec<Tick>,
}

impl MoveSender {
    pub(super) fn new(owned: usize) -> MoveSender {
        MoveSender { list: vec![OwnMoves::default(); owned], removed: Vec::new() }
    }

    /// Appends the moves of a packet and the keys of these moves, or nothing if they do not fit into `room` bytes.
    /// Moves of a tick that is not simulated yet may still be replaced, so they are not sent.
    pub(super) fn write(&self, tick: Tick, room: usize, out: &mut BitWriter, keys: &mut Vec<(u32, u16)>) {
        let unacked: Vec<Vec<MoveEntry>> = self.list.iter().map(|own| own.unacked(tick, MAX_COPIES)).collect();
        if unacked.iter().all(Vec::is_empty) {
            return out.bit(false);
        }
        let mut scratch = BitWriter::new();
        let mut bits_of = |own: &OwnMoves, moves: &[MoveEntry]| {
            scratch.clear();
            put_moves(&mut scratch, tick, own.reference, moves);
            scratch.bit_len()
        };
        let mut used: usize = self.list.iter().zip(&unacked).map(|(own, moves)| bits_of(own, newest(moves, 1))).sum();
        if used >= room * 8 {
            return out.bit(false);
        }
        out.bit(true);
        let mut copies = vec![1; unacked.len()];
        for more in 2..=MAX_COPIES {
            for ((own, moves), copies) in self.list.iter().zip(&unacked).zip(&mut copies) {
                if moves.len() < more || *copies + 1 != more {
                    continue;
                }
                let added = bits_of(own, newest(moves, more)).saturating_sub(bits_of(own, newest(moves, more - 1)));
                if used + added <= MOVE_BYTES.min(room) * 8 {
                    (*copies, used) = (more, used + added);
                }
            }
        }
        for (sub, ((own, moves), copies)) in (MOVE_SUB..=u16::MAX).zip(self.list.iter().zip(&unacked).zip(copies)) {
            put_moves(out, tick, own.reference, newest(moves, copies));
            keys.extend(newest(moves, copies).iter().map(|entry| (entry.tick.0, sub)));
        }
    }

    /// Records that a packet with these keys arrived; `tick` is the tick of the packet that acknowledged it.
    pub(super) fn on_acked(&mut self, keys: &[(u32, u16)], tick: Tick) {
        for &(base, sub) in keys {
            let own = sub.checked_sub(MOVE_SUB).and_then(|at| self.list.get_mut(usize::from(at)));
            let Some(own) = own else { continue };
            let Ok(at) = own.list.binary_search_by_key(&Tick(base), |m| m.entry.tick) else { continue };
            let acked = &mut own.list[at];
            acked.acked_at.get_or_insert(tick);
            if own.reference.is_none_or(|(newest, _)| newest < acked.entry.tick) {
                own.reference = Some((acked.entry.tick, acked.entry.pose));
            }
        }
    }
}

impl Client {
    /// Predicts a move and sends it with the next packets.
    pub(super) fn run_move(&mut self, who: ControllerId, anchor: Anchor) -> Result<CommandStatus, Refusal> {
        let at = self.rows.iter().position(|row| row.who == who).ok_or(Refusal::Authority)?;
        let (tick, pose) = (self.tick.plus(1), MovePose::from(anchor));
        let command = move_command(tick, at, who, pose);
        let (id, op) = (move_id(self.client, &command), command.request.op());
        let is_same = self.sim.anchor(who).is_ok_and(|now| now == Some(pose.anchor()));
        if is_same && self.moves.list[at].list.back().is_none_or(|last| last.entry.tick < tick) {
            // The controller is there already, and the server moves it there too or corrects this client.
            return Ok(CommandStatus::Predicted(id, Outcome::Done));
        }
        let outcome = match self.sim.run_as(id, &op) {
            Ok(outcome) => outcome,
            Err(refusal) => {
                self.sim.remote_mut().discard_op(id, &op);
                return Err(refusal);
            }
        };
        self.emit_facts(tick);
        self.run_triggers();
        self.keys.record(id, (command.base, command.sub), &self.sim, &self.facts);
        let before = if self.base_tick == tick { self.sub } else { 0 };
        let own = &mut self.moves.list[at];
        // A later move of the same tick replaces the earlier one.
        if own.list.pop_back_if(|last| last.entry.tick == tick).is_some() {
            self.pending.retain(|p| (p.command.base, p.command.sub) != (command.base, command.sub));
        }
        own.list.push_back(OwnMove { entry: MoveEntry { tick, before, pose }, acked_at: None });
        if own.list.len() > MAX_KEPT
            && let Some(oldest) = own.list.pop_front()
        {
            self.pending.retain(|p| (p.command.base, p.command.sub) != (oldest.entry.tick.0, command.sub));
        }
        let (has_effect, is_predicted, is_sent, is_acked) = (false, true, false, false);
        self.pending.push_back(PendingCommand { command, id, has_effect, is_predicted, is_sent, is_acked });
        Ok(CommandStatus::Predicted(id, outcome))
    }

    /// Removes the pending moves that the server has run, or will never run, according to a packet of this tick.
    pub(super) fn remove_decided_moves(&mut self, tick: Tick) {
        let MoveSender { list, removed } = &mut self.moves;
        for (sub, own) in (MOVE_SUB..=u16::MAX).zip(list) {
            removed.clear();
            own.remove_decided(tick, removed);
            if !removed.is_empty() {
                self.pending.retain(|p| p.command.sub != sub || !removed.contains(&p.command.tick));
            }
        }
    }

    /// Returns how many commands wait for their verdict. Moves have none.
    pub(super) fn open_commands(&self) -> usize {
        self.pending.iter().filter(|p| p.command.sub < MOVE_SUB).count()
    }
}
