//! The fast path of an activation. An ability that pays, starts its cooldown and ends immediately needs no activation
//! record in the row. The fast path writes the same state and emits the same facts as the slow path. If the activation
//! needs any other step, the fast path changes nothing and the slow path runs.

use super::super::{Flow, Via};
use super::activate::ActivationRequest;
use super::check::ActivationAttempt;
use crate::state::{CauseWhat, alert};
use crate::{ActivationKey, EffectId, FactKind};

impl Flow<'_> {
    /// Runs an activation whose checks passed, from start to end. Returns `None`, with nothing changed, if the slow
    /// path is needed.
    pub(super) fn activate_fast(
        &mut self,
        t: &ActivationAttempt<'_>,
        request: &ActivationRequest<'_>,
    ) -> Option<ActivationKey> {
        let (slot, def) = (t.slot, t.def);
        if !self.can_activate_fast(t) {
            return None;
        }
        let ordinal = self.number(slot, request.origin_id);
        let row = self.row_mut(slot);
        row.next_seq += 1;
        let (who, grant) = (row.id, row.grants[t.grant].id);
        let key = ActivationKey { origin_id: request.origin_id, who, ordinal };
        let source = request.source.unwrap_or(who);
        let cause = self.because(CauseWhat::Activated(def.id), who, source);
        for (position, effect) in [def.cost, def.cooldown].into_iter().enumerate() {
            let Some(effect) = effect else { continue };
            let spec = self.view().own_spec(t, effect);
            let applied = self.apply(&spec, self.part_origin_id(key, position));
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

    /// Returns whether the only consequences of the activation are the cost, the cooldown and its two facts.
    fn can_activate_fast(&self, t: &ActivationAttempt<'_>) -> bool {
        let row = self.row(t.slot);
        let effects = [t.def.cost, t.def.cooldown];
        let plain = |effect: EffectId| self.def(effect).is_some_and(|d| d.simple);
        self.fast
            && t.def.flags.ends_at_once
            && row.alert & alert::ABILITY == 0
            && row.play().activations.is_empty()
            && self.rules.code_of(t.def.id).is_none()
            && effects.into_iter().flatten().all(plain)
            && t.def.cooldown.and_then(|e| self.def(e)).is_none_or(|d| self.check_room(t.slot, &d).is_ok())
            && self.view().is_free_of_cost_rules(t)
    }
}
