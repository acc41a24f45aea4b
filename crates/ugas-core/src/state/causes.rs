//! Cause links: a bounded ring from which the chain behind a fact is walked back. Old links fall out; the root op
//! stays in every fact.

use crate::{ControllerId, EffectId, OpId, SimTime};

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
}

/// One step of a cause chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseLink {
    /// What it stands for.
    pub what: CauseWhat,
    /// On whom.
    pub who: ControllerId,
    /// Through whom.
    pub source: ControllerId,
    /// When.
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
    next: u32,
}

impl Causes {
    /// Adds a link and returns its number; numbers start at 1, 0 is no link.
    #[inline]
    pub(crate) fn push(&mut self, limit: u32, step: CauseLink, parent: u32) -> u32 {
        let link = Link { step, parent };
        self.next = self.next.wrapping_add(1).max(1);
        let at = (self.next % limit.max(1)) as usize;
        if at < self.ring.len() {
            self.ring[at] = link;
        } else {
            // The ring fills from wherever it starts; holes are never read because their numbers were never given.
            while self.ring.len() < at {
                self.ring.push(link);
            }
            self.ring.push(link);
        }
        self.next
    }

    fn get(&self, limit: u32, number: u32) -> Option<&Link> {
        let age = self.next.wrapping_sub(number);
        if number == 0 || age >= limit.max(1) { None } else { self.ring.get((number % limit.max(1)) as usize) }
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
        self.next = 0;
    }
}
