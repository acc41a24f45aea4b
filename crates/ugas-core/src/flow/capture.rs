//! Capture, restore and resimulation of one row. A journal records everything that the row receives from outside: ops,
//! actions of other rows on this row, the state that the row read from other rows, and frame work. A resimulation
//! therefore does not need the other rows.

use super::settle::Emit;
use super::{Flow, RollSource, Via};
use crate::image::RowImage;
use crate::rules::Layout;
use crate::state::{Definitions, Frozen, Index, LiveEdge, Row, Tags};
use crate::task::RemoveDef;
use crate::{AttributeId, BadValue, Cause, ControllerId, EventData, FactKind, Op, OpId, Refusal, SimTime, Spec};
use std::collections::VecDeque;
use std::sync::Arc;

/// An entry of a journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JournalEvent {
    /// An op on the row.
    Op(OpId, Op),
    /// The state of another controller when the row read it.
    Source { source: ControllerId, known: Box<KnownController> },
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
}

/// The recorded state of another controller: its tags, current values, position, credit and combat rules.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownController {
    tags: Tags,
    values: Box<[(AttributeId, f64)]>,
    position: Option<[f64; 3]>,
    /// The controller that gets the credit for the damage of this controller.
    credit: ControllerId,
    /// The state that the combat rules of the controller read. `None` if no active effect of the controller has combat
    /// rules about actions on others.
    rules: Option<Box<Frozen>>,
}

/// An action of another row on this row, with its cause and its position in the order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignActionEntry {
    what: ForeignAction,
    pub(crate) cause: Cause,
    depth: u32,
    /// Number of applications of the cause on the row so far, by origin id.
    origin_counts: Vec<(u64, u32)>,
    /// Whether the row reacted to anything since the last action.
    reacted: bool,
}

/// An action of one row on another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ForeignAction {
    /// The application of an effect, with its origin id.
    Apply(Spec, u64),
    Event(EventData),
    Remove(RemoveDef),
}

/// Frame work of one row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FrameWork {
    /// A tick of a task, with the controllers that the host found for the task.
    Tick { seq: u64, found: Vec<ControllerId> },
    /// A task that was deferred to a later frame.
    PassedOver(u64),
    /// Another attempt to activate the abilities of held inputs, with the op id of the attempt.
    Retry(OpId),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JournalEntry {
    pub(crate) at: SimTime,
    pub(crate) serial: u64,
    /// How many due items of the row ran before this entry.
    dues: u64,
    /// What the draws of the entry belong to.
    roll: RollSource,
    /// Whether the entry was requeued. A requeued entry runs before all other entries with the same or a higher serial.
    again: bool,
    pub(crate) what: JournalEvent,
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
    dropped: u64,
}

impl Journal {
    /// Clears the journal, because its entries refer to the old rules. Older images are refused from now on.
    pub(crate) fn forget(&mut self) {
        self.entries.clear();
        (self.dropped, self.reacted) = (self.next, false);
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
            let entry = JournalEntry { at, serial, dues: 0, roll, again: true, what };
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

    fn push(&mut self, limit: u32, at: SimTime, roll: RollSource, what: JournalEvent) {
        if self.entries.len() >= limit as usize {
            self.dropped = self.entries.pop_front().map_or(self.dropped, |e| e.serial + 1);
        }
        self.entries.push_back(JournalEntry { at, serial: self.next, dues: self.dues, roll, again: false, what });
        self.next += 1;
    }
}

/// A replay in progress: row, image, and position in the journal.
#[derive(Clone, Copy)]
pub(crate) struct Replay<'j> {
    pub(crate) only: ControllerId,
    journal: &'j Journal,
    cursor: u64,
}

impl<'j> Replay<'j> {
    pub(crate) fn new(only: ControllerId, journal: &'j Journal) -> Replay<'j> {
        Replay { only, journal, cursor: 0 }
    }

    /// Returns the state of another controller at this point of the replay: the next record of this time, or else the
    /// last record.
    fn source(&self, who: ControllerId, now: SimTime) -> Option<&'j KnownController> {
        let of = |e: &'j JournalEntry| match &e.what {
            JournalEvent::Source { source, known } if *source == who => Some(&**known),
            JournalEvent::Op(..)
            | JournalEvent::Source { .. }
            | JournalEvent::Recheck(_)
            | JournalEvent::Follow { .. }
            | JournalEvent::TargetLost { .. }
            | JournalEvent::Gone { .. }
            | JournalEvent::Frame(_)
            | JournalEvent::ForeignAction(_) => None,
        };
        let entries = &self.journal.entries;
        let next = entries.iter().filter(|e| e.serial >= self.cursor && e.at == now).find_map(of);
        next.or_else(|| entries.iter().rev().filter(|e| e.serial < self.cursor).find_map(of))
    }

    /// Returns an attribute of another controller at this point of the replay.
    pub(crate) fn value(&self, who: ControllerId, attribute: AttributeId, now: SimTime) -> Option<f64> {
        let values = &self.source(who, now)?.values;
        values.iter().find(|(a, _)| *a == attribute).map(|(_, v)| *v)
    }

    /// Returns the recorded position of another controller at this point of the replay. The outer `None` means that
    /// there is no record.
    pub(crate) fn position(&self, who: ControllerId, now: SimTime) -> Option<Option<[f64; 3]>> {
        self.source(who, now).map(|known| known.position)
    }

    /// Returns the controller that gets the credit for the damage of another controller at this point of the replay.
    pub(crate) fn credit(&self, who: ControllerId, now: SimTime) -> Option<ControllerId> {
        self.source(who, now).map(|known| known.credit)
    }

    /// Returns the combat rules of another controller at this point of the replay.
    pub(crate) fn rules(&self, who: ControllerId, now: SimTime) -> Option<&'j Frozen> {
        self.source(who, now)?.rules.as_deref()
    }

    /// Returns another controller's tags at this point of the replay.
    pub(crate) fn tags(&self, who: ControllerId, now: SimTime) -> Option<&'j Tags> {
        self.source(who, now).map(|known| &known.tags)
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

/// A point up to which a row is resimulated: a time, the serial of the first entry after that time, and an image to
/// fill.
pub(crate) struct Stop<'i> {
    pub(crate) at: SimTime,
    pub(crate) until: u64,
    pub(crate) image: Option<&'i mut RowImage>,
}

impl Flow<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other op has one target")]
    pub(crate) fn journal_op(&mut self, id: OpId, op: &Op) {
        if self.replay.is_some() {
            return;
        }
        let (limit, at, roll) = (self.limits.journal, self.st.now, self.roll);
        match op {
            Op::ApplyToMany { spec, targets } => {
                for &target in targets {
                    if let Some(j) = self.journals.get_mut(&target) {
                        let spec = Spec { target, ..spec.clone() };
                        j.push(limit, at, roll, JournalEvent::Op(id, Op::Apply(spec)));
                    }
                }
            }
            Op::ApplyAll { specs } => {
                for spec in specs {
                    if let Some(j) = self.journals.get_mut(&spec.target) {
                        j.push(limit, at, roll, JournalEvent::Op(id, Op::Apply(spec.clone())));
                    }
                }
            }
            _ => {
                if let Some(j) = self.journals.get_mut(&op.target()) {
                    j.push(limit, at, roll, JournalEvent::Op(id, op.clone()));
                }
            }
        }
    }

    /// Records another controller before its state is read.
    #[inline]
    pub(crate) fn journal_source(&mut self, target: ControllerId, source: ControllerId) {
        if !self.journals.is_empty() && self.replay.is_none() && target != source {
            self.note_source(target, source);
        }
    }

    #[cold]
    fn note_source(&mut self, target: ControllerId, source: ControllerId) {
        let (limit, at, roll) = (self.limits.journal, self.st.now, self.roll);
        let Some(slot) = self.st.controllers.slot(source).filter(|_| self.journals.contains_key(&target)) else {
            return;
        };
        let (view, row) = (self.view(), self.row(slot));
        let effects = view.ruling_effects(slot);
        let rules = (!effects.is_empty()).then(|| Box::new(view.frozen_row(slot, effects)));
        let credit = view.credit(source);
        let slots = &self.ix.layouts[row.layout as usize].slots;
        let values = slots.iter().zip(&*row.attrs).map(|(s, a)| (s.attribute, a.current)).collect();
        let (tags, position) = (row.tags.clone(), row.side().anchor.map(|a| a.position));
        let known = Box::new(KnownController { tags, values, position, credit, rules });
        if let Some(j) = self.journals.get_mut(&target) {
            j.push(limit, at, roll, JournalEvent::Source { source, known });
        }
    }

    #[inline]
    pub(crate) fn journal_follow(&mut self, edge: &LiveEdge, value: f64, via: Via) {
        if self.journals.is_empty() || self.replay.is_some() || edge.target == edge.source {
            return;
        }
        let (limit, at, roll, cause) = (self.limits.journal, self.st.now, self.roll, self.cause);
        if let Some(j) = self.journals.get_mut(&edge.target) {
            let (source, attribute) = (edge.source, edge.attribute);
            j.push(limit, at, roll, JournalEvent::Follow { source, attribute, value, cause, via });
        }
    }

    /// Records that a source of a row's effects left the sim or returned.
    pub(crate) fn journal_gone(&mut self, who: ControllerId, source: ControllerId, frozen: Option<&Frozen>) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        let (limit, at, roll) = (self.limits.journal, self.st.now, self.roll);
        if let Some(j) = self.journals.get_mut(&who) {
            let frozen = frozen.map(|f| Box::new(f.clone()));
            j.push(limit, at, roll, JournalEvent::Gone { source, frozen });
        }
    }

    pub(crate) fn journal_recheck(&mut self, who: ControllerId) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        let (limit, at, roll, cause) = (self.limits.journal, self.st.now, self.roll, self.cause);
        if let Some(j) = self.journals.get_mut(&who) {
            j.push(limit, at, roll, JournalEvent::Recheck(cause));
        }
    }

    /// Records that a cast lost its target.
    pub(crate) fn journal_target_lost(&mut self, who: ControllerId, cast: u64) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        let (limit, at, roll, cause) = (self.limits.journal, self.st.now, self.roll, self.cause);
        if let Some(j) = self.journals.get_mut(&who) {
            j.push(limit, at, roll, JournalEvent::TargetLost { cast, cause });
        }
    }

    #[inline]
    pub(crate) fn journal_frame(&mut self, who: ControllerId, work: impl FnOnce() -> FrameWork) {
        if self.journals.is_empty() || self.replay.is_some() {
            return;
        }
        let (limit, at, roll) = (self.limits.journal, self.st.now, self.roll);
        if let Some(j) = self.journals.get_mut(&who) {
            j.push(limit, at, roll, JournalEvent::Frame(work()));
        }
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
        let (limit, at, roll) = (self.limits.journal, self.st.now, self.roll);
        let (cause, depth) = (self.cause, self.depth);
        if let Some(j) = self.journals.get_mut(&to) {
            let origin_counts =
                self.sc.origin_counts.iter().filter(|((_, who), _)| *who == to).map(|((b, _), n)| (*b, *n)).collect();
            let reacted = std::mem::take(&mut j.reacted);
            let arrived = ForeignActionEntry { what: what(), cause, depth, origin_counts, reacted };
            j.push(limit, at, roll, JournalEvent::ForeignAction(Box::new(arrived)));
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

    /// Replays an action of another row at this point of the journal. The row's reactions run later, because more
    /// actions of the same cause may follow.
    fn replay_foreign_action(&mut self, who: ControllerId, arrived: &ForeignActionEntry) {
        (self.cause, self.depth) = (arrived.cause, arrived.depth);
        self.sc.origin_counts = arrived.origin_counts.iter().map(|&(origin_id, n)| ((origin_id, who), n)).collect();
        // A refusal of the original run is repeated.
        match &arrived.what {
            ForeignAction::Apply(spec, origin_id) => {
                let _ = self.apply(spec, *origin_id);
            }
            ForeignAction::Event(event) => {
                let _ = self.send_event(event.clone());
            }
            ForeignAction::Remove(remove) => self.remove_from(who, who, remove),
        }
    }

    /// Returns whether an entry belongs to the current operation. The row's reactions run after the last such entry.
    fn is_part_of_cause(&self, entry: &JournalEntry) -> bool {
        match &entry.what {
            JournalEvent::Source { .. } => true,
            JournalEvent::ForeignAction(a) => !a.reacted && a.cause.root == self.cause.root && entry.at == self.st.now,
            JournalEvent::Op(..)
            | JournalEvent::Recheck(_)
            | JournalEvent::Follow { .. }
            | JournalEvent::TargetLost { .. }
            | JournalEvent::Gone { .. }
            | JournalEvent::Frame(_) => false,
        }
    }

    /// Replays frame work at this point of the journal.
    fn replay_frame(&mut self, who: ControllerId, work: &FrameWork) {
        match work {
            FrameWork::Tick { seq, found } => {
                self.tick_task(who, *seq, Some(found));
            }
            FrameWork::PassedOver(seq) => self.pass_over(who, *seq),
            FrameWork::Retry(id) => {
                if let Some(slot) = self.st.controllers.slot(who) {
                    self.retry_as(slot, *id);
                }
            }
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
        self.react();
        Ok(())
    }

    /// Returns the slot of an image's controller if the image can be restored: same rules, same controller, same
    /// run-time definitions.
    fn check_image(&self, who: ControllerId, from: &Captured) -> Result<usize, Refusal> {
        let defined = |&(id, print): &(u32, u64)| self.st.definitions.get(id).is_some_and(|d| d.fingerprint == print);
        if from.taken.rules != self.rules.image_print() || from.row.id != who || !from.definitions.iter().all(defined) {
            return Err(Refusal::Mismatch);
        }
        self.slot(who)
    }

    /// Returns the image's row with this sim's index of its layout.
    fn image_row(&mut self, from: &Captured) -> Result<Row, Refusal> {
        let mut row = from.row.clone();
        let here = self.ix.layouts.get(row.layout as usize).is_some_and(|l| Arc::ptr_eq(l, &from.layout));
        if !here {
            row.layout = self.layout_for(&from.layout.sets, row.id)?;
        }
        Ok(row)
    }

    /// Replaces a row. If the new row would create a dependency cycle, nothing changes.
    fn put_image(&mut self, target: usize, row: Row) -> Result<(), Refusal> {
        let before = (row.live > 0).then(|| self.row(target).clone());
        let linked = self.replace_row(target, row);
        if let (Err(attribute), Some(before)) = (linked, before) {
            let who = before.id;
            let _ = self.replace_row(target, before);
            return Err(Refusal::Cycle { who, attribute });
        }
        Ok(())
    }

    /// Restores a row to an image and resimulates it alone from a journal, up to each stop in turn.
    pub(crate) fn resimulate(
        &mut self,
        from: &Captured,
        journal: &Journal,
        stops: &mut [Stop<'_>],
    ) -> Result<(), Refusal> {
        let last = stops.last().map_or(from.taken.at, |s| s.at);
        let is_unordered = |w: &[Stop<'_>]| (w[0].at, w[0].until) > (w[1].at, w[1].until);
        if stops.windows(2).any(is_unordered) || stops.first().is_some_and(|s| s.at < from.taken.at) {
            return Err(Refusal::BadValue { what: BadValue::Time });
        }
        let now = self.begin_replay(from, journal, last)?;
        let (mut dues, mut serial) = (from.taken.dues, from.taken.serial);
        for Stop { at, until, image } in stops {
            self.replay_part(from, journal, serial..*until, *at, &mut dues);
            serial = *until;
            let Ok(slot) = self.slot(from.row.id) else { break };
            if let Some(image) = image {
                let row = self.st.controllers.row(slot).clone();
                let taken = CapturedAt { at: *at, serial, dues, ..from.taken };
                image.inner = Some(Captured::new(row, taken, self.ix, &self.st.definitions));
            }
        }
        self.end_replay(from.row.id, now);
        Ok(())
    }

    /// Restores the image, sets the time back and returns the previous time.
    fn begin_replay(&mut self, from: &Captured, journal: &Journal, to: SimTime) -> Result<SimTime, Refusal> {
        let target = self.check_image(from.row.id, from)?;
        let now = self.st.now;
        if to < from.taken.at || to > now {
            return Err(Refusal::BadValue { what: BadValue::Time });
        }
        if journal.dropped > from.taken.serial {
            return Err(Refusal::Mismatch);
        }
        let row = self.image_row(from)?;
        self.put_image(target, row)?;
        self.st.now = from.taken.at;
        Ok(now)
    }

    /// Replays the journal between two serials, and then runs the work that is due up to a time.
    fn replay_part(
        &mut self,
        from: &Captured,
        journal: &Journal,
        serials: std::ops::Range<u64>,
        to: SimTime,
        done: &mut u64,
    ) {
        let who = from.row.id;
        let first = serials.start == from.taken.serial && self.st.now == from.taken.at;
        let is_due = |e: &&JournalEntry| match e.again {
            true => first && e.serial == from.taken.serial,
            false => serials.contains(&e.serial),
        };
        for entry in journal.entries.iter().filter(is_due).filter(|e| e.at <= to) {
            if !self.is_part_of_cause(entry) {
                self.react();
            }
            self.read_to(entry.serial);
            let all = from.taken.foreign && matches!(entry.what, JournalEvent::Op(..));
            self.run_row(who, entry.at, (!all).then_some(entry.dues), done);
            self.st.now = self.st.now.max(entry.at);
            self.read_to(entry.serial + 1);
            self.roll = entry.roll;
            match &entry.what {
                JournalEvent::Op(id, op) => {
                    // The op may be refused now although it was accepted in the original run, or the reverse.
                    let _ = self.run(*id, op);
                }
                JournalEvent::Follow { source, attribute, value, cause, via } => {
                    self.cause = *cause;
                    self.replay_follow(who, *source, *attribute, *value, *via);
                }
                JournalEvent::Recheck(cause) => {
                    self.cause = *cause;
                    if let Some(target) = self.st.controllers.slot(who) {
                        self.recheck_all(target);
                    }
                    self.react();
                }
                JournalEvent::TargetLost { cast, cause } => {
                    self.cause = *cause;
                    if let Some(slot) = self.st.controllers.slot(who) {
                        self.lose_target(slot, *cast);
                    }
                    self.react();
                }
                JournalEvent::Gone { source, frozen } => {
                    if let Some(target) = self.st.controllers.slot(who) {
                        self.replay_source_change(target, *source, frozen.as_deref());
                    }
                }
                JournalEvent::Frame(work) => self.replay_frame(who, work),
                JournalEvent::ForeignAction(arrived) => self.replay_foreign_action(who, arrived),
                JournalEvent::Source { .. } => {}
            }
            if self.st.controllers.slot(who).is_none() {
                break;
            }
        }
        self.react();
        self.read_to(serials.end);
        self.run_row(who, to, None, done);
        self.st.now = to;
    }

    fn end_replay(&mut self, who: ControllerId, now: SimTime) {
        self.st.now = now;
        // A frame that is planned before now would run twice.
        if self.ix.next_frame <= now {
            self.ix.next_frame = SimTime::NEVER;
        }
        if let Some(target) = self.st.controllers.slot(who) {
            self.refresh_frames(target);
            self.publish(target);
        }
        self.plan_frame();
    }

    fn read_to(&mut self, serial: u64) {
        if let Some(replay) = &mut self.replay {
            replay.cursor = serial;
        }
    }

    /// Runs one row's due work up to a time. Work that is due exactly at that time runs only until `count` items have
    /// run.
    fn run_row(&mut self, who: ControllerId, until: SimTime, count: Option<u64>, done: &mut u64) {
        while let Some(target) = self.st.controllers.slot(who) {
            let row = self.row(target);
            let Some(due) = row.due.last() else { return };
            let at = row.clock.due(due.at);
            let early = at < until || count.is_none_or(|n| *done < n);
            if at > until || !early {
                return;
            }
            *done += 1;
            self.st.now = self.st.now.max(at);
            self.run_due(target);
        }
    }

    /// Replays a change of a followed attribute of another controller.
    fn replay_follow(&mut self, who: ControllerId, source: ControllerId, attribute: AttributeId, value: f64, via: Via) {
        let Some(target) = self.st.controllers.slot(who) else {
            return;
        };
        let effects: Vec<_> =
            self.row(target).effects.iter().filter(|e| e.source == source).map(|e| (e.seq(), e.def)).collect();
        for (seq, def) in effects {
            let Some(def) = self.def(def) else { continue };
            for (index, m) in def.modifiers.iter().enumerate() {
                if m.magnitude.live_on() != Some((attribute, false)) {
                    continue;
                }
                let edge = LiveEdge { source, attribute, target: who, seq, index: index as u16 };
                let slot =
                    self.row(target).mods.iter().find(|x| x.seq() == seq && x.index() == edge.index).map(|x| x.slot);
                if let Some(slot) = slot
                    && self.follow(target, slot as usize, &edge, value, via)
                {
                    self.mark(target, slot as usize);
                }
            }
        }
        self.settle(via, Emit::Facts);
        self.react();
    }
}
