//! Tasks: programs whose state is plain data.
//!
//! The task lists of an ability are compiled into one flat program (see `rules/program.rs`). A thread is an address in
//! the program, not an operating-system thread. It runs until it waits or ends. A waiting thread is a small record in
//! the row, so a capture of a waiting ability takes a few bytes. Waiting tasks are not polled. A task is woken by a
//! timer, by an event that its row listens to, by the host's answer or, if it ticks, at a frame.

mod answer;
mod coded;
mod effect;
mod event;
mod frame;
mod listen;
mod number;
mod space;
mod start;
mod timeline;
mod wait;

pub(crate) use effect::{child_of_act, path_of_act};
pub(crate) use frame::{FrameConfig, is_retry};
pub(crate) use start::{Step, Wait};

use super::ability::EndHow;
use super::{Flow, Via};
use crate::rules::{AbilityDef, Inst, NO_PC, OnFail, TaskDef, Test};
use crate::state::{AbilityRef, Activation, Due, Task, TimerKind};
use crate::{
    AbilityId, AbilityState, ControllerId, DiagnosticKind, EffectId, FactKind, Role, SimTime, Simulated, SimulatedStep,
    TaskKey, TaskKindId, TaskResult, TaskState, TraceKind,
};

/// The task lists of an ability other than its main list. Tasks in these lists never wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tick,
    Cancel,
    Interrupt,
    Mispredicted,
}

/// The index of the predicted list among the lists of one event.
const PREDICTED: usize = 1;

/// Maximum number of waiting tasks of one controller.
const TASKS: usize = 1024;

/// In [`Task::left`]: the record plays a timeline, and no thread waits for the record.
const PLAYER: u16 = u16::MAX;
/// In [`Task::age`] of a task that does not tick: its timer is a timeout.
const LATE: u16 = u16::MAX - 1;
/// In [`Task::age`]: the task has ended and waits only for the threads that it started.
const CLOSED: u16 = u16::MAX;

/// The maximum of ages and timeline positions. The two larger values are the marks above.
const OLDEST: u16 = u16::MAX - 2;

/// A running position in a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskThread {
    /// The activation.
    pub(crate) of: u64,
    pub(crate) pc: u16,
    /// The task that forked the thread, or 0.
    pub(crate) parent: u64,
    /// Whether the thread belongs to a list that also runs while the ability is ending.
    pub(crate) list: bool,
}

/// A task that a thread reached.
#[derive(Clone, Copy)]
pub(crate) struct TaskAt<'t> {
    pub(crate) slot: usize,
    pub(crate) ability: &'t AbilityDef,
    pub(crate) thread: TaskThread,
    pub(crate) task: &'t TaskDef,
}

/// A waiting task that an event or a tick reaches.
#[derive(Clone, Copy)]
pub(crate) struct WaitingTask<'t> {
    pub(crate) slot: usize,
    pub(crate) ability: &'t AbilityDef,
    pub(crate) task: &'t TaskDef,
    pub(crate) seq: u64,
    /// The activation.
    pub(crate) of: u64,
}

/// The record of a waiting task and its activation.
pub(crate) struct Waiting<'t> {
    pub(crate) slot: usize,
    pub(crate) record: &'t Task,
    pub(crate) activation: &'t Activation,
}

impl<'r> Flow<'r> {
    /// Returns an ability's definition. The reference stays valid while tasks change the sim.
    pub(crate) fn ability(&self, ability: AbilityId) -> Option<AbilityRef<'r>> {
        self.st.definitions.ability(self.rules, ability)
    }

    fn def_of(&self, slot: usize, of: u64) -> Option<AbilityRef<'r>> {
        let ability = self.row(slot).play().activation(of)?.ability;
        self.ability(ability)
    }

    /// Starts an activation's main list. Waiting tasks are stored in the row.
    pub(crate) fn start_tasks(&mut self, slot: usize, seq: u64) {
        let Some(def) = self.def_of(slot, seq) else { return };
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            a.repeats.resize(def.program.regs as usize, 0);
        }
        self.resume(slot, seq, crate::rules::Resume::Activated);
        if def.program.entry.main != NO_PC {
            self.run_program(slot, &def, TaskThread { of: seq, pc: def.program.entry.main, parent: 0, list: false });
        }
        self.tasks_moved(slot);
    }

    /// Runs the task lists of one event that belong to this machine: the common list, the predicted list if the machine
    /// controls the row locally, and then the server's list if the sim is authoritative or standalone. The list for
    /// observers is run by [`Flow::run_simulated`].
    pub(crate) fn run_list(&mut self, slot: usize, seq: u64, list: ListKind) {
        let Some(def) = self.def_of(slot, seq) else { return };
        let entry = def.program.entry;
        let [common, predicted, decided] = match list {
            ListKind::Tick => [entry.tick[0], entry.tick[1], entry.tick[2]],
            ListKind::Cancel => [entry.cancel[0], entry.cancel[1], entry.cancel[2]],
            ListKind::Interrupt => [entry.interrupt[0], NO_PC, entry.interrupt[1]],
            ListKind::Mispredicted => [entry.mispredicted, NO_PC, NO_PC],
        };
        let predicted = if self.view().is_local(self.row(slot).id) { predicted } else { NO_PC };
        let decided = match self.work.role {
            Role::Standalone | Role::Authority => decided,
            Role::Client => NO_PC,
        };
        let starts = [common, predicted, decided];
        let is_tick = list == ListKind::Tick;
        if starts.iter().all(|&pc| pc == NO_PC) {
            if is_tick {
                self.apply_first_target(slot, seq);
            }
            return;
        }
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(seq) {
            a.repeats.resize(def.program.regs as usize, 0);
        }
        for (at, pc) in starts.into_iter().enumerate() {
            let is_predicted = is_tick && at == PREDICTED;
            if is_predicted {
                self.apply_first_target(slot, seq);
            }
            if pc != NO_PC {
                let ticking = is_predicted.then(|| self.key_of(slot, seq));
                let outer = std::mem::replace(&mut self.sc.predicted_targets.ticking, ticking);
                self.run_program(slot, &def, TaskThread { of: seq, pc, parent: 0, list: true });
                self.sc.predicted_targets.ticking = outer;
            }
        }
        self.tasks_moved(slot);
    }

    /// Runs the observers' list of an ability on a remote actor's row. Such a row has no grant of the ability.
    pub(crate) fn run_simulated(&mut self, slot: usize, what: &Simulated) {
        let Some(def) = self.ability(what.ability) else { return };
        let entry = def.program.entry;
        let pc = match what.step {
            SimulatedStep::Tick(_) => entry.tick[3],
            SimulatedStep::Cancel => entry.cancel[3],
            SimulatedStep::Interrupt => entry.interrupt[2],
        };
        if pc == NO_PC {
            return;
        }
        let seq = self.push_simulated(slot, what, def.program.regs as usize);
        self.run_program(slot, &def, TaskThread { of: seq, pc, parent: 0, list: true });
        self.cancel_tasks(slot, seq);
        self.drop_activation(slot, seq);
        self.tasks_moved(slot);
    }

    /// Cancels an activation's tasks in the order they started.
    pub(crate) fn cancel_tasks(&mut self, slot: usize, seq: u64) {
        let all: Vec<u64> = self.row(slot).play().tasks.iter().filter(|t| t.of == seq).map(|t| t.seq).collect();
        if all.is_empty() {
            return;
        }
        let Some(def) = self.def_of(slot, seq) else { return };
        all.into_iter().for_each(|task| self.drop_task(slot, &def, task));
        self.tasks_moved(slot);
    }

    /// Returns whether a waiting task keeps an activation active. A playing montage does not keep an activation active.
    pub(crate) fn has_tasks(&self, slot: usize, seq: u64) -> bool {
        self.row(slot).play().tasks.iter().any(|t| t.of == seq && t.left != PLAYER)
    }

    // Running ---------------------------------------------------------------------------------------------------

    /// Runs a thread and all threads that it forks, the first branch first. Uses a list instead of recursion, so that a
    /// loop of forks does not deepen the stack.
    fn run_program(&mut self, slot: usize, def: &AbilityDef, first: TaskThread) {
        let mut ready = vec![first];
        while let Some(thread) = ready.pop() {
            self.run_thread(slot, def, thread, &mut ready);
        }
    }

    fn run_thread(&mut self, slot: usize, def: &AbilityDef, mut s: TaskThread, ready: &mut Vec<TaskThread>) {
        while self.may_run(slot, s) {
            if self.is_spent(slot, s.of) {
                return;
            }
            match def.program.at(s.pc) {
                Inst::Jump(to) => s.pc = *to,
                Inst::Branch { test, otherwise } => {
                    let (passes, hidden) = self.watch_hidden(|flow| flow.passes(slot, s.of, test));
                    if hidden.is_some() {
                        // The thread stops here until the server's state arrives.
                        self.sleep(slot, s, |_| {});
                        return;
                    }
                    s.pc = if passes { s.pc + 1 } else { *otherwise };
                }
                Inst::Loop { end, count: 0, .. } => s.pc = *end,
                Inst::Loop { reg, count, .. } => {
                    self.set_register(slot, s.of, *reg, |_| *count);
                    s.pc += 1;
                }
                Inst::Repeat { reg, back } => {
                    let left = self.set_register(slot, s.of, *reg, |n| n.saturating_sub(1));
                    s.pc = if left > 0 { *back } else { s.pc + 1 };
                }
                Inst::Fork { starts, join, .. } if starts.is_empty() => s.pc = *join,
                Inst::Fork { starts, .. } => {
                    let left = starts.len() as u16;
                    let Some(parent) = self.sleep(slot, s, |t| t.left = left) else { return };
                    ready.extend(starts.iter().rev().map(|&pc| TaskThread { pc, parent, ..s }));
                    return;
                }
                Inst::End => match self.join(slot, def, s) {
                    Some(next) => s = next,
                    None => return,
                },
                Inst::Task(task) => match self.start_task(TaskAt { slot, ability: def, thread: s, task }) {
                    Step::Next => s.pc += 1,
                    Step::Sleep | Step::Stop => return,
                },
            }
        }
    }

    /// Returns whether a thread may run: its ability is active, and the task that forked it was not dropped.
    fn may_run(&self, slot: usize, s: TaskThread) -> bool {
        let play = self.row(slot).play();
        let there = play.activation(s.of).is_some_and(|a| s.list || a.state == AbilityState::Active);
        there && (s.parent == 0 || play.task(s.parent).is_some())
    }

    /// Counts an instruction as a reaction to the cause. If there are too many reactions, cancels the ability and
    /// returns true.
    fn is_spent(&mut self, slot: usize, of: u64) -> bool {
        self.sc.reacted += 1;
        let spent = self.sc.reacted > self.limits.reactions;
        if spent {
            self.cancel_at_limit(slot, of);
        }
        spent
    }

    /// Cancels an ability that reached a limit, and emits a diagnostic.
    #[cold]
    fn cancel_at_limit(&mut self, slot: usize, of: u64) {
        let who = self.row(slot).id;
        self.diagnose(who, EffectId::NONE, DiagnosticKind::Limit);
        self.finish(slot, of, EndHow::Cancelled);
    }

    fn set_register(&mut self, slot: usize, of: u64, reg: u8, change: impl FnOnce(u32) -> u32) -> u32 {
        let a = self.row_mut(slot).play_mut().activation_mut(of);
        let Some(n) = a.and_then(|a| a.repeats.get_mut(reg as usize)) else { return 0 };
        *n = change(*n);
        *n
    }

    fn passes(&self, slot: usize, of: u64, test: &Test) -> bool {
        match test {
            Test::Query(query) => self.matches_query(slot, query),
            Test::When(expr) => self.holds(slot, of, expr),
        }
    }

    /// Ends a thread. Returns the position at which the forking thread continues, or `None` if the fork still waits for
    /// other threads.
    fn join(&mut self, slot: usize, def: &AbilityDef, s: TaskThread) -> Option<TaskThread> {
        let fork = self.row_mut(slot).play_mut().task_mut(s.parent)?;
        fork.left = fork.left.saturating_sub(1);
        let (left, pc, closed) = (fork.left, fork.pc, fork.age == CLOSED);
        let (over, next) = match def.program.at(pc) {
            Inst::Fork { race, join, .. } => (*race || left == 0, *join),
            Inst::Task(_)
            | Inst::Jump(_)
            | Inst::Branch { .. }
            | Inst::Loop { .. }
            | Inst::Repeat { .. }
            | Inst::End => (closed && left == 0, pc + 1),
        };
        if !over {
            return None;
        }
        let fork = self.take_task(slot, s.parent)?;
        self.drop_children(slot, def, s.parent);
        Some(TaskThread { pc: next, parent: fork.parent, ..s })
    }

    /// Drops the tasks that a task started, in order. A started task has a higher sequence number than its parent.
    fn drop_children(&mut self, slot: usize, def: &AbilityDef, parent: u64) {
        let mut family = vec![parent];
        for t in &self.row(slot).play().tasks {
            if t.parent != 0 && family.contains(&t.parent) {
                family.push(t.seq);
            }
        }
        family.into_iter().skip(1).for_each(|seq| self.drop_task(slot, def, seq));
    }

    // Records ---------------------------------------------------------------------------------------------------

    /// Stores a record of a waiting thread and returns its sequence number. If the row has no room, the ability is
    /// cancelled.
    pub(crate) fn sleep(&mut self, slot: usize, s: TaskThread, fill: impl FnOnce(&mut Task)) -> Option<u64> {
        if self.row(slot).play().tasks.len() >= TASKS {
            self.cancel_at_limit(slot, s.of);
            return None;
        }
        let now = self.row(slot).clock.local(self.st.now);
        let row = self.row_mut(slot);
        let seq = row.take_seq();
        let mut task = Task {
            seq,
            of: s.of,
            parent: s.parent,
            due: SimTime::NEVER,
            since: now,
            value: 0.0,
            pc: s.pc,
            age: 0,
            left: 0,
            code: Vec::new(),
        };
        fill(&mut task);
        if task.due != SimTime::NEVER {
            row.schedule(Due::timer(task.due, TimerKind::Task, seq));
        }
        row.play_mut().tasks.push(task);
        // The rest of the list may cause the event that this task waits for, so the row must listen already.
        let alerts = self.row(slot).play().tasks.last().map_or(0, |t| self.alert_of(slot, t));
        self.st.controllers.row_mut(slot).alert |= alerts;
        Some(seq)
    }

    pub(crate) fn take_task(&mut self, slot: usize, seq: u64) -> Option<Task> {
        let at = self.row(slot).play().tasks.binary_search_by_key(&seq, |t| t.seq).ok()?;
        let row = self.row_mut(slot);
        let task = row.play_mut().tasks.remove(at);
        if task.due != SimTime::NEVER {
            row.unschedule(Due::timer(task.due, TimerKind::Task, seq));
        }
        Some(task)
    }

    /// Sets the timer of a waiting task.
    fn set_due(&mut self, slot: usize, seq: u64, due: SimTime) {
        let row = self.row_mut(slot);
        let Some(task) = row.play_mut().task_mut(seq) else { return };
        let old = std::mem::replace(&mut task.due, due);
        if old != SimTime::NEVER {
            row.unschedule(Due::timer(old, TimerKind::Task, seq));
        }
        if due != SimTime::NEVER {
            row.schedule(Due::timer(due, TimerKind::Task, seq));
        }
    }

    /// Removes an unfinished task.
    fn drop_task(&mut self, slot: usize, def: &AbilityDef, seq: u64) {
        let Some(t) = self.take_task(slot, seq) else { return };
        if let Some(task) = def.program.task(t.pc)
            && t.left != PLAYER
            && t.age != CLOSED
        {
            self.task_fact(slot, def.id, task.name, seq, TaskResult::Cancelled, 0.0);
            task.kind.ended(self, slot, def, &t, false);
        }
    }

    /// Traces the state of a task.
    pub(crate) fn trace_task(
        &mut self,
        slot: usize,
        ability: AbilityId,
        task: TaskKindId,
        task_key: TaskKey,
        to: TaskState,
    ) {
        if self.log.tracing {
            let who = self.row(slot).id;
            self.trace(who, TraceKind::Task { ability, task, task_key, to });
        }
    }

    pub(crate) fn task_fact(
        &mut self,
        slot: usize,
        ability: AbilityId,
        task: TaskKindId,
        seq: u64,
        result: TaskResult,
        value: f64,
    ) {
        let who = self.row(slot).id;
        let task_key = TaskKey { seq, who };
        match result {
            TaskResult::Completed | TaskResult::Failed => {
                self.trace_task(slot, ability, task, task_key, TaskState::Completed);
            }
            TaskResult::Cancelled => self.trace_task(slot, ability, task, task_key, TaskState::Cancelled),
            TaskResult::Output => {}
        }
        self.fact(who, Via::NOTHING, FactKind::TaskEnded { ability, task, task_key, value, result });
    }

    /// Ends a waiting task with a result. The task's thread continues.
    pub(crate) fn finish_task(&mut self, slot: usize, def: &AbilityDef, seq: u64, result: TaskResult, value: f64) {
        let Some((of, pc, left)) = self.row(slot).play().task(seq).map(|t| (t.of, t.pc, t.left)) else { return };
        let Some(task) = def.program.task(pc) else { return };
        self.task_fact(slot, def.id, task.name, seq, result, value);
        if result == TaskResult::Failed && task.kind.finds_targets() {
            self.forget_targets(slot, of);
        }
        let fatal = result == TaskResult::Failed && task.on_fail != OnFail::Continue;
        if left > 0 && !fatal {
            // Threads that the task started for events are still running. The last of them continues the list.
            self.set_due(slot, seq, SimTime::NEVER);
            if let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) {
                t.age = CLOSED;
            }
            return;
        }
        let Some(t) = self.take_task(slot, seq) else { return };
        if left > 0 {
            self.drop_children(slot, def, seq);
        }
        task.kind.ended(self, slot, def, &t, result == TaskResult::Completed);
        self.continue_thread(slot, def, task, t, result);
    }

    pub(crate) fn continue_thread(
        &mut self,
        slot: usize,
        def: &AbilityDef,
        task: &TaskDef,
        t: Task,
        result: TaskResult,
    ) {
        let how = match (result, task.on_fail) {
            (TaskResult::Failed, OnFail::End) => EndHow::Ended,
            (TaskResult::Failed, OnFail::Cancel) => EndHow::Cancelled,
            (TaskResult::Failed, OnFail::Continue)
            | (TaskResult::Completed | TaskResult::Cancelled | TaskResult::Output, _) => {
                let next = TaskThread { of: t.of, pc: t.pc + 1, parent: t.parent, list: false };
                return self.run_program(slot, def, next);
            }
        };
        self.finish(slot, t.of, how);
    }

    /// Updates an activation and its row after its tasks changed. The activation may be complete, and the row may need
    /// other listeners and timers.
    pub(crate) fn moved(&mut self, slot: usize, of: u64) {
        self.maybe_done(slot, of);
        self.tasks_moved(slot);
    }

    fn tasks_moved(&mut self, slot: usize) {
        self.row_mut(slot).trim();
        self.refresh_listeners(slot);
        self.publish(slot);
    }

    /// Returns the controller that an activation targets.
    fn aim(&self, slot: usize, of: u64) -> Option<ControllerId> {
        let a = self.row(slot).play().activation(of)?;
        match a.target {
            crate::Target::Controller(who) => Some(who),
            crate::Target::None | crate::Target::Point(_) => None,
        }
    }
}
