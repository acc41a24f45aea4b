//! When the server reveals the seeds of blocks of ticks.
//!
//! A client needs the seed of a tick to predict the rolls of due work, and it predicts ticks that the server has not
//! simulated. The server therefore reveals the seeds of all blocks that start within the time [`ahead`] after its own
//! tick. The server sends a seed at once and then twice per block until the client acknowledges it.

use crate::rolls::{Blocks, MAX_SEEDS};
use crate::types::Tick;
use std::ops::Range;
use ugas_core::SimTime;

/// The shortest time by which seeds are revealed ahead of the server's tick.
pub(crate) const MIN_AHEAD: SimTime = SimTime::millis(500);
/// The longest time by which seeds are revealed ahead of the server's tick.
pub(crate) const MAX_AHEAD: SimTime = SimTime::millis(1000);
/// The time that is added to the round trip. It covers the client's lead against jitter, and packets that are resent.
const MARGIN: SimTime = SimTime::millis(250);

/// Returns how far ahead of its own tick the server reveals seeds. The time depends on the round trip, because the
/// client is about a round trip ahead of a packet's tick when the packet arrives.
pub(crate) fn ahead(round_trip: SimTime) -> SimTime {
    (round_trip + MARGIN).clamp(MIN_AHEAD, MAX_AHEAD)
}

/// Which seeds of blocks of ticks were added to the sim, sent to the client and acknowledged by it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RevealedSeeds {
    /// The first block whose seed the sim does not have.
    next: u32,
    /// The first block whose seed the client has not acknowledged.
    unacked: u32,
    /// The first block whose seed was never sent.
    unsent: u32,
}

impl RevealedSeeds {
    /// Creates the record for a new client. The sim needs seeds from the oldest tick whose commands are accepted; the
    /// client needs them from the current block on.
    pub(crate) fn start(blocks: Blocks, now: Tick, max_late: u32) -> RevealedSeeds {
        let current = blocks.of(now);
        RevealedSeeds { next: blocks.of(now.minus(max_late)), unacked: current, unsent: current }
    }

    /// Returns the blocks up to a tick whose seeds the sim does not have yet, and records that it gets them.
    pub(crate) fn take_new(&mut self, blocks: Blocks, tick: Tick) -> Range<u32> {
        let until = blocks.of(tick).saturating_add(1);
        let new = self.next.min(until)..until;
        self.next = until.max(self.next);
        new
    }

    /// Returns the blocks of ticks whose seeds the server sends with the packet of `tick`: the blocks that the client has
    /// not acknowledged and that start at most `ahead_ticks` later.
    pub(crate) fn take_unsent(&mut self, blocks: Blocks, tick: Tick, ahead_ticks: u32) -> Range<u32> {
        let until = blocks.of(tick.plus(ahead_ticks)).saturating_add(1);
        if until <= self.unsent && !blocks.is_resend_tick(tick) {
            return until..until;
        }
        self.unsent = until.max(self.unsent);
        // After a long interruption, a client does not need the old seeds.
        self.unacked.max(until.saturating_sub(MAX_SEEDS))..until
    }

    /// Records that the client has the seeds of all blocks before this one.
    pub(crate) fn acknowledge(&mut self, until: u32) {
        self.unacked = self.unacked.max(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_revealed_at_most_one_window_and_one_block_ahead_until_acknowledged() {
        let (length, now) = (SimTime::frames(1, 60), Tick(800));
        let blocks = Blocks::new(length);
        let mut seeds = RevealedSeeds::start(blocks, now, 15);
        assert_eq!(seeds.take_new(blocks, now), 98..101);
        assert_eq!(seeds.take_new(blocks, now.plus(7)), 101..101);
        assert_eq!(seeds.take_new(blocks, now.plus(8)), 101..102);
        assert_eq!(seeds.take_unsent(blocks, now.plus(1), 30), 100..104);
        assert!(seeds.take_unsent(blocks, now.plus(1), 30).is_empty(), "sent already");
        assert_eq!(seeds.take_unsent(blocks, now.plus(2), 30), 100..105, "a new block");
        seeds.acknowledge(103);
        seeds.acknowledge(101);
        assert!(seeds.take_unsent(blocks, now.plus(3), 30).is_empty());
        assert_eq!(seeds.take_unsent(blocks, now.plus(4), 30), 103..105, "again");
        seeds.acknowledge(105);
        assert!(seeds.take_unsent(blocks, now.plus(4), 30).is_empty());
        assert_eq!(seeds.take_unsent(blocks, Tick(80_000), 30), 9972..10_004);
        assert_eq!(ahead(SimTime::ZERO), MIN_AHEAD);
        assert_eq!(ahead(SimTime::millis(400)), SimTime::millis(650));
        assert_eq!(ahead(SimTime::seconds(9.0)), MAX_AHEAD);
    }
}
