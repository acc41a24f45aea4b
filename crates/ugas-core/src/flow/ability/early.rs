//! Activations that come shortly before the end of a cooldown. The server may keep such a request and run it at that end.

use super::super::View;
use super::check::ActivationAttempt;
use crate::{ControllerId, EffectId, Reason, Refusal, SimTime, Target, Which};

impl View<'_> {
    /// Returns the time at which the last running cooldown of an attempt ends. Returns `None` if the attempt is not
    /// refused, if something other than a cooldown refuses it, or if a cooldown did not begin with a use.
    fn used_cooldowns_end(&self, t: &ActivationAttempt<'_>) -> Option<SimTime> {
        let mut reasons = Vec::new();
        self.every_refusal(t, &mut reasons);
        let mut last = None;
        for Reason { refusal, clears_at } in reasons {
            let is_by_use = if let Refusal::GlobalCooldown { .. } = refusal {
                true
            } else if let Refusal::Charges { .. } = refusal {
                self.is_recharged_by_use(t.slot, t.grant, t.def)
            } else if let Refusal::Cooldown { .. } = refusal {
                self.is_cooling_by_use(t)
            } else {
                false
            };
            last = last.max(Some(clears_at.filter(|_| is_by_use)?));
        }
        last
    }

    /// Returns whether each effect that keeps an ability on cooldown is one that a use of an ability of the controller
    /// applies.
    fn is_cooling_by_use(&self, t: &ActivationAttempt<'_>) -> bool {
        let row = self.row(t.slot);
        let mut effects = self.effects_with(t.slot, &t.def.cooldown_tags);
        effects.all(|e| e.source == row.id && self.is_cooldown_effect(t.slot, e.def))
    }

    /// Returns whether an effect is the cooldown of an ability that is granted to a row.
    fn is_cooldown_effect(&self, slot: usize, effect: EffectId) -> bool {
        let mut grants = self.row(slot).grants.iter();
        grants.any(|g| self.ability(g.ability).is_some_and(|def| def.cooldown == Some(effect)))
    }

    /// Returns the time at which an activation can succeed that only cooldowns prevent. See
    /// [`Remote::cooldowns_end`](crate::Remote::cooldowns_end).
    pub(crate) fn cooldowns_end(&self, who: ControllerId, which: Which, target: Target) -> Option<SimTime> {
        let slot = self.st.controllers.slot(who)?;
        let mut first: Option<SimTime> = None;
        for grant in self.grants_of(slot, which).ok()? {
            let at = self.row(slot).grant(grant)?;
            let def = self.ability(self.row(slot).grants[at].ability)?;
            let t = self.attempt(slot, at, &def, target);
            if self.refusal_of(&t).is_ok() {
                return None;
            }
            let end = self.used_cooldowns_end(&t);
            first = match (first, end) {
                (Some(first), Some(end)) => Some(first.min(end)),
                (first, end) => first.or(end),
            };
        }
        first
    }

    /// Returns whether an effect on a controller is the cooldown of one of its abilities, applied by the controller
    /// itself.
    pub(crate) fn is_own_cooldown(&self, who: ControllerId, effect: EffectId, source: ControllerId) -> bool {
        let slot = self.st.controllers.slot(who);
        source == who && slot.is_some_and(|slot| self.is_cooldown_effect(slot, effect))
    }
}
