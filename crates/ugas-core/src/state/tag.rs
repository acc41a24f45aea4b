//! A controller's tags: explicit grants counted, hierarchical presence as bits.
//!
//! Presence of a tag (it or a descendant is granted) is one bit test. Explicit counts are a short list sorted by the
//! tags' depth-first rank, so "is anything left below" is a range test when a grant goes. Counts of a whole subtree
//! are summed on demand; they always equal the sum of explicit grants because nothing else is stored.

use crate::TagId;
use crate::rules::TagTable;
use serde::{Deserialize, Serialize};

const INLINE: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Count {
    tag: TagId,
    count: u32,
}

/// A change of presence or of the explicit count across zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TagFlip {
    pub(crate) tag: TagId,
    pub(crate) added: bool,
    pub(crate) exact: bool,
    pub(crate) presence: bool,
}

/// The tags of one controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Tags {
    /// All words of the presence bits joined: a bit that is off here is off everywhere.
    any: u64,
    bits: [u64; INLINE],
    counts: Vec<Count>,
    more: Vec<u64>,
}

impl Tags {
    #[inline]
    pub(crate) fn has(&self, tag: TagId) -> bool {
        let (word, bit) = (tag.index() / 64, tag.index() % 64);
        if self.any >> bit & 1 == 0 {
            return false;
        }
        let word = if word < INLINE { self.bits[word] } else { self.more.get(word - INLINE).copied().unwrap_or(0) };
        word >> bit & 1 != 0
    }

    fn put(&mut self, tag: TagId, on: bool) {
        let (word, bit) = (tag.index() / 64, tag.index() % 64);
        let word = if word < INLINE {
            &mut self.bits[word]
        } else {
            if self.more.len() <= word - INLINE {
                self.more.resize(word - INLINE + 1, 0);
            }
            &mut self.more[word - INLINE]
        };
        *word = *word & !(1 << bit) | (on as u64) << bit;
        self.any = if on { self.any | 1 << bit } else { self.bits.iter().chain(&self.more).fold(0, |a, w| a | w) };
    }

    fn find(&self, table: &TagTable, tag: TagId) -> Result<usize, usize> {
        self.counts.binary_search_by_key(&table.rank_of(tag), |c| table.rank_of(c.tag))
    }

    /// How often the tag itself is granted.
    pub(crate) fn count(&self, table: &TagTable, tag: TagId) -> u32 {
        self.find(table, tag).map_or(0, |i| self.counts[i].count)
    }

    /// How often the tag or anything below it is granted.
    pub(crate) fn count_all(&self, table: &TagTable, tag: TagId) -> u64 {
        self.below(table, tag).map(|c| c.count as u64).sum()
    }

    fn below(&self, table: &TagTable, tag: TagId) -> impl Iterator<Item = &Count> {
        let (start, end) = table.span(tag);
        let first = self.counts.partition_point(|c| table.rank_of(c.tag) < start);
        self.counts[first..].iter().take_while(move |c| table.rank_of(c.tag) < end)
    }

    /// Whether the tag or anything below it is granted more often than `own` grants it.
    pub(crate) fn has_besides(&self, table: &TagTable, tag: TagId, own: &[TagId]) -> bool {
        self.below(table, tag).any(|c| c.count as usize > own.iter().filter(|&&t| t == c.tag).count())
    }

    /// Explicit tags with their counts, in hierarchy order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TagId, u32)> {
        self.counts.iter().map(|c| (c.tag, c.count))
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// One more grant; `flips` gets the leaf, then each ancestor that appeared. Returns the new count.
    pub(crate) fn add(&mut self, table: &TagTable, tag: TagId, flips: &mut Vec<TagFlip>) -> u32 {
        match self.find(table, tag) {
            Ok(i) => {
                self.counts[i].count += 1;
                return self.counts[i].count;
            }
            Err(i) => self.counts.insert(i, Count { tag, count: 1 }),
        }
        let was_present = self.has(tag);
        flips.push(TagFlip { tag, added: true, exact: true, presence: !was_present });
        let mut next = Some(tag).filter(|_| !was_present);
        while let Some(t) = next {
            self.put(t, true);
            next = table.parent(t).filter(|&p| !self.has(p));
            if let Some(p) = next {
                flips.push(TagFlip { tag: p, added: true, exact: false, presence: true });
            }
        }
        1
    }

    /// One grant less; false if there was none, which is the caller's logic error.
    pub(crate) fn remove(&mut self, table: &TagTable, tag: TagId, flips: &mut Vec<TagFlip>) -> bool {
        let Ok(i) = self.find(table, tag) else { return false };
        self.counts[i].count -= 1;
        if self.counts[i].count > 0 {
            return true;
        }
        self.counts.remove(i);
        let gone = |tags: &Tags, t: TagId| tags.below(table, t).next().is_none();
        let mut next = Some(tag);
        while let Some(t) = next {
            let vanished = gone(self, t);
            if t == tag || vanished {
                flips.push(TagFlip { tag: t, added: false, exact: t == tag, presence: vanished });
            }
            if !vanished {
                break;
            }
            self.put(t, false);
            next = table.parent(t);
        }
        true
    }

    /// Whether all parts agree; for data from outside.
    pub(crate) fn is_sound(&self, table: &TagTable) -> bool {
        let known = self.counts.iter().all(|c| c.count > 0 && c.tag.index() < table.len());
        let sorted = || self.counts.windows(2).all(|w| table.rank_of(w[0].tag) < table.rank_of(w[1].tag));
        let fits = self.more.len() <= table.len().div_ceil(64).saturating_sub(INLINE);
        let joined = self.any == self.bits.iter().chain(&self.more).fold(0, |a, w| a | w);
        known && sorted() && fits && joined && table.ids().all(|t| self.has(t) == self.below(table, t).next().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str]) -> TagTable {
        let mut t = TagTable::default();
        for n in names {
            t.intern(n);
        }
        t.rank();
        t
    }

    #[test]
    fn a_count_never_goes_below_zero() {
        let t = table(&["State.Alive"]);
        let (alive, mut flips, mut tags) = (t.find("State.Alive").unwrap(), vec![], Tags::default());
        assert!(!tags.remove(&t, alive, &mut flips));
        assert_eq!((tags.count(&t, alive), flips.len()), (0, 0));
    }

    // covers: UGAS-7.2-08 UGAS-7.2-09
    #[test]
    fn empty_and_distinct_count_follow_the_grants() {
        let t = table(&["A.B", "A.C"]);
        let (b, c) = (t.find("A.B").unwrap(), t.find("A.C").unwrap());
        let (mut tags, mut flips) = (Tags::default(), vec![]);
        assert_eq!(tags.len(), 0);
        for tag in [b, b, c] {
            tags.add(&t, tag, &mut flips);
        }
        assert_eq!(tags.len(), 2);
        for tag in [b, b, c] {
            tags.remove(&t, tag, &mut flips);
        }
        assert_eq!(tags.len(), 0);
    }

    // covers: UGAS-7.4-01
    #[test]
    fn ancestors_always_equal_the_sum_of_grants_below() {
        let names: Vec<String> = (0..400).map(|i| format!("T{}.U{}.V{}.W{}", i % 3, i % 7, i % 11, i)).collect();
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let t = table(&refs);
        let all: Vec<TagId> = t.ids().collect();
        let (mut tags, mut flips) = (Tags::default(), Vec::new());
        let mut grants: Vec<TagId> = Vec::new();
        let mut seed = 1u64;
        for step in 0..4_000 {
            seed = crate::rng::mix(seed);
            if seed.is_multiple_of(3) && !grants.is_empty() {
                let tag = grants.swap_remove((seed >> 8) as usize % grants.len());
                assert!(tags.remove(&t, tag, &mut flips));
            } else {
                let tag = all[(seed >> 8) as usize % all.len()];
                grants.push(tag);
                tags.add(&t, tag, &mut flips);
            }
            flips.clear();
            if step % 50 == 0 {
                assert!(tags.is_sound(&t));
                for &tag in &all {
                    let below = grants.iter().filter(|&&g| t.is_under(g, tag)).count() as u64;
                    assert_eq!(tags.count_all(&t, tag), below);
                    assert_eq!(tags.has(tag), below > 0);
                }
            }
        }
    }
}
