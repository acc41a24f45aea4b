//! Resimulation of rows from their journals.
//!
//! A resimulation restores one or several rows to images and runs their journals and their due work again. Actions
//! between these rows run again. Actions of these rows on other rows are skipped, and actions of other rows on them are
//! read from the journals. A row takes part from the time of its image on. Until then, the other rows see it as their
//! journals recorded it.

mod record;

pub(crate) use record::{Replay, SourceRecord};

use super::capture::{ForeignActionEntry, JournalEntry};
use super::settle::Emit;
use super::{Captured, CapturedAt, Flow, ForeignAction, FrameTurn, FrameWork, Journal, JournalEvent, Via};
use crate::image::RowImage;
use crate::state::{Due, LiveEdge, Stage};
use crate::{AttributeId, BadValue, ControllerId, Refusal, SimTime};
use std::cell::{Cell, RefCell};

/// A row of a replay.
pub(crate) struct ReplayRow<'j> {
    who: ControllerId,
    journal: &'j Journal,
    /// The state that the row starts from. `None` for a row that runs in its current state.
    from: Option<&'j Captured>,
    /// The serial of the next journal entry.
    cursor: Cell<u64>,
    /// The serials of records at or after the cursor that the replay has used.
    used: RefCell<Vec<u64>>,
    /// How many due items have run.
    dues: Cell<u64>,
    /// Whether the row was restored and takes part.
    is_active: Cell<bool>,
    /// Why the row could not be restored.
    refused: Cell<Option<Refusal>>,
}

impl<'j> ReplayRow<'j> {
    /// A row that starts from an image.
    pub(crate) fn new(from: &'j Captured, journal: &'j Journal) -> ReplayRow<'j> {
        let (cursor, dues) = (Cell::new(from.taken.serial), Cell::new(from.taken.dues));
        ReplayRow {
            who: from.row.id,
            journal,
            from: Some(from),
            cursor,
            used: RefCell::default(),
            dues,
            is_active: Cell::new(false),
            refused: Cell::new(None),
        }
    }

    /// A row that runs in its current state, without a journal.
    pub(crate) fn current(who: ControllerId, empty: &'j Journal) -> ReplayRow<'j> {
        let (cursor, dues) = (Cell::new(0), Cell::new(0));
        ReplayRow {
            who,
            journal: empty,
            from: None,
            cursor,
            used: RefCell::default(),
            dues,
            is_active: Cell::new(true),
            refused: Cell::new(None),
        }
    }
}

/// A point up to which a row is resimulated: a time, the serial of the first entry after that time, and an image to
/// fill.
pub(crate) struct Stop<'i> {
    pub(crate) at: SimTime,
    pub(crate) until: u64,
    pub(crate) image: Option<&'i mut RowImage>,
}

/// A time, and a position in the frame work of that time. Entries that were recorded during the frame work of a row are
/// replayed after this work.
#[derive(Clone, Copy)]
struct Until {
    at: SimTime,
    turn: FrameTurn,
}

impl Flow<'_> {
    /// Returns whether an action on a controller is skipped, because this flow is a replay of other rows and the action
    /// has already happened.
    #[inline]
    pub(crate) fn skips_action_on(&self, who: ControllerId) -> bool {
        self.replay.is_some_and(|r| !r.includes(who))
    }

    /// Restores rows to their images and resimulates them together from their journals, each up to its stops in turn.
    /// The stops of each row are in order, and the last stops of all rows have the same time.
    pub(crate) fn resimulate(&mut self, rows: &[ReplayRow<'_>], stops: &mut [Vec<Stop<'_>>]) -> Result<(), Refusal> {
        let now = self.st.now;
        for (row, stops) in rows.iter().zip(stops.iter()) {
            self.check_row(row, stops, now)?;
        }
        let start = rows.iter().filter_map(|r| r.from).map(|from| from.taken.at).min();
        let start = start.unwrap_or(now);
        self.restore_rows(rows, start);
        (self.st.now, self.turn) = (start, FrameTurn::After);
        let mut next: Vec<usize> = vec![0; rows.len()];
        while let Some(at) = (0..rows.len()).filter_map(|r| stops[r].get(next[r]).map(|s| s.at)).min() {
            let until = |r: usize| stops[r].get(next[r]).filter(|s| s.at == at).map(|s| s.until);
            let until: Vec<Option<u64>> = (0..rows.len()).map(until).collect();
            self.replay_until(rows, &until, at);
            for (r, row) in rows.iter().enumerate() {
                let Some(stop) = stops[r].get_mut(next[r]).filter(|s| s.at == at) else { continue };
                next[r] += 1;
                self.capture_at(row, stop);
            }
        }
        rows.iter().for_each(|row| self.end_replay(row.who, now));
        self.plan_frame();
        rows.iter().find_map(|row| row.refused.get()).map_or(Ok(()), Err)
    }

    /// Checks that a row can be restored to its image and resimulated up to its stops.
    fn check_row(&self, row: &ReplayRow<'_>, stops: &[Stop<'_>], now: SimTime) -> Result<(), Refusal> {
        let Some(from) = row.from else { return Err(Refusal::Mismatch) };
        self.check_image(row.who, from)?;
        let is_unordered = |w: &[Stop<'_>]| (w[0].at, w[0].until) > (w[1].at, w[1].until);
        let last = stops.last().map_or(from.taken.at, |s| s.at);
        let is_early = stops.first().is_some_and(|s| s.at < from.taken.at);
        if stops.windows(2).any(is_unordered) || is_early || last < from.taken.at || last > now {
            return Err(Refusal::BadValue { what: BadValue::Time });
        }
        if row.journal.dropped > from.taken.serial { Err(Refusal::Mismatch) } else { Ok(()) }
    }

    /// Restores the rows whose image is of this time or earlier and that do not take part yet. A row that cannot be
    /// restored keeps its state and takes no part.
    fn restore_rows(&mut self, rows: &[ReplayRow<'_>], at: SimTime) {
        for row in rows.iter().filter(|r| !r.is_active.get() && r.refused.get().is_none()) {
            let Some(from) = row.from.filter(|from| from.taken.at <= at) else { continue };
            let checked = self.check_image(row.who, from);
            let restored = checked.and_then(|target| self.image_row(from).map(|image| (target, image)));
            match restored.and_then(|(target, image)| self.put_image(target, image)) {
                Ok(()) => row.is_active.set(true),
                Err(refusal) => row.refused.set(Some(refusal)),
            }
        }
    }

    /// Captures the image of a stop.
    fn capture_at(&mut self, row: &ReplayRow<'_>, stop: &mut Stop<'_>) {
        let (Some(from), Ok(slot)) = (row.from, self.slot(row.who)) else { return };
        if let Some(image) = &mut stop.image {
            let taken = CapturedAt { at: stop.at, serial: stop.until, dues: row.dues.get(), ..from.taken };
            let row = self.st.controllers.row(slot).clone();
            image.inner = Some(Captured::new(row, taken, self.ix, &self.st.definitions));
        }
        row.cursor.set(stop.until);
    }

    /// Replays the entries of all journals up to a time, in their original order, and then runs the work that is due up
    /// to that time. `until` has the serial of the first entry of each row that is left out; a row without one is
    /// replayed up to the entries of that time.
    fn replay_until(&mut self, rows: &[ReplayRow<'_>], until: &[Option<u64>], to: SimTime) {
        let mut entries: Vec<(SimTime, u64, usize, &JournalEntry)> = Vec::new();
        for (r, row) in rows.iter().enumerate() {
            let Some(from) = row.from.filter(|from| from.taken.at <= to) else { continue };
            let start = row.cursor.get();
            let first = start == from.taken.serial && self.st.now <= from.taken.at;
            let is_due = |e: &&JournalEntry| match (e.again, until[r]) {
                (true, _) => first && e.serial == from.taken.serial,
                (false, Some(until)) => (start..until).contains(&e.serial),
                (false, None) => e.serial >= start && e.at < to,
            };
            let due = row.journal.entries.iter().filter(is_due).filter(|e| e.at <= to);
            entries.extend(due.map(|e| (e.at.max(from.taken.at), e.stamp, r, e)));
        }
        entries.sort_by_key(|&(at, stamp, ..)| (at, stamp));
        for (at, _, r, entry) in entries {
            self.replay_entry(rows, r, at, entry);
        }
        self.react();
        for (row, &until) in rows.iter().zip(until).filter(|(row, _)| row.is_active.get()) {
            row.cursor.set(row.cursor.get().max(until.unwrap_or(0)));
        }
        self.run_rows(rows, Until { at: to, turn: FrameTurn::After }, |_| None);
        self.reach(to, FrameTurn::After);
        self.restore_rows(rows, to);
    }

    /// Replays one entry of a journal, after the work that was due before it.
    fn replay_entry(&mut self, rows: &[ReplayRow<'_>], r: usize, at: SimTime, entry: &JournalEntry) {
        let row = &rows[r];
        if !self.is_part_of_cause(entry) {
            self.react();
        }
        if row.is_active.get() {
            row.cursor.set(entry.serial);
        }
        let is_op = matches!(entry.what, JournalEvent::Op(..));
        // An op runs after all work of its time. An image of another sim does not contain how much of it had run.
        let all = is_op && (row.from.is_some_and(|from| from.taken.foreign) || rows.len() > 1);
        let is_after_dues = entry.turn > FrameTurn::Before;
        self.run_rows(rows, Until { at, turn: entry.turn }, |of| match (all, of == r) {
            (true, _) => None,
            (false, true) => Some(entry.dues),
            (false, false) => {
                if is_after_dues {
                    None
                } else {
                    Some(0)
                }
            }
        });
        self.reach(at, entry.turn);
        self.restore_rows(rows, at);
        if row.is_active.get() && !self.happens_again(entry) {
            // The replay of this entry reads the entry.
            let reads_itself = matches!(entry.what, JournalEvent::OwnerLocality { .. });
            row.cursor.set(entry.serial + u64::from(!reads_itself));
            self.set_roll(entry.roll);
            self.replay_event(row.who, &entry.what);
        }
    }

    /// Returns whether an entry is an action or a value of a row that takes part in the replay: it happens again.
    fn happens_again(&self, entry: &JournalEntry) -> bool {
        let includes = |who: ControllerId| self.replay.is_some_and(|r| r.includes(who));
        match &entry.what {
            JournalEvent::ForeignAction(arrived) => includes(arrived.from),
            JournalEvent::Follow { source, .. } => includes(*source),
            JournalEvent::Op(..)
            | JournalEvent::Source { .. }
            | JournalEvent::Check { .. }
            | JournalEvent::Candidates { .. }
            | JournalEvent::Recheck(_)
            | JournalEvent::TargetLost { .. }
            | JournalEvent::Gone { .. }
            | JournalEvent::Frame(_)
            | JournalEvent::OwnerLocality { .. }
            | JournalEvent::Locality { .. } => false,
        }
    }

    fn replay_event(&mut self, who: ControllerId, what: &JournalEvent) {
        match what {
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
            JournalEvent::OwnerLocality { .. } | JournalEvent::Locality { .. } => {
                self.evaluate_sides(who);
                self.react();
            }
            JournalEvent::Source { .. } | JournalEvent::Check { .. } | JournalEvent::Candidates { .. } => {}
        }
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
    }

    /// Moves the replay to a time and a position in the frame work of that time.
    fn reach(&mut self, at: SimTime, turn: FrameTurn) {
        (self.st.now, self.turn) = (self.st.now, self.turn).max((at, turn));
    }

    /// Runs the due work and the frame work of the rows up to a time, in the order of time, phase and controller. Work
    /// of a row that is due exactly at that time runs only until as many items as `count` returns have run; `None`
    /// means all.
    fn run_rows(&mut self, rows: &[ReplayRow<'_>], until: Until, count: impl Fn(usize) -> Option<u64>) {
        loop {
            let active = || rows.iter().enumerate().filter(|(_, row)| row.is_active.get());
            let due = active().filter_map(|(r, row)| {
                let state = self.row(self.st.controllers.slot(row.who)?);
                let due = state.due.last()?;
                let at = state.clock.due(due.at);
                let is_early = at < until.at || at == until.at && count(r).is_none_or(|n| row.dues.get() < n);
                // Work that became due during a frame runs after the frame.
                let is_late = at == self.st.now && self.turn > FrameTurn::Before;
                let is_late = is_late || due.phase() > Due::FRAME;
                let turn = if is_late { FrameTurn::After } else { FrameTurn::Before };
                is_early.then_some((at, turn, due.phase(), row.who, r))
            });
            let frames = active().filter_map(|(r, row)| {
                let (at, turn) = self.next_frame_work(row)?;
                ((at, turn) <= (until.at, until.turn)).then_some((at, turn, Due::FRAME, row.who, r))
            });
            let Some((at, turn, phase, who, r)) = due.chain(frames).min() else { return };
            self.restore_rows(rows, at);
            self.reach(at, turn);
            if phase == Due::FRAME {
                self.run_frame_work(who, turn);
                continue;
            }
            rows[r].dues.set(rows[r].dues.get() + 1);
            if let Some(target) = self.st.controllers.slot(who) {
                self.run_due(target);
            }
        }
    }

    /// Returns the time and the turn of the next frame work that follows from a row: its capabilities or its held
    /// inputs. An image contains the frame of its own time.
    fn next_frame_work(&self, row: &ReplayRow<'_>) -> Option<(SimTime, FrameTurn)> {
        let state = self.st.controllers.get(row.who)?;
        let has_capabilities = state.play().capabilities().records.iter().any(|r| r.stage != Stage::Elsewhere);
        let turns = [
            has_capabilities.then_some(FrameTurn::Capabilities(row.who)),
            self.has_retries(row.who).then_some(FrameTurn::HeldInputs(row.who)),
        ];
        let frame = self.work.frame.0.max(1);
        let next = |turn: FrameTurn| {
            let is_frame = self.st.now.0 % frame == 0;
            let is_taken = row.from.is_some_and(|from| from.taken.at >= self.st.now);
            let at = match is_frame && turn > self.turn && !is_taken {
                true => self.st.now.0,
                false => (self.st.now.0 / frame + 1) * frame,
            };
            (SimTime(at), turn)
        };
        turns.into_iter().flatten().map(next).min()
    }

    fn run_frame_work(&mut self, who: ControllerId, turn: FrameTurn) {
        match turn {
            // A replay asks every capability. Those that sleep would do nothing.
            FrameTurn::Capabilities(_) => self.capability_pass(who, true),
            FrameTurn::HeldInputs(_) => self.retry_row(who),
            FrameTurn::Before | FrameTurn::After => {}
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
            ForeignAction::Unblock(source) => {
                if let Some(slot) = self.st.controllers.slot(who) {
                    self.remove_blocks_of(slot, *source);
                }
            }
        }
    }

    /// Returns whether an entry belongs to the current operation. The row's reactions run after the last such entry.
    fn is_part_of_cause(&self, entry: &JournalEntry) -> bool {
        match &entry.what {
            JournalEvent::Source { .. } | JournalEvent::Check { .. } | JournalEvent::Candidates { .. } => true,
            JournalEvent::ForeignAction(a) => !a.reacted && a.cause.root == self.cause.root && entry.at == self.st.now,
            JournalEvent::Op(..)
            | JournalEvent::Recheck(_)
            | JournalEvent::Follow { .. }
            | JournalEvent::TargetLost { .. }
            | JournalEvent::Gone { .. }
            | JournalEvent::Frame(_)
            | JournalEvent::OwnerLocality { .. }
            | JournalEvent::Locality { .. } => false,
        }
    }

    /// Replays frame work at this point of the journal.
    fn replay_frame(&mut self, who: ControllerId, work: &FrameWork) {
        match work {
            FrameWork::Tick { seq, found } => {
                self.tick_task(who, *seq, Some(found));
            }
            FrameWork::PassedOver(seq) => self.pass_over(who, *seq),
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
