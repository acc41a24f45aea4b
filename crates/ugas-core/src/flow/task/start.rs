//! The start of each task: actions run, requests are sent to the host, waits sleep unless their condition is already
//! met.

use super::{LATE, Step, Strand};
use crate::flow::Flow;
use crate::flow::ability::EndHow;
use crate::rules::{AbilityDef, EventTo, Num, TaskDef, TaskKind};
use crate::state::Task;
use crate::{Answer, ControllerId, SimTime, TaskKey, TaskResult, TaskState};

impl Flow<'_> {
    pub(super) fn start_task(&mut self, slot: usize, def: &AbilityDef, s: Strand, task: &TaskDef) -> Step {
        let at_once = !task.kind.waits();
        if at_once {
            self.trace_task(slot, def.id, task.name, TaskKey::NONE, TaskState::Ready);
            self.trace_task(slot, def.id, task.name, TaskKey::NONE, TaskState::Active);
        }
        let step = self.do_task(slot, def, s, task);
        if at_once {
            self.trace_task(slot, def.id, task.name, TaskKey::NONE, TaskState::Completed);
        }
        step
    }

    fn do_task(&mut self, slot: usize, def: &AbilityDef, s: Strand, task: &TaskDef) -> Step {
        let who = self.row(slot).id;
        match &task.kind {
            TaskKind::ApplyToOwner(apply) => self.apply_from(slot, s, apply, who),
            TaskKind::ApplyToTarget(apply) => {
                for target in self.resolve_targets(slot, s.of, EventTo::Targets) {
                    self.apply_from(slot, s, apply, target);
                }
            }
            TaskKind::ApplyInRadius { apply, radius, ignore, max } => {
                self.apply_in_radius(slot, s, apply, radius, ignore, *max);
            }
            TaskKind::RemoveFromOwner(remove) => self.remove_from(who, who, remove),
            TaskKind::RemoveFromTarget(remove) => {
                for target in self.resolve_targets(slot, s.of, EventTo::Targets) {
                    self.remove_from(who, target, remove);
                }
            }
            TaskKind::Commit => {
                if self.commit(slot, s.of).is_err() {
                    self.finish(slot, s.of, EndHow::Cancelled);
                    return Step::Stop;
                }
            }
            TaskKind::End { cancelled } => {
                self.finish(slot, s.of, if *cancelled { EndHow::Cancelled } else { EndHow::Ended });
                return Step::Stop;
            }
            TaskKind::CancelAbility(pick) => self.cancel_picked(slot, s.of, pick),
            TaskKind::SendEvent { tag, to, magnitude } => self.send_from(slot, s.of, *tag, *to, magnitude.as_ref()),
            TaskKind::SetParam { param, value } => {
                let grant = self.row(slot).play().activation(s.of).map(|a| a.grant);
                if let (Some(grant), Some(value)) = (grant, self.value_of(slot, s.of, value)) {
                    // A removed grant has no parameters; the list continues.
                    let _ = self.set_param(who, grant, *param, value);
                }
            }
            TaskKind::SetRestriction { name, active } => {
                if let Some(grant) = self.row(slot).play().activation(s.of).map(|a| a.grant) {
                    let _ = self.restrict(who, grant, *name, *active);
                }
            }
            TaskKind::SetTarget { pick, radius, ignore } => self.set_target(slot, s.of, *pick, radius.as_ref(), ignore),
            TaskKind::ExecuteCue(tag) => self.burst_cue(slot, *tag),
            TaskKind::AddCue(tag) => self.add_cue(slot, s.of, *tag),
            TaskKind::RemoveCue(tag) => self.remove_cue(slot, s.of, *tag),
            TaskKind::PlayMontage { rate, timeline, .. } => {
                self.request(slot, def, task, TaskKey::NONE);
                if let Some(timeline) = timeline {
                    self.play_timeline(slot, s, *timeline, rate);
                }
            }
            TaskKind::SpawnProjectile { .. } | TaskKind::Request { .. } => self.request(slot, def, task, TaskKey::NONE),
            _ if s.list => {}
            TaskKind::Custom(custom) => return self.start_custom(slot, def, s, task, custom),
            _ => return self.start_wait(slot, def, s, task),
        }
        Step::Next
    }

    /// Returns the controller that a task selects.
    pub(super) fn resolve_targets(&self, slot: usize, of: u64, to: EventTo) -> Vec<ControllerId> {
        let Some(a) = self.row(slot).play().activation(of) else { return Vec::new() };
        match to {
            EventTo::Owner => vec![self.row(slot).id],
            EventTo::Targets if !a.targets.is_empty() => a.targets.clone(),
            EventTo::Target | EventTo::Targets => self.aim(slot, of).into_iter().collect(),
        }
    }

    /// Starts a wait: completes immediately, or sleeps.
    fn start_wait(&mut self, slot: usize, def: &AbilityDef, s: Strand, task: &TaskDef) -> Step {
        if let Some(result) = self.done_at_once(slot, s, task) {
            return self.at_once(slot, def, s, task, result);
        }
        let now = self.row(slot).clock.local(self.st.now);
        let mut fill = Task { due: SimTime::NEVER, value: 0.0, age: 0, ..blank() };
        match &task.kind {
            TaskKind::WaitDelay { duration } => match self.length_of(slot, s.of, duration) {
                Some(length) => fill.due = now + length,
                None => return self.at_once(slot, def, s, task, Err(())),
            },
            TaskKind::WaitGameTime { time } => match self.length_of(slot, s.of, time) {
                Some(time) => {
                    fill.value = time.0 as f64;
                    fill.due = self.row(slot).clock.until(time).max(now);
                }
                None => return self.at_once(slot, def, s, task, Err(())),
            },
            TaskKind::WaitAttributeThreshold { value, .. } => match self.value_of(slot, s.of, value) {
                Some(value) => fill.value = value,
                None => return self.at_once(slot, def, s, task, Err(())),
            },
            TaskKind::WaitOverlap { radius: range, .. }
            | TaskKind::WaitForTarget { max_range: range }
            | TaskKind::WaitTargetData { max_range: range, .. } => {
                fill.value = self.range_of(slot, s.of, range.as_ref());
            }
            _ => {}
        }
        if let Some(answer) = task.answer.as_ref().filter(|_| self.work.timelines) {
            fill.due = now + answer.after;
        }
        let late = task.time_out.as_ref().and_then(|t| self.length_of(slot, s.of, t)).map(|t| now + t);
        if let Some(late) = late.filter(|&t| t < fill.due) {
            fill.due = late;
            // A ticking task has no other timer and counts frames here.
            fill.age = if task.interval.is_some() { 0 } else { LATE };
        }
        if let (TaskKind::WaitGameTime { .. }, Some(late)) = (&task.kind, late) {
            // Which of the two is first changes with the clock.
            fill.code = late.0.to_le_bytes().to_vec();
        }
        let Task { due, value, age, code, .. } = fill;
        let Some(seq) = self.sleep(slot, s, |t| (t.due, t.value, t.age, t.code) = (due, value, age, code)) else {
            return Step::Stop;
        };
        let key = TaskKey { seq, who: self.row(slot).id };
        self.trace_task(slot, def.id, task.name, key, TaskState::Ready);
        self.trace_task(slot, def.id, task.name, key, TaskState::Active);
        if task.kind.is_seam() {
            self.request(slot, def, task, key);
        }
        Step::Sleep
    }

    fn range_of(&self, slot: usize, of: u64, range: Option<&Num>) -> f64 {
        range.and_then(|r| self.value_of(slot, of, r)).unwrap_or(f64::INFINITY)
    }

    /// Completes a wait that never slept. It has a number all the same: that distinguishes its fact from others.
    fn at_once(&mut self, slot: usize, def: &AbilityDef, s: Strand, task: &TaskDef, result: Result<f64, ()>) -> Step {
        let seq = self.row_mut(slot).take_seq();
        let key = TaskKey { seq, who: self.row(slot).id };
        self.trace_task(slot, def.id, task.name, key, TaskState::Ready);
        self.trace_task(slot, def.id, task.name, key, TaskState::Active);
        let (how, value) = match result {
            Ok(value) => (TaskResult::Completed, value),
            Err(()) => (TaskResult::Failed, 0.0),
        };
        self.task_fact(slot, def.id, task.name, seq, how, value);
        if how == TaskResult::Failed {
            let t = Task { seq, of: s.of, parent: s.parent, pc: s.pc, ..blank() };
            return match task.on_fail {
                crate::rules::OnFail::Continue => Step::Next,
                _ => {
                    self.continue_strand(slot, def, task, t, how);
                    Step::Stop
                }
            };
        }
        Step::Next
    }

    /// Returns the answer of a timeline to a waiting task.
    pub(super) fn timeline_answer(&self, slot: usize, of: u64, answer: &crate::rules::AnswerDef) -> Answer {
        let targets = match answer.target {
            ugas_doc::AnswerTarget::Activation => self.aim(slot, of).into_iter().collect(),
            ugas_doc::AnswerTarget::Nearest => self.nearest(slot).into_iter().collect(),
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
