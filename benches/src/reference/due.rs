//! The queue of due work: a timing wheel with buckets of about 12 ms. Entries in a bucket are ordered by due time,
//! phase (periodic executions before expiries), controller, and the controller's own sequence. Cancelling is lazy: the
//! code that takes an entry checks that the entry is still valid.
//!
//! A bucket has one lane per phase, because each lane is then filled in order most of the time and sorting it is
//! one pass. Lanes are chains of blocks from one pool, so that a steady step allocates nothing.

const WIDTH_BITS: u32 = 23;
const BUCKETS: usize = 4096;
const LANES: usize = 2;
const BLOCK: usize = 15;
const NONE: u32 = u32::MAX;

/// The order of work that is due at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Periodic = 0,
    Expiry = 1,
}

/// One piece of work; the field order is the order of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) due: i64,
    /// Phase in the upper, controller in the lower half.
    rank: u64,
    pub(crate) sequence: u64,
    pub(crate) slot: u32,
}

impl Entry {
    #[inline]
    pub(crate) fn new(due: i64, phase: Phase, who: u32, sequence: u64, slot: u32) -> Entry {
        Entry { due, rank: (phase as u64) << 32 | u64::from(who), sequence, slot }
    }

    #[inline]
    pub(crate) fn again_at(self, due: i64) -> Entry {
        Entry { due, ..self }
    }

    #[inline]
    pub(crate) fn who(&self) -> u32 {
        self.rank as u32
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        if self.lane() == 0 { Phase::Periodic } else { Phase::Expiry }
    }

    #[inline]
    fn lane(&self) -> usize {
        (self.rank >> 32) as usize & (LANES - 1)
    }

    #[inline]
    fn bucket(&self) -> i64 {
        self.due >> WIDTH_BITS
    }
}

/// A piece of a lane.
struct Block {
    entries: [Entry; BLOCK],
    count: usize,
    next: u32,
}

/// A chain of blocks; entries are added to the last.
#[derive(Clone, Copy)]
struct Lane {
    first: u32,
    last: u32,
}

/// The part of a bucket that is being worked on: sorted, done up to `next`.
#[derive(Default)]
struct Front {
    entries: Vec<Entry>,
    next: usize,
}

/// The queue of due work.
pub(crate) struct Due {
    wheel: Vec<[Lane; LANES]>,
    blocks: Vec<Block>,
    free: u32,
    fronts: [Front; LANES],
    /// The bucket the fronts were taken from, counted from time 0.
    at: i64,
}

impl Due {
    pub(crate) fn new() -> Due {
        let empty = Lane { first: NONE, last: NONE };
        Due { wheel: vec![[empty; LANES]; BUCKETS], blocks: Vec::new(), free: NONE, fronts: Default::default(), at: 0 }
    }

    // The rare paths get no entry by reference: it would have to be put together in memory on every call for their
    // sake.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Entry) {
        let bucket = entry.bucket();
        if bucket <= self.at {
            return self.push_front(entry.due, entry.rank, entry.sequence, entry.slot);
        }
        let place = bucket as usize & (BUCKETS - 1);
        let lane = entry.lane();
        let mut last = self.wheel[place][lane].last;
        if self.blocks.get(last as usize).is_none_or(|block| block.count == BLOCK) {
            last = self.add_block(place, lane);
        }
        let block = &mut self.blocks[last as usize];
        block.entries[block.count] = entry;
        block.count += 1;
    }

    /// Adds an empty block to a lane that has none, or none with room.
    #[cold]
    fn add_block(&mut self, place: usize, lane: usize) -> u32 {
        let new = if self.free == NONE {
            if self.blocks.len() == self.blocks.capacity() {
                self.blocks.reserve_exact(self.blocks.len() / 4 + 16);
            }
            let filler = Entry::new(0, Phase::Periodic, 0, 0, NONE);
            self.blocks.push(Block { entries: [filler; BLOCK], count: 0, next: NONE });
            self.blocks.len() as u32 - 1
        } else {
            let slot = self.free;
            let block = &mut self.blocks[slot as usize];
            self.free = std::mem::replace(&mut block.next, NONE);
            block.count = 0;
            slot
        };
        let chain = &mut self.wheel[place][lane];
        match std::mem::replace(&mut chain.last, new) {
            NONE => chain.first = new,
            last => self.blocks[last as usize].next = new,
        }
        new
    }

    /// What becomes due in the bucket that is being worked on goes to its place there.
    #[cold]
    fn push_front(&mut self, due: i64, rank: u64, sequence: u64, slot: u32) {
        let entry = Entry { due, rank, sequence, slot };
        let front = &mut self.fronts[entry.lane()];
        let place = front.next + front.entries[front.next..].partition_point(|other| *other < entry);
        front.entries.insert(place, entry);
    }

    /// The next entry that is due at or before `until`.
    #[inline(always)]
    pub(crate) fn pop(&mut self, until: i64) -> Option<Entry> {
        loop {
            let [periodic, expiry] = &self.fronts;
            let lane = match (periodic.entries.get(periodic.next), expiry.entries.get(expiry.next)) {
                (Some(first), Some(second)) => usize::from(second < first),
                (Some(_), None) => 0,
                (None, Some(_)) => 1,
                (None, None) => {
                    if self.at >= until >> WIDTH_BITS {
                        return None;
                    }
                    self.at += 1;
                    self.load(0);
                    self.load(1);
                    continue;
                }
            };
            let front = &mut self.fronts[lane];
            let entry = front.entries[front.next];
            if entry.due > until {
                return None;
            }
            front.next += 1;
            return Some(entry);
        }
    }

    fn load(&mut self, lane: usize) {
        let front = &mut self.fronts[lane];
        front.entries.clear();
        front.next = 0;
        let place = &mut self.wheel[self.at as usize & (BUCKETS - 1)][lane];
        let mut slot = std::mem::replace(place, Lane { first: NONE, last: NONE }).first;
        while slot != NONE {
            let block = &mut self.blocks[slot as usize];
            front.entries.extend_from_slice(&block.entries[..block.count]);
            let freed = std::mem::replace(&mut self.free, slot);
            slot = std::mem::replace(&mut block.next, freed);
        }
        if !front.entries.is_sorted() {
            front.entries.sort_unstable();
        }
        // The wheel turns once in 48 s: what is due in a later turn goes back to the same bucket.
        while let Some(last) = self.fronts[lane].entries.pop_if(|entry| entry.bucket() > self.at) {
            self.push(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Due, Entry, Phase};

    #[test]
    fn order_is_exact_over_several_turns_and_any_stride() {
        let mut state = 7u64;
        let mut dice = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        for stride in [1i64 << 20, 11_760_000, 1 << 30, 1 << 40] {
            let mut due = Due::new();
            let mut expected = Vec::new();
            for sequence in 0..2_000 {
                let phase = if dice(2) == 0 { Phase::Periodic } else { Phase::Expiry };
                let entry = Entry::new((dice(100) * 1_000_000_000) as i64, phase, dice(50) as u32, sequence, 0);
                due.push(entry);
                expected.push(entry);
            }
            expected.sort_unstable();
            let mut now = 0;
            let mut got = Vec::new();
            while got.len() < 2_000 {
                while let Some(entry) = due.pop(now) {
                    got.push(entry);
                }
                now += stride;
            }
            assert!(got == expected, "stride {stride}");
        }
    }

    #[test]
    fn an_entry_added_for_the_current_time_is_popped_in_order() {
        let mut due = Due::new();
        due.push(Entry::new(10, Phase::Expiry, 1, 0, 0));
        due.push(Entry::new(10, Phase::Expiry, 3, 0, 0));
        assert_eq!(due.pop(10).map(|entry| entry.who()), Some(1));
        due.push(Entry::new(10, Phase::Expiry, 2, 0, 0));
        due.push(Entry::new(10, Phase::Periodic, 9, 0, 0));
        let rest: Vec<u32> = std::iter::from_fn(|| due.pop(10)).map(|entry| entry.who()).collect();
        assert_eq!(rest, [9, 2, 3]);
    }
}
