//! Handles casts whose target is lost. A target is lost when it dies, is removed, leaves the range or fails the
//! ability's target tag checks. The index of targets is derived from the rows, and contains only casts that end when
//! their target is lost and whose target is another controller.

use super::super::Flow;
use super::super::ability::{ActivationAttempt, EndHow};
use crate::rules::ActivationCheck;
use crate::{CastStep, ControllerId, Role, Target};
use ugas_doc::OnTargetLost;

impl Flow<'_> {
    /// Updates the index of targets from a row's cast.
    pub(crate) fn refresh_aim(&mut self, slot: usize) {
        let who = self.row(slot).id;
        let (old, new) = (self.ix.aim_of(who), self.aim_that_counts(slot));
        if old == new {
            return;
        }
        self.ix.set_aim(who, new);
        for other in [old, new].into_iter().flatten() {
            if let Some(at) = self.st.controllers.slot(other) {
                self.refresh_listeners(at);
            }
        }
    }

    /// Returns the target of a row's cast, if the target is another controller and the loss of the target would end the
    /// cast.
    fn aim_that_counts(&self, slot: usize) -> Option<ControllerId> {
        let row = self.row(slot);
        let a = row.play().activation(row.play().cast.as_ref()?.of)?;
        match a.target {
            Target::Controller(other) if other != row.id => {
                self.ability(a.ability).is_some_and(|d| d.needs_living_target()).then_some(other)
            }
            Target::Controller(_) | Target::Point(_) | Target::None => None,
        }
    }

    /// Checks the casts that target a controller, after the controller died, moved, was removed or its tags changed.
    pub(crate) fn check_casters_at(&mut self, who: ControllerId) {
        let casters: Vec<ControllerId> = self.ix.casters_at(who).collect();
        for caster in casters {
            if let Some(slot) = self.st.controllers.slot(caster) {
                self.check_own_target(slot);
            }
        }
    }

    /// Ends a row's cast if its target is lost. In a replay, the journal decides instead.
    pub(crate) fn check_own_target(&mut self, slot: usize) {
        let Some(cast) = self.row(slot).play().cast.as_ref().map(|c| c.seq) else { return };
        if self.replay.is_none() && self.has_lost_target(slot) {
            let who = self.row(slot).id;
            self.journal_target_lost(who, cast);
            self.journal_reaction(who);
            self.lose_target(slot, cast);
        }
    }

    /// Returns whether the target of a row's cast fails the target checks of an activation.
    fn has_lost_target(&self, slot: usize) -> bool {
        let (row, view) = (self.row(slot), self.view());
        let running = row.play().cast.as_ref().and_then(|c| row.play().activation(c.of));
        let Some(a) = running.filter(|a| a.target != Target::None) else { return false };
        let Some(def) = self.ability(a.ability).filter(|d| d.needs_living_target()) else { return false };
        let Some(grant) = row.grant(a.grant) else { return false };
        let range = def.cast_range();
        if self.work.role == Role::Client {
            // A client may not know the target or its position; then the server decides.
            let there = !matches!(a.target, Target::Controller(c) if self.st.controllers.get(c).is_none());
            let placed = range.is_none() || view.distance_to(slot, a.target).is_some();
            if !there || !placed {
                return false;
            }
        }
        let t =
            ActivationAttempt { level: a.level, source: a.source, range, ..view.attempt(slot, grant, &def, a.target) };
        view.refusal_among(&t, &[ActivationCheck::TargetTags, ActivationCheck::NoTarget, ActivationCheck::OutOfRange])
            .is_err()
    }

    /// Applies the ability's rule for a lost target to a cast.
    pub(crate) fn lose_target(&mut self, slot: usize, cast: u64) {
        let row = self.row(slot);
        let Some(of) = row.play().cast.as_ref().filter(|c| c.seq == cast).map(|c| c.of) else { return };
        let rule = row.play().activation(of).and_then(|a| self.ability(a.ability)?.cast).map(|c| c.on_target_lost);
        match rule {
            Some(OnTargetLost::Cancel) => self.finish(slot, of, EndHow::Cancelled),
            Some(OnTargetLost::Complete) => {
                self.stop_cast(slot, of, CastStep::Finished);
                self.maybe_done(slot, of);
            }
            Some(OnTargetLost::Continue) | None => {}
        }
    }

    /// Handles a change of position: cancels a cast that movement interrupts and checks the targets of casts.
    pub(crate) fn position_changed(&mut self, slot: usize) {
        let who = self.row(slot).id;
        if let Some(of) = self.row(slot).play().cast.as_ref().map(|c| c.of) {
            self.cancel_where(slot, |flow, a| {
                a.seq == of && flow.ability(a.ability).is_some_and(|d| d.cast.is_some_and(|c| c.still))
            });
            self.check_own_target(slot);
        }
        self.check_casters_at(who);
    }
}
