//! Handles the events and timers that wake a waiting task.

use super::{CLOSED, LATE, PLAYER, TaskThread, Waiting, WaitingTask};
use crate::flow::{EventCutoff, Flow, RowEvent, TaskPlace};
use crate::rules::NO_PC;
use crate::{AbilityState, SimTime, TaskResult};

impl Flow<'_> {
    /// Wakes the tasks of a row that were waiting for this event before it happened, in the order the tasks started.
    /// Tasks of an inactive controller are paused. When the controller is active again, a task that waits for a state
    /// checks the state.
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
            task.kind.wake(self, WaitingTask { slot, ability: &def, task, seq, of }, row_event);
        }
    }

    /// Returns a waiting task whose ability is active and that has not ended yet.
    pub(crate) fn waiting(&self, slot: usize, seq: u64) -> Option<Waiting<'_>> {
        let play = self.row(slot).play();
        let record = play.task(seq).filter(|t| t.left != PLAYER && t.age != CLOSED)?;
        let activation = play.activation(record.of).filter(|a| a.state == AbilityState::Active)?;
        Some(Waiting { slot, record, activation })
    }

    /// Handles an event that a task waits for: ends the task unless it repeats, and starts its nested tasks.
    pub(crate) fn fulfil(&mut self, at: WaitingTask<'_>, value: f64, row_event: &RowEvent) {
        let WaitingTask { slot, ability, task, seq, of } = at;
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) {
            match row_event {
                RowEvent::Event(e) => a.event = Some(e.clone()),
                RowEvent::Input { held, pressed: false, .. } => a.held = held.as_seconds(),
                RowEvent::Input { pressed: true, .. }
                | RowEvent::Tag { .. }
                | RowEvent::Attribute { .. }
                | RowEvent::Died { .. }
                | RowEvent::Effect { .. }
                | RowEvent::Granted { .. }
                | RowEvent::Ability { .. }
                | RowEvent::Liveness
                | RowEvent::Freed
                | RowEvent::Resumed => {}
            }
        }
        let body = task.kind.body();
        if body != NO_PC
            && let Some(t) = self.row_mut(slot).play_mut().task_mut(seq)
        {
            t.left = (t.left + 1).min(PLAYER - 1);
        }
        if task.kind.repeats() {
            self.task_fact(slot, ability.id, task.name, seq, TaskResult::Output, value);
        } else {
            self.finish_task(slot, ability, seq, TaskResult::Completed, value);
        }
        if body != NO_PC {
            self.run_program(slot, ability, TaskThread { of, pc: body, parent: seq, list: false });
        }
        self.moved(slot, of);
    }

    /// Handles a task's timer: a delay, the answer or next notify of a timeline, or a timeout.
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
        let answer = task.answer.as_ref().filter(|_| self.work.timelines && task.kind.is_host_answered());
        if !late && task.kind.completes_on_timer() {
            self.finish_task(slot, &def, seq, TaskResult::Completed, 0.0);
        } else if let Some(answer) = answer.filter(|_| !late) {
            let place = TaskPlace { ability: def.id, pc };
            let answer = self.timeline_answer(slot, of, place, answer);
            self.take_answer(slot, &def, seq, &answer);
        } else {
            self.finish_task(slot, &def, seq, TaskResult::Failed, 0.0);
        }
        self.moved(slot, of);
    }

    /// Reschedules the waiting tasks of a row after its clock changed.
    pub(crate) fn retime(&mut self, slot: usize) {
        let mut waiting: Vec<(u64, SimTime, u16)> = Vec::new();
        for t in self.row(slot).play().tasks.iter().filter(|t| t.due != SimTime::NEVER || !t.code.is_empty()) {
            let Some(def) = self.def_of(slot, t.of) else { continue };
            let Some(task) = def.program.task(t.pc) else { continue };
            let Some((due, is_timeout)) = task.kind.due_after_clock_change(self, slot, t) else { continue };
            waiting.push((t.seq, due, if is_timeout { LATE } else { 0 }));
        }
        for (seq, due, age) in waiting {
            if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
                t.age = age;
            }
            self.set_due(slot, seq, due);
        }
    }
}
