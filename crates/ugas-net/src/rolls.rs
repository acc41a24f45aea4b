//! The seeds of the rolls on a client's controllers that no command of the client causes, for example the rolls of an
//! effect that the server applied. Time is divided into blocks of ticks, and each block has one seed. The server
//! derives the seeds from its secret and reveals each seed shortly before the client needs it for predictions. Client
//! and server compute the ticks of a block from the tick length.

use crate::types::Tick;
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::number::{get_int, get_uint_to, put_int, put_uint};
use std::ops::Range;
use ugas_core::{SeedBlock, SimTime};

/// The approximate length of a block.
const BLOCK: SimTime = SimTime::millis(133);
/// The maximum number of ticks in a block.
const MAX_TICKS: i64 = 64;
/// The maximum number of seeds in one packet.
pub(crate) const MAX_SEEDS: u32 = 32;
/// How many blocks before the current one a client keeps, for resimulations.
pub(crate) const KEPT_BLOCKS: u32 = 256;

/// Divides the ticks of a connection into blocks that have one seed each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    length: SimTime,
    /// The number of ticks in one block.
    ticks: u32,
}

impl Blocks {
    /// Returns the blocks for a tick length.
    pub(crate) fn new(length: SimTime) -> Blocks {
        let tick = length.0.max(1);
        Blocks { length, ticks: ((BLOCK.0 + tick / 2) / tick).clamp(1, MAX_TICKS) as u32 }
    }

    /// Returns the number of the block that contains a tick.
    pub(crate) fn of(self, tick: Tick) -> u32 {
        tick.0 / self.ticks
    }

    /// Returns how many whole ticks fit into `time`.
    pub(crate) fn ticks_in(self, time: SimTime) -> u32 {
        (time.0 / self.length.0.max(1)) as u32
    }

    /// Returns whether the server resends unacknowledged seeds in this tick. It does so twice per block.
    pub(crate) fn is_resend_tick(self, tick: Tick) -> bool {
        tick.0.is_multiple_of(self.ticks.div_ceil(2))
    }

    /// Returns the first tick of a block.
    pub(crate) fn first_tick(self, block: u32) -> Tick {
        Tick(block.saturating_mul(self.ticks))
    }

    /// Returns the time range of a block, with its seed.
    pub(crate) fn with_seed(self, block: u32, seed: u32) -> SeedBlock {
        let first = self.first_tick(block);
        // The commands of a tick run at the time at which the previous tick ended.
        let from = SimTime(first.time(self.length).0 - self.length.0);
        let until = SimTime(from.0.saturating_add(self.length.0.saturating_mul(self.ticks as i64)));
        SeedBlock { from, until, seed: seed as u64 }
    }

    /// Writes the seeds of a range of blocks.
    pub(crate) fn write(self, tick: Tick, range: Range<u32>, seed: impl Fn(u32) -> u32, out: &mut BitWriter) {
        out.bit(!range.is_empty());
        if range.is_empty() {
            return;
        }
        put_int(out, range.start as i64 - self.of(tick) as i64);
        put_uint(out, range.len() as u64);
        range.for_each(|block| out.bits(seed(block) as u64, 32));
    }

    /// Reads seeds.
    pub(crate) fn read(self, tick: Tick, from: &mut BitReader) -> Result<Vec<SeedBlock>, WireError> {
        let mut list = Vec::new();
        if !from.bit()? {
            return Ok(list);
        }
        let (ahead, bad) = (get_int(from)?, WireError::BadValue { what: "the first block of seeds" });
        if ahead.unsigned_abs() > KEPT_BLOCKS as u64 {
            return Err(bad);
        }
        let first = u32::try_from(self.of(tick) as i64 + ahead).map_err(|_| bad)?;
        for at in 0..get_uint_to(from, MAX_SEEDS as u64, "seeds")? {
            list.push(self.with_seed(first.saturating_add(at as u32), from.bits(32)? as u32));
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_about_an_eighth_of_a_second_at_every_tick_rate() {
        let ticks = |hertz| Blocks::new(SimTime::frames(1, hertz)).ticks;
        assert_eq!([10, 20, 30, 60, 128].map(ticks), [1, 3, 4, 8, 17]);
        let blocks = Blocks::new(SimTime::millis(20));
        let block = blocks.with_seed(2, 5);
        assert_eq!((block.from, block.until), (SimTime::millis(260), SimTime::millis(400)));
        assert_eq!(blocks.with_seed(1, 5).until, block.from);
    }

    #[test]
    fn seeds_round_trip_and_bad_ones_are_rejected() {
        let (blocks, tick) = (Blocks::new(SimTime::frames(1, 60)), Tick(800));
        let mut out = BitWriter::new();
        blocks.write(tick, 99..103, |block| block * 7, &mut out);
        assert!(out.byte_len() <= 18, "{}", out.byte_len());
        let read = blocks.read(tick, &mut BitReader::new(out.finish())).unwrap();
        assert_eq!(read, (99..103).map(|b| blocks.with_seed(b, b * 7)).collect::<Vec<_>>());
        out.clear();
        blocks.write(tick, 3..3, |_| 0, &mut out);
        assert_eq!((out.bit_len(), blocks.read(tick, &mut BitReader::new(out.finish()))), (1, Ok(Vec::new())));
        for (ahead, count) in [(-200, 1), (300, 1), (i64::MIN, 1), (0, 33)] {
            let mut out = BitWriter::new();
            out.bit(true);
            put_int(&mut out, ahead);
            put_uint(&mut out, count);
            (0..count).for_each(|_| out.bits(1, 32));
            assert!(blocks.read(tick, &mut BitReader::new(out.finish())).is_err(), "{ahead} {count}");
        }
    }
}
