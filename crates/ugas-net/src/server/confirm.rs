//! The confirmations for a client, kept until acknowledged: one list about remote actors, one about its own controllers.

use crate::confirm::write_confirmations;
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use crate::wire::number::put_uint;
use std::collections::VecDeque;

/// The most confirmations kept; a client whose packets are lost for so long has stopped predicting.
const KEPT: usize = 2048;

/// Confirmations without an ack.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfirmationQueue {
    list: VecDeque<(Tick, u32)>,
    /// How many were dropped before the first in the list.
    before: u64,
}

impl ConfirmationQueue {
    /// Adds the confirmation of a change in a tick.
    pub(crate) fn note(&mut self, tick: Tick, hash: u32) {
        if self.list.iter().rev().take_while(|e| e.0 == tick).any(|e| e.1 == hash) {
            return;
        }
        if self.list.len() >= KEPT {
            self.list.pop_front();
            self.before += 1;
        }
        self.list.push_back((tick, hash));
    }

    /// Writes what fits, the oldest first, and by how many ticks the list is incomplete. Returns how many have arrived once
    /// this packet arrives.
    pub(crate) fn write(&self, tick: Tick, out: &mut BitWriter, room: usize) -> u64 {
        out.bit(!self.list.is_empty());
        if self.list.is_empty() {
            return self.before;
        }
        let count = write_confirmations(self.list.iter(), tick, out, room);
        let whole = self.list.get(count).map_or(tick, |left| left.0.minus(1));
        put_uint(out, tick.0.saturating_sub(whole.0) as u64);
        self.before + count as u64
    }

    /// Drops confirmations up to a tick with a right prediction.
    pub(crate) fn forget_until(&mut self, tick: Tick) {
        let known = self.list.iter().take_while(|e| e.0 <= tick).count();
        self.list.drain(..known);
        self.before += known as u64;
    }

    /// The client has received this many.
    pub(crate) fn acknowledge(&mut self, count: u64) {
        let heard = count.saturating_sub(self.before).min(self.list.len() as u64);
        self.list.drain(..heard as usize);
        self.before += heard;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confirm::{CONFIRMATION_BITS, read_confirmations};
    use crate::wire::bits::BitReader;

    type Written = (u64, Vec<(u32, u32)>, u32);

    fn written(echoes: &ConfirmationQueue, tick: u32, room: usize) -> Written {
        let mut out = BitWriter::new();
        let heard = echoes.write(Tick(tick), &mut out, room);
        let mut from = BitReader::new(out.finish());
        let (list, whole) = read_confirmations(Tick(tick), &mut from).unwrap();
        (heard, list.into_iter().map(|(at, hash)| (at.0, hash)).collect(), tick - whole.0)
    }

    #[test]
    fn what_did_not_fit_is_said_to_be_missing_and_follows() {
        let mut echoes = ConfirmationQueue::default();
        for (tick, hash) in [(5, 1), (5, 1), (5, 2), (6, 3), (8, 4)] {
            echoes.note(Tick(tick), hash);
        }
        assert_eq!(written(&echoes, 9, 1000), (4, vec![(5, 1), (5, 2), (6, 3), (8, 4)], 0));
        let room = |count: usize| count * (CONFIRMATION_BITS as usize + 8);
        assert_eq!(written(&echoes, 9, room(3)), (3, vec![(5, 1), (5, 2), (6, 3)], 2), "whole up to tick 7");
        assert_eq!(written(&echoes, 9, room(2)), (2, vec![(5, 1), (5, 2)], 4));
        echoes.acknowledge(3);
        echoes.acknowledge(2);
        assert_eq!(written(&echoes, 9, 1000), (4, vec![(8, 4)], 0));
        echoes.note(Tick(9), 5);
        echoes.forget_until(Tick(8));
        assert_eq!(written(&echoes, 9, 1000), (5, vec![(9, 5)], 0));
        echoes.acknowledge(9);
        assert_eq!(written(&echoes, 9, 1000), (5, vec![], 0));
    }
}
