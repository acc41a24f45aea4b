//! Handles input presses and releases. A press marks the input as held and tries the abilities that are bound to the
//! input in order, until one is activated. A refused ability that activates while its input is held is tried again at
//! each frame. A release can cancel a cast. Tasks that wait for the press or the release are woken.

use super::super::ability::EndHow;
use super::super::{Flow, RowEvent, Via, child_origin_id};
use crate::state::{CauseWhat, HeldInput, alert};
use crate::{
    BadValue, ControllerId, EffectKey, FactKind, InputId, LimitKind, Outcome, Refusal, SimTime, Target, Which,
};

/// Maximum number of inputs that one controller holds.
const MOST_HELD: usize = 64;

/// Marks the origin id of a retry of a held input.
const RETRY: u64 = 32;

impl Flow<'_> {
    /// Presses an input. If no ability can be activated, the input is pressed anyway, and the outcome contains the
    /// refusal of the activation.
    pub(crate) fn press(&mut self, who: ControllerId, input: InputId, target: Target) -> Result<Outcome, Refusal> {
        let slot = self.slot(who)?;
        if matches!(target, Target::Point(p) if p.iter().any(|v| !v.is_finite())) {
            return Err(Refusal::BadValue { what: BadValue::Position });
        }
        let at = self.row(slot).play().held.binary_search_by_key(&input, |h| h.input);
        if at.is_err() && self.row(slot).play().held.len() >= MOST_HELD {
            return Err(Refusal::Limit { what: LimitKind::Held, max: MOST_HELD as u32, link: self.cause.link });
        }
        let cause = self.because(CauseWhat::Pressed(input), who, who);
        let now = self.st.now;
        let row = self.row_mut(slot);
        let since = row.clock.local(now);
        let before = row.next_seq;
        let held = &mut row.play_mut().held;
        match at {
            Ok(at) => (held[at].retry, held[at].target) = (false, target),
            Err(at) => held.insert(at, HeldInput { input, since, retry: false, target }),
        }
        self.fact(who, Via::NOTHING, FactKind::Input { input, pressed: true, held: SimTime::ZERO });
        let origin_id = self.cause.root.0;
        let (mut activated, mut refused) = (None, None);
        if input != InputId::NONE && self.row(slot).grants.iter().any(|g| g.input() == input) {
            match self.activate(slot, Which::Input(input), target, origin_id, None) {
                Ok(key) => activated = Some(key),
                Err(refusal) => {
                    refused = Some(refusal);
                    self.schedule_retry(slot, input);
                }
            }
        }
        if let Some(slot) = self.st.controllers.slot(who) {
            self.notify(slot, alert::INPUT, || RowEvent::Input { input, pressed: true, held: SimTime::ZERO, before });
        }
        self.cause = cause;
        Ok(Outcome::Pressed { activated, refused })
    }

    /// Releases an input. If the input is not pressed, the call changes nothing.
    pub(crate) fn release(&mut self, who: ControllerId, input: InputId) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        let Ok(at) = self.row(slot).play().held.binary_search_by_key(&input, |h| h.input) else { return Ok(()) };
        let cause = self.because(CauseWhat::Released(input), who, who);
        let now = self.st.now;
        let row = self.row_mut(slot);
        let since = row.play_mut().held.remove(at).since;
        let held = row.clock.local(now) - since;
        row.trim();
        let before = row.next_seq;
        self.fact(who, Via::NOTHING, FactKind::Input { input, pressed: false, held });
        self.cancel_on_release(slot, input);
        self.refresh_frames(slot);
        self.notify(slot, alert::INPUT, || RowEvent::Input { input, pressed: false, held, before });
        self.cause = cause;
        Ok(())
    }

    /// Cancels a cast that requires its input to be held.
    fn cancel_on_release(&mut self, slot: usize, input: InputId) {
        let row = self.row(slot);
        let Some(of) = row.play().cast.as_ref().map(|c| c.of) else { return };
        let Some(a) = row.play().activation(of) else { return };
        let mine = row.grant(a.grant).is_some_and(|g| row.grants[g].input() == input);
        let ends = self.ability(a.ability).and_then(|d| d.cast).is_some_and(|c| c.cancel_on_release);
        if mine && ends {
            self.finish(slot, of, EndHow::Cancelled);
        }
    }

    /// Schedules a retry at each frame if the input has an ability that activates while held.
    fn schedule_retry(&mut self, slot: usize, input: InputId) {
        let row = self.row(slot);
        let holds = |a| self.ability(a).is_some_and(|d| d.held);
        if !row.grants.iter().any(|g| g.input() == input && holds(g.ability)) {
            return;
        }
        if let Some(h) = self.row_mut(slot).play_mut().held.iter_mut().find(|h| h.input == input) {
            h.retry = true;
            self.refresh_frames(slot);
        }
    }

    /// Retries held inputs whose ability could not be activated yet, in order of input id. Part of the frame work.
    pub(crate) fn retry_held(&mut self, slot: usize) {
        let waiting: Vec<HeldInput> = self.row(slot).play().held.iter().filter(|h| h.retry).copied().collect();
        let who = self.row(slot).id;
        for HeldInput { input, target, .. } in waiting {
            let Some(slot) = self.st.controllers.slot(who) else { return };
            let row = self.row(slot);
            let holds = |a| self.ability(a).is_some_and(|d| d.held);
            let grants: Vec<_> =
                row.grants.iter().filter(|g| g.input() == input && holds(g.ability)).map(|g| g.id).collect();
            let cause = self.because(CauseWhat::Pressed(input), who, who);
            // A retry has no op, so time and input identify it.
            let retry = EffectKey { origin_id: self.st.now.0 as u64, target: who, ordinal: input.0 };
            let origin_id = child_origin_id(retry, RETRY, 0, 0);
            let here: Vec<_> = grants.into_iter().filter(|&g| self.starts_here(slot, g)).collect();
            let done = here.iter().any(|&g| self.activate(slot, Which::Grant(g), target, origin_id, None).is_ok());
            self.cause = cause;
            let Some(slot) = self.st.controllers.slot(who) else { return };
            if done && let Some(h) = self.row_mut(slot).play_mut().held.iter_mut().find(|h| h.input == input) {
                h.retry = false;
                self.refresh_frames(slot);
            }
        }
    }
}
