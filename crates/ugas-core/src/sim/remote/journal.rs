//! The journal of a controller, and the resimulation of a controller from a journal.

use super::{Remote, RemoteMut};
use crate::flow::{Captured, Journal, Replay, ReplayRow, Stop};
use crate::image::{RowImage, RowJournal};
use crate::sim::Sim;
use crate::{ControllerId, Op, OpId, Refusal, SimTime};
use std::collections::BTreeMap;

/// A position in a controller's journal, between two entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JournalPosition {
    pub(super) serial: u64,
    pub(super) dues: u64,
}

impl JournalPosition {
    /// The position after the last entry of any journal.
    pub const END: JournalPosition = JournalPosition { serial: u64::MAX, dues: u64::MAX };
}

/// A point up to which [`Sim::resimulate`] runs a controller.
#[derive(Debug)]
pub struct ResimulationStop<'i> {
    /// The time of the stop.
    pub at: SimTime,
    /// The journal's position at the time of the stop. Entries before this position run before the stop, and later
    /// entries run after the stop.
    pub until: JournalPosition,
    /// Receives an image of the controller at the stop, if set.
    pub image: Option<&'i mut RowImage>,
}

impl ResimulationStop<'_> {
    /// Creates a stop that includes all journal entries up to a time and captures no image.
    pub fn at(at: SimTime) -> ResimulationStop<'static> {
        ResimulationStop { at, until: JournalPosition::END, image: None }
    }
}

/// A controller of [`Sim::resimulate_together`].
#[derive(Debug)]
pub struct RowResimulation<'a, 'i> {
    /// The state that the controller starts from.
    pub from: &'a RowImage,
    /// The points up to which the controller runs. The last one must have the same time for all controllers.
    pub stops: Vec<ResimulationStop<'i>>,
}

impl Sim {
    /// Restores a controller to an image and resimulates it from a journal, up to each stop in turn. If `journal` is
    /// `None`, the function uses the journal that the sim keeps for the controller ([`Sim::keep_journal`]).
    ///
    /// Only this controller changes. Values of other controllers come from the journal, and actions on other
    /// controllers are suppressed. An image that was imported from another sim creates the controller if the sim does
    /// not have it. Returns [`Refusal::Mismatch`] if the image or the journal belongs to other rules or another
    /// controller, or if the journal starts after the image. Returns [`Refusal::BadValue`] if the stops are not in
    /// order, or if a stop is before the time of the image or after the current time.
    pub fn resimulate(
        &mut self,
        from: &RowImage,
        journal: Option<&RowJournal>,
        stops: &mut [ResimulationStop<'_>],
    ) -> Result<(), Refusal> {
        let from = from.inner.as_ref().ok_or(Refusal::Mismatch)?;
        let given = journal.map(|j| &j.inner);
        self.resimulate_rows(&[(from, given)], &mut [stops])
    }

    /// Restores several controllers to images and resimulates them together from the journals that the sim keeps for
    /// them, each up to its stops. What the controllers do to each other happens again. What they do to other
    /// controllers is suppressed, and values of other controllers come from the journals, as in [`Sim::resimulate`]. A
    /// controller takes part from the time of its image on. The refusals are those of [`Sim::resimulate`]; a controller
    /// that cannot be restored keeps its state.
    pub fn resimulate_together(&mut self, rows: &mut [RowResimulation<'_, '_>]) -> Result<(), Refusal> {
        let mut images = Vec::with_capacity(rows.len());
        let mut stops = Vec::with_capacity(rows.len());
        for RowResimulation { from, stops: of } in rows {
            images.push((from.inner.as_ref().ok_or(Refusal::Mismatch)?, None));
            stops.push(&mut of[..]);
        }
        self.resimulate_rows(&images, &mut stops)
    }

    fn resimulate_rows(
        &mut self,
        images: &[(&Captured, Option<&Journal>)],
        stops: &mut [&mut [ResimulationStop<'_>]],
    ) -> Result<(), Refusal> {
        for (from, _) in images.iter().filter(|(from, _)| from.taken.foreign) {
            self.make_room(&from.row)?;
        }
        // The sim's own journals are removed while they are read, because the sim changes at the same time.
        let is_own = |(from, journal): &(&Captured, Option<&Journal>)| journal.is_none().then_some(from.row.id);
        let kept: BTreeMap<ControllerId, Journal> =
            images.iter().filter_map(is_own).filter_map(|who| Some((who, self.journals.remove(&who)?))).collect();
        let empty = Journal::default();
        let row = |&(from, given): &(_, Option<_>)| {
            let from: &Captured = from;
            ReplayRow::new(from, given.or(kept.get(&from.row.id)).unwrap_or(&empty))
        };
        let rows: Vec<ReplayRow<'_>> = images.iter().map(row).collect();
        let mut parts: Vec<Vec<Stop<'_>>> = Vec::with_capacity(stops.len());
        for stops in stops {
            let part = stops.iter_mut();
            let part = part.map(|s| Stop { at: s.at, until: s.until.serial, image: s.image.as_deref_mut() });
            parts.push(part.collect());
        }
        let result = self.replaying(Replay::new(&rows)).resimulate(&rows, &mut parts);
        drop((rows, parts));
        self.journals.extend(kept);
        result
    }
}

impl Remote<'_> {
    /// Returns the position after the last entry of a controller's journal, or the start position if the sim keeps no
    /// journal of the controller.
    pub fn journal_end(&self, who: ControllerId) -> JournalPosition {
        let end = |j: &Journal| JournalPosition { serial: j.next, dues: j.dues };
        self.sim.journals.get(&who).map_or(JournalPosition::default(), end)
    }

    /// Returns the first position from which a controller's journal is complete.
    pub fn journal_start(&self, who: ControllerId) -> JournalPosition {
        let start = |j: &Journal| JournalPosition { serial: j.start(), dues: 0 };
        self.sim.journals.get(&who).map_or(JournalPosition::default(), start)
    }

    /// Returns the position in a controller's journal between the entries before a time and the entries at or after
    /// that time.
    pub fn journal_at(&self, who: ControllerId, at: SimTime) -> JournalPosition {
        let Some(journal) = self.sim.journals.get(&who) else { return JournalPosition::default() };
        let next = journal.entries.iter().find(|e| e.at >= at).map_or(journal.next, |e| e.serial);
        JournalPosition { serial: next.max(journal.start()), dues: 0 }
    }

    /// Returns the number of entries in a controller's journal.
    pub fn journal_len(&self, who: ControllerId) -> usize {
        self.sim.journals.get(&who).map_or(0, |j| j.entries.len())
    }
}

impl RemoteMut<'_> {
    /// Drops the entries before a position from a controller's journal.
    pub fn trim_journal(&mut self, who: ControllerId, before: JournalPosition) {
        if let Some(journal) = self.sim.journals.get_mut(&who) {
            journal.forget_before(before.serial);
        }
    }

    /// Inserts ops into a controller's journal after a position. A client uses this function for commands that the
    /// server has not processed yet, so that these commands are resimulated on top of the server's state. An op that is
    /// already recorded after the position under the same id is not inserted again.
    pub fn requeue_ops(&mut self, who: ControllerId, after: JournalPosition, at: SimTime, ops: &[(OpId, Op)]) {
        if let Some(journal) = self.sim.journals.get_mut(&who) {
            let ops = ops.iter().filter(|(_, op)| op.target() == who);
            journal.requeue(after.serial, at, ops);
        }
    }

    /// Removes an op from every journal. A client uses this function for ops that the server rejected. Ops without an
    /// effect may share an id, so the op is given too.
    pub fn discard_op(&mut self, id: OpId, op: &Op) {
        for journal in self.sim.journals.values_mut() {
            journal.discard_op(id, Some(op));
        }
    }

    /// Removes the actions of one controller on another that an op caused from every journal.
    pub fn discard_actions(&mut self, id: OpId) {
        for journal in self.sim.journals.values_mut() {
            journal.discard_actions(id);
        }
    }
}
