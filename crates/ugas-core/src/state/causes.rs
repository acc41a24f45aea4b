//! Cause links: a bounded ring from which the chain behind a fact is walked back. Old links fall out; the root op
//! stays in every fact.

use crate::{AbilityId, ControllerId, EffectId, OpId, SimTime};

/// What a link stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseWhat {
    /// An op from outside.
    Op,
    /// An application of an effect.
    Applied(EffectId),
    /// A periodic execution of an effect.
    Executed(EffectId),
    /// The end of an effect's time.
    Expired(EffectId),
    /// The removal of an effect.
    Removed(EffectId),
    /// The activation of an ability.
    Activated(AbilityId),
    /// The end of an ability.
    Ended(AbilityId),
    /// An input that went down.
    Pressed(crate::InputId),
    /// An input that went up.
    Released(crate::InputId),
    /// Other rules for the running sim.
    Reload,
}

/// One step of a cause chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseLink {
    /// What it stands for.
    pub what: CauseWhat,
    /// The controller.
    pub who: ControllerId,
    /// Through whom.
    pub source: ControllerId,
    /// The time.
    pub at: SimTime,
    /// The op at the root.
    pub root: OpId,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    step: CauseLink,
    parent: u32,
}

/// The ring.
#[derive(Clone, Debug, Default)]
pub(crate) struct Causes {
    ring: Vec<Link>,
    /// The number given last, and where in the ring it lies.
    last: u32,
    at: usize,
}

impl Causes {
    /// Adds a link and returns its number; numbers start at 1, 0 is no link.
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
        // Made where it lies: built elsewhere and copied it would wait for its own stores.
        self.ring[self.at] = Link { step: step(), parent };
        self.last
    }

    /// The ring fills from wherever it starts; holes are never read because their numbers were never given.
    #[cold]
    fn grow(&mut self) {
        let (what, nobody) = (CauseWhat::Op, ControllerId::NONE);
        let step = CauseLink { what, who: nobody, source: nobody, at: SimTime::ZERO, root: OpId(0) };
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

    /// Nearest first.
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

    pub(crate) fn clear(&mut self) {
        self.ring.clear();
        self.last = 0;
        self.at = 0;
    }
}
