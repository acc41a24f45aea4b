//! The moves of a client's controllers: received poses wait for their tick and then run like commands, without a
//! verdict.
//!
//! A pose replaces earlier poses of its controller. A move that was lost therefore does not stop later ones, and a move
//! is never too late unless a later one has run.

use super::MOVE_SUB;
use crate::authority::RejectReason;
use crate::message::{Command, Request};
use crate::types::Tick;
use crate::wire::bits::{BitReader, WireError};
use crate::wire::moves::{MAX_REFERENCE_AGE, MoveEntry, MovePose, get_moves};
use std::collections::VecDeque;
use ugas_core::{ControllerId, OpId};

/// The maximum number of moves of one controller that wait for their tick.
const MAX_WAITING: usize = 256;

/// The moves of one controller.
#[derive(Clone, Debug)]
struct MoveStream {
    who: ControllerId,
    /// The latest received poses, sorted by tick. Later packets refer to them.
    received: VecDeque<(Tick, MovePose)>,
    /// Moves that wait for their tick, sorted by tick.
    waiting: VecDeque<MoveEntry>,
    last_run: Option<Tick>,
}

impl MoveStream {
    /// Returns a received pose.
    fn pose(&self, tick: Tick) -> Option<MovePose> {
        let at = self.received.binary_search_by_key(&tick, |(t, _)| *t).ok()?;
        Some(self.received[at].1)
    }

    /// Keeps a move until its tick. A move that is already known, or is older than the last move that ran, is ignored.
    fn keep(&mut self, entry: MoveEntry, last_valid: Tick) -> Result<(), RejectReason> {
        let Err(at) = self.received.binary_search_by_key(&entry.tick, |(t, _)| *t) else { return Ok(()) };
        self.received.insert(at, (entry.tick, entry.pose));
        let newest = self.received.back().map_or(entry.tick, |(tick, _)| *tick);
        while self.received.front().is_some_and(|(tick, _)| tick.plus(MAX_REFERENCE_AGE + 1) < newest) {
            self.received.pop_front();
        }
        if Some(entry.tick) <= self.last_run {
            return Ok(());
        }
        if entry.tick > last_valid {
            return Err(RejectReason::Future);
        }
        if self.waiting.len() >= MAX_WAITING {
            return Err(RejectReason::CommandRate);
        }
        let at = self.waiting.partition_point(|waiting| waiting.tick < entry.tick);
        self.waiting.insert(at, entry);
        Ok(())
    }
}

/// The moves of all controllers of a client, in the order of its welcome.
#[derive(Clone, Debug)]
pub(crate) struct MoveStreams {
    list: Vec<MoveStream>,
    /// Moves of the packet being read.
    read: Vec<MoveEntry>,
}

impl MoveStreams {
    pub(crate) fn new(owned: &[ControllerId]) -> MoveStreams {
        let stream = |&who| MoveStream { who, received: VecDeque::new(), waiting: VecDeque::new(), last_run: None };
        MoveStreams { list: owned.iter().map(stream).collect(), read: Vec::new() }
    }

    /// Reads the moves in a packet of this tick. Moves after `last_valid` are rejected.
    pub(crate) fn read(
        &mut self,
        from: &mut BitReader,
        packet: Tick,
        last_valid: Tick,
        mut on_rejected: impl FnMut(RejectReason),
    ) -> Result<(), WireError> {
        for stream in &mut self.list {
            self.read.clear();
            get_moves(from, packet, |tick| stream.pose(tick), &mut self.read)?;
            for entry in self.read.drain(..) {
                if let Err(reason) = stream.keep(entry, last_valid) {
                    on_rejected(reason);
                }
            }
        }
        Ok(())
    }

    /// Returns the tick of the next due move, and the lowest Sub of the commands of that tick that run after the move.
    pub(crate) fn peek_due(&self, now: Tick) -> Option<(Tick, u16)> {
        self.first_due(now).map(|(position, _)| position)
    }

    /// Takes the next move that is due, as a command.
    pub(crate) fn take_due(&mut self, now: Tick) -> Option<Command> {
        let (_, at) = self.first_due(now)?;
        let stream = &mut self.list[at];
        let MoveEntry { tick, pose, .. } = stream.waiting.pop_front()?;
        stream.last_run = stream.last_run.max(Some(tick));
        Some(move_command(tick, at, stream.who, pose))
    }

    fn first_due(&self, now: Tick) -> Option<((Tick, u16), usize)> {
        let first = self.list.iter().enumerate().filter_map(|(at, stream)| Some((stream.waiting.front()?, at)));
        first.filter(|(entry, _)| entry.tick <= now).map(|(entry, at)| ((entry.tick, entry.before), at)).min()
    }

    /// Returns how many moves and poses are kept.
    pub(crate) fn retained(&self) -> usize {
        self.list.iter().map(|stream| stream.waiting.len() + stream.received.len()).sum()
    }
}

/// Returns the command of a move. Its key depends only on the tick and the position of the controller in the welcome,
/// so it needs no number, and a lost move does not change the keys of other commands.
pub(crate) fn move_command(tick: Tick, index: usize, who: ControllerId, pose: MovePose) -> Command {
    let sub = MOVE_SUB.saturating_add(index.min(u16::MAX as usize) as u16);
    Command { tick, base: tick.0, sub, request: Request::Move { who, anchor: pose.anchor() }, aim: None }
}

/// Returns the id of a move's op, which is the key of the command. The ids of other ops never have these Subs.
pub(crate) fn move_id(client: u16, command: &Command) -> OpId {
    OpId::new(client, command.base, command.sub)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ugas_core::Anchor;

    fn entry(tick: u32) -> MoveEntry {
        MoveEntry { tick: Tick(tick), before: 0, pose: Anchor::at([f64::from(tick), 0.0, 0.0]).into() }
    }

    #[test]
    fn moves_run_in_order_and_a_lost_one_does_not_stop_later_ones() {
        let mut moves = MoveStreams::new(&[ControllerId(7)]);
        for tick in [4, 2, 5, 2] {
            moves.list[0].keep(entry(tick), Tick(60)).unwrap();
        }
        let mut run = |now| moves.take_due(Tick(now)).map(|c| c.tick.0);
        assert_eq!([run(3), run(3), run(4), run(4), run(9)], [Some(2), None, Some(4), None, Some(5)]);
        // The lost move arrives after a later one ran.
        moves.list[0].keep(entry(3), Tick(60)).unwrap();
        assert_eq!(moves.take_due(Tick(9)), None);
        assert_eq!(moves.list[0].keep(entry(61), Tick(60)), Err(RejectReason::Future));
    }

    #[test]
    fn memory_is_bounded() {
        let mut moves = MoveStreams::new(&[ControllerId(7)]);
        let rejected = (0..10_000).filter(|&tick| moves.list[0].keep(entry(tick), Tick(20_000)).is_err()).count();
        assert_eq!(rejected, 10_000 - MAX_WAITING);
        assert!(moves.retained() <= MAX_WAITING + MAX_REFERENCE_AGE as usize + 2, "{}", moves.retained());
    }
}
