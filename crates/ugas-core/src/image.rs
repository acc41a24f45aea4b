//! A controller outside its sim: an image for rollback, a journal for replay, a portable for saving and hand-off.

use crate::flow::{Captured, Journal, JournalEvent};
use crate::state::Row;
use crate::{AttributeId, Op, OpId, Rules, SetId, SimTime, TagId};
use serde::{Deserialize, Serialize};

/// One controller at one time, for `Sim::restore` and `Sim::resimulate`.
///
/// ```
/// let image = ugas_core::RowImage::default();
/// assert!(image.at().is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct RowImage {
    pub(crate) inner: Option<Captured>,
}

impl RowImage {
    /// Returns the time of the capture; `None` while it is empty.
    pub fn at(&self) -> Option<SimTime> {
        self.inner.as_ref().map(|c| c.taken.at)
    }

    /// Returns the canonical hash of the captured controller, under the rules of the capture.
    pub fn hash(&self, rules: &Rules) -> Option<u64> {
        let c = self.inner.as_ref()?;
        Some(c.row.compute_hash(&c.layout.sets, &rules.tags))
    }

    /// Returns the hash without some attributes and everything that effects store of them, like
    /// `Remote::hash_without`.
    pub fn hash_without(&self, rules: &Rules, hidden: &[AttributeId]) -> Option<u64> {
        let c = self.inner.as_ref()?;
        Some(c.row.hash_without(&c.layout, &rules.tags, hidden))
    }
}

/// What reached one controller from outside: its ops and the values of other controllers it read, in order, bounded.
///
/// ```
/// assert_eq!(ugas_core::RowJournal::default().ops().count(), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowJournal {
    pub(crate) inner: Journal,
}

impl RowJournal {
    /// Iterates over the recorded ops with their times and ids.
    pub fn ops(&self) -> impl Iterator<Item = (SimTime, OpId, &Op)> {
        self.inner.entries.iter().filter_map(|e| match &e.what {
            JournalEvent::Op(id, op) => Some((e.at, *id, op)),
            _ => None,
        })
    }

    /// Removes a recorded op, e.g. one that the server rejected, and what other controllers did to the row because of
    /// it.
    pub fn remove(&mut self, id: OpId) {
        self.inner.discard_op(id);
    }
}

/// The format version that this release writes.
pub(crate) const PORTABLE_VERSION: u32 = 3;

/// A controller with everything that is in progress, to be saved, handed to another sim or streamed out. Serialize it
/// with any `serde` format; `Sim::insert` validates what comes back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Portable {
    pub(crate) version: u32,
    pub(crate) rules: u64,
    pub(crate) at: SimTime,
    pub(crate) sets: Vec<SetId>,
    pub(crate) row: Row,
    /// Each explicit tag with its count, and whether it is innate; a row stores them by rank.
    pub(crate) tags: Vec<(TagId, u32, bool)>,
    /// Run-time definitions it uses, by id, as JSON (documents need a self-describing format).
    pub(crate) definitions: Vec<(u32, String)>,
}

impl Portable {
    /// Returns the controller's id; inserting keeps it.
    pub fn id(&self) -> crate::ControllerId {
        self.row.id
    }

    /// Returns the time of the extraction.
    pub fn at(&self) -> SimTime {
        self.at
    }

    /// Sets the time of the extraction, if it was sent separately.
    pub fn set_at(&mut self, at: SimTime) {
        self.at = at;
    }

    /// Removes what a sim that follows this one tick by tick does not need: the time, links into this sim's ring of
    /// causes, run-time definitions (sent once, separately), and the latest birth while nothing runs.
    pub fn strip(&mut self) {
        self.at = SimTime::ZERO;
        self.definitions.clear();
        self.row.effects.iter_mut().for_each(|e| e.link = 0);
        if self.row.is_at_rest() {
            self.row.last_birth = (0, 0, 0);
        }
        if let Some(side) = &mut self.row.side {
            side.queue.iter_mut().for_each(|q| q.link = 0);
        }
    }
}
