//! The frame work of capabilities: in each frame, after ticking tasks and before held inputs, the capabilities of each
//! controller are asked in order.

use super::life::LifeEvent;
use super::step::CallBuffers;
use crate::flow::{Flow, RollSource, RowEvent, server_op};
use crate::rng::fold;
use crate::rules::{CapabilityCall, CapabilityWatch, Question};
use crate::state::{CapabilityRecord, Due, DueRecords, RecordKey, Stage};
use crate::{CapabilityFigures, CapabilityId, Cause, ControllerId, OpId, Rate, Role, SimTime, TagId};
use std::ops::Bound;

/// The order of frame work within one frame: ticking tasks, then the capabilities of each controller, then the held
/// inputs of each controller. Other work of the same time runs before the frame, and ops run after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FrameTurn {
    /// Executions, expiries, timers and ticking tasks.
    Before,
    Capabilities(ControllerId),
    HeldInputs(ControllerId),
    /// Ops.
    #[default]
    After,
}

/// How many rows a frame reads from the index at once.
const ROWS_AHEAD: usize = 64;
/// The number of records that are looked at before the first of them is evaluated.
const RECORDS_AHEAD: usize = DueRecords::MAX;

/// The row whose capabilities are evaluated.
pub(super) struct RowWork {
    pub(super) who: ControllerId,
    pub(super) slot: usize,
    /// The time of the row's clock.
    pub(super) now: SimTime,
    /// Whether something that the capabilities read changed since their last pass, or in this one.
    is_awake: bool,
}

/// A measured visit of a capability.
struct Visit {
    class: CapabilityId,
    is_evaluated: bool,
    /// The time of the host's clock when the visit began.
    start: u64,
}

/// What an evaluation of a capability did.
pub(super) enum Evaluated {
    /// Nothing, or it changed only its own state. `sleeps` is whether the next frame need not evaluate it again.
    Quietly { sleeps: bool },
    /// The capability with this key may have changed anything else.
    WithChanges(RecordKey),
}

/// Returns the op id of the capabilities of a controller in a frame. The id is derived from controller and time, so
/// that client and server assign the same id.
fn capability_op(who: ControllerId, at: SimTime) -> OpId {
    server_op((fold(fold(19, who.0 as u64), at.0 as u64) & !(1 << 47)) | 1 << 46)
}

impl Flow<'_> {
    /// Runs the capabilities of all rows with frame work, by controller.
    pub(crate) fn capability_frame(&mut self) {
        self.sc.measures = self.host.as_ref().is_some_and(|host| host.measures_capabilities());
        let mut rows = std::mem::take(&mut self.sc.frame_rows);
        let mut buffers = std::mem::take(&mut self.sc.capability_ticks);
        let mut last = None;
        loop {
            let from = last.map_or(Bound::Unbounded, Bound::Excluded);
            rows.clear();
            rows.extend(self.ix.frames.range((from, Bound::Unbounded)).take(ROWS_AHEAD));
            self.sc.frames_grew = false;
            if rows.is_empty() {
                break;
            }
            for &who in &rows {
                last = Some(who);
                self.turn = FrameTurn::Capabilities(who);
                // Taken row by row: a row that is not reached yet stays awake whatever the earlier rows do.
                let is_awake = self.ix.woken.remove(&who);
                self.run_pass(who, is_awake, &mut buffers);
                if self.sc.frames_grew {
                    break;
                }
            }
        }
        (self.sc.frame_rows, self.sc.capability_ticks) = (rows, buffers);
    }

    /// Runs the capabilities of one row outside the frame of all rows.
    pub(crate) fn capability_pass(&mut self, who: ControllerId, is_awake: bool) {
        let mut buffers = std::mem::take(&mut self.sc.capability_ticks);
        self.run_pass(who, is_awake, &mut buffers);
        self.sc.capability_ticks = buffers;
    }

    /// Runs the capabilities of one row in order. A row that was not woken skips the capabilities that sleep. If a
    /// capability wakes the row during the pass, the later ones are asked in this pass, and all in the next frame.
    fn run_pass(&mut self, who: ControllerId, is_awake: bool, buffers: &mut CallBuffers) {
        let Some(slot) = self.st.controllers.slot(who) else { return };
        let row = self.row(slot);
        if row.play().capabilities().records.is_empty() || !row.clock.active() || row.clock.rate() == Rate(0) {
            return;
        }
        // Capabilities that are added during the pass are asked from the next frame on.
        let (end, op) = (row.next_seq, capability_op(who, self.st.now));
        let (mut from, mut has_work, mut is_quiet) = (0, false, true);
        let mut first_due = None;
        if is_awake {
            self.remove_orphaned_blocks(who);
        }
        self.sc.leaving.clear();
        let mut work = self.begin_work(who, slot, op, is_awake);
        'row: while let Some(mut due) = self.due_records(&work, from, end) {
            let first = from;
            from += RECORDS_AHEAD;
            first_due.get_or_insert(due);
            while due != 0 {
                let at = first + due.trailing_zeros() as usize;
                due &= due - 1;
                match self.visit_capability(&work, at, buffers) {
                    Evaluated::Quietly { sleeps } => has_work |= !sleeps,
                    Evaluated::WithChanges(key) => {
                        is_quiet = false;
                        let Some(slot) = self.st.controllers.slot(who) else { break 'row };
                        from = self.row(slot).play().capabilities().index_after(key);
                        work = self.begin_work(who, slot, op, is_awake);
                        break;
                    }
                }
            }
        }
        for handle in std::mem::take(&mut self.sc.leaving) {
            self.set_frame_cause(who, op);
            // Attribute sets that something else needs keep the set; the capability asks again in the next frame.
            let _ = self.revoke_set(who, handle);
            self.frame_done(who);
        }
        if let Some(due) = first_due.filter(|_| is_quiet) {
            self.keep_due_records(&work, due);
        }
        // A row that nothing changed and that has work in every frame stays in the index.
        let is_indexed = is_quiet && has_work && self.replay.is_none();
        if let Some(slot) = self.st.controllers.slot(who).filter(|_| !is_indexed) {
            self.refresh_frames(slot);
        }
    }

    /// Evaluates a capability with all reactions, and measures the visit if the host measures capabilities.
    #[inline(always)]
    fn visit_capability(&mut self, work: &RowWork, at: usize, buffers: &mut CallBuffers) -> Evaluated {
        self.sc.visited += 1;
        let is_measured = self.sc.measures && self.replay.is_none();
        let visit = if is_measured { self.start_measurement(work, at) } else { None };
        let evaluated = self.evaluate_capability(work, at, buffers);
        if matches!(evaluated, Evaluated::WithChanges(_)) {
            self.frame_done(work.who);
        }
        if let Some(visit) = visit {
            self.measure(visit);
        }
        evaluated
    }

    /// Starts the measurement of a visit, if the host measures capabilities.
    #[cold]
    fn start_measurement(&mut self, work: &RowWork, at: usize) -> Option<Visit> {
        let record = self.row(work.slot).play().capabilities().records.get(at)?;
        let is_due = record.interval <= SimTime::ZERO || work.now - record.last >= record.interval;
        let is_evaluated = record.stage.is_set_up() && is_due && self.view().blocker_of(work.slot, record).is_none();
        let class = record.class;
        Some(Visit { class, is_evaluated, start: self.host.as_mut()?.stopwatch() })
    }

    /// Ends the measurement of a visit.
    #[cold]
    fn measure(&mut self, visit: Visit) {
        let Visit { class, is_evaluated, start } = visit;
        let end = self.host.as_mut().map_or(0, |h| h.stopwatch());
        let (at, figures) = (self.st.now, &mut self.ix.capability_figures);
        let place = class.index();
        if place >= figures.len() {
            figures.extend((figures.len()..=place).map(|id| CapabilityFigures::new(CapabilityId(id as u32))));
        }
        figures[place].record(at, is_evaluated, end.saturating_sub(start));
    }

    /// Begins frame work of a row's capabilities. `was_woken` is whether the row was woken before the pass.
    #[inline]
    fn begin_work(&mut self, who: ControllerId, slot: usize, op: OpId, was_woken: bool) -> RowWork {
        self.set_frame_cause(who, op);
        // Only a capability with changes can wake the row, and after that the work begins anew.
        let is_awake = was_woken || self.ix.woken.contains(&who);
        RowWork { who, slot, now: self.local_now(slot), is_awake }
    }

    /// Makes the frame work of a row's capabilities the cause of the following changes.
    fn set_frame_cause(&mut self, who: ControllerId, op: OpId) {
        self.cause = Cause { root: op, link: 0 };
        self.set_roll(RollSource::due(who, op.0));
        self.depth = 0;
    }

    /// Keeps which records of a row must be evaluated in each frame, after a pass that changed only the times and states
    /// of its capabilities.
    #[inline]
    fn keep_due_records(&mut self, work: &RowWork, due: u64) {
        let is_kept = self.keeps_due_records(work);
        let row = self.st.controllers.row_mut(work.slot);
        let stamp = row.stamp();
        if let Some(all) = row.own_capabilities_mut().filter(|all| is_kept && all.records.len() <= DueRecords::MAX) {
            all.due = DueRecords::new(stamp, due);
        }
    }

    /// Returns whether the records that must be evaluated depend only on the records and the rules. On a client, they
    /// also depend on its role, which a host can change.
    #[inline]
    fn keeps_due_records(&self, work: &RowWork) -> bool {
        !work.is_awake && self.work.role != Role::Client
    }

    /// Returns which of the next records must be evaluated in this frame: one bit for each record from `from` on. Returns
    /// `None` after the last record.
    #[inline]
    fn due_records(&self, work: &RowWork, from: usize, end: u64) -> Option<u64> {
        let row = self.row(work.slot);
        let all = row.play().capabilities();
        let kept = all.due.at(row.stamp()).filter(|_| from == 0 && self.keeps_due_records(work));
        debug_assert!(kept.is_none() || kept == self.search_due_records(work, from, end), "outdated due records");
        if kept.is_some() { kept } else { self.search_due_records(work, from, end) }
    }

    fn search_due_records(&self, work: &RowWork, from: usize, end: u64) -> Option<u64> {
        let records = self.row(work.slot).play().capabilities().records.get(from..)?;
        let is_due = |record: &CapabilityRecord| {
            let is_due = if work.is_awake { record.is_evaluated() } else { !self.sleeps(record) };
            is_due && record.handle < end && !self.is_inert(record)
        };
        let bits = records.iter().take(RECORDS_AHEAD).enumerate().filter(|(_, record)| is_due(record));
        (!records.is_empty()).then(|| bits.fold(0, |due, (at, _)| due | 1 << at))
    }

    /// Asks one capability: blocked or not, active or not; then ticks it if it is active.
    #[inline(always)]
    fn evaluate_capability(&mut self, work: &RowWork, at: usize, buffers: &mut CallBuffers) -> Evaluated {
        let &RowWork { who, slot, now, .. } = work;
        let quietly = Evaluated::Quietly { sleeps: true };
        let Some(record) = self.row(slot).play().capabilities().records.get(at) else { return quietly };
        let key = record.key();
        if record.stage == Stage::Waiting {
            self.set_up(who, key);
            return Evaluated::WithChanges(key);
        }
        let is_active = record.stage == Stage::Active;
        // Whatever blocks a capability wakes its row, so an active capability of a row that sleeps is not blocked.
        let may_be_blocked = !is_active || work.is_awake;
        if may_be_blocked && self.view().blocker_of(slot, record).is_some() {
            if !is_active {
                return Evaluated::Quietly { sleeps: self.sleeps(record) };
            }
            self.live(who, key, LifeEvent::Deactivate);
            return Evaluated::WithChanges(key);
        }
        let (interval, elapsed) = (record.interval, now - record.last);
        if interval > SimTime::ZERO && elapsed < interval {
            return Evaluated::Quietly { sleeps: false };
        }
        let code = self.rules.capability_code(record.class).filter(|code| code.watch.is_none());
        match code {
            // A client whose code may read a value that it does not have takes the slow path.
            Some(code) if is_active && self.ix.hidden.is_empty() => {
                return self.tick_code(work, at, code, elapsed, buffers);
            }
            Some(_) => self.edit_record(slot, key, |record| record.last = now),
            None if interval > SimTime::ZERO => self.edit_record(slot, key, |record| record.last = now),
            None => {}
        }
        let question = if is_active { Question::Deactivate } else { Question::Activate };
        let is_active = match (is_active, self.ask(slot, key, question)) {
            (true, true) => {
                self.live(who, key, LifeEvent::Deactivate);
                false
            }
            (false, true) => {
                self.live(who, key, LifeEvent::Activate);
                true
            }
            (is_active, false) => is_active,
        };
        if is_active {
            self.call(who, key, CapabilityCall::Tick { elapsed });
        }
        Evaluated::WithChanges(key)
    }

    /// Returns whether the last evaluation of a capability matters: for its interval, or for the elapsed time of a tick.
    pub(super) fn needs_time(&self, slot: usize, key: RecordKey) -> bool {
        let Some(record) = self.row(slot).play().capabilities().find(key) else { return false };
        let code = self.rules.capability_code(record.class);
        record.interval > SimTime::ZERO || code.is_some_and(|code| code.watch.is_none())
    }

    /// Returns whether a capability need not be asked until something that it reads changes: asked in every frame, it
    /// would do nothing.
    fn sleeps(&self, record: &CapabilityRecord) -> bool {
        if !record.is_evaluated() {
            return true;
        }
        if record.interval > SimTime::ZERO {
            return false;
        }
        match self.rules.capability_code(record.class) {
            Some(code) => code.watch.is_some(),
            None => {
                let ticks = |def: &std::sync::Arc<crate::rules::CapabilityDef>| !def.on_tick.is_empty();
                record.stage != Stage::Active || !self.rules.capability_def(record.class).is_some_and(ticks)
            }
        }
    }

    /// Returns whether a client received the record of a class that has neither a document nor code here.
    fn is_inert(&self, record: &CapabilityRecord) -> bool {
        self.work.role == Role::Client && !self.view().has_behavior(record.class)
    }

    /// Returns whether the row needs the next frame for its capabilities.
    pub(crate) fn has_capability_work(&self, slot: usize) -> bool {
        let row = self.row(slot);
        let records = &row.play().capabilities().records;
        !records.is_empty() && (self.ix.woken.contains(&row.id) || records.iter().any(|record| !self.sleeps(record)))
    }

    /// Wakes the capabilities of a row if one of them reads what changed.
    pub(crate) fn wake_for(&mut self, slot: usize, event: &RowEvent) {
        let records = &self.row(slot).play().capabilities().records;
        let is_concerned = match event {
            RowEvent::Tag { tag, .. } => records.iter().any(|record| self.reads_tag(record, *tag)),
            RowEvent::Attribute { attribute, .. } => records
                .iter()
                .any(|record| self.watch_of(record).is_some_and(|watch| watch.attributes.contains(attribute))),
            RowEvent::Resumed => true,
            RowEvent::Died { .. }
            | RowEvent::Effect { .. }
            | RowEvent::Event(_)
            | RowEvent::Input { .. }
            | RowEvent::Granted { .. }
            | RowEvent::Ability { .. }
            | RowEvent::Liveness
            | RowEvent::Freed => false,
        };
        if is_concerned {
            self.wake_capabilities(slot);
        }
    }

    /// Returns what the decisions of a capability read, or `None` if it never sleeps.
    fn watch_of(&self, record: &CapabilityRecord) -> Option<&CapabilityWatch> {
        match self.rules.capability_code(record.class) {
            Some(code) => code.watch.as_ref(),
            None => self.rules.capability_def(record.class).map(|def| &def.watch),
        }
    }

    fn reads_tag(&self, record: &CapabilityRecord, tag: TagId) -> bool {
        let entry = self.rules.capability_entry(record.place());
        let blocks = entry.is_some_and(|entry| entry.watch.has_tag(self.rules, tag));
        blocks || self.watch_of(record).is_some_and(|watch| watch.has_tag(self.rules, tag))
    }

    /// Wakes the sleeping capabilities of a row: they are asked in the next frame.
    pub(crate) fn wake_capabilities(&mut self, slot: usize) {
        let who = self.row(slot).id;
        if self.ix.capable.contains(&who) && self.ix.woken.insert(who) {
            self.sc.frames_grew |= self.ix.frames.insert(who);
            self.plan_woken_frame();
        }
    }

    /// Plans the frame in which woken capabilities are asked. Work that is due at the time of a frame runs before that
    /// frame, so what it wakes is asked at the same time, as if it had not slept.
    fn plan_woken_frame(&mut self) {
        let (now, frame) = (self.st.now, self.work.frame.0.max(1));
        let is_due_work = self.turn == FrameTurn::Before && now > self.sc.advanced_from;
        if is_due_work && now.0 % frame == 0 && self.ix.last_frame != now {
            if self.ix.next_frame != now {
                self.ix.next_frame = now;
                self.ix.agenda.push(now, Due::FRAME, ControllerId::NONE);
            }
        } else {
            self.plan_frame();
        }
    }
}
