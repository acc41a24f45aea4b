//! Inputs: presses, releases and axis values, what they trigger, and which refused presses are tried again.
//!
//! A press marks the input as held. If the action of the input is live (`live.rs`), the press or the release triggers it
//! (`trigger.rs`), and the abilities that are bound to it are tried in order until one is activated. A refused press can
//! be queued or buffered (`wait.rs`). `hold.rs` contains what is repeated at each frame while an input is held, and
//! `motion.rs` recognizes motions.

mod hold;
mod live;
mod motion;
mod trigger;
mod wait;

pub use live::{ActionSetState, Liveness};

use super::ability::EndHow;
use super::{Flow, RowEvent, Via};
use crate::state::{CauseWhat, HeldInput, alert};
use crate::{AxisValue, BadValue, ControllerId, FactKind, InputId, LimitKind, Outcome, Refusal, SimTime, Target};
use ugas_doc::TriggerBehavior;

/// Maximum number of inputs that one controller holds.
const MOST_HELD: usize = 64;

impl Flow<'_> {
    /// Presses an input. If no ability can be activated, the input is pressed anyway, and the outcome contains the
    /// refusal of the activation.
    pub(crate) fn press(&mut self, who: ControllerId, input: InputId, target: Target) -> Result<Outcome, Refusal> {
        let slot = self.slot(who)?;
        if matches!(target, Target::Point(p) if p.iter().any(|v| !v.is_finite())) {
            return Err(Refusal::BadValue { what: BadValue::Position });
        }
        let is_held = self.row(slot).play().inputs().held.iter().any(|h| h.input == input);
        if !is_held && self.row(slot).play().inputs().held.len() >= MOST_HELD {
            return Err(Refusal::Limit { what: LimitKind::Held, max: MOST_HELD as u32, link: self.cause.link });
        }
        let cause = self.because(CauseWhat::Pressed(input), who, who);
        let before = self.row(slot).next_seq;
        let refusal = self.view().liveness(slot, input).refusal();
        self.hold(slot, input, target, refusal.is_some());
        self.fact(who, Via::NOTHING, FactKind::Input { input, pressed: true, held: SimTime::ZERO });
        if let Some(refusal) = refusal {
            self.refresh_input_listeners(slot);
            self.cause = cause;
            return Ok(Outcome::Pressed { activated: None, refused: Some(refusal) });
        }
        self.end_other_repetitions(slot, input);
        let behavior = self.rules.inputs.action(input).map_or(TriggerBehavior::OnPressed, |a| a.behavior);
        let (activated, refused) = match behavior {
            TriggerBehavior::OnPressed | TriggerBehavior::WhileHeld => {
                let origin_id = self.cause.root.0;
                self.trigger_input(slot, input, target, origin_id)
            }
            TriggerBehavior::OnReleased | TriggerBehavior::OnTap | TriggerBehavior::OnDoubleTap => (None, None),
        };
        if let Some(slot) = self.st.controllers.slot(who) {
            self.record_press(slot, input);
            self.refresh_input_listeners(slot);
            self.notify(slot, alert::INPUT, || RowEvent::Input { input, pressed: true, held: SimTime::ZERO, before });
        }
        self.cause = cause;
        Ok(Outcome::Pressed { activated, refused })
    }

    /// Marks an input as held.
    fn hold(&mut self, slot: usize, input: InputId, target: Target, is_muted: bool) {
        let now = self.st.now;
        let is_second = !is_muted && self.take_tap(slot, input);
        let row = self.row_mut(slot);
        let since = row.clock.local(now);
        let held = &mut row.play_mut().inputs_mut().held;
        let at = held.binary_search_by_key(&input, |h| h.input);
        let since = at.map_or(since, |at| held[at].since);
        let new = HeldInput {
            input,
            since,
            retry: false,
            is_muted,
            is_fresh: !is_muted,
            repeats: !is_muted,
            is_second,
            target,
        };
        match at {
            Ok(at) => held[at] = new,
            Err(at) => held.insert(at, new),
        }
    }

    /// Releases an input. If the input is not pressed, the call changes nothing.
    pub(crate) fn release(&mut self, who: ControllerId, input: InputId) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        let Some((was, held)) = self.take_held(slot, input) else { return Ok(()) };
        let cause = self.because(CauseWhat::Released(input), who, who);
        let before = self.row(slot).next_seq;
        self.fact(who, Via::NOTHING, FactKind::Input { input, pressed: false, held });
        if !was.is_muted {
            self.trigger_release(slot, &was, held);
        }
        self.let_go_of(who, input, &was, held, before);
        self.cause = cause;
        Ok(())
    }

    /// Removes an input from the held ones. Returns it and how long it was held.
    fn take_held(&mut self, slot: usize, input: InputId) -> Option<(HeldInput, SimTime)> {
        let at = self.row(slot).play().inputs().held.binary_search_by_key(&input, |h| h.input).ok()?;
        let now = self.st.now;
        let row = self.row_mut(slot);
        let was = row.play_mut().inputs_mut().held.remove(at);
        let held = row.clock.local(now) - was.since;
        row.trim();
        Some((was, held))
    }

    /// Cancels the cast and wakes the tasks that wait for the release of an input.
    fn let_go_of(&mut self, who: ControllerId, input: InputId, was: &HeldInput, held: SimTime, before: u64) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        if !was.is_muted {
            self.cancel_on_release(slot, input);
        }
        self.refresh_frames(slot);
        self.refresh_input_listeners(slot);
        if !was.is_muted {
            self.notify(slot, alert::INPUT, || RowEvent::Input { input, pressed: false, held, before });
        }
    }

    /// Sets the value of an axis.
    pub(crate) fn axis(&mut self, who: ControllerId, input: InputId, value: AxisValue) -> Result<Outcome, Refusal> {
        let slot = self.slot(who)?;
        if !self.rules.inputs.action(input).is_some_and(|a| a.is_axis()) {
            return Err(Refusal::NotAnAxis { input });
        }
        if !value.is_valid() {
            return Err(Refusal::BadValue { what: BadValue::Number });
        }
        let old = self.row(slot).play().inputs().axis(input);
        if old == value {
            return Ok(Outcome::Done);
        }
        let held = self.row(slot).play().inputs().held.len();
        if old.is_zero() && held >= MOST_HELD {
            return Err(Refusal::Limit { what: LimitKind::Held, max: MOST_HELD as u32, link: self.cause.link });
        }
        self.set_axis(slot, input, value);
        match (old.is_zero(), value.is_zero()) {
            (true, _) => self.press(who, input, Target::None),
            (false, true) => self.release(who, input).map(|()| Outcome::Done),
            (false, false) => Ok(Outcome::Done),
        }
    }

    fn set_axis(&mut self, slot: usize, input: InputId, value: AxisValue) {
        let who = self.row(slot).id;
        self.row_mut(slot).play_mut().inputs_mut().set_axis(input, value);
        let [x, y, z] = value.numbers();
        self.fact(who, Via::NOTHING, FactKind::Axis { input, x, y, z });
        self.record_direction(slot, input, value);
    }

    /// Lets go of one input or of all inputs: nothing that triggers at a release triggers.
    pub(crate) fn let_go(&mut self, who: ControllerId, input: Option<InputId>) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        let held = self.row(slot).play().inputs().held.iter().map(|h| h.input);
        let inputs: Vec<InputId> = held.filter(|&h| input.is_none_or(|only| only == h)).collect();
        for input in inputs {
            let Some(slot) = self.st.controllers.slot(who) else { break };
            let Some((was, held)) = self.take_held(slot, input) else { continue };
            let cause = self.because(CauseWhat::Released(input), who, who);
            let before = self.row(slot).next_seq;
            if !self.row(slot).play().inputs().axis(input).is_zero() {
                self.set_axis(slot, input, AxisValue::default());
            }
            self.fact(who, Via::NOTHING, FactKind::Input { input, pressed: false, held });
            self.let_go_of(who, input, &was, held, before);
            self.cause = cause;
        }
        if let Some(slot) = self.st.controllers.slot(who) {
            self.row_mut(slot).trim();
        }
        Ok(())
    }

    /// Cancels a cast that requires its input to be held, unless the cast ends within the queue window of its ability.
    fn cancel_on_release(&mut self, slot: usize, input: InputId) {
        let row = self.row(slot);
        let Some(cast) = row.play().cast.as_deref() else { return };
        let (of, left) = (cast.of, cast.end() - row.clock.local(self.st.now));
        let Some(a) = row.play().activation(of) else { return };
        let mine = row.grant(a.grant).is_some_and(|g| row.grants[g].input() == input);
        let Some(def) = self.ability(a.ability) else { return };
        let is_spared = def.queue_window > SimTime::ZERO && left <= def.queue_window;
        if mine && def.cast.is_some_and(|c| c.cancel_on_release) && !is_spared {
            self.finish(slot, of, EndHow::Cancelled);
        }
    }
}
