//! Burst cues. A burst is sent for a few ticks and not resent after that. The same burst may arrive twice, from two packets or
//! from a prediction and the server; a ring of the latest ones removes duplicates.

use crate::types::Tick;
use ugas_core::{EffectKey, TagId};

/// A burst cue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// The application; for a cue of an ability the birth is the op at its root.
    pub key: EffectKey,
    /// The cue.
    pub cue: TagId,
    /// The number of this burst of the cue and application.
    pub ordinal: u32,
    /// Its hit position, rounded to 1/64.
    pub place: Option<[f64; 3]>,
    /// Its tick.
    pub at: Tick,
}

/// How many applications the server counts per controller.
const COUNTED: usize = 32;
/// How many bursts of one controller a client keeps: fewer than are counted, so that a restarted count is not taken for an old
/// burst.
const REMEMBERED: usize = 16;

/// Numbers the bursts of one controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    /// The latest one is last.
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

    /// Restarts the count.
    pub(super) fn forget(&mut self, key: EffectKey, cue: TagId) {
        self.list.retain(|&(k, c, _)| (k, c) != (key, cue));
    }
}

/// The latest bursts of one controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    list: Vec<(EffectKey, TagId, u32)>,
    next: usize,
}

impl Ring {
    /// Records a burst. Returns whether it is new.
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

    /// Forgets the bursts of a cue and application.
    pub(super) fn forget(&mut self, key: EffectKey, cue: TagId) {
        let unknown = (EffectKey::NONE, cue, u32::MAX);
        self.list.iter_mut().filter(|b| (b.0, b.1) == (key, cue)).for_each(|b| *b = unknown);
    }
}
