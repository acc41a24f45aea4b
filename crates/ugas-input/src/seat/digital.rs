//! Digital actions: chords, hold times, consumption, presses and releases.

use super::step::Cx;
use super::{BindingPhase, Consumed, Phase, Seat};
use crate::binding::{Part, Role};
use crate::controls::Controls;
use crate::modifier;
use crate::sim_side::{Activity, Intent, Liveness};
use ugas_core::SimTime;

/// An analog input counts as pressed above this value.
const PRESSED: f64 = 0.5;

impl Seat {
    /// Returns whether a part of a binding is down.
    fn is_part_down(&self, controls: &Controls, at: u16, part: usize) -> bool {
        let binding = &controls.bindings[usize::from(at)];
        let Part { code, view, .. } = binding.parts[part];
        let was_down = self.bindings[usize::from(at)].down >> part & 1 != 0;
        let value = view.join(|atom| self.level(atom));
        if binding.steps.is_empty() && value[1] == 0.0 && value[2] == 0.0 {
            return if code.is_relative() { value[0] != 0.0 } else { value[0].abs() > PRESSED };
        }
        let value = modifier::run(&binding.steps, value, code.shape().components(), was_down);
        let size = modifier::length(value);
        if code.is_relative() { size > 0.0 } else { size > PRESSED }
    }

    fn parts_down(&self, controls: &Controls, at: u16) -> u8 {
        let binding = &controls.bindings[usize::from(at)];
        let is_gate = |part: &usize| binding.parts[*part].role == Role::Gate;
        let gates = (0..binding.parts.len()).filter(is_gate);
        gates.filter(|part| self.is_part_down(controls, at, *part)).fold(0, |down, part| down | 1 << part)
    }

    /// Records which parts are down without a press; the next press counts.
    pub(super) fn latch(&mut self, controls: &Controls, at: u16) {
        let binding = &controls.bindings[usize::from(at)];
        if !controls.actions[usize::from(binding.action)].is_digital() {
            return;
        }
        let down = self.parts_down(controls, at);
        let is_complete = down == binding.all_gates();
        let state = &mut self.bindings[usize::from(at)];
        state.down = down;
        state.phase = if is_complete { BindingPhase::Spent } else { BindingPhase::Idle };
    }

    /// Updates which parts of a binding are down. Ends the binding if a part went up, and returns whether the last
    /// missing part went down.
    pub(super) fn update<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, at: u16) -> bool {
        let all = cx.controls.bindings[usize::from(at)].all_gates();
        let down = self.parts_down(cx.controls, at);
        let state = &mut self.bindings[usize::from(at)];
        let before = std::mem::replace(&mut state.down, down);
        if down == all {
            return before != all;
        }
        let action = cx.controls.bindings[usize::from(at)].action;
        match std::mem::take(&mut state.phase) {
            BindingPhase::Idle | BindingPhase::Spent => {}
            BindingPhase::Waiting { held_at, .. } => {
                self.waiting = self.waiting.saturating_sub(1);
                // The press waited only for a chord that did not come: it counts, however short it was.
                if held_at <= cx.at && !cx.lets_go {
                    self.press(cx, action);
                    self.release(cx, action);
                }
            }
            BindingPhase::Down => self.release(cx, action),
        }
        false
    }

    /// Handles a binding whose parts are all down since this event: it presses its action, waits, or does nothing until
    /// the next press. Returns whether inputs were consumed.
    pub(super) fn satisfy<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, at: u16) -> bool {
        let binding = &cx.controls.bindings[usize::from(at)];
        if !self.may_press(cx, at) {
            self.bindings[usize::from(at)].phase = BindingPhase::Spent;
            return false;
        }
        let mut delay = SimTime::ZERO;
        for &chord in &binding.waits_for {
            let other = &cx.controls.bindings[usize::from(chord)];
            let is_complete = self.bindings[usize::from(chord)].down == other.all_gates();
            if !is_complete && self.is_live(cx, chord) {
                delay = delay.max(other.window);
            }
        }
        let held_at = SimTime(cx.at.0.saturating_add(binding.hold.0));
        let ready_at = held_at.max(SimTime(cx.at.0.saturating_add(delay.0)));
        if ready_at > cx.at {
            self.bindings[usize::from(at)].phase = BindingPhase::Waiting { at: ready_at, held_at };
            self.waiting += 1;
            return false;
        }
        self.activate(cx, at)
    }

    /// Returns whether a binding is live and none of its inputs is consumed by another.
    fn may_press<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>, at: u16) -> bool {
        let binding = &cx.controls.bindings[usize::from(at)];
        let is_hidden = |seat: &Seat| {
            let hidden = |atom| seat.level(atom) > 0.0 && seat.is_hidden(cx.controls, atom, at).is_some();
            !seat.consumed.is_empty() && binding.atoms.iter().any(|atom| hidden(*atom))
        };
        self.is_live(cx, at) && !is_hidden(self)
    }

    /// Presses the action of a binding and hides its inputs from others. Returns whether inputs were consumed.
    fn activate<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, at: u16) -> bool {
        let action = cx.controls.bindings[usize::from(at)].action;
        self.bindings[usize::from(at)].phase = BindingPhase::Down;
        let consumes = self.consume(cx.controls, at);
        self.press(cx, action);
        consumes
    }

    /// Hides the inputs of a satisfied binding from the bindings below it, and ends what still waits there.
    pub(super) fn consume(&mut self, controls: &Controls, at: u16) -> bool {
        let binding = &controls.bindings[usize::from(at)];
        if binding.hides.is_empty() {
            return false;
        }
        for &atom in &binding.atoms {
            let entry = Consumed { atom, by: at };
            if self.level(atom) > 0.0 && !self.consumed.contains(&entry) {
                self.consumed.push(entry);
            }
        }
        if self.waiting > 0 {
            for &hidden in &binding.hides {
                let state = &mut self.bindings[usize::from(hidden)];
                if matches!(state.phase, BindingPhase::Waiting { .. }) {
                    state.phase = BindingPhase::Spent;
                    self.waiting = self.waiting.saturating_sub(1);
                }
            }
        }
        true
    }

    /// Ends the waits that are over, in the order of ranks.
    pub(super) fn run_timers<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>) {
        let mut ready = std::mem::take(&mut self.link.ready);
        ready.clear();
        for (at, state) in self.bindings.iter_mut().enumerate() {
            if let BindingPhase::Waiting { at: due, .. } = state.phase
                && due <= cx.at
            {
                ready.push(at as u16);
            }
        }
        ready.sort_unstable_by_key(|at| cx.controls.bindings[usize::from(*at)].order);
        let mut moves_axes = false;
        for &at in &ready {
            // An earlier one of these may have ended the wait.
            if !matches!(self.bindings[usize::from(at)].phase, BindingPhase::Waiting { .. }) {
                continue;
            }
            self.waiting = self.waiting.saturating_sub(1);
            if self.may_press(cx, at) {
                moves_axes |= self.activate(cx, at);
            } else {
                self.bindings[usize::from(at)].phase = BindingPhase::Spent;
            }
        }
        self.link.ready = ready;
        if moves_axes {
            self.evaluate_axes(cx, false);
        }
    }

    /// Ends the presses by relative inputs, which last until the end of a frame.
    pub(super) fn end_pulses<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>) {
        let touched = std::mem::take(&mut self.link.touched);
        for &at in &touched {
            let action = usize::from(cx.controls.bindings[usize::from(at)].action);
            if cx.controls.actions[action].is_digital() {
                self.update(cx, at);
            }
        }
        self.link.touched = touched;
    }

    fn press<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, action: u16) {
        let at = usize::from(action);
        self.actions[at].bindings = self.actions[at].bindings.saturating_add(1);
        if self.actions[at].bindings > 1 {
            return;
        }
        self.note_active(action);
        if let Some(input) = self.sim_input(cx.controls, action) {
            cx.intend(Intent::Press { input, target: cx.aim });
        }
        if self.life(cx, action).activity == Activity::Active {
            self.actions[at].is_shown = true;
            self.actions[at].is_fresh = true;
            cx.show(action, Phase::Started, [1.0, 0.0, 0.0]);
        }
    }

    fn release<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, action: u16) {
        let at = usize::from(action);
        self.actions[at].bindings = self.actions[at].bindings.saturating_sub(1);
        if self.actions[at].bindings > 0 {
            return;
        }
        if let Some(input) = self.sim_input(cx.controls, action) {
            let intent = if cx.lets_go { Intent::LetGo { input: Some(input) } } else { Intent::Release { input } };
            cx.intend(intent);
        }
        self.actions[at].is_fresh = false;
        if std::mem::take(&mut self.actions[at].is_shown) {
            cx.show(action, Phase::Completed, [0.0; 3]);
        }
    }

    /// Returns the id of an action that enters the sim.
    pub(super) fn sim_input(&self, controls: &Controls, action: u16) -> Option<ugas_core::InputId> {
        let at = usize::from(action);
        self.link.inputs[at].filter(|_| controls.actions[at].is_simulated)
    }
}
