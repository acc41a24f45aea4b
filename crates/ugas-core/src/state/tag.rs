//! The tags of a controller: counts of explicit grants, sorted by the tags' depth-first rank.
//!
//! A tag or a descendant of it is granted if a granted rank is within the tag's range of ranks. Up to twelve tags are
//! stored in the row, and a query compares all of them without a branch. With more tags, one bit per tag stores whether
//! the tag or a descendant is granted. In both cases the cost of a query does not depend on the number of tags. The
//! count of a subtree is summed on demand from the explicit grants.

use crate::TagId;
use crate::rules::{RankFilter, TagTable};

/// Number of tags stored in the row.
const FEW: usize = 12;
/// The rank that means no tag. Tags with this rank or a higher rank are stored outside the row.
const NONE: u16 = RankFilter::LIMIT as u16;

/// An explicit tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    rank: u32,
    count: u32,
    /// Whether one of the tag's grants is innate.
    innate: bool,
}

/// A tag whose presence changed, or whose explicit count crossed zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TagFlip {
    pub(crate) tag: TagId,
    pub(crate) added: bool,
    pub(crate) exact: bool,
    pub(crate) presence: bool,
}

/// The explicit tags of one controller, in order of rank.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    /// The ranks of the tags. Entries from index `len` on are [`NONE`].
    ranks: [u16; FEW],
    counts: [u8; FEW],
    /// One bit per index: whether the tag is innate.
    innate: u16,
    len: u8,
    /// All tags, if they do not fit into the row.
    many: Option<Box<ManyTags>>,
}

/// More tags than fit into the row.
#[derive(Clone, Debug)]
struct ManyTags {
    list: Vec<Count>,
    /// One bit per rank: whether the tag or a descendant is granted.
    shown: Box<[u64]>,
}

impl Default for Tags {
    fn default() -> Tags {
        Tags { ranks: [NONE; FEW], counts: [0; FEW], innate: 0, len: 0, many: None }
    }
}

impl PartialEq for Tags {
    fn eq(&self, other: &Tags) -> bool {
        self.entries().eq(other.entries())
    }
}

/// The position of an explicit tag: its index or the insertion point, and the neighbouring ranks.
struct TagPosition {
    at: usize,
    found: bool,
    /// One more than the previous rank, or 0 if there is no previous rank.
    before: u32,
    after: u32,
}

impl TagPosition {
    /// Returns whether the tag of this range has another granted descendant.
    #[inline]
    fn holds(&self, (start, end): (u32, u32)) -> bool {
        self.before > start || self.after < end
    }

    /// Reports the tag and each ancestor whose presence changes together with the tag. Other descendants of an ancestor
    /// have ranks in the ancestor's range, so it is enough to check the ranks next to the tag.
    #[inline]
    fn flip(&self, table: &TagTable, tag: TagId, added: bool, flips: &mut Vec<TagFlip>) {
        let mut presence = !self.holds(table.span(tag));
        flips.push(TagFlip { tag, added, exact: true, presence });
        let mut next = table.parent(tag);
        while let Some(t) = next.filter(|_| presence) {
            presence = !self.holds(table.span(t));
            if presence {
                flips.push(TagFlip { tag: t, added, exact: false, presence });
            }
            next = table.parent(t);
        }
    }
}

impl ManyTags {
    #[inline]
    fn has(&self, rank: u32) -> bool {
        self.shown.get(rank as usize / 64).is_some_and(|word| word >> (rank % 64) & 1 != 0)
    }

    #[cold]
    fn shows(&self, table: &TagTable, tag: TagId) -> bool {
        let (start, end) = table.span_or_none(tag);
        start < end && self.has(start)
    }

    fn put(&mut self, rank: u32, on: bool) {
        let (word, bit) = (&mut self.shown[rank as usize / 64], rank % 64);
        *word = *word & !(1 << bit) | (on as u64) << bit;
    }

    fn show(&mut self, table: &TagTable, flips: &[TagFlip]) {
        flips.iter().filter(|f| f.presence).for_each(|f| self.put(table.span(f.tag).0, f.added));
    }

    fn new(list: Vec<Count>, table: &TagTable) -> ManyTags {
        let mut many = ManyTags { list: Vec::new(), shown: vec![0; table.len().div_ceil(64)].into() };
        for c in &list {
            let mut next = Some(table.at_rank(c.rank));
            while let Some(t) = next.filter(|&t| !many.has(table.span(t).0)) {
                many.put(table.span(t).0, true);
                next = table.parent(t);
            }
        }
        ManyTags { list, ..many }
    }
}

#[inline]
fn joined([a, b, c, d]: [u16; 4]) -> u64 {
    a as u64 | (b as u64) << 16 | (c as u64) << 32 | (d as u64) << 48
}

impl Tags {
    /// Builds tags from outside data. Returns `None` for an invalid list.
    pub(crate) fn from_list(table: &TagTable, list: &[(TagId, u32, bool)]) -> Option<Tags> {
        let known = list.iter().all(|&(tag, count, _)| count > 0 && tag.index() < table.len());
        let rank = |at: usize| table.span(list[at].0).0;
        if !known || !(1..list.len()).all(|at| rank(at - 1) < rank(at)) {
            return None;
        }
        let count = |&(tag, count, innate): &(TagId, u32, bool)| Count { rank: table.span(tag).0, count, innate };
        let many = ManyTags::new(list.iter().map(count).collect(), table);
        let mut tags = Tags { many: Some(Box::new(many)), ..Tags::default() };
        tags.draw_in(FEW);
        Some(tags)
    }

    /// Returns the tags with their counts, and whether they are innate.
    pub(crate) fn to_list(&self, table: &TagTable) -> Vec<(TagId, u32, bool)> {
        self.entries().map(|c| (table.at_rank(c.rank), c.count, c.innate)).collect()
    }

    fn few(&self, at: usize) -> Count {
        Count { rank: self.ranks[at] as u32, count: self.counts[at] as u32, innate: self.innate >> at & 1 != 0 }
    }

    fn entries(&self) -> impl Iterator<Item = Count> {
        self.entries_from(0)
    }

    /// Iterates over the tags in the row. If the tags are stored outside the row, iterates over the tags from `rank`
    /// on.
    fn entries_from(&self, rank: u32) -> impl Iterator<Item = Count> {
        let many = self.many.as_deref().map_or(&[][..], |m| &m.list[m.list.partition_point(|c| c.rank < rank)..]);
        (0..self.len as usize).map(|at| self.few(at)).chain(many.iter().copied())
    }

    /// Returns whether the tag or a descendant is granted.
    #[inline]
    pub(crate) fn has(&self, table: &TagTable, tag: TagId) -> bool {
        if let Some(many) = &self.many {
            return many.shows(table, tag);
        }
        let (sieve, fours) = (table.rank_filter(tag), self.ranks.as_chunks::<4>().0);
        RankFilter::any(fours.iter().fold(0, |found, four| found | sieve.matches_in(joined(*four))))
    }

    #[inline]
    fn find(&self, rank: u32) -> TagPosition {
        if let Some(many) = &self.many {
            let found = many.list.binary_search_by_key(&rank, |c| c.rank);
            let (Ok(at) | Err(at)) = found;
            let rank = |at: usize| many.list.get(at).map(|c| c.rank);
            let before = at.checked_sub(1).and_then(rank).map_or(0, |r| r + 1);
            let after = rank(at + found.is_ok() as usize).unwrap_or(u32::MAX);
            return TagPosition { at, found: found.is_ok(), before, after };
        }
        let at = self.ranks.iter().map(|&r| ((r as u32) < rank) as usize).sum::<usize>().min(self.len as usize);
        let rank_at = |at: usize| self.ranks.get(at).map_or(NONE, |&r| r);
        let found = rank_at(at) as u32 == rank && at < self.len as usize;
        let before = if at == 0 { 0 } else { rank_at(at - 1) as u32 + 1 };
        let after = rank_at(at + found as usize);
        TagPosition { at, found, before, after: if after == NONE { u32::MAX } else { after as u32 } }
    }

    /// Returns how often the tag itself is granted.
    pub(crate) fn count(&self, table: &TagTable, tag: TagId) -> u32 {
        let place = self.find(table.span(tag).0);
        match &self.many {
            _ if !place.found => 0,
            Some(many) => many.list[place.at].count,
            None => self.counts[place.at] as u32,
        }
    }

    /// Returns how often the tag or a descendant of it is granted.
    pub(crate) fn count_all(&self, table: &TagTable, tag: TagId) -> u64 {
        self.below(table, tag).map(|c| c.count as u64).sum()
    }

    fn below(&self, table: &TagTable, tag: TagId) -> impl Iterator<Item = Count> {
        let (start, end) = table.span(tag);
        self.entries_from(start).skip_while(move |c| c.rank < start).take_while(move |c| c.rank < end)
    }

    /// Returns whether the tag or a descendant of it is granted more often than `own` grants it.
    pub(crate) fn has_besides(&self, table: &TagTable, tag: TagId, own: &[TagId]) -> bool {
        let granted = |rank: u32| own.iter().filter(|&&t| table.span(t).0 == rank).count();
        self.below(table, tag).any(|c| c.count as usize > granted(c.rank))
    }

    /// Iterates over the explicit tags with their counts, in hierarchy order.
    pub(crate) fn iter(&self, table: &TagTable) -> impl Iterator<Item = (TagId, u32)> {
        self.entries().map(|c| (table.at_rank(c.rank), c.count))
    }

    /// Iterates over the innate tags, in hierarchy order.
    pub(crate) fn innate(&self, table: &TagTable) -> impl Iterator<Item = TagId> {
        self.entries().filter(|c| c.innate).map(|c| table.at_rank(c.rank))
    }

    pub(crate) fn len(&self) -> usize {
        self.many.as_ref().map_or(self.len as usize, |m| m.list.len())
    }

    /// Returns one bit for each range of ranks in which a tag is granted.
    pub(crate) fn signature(&self, table: &TagTable) -> u32 {
        self.entries().fold(0, |bits, c| bits | 1 << table.stretch(c.rank))
    }

    /// Sets whether a granted tag is innate.
    pub(crate) fn set_innate(&mut self, table: &TagTable, tag: TagId, innate: bool) {
        let place = self.find(table.span(tag).0);
        match &mut self.many {
            _ if !place.found => {}
            Some(many) => many.list[place.at].innate = innate,
            None => self.innate = self.innate & !(1 << place.at) | (innate as u16) << place.at,
        }
    }

    /// Adds a grant. `flips` receives the tag, and then each ancestor that becomes present. Returns the new count.
    #[inline]
    pub(crate) fn add(&mut self, table: &TagTable, tag: TagId, signature: &mut u32, flips: &mut Vec<TagFlip>) -> u32 {
        let rank = table.span(tag).0;
        let place = self.find(rank);
        let fits = if place.found { self.counts[place.at.min(FEW - 1)] < u8::MAX } else { (self.len as usize) < FEW };
        if self.many.is_none() && (!fits || rank >= NONE as u32) {
            self.move_out(table);
        }
        let (reported, at) = (flips.len(), place.at);
        if !place.found {
            place.flip(table, tag, true, flips);
            *signature |= 1 << table.stretch(rank);
        }
        if let Some(many) = &mut self.many {
            if place.found {
                many.list[at].count += 1;
            } else {
                many.list.insert(at, Count { rank, count: 1, innate: false });
                many.show(table, &flips[reported..]);
            }
            return many.list[at].count;
        }
        if !place.found {
            self.ranks.copy_within(at..FEW - 1, at + 1);
            self.counts.copy_within(at..FEW - 1, at + 1);
            let below = (1 << at) - 1;
            self.innate = self.innate & below | (self.innate & !below) << 1;
            (self.ranks[at], self.counts[at]) = (rank as u16, 0);
            self.len += 1;
        }
        self.counts[at] += 1;
        self.counts[at] as u32
    }

    /// Removes a grant. Returns false if there was no grant, which is an error of the caller.
    #[inline]
    pub(crate) fn remove(
        &mut self,
        table: &TagTable,
        tag: TagId,
        signature: &mut u32,
        flips: &mut Vec<TagFlip>,
    ) -> bool {
        let rank = table.span(tag).0;
        let place = self.find(rank);
        if !place.found {
            return false;
        }
        let (reported, at) = (flips.len(), place.at);
        let left = match &mut self.many {
            Some(many) => {
                many.list[at].count -= 1;
                many.list[at].count
            }
            None => {
                self.counts[at] -= 1;
                self.counts[at] as u32
            }
        };
        if left > 0 {
            return true;
        }
        place.flip(table, tag, false, flips);
        let stretch = table.stretch(rank);
        let shared = place.before > 0 && table.stretch(place.before - 1) == stretch
            || place.after < u32::MAX && table.stretch(place.after) == stretch;
        *signature &= !((!shared as u32) << stretch);
        match &mut self.many {
            Some(many) => {
                many.list.remove(at);
                many.show(table, &flips[reported..]);
                // The lower limit prevents that a tag which is added and removed repeatedly moves all tags each time.
                self.draw_in(FEW / 2);
            }
            None => {
                self.ranks.copy_within(at + 1.., at);
                self.counts.copy_within(at + 1.., at);
                (self.ranks[FEW - 1], self.counts[FEW - 1]) = (NONE, 0);
                let below = (1 << at) - 1;
                self.innate = self.innate & below | self.innate >> 1 & !below;
                self.len -= 1;
            }
        }
        true
    }

    /// Moves the tags out of the row.
    #[cold]
    fn move_out(&mut self, table: &TagTable) {
        let list = self.entries().collect();
        *self = Tags { many: Some(Box::new(ManyTags::new(list, table))), ..Tags::default() };
    }

    /// Moves the tags back into the row if there are at most `most`.
    fn draw_in(&mut self, most: usize) {
        let fits = |c: &Count| c.rank < NONE as u32 && c.count <= u8::MAX as u32;
        let Some(many) = self.many.take_if(|m| m.list.len() <= most && m.list.iter().all(fits)) else { return };
        for (at, c) in many.list.iter().enumerate() {
            (self.ranks[at], self.counts[at]) = (c.rank as u16, c.count as u8);
            self.innate |= (c.innate as u16) << at;
        }
        self.len = many.list.len() as u8;
    }
}

#[cfg(test)]
mod tests;
