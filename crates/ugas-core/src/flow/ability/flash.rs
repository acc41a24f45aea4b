//! Flash: the shortest way through an activation. An ability that pays, starts its cooldown and is over in the same
//! moment leaves nothing that waits, so nothing is put into the row to be taken out again. It tells and changes exactly
//! what the long way would; where anything could matter it steps aside.

use super::super::{Flow, Via};
use super::activate::ActivationRequest;
use super::check::ActivationAttempt;
use crate::state::{CauseWhat, alert};
use crate::{ActivationKey, EffectId, FactKind};

impl Flow<'_> {
    /// Runs an activation whose checks just passed, from its start to its end; `None`, with nothing changed, where the
    /// long way has to be taken.
    pub(super) fn flash(
        &mut self,
        t: &ActivationAttempt<'_>,
        request: &ActivationRequest<'_>,
    ) -> Option<ActivationKey> {
        let (slot, def) = (t.slot, t.def);
        if !self.may_flash(t) {
            return None;
        }
        let ordinal = self.number(slot, request.birth);
        let row = self.row_mut(slot);
        row.next_seq += 1;
        let (who, grant) = (row.id, row.grants[t.grant].id);
        let key = ActivationKey { birth: request.birth, who, ordinal };
        let source = request.source.unwrap_or(who);
        let cause = self.because(CauseWhat::Activated(def.id), who, source);
        for (position, effect) in [def.cost, def.cooldown].into_iter().enumerate() {
            let Some(effect) = effect else { continue };
            let spec = self.view().own_spec(t, effect);
            let applied = self.apply(&spec, self.birth_of_part(key, position));
            debug_assert!(applied.is_ok(), "the checks passed and nothing changed since: {applied:?}");
        }
        let (ability, level, activation) = (def.id, t.level, key);
        self.fact(who, Via::NOTHING, FactKind::AbilityActivated { ability, grant, level, activation });
        self.because(CauseWhat::Ended(ability), who, who);
        let (cancelled, interrupted) = (false, false);
        self.fact(who, Via::NOTHING, FactKind::AbilityEnded { ability, grant, activation, cancelled, interrupted });
        self.cause = cause;
        Some(key)
    }

    /// Whether nothing but the cost, the cooldown and the two facts can come of it.
    fn may_flash(&self, t: &ActivationAttempt<'_>) -> bool {
        let row = self.row(t.slot);
        let effects = [t.def.cost, t.def.cooldown];
        let plain = |effect: EffectId| self.def(effect).is_some_and(|d| d.simple);
        t.def.flags.momentary
            && !self.log.tracing
            && self.journals.is_empty()
            && self.replay.is_none()
            && !self.rules.hooks.any()
            && row.alert & alert::ABILITY == 0
            && row.play().activations.is_empty()
            && self.rules.code_of(t.def.id).is_none()
            && effects.into_iter().flatten().all(plain)
            && t.def.cooldown.and_then(|e| self.def(e)).is_none_or(|d| self.check_room(t.slot, &d).is_ok())
            && self.view().is_free_of_cost_rules(t)
    }
}
