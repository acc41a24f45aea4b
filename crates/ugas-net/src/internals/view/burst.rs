//! Cues that play once. They are not kept: a burst is sent for a few ticks and lost with its packets. The same burst may
//! come twice, from two packets or from a prediction and the server; a ring of the last ones tells them apart.

use crate::types::Tick;
use ugas_core::{EffectKey, TagId};

/// A cue that plays once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Through which application; of an ability's cue the birth is the op at its root.
    pub key: EffectKey,
    /// Which cue.
    pub cue: TagId,
    /// Counts the bursts of this cue through this application.
    pub ordinal: u32,
    /// Where, if it has a place of its own; rounded to 1/64.
    pub place: Option<[f64; 3]>,
    /// In which tick it happened.
    pub at: Tick,
}

/// How many applications the server counts on one controller; the oldest is forgotten.
const COUNTED: usize = 32;
/// How many bursts of one controller a client remembers: fewer than are counted, so that a count that starts anew is not
/// taken for an old burst.
const REMEMBERED: usize = 16;

/// Numbers the bursts of one controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    /// The latest used last.
    list: Vec<(EffectKey, TagId, u32)>,
}

impl Counter {
    pub(super) fn next(&mut self, key: EffectKey, cue: TagId) -> u32 {
        let found = self.list.iter().position(|&(k, c, _)| (k, c) == (key, cue));
        let ordinal = match found {
            Some(at) => self.list.remove(at).2.wrapping_add(1),
            None => 0,
        };
        if self.list.len() >= COUNTED {
            self.list.remove(0);
        }
        self.list.push((key, cue, ordinal));
        ordinal
    }

    /// Counts from the start again.
    pub(super) fn forget(&mut self, key: EffectKey, cue: TagId) {
        self.list.retain(|&(k, c, _)| (k, c) != (key, cue));
    }
}

/// The last bursts of one controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    list: Vec<(EffectKey, TagId, u32)>,
    next: usize,
}

impl Ring {
    /// Whether a burst is new; it is known from now on.
    pub(super) fn is_new(&mut self, name: (EffectKey, TagId, u32)) -> bool {
        if self.list.contains(&name) {
            return false;
        }
        match self.list.get_mut(self.next) {
            Some(old) => *old = name,
            None => self.list.push(name),
        }
        self.next = (self.next + 1) % REMEMBERED;
        true
    }

    /// Bursts of a cue through an application are new again.
    pub(super) fn forget(&mut self, key: EffectKey, cue: TagId) {
        let unknown = (EffectKey::NONE, cue, u32::MAX);
        self.list.iter_mut().filter(|b| (b.0, b.1) == (key, cue)).for_each(|b| *b = unknown);
    }
}
