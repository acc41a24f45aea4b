//! What triggers an action: the press, the release, a tap, a double tap, and each frame while the input is held. Each
//! trigger tries the abilities that are bound to the input.

use super::super::{Flow, Via};
use crate::flow::ability::ActivationRequest;
use crate::state::{Due, HeldInput, Tap, TimerKind};
use crate::{ActivationKey, FactKind, GrantId, InputId, Refusal, SimTime, Target};
use ugas_doc::TriggerBehavior;

/// The result of a trigger: the activation, or the first refusal.
pub(super) type Triggered = (Option<ActivationKey>, Option<Refusal>);

impl Flow<'_> {
    /// Emits that an action triggered, and tries the abilities that are bound to it. A refused press may be tried later.
    pub(super) fn trigger_input(&mut self, slot: usize, input: InputId, target: Target, origin_id: u64) -> Triggered {
        let who = self.row(slot).id;
        self.emit_trigger(slot, input);
        let refusals = match self.try_bound(slot, input, target, origin_id) {
            Ok(key) => return (Some(key), None),
            Err(refusals) => refusals,
        };
        let Some(&(_, first)) = refusals.first() else { return (None, None) };
        let later = self.try_later(slot, input, target, origin_id, &refusals);
        if let Some(key) = later.filter(|_| self.st.controllers.slot(who).is_some()) {
            return (Some(key), None);
        }
        (None, Some(first))
    }

    pub(super) fn emit_trigger(&mut self, slot: usize, input: InputId) {
        if let Some(behavior) = self.rules.inputs.action(input).map(|a| a.behavior) {
            let who = self.row(slot).id;
            self.fact(who, Via::NOTHING, FactKind::Triggered { input, behavior });
        }
    }

    /// Tries the grants that are bound to an input, until one is activated. Returns the refusals of all of them.
    pub(super) fn try_bound(
        &mut self,
        slot: usize,
        input: InputId,
        target: Target,
        origin_id: u64,
    ) -> Result<ActivationKey, Vec<(GrantId, Refusal)>> {
        let mut refusals = Vec::new();
        let (grants, without_motion) = self.view().bound_grants(slot, input);
        for grant in grants {
            let request = ActivationRequest { target, origin_id, event: None, source: None };
            match self.try_activate(slot, grant, request) {
                Ok(key) => return Ok(key),
                Err(refusal) => refusals.push((grant, refusal)),
            }
        }
        // A grant whose motion did not precede the press counts only if nothing else is bound.
        if refusals.is_empty() {
            refusals.extend(without_motion.map(|(grant, motion)| (grant, Refusal::Motion { motion })));
        }
        Err(refusals)
    }

    /// Triggers what a release triggers.
    pub(super) fn trigger_release(&mut self, slot: usize, was: &HeldInput, held: SimTime) {
        let input = was.input;
        let Some(action) = self.rules.inputs.action(input).cloned().filter(|_| was.is_fresh) else { return };
        let is_tap = held <= action.tap;
        let fires = match action.behavior {
            TriggerBehavior::OnPressed | TriggerBehavior::WhileHeld => false,
            TriggerBehavior::OnReleased => true,
            TriggerBehavior::OnTap => is_tap,
            TriggerBehavior::OnDoubleTap => is_tap && was.is_second,
        };
        if action.behavior == TriggerBehavior::OnDoubleTap && is_tap && !was.is_second {
            self.remember_tap(slot, input, action.double_tap);
        }
        if fires {
            let origin_id = self.cause.root.0;
            self.trigger_input(slot, input, was.target, origin_id);
        }
    }

    /// Remembers a tap, which may become the first of a double tap.
    fn remember_tap(&mut self, slot: usize, input: InputId, window: SimTime) {
        let now = self.st.now;
        let row = self.row_mut(slot);
        let tap = Tap { input, until: row.clock.local(now) + window, seq: row.take_seq() };
        row.schedule(Due::timer(tap.expires_at(), TimerKind::Input, tap.seq));
        let taps = &mut row.play_mut().inputs_mut().taps;
        match taps.binary_search_by_key(&input, |t| t.input) {
            Ok(at) => taps[at] = tap,
            Err(at) => taps.insert(at, tap),
        }
        self.publish(slot);
    }

    /// Takes the tap that a press follows in time.
    pub(super) fn take_tap(&mut self, slot: usize, input: InputId) -> bool {
        let taps = &self.row(slot).play().inputs().taps;
        let Ok(at) = taps.binary_search_by_key(&input, |t| t.input) else { return false };
        let now = self.st.now;
        let row = self.row_mut(slot);
        let tap = row.play_mut().inputs_mut().taps.remove(at);
        row.unschedule(Due::timer(tap.expires_at(), TimerKind::Input, tap.seq));
        row.clock.local(now) <= tap.until
    }
}
