//! The castable status: which checks fail, remembered until the row changes. Time heals only through due work, which
//! changes the row like anything else, so a remembered status cannot be wrong.

use super::super::{Flow, View};
use crate::rules::AbilityDef;
use crate::state::Status;
use crate::{SimTime, Target};

impl View<'_> {
    /// The part of a grant's status that follows from its row, remembered or computed.
    pub(crate) fn status_of(&self, slot: usize, grant: usize, def: &AbilityDef) -> Status {
        let row = self.row(slot);
        let seen = row.published.stamp;
        let known = row.grants[grant].status;
        if known.seen == seen {
            return known;
        }
        let t = self.attempt(slot, grant, def, Target::None);
        let (fails, ready_at) = self.failing(&t, self.cached_checks(def));
        Status { seen, fails, ready_at }
    }

    /// All checks that need no target: those that fail, and when the last of them heals.
    pub(crate) fn castable_of(&self, slot: usize, grant: usize, def: &AbilityDef) -> (u32, SimTime) {
        let known = self.status_of(slot, grant, def);
        let rest = !self.cached_checks(def) & super::check::Check::Condition.bit()
            | !self.cached_checks(def) & super::check::Check::Cost.bit()
            | !self.cached_checks(def) & super::check::Check::Cooldown.bit();
        let (more, ready) = self.failing(&self.attempt(slot, grant, def, Target::None), rest);
        (known.fails | more, known.ready_at.max(ready))
    }
}

impl Flow<'_> {
    /// Remembers a grant's status for the next try.
    pub(crate) fn refresh(&mut self, slot: usize, grant: usize, def: &AbilityDef) {
        let status = self.view().status_of(slot, grant, def);
        self.st.controllers.row_mut(slot).grants[grant].status = status;
    }
}
