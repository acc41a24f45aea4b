//! Whether an action is live: a pure function of the tags of the row. Nothing is stored, except that a held input whose
//! action is not live is marked as muted, so that the change has consequences once.

use super::super::{Flow, RowEvent, View};
use crate::state::alert;
use crate::{ActionSetId, InputId, Refusal, TagId};

/// Whether an action set is live, or why it is asleep.
///
/// ```
/// assert_ne!(ugas_core::ActionSetState::Live, ugas_core::ActionSetState::Excluded { by: ugas_core::ActionSetId(0) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionSetState {
    /// The set is live.
    Live,
    /// The controller lacks a required tag.
    Requires {
        /// The tag.
        tag: TagId,
    },
    /// The controller has a blocked tag.
    Blocked {
        /// The tag.
        tag: TagId,
    },
    /// A live exclusive set has the same or a higher priority.
    Excluded {
        /// The exclusive set.
        by: ActionSetId,
    },
}

/// Whether an action is live, or why it is not.
///
/// ```
/// assert_eq!(ugas_core::Liveness::Live { set: None }.set(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The action is live.
    Live {
        /// The live set with the highest priority, or `None` for an action in no set.
        set: Option<ActionSetId>,
    },
    /// None of the sets of the action is live.
    Asleep {
        /// The set of the action that has the highest priority.
        set: ActionSetId,
    },
    /// A tag suppresses the action.
    Suppressed {
        /// The tag, which is granted exactly.
        tag: TagId,
    },
}

impl Liveness {
    /// Returns the live set that the action belongs to.
    pub fn set(self) -> Option<ActionSetId> {
        match self {
            Liveness::Live { set } => set,
            Liveness::Asleep { .. } | Liveness::Suppressed { .. } => None,
        }
    }

    /// Returns whether the action is live.
    pub fn is_live(self) -> bool {
        matches!(self, Liveness::Live { .. })
    }

    /// Returns the refusal of a press.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        match self {
            Liveness::Live { .. } => None,
            Liveness::Asleep { set } => Some(Refusal::InputAsleep { set }),
            Liveness::Suppressed { tag } => Some(Refusal::InputSuppressed { tag }),
        }
    }
}

impl View<'_> {
    /// Returns whether an action set is live.
    pub(crate) fn action_set_state(&self, slot: usize, id: ActionSetId) -> ActionSetState {
        if let Some(reason) = self.unmet_tag(slot, id) {
            return reason;
        }
        let Some(set) = self.rules.action_sets.get(id.0) else { return ActionSetState::Live };
        let priority = |other: &ActionSetId| self.rules.action_sets.get(other.0).map_or(i32::MIN, |def| def.priority);
        let excludes =
            |other: &&ActionSetId| priority(other) >= set.priority && self.unmet_tag(slot, **other).is_none();
        match self.rules.inputs.exclusive.iter().find(excludes) {
            // Exclusive sets do not exclude each other.
            Some(&by) if !set.is_exclusive => ActionSetState::Excluded { by },
            _ => ActionSetState::Live,
        }
    }

    /// Returns the tag that keeps an action set asleep.
    fn unmet_tag(&self, slot: usize, id: ActionSetId) -> Option<ActionSetState> {
        let set = self.rules.action_sets.get(id.0)?;
        let missing = set.required.iter().find(|&&tag| !self.has(slot, tag));
        let blocked = || set.blocked.iter().find(|&&tag| self.has(slot, tag));
        missing
            .map(|&tag| ActionSetState::Requires { tag })
            .or_else(|| blocked().map(|&tag| ActionSetState::Blocked { tag }))
    }

    /// Returns whether the action of an input is live.
    pub(crate) fn liveness(&self, slot: usize, input: InputId) -> Liveness {
        let Some(action) = self.rules.inputs.action(input) else { return Liveness::Live { set: None } };
        let row = self.row(slot);
        let is_granted = |tag: &&TagId| row.tags.count(&self.rules.tags, **tag) > 0;
        if let Some(&tag) = action.suppressors.iter().find(is_granted) {
            return Liveness::Suppressed { tag };
        }
        let is_live = |id: &&ActionSetId| self.action_set_state(slot, **id) == ActionSetState::Live;
        match (action.sets.first(), action.sets.iter().find(is_live)) {
            (None, _) => Liveness::Live { set: None },
            (Some(_), Some(&set)) => Liveness::Live { set: Some(set) },
            (Some(&set), None) => Liveness::Asleep { set },
        }
    }
}

impl Flow<'_> {
    /// Returns whether a change of tags may change which inputs of a row are muted.
    #[inline]
    pub(crate) fn may_change_liveness(&self, slot: usize) -> bool {
        !self.rules.inputs.is_empty() && !self.row(slot).play().inputs().held.is_empty()
    }

    /// Mutes the held inputs whose action is no longer live, and unmutes those whose action is live again. A muted input
    /// counts as released, but its release does not trigger. An input that is live again is held, but it does not count
    /// as pressed.
    pub(crate) fn refresh_liveness(&mut self, slot: usize) {
        let who = self.row(slot).id;
        let held: Vec<(InputId, bool)> =
            self.row(slot).play().inputs().held.iter().map(|h| (h.input, h.is_muted)).collect();
        for (input, was_muted) in held {
            let Some(slot) = self.st.controllers.slot(who) else { return };
            let is_muted = !self.view().liveness(slot, input).is_live();
            if is_muted == was_muted {
                continue;
            }
            let now = self.st.now;
            let row = self.row_mut(slot);
            let (local, before) = (row.clock.local(now), row.next_seq);
            let Some(h) = row.play_mut().inputs_mut().held_mut(input) else { continue };
            (h.is_muted, h.retry) = (is_muted, h.retry && !is_muted);
            h.is_fresh &= !is_muted;
            let held = local - h.since;
            if is_muted {
                self.cancel_on_release(slot, input);
                self.notify(slot, alert::INPUT, || RowEvent::Input { input, pressed: false, held, before });
            }
        }
        if let Some(slot) = self.st.controllers.slot(who) {
            self.refresh_frames(slot);
        }
    }
}
