//! The step: events and timers in the order of time.

use super::{
    ActionState, BindingPhase, BindingState, DeviceId, FURTHEST, Held, MOST_HELD, Pending, Phase, Seat, SeatOutput,
};
use crate::catalogue::Atom;
use crate::controls::{ActionIndex, Controls};
use crate::sim_side::{ActionLife, Activity, Intent, Liveness};
use ugas_core::{ControllerId, SimTime, Target};

/// What does not change during one event.
pub(super) struct Cx<'a, L: Liveness + ?Sized> {
    pub(super) controls: &'a Controls,
    pub(super) sim: &'a L,
    pub(super) who: ControllerId,
    pub(super) aim: Target,
    pub(super) out: &'a mut SeatOutput,
    pub(super) at: SimTime,
    /// Whether inputs are let go instead of released.
    pub(super) lets_go: bool,
}

impl<L: Liveness + ?Sized> Cx<'_, L> {
    pub(super) fn intend(&mut self, intent: Intent) {
        self.out.intents.push((self.at, intent));
    }

    pub(super) fn show(&mut self, action: u16, phase: Phase, value: [f64; 3]) {
        self.out.events.push(super::ActionEvent { at: self.at, action: ActionIndex(action), phase, value });
    }
}

impl Seat {
    /// Processes the events and timers up to and including `until`, and adds their meaning to `out`. `sim` decides which
    /// actions are active; it does not change during the step. `aim` is the target of presses.
    ///
    /// If the controls changed since the last step, everything that is down is let go first: buttons must be pressed
    /// again, axes start again with the new bindings.
    pub fn step<L: Liveness + ?Sized>(
        &mut self,
        controls: &Controls,
        sim: &L,
        who: ControllerId,
        aim: Target,
        until: SimTime,
        out: &mut SeatOutput,
    ) {
        let until = until.max(self.now);
        let mut cx = Cx { controls, sim, who, aim, out, at: self.now, lets_go: false };
        self.adopt(&mut cx);
        if self.is_resting() {
            self.now = until;
            return;
        }
        self.link(&cx);
        self.refresh(&mut cx);
        while let Some(at) = self.next(cx.at, until) {
            cx.at = at;
            self.process(&mut cx);
        }
        cx.at = until;
        self.end_frame(&mut cx);
        self.now = until;
    }

    fn is_resting(&self) -> bool {
        let has_work = !self.queue.is_empty() || self.has_overflowed || self.waiting > 0;
        !has_work && self.active.is_empty() && self.held.is_empty() && self.moved.is_empty()
    }

    /// Starts anew if the state belongs to other controls.
    pub(super) fn adopt<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>) {
        let controls = cx.controls;
        let fits = self.actions.len() == controls.actions.len() && self.bindings.len() == controls.bindings.len();
        // A seat without ids may come from a file.
        let is_valid = || self.link.rules.is_some() || self.is_consistent();
        if self.revision == controls.revision && fits && is_valid() {
            return;
        }
        if !self.active.is_empty() {
            cx.intend(Intent::LetGo { input: None });
        }
        if self.names == controls.names {
            for at in 0..self.actions.len() {
                if self.actions[at].is_shown || self.actions[at].value != [0.0; 3] {
                    cx.show(at as u16, Phase::Completed, [0.0; 3]);
                }
            }
        }
        self.names = controls.names;
        self.revision = controls.revision;
        self.held.sort_by_key(|held| (held.atom, held.device));
        self.consumed.clear();
        self.waiting = 0;
        self.active.clear();
        self.actions.clear();
        self.actions.resize(controls.actions.len(), ActionState::default());
        self.bindings.clear();
        self.bindings.resize(controls.bindings.len(), BindingState::default());
        for at in 0..self.bindings.len() {
            self.latch(controls, at as u16);
        }
    }

    /// Returns whether the lists of a loaded seat are sorted and refer to bindings and actions that exist.
    fn is_consistent(&self) -> bool {
        let is_binding = |consumed: &super::Consumed| usize::from(consumed.by) < self.bindings.len();
        self.consumed.iter().all(is_binding)
            && self.active.last().is_none_or(|last| usize::from(*last) < self.actions.len())
            && self.active.is_sorted_by(|a, b| a < b)
            && self.held.is_sorted_by(|a, b| (a.atom, a.device) < (b.atom, b.device))
    }

    /// Looks up the ids of names, if the rules or the controls changed.
    pub(super) fn link<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>) {
        let key = cx.sim.rules_key();
        let (link, controls) = (&mut self.link, cx.controls);
        if link.rules != Some(key) || link.revision != controls.revision {
            link.rules = Some(key);
            link.revision = controls.revision;
            link.inputs = controls.actions.iter().map(|action| cx.sim.find_input(&action.name)).collect();
            link.sets = controls.set_names().map(|name| cx.sim.find_action_set(name)).collect();
            link.tags = controls.tag_names().iter().map(|name| cx.sim.find_tag(name)).collect();
            link.lives.clear();
            link.lives.resize(controls.actions.len(), (0, ActionLife::ALWAYS));
            link.axis_lives.clear();
            link.axis_lives.resize(controls.actions.len(), None);
        }
        if link.settings != controls.settings {
            link.settings = controls.settings;
            link.axis_lives.fill(None);
        }
        link.step += 1;
    }

    pub(super) fn life<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>, action: u16) -> ActionLife {
        let at = usize::from(action);
        let (step, life) = self.link.lives[at];
        if step == self.link.step {
            return life;
        }
        let life = self.link.inputs[at].map_or(ActionLife::ALWAYS, |input| cx.sim.action_life(cx.who, input));
        self.link.lives[at] = (self.link.step, life);
        life
    }

    /// Returns whether a binding acts: its action does, by the binding's set, and the controller has its tags.
    pub(super) fn is_live<L: Liveness + ?Sized>(&mut self, cx: &Cx<'_, L>, at: u16) -> bool {
        let binding = &cx.controls.bindings[usize::from(at)];
        let life = self.life(cx, binding.action);
        let set = self.link.sets[usize::from(binding.set)];
        let has = |tag: &u16| self.link.tags[usize::from(*tag)].is_some_and(|tag| cx.sim.has_tag(cx.who, tag));
        life.activity != Activity::Asleep && life.set.is_none_or(|by| set == Some(by)) && binding.tags.iter().all(has)
    }

    /// Adapts to changes of the sim since the last step: held actions that fell asleep or woke up.
    fn refresh<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>) {
        if self.active.is_empty() && self.held.is_empty() {
            return;
        }
        for i in 0..self.active.len() {
            let at = usize::from(self.active[i]);
            let state = self.actions[at];
            if state.bindings == 0 {
                continue;
            }
            let is_active = self.life(cx, at as u16).activity == Activity::Active;
            if state.is_shown && !is_active {
                cx.show(at as u16, Phase::Completed, [0.0; 3]);
            }
            self.actions[at].is_shown = is_active;
        }
        let mut has_changed = false;
        for at in cx.controls.axis_actions.iter().flatten() {
            let life = Some(self.life(cx, *at));
            let before = std::mem::replace(&mut self.link.axis_lives[usize::from(*at)], life);
            has_changed |= before != life || cx.controls.actions[usize::from(*at)].has_tags;
        }
        if has_changed {
            self.consume_axes(cx);
            self.evaluate_axes(cx, false);
        }
    }

    /// Returns the time of the next timer or event up to `until`.
    fn next(&self, now: SimTime, until: SimTime) -> Option<SimTime> {
        let timer = self.next_timer().map(|at| at.max(now)).filter(|at| *at <= until);
        let event = match self.queue.front() {
            Some(Pending::Event(event)) => Some(event.at),
            Some(Pending::Lost(at, _)) => Some(*at),
            None => self.has_overflowed.then_some(now),
        };
        let event = event.map(|at| if at.0.saturating_sub(until.0) > FURTHEST.0 { until } else { at.max(now) });
        let event = event.filter(|at| *at <= until);
        match (timer, event) {
            (Some(timer), Some(event)) => Some(timer.min(event)),
            (timer, event) => timer.or(event),
        }
    }

    fn next_timer(&self) -> Option<SimTime> {
        if self.waiting == 0 {
            return None;
        }
        let at = |state: &BindingState| match state.phase {
            BindingPhase::Waiting { at, .. } => Some(at),
            BindingPhase::Idle | BindingPhase::Down | BindingPhase::Spent => None,
        };
        self.bindings.iter().filter_map(at).min()
    }

    /// Processes what is due now: a timer before an event of the same time.
    fn process<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>) {
        if self.next_timer().is_some_and(|at| at <= cx.at) {
            return self.run_timers(cx);
        }
        match self.queue.pop_front() {
            Some(Pending::Event(event)) => {
                self.link.touched.clear();
                let is_relative = event.input.is_relative();
                for (atom, value) in event.input.view().split(event.value) {
                    let has_changed =
                        if is_relative { self.add(atom, value) } else { self.write(event.device, atom, value) };
                    if has_changed {
                        self.link.touched.extend(cx.controls.bindings_of(atom));
                    }
                }
                self.react(cx);
            }
            Some(Pending::Lost(_, device)) => self.let_go(cx, device),
            None => {
                self.has_overflowed = false;
                self.let_go(cx, None);
            }
        }
    }

    /// Adds to the sum of a relative atom.
    fn add(&mut self, atom: Atom, value: f64) -> bool {
        if value == 0.0 {
            return false;
        }
        match self.moved.iter().position(|(moved, _)| *moved == atom) {
            Some(at) => self.moved[at].1 += value,
            None if self.moved.len() < MOST_HELD => self.moved.push((atom, value)),
            None => return false,
        }
        true
    }

    /// Sets an atom of a device, and returns whether it changed.
    fn write(&mut self, device: DeviceId, atom: Atom, value: f64) -> bool {
        match self.held.binary_search_by_key(&(atom, device), |held| (held.atom, held.device)) {
            Ok(at) if value == 0.0 => {
                self.held.remove(at);
                self.uncover(atom);
                true
            }
            Ok(at) => std::mem::replace(&mut self.held[at].value, value) != value,
            Err(_) if value == 0.0 => false,
            Err(_) if self.held.len() >= MOST_HELD => {
                self.dropped += 1;
                false
            }
            Err(at) => {
                self.presses += 1;
                self.held.insert(at, Held { atom, device, value, press: self.presses });
                true
            }
        }
    }

    /// Forgets who consumed an atom that went up.
    fn uncover(&mut self, atom: Atom) {
        if !self.consumed.is_empty() && self.level(atom) == 0.0 {
            self.consumed.retain(|consumed| consumed.atom != atom);
        }
    }

    /// Updates the touched bindings: first those that break, then those that are satisfied, then the axes.
    pub(super) fn react<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>) {
        let mut touched = std::mem::take(&mut self.link.touched);
        let mut ready = std::mem::take(&mut self.link.ready);
        if touched.len() > 1 {
            touched.sort_unstable();
            touched.dedup();
        }
        ready.clear();
        let mut moves_axes = false;
        for &at in &touched {
            let action = &cx.controls.actions[usize::from(cx.controls.bindings[usize::from(at)].action)];
            if !action.is_digital() {
                moves_axes |= !action.is_relative;
                ready.push(at);
            } else if self.update(cx, at) {
                ready.push(at);
            }
        }
        if ready.len() > 1 {
            ready.sort_unstable_by_key(|at| cx.controls.bindings[usize::from(*at)].order);
        }
        for &at in &ready {
            let action = &cx.controls.actions[usize::from(cx.controls.bindings[usize::from(at)].action)];
            if action.is_digital() {
                moves_axes |= self.satisfy(cx, at);
            } else {
                self.consume_axis(cx, at);
            }
        }
        self.link.touched = touched;
        self.link.ready = ready;
        if moves_axes {
            self.evaluate_axes(cx, false);
        }
    }

    /// Lets go of a device, or of everything.
    fn let_go<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>, device: Option<DeviceId>) {
        self.link.touched.clear();
        let mut held = std::mem::take(&mut self.held);
        held.retain(|held| {
            let is_lost = device.is_none_or(|device| held.device == device);
            if is_lost {
                self.link.touched.extend(cx.controls.bindings_of(held.atom));
            }
            !is_lost
        });
        self.held = held;
        let mut consumed = std::mem::take(&mut self.consumed);
        consumed.retain(|consumed| self.level(consumed.atom) > 0.0);
        self.consumed = consumed;
        if device.is_none() && self.is_down() {
            cx.intend(Intent::LetGo { input: None });
            self.actions.iter_mut().for_each(|state| state.sent = crate::AxisValue::default());
        }
        cx.lets_go = true;
        let intents = cx.out.intents.len();
        self.react(cx);
        self.evaluate_axes(cx, true);
        if device.is_none() {
            // One intent lets go of every action.
            cx.out.intents.truncate(intents);
        }
        cx.lets_go = false;
    }

    /// Returns whether the sim knows an action as down.
    fn is_down(&self) -> bool {
        self.actions.iter().any(|state| state.bindings > 0 || state.sent != crate::AxisValue::default())
    }

    fn end_frame<L: Liveness + ?Sized>(&mut self, cx: &mut Cx<'_, L>) {
        self.evaluate_axes(cx, true);
        if !self.moved.is_empty() {
            self.link.touched.clear();
            for (atom, _) in self.moved.drain(..) {
                self.consumed.retain(|consumed| consumed.atom != atom);
                self.link.touched.extend(cx.controls.bindings_of(atom));
            }
            self.end_pulses(cx);
        }
        let actions = &mut self.actions;
        self.active.retain(|action| {
            let state = &mut actions[usize::from(*action)];
            let is_moved = state.value != [0.0; 3];
            let value = if state.bindings > 0 { [1.0, 0.0, 0.0] } else { state.value };
            if !state.is_fresh && (state.is_shown || is_moved) {
                cx.show(*action, Phase::Ongoing, value);
            }
            state.is_fresh = false;
            state.bindings > 0 || is_moved || state.sent != crate::AxisValue::default()
        });
    }
}
