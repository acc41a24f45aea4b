//! A controller's tags: explicit grants counted, hierarchical presence as bits.
//!
//! Presence of a tag (it or a descendant is granted) is one bit test. Explicit counts are a short list sorted by the
//! tags' depth-first rank, so "is anything left below" is a test of two neighbours when a grant goes. Counts of a whole subtree
//! are summed on demand; they always equal the sum of explicit grants because nothing else is stored.

use crate::TagId;
use crate::rules::TagTable;
use serde::{Deserialize, Serialize};

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

/// The explicit tags of one controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tags {
    counts: Vec<Count>,
}

/// Which tags are present on a chunk of controllers, hierarchy included: one bit per tag and controller, so that a query
/// touches one word. Not state: it follows from the explicit tags.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    words: Box<[u64]>,
}

impl Presence {
    /// Words one controller needs for so many tags.
    pub(crate) fn stride(tags: usize) -> usize {
        tags.div_ceil(64)
    }

    pub(crate) fn new(controllers: usize, stride: usize) -> Presence {
        Presence { words: vec![0; controllers * stride].into() }
    }

    #[inline]
    pub(crate) fn has(&self, stride: usize, place: usize, tag: TagId) -> bool {
        let (word, bit) = (tag.index() / 64, tag.index() % 64);
        if word >= stride {
            return false;
        }
        self.words[place * stride + word] >> bit & 1 != 0
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, stride: usize, place: usize) -> PresenceMut<'_> {
        PresenceMut { words: &mut self.words[place * stride..(place + 1) * stride] }
    }
}

/// The presence bits of one controller, to change.
pub(crate) struct PresenceMut<'a> {
    words: &'a mut [u64],
}

impl PresenceMut<'_> {
    #[inline]
    fn has(&self, tag: TagId) -> bool {
        self.words[tag.index() / 64] >> (tag.index() % 64) & 1 != 0
    }

    #[inline]
    fn put(&mut self, tag: TagId, on: bool) {
        let (word, bit) = (&mut self.words[tag.index() / 64], tag.index() % 64);
        *word = *word & !(1 << bit) | (on as u64) << bit;
    }

    /// Shows these tags and nothing else; gives the signature.
    pub(crate) fn show(&mut self, tags: &Tags, table: &TagTable) -> u32 {
        self.words.fill(0);
        for (tag, _) in tags.iter() {
            self.raise(tag, table);
        }
        self.signature()
    }

    /// All words joined and folded: a bit that is off here is off everywhere.
    #[inline]
    fn signature(&self) -> u32 {
        let joined = self.words.iter().fold(0, |all, word| all | word);
        (joined | joined >> 32) as u32
    }

    /// The tag and its ancestors.
    fn raise(&mut self, tag: TagId, table: &TagTable) {
        let mut next = Some(tag);
        while let Some(t) = next.filter(|&t| !self.has(t)) {
            self.put(t, true);
            next = table.parent(t);
        }
    }
}

impl Tags {
    /// Whether the tag or a descendant is granted; for tags that are not of a row, or where speed does not matter.
    pub(crate) fn has(&self, table: &TagTable, tag: TagId) -> bool {
        table.def(tag).is_some() && self.below(table, tag).next().is_some()
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
    #[inline]
    pub(crate) fn add(
        &mut self,
        table: &TagTable,
        tag: TagId,
        mut shown: PresenceMut<'_>,
        signature: &mut u32,
        flips: &mut Vec<TagFlip>,
    ) -> u32 {
        match self.find(table, tag) {
            Ok(i) => {
                self.counts[i].count += 1;
                return self.counts[i].count;
            }
            Err(i) => {
                if self.counts.len() == self.counts.capacity() {
                    self.counts.reserve_exact((self.counts.len() / 4).max(4));
                }
                self.counts.insert(i, Count { tag, count: 1 });
            }
        }
        let was_present = shown.has(tag);
        flips.push(TagFlip { tag, added: true, exact: true, presence: !was_present });
        let mut next = Some(tag).filter(|_| !was_present);
        while let Some(t) = next {
            shown.put(t, true);
            *signature |= 1 << (t.0 % 32);
            next = table.parent(t).filter(|&p| !shown.has(p));
            if let Some(p) = next {
                flips.push(TagFlip { tag: p, added: true, exact: false, presence: true });
            }
        }
        1
    }

    /// One grant less; false if there was none, which is the caller's logic error.
    #[inline]
    pub(crate) fn remove(
        &mut self,
        table: &TagTable,
        tag: TagId,
        mut shown: PresenceMut<'_>,
        signature: &mut u32,
        flips: &mut Vec<TagFlip>,
    ) -> bool {
        let Ok(i) = self.find(table, tag) else { return false };
        self.counts[i].count -= 1;
        if self.counts[i].count > 0 {
            return true;
        }
        self.counts.remove(i);
        // What is left below an ancestor lies in its range of ranks, so next to where the tag was.
        let rank = |at: usize| self.counts.get(at).map(|c| table.rank_of(c.tag));
        let (before, after) = (if i == 0 { None } else { rank(i - 1) }, rank(i));
        let mut next = Some(tag);
        while let Some(t) = next {
            let (start, end) = table.span(t);
            let held = before.is_some_and(|r| r >= start) || after.is_some_and(|r| r < end);
            if t == tag || !held {
                flips.push(TagFlip { tag: t, added: false, exact: t == tag, presence: !held });
            }
            if held {
                break;
            }
            shown.put(t, false);
            next = table.parent(t);
        }
        *signature = shown.signature();
        true
    }

    /// Whether the list can be one; for data from outside.
    pub(crate) fn is_sound(&self, table: &TagTable) -> bool {
        let known = self.counts.iter().all(|c| c.count > 0 && c.tag.index() < table.len());
        known && self.counts.windows(2).all(|w| table.rank_of(w[0].tag) < table.rank_of(w[1].tag))
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

    /// Tags of a lone controller.
    struct One {
        table: TagTable,
        tags: Tags,
        shown: Presence,
        stride: usize,
        flips: Vec<TagFlip>,
    }

    impl One {
        fn new(names: &[&str]) -> One {
            let table = table(names);
            let stride = Presence::stride(table.len());
            let shown = Presence::new(1, stride);
            One { table, tags: Tags::default(), shown, stride, flips: Vec::new() }
        }

        fn add(&mut self, tag: TagId) {
            self.tags.add(&self.table, tag, self.shown.of_mut(self.stride, 0), &mut 0, &mut self.flips);
        }

        fn remove(&mut self, tag: TagId) -> bool {
            self.tags.remove(&self.table, tag, self.shown.of_mut(self.stride, 0), &mut 0, &mut self.flips)
        }
    }

    #[test]
    fn a_count_never_goes_below_zero() {
        let mut one = One::new(&["State.Alive"]);
        let alive = one.table.find("State.Alive").unwrap();
        assert!(!one.remove(alive));
        assert_eq!((one.tags.count(&one.table, alive), one.flips.len()), (0, 0));
    }

    // covers: UGAS-7.2-08 UGAS-7.2-09
    #[test]
    fn empty_and_distinct_count_follow_the_grants() {
        let mut one = One::new(&["A.B", "A.C"]);
        let (b, c) = (one.table.find("A.B").unwrap(), one.table.find("A.C").unwrap());
        assert_eq!(one.tags.len(), 0);
        for tag in [b, b, c] {
            one.add(tag);
        }
        assert_eq!(one.tags.len(), 2);
        for tag in [b, b, c] {
            one.remove(tag);
        }
        assert_eq!(one.tags.len(), 0);
    }

    // covers: UGAS-7.3-06
    #[test]
    fn a_query_reads_one_word_however_many_tags_there_are() {
        let names: Vec<String> = (0..10_000).map(|i| format!("T.U{}.V{i}", i % 50)).collect();
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut one = One::new(&refs);
        let all: Vec<TagId> = refs.iter().map(|n| one.table.find(n).unwrap()).collect();
        for &tag in all.iter().step_by(2) {
            one.add(tag);
        }
        assert_eq!(one.tags.len(), 5_000);
        // Neither the explicit list nor any other word has a say: with all of them spoiled every answer is the same.
        one.tags = Tags::default();
        for (i, &tag) in all.iter().enumerate() {
            let word = one.shown.words[tag.index() / 64];
            let mut spoiled = Presence { words: vec![!word; one.stride].into() };
            spoiled.words[tag.index() / 64] = word;
            assert_eq!(spoiled.has(one.stride, 0, tag), i % 2 == 0);
            assert_eq!(one.shown.has(one.stride, 0, tag), i % 2 == 0);
        }
    }

    // covers: UGAS-7.4-01
    #[test]
    fn ancestors_always_equal_the_sum_of_grants_below() {
        let names: Vec<String> = (0..400).map(|i| format!("T{}.U{}.V{}.W{}", i % 3, i % 7, i % 11, i)).collect();
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut one = One::new(&refs);
        let all: Vec<TagId> = one.table.ids().collect();
        let mut grants: Vec<TagId> = Vec::new();
        let mut seed = 1u64;
        for step in 0..4_000 {
            seed = crate::rng::mix(seed);
            if seed.is_multiple_of(3) && !grants.is_empty() {
                let tag = grants.swap_remove((seed >> 8) as usize % grants.len());
                assert!(one.remove(tag));
            } else {
                let tag = all[(seed >> 8) as usize % all.len()];
                grants.push(tag);
                one.add(tag);
            }
            one.flips.clear();
            if step % 50 == 0 {
                assert!(one.tags.is_sound(&one.table));
                let mut anew = one.shown.clone();
                anew.of_mut(one.stride, 0).show(&one.tags, &one.table);
                assert_eq!(anew.words, one.shown.words);
                for &tag in &all {
                    let below = grants.iter().filter(|&&g| one.table.is_under(g, tag)).count() as u64;
                    assert_eq!(one.tags.count_all(&one.table, tag), below);
                    assert_eq!(
                        (one.shown.has(one.stride, 0, tag), one.tags.has(&one.table, tag)),
                        (below > 0, below > 0)
                    );
                }
            }
        }
    }
}
