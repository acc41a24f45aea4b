//! What a replay reads from the journals of its rows instead of from other rows: their state, the results of checks, and
//! the controllers among which tasks chose.

use super::super::JournalEvent;
use super::super::capture::JournalEntry;
use super::super::foreign::{Candidate, ForeignCheck, KnownController, TaskPlace};
use super::ReplayRow;
use crate::state::Frozen;
use crate::{ControllerId, Refusal, SimTime};

/// What a journal knows of a controller outside the replay.
#[derive(Clone, Copy)]
pub(crate) enum SourceRecord<'j> {
    /// The row read this state at this time.
    Now(&'j KnownController),
    /// The row read the controller at this time, when the controller was not in the sim.
    Absent,
    /// The row read this state at an earlier time.
    Earlier(&'j KnownController),
}

impl<'j> SourceRecord<'j> {
    /// Returns the recorded state. `None` if the controller was not in the sim.
    pub(crate) fn known(self) -> Option<&'j KnownController> {
        match self {
            SourceRecord::Now(known) | SourceRecord::Earlier(known) => Some(known),
            SourceRecord::Absent => None,
        }
    }
}

/// A replay in progress.
#[derive(Clone, Copy)]
pub(crate) struct Replay<'j> {
    rows: &'j [ReplayRow<'j>],
}

impl<'j> Replay<'j> {
    pub(crate) fn new(rows: &'j [ReplayRow<'j>]) -> Replay<'j> {
        Replay { rows }
    }

    /// Returns whether a controller takes part in the replay now. The state of every other controller comes from the
    /// journals, and nothing acts on it.
    pub(crate) fn includes(&self, who: ControllerId) -> bool {
        self.rows.iter().any(|r| r.who == who && r.is_active.get())
    }

    fn active_row(&self, who: ControllerId) -> Option<&'j ReplayRow<'j>> {
        self.rows.iter().find(|r| r.who == who && r.is_active.get())
    }

    /// Returns what the journals know of a controller at this point of the replay. Returns `None` without a record, and
    /// for a controller that takes part in the replay: its state is in the sim.
    pub(crate) fn record(&self, who: ControllerId, now: SimTime) -> Option<SourceRecord<'j>> {
        if self.includes(who) {
            return None;
        }
        self.rows.iter().filter(|r| r.is_active.get()).find_map(|r| r.source(who, now))
    }

    /// Returns the combat rules of another controller at this point of the replay.
    pub(crate) fn rules(&self, who: ControllerId, now: SimTime) -> Option<&'j Frozen> {
        self.record(who, now)?.known()?.rules.as_deref()
    }

    /// Returns why a check of a row that depends on other rows was refused at this point of the replay, if it was.
    pub(crate) fn refusal_of(&self, who: ControllerId, check: ForeignCheck, now: SimTime) -> Option<Refusal> {
        self.active_row(who)?.refusal_of(check, now)
    }

    /// Returns whether the machine controlled the outermost owner of a row at this point of the replay, if recorded.
    pub(crate) fn was_owner_local(&self, who: ControllerId, now: SimTime) -> Option<bool> {
        self.active_row(who)?.was_owner_local(now)
    }

    /// Returns the controllers among which a task of a row chose. `None` without a record.
    pub(crate) fn candidates(&self, who: ControllerId, task: TaskPlace, now: SimTime) -> Option<&'j [Candidate]> {
        self.active_row(who)?.candidates(task, now)
    }

    /// Returns whether the machine controlled a row of the replay locally at this point, if that changed later.
    pub(crate) fn was_local(&self, who: ControllerId) -> Option<bool> {
        self.active_row(who)?.was_local()
    }
}

impl<'j> ReplayRow<'j> {
    /// Returns what the journal knows of another controller at this point: the next record of this time, or else the
    /// last record. Returns `None` without a record, or if the controller left the sim after its last record.
    fn source(&self, who: ControllerId, now: SimTime) -> Option<SourceRecord<'j>> {
        let of = |e: &'j JournalEntry| {
            let JournalEvent::Source { source, known } = &e.what else { return None };
            (*source == who).then_some(known.as_deref())
        };
        let (entries, cursor) = (&self.journal.entries, self.cursor.get());
        let next = entries.iter().filter(|e| e.serial >= cursor && e.at == now).find_map(of);
        if let Some(known) = next {
            return Some(known.map_or(SourceRecord::Absent, SourceRecord::Now));
        }
        let is_gone =
            |e: &JournalEntry| matches!(&e.what, JournalEvent::Gone { source, frozen: Some(_) } if *source == who);
        let last = entries.iter().rev().filter(|e| e.serial < cursor).find(|e| is_gone(e) || of(e).is_some())?;
        of(last).flatten().map(SourceRecord::Earlier)
    }

    /// Returns why a check of the row was refused at this point of the journal, if it was.
    fn refusal_of(&self, check: ForeignCheck, now: SimTime) -> Option<Refusal> {
        let refusal = self.next_result(now, |what| {
            let JournalEvent::Check { check: of, refusal } = what else { return None };
            (*of == check).then_some(*refusal)
        });
        refusal.flatten()
    }

    /// Returns whether the machine controlled the outermost owner of the row when the row read it at this point of the
    /// journal.
    fn was_owner_local(&self, now: SimTime) -> Option<bool> {
        let of = |e: &JournalEntry| {
            let JournalEvent::OwnerLocality { is_local } = e.what else { return None };
            Some(is_local)
        };
        let mut entries = self.journal.entries.iter().filter(|e| e.serial >= self.cursor.get() && e.at == now);
        entries.find_map(of)
    }

    /// Returns the controllers among which a task of the row chose at this point of the journal. `None` without a
    /// record.
    fn candidates(&self, task: TaskPlace, now: SimTime) -> Option<&'j [Candidate]> {
        self.next_result(now, |what| {
            let JournalEvent::Candidates { task: of, others } = what else { return None };
            (*of == task).then_some(&**others)
        })
    }

    /// Returns the next record of this time that was not returned before. One operation may have several such records.
    fn next_result<T>(&self, now: SimTime, of: impl Fn(&'j JournalEvent) -> Option<T>) -> Option<T> {
        let mut used = self.used.borrow_mut();
        used.retain(|&serial| serial >= self.cursor.get());
        let open = |e: &&JournalEntry| e.serial >= self.cursor.get() && e.at == now && !used.contains(&e.serial);
        let (serial, result) = self.journal.entries.iter().filter(open).find_map(|e| Some((e.serial, of(&e.what)?)))?;
        used.push(serial);
        Some(result)
    }

    /// Returns whether the machine controlled the row locally at this point of the journal, if that changed later.
    fn was_local(&self) -> Option<bool> {
        let of = |e: &JournalEntry| {
            let JournalEvent::Locality { was_local } = e.what else { return None };
            Some(was_local)
        };
        self.journal.entries.iter().filter(|e| e.serial >= self.cursor.get()).find_map(of)
    }
}
