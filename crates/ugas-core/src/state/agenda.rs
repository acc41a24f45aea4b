//! The agenda: a queue that returns the controller that is due next. The agenda is a ring of time buckets, with a heap
//! for entries that are later than the last bucket. A bucket is sorted when its time is reached, so that the cost
//! depends on the number of due entries and not on the number of controllers. Entries are not removed when a row
//! changes. An outdated entry is recognized when it is popped, because the row stores its current due time.
//!
//! Entries are ordered by (due time, phase, controller id). Each row orders its own due work.

use crate::{ControllerId, SimTime};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Width of a bucket as a power of two in flicks: about 12 ms.
const SHIFT: u32 = 23;
/// Buckets in the ring: about 12 s.
const RING: usize = 1024;

/// Time, phase and controller, as three 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Entry {
    /// The low bits of the time, with the phase in the lowest three bits. Times are short enough to leave those bits
    /// free.
    low: u32,
    high: i32,
    who: ControllerId,
}

const _: () = assert!(size_of::<Entry>() == 12);

impl Entry {
    #[inline]
    fn new(at: SimTime, phase: u8, who: ControllerId) -> Entry {
        let when = at.0 << 3 | phase as i64;
        Entry { low: when as u32, high: (when >> 32) as i32, who }
    }
    #[inline]
    fn when(self) -> i64 {
        (self.high as i64) << 32 | self.low as i64
    }
    #[inline]
    pub(crate) fn at(self) -> SimTime {
        SimTime(self.when() >> 3)
    }
    #[inline]
    pub(crate) fn who(self) -> ControllerId {
        self.who
    }
    #[inline]
    pub(crate) fn phase(self) -> u8 {
        (self.low & 7) as u8
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Entry) -> Ordering {
        (self.when(), self.who).cmp(&(other.when(), other.who))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Entries per block: a block with its link fills two cache lines.
const BLOCK: usize = 10;
/// The index that means no block.
const NIL: u32 = u32::MAX;

/// A block of entries of one lane. A lane is one bucket of the ring.
#[derive(Clone, Copy, Debug)]
struct Block {
    entries: [Entry; BLOCK],
    len: u32,
    next: u32,
}

const _: () = assert!(size_of::<Block>() == 128);

/// The agenda; see the module. The lanes are chains of blocks from one pool, so that an agenda of constant size does
/// not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    /// The entries of the current bucket, sorted from latest to earliest. `bucket` is the number of the bucket.
    current: Vec<Entry>,
    bucket: i64,
    /// First block of each lane of the ring.
    lanes: Vec<u32>,
    pool: Vec<Block>,
    free: Vec<u32>,
    /// Entries beyond the ring's horizon.
    far: BinaryHeap<Reverse<Entry>>,
    in_ring: usize,
}

impl Agenda {
    #[inline]
    fn bucket_of(at: SimTime) -> i64 {
        at.0 >> SHIFT
    }

    #[inline]
    pub(crate) fn push(&mut self, at: SimTime, phase: u8, who: ControllerId) {
        if at > SimTime::LONGEST {
            return;
        }
        let entry = Entry::new(at, phase, who);
        let bucket = Agenda::bucket_of(at);
        if bucket <= self.bucket {
            let place = self.current.partition_point(|e| *e > entry);
            self.current.insert(place, entry);
        } else if bucket < self.bucket + RING as i64 {
            self.push_lane(bucket, entry);
        } else {
            // Grows in small portions. The maximum length is the number of controllers, so doubling the capacity would
            // reserve too much.
            if self.far.len() == self.far.capacity() {
                self.far.reserve_exact(self.far.len() / 8 + 16);
            }
            self.far.push(Reverse(entry));
        }
    }

    fn push_lane(&mut self, bucket: i64, entry: Entry) {
        if self.lanes.is_empty() {
            self.lanes.resize(RING, NIL);
        }
        let lane = &mut self.lanes[bucket as usize % RING];
        let first = *lane as usize;
        if *lane == NIL || self.pool[first].len as usize == BLOCK {
            let block = Block { entries: [entry; BLOCK], len: 0, next: *lane };
            *lane = match self.free.pop() {
                Some(at) => {
                    self.pool[at as usize] = block;
                    at
                }
                None => {
                    if self.pool.len() == self.pool.capacity() {
                        self.pool.reserve_exact(self.pool.len() / 8 + 16);
                        // Reserves space for all blocks to become free, so that freeing does not allocate during a
                        // step.
                        self.free.reserve_exact(self.pool.capacity() - self.free.len());
                    }
                    self.pool.push(block);
                    self.pool.len() as u32 - 1
                }
            };
        }
        let block = &mut self.pool[*lane as usize];
        block.entries[block.len as usize] = entry;
        block.len += 1;
        self.in_ring += 1;
    }

    /// Moves a lane's entries into the current bucket.
    fn open_lane(&mut self) {
        let Some(lane) = self.lanes.get_mut(self.bucket as usize % RING) else {
            return;
        };
        let mut next = std::mem::replace(lane, NIL);
        while next != NIL {
            let block = &self.pool[next as usize];
            self.current.extend_from_slice(&block.entries[..block.len as usize]);
            self.in_ring -= block.len as usize;
            self.free.push(next);
            next = block.next;
        }
    }

    /// Returns whether there is an entry at or before `until`, including outdated entries. If so, the entry is in the
    /// current bucket.
    #[inline]
    pub(crate) fn has_due(&mut self, until: SimTime) -> bool {
        loop {
            if let Some(&entry) = self.current.last() {
                return entry.at() <= until;
            }
            if self.bucket >= Agenda::bucket_of(until) {
                return false;
            }
            self.next_bucket(until);
        }
    }

    /// Returns the next entry at or before `until`, including outdated entries.
    #[inline]
    pub(crate) fn pop(&mut self, until: SimTime) -> Option<Entry> {
        if self.has_due(until) { self.current.pop() } else { None }
    }

    /// Returns the next `n` entries of the current bucket, latest first.
    #[inline]
    pub(crate) fn upcoming(&self, n: usize) -> &[Entry] {
        &self.current[self.current.len().saturating_sub(n)..]
    }

    fn next_bucket(&mut self, until: SimTime) {
        let last = Agenda::bucket_of(until);
        // If the ring is empty, the next bucket is that of the first far entry.
        self.bucket = match (self.in_ring, self.far.peek()) {
            (0, None) => last,
            (0, Some(Reverse(first))) => Agenda::bucket_of(first.at()).min(last).max(self.bucket + 1),
            _ => self.bucket + 1,
        };
        self.open_lane();
        // Moves entries that are now within the range of the ring into it.
        while self.far.peek().is_some_and(|Reverse(e)| Agenda::bucket_of(e.at()) < self.bucket + RING as i64) {
            if let Some(Reverse(e)) = self.far.pop() {
                let bucket = Agenda::bucket_of(e.at());
                if bucket <= self.bucket {
                    self.current.push(e);
                } else {
                    self.push_lane(bucket, e);
                }
            }
        }
        self.current.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Returns the number of entries, including outdated entries.
    pub(crate) fn len(&self) -> usize {
        self.current.len() + self.in_ring + self.far.len()
    }

    /// Removes all entries, but keeps the current time bucket. The caller adds the entries again.
    pub(crate) fn drain(&mut self) {
        let bucket = self.bucket;
        self.clear();
        self.bucket = bucket;
    }

    /// Frees memory after a peak, keeping some capacity.
    pub(crate) fn trim(&mut self) {
        if self.far.capacity() > 4 * self.far.len() {
            self.far.shrink_to(2 * self.far.len());
        }
    }

    pub(crate) fn clear(&mut self) {
        self.current.clear();
        self.lanes.fill(NIL);
        self.pool.clear();
        self.free.clear();
        self.far.clear();
        self.in_ring = 0;
        self.bucket = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::mix;

    #[test]
    fn every_entry_is_returned_once_and_in_order_at_any_stride() {
        for stride in [1i64 << 20, 1 << 23, 1 << 30, 1 << 36] {
            let (mut agenda, mut model, mut seed) = (Agenda::default(), BinaryHeap::new(), 5u64);
            let (mut now, mut out, mut expected) = (SimTime(0), Vec::new(), Vec::new());
            for _ in 0..300 {
                for _ in 0..20 {
                    seed = mix(seed);
                    let at = SimTime(now.0 + (seed >> 20) as i64 % (1 << (20 + seed % 18)));
                    let (phase, who) = ((seed >> 7) as u8 % 2, ControllerId((seed >> 9) as u32 % 50));
                    agenda.push(at, phase, who);
                    model.push(Reverse(Entry::new(at, phase, who)));
                }
                now = SimTime(now.0 + stride);
                while let Some(e) = agenda.pop(now) {
                    out.push(e);
                }
                while model.peek().is_some_and(|Reverse(e)| e.at() <= now) {
                    expected.extend(model.pop().map(|Reverse(e)| e));
                }
            }
            assert_eq!(out, expected, "stride {stride}");
        }
    }
}
