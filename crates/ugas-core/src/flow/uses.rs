//! The uses of abilities by clients, and the seeds of their rolls.
//!
//! The abilities of a controller are divided into groups. The host registers each op of a client with its group before
//! the op runs. The first time that an op, or a consequence of it, draws a random number, the op gets the next number
//! of its group, and all its draws use the seed of that number. An op that draws nothing has no number, so a client
//! cannot skip a number except by a use that rolls: the n-th use of a group that rolls has the same result, whenever it
//! happens and whatever its target is.

use crate::rng::fold;
use crate::{ControllerId, OpId, SimTime};
use std::collections::VecDeque;

/// The maximum number of ops of a client that are kept. Later draws of an older op use another stream.
const MAX_OPS: usize = 512;
/// How many seeds before the next one are kept, for resimulations.
const KEPT_SEEDS: u32 = 256;

/// A group of abilities of a controller whose uses are numbered together.
///
/// ```
/// use ugas_core::{ControllerId, UseGroup};
/// let group = UseGroup { who: ControllerId(4), group: 7 };
/// assert_eq!(group.who, ControllerId(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UseGroup {
    /// The controller.
    pub who: ControllerId,
    /// The number of the group, which the host chooses.
    pub group: u16,
}

/// The numbers and seeds of a group.
#[derive(Clone, Debug)]
struct UseSeeds {
    of: UseGroup,
    /// The number of the next use that draws.
    next: u32,
    /// The number of the first seed.
    first: u32,
    seeds: VecDeque<u32>,
}

/// An op of a client.
#[derive(Clone, Copy, Debug)]
struct Use {
    op: OpId,
    group: UseGroup,
    /// The number of the use, and the time of its first draw; `None` if the op has drawn nothing.
    drawn: Option<(u32, SimTime)>,
}

/// The uses of all clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Sorted by group.
    groups: Vec<UseSeeds>,
    /// The ops of each client in order of ids, sorted by client.
    ops: Vec<(u16, VecDeque<Use>)>,
}

impl Uses {
    fn group(&self, of: UseGroup) -> Option<&UseSeeds> {
        let at = self.groups.binary_search_by_key(&of, |g| g.of).ok()?;
        Some(&self.groups[at])
    }

    fn group_mut(&mut self, of: UseGroup) -> &mut UseSeeds {
        let at = match self.groups.binary_search_by_key(&of, |g| g.of) {
            Ok(at) => at,
            Err(at) => {
                self.groups.insert(at, UseSeeds { of, next: 0, first: 0, seeds: VecDeque::new() });
                at
            }
        };
        &mut self.groups[at]
    }

    fn find(&self, op: OpId) -> Option<&Use> {
        let at = self.ops.binary_search_by_key(&op.client(), |c| c.0).ok()?;
        let list = &self.ops[at].1;
        list.get(list.binary_search_by_key(&op, |u| u.op).ok()?)
    }

    /// Registers an op that is about to run. An op that is registered keeps its number.
    pub(crate) fn add(&mut self, op: OpId, group: UseGroup) {
        let at = match self.ops.binary_search_by_key(&op.client(), |c| c.0) {
            Ok(at) => at,
            Err(at) => {
                self.ops.insert(at, (op.client(), VecDeque::new()));
                at
            }
        };
        let list = &mut self.ops[at].1;
        if let Err(at) = list.binary_search_by_key(&op, |u| u.op) {
            list.insert(at, Use { op, group, drawn: None });
            if list.len() > MAX_OPS {
                list.pop_front();
            }
        }
    }

    /// Removes an op that did not happen. Its number, if it is the last one of its group, is free again.
    pub(crate) fn discard(&mut self, op: OpId) {
        let Ok(at) = self.ops.binary_search_by_key(&op.client(), |c| c.0) else { return };
        let list = &mut self.ops[at].1;
        let Ok(at) = list.binary_search_by_key(&op, |u| u.op) else { return };
        let Some(Use { group, drawn: Some((number, _)), .. }) = list.remove(at) else { return };
        let group = self.group_mut(group);
        if group.next == number + 1 {
            group.next = number;
        }
    }

    /// Adds the seeds of the uses from a number on. Seeds that do not continue the known ones replace them.
    pub(crate) fn add_seeds(&mut self, of: UseGroup, first: u32, seeds: impl IntoIterator<Item = u32>) {
        let group = self.group_mut(of);
        let end = group.first.saturating_add(group.seeds.len() as u32);
        if first != end {
            group.seeds.clear();
            group.first = first;
        }
        group.seeds.extend(seeds);
        while group.first.saturating_add(KEPT_SEEDS) < group.next && group.seeds.pop_front().is_some() {
            group.first += 1;
        }
    }

    /// Returns the number of the next use of a group that draws.
    pub(crate) fn next(&self, of: UseGroup) -> u32 {
        self.group(of).map_or(0, |g| g.next)
    }

    /// Returns whether the group has numbers or seeds.
    pub(crate) fn has_group(&self, of: UseGroup) -> bool {
        self.group(of).is_some()
    }

    /// Renumbers the uses of a group that `is_open` selects by op and time of the first draw: those that the server has
    /// not run. `next` gets the current number of the first of them and returns its new number. Returns whether a
    /// number changed.
    pub(crate) fn renumber(
        &mut self,
        of: UseGroup,
        is_open: impl Fn(OpId, SimTime) -> bool,
        next: impl FnOnce(u32) -> u32,
    ) -> bool {
        let next_use = self.next(of);
        let ops = self.ops.iter_mut().flat_map(|c| c.1.iter_mut()).filter(|u| u.group == of);
        let mut open: Vec<(&mut u32, OpId)> = ops
            .filter_map(|u| match &mut u.drawn {
                Some((number, at)) if is_open(u.op, *at) => Some((number, u.op)),
                _ => None,
            })
            .collect();
        open.sort_by_key(|(number, op)| (**number, *op));
        let (mut at, mut is_changed) = (next(open.first().map_or(next_use, |u| *u.0)), false);
        for (number, _) in open {
            is_changed |= *number != at;
            *number = at;
            at = at.saturating_add(1);
        }
        let group = self.group_mut(of);
        is_changed |= group.next != at;
        group.next = at;
        is_changed
    }

    /// Gives an op that drew the next number of its group, unless it has a number.
    #[cold]
    pub(crate) fn number(&mut self, op: OpId, now: SimTime) {
        let Some(&Use { group, drawn: None, .. }) = self.find(op) else { return };
        let number = self.group(group).map_or(0, |g| g.next);
        self.group_mut(group).next = number.saturating_add(1);
        let Ok(at) = self.ops.binary_search_by_key(&op.client(), |c| c.0) else { return };
        let list = &mut self.ops[at].1;
        if let Ok(at) = list.binary_search_by_key(&op, |u| u.op) {
            list[at].drawn = Some((number, now));
        }
    }

    /// Returns the seed of an op's draws: `None` if the op is not registered, `Some(None)` if the seed is not known.
    pub(crate) fn seed_of(&self, op: OpId) -> Option<Option<u64>> {
        let used = self.find(op)?;
        let seed = self.group(used.group).and_then(|g| {
            let number = used.drawn.map_or(g.next, |(number, _)| number);
            let seed = g.seeds.get(number.checked_sub(g.first)? as usize)?;
            Some(fold(fold(*seed as u64, number as u64), (used.group.who.0 as u64) << 16 | used.group.group as u64))
        });
        Some(seed)
    }

    /// Removes the ops of a client.
    pub(crate) fn remove_client(&mut self, client: u16) {
        self.ops.retain(|c| c.0 != client);
    }

    /// Removes the groups of a controller.
    pub(crate) fn remove_controller(&mut self, who: ControllerId) {
        self.groups.retain(|g| g.of.who != who);
    }

    pub(crate) fn clear(&mut self) {
        self.groups.clear();
        self.ops.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: UseGroup = UseGroup { who: ControllerId(2), group: 9 };

    fn op(n: u32) -> OpId {
        OpId::new(3, n, 0)
    }

    #[test]
    fn ops_are_numbered_when_they_draw() {
        let mut uses = Uses::default();
        uses.add_seeds(GROUP, 0, [5, 6]);
        assert_eq!(uses.seed_of(op(1)), None, "not registered");
        [4, 1, 2, 3].into_iter().for_each(|n| uses.add(op(n), GROUP));
        let seed = |uses: &Uses, n| uses.seed_of(op(n)).flatten();
        let first = seed(&uses, 4);
        assert!(first.is_some() && first == seed(&uses, 1), "each would be the first that draws");
        uses.number(op(4), SimTime(8));
        uses.number(op(4), SimTime(9));
        assert_eq!((seed(&uses, 4), uses.next(GROUP)), (first, 1));
        assert!(seed(&uses, 2).is_some() && seed(&uses, 2) != first);
        uses.number(op(2), SimTime(9));
        assert_eq!(uses.seed_of(op(1)), Some(None), "the third seed is not known");
        uses.add_seeds(GROUP, 2, [7]);
        assert!(seed(&uses, 1).is_some());
        uses.discard(op(2));
        assert_eq!((uses.next(GROUP), uses.seed_of(op(2))), (1, None));
        uses.discard(op(1));
        assert_eq!(uses.next(GROUP), 1, "it drew nothing");
    }

    #[test]
    fn open_uses_are_numbered_again_in_their_order() {
        let mut uses = Uses::default();
        uses.add_seeds(GROUP, 0, [5, 6, 7, 8]);
        for n in 1..=3 {
            uses.add(op(n), GROUP);
            uses.number(op(n), SimTime(n as i64));
        }
        let before = uses.seed_of(op(2));
        uses.discard(op(1));
        assert_eq!(uses.next(GROUP), 3, "later numbers are taken");
        let renumber = |uses: &mut Uses, expected| {
            uses.renumber(
                GROUP,
                |_, at| at > SimTime(1),
                |next| {
                    assert_eq!(next, expected);
                    0
                },
            )
        };
        assert!(renumber(&mut uses, 1));
        assert_eq!(uses.next(GROUP), 2);
        assert_ne!(uses.seed_of(op(2)), before);
        assert_eq!(uses.seed_of(op(3)), before);
        assert!(!renumber(&mut uses, 0));
        assert!(uses.renumber(GROUP, |_, _| false, |next| next + 5));
        assert_eq!(uses.next(GROUP), 7);
    }

    #[test]
    fn lists_are_bounded() {
        let mut uses = Uses::default();
        for n in 0..2000 {
            uses.add_seeds(GROUP, n, [n]);
            uses.add(op(n), GROUP);
            uses.number(op(n), SimTime(n as i64));
        }
        assert_eq!(uses.ops[0].1.len(), MAX_OPS);
        assert!(uses.groups[0].seeds.len() <= KEPT_SEEDS as usize + 2);
        assert!(uses.seed_of(op(1999)).is_some_and(|s| s.is_some()));
        uses.remove_client(3);
        assert_eq!((uses.next(GROUP), uses.seed_of(op(1999))), (2000, None), "the numbers stay");
        uses.remove_controller(GROUP.who);
        assert!(!uses.has_group(GROUP));
    }
}
