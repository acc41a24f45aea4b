//! Burst cues. A burst is sent for a few ticks and not resent after that. A client may get the same burst twice: in two
//! packets, or once from its own prediction and once from the server. It compares each burst with the latest bursts and
//! drops duplicates.

use crate::types::Tick;
use ugas_core::{EffectKey, TagId};

/// A burst cue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// The key of the effect application. For a cue of an ability, the origin id of the key is the id of the op that
    /// caused the cue.
    pub key: EffectKey,
    /// The cue.
    pub cue: TagId,
    /// The ordinal of this burst among the bursts of the same cue and application.
    pub ordinal: u32,
    /// Its hit position, rounded to 1/64 of a unit.
    pub position: Option<[f64; 3]>,
    /// The tick of the burst.
    pub at: Tick,
}

/// How many applications the server counts per controller.
const COUNTED_BURSTS: usize = 32;
/// How many bursts of one controller a client keeps: fewer than the server counts, so that a burst after a restarted
/// count is not taken for an old one.
const KEPT_BURSTS: usize = 16;

/// Numbers the bursts of one controller.
#[derive(Clone, Debug, Default)]
pub(super) struct BurstCounter {
    /// The latest one is last.
    list: Vec<(EffectKey, TagId, u32)>,
}

impl BurstCounter {
    pub(super) fn next(&mut self, key: EffectKey, cue: TagId) -> u32 {
        let found = self.list.iter().position(|&(k, c, _)| (k, c) == (key, cue));
        let ordinal = match found {
            Some(at) => self.list.remove(at).2.wrapping_add(1),
            None => 0,
        };
        if self.list.len() >= COUNTED_BURSTS {
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
pub(super) struct RecentBursts {
    list: Vec<(EffectKey, TagId, u32)>,
    next: usize,
}

impl RecentBursts {
    /// Records a burst. Returns whether it is new.
    pub(super) fn is_new(&mut self, name: (EffectKey, TagId, u32)) -> bool {
        if self.list.contains(&name) {
            return false;
        }
        match self.list.get_mut(self.next) {
            Some(old) => *old = name,
            None => self.list.push(name),
        }
        self.next = (self.next + 1) % KEPT_BURSTS;
        true
    }

    /// Forgets the bursts of a cue and application.
    pub(super) fn forget(&mut self, key: EffectKey, cue: TagId) {
        let unknown = (EffectKey::NONE, cue, u32::MAX);
        self.list.iter_mut().filter(|b| (b.0, b.1) == (key, cue)).for_each(|b| *b = unknown);
    }
}
