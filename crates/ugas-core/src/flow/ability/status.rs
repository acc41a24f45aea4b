//! The castable status: the checks that fail, cached until the row changes. If a check depends on time, the row has a
//! timer for the time at which the check passes. When the timer fires, the row changes, so a cached status is never
//! outdated.

use super::super::{Flow, State, View};
use super::check::ActivationAttempt;
use crate::rules::{AbilityDef, ActivationCheck, Layout, Rules};
use crate::state::{FAILS_BITS, Row, Status};
use crate::{AbilityId, ControllerId, Refusal, SimTime, Target};
use std::sync::Arc;

/// Flag in a status, above the bits of the checks: the cost check fails, and the cost is one fixed number.
const JUST_NUMBER: u32 = 1 << 23;
/// Flag: the cooldown check fails because of the first cooldown tag, and no other check fails.
const JUST_COOLDOWN: u32 = 1 << 22;
/// Flag: the first failing check refuses every activation without a target.
const SURE: u32 = 1 << 21;

const _: () = assert!(ActivationCheck::OutOfRange.bit() < SURE && JUST_NUMBER < 1 << FAILS_BITS);

/// The numbers of the checks whose refusals can be computed without evaluating them.
const COST: u32 = ActivationCheck::Cost as u32;
const COOLDOWN: u32 = ActivationCheck::Cooldown as u32;

/// A grant with a valid status that determines the refusal. Does not need a view. Most attempts end here, because a
/// held or repeatedly pressed key is refused again while nothing changed.
pub(crate) struct CachedRefusal<'a> {
    row: &'a Row,
    status: Status,
    pub(crate) def: &'a AbilityDef,
}

impl<'a> CachedRefusal<'a> {
    /// Returns the grant of an attempt without target if its status determines the refusal, or `None` if the checks
    /// must be evaluated.
    #[inline(always)]
    pub(crate) fn of(
        st: &'a State,
        rules: &'a Rules,
        who: ControllerId,
        ability: AbilityId,
    ) -> Option<CachedRefusal<'a>> {
        let row = st.controllers.get(who)?;
        let status = row.grants.iter().find(|g| g.ability == ability)?.status();
        if status.fails & SURE == 0 || status.seen != row.stamp() {
            return None;
        }
        Some(CachedRefusal { row, status, def: rules.ability_def(ability)? })
    }

    /// Returns the first failing check.
    #[inline(always)]
    pub(crate) fn first(&self) -> u32 {
        self.status.fails.trailing_zeros()
    }

    /// Returns the refusal of a failing check, if the refusal is known without evaluating the check.
    #[inline(always)]
    pub(crate) fn remembered(&self, check: u32, now: SimTime, layouts: &[Arc<Layout>]) -> Option<Refusal> {
        let CachedRefusal { row, status, def } = self;
        match check {
            COST if status.fails & JUST_NUMBER != 0 => {
                let (attribute, need) = def.flags.price?;
                let have = row.attrs[layouts[row.layout as usize].slot(attribute)?].current;
                Some(Refusal::Cost { attribute, have, need })
            }
            COOLDOWN if status.fails & JUST_COOLDOWN != 0 => {
                let left = row.clock.left(now, status.ready_at);
                Some(Refusal::Cooldown { tag: *def.cooldown_tags.first()?, left })
            }
            _ => None,
        }
    }
}

impl View<'_> {
    /// Returns the part of a grant's status that depends on its row, cached or computed.
    pub(crate) fn status_of(&self, slot: usize, grant: usize, def: &AbilityDef) -> Status {
        let row = self.row(slot);
        let seen = row.stamp();
        let known = row.grants[grant].status();
        if known.seen == seen {
            return known;
        }
        let t = self.attempt(slot, grant, def, Target::None);
        let asked = self.cached_checks(def) & def.flags.checks;
        let (mut fails, mut ready_at) =
            self.failing(&t, asked & !(ActivationCheck::Cost.bit() | ActivationCheck::Cooldown.bit()));
        if asked & ActivationCheck::Cost.bit() != 0
            && let Err(refusal) = self.afford(&t)
        {
            (fails, ready_at) = (fails | ActivationCheck::Cost.bit(), SimTime::NEVER);
            if let Refusal::Cost { attribute, need, .. } = refusal
                && def.flags.price == Some((attribute, need))
            {
                fails |= JUST_NUMBER;
            }
        }
        if asked & ActivationCheck::Cooldown.bit() != 0
            && let Err((refusal, clears_at)) = self.cooled(&t)
        {
            if let Refusal::Cooldown { tag, .. } = refusal
                && fails == 0
                && def.cooldown_tags.first() == Some(&tag)
            {
                fails |= JUST_COOLDOWN;
            }
            (fails, ready_at) = (fails | ActivationCheck::Cooldown.bit(), ready_at.max(clears_at));
        }
        if fails != 0 && self.is_sure(&t, fails) {
            fails |= SURE;
        }
        Status { seen, fails, ready_at }
    }

    /// Returns whether the first failing check refuses an activation without target, with no check before it to
    /// evaluate and no other grant to try instead.
    fn is_sure(&self, t: &ActivationAttempt<'_>, fails: u32) -> bool {
        let first = fails & fails.wrapping_neg();
        let unknown = self.asked_without_target(t.def) & !self.cached_checks(t.def);
        let mut same = self.row(t.slot).grants.iter().filter(|g| g.ability == t.def.id);
        unknown & (first - 1) == 0 && same.nth(1).is_none()
    }

    /// Returns the refusal of a failing check if a valid status contains it.
    pub(super) fn remembered(&self, t: &ActivationAttempt<'_>, check: u32) -> Option<Refusal> {
        let cached = CachedRefusal { row: self.row(t.slot), status: self.grant(t).status(), def: t.def };
        cached.remembered(check, self.st.now, &self.ix.layouts)
    }

    /// Evaluates one check for an attempt without target.
    pub(crate) fn refused_by(&self, who: ControllerId, def: &AbilityDef, check: u32) -> Option<Refusal> {
        let slot = self.st.controllers.slot(who)?;
        let grant = self.row(slot).grants.iter().position(|g| g.ability == def.id)?;
        self.refusal_in(&self.attempt(slot, grant, def, Target::None), 1 << check).err()
    }

    /// Evaluates all checks that need no target. Returns the checks that fail, and the time at which all of them pass.
    pub(crate) fn castable_of(&self, slot: usize, grant: usize, def: &AbilityDef) -> (u32, SimTime) {
        let known = self.status_of(slot, grant, def);
        let rest = !self.cached_checks(def) & ActivationCheck::Condition.bit()
            | !self.cached_checks(def) & ActivationCheck::Cost.bit()
            | !self.cached_checks(def) & ActivationCheck::Cooldown.bit();
        let (more, ready) = self.failing(&self.attempt(slot, grant, def, Target::None), rest);
        (known.fails | more, known.ready_at.max(ready))
    }
}

impl Flow<'_> {
    /// Caches a grant's status for the next attempt.
    pub(crate) fn refresh(&mut self, slot: usize, grant: usize, def: &AbilityDef) {
        let row = self.row(slot);
        if row.grants[grant].status().seen == row.stamp() {
            return;
        }
        let status = self.view().status_of(slot, grant, def);
        self.st.controllers.row_mut(slot).grants[grant].set_status(status);
    }
}
