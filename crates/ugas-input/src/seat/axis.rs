//! Axis actions: the value of a binding, and the binding that counts.

use super::step::Cx;
use super::{Phase, Seat, components};
use crate::binding::{Binding, Role};
use crate::catalogue::Atom;
use crate::controls::Controls;
use crate::modifier;
use crate::sim_side::{Activity, Intent, Liveness};
use ugas_core::AxisValue;
use ugas_doc::{InputValue, Opposing};

const ZERO: [f64; 3] = [0.0; 3];

impl Seat {
    /// Returns the value of an axis binding. Inputs that another binding consumed count as 0.
    fn binding_value(&self, controls: &Controls, at: u16) -> [f64; 3] {
        let binding = &controls.bindings[usize::from(at)];
        let is_hidden = |atom| !self.consumed.is_empty() && self.is_hidden(controls, atom, at).is_some();
        let read = |atom| if is_hidden(atom) { 0.0 } else { self.level(atom) };
        let action = controls.actions[usize::from(binding.action)].value;
        let raw = self.raw_value(binding, action, &read);
        let was_pressed = self.bindings[usize::from(at)].down != 0;
        let mut value = modifier::run(&binding.steps, raw, components(action), was_pressed);
        value.iter_mut().skip(components(action)).for_each(|number| *number = 0.0);
        value
    }

    fn raw_value(&self, binding: &Binding, action: InputValue, read: &dyn Fn(Atom) -> f64) -> [f64; 3] {
        let mut value = ZERO;
        let (mut has_axis, mut is_composite) = (false, false);
        for part in &binding.parts {
            let input = part.view.join(read);
            match part.role {
                Role::Gate if modifier::length(input) <= 0.5 => return ZERO,
                Role::Gate => {}
                Role::Axis(first) => {
                    has_axis = true;
                    for (to, from) in value.iter_mut().skip(usize::from(first)).zip(input) {
                        // The components of an input that are 0 leave those of the inputs after it alone.
                        if from != 0.0 {
                            *to = from;
                        }
                    }
                }
                Role::Slot(_) => is_composite = true,
            }
        }
        if is_composite {
            return self.composite(binding, action, read);
        }
        if has_axis { value } else { [1.0, 0.0, 0.0] }
    }

    /// Returns the value of a composite binding, which is at most 1 long.
    fn composite(&self, binding: &Binding, action: InputValue, read: &dyn Fn(Atom) -> f64) -> [f64; 3] {
        let mut value = ZERO;
        // The levels and the newest presses of the six directions.
        let (mut levels, mut presses) = ([0.0; 6], [0; 6]);
        for part in &binding.parts {
            if let Role::Slot(slot) = part.role {
                levels[slot as usize] = part.view.join(read)[0].max(0.0);
                presses[slot as usize] = part.view.atoms().map(|(_, atom)| self.pressed(atom)).max().unwrap_or(0);
            }
        }
        for axis in 0..3 {
            let (positive, negative) = (levels[2 * axis], levels[2 * axis + 1]);
            let is_positive_later = presses[2 * axis] > presses[2 * axis + 1];
            let takes_positive = match binding.opposing {
                Opposing::Neutral => None,
                Opposing::Last => Some(is_positive_later),
                Opposing::First => Some(!is_positive_later),
                Opposing::Positive => Some(true),
            };
            value[axis] = match takes_positive.filter(|_| positive > 0.0 && negative > 0.0) {
                Some(true) => positive,
                Some(false) => -negative,
                None => positive - negative,
            };
        }
        if action == InputValue::Axis1D {
            value = [value[0] + value[1] + value[2], 0.0, 0.0];
        }
        let size = modifier::length(value);
        if size > 1.0 { value.map(|number| number / size) } else { value }
    }

    /// Lets every axis binding hide its inputs from the bindings below it, the highest rank first.
    pub(super) fn consume_axes<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>) {
        cx.controls.axis_order.iter().for_each(|at| self.consume_axis(cx, *at));
    }

    /// Lets an axis binding hide its inputs from the bindings below it while its value is not 0.
    pub(super) fn consume_axis<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>, at: u16) {
        let binding = &cx.controls.bindings[usize::from(at)];
        let needs_state = !binding.hides.is_empty() || !binding.steps.is_empty();
        if !needs_state {
            return;
        }
        let is_on = self.is_live(cx, at) && self.binding_value(cx.controls, at) != ZERO;
        self.bindings[usize::from(at)].down = u8::from(is_on);
        if is_on {
            self.consume(cx.controls, at);
        } else if !self.consumed.is_empty() {
            self.consumed.retain(|consumed| consumed.by != at);
        }
    }

    /// Computes the values of axis actions. Actions with relative inputs have a value only at the end of a frame.
    pub(super) fn evaluate_axes<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, is_end: bool) {
        for &at in &cx.controls.axis_actions[usize::from(is_end)] {
            self.evaluate_axis(cx, at);
        }
    }

    fn evaluate_axis<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, at: u16) {
        let controls = cx.controls;
        let state = self.actions[usize::from(at)];
        let is_idle = self.held.is_empty() && self.moved.is_empty();
        if is_idle && state.value == ZERO && state.sent == AxisValue::default() {
            return;
        }
        let action = &controls.actions[usize::from(at)];
        let activity = self.life(cx, at).activity;
        let mut best: Option<(crate::binding::Rank, [f64; 3])> = None;
        for &of in &action.bindings {
            let rank = controls.bindings[usize::from(of)].rank;
            if best.is_some_and(|(highest, _)| highest > rank) {
                break;
            }
            if !self.is_live(cx, of) {
                continue;
            }
            let value = self.binding_value(controls, of);
            let size = modifier::length(value);
            if size > best.map_or(0.0, |(_, best)| modifier::length(best)) {
                best = Some((rank, value));
            }
        }
        let value = best.map_or(ZERO, |(_, value)| value);
        if value != ZERO {
            self.note_active(at);
        }
        self.send(cx, at, activity, value);
        let shown = if activity == Activity::Active { value } else { ZERO };
        let state = &mut self.actions[usize::from(at)];
        let before = std::mem::replace(&mut state.value, shown);
        if before == shown {
            return;
        }
        if before == ZERO {
            state.is_fresh = true;
            cx.show(at, Phase::Started, shown);
        } else if shown == ZERO {
            cx.show(at, Phase::Completed, ZERO);
        } else {
            state.is_fresh = false;
        }
    }

    /// Tells the sim the value of a simulated axis, if it changed. A sleeping action keeps its value until its inputs
    /// are at rest, because an action that wakes up is still down.
    fn send<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, at: u16, activity: Activity, value: [f64; 3]) {
        let Some(input) = self.sim_input(cx.controls, at) else { return };
        let sent = self.actions[usize::from(at)].sent;
        let is_held = |of: &u16| {
            let atoms = &cx.controls.bindings[usize::from(*of)].atoms;
            atoms.iter().any(|atom| self.level(*atom) > 0.0)
        };
        if activity == Activity::Asleep && cx.controls.actions[usize::from(at)].bindings.iter().any(is_held) {
            return;
        }
        let value = AxisValue::new(value);
        if value == sent {
            return;
        }
        self.actions[usize::from(at)].sent = value;
        let lets_go = cx.lets_go && value == AxisValue::default();
        cx.intend(if lets_go { Intent::LetGo { input: Some(input) } } else { Intent::Axis { input, value } });
    }
}
