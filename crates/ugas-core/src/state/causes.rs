//! Cause links: a bounded ring buffer with the chains of causes of facts. Old links are overwritten. The root op of a
//! fact is always available, because the fact itself stores it.

use crate::{AbilityId, ControllerId, EffectId, OpId, SimTime};

/// The event of a cause link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseWhat {
    /// An op of the host or of a client.
    Op,
    /// An application of an effect.
    Applied(EffectId),
    /// A periodic execution of an effect.
    Executed(EffectId),
    /// The expiry of an effect.
    Expired(EffectId),
    /// The removal of an effect.
    Removed(EffectId),
    /// The activation of an ability.
    Activated(AbilityId),
    /// The end of an ability.
    Ended(AbilityId),
    /// A pressed input.
    Pressed(crate::InputId),
    /// A released input.
    Released(crate::InputId),
    /// A reload of the rules.
    Reload,
}

impl CauseWhat {
    /// Returns the ability that was activated or ended.
    ///
    /// ```
    /// use ugas_core::{AbilityId, CauseWhat};
    /// assert_eq!(CauseWhat::Ended(AbilityId(3)).ability(), Some(AbilityId(3)));
    /// assert_eq!(CauseWhat::Op.ability(), None);
    /// ```
    pub fn ability(&self) -> Option<AbilityId> {
        if let CauseWhat::Activated(ability) | CauseWhat::Ended(ability) = *self { Some(ability) } else { None }
    }
}

/// One link in a chain of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseLink {
    /// The event that is the cause.
    pub what: CauseWhat,
    /// The controller that the event happened to.
    pub who: ControllerId,
    /// The controller that caused the event, or [`ControllerId::NONE`].
    pub source: ControllerId,
    /// The time of the event.
    pub at: SimTime,
    /// The op at the root of the chain.
    pub root: OpId,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    step: CauseLink,
    parent: u32,
}

/// The ring buffer of cause links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Causes {
    ring: Vec<Link>,
    /// The last assigned number. `at` is its index in the ring.
    last: u32,
    at: usize,
}

impl Causes {
    /// Adds a link and returns its number. Numbers start at 1, and 0 means no link.
    #[inline]
    pub(crate) fn push(&mut self, limit: u32, parent: u32, step: impl FnOnce() -> CauseLink) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.at += 1;
        if self.at >= limit.max(1) as usize {
            self.at = 0;
        }
        if self.at >= self.ring.len() {
            self.grow();
        }
        // Written in place, because a copy of a value that was just built stalls the processor.
        self.ring[self.at] = Link { step: step(), parent };
        self.last
    }

    /// Grows the ring. Its entries can be in any order, because entries without a number are never read.
    #[cold]
    fn grow(&mut self) {
        let (what, none) = (CauseWhat::Op, ControllerId::NONE);
        let step = CauseLink { what, who: none, source: none, at: SimTime::ZERO, root: OpId(0) };
        self.ring.resize(self.at + 1, Link { step, parent: 0 });
    }

    fn get(&self, limit: u32, number: u32) -> Option<&Link> {
        let (age, limit) = (self.last.wrapping_sub(number), limit.max(1));
        if number == 0 || age >= limit {
            return None;
        }
        let back = age as usize;
        let at = if back <= self.at { self.at - back } else { self.at + limit as usize - back };
        self.ring.get(at)
    }

    /// Returns the chain of causes, the nearest cause first.
    pub(crate) fn chain(&self, limit: u32, number: u32) -> Vec<CauseLink> {
        let mut out = Vec::new();
        let mut next = number;
        while let Some(link) = self.get(limit, next) {
            out.push(link.step);
            if out.len() > limit as usize || link.parent == next {
                break;
            }
            next = link.parent;
        }
        out
    }

    /// Returns an empty ring that continues the numbering of this ring.
    pub(crate) fn continued(&self) -> Causes {
        Causes { ring: Vec::new(), last: self.last, at: self.at }
    }

    pub(crate) fn clear(&mut self) {
        self.ring.clear();
        self.last = 0;
        self.at = 0;
    }
}
