//! The uses of abilities by clients, and the seeds of their rolls.
//!
//! The first time that an ability of a client's controller draws a random number because of an op of that client, the op
//! gets the next number of the ability, and all draws of the ability for that op use the seed of the number. An op that
//! draws nothing has no number, so a client cannot skip a number except by a use that rolls: the n-th use of an ability
//! that rolls has the same result, whenever it happens and whatever its target is. The host registers the seeds.

use crate::rng::fold;
use crate::{AbilityId, ControllerId, OpId, SimTime};
use std::collections::VecDeque;

/// The maximum number of uses of a client that are kept. Later draws of an older op get a new number.
const MAX_USES: usize = 512;
/// How many seeds before the next one are kept, for resimulations.
const KEPT_SEEDS: u32 = 256;
/// The maximum number of seeds of an ability.
const MAX_SEEDS: usize = 512;

/// The maximum number of abilities that drew and are not taken.
const MAX_RECENT: usize = 4096;

/// An ability of a controller, whose uses are numbered.
///
/// ```
/// use ugas_core::{AbilityId, ControllerId, UsedAbility};
/// let used = UsedAbility { who: ControllerId(4), ability: AbilityId(7) };
/// assert_eq!(used.who, ControllerId(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsedAbility {
    /// The controller.
    pub who: ControllerId,
    /// The ability.
    pub ability: AbilityId,
}

/// The numbers and seeds of an ability.
#[derive(Clone, Debug)]
struct UseSeeds {
    of: UsedAbility,
    /// The number of the next use that draws.
    next: u32,
    /// The number of the first seed.
    first: u32,
    seeds: VecDeque<u32>,
}

/// A use that drew.
#[derive(Clone, Copy, Debug)]
struct Use {
    op: OpId,
    of: UsedAbility,
    number: u32,
    /// The time of the first draw.
    at: SimTime,
}

/// The uses of all clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Sorted by controller and ability.
    abilities: Vec<UseSeeds>,
    /// The uses of each client in order of ops and abilities, sorted by client.
    drawn: Vec<(u16, VecDeque<Use>)>,
    /// The abilities that drew since the last call of [`Uses::take_recent`].
    recent: Vec<UsedAbility>,
}

impl Uses {
    fn seeds(&self, of: UsedAbility) -> Option<&UseSeeds> {
        let at = self.abilities.binary_search_by_key(&of, |s| s.of).ok()?;
        Some(&self.abilities[at])
    }

    fn seeds_mut(&mut self, of: UsedAbility) -> Option<&mut UseSeeds> {
        let at = self.abilities.binary_search_by_key(&of, |s| s.of).ok()?;
        Some(&mut self.abilities[at])
    }

    fn drawn_by(&self, client: u16) -> Option<&VecDeque<Use>> {
        let at = self.drawn.binary_search_by_key(&client, |d| d.0).ok()?;
        Some(&self.drawn[at].1)
    }

    fn find(&self, op: OpId, of: UsedAbility) -> Option<&Use> {
        let list = self.drawn_by(op.client())?;
        list.get(list.binary_search_by_key(&(op, of), |u| (u.op, u.of)).ok()?)
    }

    /// Removes the uses of an op that did not happen. A number that is the last one of its ability is free again.
    pub(crate) fn discard(&mut self, op: OpId) {
        let Ok(at) = self.drawn.binary_search_by_key(&op.client(), |d| d.0) else { return };
        let list = &mut self.drawn[at].1;
        let start = list.partition_point(|u| u.op < op);
        let mut removed = Vec::new();
        while let Some(used) = list.get(start).filter(|u| u.op == op) {
            removed.push(*used);
            list.remove(start);
        }
        for used in removed {
            if let Some(seeds) = self.seeds_mut(used.of).filter(|s| s.next == used.number.saturating_add(1)) {
                seeds.next = used.number;
            }
        }
    }

    /// Adds the seeds of the uses of an ability from a number on. Seeds that do not continue the known ones replace
    /// them, and so do seeds of an ability that has too many.
    pub(crate) fn add_seeds(&mut self, of: UsedAbility, first: u32, seeds: impl IntoIterator<Item = u32>) {
        let at = match self.abilities.binary_search_by_key(&of, |s| s.of) {
            Ok(at) => at,
            Err(at) => {
                self.abilities.insert(at, UseSeeds { of, next: first, first, seeds: VecDeque::new() });
                at
            }
        };
        let known = &mut self.abilities[at];
        if first != known.first.saturating_add(known.seeds.len() as u32) || known.seeds.len() >= MAX_SEEDS {
            known.seeds.clear();
            known.first = first;
        }
        known.seeds.extend(seeds.into_iter().take(MAX_SEEDS));
        while known.first.saturating_add(KEPT_SEEDS) < known.next && known.seeds.pop_front().is_some() {
            known.first += 1;
        }
    }

    /// Returns the number of the next use of an ability that draws; `None` if it has no seeds.
    pub(crate) fn next(&self, of: UsedAbility) -> Option<u32> {
        self.seeds(of).map(|s| s.next)
    }

    /// Numbers again the uses of an ability that are selected by op and time of the first draw. They are those that the
    /// server has not run. `next` gets the number that the first of them has, and returns the one that it should have.
    /// Returns whether a number changed.
    pub(crate) fn renumber(
        &mut self,
        of: UsedAbility,
        is_open: impl Fn(OpId, SimTime) -> bool,
        next: impl FnOnce(u32) -> u32,
    ) -> bool {
        let Some(next_use) = self.next(of) else { return false };
        let uses = self.drawn.iter_mut().flat_map(|d| d.1.iter_mut());
        let mut open: Vec<&mut Use> = uses.filter(|u| u.of == of && is_open(u.op, u.at)).collect();
        open.sort_by_key(|u| (u.number, u.op));
        let mut at = next(open.first().map_or(next_use, |u| u.number));
        let mut is_changed = false;
        for used in open {
            is_changed |= used.number != at;
            used.number = at;
            at = at.saturating_add(1);
        }
        if let Some(seeds) = self.seeds_mut(of) {
            is_changed |= seeds.next != at;
            seeds.next = at;
        }
        is_changed
    }

    /// Gives a use that drew the next number of its ability, unless it has a number.
    #[cold]
    pub(crate) fn number(&mut self, op: OpId, of: UsedAbility, now: SimTime) {
        if self.find(op, of).is_some() {
            return;
        }
        if self.recent.len() < MAX_RECENT && self.recent.last() != Some(&of) {
            self.recent.push(of);
        }
        let Some(seeds) = self.seeds_mut(of) else { return };
        let number = seeds.next;
        seeds.next = number.saturating_add(1);
        let client = match self.drawn.binary_search_by_key(&op.client(), |d| d.0) {
            Ok(at) => at,
            Err(at) => {
                self.drawn.insert(at, (op.client(), VecDeque::new()));
                at
            }
        };
        let list = &mut self.drawn[client].1;
        let at = list.partition_point(|u| (u.op, u.of) < (op, of));
        list.insert(at, Use { op, of, number, at: now });
        if list.len() > MAX_USES {
            list.pop_front();
        }
    }

    /// Takes the abilities that drew since the last call.
    pub(crate) fn take_recent(&mut self, into: &mut Vec<UsedAbility>) {
        into.append(&mut self.recent);
    }

    /// Returns the seed of the draws of an ability for an op, if it is known.
    pub(crate) fn seed_of(&self, op: OpId, of: UsedAbility) -> Option<u64> {
        let known = self.seeds(of)?;
        let number = self.find(op, of).map_or(known.next, |u| u.number);
        let seed = *known.seeds.get(number.checked_sub(known.first)? as usize)?;
        Some(fold(fold(seed as u64, number as u64), (of.who.0 as u64) << 32 | of.ability.0 as u64))
    }

    /// Removes the uses of a client.
    pub(crate) fn remove_client(&mut self, client: u16) {
        self.drawn.retain(|d| d.0 != client);
    }

    /// Removes the numbers and seeds of a controller.
    pub(crate) fn remove_controller(&mut self, who: ControllerId) {
        self.abilities.retain(|s| s.of.who != who);
    }

    pub(crate) fn clear(&mut self) {
        self.abilities.clear();
        self.drawn.clear();
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USED: UsedAbility = UsedAbility { who: ControllerId(2), ability: AbilityId(9) };

    fn op(n: u32) -> OpId {
        OpId::new(3, n, 0)
    }

    #[test]
    fn ops_are_numbered_when_they_draw() {
        let mut uses = Uses::default();
        assert_eq!(uses.seed_of(op(1), USED), None, "no seeds");
        uses.number(op(1), USED, SimTime(1));
        assert_eq!(uses.next(USED), None);
        uses.add_seeds(USED, 0, [5, 6]);
        let first = uses.seed_of(op(4), USED);
        assert!(first.is_some() && first == uses.seed_of(op(1), USED), "each would be the first that draws");
        uses.number(op(4), USED, SimTime(8));
        uses.number(op(4), USED, SimTime(9));
        assert_eq!((uses.seed_of(op(4), USED), uses.next(USED)), (first, Some(1)));
        let second = uses.seed_of(op(2), USED);
        assert!(second.is_some() && second != first);
        uses.number(op(2), USED, SimTime(9));
        assert_eq!(uses.seed_of(op(1), USED), None, "the third seed is not known");
        uses.add_seeds(USED, 2, [7]);
        assert!(uses.seed_of(op(1), USED).is_some());
        let other = UsedAbility { ability: AbilityId(10), ..USED };
        uses.add_seeds(other, 0, [5]);
        assert!(uses.seed_of(op(4), other).is_some_and(|seed| Some(seed) != first));
        uses.discard(op(2));
        assert_eq!((uses.next(USED), uses.seed_of(op(2), USED)), (Some(1), second));
        uses.discard(op(1));
        assert_eq!(uses.next(USED), Some(1), "it drew nothing");
    }

    #[test]
    fn open_uses_are_numbered_again_in_their_order() {
        let mut uses = Uses::default();
        uses.add_seeds(USED, 0, [5, 6, 7, 8]);
        (1..=3).for_each(|n| uses.number(op(n), USED, SimTime(n as i64)));
        let before = uses.seed_of(op(2), USED);
        uses.discard(op(1));
        assert_eq!(uses.next(USED), Some(3), "later numbers are taken");
        let renumber = |uses: &mut Uses, expected| {
            let next = |next| {
                assert_eq!(next, expected);
                0
            };
            uses.renumber(USED, |_, at| at > SimTime(1), next)
        };
        assert!(renumber(&mut uses, 1));
        assert_eq!(uses.next(USED), Some(2));
        assert_ne!(uses.seed_of(op(2), USED), before);
        assert_eq!(uses.seed_of(op(3), USED), before);
        assert!(!renumber(&mut uses, 0));
        assert!(uses.renumber(USED, |_, _| false, |next| next + 5));
        assert_eq!(uses.next(USED), Some(7));
    }

    #[test]
    fn lists_are_bounded() {
        let mut uses = Uses::default();
        for n in 0..2000 {
            uses.add_seeds(USED, n, [n]);
            uses.number(op(n), USED, SimTime(n as i64));
        }
        assert_eq!(uses.drawn[0].1.len(), MAX_USES);
        assert!(uses.abilities[0].seeds.len() <= KEPT_SEEDS as usize + 2);
        assert!(uses.seed_of(op(1999), USED).is_some());
        uses.remove_client(3);
        assert_eq!(uses.next(USED), Some(2000), "the numbers stay");
        uses.remove_controller(USED.who);
        assert_eq!(uses.next(USED), None);
        // Seeds without uses.
        (0..100).for_each(|n| uses.add_seeds(USED, n * 64, 0..64));
        assert!(uses.abilities[0].seeds.len() <= MAX_SEEDS + 64);
        uses.add_seeds(USED, u32::MAX, [1, 2]);
        uses.renumber(USED, |_, _| false, |_| u32::MAX);
        uses.number(op(5), USED, SimTime(1));
        uses.discard(op(5));
        assert_eq!(uses.next(USED), Some(u32::MAX));
    }
}
