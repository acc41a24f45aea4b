//! What is repeated at each frame while an input is held: actions that trigger while held, automatic abilities, and
//! abilities that could not be activated at the press.

use super::super::{Flow, child_origin_id};
use crate::flow::ability::ActivationRequest;
use crate::rules::AbilityDef;
use crate::state::{CauseWhat, HeldInput};
use crate::{EffectKey, GrantId, InputId};
use ugas_doc::TriggerBehavior;

/// Marks the origin id of a retry of a held input.
const RETRY: u64 = 32;

impl Flow<'_> {
    /// Returns whether a row has held inputs with work at each frame.
    pub(crate) fn has_held_work(&self, slot: usize) -> bool {
        self.row(slot).play().inputs().held.iter().any(|h| self.repeats(slot, h))
    }

    fn repeats(&self, slot: usize, h: &HeldInput) -> bool {
        !h.is_muted
            && (h.retry
                || self.triggers_while_held(h.input)
                || h.repeats && self.has_bound(slot, h.input, |def| def.automatic))
    }

    fn triggers_while_held(&self, input: InputId) -> bool {
        self.rules.inputs.action(input).is_some_and(|a| a.behavior == TriggerBehavior::WhileHeld)
    }

    /// Returns whether a grant is bound to an input, and its ability is one of those meant.
    pub(super) fn has_bound(&self, slot: usize, input: InputId, is_meant: impl Fn(&AbilityDef) -> bool) -> bool {
        let grants = self.row(slot).grants.iter();
        input != InputId::NONE
            && grants.filter(|g| g.input() == input).any(|g| self.ability(g.ability).is_some_and(|d| is_meant(&d)))
    }

    /// Schedules a retry at each frame if the input has an ability that activates while held.
    pub(super) fn schedule_retry(&mut self, slot: usize, input: InputId) -> bool {
        let is_held = self.has_bound(slot, input, |def| def.held);
        if is_held && let Some(h) = self.row_mut(slot).play_mut().inputs_mut().held_mut(input) {
            h.retry = true;
            self.refresh_frames(slot);
            return true;
        }
        false
    }

    /// Ends the repetition of automatic abilities of other inputs, if an ability is bound to the pressed input.
    pub(super) fn end_other_repetitions(&mut self, slot: usize, input: InputId) {
        let is_repeated = |h: &HeldInput| h.input != input && h.repeats;
        let inputs = self.row(slot).play().inputs();
        if !inputs.held.iter().any(is_repeated) || !self.has_bound(slot, input, |_| true) {
            return;
        }
        for h in &mut self.row_mut(slot).play_mut().inputs_mut().held {
            h.repeats &= h.input == input;
        }
    }

    /// Repeats the held inputs of a row, in order of input id. Part of the frame work.
    pub(crate) fn repeat_held(&mut self, slot: usize) {
        let who = self.row(slot).id;
        let held: Vec<HeldInput> =
            self.row(slot).play().inputs().held.iter().filter(|h| self.repeats(slot, h)).copied().collect();
        for HeldInput { input, target, retry, repeats, .. } in held {
            let Some(slot) = self.st.controllers.slot(who) else { return };
            let is_muted = |h: &HeldInput| h.input == input && h.is_muted;
            if self.row(slot).play().inputs().held.iter().any(is_muted) {
                continue;
            }
            let cause = self.because(CauseWhat::Pressed(input), who, who);
            // A retry has no op, so time and input identify it.
            let key = EffectKey { origin_id: self.st.now.0 as u64, target: who, ordinal: input.0 };
            let origin_id = child_origin_id(key, RETRY, 0, 0);
            let is_triggered = self.triggers_while_held(input);
            if is_triggered {
                self.emit_trigger(slot, input);
            }
            // A queued press pauses automatic abilities.
            let is_paused = self.row(slot).play().inputs().queued.is_some();
            let is_meant =
                |def: &AbilityDef| is_triggered || retry && def.held || repeats && def.automatic && !is_paused;
            let grants = self.view().bound_grants(slot, input).0;
            let meant = |g: &GrantId| {
                let at = self.row(slot).grant(*g);
                let def = at.and_then(|at| self.ability(self.row(slot).grants[at].ability));
                def.is_some_and(|def| is_meant(&def)) && self.starts_here(slot, *g)
            };
            let grants: Vec<GrantId> = grants.into_iter().filter(meant).collect();
            let request = ActivationRequest { target, origin_id, event: None, source: None };
            let is_done = grants.into_iter().any(|g| self.try_activate(slot, g, request).is_ok());
            self.cause = cause;
            let Some(slot) = self.st.controllers.slot(who) else { return };
            if is_done {
                self.forget_buffered(slot, input);
                if let Some(h) = self.row_mut(slot).play_mut().inputs_mut().held_mut(input) {
                    h.retry = false;
                }
                self.row_mut(slot).trim();
                self.refresh_frames(slot);
            }
        }
    }
}
