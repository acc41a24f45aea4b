//! The start of a task. An action runs immediately. A task that can wait ends immediately if its condition is already
//! met or can never be met. Otherwise it stores a record and waits.

use super::{LATE, TaskAt};
use crate::flow::{Flow, TaskPlace};
use crate::rules::{EventTo, Num, OnFail};
use crate::state::Task;
use crate::{Answer, ControllerId, SimTime, TaskKey, TaskResult, TaskState};

/// The result of starting a task.
pub(crate) enum Step {
    Next,
    Sleep,
    Stop,
}

/// The data that a waiting task stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// The time at which the task's timer ends, on the owner's clock.
    pub(crate) due: SimTime,
    /// A number whose meaning depends on the task type: a range, a threshold or a time.
    pub(crate) value: f64,
    /// Whether the task also stores the end of its timeout. Needed if the controller's clock decides whether the timer
    /// or the timeout ends first.
    pub(crate) keeps_timeout: bool,
}

impl Default for Wait {
    fn default() -> Wait {
        Wait { due: SimTime::NEVER, value: 0.0, keeps_timeout: false }
    }
}

impl Flow<'_> {
    pub(super) fn start_task(&mut self, at: TaskAt<'_>) -> Step {
        let TaskAt { slot, ability, thread, task } = at;
        if task.kind.waits() {
            // The compiler rejects such a task in a list that must not wait.
            return if thread.list { Step::Next } else { task.kind.start(self, at) };
        }
        self.trace_task(slot, ability.id, task.name, TaskKey::NONE, TaskState::Ready);
        self.trace_task(slot, ability.id, task.name, TaskKey::NONE, TaskState::Active);
        let step = task.kind.start(self, at);
        self.trace_task(slot, ability.id, task.name, TaskKey::NONE, TaskState::Completed);
        step
    }

    /// Returns the controllers that a task selects.
    pub(crate) fn resolve_targets(&self, slot: usize, of: u64, to: EventTo) -> Vec<ControllerId> {
        let Some(a) = self.row(slot).play().activation(of) else { return Vec::new() };
        match to {
            EventTo::Owner => vec![self.row(slot).id],
            EventTo::Targets if !a.targets.is_empty() => a.targets.clone(),
            EventTo::Target | EventTo::Targets => self.aim(slot, of).into_iter().collect(),
        }
    }

    /// Makes a task wait: stores its record, with a timer for the timeout or for the timeline's answer.
    pub(crate) fn wait(&mut self, at: TaskAt<'_>, wait: Wait) -> Step {
        let TaskAt { slot, ability, thread, task } = at;
        let now = self.local_now(slot);
        let mut due = wait.due;
        if let Some(answer) = task.answer.as_ref().filter(|_| self.work.timelines) {
            due = now + answer.after;
        }
        let mut age = 0;
        let late = task.time_out.as_ref().and_then(|t| self.length_of(slot, thread.of, t)).map(|t| now + t);
        if let Some(late) = late.filter(|&t| t < due) {
            due = late;
            // A ticking task has no other timer; its age counts frames.
            age = if task.interval.is_some() { 0 } else { LATE };
        }
        let code = match late {
            Some(late) if wait.keeps_timeout => late.0.to_le_bytes().to_vec(),
            Some(_) | None => Vec::new(),
        };
        let fill = |t: &mut Task| (t.due, t.value, t.age, t.code) = (due, wait.value, age, code);
        let Some(seq) = self.sleep(slot, thread, fill) else { return Step::Stop };
        let key = TaskKey { seq, who: self.row(slot).id };
        self.trace_task(slot, ability.id, task.name, key, TaskState::Ready);
        self.trace_task(slot, ability.id, task.name, key, TaskState::Active);
        if task.kind.is_host_answered() {
            self.request(at, key);
        }
        Step::Sleep
    }

    /// Makes a task wait for targets within a range. Without a range, the distance is not limited.
    pub(crate) fn wait_for_targets(&mut self, at: TaskAt<'_>, range: Option<&Num>) -> Step {
        let value = range.and_then(|r| self.value_of(at.slot, at.thread.of, r)).unwrap_or(f64::INFINITY);
        self.wait(at, Wait { value, ..Wait::default() })
    }

    /// Completes a waiting task whose condition is met when the task starts.
    pub(crate) fn complete_now(&mut self, at: TaskAt<'_>, value: f64) -> Step {
        self.end_now(at, TaskResult::Completed, value);
        Step::Next
    }

    /// Fails a waiting task whose condition can never be met.
    pub(crate) fn fail_now(&mut self, at: TaskAt<'_>) -> Step {
        let TaskAt { slot, ability, thread, task } = at;
        let seq = self.end_now(at, TaskResult::Failed, 0.0);
        match task.on_fail {
            OnFail::Continue => Step::Next,
            OnFail::End | OnFail::Cancel => {
                let t = Task { seq, of: thread.of, parent: thread.parent, pc: thread.pc, ..blank() };
                self.continue_thread(slot, ability, task, t, TaskResult::Failed);
                Step::Stop
            }
        }
    }

    /// Reports a waiting task that ended when it started. The task still takes a sequence number, which distinguishes
    /// its fact from other facts.
    fn end_now(&mut self, at: TaskAt<'_>, result: TaskResult, value: f64) -> u64 {
        let TaskAt { slot, ability, task, .. } = at;
        let seq = self.row_mut(slot).take_seq();
        let key = TaskKey { seq, who: self.row(slot).id };
        self.trace_task(slot, ability.id, task.name, key, TaskState::Ready);
        self.trace_task(slot, ability.id, task.name, key, TaskState::Active);
        self.task_fact(slot, ability.id, task.name, seq, result, value);
        seq
    }

    /// Returns the answer of a timeline to a waiting task.
    pub(super) fn timeline_answer(
        &mut self,
        slot: usize,
        of: u64,
        task: TaskPlace,
        answer: &crate::rules::AnswerDef,
    ) -> Answer {
        let targets = match answer.target {
            ugas_doc::AnswerTarget::Activation => self.aim(slot, of).into_iter().collect(),
            ugas_doc::AnswerTarget::Nearest => {
                self.search(slot, task, f64::INFINITY, &[]).first().map(|f| f.who).into_iter().collect()
            }
            ugas_doc::AnswerTarget::None => Vec::new(),
        };
        Answer { fail: answer.fail, targets, hit: None, value: 0.0 }
    }
}

fn blank() -> Task {
    Task {
        seq: 0,
        of: 0,
        parent: 0,
        due: SimTime::NEVER,
        since: SimTime::ZERO,
        value: 0.0,
        pc: 0,
        age: 0,
        left: 0,
        code: Vec::new(),
    }
}
