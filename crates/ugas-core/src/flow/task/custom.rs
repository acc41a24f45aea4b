//! Custom tasks: calls into the host's code, and their results.

use super::{Step, Strand};
use crate::flow::{Flow, RowEvent};
use crate::rules::{
    AbilityDef, CustomDef, OnFail, Progression, TaskCall, TaskCx, TaskDef, TaskKind, WakeEvent, WakeKind,
};
use crate::state::{Task, alert};
use crate::{SimTime, TaskKey, TaskResult, TaskState};

/// Returns the alert bits of a custom task.
pub(super) fn alerts(custom: &CustomDef) -> u8 {
    custom.code.wakes_on().iter().fold(0, |bits, news| {
        bits | match news {
            WakeKind::Tags => alert::TAG,
            WakeKind::Attributes => alert::ATTRIBUTE,
            WakeKind::Effects => alert::EFFECT,
            WakeKind::Events => alert::EVENT,
            WakeKind::Input => alert::INPUT,
        }
    })
}

impl Flow<'_> {
    fn call(
        &self,
        slot: usize,
        def: &AbilityDef,
        of: u64,
        c: &CustomDef,
        state: &mut Vec<u8>,
        call: TaskCall<'_>,
    ) -> Progression {
        let row = self.row(slot);
        let who = row.id;
        let cx = TaskCx {
            rules: self.rules,
            who,
            ability: def.id,
            level: row.play().activation(of).map_or(1, |a| a.level),
            now: self.local_now(slot),
            params: &c.params,
            values: &|a| self.current_of(who, a),
            tags: &|t| self.rules.tags.def(t).is_some() && self.has(slot, t),
        };
        match c.code.call(state, call, &cx) {
            Progression::Complete(v) | Progression::Output(v) if !v.is_finite() => Progression::Fail,
            progress => progress,
        }
    }

    pub(super) fn start_custom(
        &mut self,
        slot: usize,
        def: &AbilityDef,
        s: Strand,
        task: &TaskDef,
        c: &CustomDef,
    ) -> Step {
        let now = self.local_now(slot);
        let late = task.time_out.as_ref().and_then(|t| self.length_of(slot, s.of, t));
        let due = late.map_or(SimTime::NEVER, |t| now + t);
        let Some(seq) = self.sleep(slot, s, |t| t.due = due) else { return Step::Stop };
        let key = TaskKey { seq, who: self.row(slot).id };
        self.trace_task(slot, def.id, task.name, key, TaskState::Ready);
        self.trace_task(slot, def.id, task.name, key, TaskState::Active);
        let mut state = Vec::new();
        let progress = self.call(slot, def, s.of, c, &mut state, TaskCall::Activate);
        if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
            t.code = state;
        }
        let (result, value) = match progress {
            Progression::Wait => return Step::Sleep,
            Progression::Output(value) => {
                self.task_fact(slot, def.id, task.name, seq, TaskResult::Output, value);
                return Step::Sleep;
            }
            Progression::Complete(value) => (TaskResult::Completed, value),
            Progression::Fail => (TaskResult::Failed, 0.0),
        };
        // The strand is already running: it continues unless the failure ends the ability.
        self.task_fact(slot, def.id, task.name, seq, result, value);
        let Some(t) = self.take_task(slot, seq) else { return Step::Stop };
        self.end_custom(slot, def, &t, result == TaskResult::Completed);
        if result == TaskResult::Failed && task.on_fail != OnFail::Continue {
            self.continue_strand(slot, def, task, t, result);
            return Step::Stop;
        }
        Step::Next
    }

    /// Calls a custom task with an event or a tick.
    pub(super) fn call_custom(&mut self, slot: usize, def: &AbilityDef, seq: u64, call: TaskCall<'_>) {
        let Some(t) = self.row(slot).play().task(seq) else { return };
        let (of, pc, mut state) = (t.of, t.pc, t.code.clone());
        let Some(task) = def.program.task(pc) else { return };
        let TaskKind::Custom(c) = &task.kind else { return };
        let progress = self.call(slot, def, of, c, &mut state, call);
        if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
            t.code = state;
        }
        match progress {
            Progression::Wait => {}
            Progression::Output(value) => self.task_fact(slot, def.id, task.name, seq, TaskResult::Output, value),
            Progression::Complete(value) => self.finish_task(slot, def, seq, TaskResult::Completed, value),
            Progression::Fail => self.finish_task(slot, def, seq, TaskResult::Failed, 0.0),
        }
    }

    /// Calls a custom task for the last time, whatever its result.
    pub(super) fn end_custom(&mut self, slot: usize, def: &AbilityDef, t: &Task, completed: bool) {
        if let Some(TaskKind::Custom(c)) = def.program.task(t.pc).map(|k| &k.kind) {
            let mut state = t.code.clone();
            self.call(slot, def, t.of, c, &mut state, TaskCall::End(completed));
        }
    }
}

/// Converts an event for custom tasks, if the task listens to its kind.
pub(super) fn wake_event<'n>(custom: &CustomDef, row_event: &'n RowEvent) -> Option<WakeEvent<'n>> {
    let (kind, wake) = match row_event {
        RowEvent::Tag { tag, added } => (WakeKind::Tags, WakeEvent::Tag { tag: *tag, added: *added }),
        RowEvent::Attribute { attribute, old, new } => {
            (WakeKind::Attributes, WakeEvent::Attribute { attribute: *attribute, old: *old, new: *new })
        }
        RowEvent::Effect { effect, applied, .. } => {
            (WakeKind::Effects, WakeEvent::Effect { effect: *effect, applied: *applied })
        }
        RowEvent::Event(e) => (WakeKind::Events, WakeEvent::Event(e)),
        RowEvent::Input { input, pressed, held, .. } => {
            (WakeKind::Input, WakeEvent::Input { input: *input, pressed: *pressed, held: *held })
        }
        _ => return None,
    };
    custom.code.wakes_on().contains(&kind).then_some(wake)
}
