//! A controller outside its sim: an image for rollback, a journal for replay, a portable for save and hand-off.

use crate::flow::{Captured, Journal, JournalWhat};
use crate::state::Row;
use crate::{AttributeId, Op, OpId, Rules, SetId, SimTime, TagId};
use serde::{Deserialize, Serialize};

/// One controller at one instant, for `Sim::restore` and `Sim::resimulate`.
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
    /// When it was taken; none while it is empty.
    pub fn at(&self) -> Option<SimTime> {
        self.inner.as_ref().map(|c| c.taken.at)
    }

    /// The canonical hash of the controller as it was, under the rules it was under.
    pub fn hash(&self, rules: &Rules) -> Option<u64> {
        let c = self.inner.as_ref()?;
        Some(c.row.compute_hash(&c.layout.sets, &rules.tags))
    }

    /// The same without some attributes and all that effects keep of them, as `Remote::hash_without` leaves them out.
    pub fn hash_without(&self, rules: &Rules, hidden: &[AttributeId]) -> Option<u64> {
        let c = self.inner.as_ref()?;
        Some(c.row.hash_without(&c.layout, &rules.tags, hidden))
    }
}

/// What reached one controller from outside: its ops and the foreign values it read, in order, bounded.
///
/// ```
/// assert_eq!(ugas_core::RowJournal::default().ops().count(), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowJournal {
    pub(crate) inner: Journal,
}

impl RowJournal {
    /// The recorded ops with their times and ids.
    pub fn ops(&self) -> impl Iterator<Item = (SimTime, OpId, &Op)> {
        self.inner.entries.iter().filter_map(|e| match &e.what {
            JournalWhat::Op(id, op) => Some((e.at, *id, op)),
            _ => None,
        })
    }

    /// Drops a recorded op, e.g. one the server refused, and what others did to the row because of it.
    pub fn remove(&mut self, id: OpId) {
        self.inner.discard_op(id);
    }
}

/// The format this release writes.
pub(crate) const PORTABLE_VERSION: u32 = 3;

/// A controller with everything in flight, to be saved, handed to another sim or streamed out. Serialise it with any
/// `serde` format; `Sim::insert` checks what comes back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Portable {
    pub(crate) version: u32,
    pub(crate) rules: u64,
    pub(crate) at: SimTime,
    pub(crate) sets: Vec<SetId>,
    pub(crate) row: Row,
    /// Each explicit tag with its count, and whether it is innate; a row keeps them in an order of its rules.
    pub(crate) tags: Vec<(TagId, u32, bool)>,
    /// Run-time definitions it uses, by id, as JSON (documents need a self-describing format).
    pub(crate) definitions: Vec<(u32, String)>,
}

impl Portable {
    /// The controller's id; inserting keeps it.
    pub fn id(&self) -> crate::ControllerId {
        self.row.id
    }

    /// When it was taken.
    pub fn at(&self) -> SimTime {
        self.at
    }

    /// Says when it was taken, where that travelled apart from it.
    pub fn set_at(&mut self, at: SimTime) {
        self.at = at;
    }

    /// Drops what another sim that follows this one tick by tick does not need: the time, links into this sim's ring of
    /// causes, definitions made at run time (they travel once, by themselves), the latest birth while nothing runs.
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
