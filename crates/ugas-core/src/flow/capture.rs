//! Capture and restore of one row, and its journal. A journal records everything that the row receives from outside:
//! ops, actions of other rows on this row, what the row read of other rows (`foreign.rs`), and the ticks of its tasks. A
//! resimulation (`replay.rs`) therefore does not need the other rows.

use super::foreign::{Candidate, ForeignCheck, KnownController, TaskPlace};
use super::{Flow, FrameTurn, RollSource, Via};
use crate::rules::Layout;
use crate::state::{Definitions, Frozen, Index, LiveEdge, Row};
use crate::task::RemoveDef;
use crate::{AttributeId, Cause, ControllerId, EventData, FactKind, Op, OpId, Refusal, SimTime, Spec};
use std::collections::VecDeque;
use std::sync::Arc;

/// An entry of a journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JournalEvent {
    /// An op on the row.
    Op(OpId, Op),
    /// The state of another controller when the row read it. `None` if the controller was not in the sim.
    Source { source: ControllerId, known: Option<Box<KnownController>> },
    /// The result of a check of the row that depends on other rows.
    Check { check: ForeignCheck, refusal: Option<Refusal> },
    /// The other controllers among which a task of the row chose.
    Candidates { task: TaskPlace, others: Box<[Candidate]> },
    /// Tags of another controller changed, and the row's filters and requirements were rechecked. The entry is also
    /// recorded if the row's own tags changed; the resimulation then rechecks twice, which changes nothing.
    Recheck(Cause),
    /// The new value of an attribute of another controller that a live modifier of the row reads.
    Follow { source: ControllerId, attribute: AttributeId, value: f64, cause: Cause, via: Via },
    /// The target of this cast was lost.
    TargetLost { cast: u64, cause: Cause },
    /// Another controller left the sim (`frozen` contains its last values) or returned to the sim (`frozen` is `None`).
    Gone { source: ControllerId, frozen: Option<Box<Frozen>> },
    /// Frame work. Recorded because its order depends on all rows.
    Frame(FrameWork),
    /// An action of another row on this row.
    ForeignAction(Box<ForeignActionEntry>),
    /// Whether this machine controlled the outermost owner of the row locally when the row read it.
    OwnerLocality { is_local: bool },
    /// The host changed whether this machine controls the row locally.
    Locality { was_local: bool },
}

/// An action of another row on this row, with its cause and its position in the order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignActionEntry {
    /// The row that acted.
    pub(super) from: ControllerId,
    pub(super) what: ForeignAction,
    pub(crate) cause: Cause,
    pub(super) depth: u32,
    /// Number of applications of the cause on the row so far, by origin id.
    pub(super) origin_counts: Vec<(u64, u32)>,
    /// Whether the row reacted to anything since the last action.
    pub(super) reacted: bool,
}

/// An action of one row on another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ForeignAction {
    /// The application of an effect, with its origin id.
    Apply(Spec, u64),
    Event(EventData),
    Remove(RemoveDef),
    /// The source of blocks ended.
    Unblock(crate::BlockSource),
}

/// Frame work of one row whose order depends on all rows. A replay derives capabilities and held inputs from the row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FrameWork {
    /// A tick of a task, with the controllers that the host found for the task.
    Tick { seq: u64, found: Vec<ControllerId> },
    /// A task that was deferred to a later frame.
    PassedOver(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JournalEntry {
    pub(crate) at: SimTime,
    pub(crate) serial: u64,
    /// The position of the entry among the entries of all journals of the sim.
    pub(super) stamp: u64,
    /// How many due items of the row ran before this entry.
    pub(super) dues: u64,
    /// The position of the entry among the frame work of its time.
    pub(super) turn: FrameTurn,
    /// What the draws of the entry belong to.
    pub(super) roll: RollSource,
    /// Whether the entry was requeued. A requeued entry runs before all other entries with the same or a higher serial.
    pub(super) again: bool,
    pub(crate) what: JournalEvent,
}

/// When an entry is recorded, and the maximum length of the journal.
#[derive(Clone, Copy)]
struct RecordedAt {
    limit: u32,
    at: SimTime,
    roll: RollSource,
    turn: FrameTurn,
}

/// A bounded record of the inputs of one row: ops, actions of other rows, and values read from other rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Journal {
    pub(crate) entries: VecDeque<JournalEntry>,
    pub(crate) next: u64,
    pub(crate) dues: u64,
    /// Whether the row reacted to anything since the last action.
    reacted: bool,
    /// Entries below this serial were dropped from the ring.
    pub(super) dropped: u64,
}

impl Journal {
    /// Clears the journal, because its entries refer to the old rules. Older images are refused from now on.
    pub(crate) fn forget(&mut self) {
        self.entries.clear();
        (self.dropped, self.reacted) = (self.next, false);
    }

    /// Returns whether the journal has a record of another controller.
    pub(super) fn knows(&self, who: ControllerId) -> bool {
        self.entries.iter().any(|e| matches!(e.what, JournalEvent::Source { source, .. } if source == who))
    }

    /// Returns the serial from which the journal is complete.
    pub(crate) fn start(&self) -> u64 {
        self.dropped
    }

    /// Drops the entries before a serial.
    pub(crate) fn forget_before(&mut self, serial: u64) {
        while self.entries.front().is_some_and(|e| e.serial < serial || e.again && e.serial == serial) {
            self.entries.pop_front();
        }
        self.dropped = self.dropped.max(serial.min(self.next));
    }

    /// Requeues ops before all entries with a serial of at least `serial`.
    pub(crate) fn requeue<'o>(&mut self, serial: u64, at: SimTime, ops: impl Iterator<Item = &'o (OpId, Op)>) {
        self.entries.retain(|e| !e.again);
        let mut place = self.entries.partition_point(|e| e.serial < serial);
        for (id, op) in ops {
            let is_it = |e: &JournalEntry| matches!(&e.what, JournalEvent::Op(known, of) if known == id && of == op);
            if let Some(found) = self.entries.range(place..).position(is_it) {
                place += found + 1;
                continue;
            }
            let (roll, what) = (RollSource::of_op(*id), JournalEvent::Op(*id, op.clone()));
            let turn = FrameTurn::After;
            let entry = JournalEntry { at, serial, stamp: 0, dues: 0, turn, roll, again: true, what };
            self.entries.insert(place, entry);
            place += 1;
        }
    }

    /// Removes the ops with an id, or only one of them.
    pub(crate) fn discard_op(&mut self, id: OpId, op: Option<&Op>) {
        let is_it = |of: &Op| op.is_none_or(|op| op == of);
        self.entries.retain(|e| !matches!(&e.what, JournalEvent::Op(known, of) if *known == id && is_it(of)));
    }

    /// Removes the actions of other rows on this row that an op caused.
    pub(crate) fn discard_actions(&mut self, id: OpId) {
        self.entries.retain(|e| !matches!(&e.what, JournalEvent::ForeignAction(a) if a.cause.root == id));
    }

    fn push(&mut self, now: RecordedAt, stamp: &mut u64, what: JournalEvent) {
        *stamp += 1;
        let RecordedAt { limit, at, roll, turn } = now;
        if self.entries.len() >= limit as usize {
            self.dropped = self.entries.pop_front().map_or(self.dropped, |e| e.serial + 1);
        }
        let (serial, dues) = (self.next, self.dues);
        self.entries.push_back(JournalEntry { at, serial, stamp: *stamp, dues, turn, roll, again: false, what });
        self.next += 1;
    }
}

/// The time of a capture, its rules, and the position in the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapturedAt {
    pub(crate) at: SimTime,
    pub(crate) rules: u64,
    pub(crate) serial: u64,
    pub(crate) dues: u64,
    /// Whether the image comes from another sim. Such an image has no count of due items for this journal, so each op
    /// runs after all work that was due before the op.
    pub(crate) foreign: bool,
}

/// A row at one time.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) row: Row,
    pub(crate) taken: CapturedAt,
    /// The layout of the row. The index of a layout is valid in one sim only.
    pub(crate) layout: Arc<Layout>,
    /// Run-time definitions that the row uses, with their fingerprints. The number of a definition is valid in one sim
    /// only.
    pub(crate) definitions: Vec<(u32, u64)>,
}

impl Captured {
    /// Captures a row of a sim.
    pub(crate) fn new(row: Row, taken: CapturedAt, index: &Index, definitions: &Definitions) -> Captured {
        let layout = index.layouts[row.layout as usize].clone();
        let definitions = definitions.used_by(&row).map(|(id, d)| (id, d.fingerprint)).collect();
        Captured { row, taken, layout, definitions }
    }
}

impl Flow<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other op has one target")]
    pub(crate) fn journal_op(&mut self, id: OpId, op: &Op) {
        if self.replay.is_some() {
            return;
        }
        match op {
            Op::ApplyToMany { spec, targets } => {
                for &target in targets {
                    self.journal_event(target, || JournalEvent::Op(id, Op::Apply(Spec { target, ..spec.clone() })));
                }
            }
            Op::ApplyAll { specs } => {
                for spec in specs {
                    self.journal_event(spec.target, || JournalEvent::Op(id, Op::Apply(spec.clone())));
                }
            }
            _ => self.journal_event(op.target(), || JournalEvent::Op(id, op.clone())),
        }
    }

    /// Adds an entry to the journal of a row, if the row has one.
    pub(super) fn journal_event(&mut self, who: ControllerId, what: impl FnOnce() -> JournalEvent) {
        let now = self.recorded_at();
        if let Some(j) = self.journals.get_mut(&who) {
            j.push(now, &mut self.sc.journal_stamp, what());
        }
    }

    fn recorded_at(&self) -> RecordedAt {
        RecordedAt { limit: self.limits.journal, at: self.st.now, roll: self.roll, turn: self.turn }
    }

    #[inline]
    pub(crate) fn journal_follow(&mut self, edge: &LiveEdge, value: f64, via: Via) {
        if self.journals.is_empty() || self.replay.is_some() || edge.target == edge.source {
            return;
        }
        let cause = self.cause;
        let (source, attribute) = (edge.source, edge.attribute);
        self.journal_event(edge.target, || JournalEvent::Follow { source, attribute, value, cause, via });
    }

    /// Records that a source of a row's effects left the sim or returned.
    pub(crate) fn journal_gone(&mut self, who: ControllerId, source: ControllerId, frozen: Option<&Frozen>) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        self.journal_event(who, || JournalEvent::Gone { source, frozen: frozen.map(|f| Box::new(f.clone())) });
    }

    pub(crate) fn journal_recheck(&mut self, who: ControllerId) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        let cause = self.cause;
        self.journal_event(who, || JournalEvent::Recheck(cause));
    }

    /// Records that a cast lost its target.
    pub(crate) fn journal_target_lost(&mut self, who: ControllerId, cast: u64) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        let cause = self.cause;
        self.journal_event(who, || JournalEvent::TargetLost { cast, cause });
    }

    /// Records that the host changed whether this machine controls a row locally.
    pub(super) fn journal_locality(&mut self, who: ControllerId, was_local: bool) {
        self.journal_event(who, || JournalEvent::Locality { was_local });
    }

    #[inline]
    pub(crate) fn journal_frame(&mut self, who: ControllerId, work: impl FnOnce() -> FrameWork) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        self.journal_event(who, || JournalEvent::Frame(work()));
    }

    /// Records an action of one row on another row, before the action runs.
    #[inline]
    pub(crate) fn journal_foreign_action(
        &mut self,
        from: ControllerId,
        to: ControllerId,
        what: impl FnOnce() -> ForeignAction,
    ) {
        if self.journals.is_empty() || self.replay.is_some() || from == to {
            return;
        }
        let now = self.recorded_at();
        let (cause, depth) = (self.cause, self.depth);
        if let Some(j) = self.journals.get_mut(&to) {
            let origin_counts =
                self.sc.origin_counts.iter().filter(|((_, who), _)| *who == to).map(|((b, _), n)| (*b, *n)).collect();
            let reacted = std::mem::take(&mut j.reacted);
            let arrived = ForeignActionEntry { from, what: what(), cause, depth, origin_counts, reacted };
            j.push(now, &mut self.sc.journal_stamp, JournalEvent::ForeignAction(Box::new(arrived)));
        }
    }

    /// Records that a row starts its reactions.
    #[inline]
    pub(crate) fn journal_reaction(&mut self, who: ControllerId) {
        if !self.journals.is_empty()
            && self.replay.is_none()
            && let Some(j) = self.journals.get_mut(&who)
        {
            j.reacted = true;
        }
    }

    /// Counts a due item of a row with a journal.
    #[inline]
    pub(crate) fn journal_due(&mut self, who: ControllerId) {
        if !self.journals.is_empty()
            && self.replay.is_none()
            && let Some(j) = self.journals.get_mut(&who)
        {
            j.dues += 1;
        }
    }

    /// Replaces a row and updates the indexes derived from it. A live modifier that would close a dependency cycle is
    /// not linked, and its attribute is returned as the error.
    pub(crate) fn replace_row(&mut self, target: usize, mut row: Row) -> Result<(), AttributeId> {
        self.unlink_row(target);
        row.readers = self.row_mut(target).readers;
        row.rebuild();
        self.st.controllers.replace(target, row, &self.rules.tags);
        let linked = self.link_row(target);
        self.index_capabilities(target);
        self.refresh_listeners(target);
        self.refresh_frames(target);
        self.publish(target);
        linked
    }

    /// Restores a row. The row's clock continues from now, so that remaining times are the captured ones.
    pub(crate) fn restore(&mut self, who: ControllerId, from: &Captured) -> Result<(), Refusal> {
        let target = self.check_image(who, from)?;
        let mut row = self.image_row(from)?;
        row.clock.shift(self.st.now.0 - from.taken.at.0);
        // A source that existed when the image was captured may not exist now.
        for e in row.effects.iter_mut().filter(|e| self.st.controllers.slot(e.source).is_none()) {
            let known = self.row(target).find(e.key(who)).and_then(|at| self.row(target).effects[at].frozen());
            if let (None, Some(shown)) = (e.frozen(), known) {
                e.freeze(shown);
            }
        }
        self.put_image(target, row)?;
        // Waits for a sim time depend on the clock, which was shifted.
        self.retime(target);
        self.publish(target);
        self.fact(who, Via::NOTHING, FactKind::Restored);
        self.catch_up_live(target);
        self.check_own_target(target);
        self.check_casters_at(who);
        // The machine may have gained or lost control of the controller since the capture.
        self.evaluate_sides(who);
        self.react();
        Ok(())
    }

    /// Returns the slot of an image's controller if the image can be restored: same rules, same controller, same
    /// run-time definitions.
    pub(super) fn check_image(&self, who: ControllerId, from: &Captured) -> Result<usize, Refusal> {
        let defined = |&(id, print): &(u32, u64)| self.st.definitions.get(id).is_some_and(|d| d.fingerprint == print);
        if from.taken.rules != self.rules.image_print() || from.row.id != who || !from.definitions.iter().all(defined) {
            return Err(Refusal::Mismatch);
        }
        self.slot(who)
    }

    /// Returns the image's row with this sim's index of its layout.
    pub(super) fn image_row(&mut self, from: &Captured) -> Result<Row, Refusal> {
        let mut row = from.row.clone();
        let here = self.ix.layouts.get(row.layout as usize).is_some_and(|l| Arc::ptr_eq(l, &from.layout));
        if !here {
            row.layout = self.layout_for(&from.layout.sets, row.id)?;
        }
        Ok(row)
    }

    /// Replaces a row. If the new row would create a dependency cycle, nothing changes.
    pub(super) fn put_image(&mut self, target: usize, row: Row) -> Result<(), Refusal> {
        let before = (row.live > 0).then(|| self.row(target).clone());
        let linked = self.replace_row(target, row);
        if let (Err(attribute), Some(before)) = (linked, before) {
            let who = before.id;
            let _ = self.replace_row(target, before);
            return Err(Refusal::Cycle { who, attribute });
        }
        Ok(())
    }
}
