//! The confirmations for a client, kept until acknowledged: one list about remote actors, one about its own
//! controllers.

use crate::confirm::write_confirmations;
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use crate::wire::number::put_uint;
use std::collections::VecDeque;

/// The maximum number of confirmations that are kept. A client that acknowledges none of them has stopped predicting.
const MAX_KEPT: usize = 2048;

/// Confirmations that the client has not acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfirmationQueue {
    list: VecDeque<(Tick, u32)>,
    /// How many were dropped before the first in the list.
    dropped: u64,
}

impl ConfirmationQueue {
    /// Adds the confirmation of a change in a tick.
    pub(crate) fn push(&mut self, tick: Tick, hash: u32) {
        if self.list.iter().rev().take_while(|e| e.0 == tick).any(|e| e.1 == hash) {
            return;
        }
        if self.list.len() >= MAX_KEPT {
            self.list.pop_front();
            self.dropped += 1;
        }
        self.list.push_back((tick, hash));
    }

    /// Writes the confirmations that fit, the oldest first, and by how many ticks the list is incomplete. Returns how
    /// many confirmations the client has received once this packet arrives.
    pub(crate) fn write(&self, tick: Tick, out: &mut BitWriter, room: usize) -> u64 {
        out.bit(!self.list.is_empty());
        if self.list.is_empty() {
            return self.dropped;
        }
        let count = write_confirmations(self.list.iter(), tick, out, room);
        let complete_until = self.list.get(count).map_or(tick, |left| left.0.minus(1));
        put_uint(out, tick.0.saturating_sub(complete_until.0) as u64);
        self.dropped + count as u64
    }

    /// Drops the confirmations up to a tick at which the prediction was right.
    pub(crate) fn drop_until(&mut self, tick: Tick) {
        let known = self.list.iter().take_while(|e| e.0 <= tick).count();
        self.list.drain(..known);
        self.dropped += known as u64;
    }

    /// Drops the confirmations that the client has received.
    pub(crate) fn acknowledge(&mut self, count: u64) {
        let acked = count.saturating_sub(self.dropped).min(self.list.len() as u64);
        self.list.drain(..acked as usize);
        self.dropped += acked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confirm::{CONFIRMATION_BITS, read_confirmations};
    use crate::wire::bits::BitReader;

    type Written = (u64, Vec<(u32, u32)>, u32);

    fn written(queue: &ConfirmationQueue, tick: u32, room: usize) -> Written {
        let mut out = BitWriter::new();
        let acked = queue.write(Tick(tick), &mut out, room);
        let mut from = BitReader::new(out.finish());
        let (list, complete_until) = read_confirmations(Tick(tick), &mut from).unwrap();
        (acked, list.into_iter().map(|(at, hash)| (at.0, hash)).collect(), tick - complete_until.0)
    }

    #[test]
    fn confirmations_that_do_not_fit_are_sent_later_with_the_tick_up_to_which_they_are_complete() {
        let mut queue = ConfirmationQueue::default();
        for (tick, hash) in [(5, 1), (5, 1), (5, 2), (6, 3), (8, 4)] {
            queue.push(Tick(tick), hash);
        }
        assert_eq!(written(&queue, 9, 1000), (4, vec![(5, 1), (5, 2), (6, 3), (8, 4)], 0));
        let room = |count: usize| count * (CONFIRMATION_BITS as usize + 8);
        assert_eq!(written(&queue, 9, room(3)), (3, vec![(5, 1), (5, 2), (6, 3)], 2), "complete up to tick 7");
        assert_eq!(written(&queue, 9, room(2)), (2, vec![(5, 1), (5, 2)], 4));
        queue.acknowledge(3);
        queue.acknowledge(2);
        assert_eq!(written(&queue, 9, 1000), (4, vec![(8, 4)], 0));
        queue.push(Tick(9), 5);
        queue.drop_until(Tick(8));
        assert_eq!(written(&queue, 9, 1000), (5, vec![(9, 5)], 0));
        queue.acknowledge(9);
        assert_eq!(written(&queue, 9, 1000), (5, vec![], 0));
    }
}
