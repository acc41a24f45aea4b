//! Presses that are tried later. A refused press is queued if a cast or a global cooldown ends soon; otherwise it may
//! cancel the cast; otherwise it may be buffered. What one of the three takes, the next one does not get.
//!
//! Queued and buffered presses are tried in the last phase of a time at which something ended that may have refused them.

use super::super::{AbilityEvent, Flow, RollSource, RowEvent, Via, child_origin_id};
use crate::flow::EndHow;
use crate::flow::ability::ActivationRequest;
use crate::rules::BufferDef;
use crate::state::{BufferedPress, CauseWhat, Due, QueuedPress, TimerKind, alert};
use crate::{
    ActivationKey, BufferStep, Cause, ControllerId, EffectKey, FactKind, GrantId, InputId, Refusal, SimTime, Target,
};

/// Marks the origin id of an activation by a queued or buffered press.
const WAITED: u64 = 34;

/// Returns whether a refusal can pass while the row changes alone, so that a buffered press may succeed later.
fn may_pass(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::AlreadyActive { .. }
            | Refusal::RequiredTags { .. }
            | Refusal::BlockedTags { .. }
            | Refusal::BlockedByTags { .. }
            | Refusal::Group { .. }
            | Refusal::Query
            | Refusal::BlockedByAbility { .. }
            | Refusal::Restricted { .. }
            | Refusal::Casting { .. }
            | Refusal::GlobalCooldown { .. }
            | Refusal::Charges { .. }
            | Refusal::Cooldown { .. }
    )
}

impl Flow<'_> {
    /// Decides what happens to a refused press. Returns the activation, if the press succeeded after it cancelled a cast.
    pub(super) fn try_later(
        &mut self,
        slot: usize,
        input: InputId,
        target: Target,
        origin_id: u64,
        refusals: &[(GrantId, Refusal)],
    ) -> Option<ActivationKey> {
        if self.queue(slot, input, target, refusals) {
            return None;
        }
        let is_casting = refusals.iter().any(|(_, r)| matches!(r, Refusal::Casting { .. }));
        if is_casting && self.cancel_on_input(slot) {
            return self.try_bound(slot, input, target, origin_id).ok();
        }
        if !self.schedule_retry(slot, input) && refusals.iter().any(|(_, r)| may_pass(r)) {
            self.buffer(slot, input, target);
        }
        None
    }

    /// Queues a press, if a cast or a global cooldown that refused it ends within the queue window of its ability.
    fn queue(&mut self, slot: usize, input: InputId, target: Target, refusals: &[(GrantId, Refusal)]) -> bool {
        let queues = |&(grant, refusal): &(GrantId, Refusal)| {
            let is_after_cast = matches!(refusal, Refusal::Casting { .. });
            if !is_after_cast && !matches!(refusal, Refusal::GlobalCooldown { .. }) {
                return None;
            }
            let left = refusal.remaining()?;
            let at = self.row(slot).grant(grant)?;
            let window = self.ability(self.row(slot).grants[at].ability)?.queue_window;
            (window > SimTime::ZERO && left <= window).then_some((grant, is_after_cast))
        };
        let Some((grant, is_after_cast)) = refusals.iter().find_map(queues) else { return false };
        let (who, root) = (self.row(slot).id, self.cause.root);
        let press = QueuedPress { input, grant, target, is_after_cast, root };
        let old = self.row_mut(slot).play_mut().inputs_mut().queued.replace(press);
        if let Some(old) = old {
            self.emit_buffered(who, old.input, BufferStep::Overflow);
        }
        self.emit_buffered(who, input, BufferStep::Queued);
        true
    }

    /// Cancels a cast that a press may cancel.
    fn cancel_on_input(&mut self, slot: usize) -> bool {
        let Some(of) = self.row(slot).play().cast.as_ref().map(|c| c.of) else { return false };
        let ability = self.row(slot).play().activation(of).map(|a| a.ability);
        let cast = ability.and_then(|a| self.ability(a)).and_then(|def| def.cast);
        let cancels = cast.is_some_and(|c| c.cancel_on_input);
        if cancels {
            self.finish(slot, of, EndHow::Cancelled);
        }
        cancels
    }

    /// Buffers a press, if the buffer of the live set of its action is on.
    fn buffer(&mut self, slot: usize, input: InputId, target: Target) {
        let set = self.view().liveness(slot, input).set();
        let set = set.and_then(|id| self.rules.action_sets.get(id.0));
        let buffer = set.map_or_else(|| self.rules.inputs.buffer(), |set| set.buffer);
        let Some(BufferDef { window, size }) = buffer else { return };
        while self.row(slot).play().inputs().buffered.len() >= size as usize {
            self.drop_buffered(slot, 0, BufferStep::Overflow);
        }
        let (now, root) = (self.st.now, self.cause.root);
        let row = self.row_mut(slot);
        let press = BufferedPress { input, target, until: row.clock.local(now) + window, seq: row.take_seq(), root };
        row.play_mut().inputs_mut().buffered.push(press);
        row.schedule(Due::timer(press.until, TimerKind::Input, press.seq));
        let who = row.id;
        self.emit_buffered(who, input, BufferStep::Stored);
        self.publish(slot);
    }

    fn emit_buffered(&mut self, who: ControllerId, input: InputId, step: BufferStep) {
        self.fact(who, Via::NOTHING, FactKind::Buffered { input, step });
    }

    /// Removes a buffered press.
    fn drop_buffered(&mut self, slot: usize, at: usize, step: BufferStep) {
        let row = self.row_mut(slot);
        let press = row.play_mut().inputs_mut().buffered.remove(at);
        row.unschedule(Due::timer(press.until, TimerKind::Input, press.seq));
        row.trim();
        let who = row.id;
        self.emit_buffered(who, press.input, step);
    }

    /// Removes the buffered presses of an input that was used.
    pub(super) fn forget_buffered(&mut self, slot: usize, input: InputId) {
        while let Some(at) = self.row(slot).play().inputs().buffered.iter().position(|b| b.input == input) {
            self.drop_buffered(slot, at, BufferStep::Overflow);
        }
    }

    /// Removes a buffered press or a tap that got too old.
    pub(crate) fn input_due(&mut self, slot: usize, seq: u64) {
        if let Some(at) = self.row(slot).play().inputs().buffered.iter().position(|b| b.seq == seq) {
            return self.drop_buffered(slot, at, BufferStep::Expired);
        }
        let row = self.row_mut(slot);
        row.play_mut().inputs_mut().taps.retain(|t| t.seq != seq);
        row.trim();
    }

    /// Returns the events that a row must report because of its inputs.
    pub(crate) fn input_alerts(&self, slot: usize) -> u8 {
        let inputs = self.row(slot).play().inputs();
        let held = if self.may_change_liveness(slot) { alert::TAG } else { 0 };
        let waits = alert::TAG | alert::ABILITY | alert::EFFECT;
        held | if inputs.is_waiting() { waits } else { 0 }
    }

    /// Updates the events that a row must report after its inputs changed.
    pub(super) fn refresh_input_listeners(&mut self, slot: usize) {
        let row = self.row(slot);
        if row.alert & self.input_alerts(slot) != self.input_alerts(slot) {
            self.refresh_listeners(slot);
        } else if self.has_held_work(slot) {
            self.refresh_frames(slot);
        }
    }

    /// Requests that waiting presses are tried, if an event may have ended what refused them.
    #[inline]
    pub(crate) fn wake_waiting_inputs(&mut self, slot: usize, event: &RowEvent) {
        if !self.row(slot).play().inputs().is_waiting() {
            return;
        }
        let may_end = match event {
            RowEvent::Tag { .. } | RowEvent::Freed | RowEvent::Resumed => true,
            RowEvent::Effect { applied, .. } => !applied,
            RowEvent::Ability { change, .. } => matches!(change, AbilityEvent::Ended { .. }),
            RowEvent::Attribute { .. }
            | RowEvent::Died { .. }
            | RowEvent::Event(_)
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Liveness => false,
        };
        if may_end {
            self.request_waiting_inputs(slot);
        }
    }

    /// Requests that waiting presses are tried in the last phase of this time.
    pub(crate) fn request_waiting_inputs(&mut self, slot: usize) {
        let inputs = self.row(slot).play().inputs();
        if !inputs.is_waiting() || inputs.tried_at.is_some() {
            return;
        }
        let now = self.st.now;
        let row = self.row_mut(slot);
        let at = row.clock.local(now);
        row.play_mut().inputs_mut().tried_at = Some(at);
        row.schedule(Due::waiting_inputs(at));
        self.publish(slot);
    }

    /// Tries the queued press, and then the buffered presses, the oldest first.
    pub(crate) fn try_waiting_inputs(&mut self, slot: usize) {
        let who = self.row(slot).id;
        self.row_mut(slot).play_mut().inputs_mut().tried_at = None;
        self.try_queued(slot);
        let Some(slot) = self.st.controllers.slot(who) else { return };
        self.try_buffered(slot);
        if let Some(slot) = self.st.controllers.slot(who) {
            self.row_mut(slot).trim();
            self.refresh_listeners(slot);
        }
    }

    /// Tries the queued press, unless what it waits for still runs.
    fn try_queued(&mut self, slot: usize) {
        let Some(press) = self.row(slot).play().inputs().queued else { return };
        let who = self.row(slot).id;
        let waits = match self.refusal_of_grant(slot, press.grant, press.target) {
            Some(Refusal::Casting { .. }) => press.is_after_cast,
            Some(Refusal::GlobalCooldown { .. }) => !press.is_after_cast,
            _ => false,
        };
        if waits {
            return;
        }
        self.row_mut(slot).play_mut().inputs_mut().queued = None;
        let step = match self.view().liveness(slot, press.input).is_live() {
            false => BufferStep::Asleep,
            true => match self.activate_waited(slot, press.input, press.root, &[press.grant], press.target) {
                Ok(_) => BufferStep::Used,
                Err(_) => BufferStep::Refused,
            },
        };
        self.emit_buffered(who, press.input, step);
    }

    fn refusal_of_grant(&mut self, slot: usize, grant: GrantId, target: Target) -> Option<Refusal> {
        let at = self.row(slot).grant(grant)?;
        let def = self.ability(self.row(slot).grants[at].ability)?;
        let attempt = self.view().attempt(slot, at, &def, target);
        self.view().refusal_of(&attempt).err()
    }

    /// Tries the buffered presses. The first success empties the buffer. A press that is refused for a reason that does
    /// not pass is removed. A press whose action is asleep is not tried.
    fn try_buffered(&mut self, slot: usize) {
        let who = self.row(slot).id;
        let presses = self.row(slot).play().inputs().buffered.clone();
        for press in presses {
            let Some(slot) = self.st.controllers.slot(who) else { return };
            let position =
                |flow: &Self| flow.row(slot).play().inputs().buffered.iter().position(|b| b.seq == press.seq);
            if position(self).is_none() || !self.view().liveness(slot, press.input).is_live() {
                continue;
            }
            let grants = self.view().bound_grants(slot, press.input).0;
            let result = self.activate_waited(slot, press.input, press.root, &grants, press.target);
            let Some(at) = self.st.controllers.slot(who).and_then(|_| position(self)) else { continue };
            match result {
                Ok(_) => {
                    self.drop_buffered(slot, at, BufferStep::Used);
                    while !self.row(slot).play().inputs().buffered.is_empty() {
                        self.drop_buffered(slot, 0, BufferStep::Overflow);
                    }
                    return;
                }
                Err(refusals) if !refusals.iter().any(may_pass) => self.drop_buffered(slot, at, BufferStep::Refused),
                Err(_) => {}
            }
        }
    }

    /// Activates an ability for a press of an earlier op.
    fn activate_waited(
        &mut self,
        slot: usize,
        input: InputId,
        root: crate::OpId,
        grants: &[GrantId],
        target: Target,
    ) -> Result<ActivationKey, Vec<Refusal>> {
        let who = self.row(slot).id;
        self.cause = Cause { root, link: 0 };
        self.set_roll(RollSource::due(who, root.0));
        let cause = self.because(CauseWhat::Pressed(input), who, who);
        // The time distinguishes the activation from those of the press itself.
        let key = EffectKey { origin_id: root.0 ^ self.st.now.0 as u64, target: who, ordinal: input.0 };
        let origin_id = child_origin_id(key, WAITED, 0, 0);
        let mut refusals = Vec::new();
        for &grant in grants.iter() {
            if !self.starts_here(slot, grant) {
                continue;
            }
            let request = ActivationRequest { target, origin_id, event: None, source: None };
            match self.try_activate(slot, grant, request) {
                Ok(key) => {
                    self.cause = cause;
                    return Ok(key);
                }
                Err(refusal) => refusals.push(refusal),
            }
        }
        self.cause = cause;
        Err(refusals)
    }
}
