//! Custom tasks: calls into the host's code, and their results.

use super::{Step, Strand};
use crate::flow::{Flow, Notice};
use crate::rules::{AbilityDef, Call, CustomDef, News, OnFail, Progression, TaskCx, TaskDef, TaskKind, Wake};
use crate::state::{Task, alert};
use crate::{SimTime, TaskKey, TaskResult, TaskState};

/// Returns the alert bits of a custom task.
pub(super) fn alerts(custom: &CustomDef) -> u8 {
    custom.code.hears().iter().fold(0, |bits, news| {
        bits | match news {
            News::Tags => alert::TAG,
            News::Attributes => alert::ATTRIBUTE,
            News::Effects => alert::EFFECT,
            News::Events => alert::EVENT,
            News::Input => alert::INPUT,
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
        call: Call<'_>,
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
            said => said,
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
        let said = self.call(slot, def, s.of, c, &mut state, Call::Activate);
        if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
            t.code = state;
        }
        let (result, value) = match said {
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
            self.go_on(slot, def, task, t, result);
            return Step::Stop;
        }
        Step::Next
    }

    /// Calls a custom task with an event or a tick.
    pub(super) fn call_custom(&mut self, slot: usize, def: &AbilityDef, seq: u64, call: Call<'_>) {
        let Some(t) = self.row(slot).play().task(seq) else { return };
        let (of, pc, mut state) = (t.of, t.pc, t.code.clone());
        let Some(task) = def.program.task(pc) else { return };
        let TaskKind::Custom(c) = &task.kind else { return };
        let said = self.call(slot, def, of, c, &mut state, call);
        if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
            t.code = state;
        }
        match said {
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
            self.call(slot, def, t.of, c, &mut state, Call::End(completed));
        }
    }
}

/// Converts an event for custom tasks, if the task listens to its kind.
pub(super) fn heard<'n>(custom: &CustomDef, notice: &'n Notice) -> Option<Wake<'n>> {
    let (kind, wake) = match notice {
        Notice::Tag { tag, added } => (News::Tags, Wake::Tag { tag: *tag, added: *added }),
        Notice::Attribute { attribute, old, new } => {
            (News::Attributes, Wake::Attribute { attribute: *attribute, old: *old, new: *new })
        }
        Notice::Effect { effect, applied, .. } => (News::Effects, Wake::Effect { effect: *effect, applied: *applied }),
        Notice::Event(e) => (News::Events, Wake::Event(e)),
        Notice::Input { input, pressed, held, .. } => {
            (News::Input, Wake::Input { input: *input, pressed: *pressed, held: *held })
        }
        _ => return None,
    };
    custom.code.hears().contains(&kind).then_some(wake)
}
