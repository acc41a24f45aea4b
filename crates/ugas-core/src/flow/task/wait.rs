//! Waits: whether one is already fulfilled, and what wakes it.

use super::{CLOSED, LATE, PLAYER, Strand};
use crate::flow::{AbilityEvent, EventCutoff, Flow, RowEvent};
use crate::rules::{AbilityDef, AbilityStep, EffectPick, NO_PC, TaskCall, TaskDef, TaskKind};
use crate::state::Task;
use crate::{AbilityState, EffectId, InputId, SimTime, TaskResult};

impl Flow<'_> {
    /// Returns the value of a wait that is already fulfilled; `Err` if it can never be fulfilled.
    pub(super) fn done_at_once(&self, slot: usize, s: Strand, task: &TaskDef) -> Option<Result<f64, ()>> {
        let done = |holds: bool| holds.then_some(Ok(0.0));
        match &task.kind {
            TaskKind::WaitDelay { duration } => {
                done(self.length_of(slot, s.of, duration).is_some_and(|d| d <= SimTime::ZERO))
            }
            TaskKind::WaitGameTime { time } => done(self.length_of(slot, s.of, time).is_some_and(|t| t <= self.st.now)),
            TaskKind::WaitTag { tag, added } => done(self.has(slot, *tag) == *added),
            TaskKind::WaitTagQuery(query) => done(self.matches_query(slot, query)),
            TaskKind::WaitAttributeThreshold { attribute, comparison, value } => {
                let Some(value) = self.value_of(slot, s.of, value) else { return Some(Err(())) };
                let Some(now) = self.current_of(self.row(slot).id, *attribute) else { return Some(Err(())) };
                comparison.holds(now, value).then_some(Ok(now))
            }
            TaskKind::WaitInputRelease { input } => {
                let input = self.input_of(slot, s.of, *input);
                done(!self.row(slot).play().held.iter().any(|h| h.input == input))
            }
            TaskKind::WaitMontageEnded { montage: Some(montage) } => done(self.has_played(slot, s.of, montage)),
            _ => None,
        }
    }

    /// Returns the input of a task: its own, or the grant's.
    fn input_of(&self, slot: usize, of: u64, input: Option<InputId>) -> InputId {
        let row = self.row(slot);
        let grant = || row.grant(row.play().activation(of)?.grant).map(|at| row.grants[at].input());
        input.or_else(grant).unwrap_or(InputId::NONE)
    }

    /// Wakes the tasks of a row that were waiting for this event before it happened, by rising number. Those of an
    /// inactive controller are paused; when it is active again, waits for a state check it.
    pub(crate) fn wake(&mut self, slot: usize, row_event: &RowEvent, cutoff: &EventCutoff) {
        if !self.row(slot).clock.active() {
            return;
        }
        let earlier = self.row(slot).play().tasks.iter().map(|t| t.seq).take_while(|&seq| seq < cutoff.seq);
        let sleeping: Vec<u64> = earlier.collect();
        for seq in sleeping {
            let Some(t) = self.row(slot).play().task(seq) else { continue };
            let (of, pc) = (t.of, t.pc);
            let Some(def) = self.def_of(slot, of) else { continue };
            if pc == NO_PC {
                self.resume_on_event(slot, seq, row_event);
                continue;
            }
            let Some(task) = def.program.task(pc) else { continue };
            if let TaskKind::Custom(custom) = &task.kind {
                let active = self.row(slot).play().activation(of).is_some_and(|a| a.state == AbilityState::Active);
                if let Some(wake) = super::custom::wake_event(custom, row_event).filter(|_| active) {
                    self.call_custom(slot, &def, seq, TaskCall::Wake(wake));
                    self.moved(slot, of);
                }
                continue;
            }
            let Some(value) = self.event_value(slot, seq, task, row_event) else { continue };
            self.fulfil(slot, &def, seq, task, value, row_event);
            self.moved(slot, of);
        }
    }

    /// Returns the value of an event for a task, if it waits for it.
    fn event_value(&self, slot: usize, seq: u64, task: &TaskDef, row_event: &RowEvent) -> Option<f64> {
        let play = self.row(slot).play();
        let t: &Task = play.task(seq)?;
        let a = play.activation(t.of).filter(|a| a.state == AbilityState::Active)?;
        if t.left == PLAYER || t.age == CLOSED {
            return None;
        }
        let truth = |b: bool| b as u8 as f64;
        match (&task.kind, row_event) {
            (TaskKind::WaitGameplayEvent { tag, .. }, RowEvent::Event(e)) => {
                self.rules.tags.is_under(e.tag, *tag).then_some(e.magnitude)
            }
            (TaskKind::WaitTag { tag, added }, RowEvent::Tag { tag: found, added: now }) => {
                (tag == found && added == now).then_some(truth(*now))
            }
            (TaskKind::WaitTag { tag, added }, RowEvent::Resumed) => {
                (self.has(slot, *tag) == *added).then_some(truth(*added))
            }
            (TaskKind::WaitTagChanged { tag, .. }, RowEvent::Tag { tag: found, added }) => {
                (tag == found).then_some(truth(*added))
            }
            (TaskKind::WaitTagQuery(query), RowEvent::Tag { .. } | RowEvent::Resumed) => {
                self.matches_query(slot, query).then_some(1.0)
            }
            (TaskKind::WaitAttributeChange { attribute, .. }, RowEvent::Attribute { attribute: found, new, .. }) => {
                (attribute == found).then_some(*new)
            }
            (
                TaskKind::WaitAttributeThreshold { attribute, comparison, .. },
                RowEvent::Attribute { attribute: found, new, .. },
            ) => (attribute == found && comparison.holds(*new, t.value)).then_some(*new),
            (TaskKind::WaitAttributeThreshold { attribute, comparison, .. }, RowEvent::Resumed) => {
                let now = self.current_of(self.row(slot).id, *attribute)?;
                comparison.holds(now, t.value).then_some(now)
            }
            (TaskKind::WaitEffect { what, applied }, RowEvent::Effect { effect, applied: now, .. }) => {
                (applied == now && self.is_effect(*effect, what)).then_some(0.0)
            }
            (TaskKind::WaitAbility { what, step }, RowEvent::Ability { ability, key, news }) => {
                let step_now = match news {
                    AbilityEvent::Activated => AbilityStep::Activated,
                    AbilityEvent::Committed => AbilityStep::Committed,
                    AbilityEvent::Ended { .. } => AbilityStep::Ended,
                };
                let own = a.key(self.row(slot).id) == *key;
                let picked = || self.ability(*ability).is_some_and(|d| self.is_picked(&d, what));
                let cancelled = matches!(news, AbilityEvent::Ended { cancelled: true, .. });
                (*step == step_now && !own && picked()).then_some(truth(cancelled))
            }
            (TaskKind::WaitInputPressed { input }, RowEvent::Input { input: found, pressed: true, before, .. }) => {
                (seq < *before && self.input_of(slot, t.of, *input) == *found).then_some(0.0)
            }
            (TaskKind::WaitInputRelease { input }, RowEvent::Input { input: found, pressed: false, held, before }) => {
                (seq < *before && self.input_of(slot, t.of, *input) == *found).then_some(held.as_seconds())
            }
            (TaskKind::WaitInputRelease { input }, RowEvent::Resumed) => {
                let input = self.input_of(slot, t.of, *input);
                (!play.held.iter().any(|h| h.input == input)).then_some(0.0)
            }
            _ => None,
        }
    }

    fn is_effect(&self, effect: EffectId, pick: &EffectPick) -> bool {
        match pick {
            EffectPick::Effect(id) => *id == effect,
            EffectPick::Tags(tags) => self.def(effect).is_some_and(|d| {
                let mut mine = d.effect_tags.iter().chain(&d.granted_tags);
                mine.any(|&t| tags.iter().any(|&of| self.rules.tags.is_under(t, of)))
            }),
        }
    }

    /// Fulfils a wait, once or repeatedly.
    fn fulfil(&mut self, slot: usize, def: &AbilityDef, seq: u64, task: &TaskDef, value: f64, row_event: &RowEvent) {
        let Some(of) = self.row(slot).play().task(seq).map(|t| t.of) else { return };
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) {
            match row_event {
                RowEvent::Event(e) => a.event = Some(e.clone()),
                RowEvent::Input { held, pressed: false, .. } => a.held = held.as_seconds(),
                _ => {}
            }
        }
        let (once, body) = match &task.kind {
            TaskKind::WaitGameplayEvent { once, body, .. } => (*once, *body),
            TaskKind::WaitTagChanged { once, .. } | TaskKind::WaitAttributeChange { once, .. } => (*once, NO_PC),
            _ => (true, NO_PC),
        };
        if body != NO_PC
            && let Some(t) = self.row_mut(slot).play_mut().task_mut(seq)
        {
            t.left = (t.left + 1).min(PLAYER - 1);
        }
        if once {
            self.finish_task(slot, def, seq, TaskResult::Completed, value);
        } else {
            self.task_fact(slot, def.id, task.name, seq, TaskResult::Output, value);
        }
        if body != NO_PC {
            self.run_program(slot, def, Strand { of, pc: body, parent: seq, list: false });
        }
    }

    /// Handles a task's timer: a delay passed, a timeline answers or plays on, or a timeout.
    pub(crate) fn task_due(&mut self, slot: usize, seq: u64) {
        let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) else { return };
        t.due = SimTime::NEVER;
        let (of, pc, late, player) = (t.of, t.pc, t.age == LATE, t.left == PLAYER);
        if pc == NO_PC {
            return self.code_due(slot, seq, of);
        }
        let Some(def) = self.def_of(slot, of) else { return };
        let Some(task) = def.program.task(pc) else { return };
        if player {
            self.play_on(slot, &def, seq);
            return self.moved(slot, of);
        }
        match &task.kind {
            _ if late => self.finish_task(slot, &def, seq, TaskResult::Failed, 0.0),
            TaskKind::WaitDelay { .. } | TaskKind::WaitGameTime { .. } => {
                self.finish_task(slot, &def, seq, TaskResult::Completed, 0.0);
            }
            _ => match task.answer.as_ref().filter(|_| self.work.timelines && task.kind.is_seam()) {
                Some(answer) => {
                    let answer = self.timeline_answer(slot, of, answer);
                    self.take_answer(slot, &def, seq, &answer);
                }
                None => self.finish_task(slot, &def, seq, TaskResult::Failed, 0.0),
            },
        }
        self.moved(slot, of);
    }

    /// Reschedules a row after its clock changed: waits for sim time are due at another local time, and a timeout may
    /// now be earlier or later.
    pub(crate) fn retime(&mut self, slot: usize) {
        let now = self.local_now(slot);
        let moment = |at: i64| SimTime(at.clamp(0, SimTime::LONGEST.0));
        let mut waiting: Vec<(u64, SimTime, u16)> = Vec::new();
        for t in self.row(slot).play().tasks.iter().filter(|t| t.due != SimTime::NEVER || !t.code.is_empty()) {
            let Some(def) = self.def_of(slot, t.of) else { continue };
            if !matches!(def.program.task(t.pc).map(|k| &k.kind), Some(TaskKind::WaitGameTime { .. })) {
                continue;
            }
            let reached = self.row(slot).clock.until(moment(t.value as i64)).max(now);
            let late = t.code.as_slice().try_into().map(i64::from_le_bytes);
            waiting.push(match late.map(|at| moment(at).max(now)) {
                Ok(late) if late < reached => (t.seq, late, LATE),
                _ => (t.seq, reached, 0),
            });
        }
        for (seq, due, age) in waiting {
            if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
                t.age = age;
            }
            self.set_due(slot, seq, due);
        }
    }
}
