//! Numbers the uses of abilities by clients. Each use has its own seed, from which its random numbers are drawn.
//!
//! A use is an op of a client for which an ability of that client's controller draws random numbers. With its first
//! draw the use gets the next number of the ability, and all draws of the ability for that op use the seed of this
//! number. An op that draws nothing gets no number, so a client cannot skip a number: the n-th use of an ability has
//! the same rolls, whenever it happens and whatever its target is. The host adds the seeds.

use crate::rng::fold;
use crate::{AbilityId, ControllerId, OpId, SimTime};
use std::collections::VecDeque;

/// The maximum number of uses that are kept for an ability. If the op of a dropped use draws again, its draws use the seed
/// of the sim.
const MAX_USES: usize = 256;
/// How many seeds of past uses are kept for an ability, because a resimulation draws from them again.
const KEPT_SEEDS: u32 = 256;
/// The maximum number of seeds that one call of [`Uses::add_seeds`] adds. If an ability already has as many seeds, the new
/// seeds replace them.
const MAX_SEEDS: usize = 512;

/// The maximum number of abilities that wait for [`Uses::take_recent`]. Further abilities are not reported.
const MAX_RECENT: usize = 4096;

/// An ability of a controller. Its uses by the owning client are numbered; a use is an op for which the ability draws
/// random numbers.
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

/// The next use number and the seeds of an ability.
#[derive(Clone, Debug)]
struct UseSeeds {
    of: UsedAbility,
    /// The number of the next use that draws.
    next: u32,
    /// The number of the use that the first seed is for.
    first: u32,
    seeds: VecDeque<u32>,
    /// The numbered uses, in the order of their first draws.
    drawn: VecDeque<Use>,
    /// The newest op of a client whose use was dropped.
    dropped: OpId,
}

/// A numbered use: an op for which an ability drew random numbers.
#[derive(Clone, Copy, Debug)]
struct Use {
    op: OpId,
    number: u32,
    /// The time of the first draw.
    at: SimTime,
}

impl UseSeeds {
    fn new(of: UsedAbility, first: u32) -> UseSeeds {
        UseSeeds { of, next: first, first, seeds: VecDeque::new(), drawn: VecDeque::new(), dropped: OpId::default() }
    }

    fn find(&self, op: OpId) -> Option<&Use> {
        self.drawn.iter().rev().find(|u| u.op == op)
    }

    /// Returns whether the use of an op may have been dropped: the op is not newer than a dropped one of its client.
    /// Otherwise a long effect could use up a number with each of its draws.
    fn is_dropped(&self, op: OpId) -> bool {
        op.client() != 0 && op.client() == self.dropped.client() && op <= self.dropped
    }
}

/// The uses of all clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Sorted by controller and ability.
    abilities: Vec<UseSeeds>,
    /// The abilities that drew for a new use since the last call of [`Uses::take_recent`].
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

    /// Removes the uses of an op that did not happen, for example because it was refused. If a removed use had the last
    /// assigned number of its ability, the next use gets this number.
    pub(crate) fn discard(&mut self, op: OpId) {
        for seeds in &mut self.abilities {
            let Some(at) = seeds.drawn.iter().rposition(|u| u.op == op) else { continue };
            let number = seeds.drawn.remove(at).map(|u| u.number);
            if let Some(number) = number.filter(|n| seeds.next == n.saturating_add(1)) {
                seeds.next = number;
            }
        }
    }

    /// Adds seeds for the uses of an ability. `first` is the number of the use that the first seed is for. If the new
    /// seeds do not directly follow the known ones, or the ability already has [`MAX_SEEDS`] seeds, they replace the
    /// known seeds.
    pub(crate) fn add_seeds(&mut self, of: UsedAbility, first: u32, seeds: impl IntoIterator<Item = u32>) {
        let at = match self.abilities.binary_search_by_key(&of, |s| s.of) {
            Ok(at) => at,
            Err(at) => {
                self.abilities.insert(at, UseSeeds::new(of, first));
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

    /// Returns the number that the next use of an ability gets; `None` if no seeds were added for the ability.
    pub(crate) fn next(&self, of: UsedAbility) -> Option<u32> {
        self.seeds(of).map(|s| s.next)
    }

    /// Renumbers the uses of an ability that the server has not run yet. `is_open` selects them by op and by the time
    /// of the first draw. `next` gets the number of the first selected use, or the number of the next use if none is
    /// selected, and returns the number that it must have. The other selected uses follow in their order. Returns
    /// whether a number changed.
    pub(crate) fn renumber(
        &mut self,
        of: UsedAbility,
        is_open: impl Fn(OpId, SimTime) -> bool,
        next: impl FnOnce(u32) -> u32,
    ) -> bool {
        let Some(seeds) = self.seeds_mut(of) else { return false };
        let mut open: Vec<&mut Use> = seeds.drawn.iter_mut().filter(|u| is_open(u.op, u.at)).collect();
        open.sort_by_key(|u| (u.number, u.op));
        let mut at = next(open.first().map_or(seeds.next, |u| u.number));
        let mut is_changed = false;
        for used in open {
            is_changed |= used.number != at;
            used.number = at;
            at = at.saturating_add(1);
        }
        is_changed |= seeds.next != at;
        seeds.next = at;
        is_changed
    }

    /// Records that an ability drew for an op. If this use has no number yet, it gets the next number of the ability.
    #[cold]
    pub(crate) fn number(&mut self, op: OpId, of: UsedAbility, now: SimTime) {
        if self.seeds(of).is_some_and(|s| s.find(op).is_some() || s.is_dropped(op)) {
            return;
        }
        if self.recent.len() < MAX_RECENT && self.recent.last() != Some(&of) {
            self.recent.push(of);
        }
        let Some(seeds) = self.seeds_mut(of) else { return };
        let number = seeds.next;
        seeds.next = number.saturating_add(1);
        seeds.drawn.push_back(Use { op, number, at: now });
        if seeds.drawn.len() > MAX_USES
            && let Some(dropped) = seeds.drawn.pop_front().filter(|u| u.op.client() != 0)
        {
            seeds.dropped = seeds.dropped.max(dropped.op);
        }
    }

    /// Appends to `into` the abilities that drew for a new use since the last call.
    pub(crate) fn take_recent(&mut self, into: &mut Vec<UsedAbility>) {
        into.append(&mut self.recent);
    }

    /// Returns the seed from which an ability draws for an op: the seed of the use's number, or of the next number if
    /// the op has not drawn yet. Returns `None` if the seed is not known, or if the use of the op may have been dropped.
    pub(crate) fn seed_of(&self, op: OpId, of: UsedAbility) -> Option<u64> {
        let known = self.seeds(of)?;
        let number = match known.find(op) {
            Some(used) => used.number,
            None if known.is_dropped(op) => return None,
            None => known.next,
        };
        let seed = *known.seeds.get(number.checked_sub(known.first)? as usize)?;
        Some(fold(fold(seed as u64, number as u64), (of.who.0 as u64) << 32 | of.ability.0 as u64))
    }

    /// Removes the uses of a client. The next use numbers and the seeds belong to the controllers and stay.
    pub(crate) fn remove_client(&mut self, client: u16) {
        for seeds in &mut self.abilities {
            seeds.drawn.retain(|u| u.op.client() != client);
            if seeds.dropped.client() == client {
                seeds.dropped = OpId::default();
            }
        }
    }

    /// Forgets all abilities of a controller: their seeds, and how often they were used.
    pub(crate) fn remove_controller(&mut self, who: ControllerId) {
        self.abilities.retain(|s| s.of.who != who);
    }

    pub(crate) fn clear(&mut self) {
        self.abilities.clear();
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
        assert_eq!(uses.abilities[0].drawn.len(), MAX_USES);
        assert_eq!(uses.seed_of(op(3), USED), None, "it was dropped");
        uses.number(op(3), USED, SimTime(3));
        assert_eq!(uses.next(USED), Some(2000), "a dropped use gets no other number");
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
