//! The castable status: which checks fail, remembered until the row changes. Time heals only through due work, which
//! changes the row like anything else, so a remembered status cannot be wrong.

use super::super::{Flow, View};
use super::check::Try;
use crate::rules::{AbilityDef, Check, Mag};
use crate::state::Status;
use crate::{AttributeId, Refusal, SimTime, Target};

/// In a status, beside the bits of the checks: the cost is one number, and just that number is needed and not there.
const JUST_NUMBER: u32 = 1 << 31;
/// The same: a cooldown with the first of its tags runs, and nothing else is wrong.
const JUST_COOLDOWN: u32 = 1 << 30;

impl View<'_> {
    /// The part of a grant's status that follows from its row, remembered or computed.
    pub(crate) fn status_of(&self, slot: usize, grant: usize, def: &AbilityDef) -> Status {
        let row = self.row(slot);
        let seen = row.stamp();
        let known = row.grants[grant].status;
        if known.seen == seen {
            return known;
        }
        let t = self.attempt(slot, grant, def, Target::None);
        let asked = self.cached_checks(def) & def.flags.checks;
        let (mut fails, mut ready_at) = self.failing(&t, asked & !(Check::Cost.bit() | Check::Cooldown.bit()));
        if asked & Check::Cost.bit() != 0
            && let Err(refusal) = self.afford(&t)
        {
            (fails, ready_at) = (fails | Check::Cost.bit(), SimTime::NEVER);
            if let Refusal::Cost { attribute, need, .. } = refusal
                && self.only_number(&t) == Some((attribute, need))
            {
                fails |= JUST_NUMBER;
            }
        }
        if asked & Check::Cooldown.bit() != 0
            && let Err((refusal, heals)) = self.cooled(&t)
        {
            if let Refusal::Cooldown { tag, .. } = refusal
                && fails == 0
                && def.cooldown_tags.first() == Some(&tag)
            {
                fails |= JUST_COOLDOWN;
            }
            (fails, ready_at) = (fails | Check::Cooldown.bit(), ready_at.max(heals));
        }
        Status { seen, fails, ready_at }
    }

    /// What a cost of a single number takes from what.
    fn only_number(&self, t: &Try<'_>) -> Option<(AttributeId, f64)> {
        let def = self.def(t.def.cost?)?;
        match &def.modifiers[..] {
            [m] => {
                if let Mag::Value(v) = m.magnitude {
                    Some((m.attribute, -v))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// What a check said that a current status knows to fail, if that can be told without asking it again.
    pub(super) fn remembered(&self, t: &Try<'_>, check: u32) -> Option<Refusal> {
        const COST: u32 = Check::Cost as u32;
        const COOLDOWN: u32 = Check::Cooldown as u32;
        let (row, grant) = (self.row(t.slot), self.grant(t));
        match check {
            COST if grant.status.fails & JUST_NUMBER != 0 => {
                let (attribute, need) = self.only_number(t)?;
                let have = row.attrs[self.layout(t.slot).slot(attribute)?].current;
                Some(Refusal::Cost { attribute, have, need })
            }
            COOLDOWN if grant.status.fails & JUST_COOLDOWN != 0 => {
                let &tag = t.def.cooldown_tags.first()?;
                Some(Refusal::Cooldown { tag, left: self.left(t.slot, grant.status.ready_at) })
            }
            _ => None,
        }
    }

    /// All checks that need no target: those that fail, and when the last of them heals.
    pub(crate) fn castable_of(&self, slot: usize, grant: usize, def: &AbilityDef) -> (u32, SimTime) {
        let known = self.status_of(slot, grant, def);
        let rest = !self.cached_checks(def) & Check::Condition.bit()
            | !self.cached_checks(def) & Check::Cost.bit()
            | !self.cached_checks(def) & Check::Cooldown.bit();
        let (more, ready) = self.failing(&self.attempt(slot, grant, def, Target::None), rest);
        (known.fails | more, known.ready_at.max(ready))
    }
}

impl Flow<'_> {
    /// Remembers a grant's status for the next try.
    pub(crate) fn refresh(&mut self, slot: usize, grant: usize, def: &AbilityDef) {
        let row = self.row(slot);
        if row.grants[grant].status.seen == row.stamp() {
            return;
        }
        let status = self.view().status_of(slot, grant, def);
        self.st.controllers.row_mut(slot).grants[grant].status = status;
    }
}
