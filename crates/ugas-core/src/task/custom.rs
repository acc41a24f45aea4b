//! Custom tasks: tasks that call the host's code and handle its results.

use super::TaskType;
use crate::flow::{Flow, RowEvent, Step, TaskAt, WaitingTask};
use crate::rules::{
    AbilityDef, ErasedTask, Fields, OnFail, Progression, TaskCall, TaskCategory, TaskCx, WakeEvent, WakeKind,
};
use crate::state::{Task, alert};
use crate::{AbilityState, ControllerId, SimTime, TaskKey, TaskResult, TaskState};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use ugas_doc::Value;

/// A task of a type that the host registered, with its authored parameters.
#[derive(Clone)]
pub(crate) struct Custom {
    pub(crate) code: Arc<dyn ErasedTask>,
    params: Arc<BTreeMap<String, Value>>,
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("params", &self.params).finish_non_exhaustive()
    }
}

/// Compares the parameters and not the code, because rebuilt rules register the code again.
impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        self.params == other.params
    }
}

impl TaskType for Custom {
    const CATEGORY: TaskCategory = TaskCategory::Custom;

    fn parse(f: &mut Fields<'_, '_, '_>) -> Option<Self> {
        f.accept_rest();
        Some(Self { code: f.registered_code()?, params: Arc::new(f.params().clone()) })
    }

    fn start(&self, flow: &mut Flow<'_>, at: TaskAt<'_>) -> Step {
        let TaskAt { slot, ability, thread, task } = at;
        let now = flow.local_now(slot);
        let late = task.time_out.as_ref().and_then(|t| flow.length_of(slot, thread.of, t));
        let due = late.map_or(SimTime::NEVER, |t| now + t);
        let Some(seq) = flow.sleep(slot, thread, |t| t.due = due) else { return Step::Stop };
        let key = TaskKey { seq, who: flow.row(slot).id };
        flow.trace_task(slot, ability.id, task.name, key, TaskState::Ready);
        flow.trace_task(slot, ability.id, task.name, key, TaskState::Active);
        let mut state = Vec::new();
        let progress = self.call(flow, slot, ability, thread.of, &mut state, TaskCall::Activate);
        if let Some(t) = flow.row_mut(slot).play_mut().task_mut(seq) {
            t.code = state;
        }
        let (result, value) = match progress {
            Progression::Wait => return Step::Sleep,
            Progression::Output(value) => {
                flow.task_fact(slot, ability.id, task.name, seq, TaskResult::Output, value);
                return Step::Sleep;
            }
            Progression::Complete(value) => (TaskResult::Completed, value),
            Progression::Fail => (TaskResult::Failed, 0.0),
        };
        // The thread is running: it continues unless the failure ends the ability.
        flow.task_fact(slot, ability.id, task.name, seq, result, value);
        let Some(t) = flow.take_task(slot, seq) else { return Step::Stop };
        self.ended(flow, slot, ability, &t, result == TaskResult::Completed);
        if result == TaskResult::Failed && task.on_fail != OnFail::Continue {
            flow.continue_thread(slot, ability, task, t, result);
            return Step::Stop;
        }
        Step::Next
    }

    fn wakes_on(&self) -> u8 {
        self.code.wakes_on().iter().fold(0, |bits, kind| {
            bits | match kind {
                WakeKind::Tags => alert::TAG,
                WakeKind::Attributes => alert::ATTRIBUTE,
                WakeKind::Effects => alert::EFFECT,
                WakeKind::Events => alert::EVENT,
                WakeKind::Input => alert::INPUT,
            }
        })
    }

    fn wake(&self, flow: &mut Flow<'_>, at: WaitingTask<'_>, event: &RowEvent) {
        let activation = flow.row(at.slot).play().activation(at.of);
        let is_active = activation.is_some_and(|a| a.state == AbilityState::Active);
        if let Some(event) = self.wake_event(event).filter(|_| is_active) {
            self.resume(flow, at, TaskCall::Wake(event));
            flow.moved(at.slot, at.of);
        }
    }

    fn tick(&self, flow: &mut Flow<'_>, at: WaitingTask<'_>, elapsed: SimTime, _: Vec<ControllerId>) {
        self.resume(flow, at, TaskCall::Tick(elapsed));
        flow.moved(at.slot, at.of);
    }

    fn ended(&self, flow: &Flow<'_>, slot: usize, ability: &AbilityDef, t: &Task, completed: bool) {
        let mut state = t.code.clone();
        self.call(flow, slot, ability, t.of, &mut state, TaskCall::End(completed));
    }
}

impl Custom {
    fn call(
        &self,
        flow: &Flow<'_>,
        slot: usize,
        ability: &AbilityDef,
        of: u64,
        state: &mut Vec<u8>,
        call: TaskCall<'_>,
    ) -> Progression {
        let row = flow.row(slot);
        let who = row.id;
        let cx = TaskCx {
            rules: flow.rules,
            who,
            ability: ability.id,
            level: row.play().activation(of).map_or(1, |a| a.level),
            now: flow.local_now(slot),
            params: &self.params,
            values: &|a| flow.current_of(who, a),
            tags: &|t| flow.rules.tags.def(t).is_some() && flow.has(slot, t),
        };
        match self.code.call(state, call, &cx) {
            Progression::Complete(v) | Progression::Output(v) if !v.is_finite() => Progression::Fail,
            progress @ (Progression::Complete(_) | Progression::Output(_) | Progression::Wait | Progression::Fail) => {
                progress
            }
        }
    }

    /// Calls the waiting task with an event or a tick.
    fn resume(&self, flow: &mut Flow<'_>, at: WaitingTask<'_>, call: TaskCall<'_>) {
        let WaitingTask { slot, ability, task, seq, of } = at;
        let Some(mut state) = flow.row(slot).play().task(seq).map(|t| t.code.clone()) else { return };
        let progress = self.call(flow, slot, ability, of, &mut state, call);
        if let Some(t) = flow.row_mut(slot).play_mut().task_mut(seq) {
            t.code = state;
        }
        match progress {
            Progression::Wait => {}
            Progression::Output(value) => flow.task_fact(slot, ability.id, task.name, seq, TaskResult::Output, value),
            Progression::Complete(value) => flow.finish_task(slot, ability, seq, TaskResult::Completed, value),
            Progression::Fail => flow.finish_task(slot, ability, seq, TaskResult::Failed, 0.0),
        }
    }

    /// Converts an event for the host's code, if the task listens to its kind.
    fn wake_event<'e>(&self, event: &'e RowEvent) -> Option<WakeEvent<'e>> {
        let (kind, wake) = match event {
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
            RowEvent::Died { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Liveness
            | RowEvent::Freed
            | RowEvent::Resumed => return None,
        };
        self.code.wakes_on().contains(&kind).then_some(wake)
    }
}
