//! Asynchronous validation: an activation that passed its checks waits for the host's answer before it pays its cost.

use super::super::{Flow, RollSource, Via};
use super::EndHow;
use super::state::AbilityTransition;
use crate::fact::{ParamValue, put_param};
use crate::rules::AbilityDef;
use crate::state::{Due, TimerKind};
use crate::{AbilityState, ControllerId, FactKind, Refusal, Role, SimTime, Span, TaskKey, Which};

impl Flow<'_> {
    /// Suspends an activation until the host answers, at most until `deadline`.
    pub(super) fn request_validation(
        &mut self,
        slot: usize,
        seq: u64,
        deadline: SimTime,
        def: &AbilityDef,
        from: AbilityState,
    ) {
        let who = self.row(slot).id;
        let Some(grant) = self.row(slot).play().activation(seq).map(|a| a.grant) else { return };
        let state = self.step_ability(who, (def.id, grant), from, AbilityTransition::Ask);
        let row = self.row_mut(slot);
        if let Some(a) = row.play_mut().activation_mut(seq) {
            (a.state, a.deadline) = (state, deadline);
        }
        if deadline != SimTime::NEVER {
            row.schedule(Due::timer(deadline, TimerKind::Validation, seq));
        }
        if let Some(task) = self.rules.find_task_kind("Validate") {
            let task_key = TaskKey { seq, who };
            let detail = self.encode_request(def);
            let via = Via { source: who, ..Via::NOTHING };
            self.fact(who, via, FactKind::TaskRequest { ability: def.id, task, task_key, detail });
        }
        self.refresh_listeners(slot);
        self.publish(slot);
    }

    /// Encodes the request to the host: the kind of validation and its timeout.
    fn encode_request(&mut self, def: &AbilityDef) -> Span {
        let Some(v) = &def.validation else { return Span::default() };
        let mut bytes = Vec::new();
        if !v.kind.is_empty() {
            put_param(&mut bytes, "Kind", ParamValue::Text(&v.kind));
        }
        if v.timeout != SimTime::NEVER {
            put_param(&mut bytes, "Timeout", ParamValue::Number(v.timeout.as_seconds()));
        }
        self.log.keep(&bytes)
    }

    /// Handles the host's answer to a request. `seq` identifies the waiting activation.
    pub(crate) fn answer_validation(&mut self, slot: usize, seq: u64, ok: bool) -> Result<(), Refusal> {
        let pending = |a: &crate::state::Activation| a.state == AbilityState::PendingConfirmation;
        if !self.row(slot).play().activation(seq).is_some_and(pending) {
            return Err(Refusal::StaleHandle);
        }
        self.validate(slot, seq, ok);
        Ok(())
    }

    /// Handles the host's answer, given as an op. An answer that is too late changes nothing.
    pub(crate) fn validate_op(&mut self, who: ControllerId, which: Which, ok: bool) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        for seq in self.running(slot, which)? {
            self.validate(slot, seq, ok);
        }
        Ok(())
    }

    fn validate(&mut self, slot: usize, seq: u64, ok: bool) {
        let row = self.row(slot);
        let waits = |a: &&crate::state::Activation| a.state == AbilityState::PendingConfirmation;
        let Some(a) = row.play().activation(seq).filter(waits) else { return };
        let (who, ids, deadline) = (row.id, (a.ability, a.grant), a.deadline);
        let Some(def) = self.ability(ids.0).filter(|_| ok) else { return self.finish(slot, seq, EndHow::Cancelled) };
        if deadline != SimTime::NEVER {
            self.row_mut(slot).unschedule(Due::timer(deadline, TimerKind::Validation, seq));
        }
        let state = self.step_ability(who, ids, AbilityState::PendingConfirmation, AbilityTransition::Pass);
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            (a.state, a.deadline) = (state, SimTime::NEVER);
        }
        if let Err(refusal) = self.recheck_activation(slot, seq, &def) {
            self.drop_activation(slot, seq);
            self.fail(who, ids, state, refusal);
            return;
        }
        // With `Validation.Predicted`, the client activated when it sent the request: cooldowns start at that time, and
        // the changes have the client's command as their root, so that they are the changes that the client predicted.
        let is_predicted = self.work.role != Role::Standalone && def.validation.as_ref().is_some_and(|v| v.predicted);
        let asked = self.row(slot).play().activation(seq).map(|a| (a.start, a.root, a.origin_id, a.ordinal));
        let (cause, roll) = (self.cause, self.roll);
        if let (true, Some((asked, root, origin_id, ordinal))) = (is_predicted, asked) {
            self.back_dated_by = self.row(slot).clock.local(self.st.now) - asked;
            self.cause.root = root;
            self.roll = RollSource::of_op(root);
            // The applications continue the numbering of the command.
            self.row_mut(slot).last_origin_id = (origin_id, ordinal, root.0 as u32);
        }
        // A refused commit has removed the activation and reported the reason.
        let _ = self.launch(slot, seq, &def);
        (self.back_dated_by, self.cause, self.roll) = (SimTime::ZERO, cause, roll);
    }

    /// Handles the timeout of a validation.
    pub(crate) fn validation_due(&mut self, slot: usize, seq: u64) {
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            a.deadline = SimTime::NEVER;
        }
        self.validate(slot, seq, false);
    }
}
