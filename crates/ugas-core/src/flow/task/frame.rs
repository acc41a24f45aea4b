//! Frame work: the ticks of tasks, and further attempts to activate the abilities of held inputs. A limited number of
//! tasks tick per frame, the most urgent first. A deferred task gains urgency with each frame, so no task waits
//! forever.

use super::{CLOSED, OLDEST, PLAYER, WaitingTask};
use crate::flow::{Flow, FrameTurn, FrameWork, RollSource, server_op};
use crate::rng::fold;
use crate::sim::{SpaceQuery, TaskRecord};
use crate::task::TaskKind;
use crate::{AbilityState, Cause, ControllerId, OpId, SimTime, TaskKindId};
use std::collections::BTreeMap;

/// The part of a sim's configuration about frames, timelines and the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameConfig {
    pub(crate) frame: SimTime,
    /// Maximum number of task ticks in one frame.
    pub(crate) budget: u32,
    /// Whether the sim plays timeline documents and answers the tasks that wait for them.
    pub(crate) timelines: bool,
    pub(crate) role: crate::Role,
    /// Whether this machine shows the world to a player.
    pub(crate) screen: bool,
}

/// Returns the op id of a retry of a held input. A high bit distinguishes the id from the ids of numbered ops.
fn retry_op(who: ControllerId, at: SimTime) -> OpId {
    server_op(fold(fold(17, who.0 as u64), at.0 as u64) | 1 << 47)
}

/// Returns whether an op is a retry of a held input.
pub(crate) fn is_retry(id: OpId) -> bool {
    id.client() == 0 && id.0 & 1 << 47 != 0
}

/// A task whose interval has passed.
struct Candidate {
    urgency: i64,
    who: ControllerId,
    seq: u64,
    task: TaskKindId,
}

impl Flow<'_> {
    pub(crate) fn frame(&mut self, at: SimTime) {
        // After a restore, the entry may be outdated, because another frame was planned.
        if at != self.ix.next_frame {
            return;
        }
        (self.ix.next_frame, self.ix.last_frame) = (SimTime::NEVER, at);
        self.turn = FrameTurn::Before;
        let mut records: BTreeMap<TaskKindId, TaskRecord> = BTreeMap::new();
        let mut due = self.candidates(&mut records);
        due.sort_by(|a, b| b.urgency.cmp(&a.urgency).then(a.who.cmp(&b.who)).then(a.seq.cmp(&b.seq)));
        let late = due.split_off(due.len().min(self.work.budget as usize));
        for c in late {
            self.pass_over(c.who, c.seq);
            if let Some(r) = records.get_mut(&c.task) {
                r.deferred += 1;
            }
        }
        for c in due {
            self.tick_one(&c, &mut records);
        }
        self.capability_frame();
        self.retry_all();
        self.turn = FrameTurn::Before;
        for record in records.values() {
            self.note_record(record);
        }
        self.plan_frame();
    }

    /// Retries held inputs whose ability could not be activated yet, by controller. Each retry has an op id of its own,
    /// which distinguishes its activations. The id is derived from controller and time, so that client and server
    /// assign the same id.
    fn retry_all(&mut self) {
        let waiting: Vec<ControllerId> = self.ix.frames.iter().copied().filter(|&who| self.has_retries(who)).collect();
        for who in waiting {
            self.turn = FrameTurn::HeldInputs(who);
            self.retry_row(who);
        }
    }

    /// Returns whether a row retries to activate the abilities of held inputs.
    pub(crate) fn has_retries(&self, who: ControllerId) -> bool {
        let slot = self.st.controllers.slot(who);
        slot.is_some_and(|slot| self.row(slot).clock.active() && self.has_held_work(slot))
    }

    /// Retries a row's held inputs.
    pub(crate) fn retry_row(&mut self, who: ControllerId) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let id = retry_op(who, self.st.now);
        self.cause = Cause { root: id, link: 0 };
        self.set_roll(RollSource::due(who, id.0));
        self.depth = 0;
        self.repeat_held(slot);
        self.frame_done(who);
    }

    /// Ends the operation of one piece of frame work and runs its reactions.
    pub(crate) fn frame_done(&mut self, who: ControllerId) {
        self.finish_operation();
        self.react();
        if let Some(slot) = self.st.controllers.slot(who) {
            self.publish(slot);
        }
    }

    /// Increases the urgency of a task that the budget did not cover.
    pub(crate) fn pass_over(&mut self, who: ControllerId, seq: u64) {
        self.journal_frame(who, || FrameWork::PassedOver(seq));
        if let Some(slot) = self.st.controllers.slot(who)
            && let Some(t) = self.row_mut(slot).play_mut().task_mut(seq)
        {
            t.age = (t.age + 1).min(OLDEST);
        }
    }

    fn candidates(&self, records: &mut BTreeMap<TaskKindId, TaskRecord>) -> Vec<Candidate> {
        let mut due = Vec::new();
        for &who in &self.ix.frames {
            let Some(slot) = self.st.controllers.slot(who) else { continue };
            let (row, now) = (self.row(slot), self.local_now(slot));
            for t in row.play().tasks.iter().filter(|t| t.left != PLAYER && t.age != CLOSED) {
                let Some(def) = self.def_of(slot, t.of) else { continue };
                let Some(task) = def.program.task(t.pc) else { continue };
                let Some(interval) = task.interval else { continue };
                let empty =
                    TaskRecord { task: task.name, at: self.st.now, running: 0, ticked: 0, deferred: 0, nanos: 0 };
                records.entry(task.name).or_insert(empty).running += 1;
                let elapsed = now - t.since;
                let active = row.play().activation(t.of).is_some_and(|a| a.state == AbilityState::Active);
                if active && row.clock.active() && elapsed > SimTime::ZERO && elapsed >= interval {
                    let urgency = task.priority as i64 + t.age as i64;
                    due.push(Candidate { urgency, who, seq: t.seq, task: task.name });
                }
            }
        }
        due
    }

    fn tick_one(&mut self, c: &Candidate, records: &mut BTreeMap<TaskKindId, TaskRecord>) {
        let start = self.host.as_mut().map_or(0, |h| h.stopwatch());
        if !self.tick_task(c.who, c.seq, None) {
            return;
        }
        let end = self.host.as_mut().map_or(0, |h| h.stopwatch());
        if let Some(r) = records.get_mut(&c.task) {
            r.ticked += 1;
            r.nanos += end.saturating_sub(start);
        }
    }

    /// Runs one tick of a task. In a replay, `found` contains the controllers that the original tick found. Returns
    /// `false` if the task has already ended.
    pub(crate) fn tick_task(&mut self, who: ControllerId, seq: u64, found: Option<&[ControllerId]>) -> bool {
        let Some(slot) = self.st.controllers.slot(who) else { return false };
        let Some(of) = self.row(slot).play().task(seq).map(|t| t.of) else { return false };
        let Some(a) = self.row(slot).play().activation(of) else { return false };
        self.cause = Cause { root: a.root, link: a.link };
        self.depth = 0;
        let Some(def) = self.def_of(slot, of) else { return false };
        let now = self.local_now(slot);
        let Some(t) = self.row_mut(slot).play_mut().task_mut(seq) else { return false };
        let (pc, elapsed) = (t.pc, now - t.since);
        (t.since, t.age) = (now, 0);
        let item = self.task_item(slot, of, pc);
        self.set_roll(RollSource::due(who, item));
        let Some(task) = def.program.task(pc) else { return false };
        let targets = found.map_or_else(|| self.query_host(slot, seq, &task.kind), <[_]>::to_vec);
        self.journal_frame(who, || FrameWork::Tick { seq, found: targets.clone() });
        task.kind.tick(self, WaitingTask { slot, ability: &def, task, seq, of }, elapsed, targets);
        self.frame_done(who);
        true
    }

    /// Queries the host for the controllers that a task waits for.
    fn query_host(&mut self, slot: usize, seq: u64, kind: &TaskKind) -> Vec<ControllerId> {
        let row = self.row(slot);
        let range = row.play().task(seq).map_or(f64::INFINITY, |t| t.value);
        let query = SpaceQuery { who: row.id, anchor: row.side().anchor, range };
        kind.find_targets(self, &query)
    }

    fn note_record(&mut self, record: &TaskRecord) {
        let at = self.st.now;
        let figures = &mut self.ix.figures;
        let place = match figures.binary_search_by_key(&record.task, |f| f.task) {
            Ok(place) => place,
            Err(place) => {
                let new = crate::TaskFigures {
                    task: record.task,
                    running: 0,
                    frames: 0,
                    ticks: 0,
                    nanos: 0,
                    since: at,
                    until: at,
                };
                figures.insert(place, new);
                place
            }
        };
        let f = &mut figures[place];
        f.running = record.running;
        f.frames += 1;
        f.ticks += record.ticked as u64;
        f.nanos += record.nanos;
        f.until = at;
        if let Some(host) = &mut self.host {
            host.task_record(record);
        }
    }
}
