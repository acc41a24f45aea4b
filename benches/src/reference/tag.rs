//! Tags with counts. Explicit tags are sorted by their depth-first number, so that a check for a present descendant
//! reads only two neighbours. A bit per tag, including ancestors, answers queries in constant time.

use super::few::Few;
use crate::plan::TagTree;

const WORDS: usize = 20;

#[derive(Clone, Copy)]
struct Held {
    tag: u16,
    count: u16,
}

/// The tags of a controller, including ancestors. A query reads only this set.
#[derive(Clone, Copy)]
pub(crate) struct Presence([u64; WORDS]);

impl Presence {
    pub(crate) const EMPTY: Presence = Presence([0; WORDS]);

    /// Returns whether the tag or a descendant is held.
    #[inline]
    pub(crate) fn has(&self, tag: u16) -> bool {
        self.0[usize::from(tag >> 6)] >> (tag & 63) & 1 != 0
    }

    #[inline]
    fn flip(&mut self, tag: u16) {
        self.0[usize::from(tag >> 6)] ^= 1 << (tag & 63);
    }
}

/// The explicit tags of one controller.
pub(crate) struct Tags(Few<Held, 16>);

impl Tags {
    #[inline]
    pub(crate) fn new() -> Tags {
        Tags(Few::new(Held { tag: TagTree::NONE, count: 0 }))
    }

    /// Returns how often the tag itself is held, and how often it and all its descendants.
    #[cfg(test)]
    fn counts(&self, tree: &TagTree, tag: u16) -> (u32, u32) {
        let below = self.0.as_slice().iter().filter(|held| (tag..tree.end[tag as usize]).contains(&held.tag));
        below.fold((0, 0), |(exact, all), held| {
            let count = u32::from(held.count);
            (exact + if held.tag == tag { count } else { 0 }, all + count)
        })
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// Adds one; `gained` is called for each tag that was not present before, the tag first, then its ancestors.
    #[inline]
    pub(crate) fn add(&mut self, presence: &mut Presence, tree: &TagTree, tag: u16, mut gained: impl FnMut(u16)) {
        if let Some(held) = self.0.as_mut_slice().iter_mut().find(|held| held.tag == tag) {
            held.count += 1;
            return;
        }
        self.0.insert(Held { tag, count: 1 }, |other| other.tag < tag);
        for tag in tree.lineage(tag) {
            if presence.has(tag) {
                break;
            }
            presence.flip(tag);
            gained(tag);
        }
    }

    /// Takes one away; `lost` is called for each tag that is no longer present. False if there was none to take.
    #[inline]
    pub(crate) fn remove(
        &mut self,
        presence: &mut Presence,
        tree: &TagTree,
        tag: u16,
        mut lost: impl FnMut(u16),
    ) -> bool {
        let list = self.0.as_mut_slice();
        let Some(place) = list.iter().position(|held| held.tag == tag) else {
            return false;
        };
        list[place].count -= 1;
        if list[place].count > 0 {
            return true;
        }
        let before = if place > 0 { list[place - 1].tag } else { TagTree::NONE };
        let after = list.get(place + 1).map_or(TagTree::NONE, |held| held.tag);
        self.0.retain(|held| held.count > 0);
        for tag in tree.lineage(tag) {
            let descendants = tag..tree.end[usize::from(tag)];
            if descendants.contains(&before) || descendants.contains(&after) {
                break;
            }
            presence.flip(tag);
            lost(tag);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Presence, Tags};
    use crate::plan::TagTree;

    #[test]
    fn presence_follows_cumulative_counts() {
        let tree = TagTree::new();
        assert_eq!(tree.end.len(), 1248);
        let (mut tags, mut bits) = (Tags::new(), Presence::EMPTY);
        let mut present = vec![false; tree.end.len()];
        let mut model = vec![0u32; tree.end.len()];
        let mut state = 3u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let tag = (state >> 40) as u16 % 60;
            if state >> 33 & 1 == 0 {
                tags.add(&mut bits, &tree, tag, |gained| {
                    assert!(!std::mem::replace(&mut present[gained as usize], true))
                });
                model[tag as usize] += 1;
            } else {
                let had = tags.remove(&mut bits, &tree, tag, |lost| {
                    assert!(std::mem::replace(&mut present[lost as usize], false))
                });
                assert_eq!(had, model[tag as usize] > 0);
                model[tag as usize] -= u32::from(had);
            }
            for tag in 0..60 {
                let all: u32 = model[tag..tree.end[tag] as usize].iter().sum();
                assert_eq!(tags.counts(&tree, tag as u16), (model[tag], all));
                assert_eq!((bits.has(tag as u16), present[tag]), (all > 0, all > 0));
            }
        }
    }
}
