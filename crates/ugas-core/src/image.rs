//! The state of one controller outside its sim: [`RowImage`] for rollback, [`RowJournal`] for resimulation, and
//! [`Portable`] for saving a controller or moving it to another sim.

use crate::flow::{Captured, Journal, JournalEvent};
use crate::state::Row;
use crate::{AttributeId, Op, OpId, Rules, SetId, SimTime, TagId};
use serde::{Deserialize, Serialize};

/// The state of one controller at one time, for `Sim::restore` and `Sim::resimulate`.
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
    /// Returns the time of the capture, or `None` if the image is empty.
    pub fn at(&self) -> Option<SimTime> {
        self.inner.as_ref().map(|c| c.taken.at)
    }

    /// Returns the canonical hash of the captured controller, or `None` if the image is empty. `rules` must be the
    /// rules of the sim that captured the image.
    pub fn hash(&self, rules: &Rules) -> Option<u64> {
        let c = self.inner.as_ref()?;
        Some(c.row.compute_hash(&c.layout.sets, &rules.tags))
    }

    /// Returns a hash of the captured controller, or `None` if the image is empty. The hash leaves out the attributes
    /// in `hidden`, the modifiers of these attributes, and all values that effects captured. If `hidden` is not empty,
    /// the hash also leaves out set-by-caller values and stored magnitudes. `Remote::hash_without` of the same state
    /// returns the same hash.
    pub fn hash_without(&self, rules: &Rules, hidden: &[AttributeId]) -> Option<u64> {
        let c = self.inner.as_ref()?;
        Some(c.row.hash_without(&c.layout, &rules.tags, hidden))
    }
}

/// The recorded inputs of one controller, in order: its ops, and the values that it read from other controllers.
/// [`Limits::journal`](crate::Limits::journal) limits the number of entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowJournal {
    pub(crate) inner: Journal,
}

impl RowJournal {
    /// Iterates over the recorded ops with their times and ids.
    pub fn ops(&self) -> impl Iterator<Item = (SimTime, OpId, &Op)> {
        self.inner.entries.iter().filter_map(|e| match &e.what {
            JournalEvent::Op(id, op) => Some((e.at, *id, op)),
            JournalEvent::Source { .. }
            | JournalEvent::Check { .. }
            | JournalEvent::Candidates { .. }
            | JournalEvent::Recheck(_)
            | JournalEvent::Follow { .. }
            | JournalEvent::TargetLost { .. }
            | JournalEvent::Gone { .. }
            | JournalEvent::Frame(_)
            | JournalEvent::ForeignAction(_)
            | JournalEvent::OwnerLocality { .. }
            | JournalEvent::Locality { .. } => None,
        })
    }

    /// Removes an op from the journal, together with the actions of other controllers on this controller that the op
    /// caused. Call this function for an op that the server rejected.
    pub fn remove(&mut self, id: OpId) {
        self.inner.discard_op(id, None);
        self.inner.discard_actions(id);
    }
}

/// The format version that this release writes.
pub(crate) const PORTABLE_VERSION: u32 = 7;

/// A controller with its active effects, activations and timers, to be saved, moved to another sim or sent over a
/// network. Any `serde` format can serialize a `Portable`. `Sim::insert` validates the data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Portable {
    pub(crate) version: u32,
    pub(crate) rules: u64,
    pub(crate) at: SimTime,
    pub(crate) sets: Vec<SetId>,
    pub(crate) row: Row,
    /// Each explicit tag with its count and whether the tag is innate. Tags are stored by id, because ranks depend on
    /// the rules.
    pub(crate) tags: Vec<(TagId, u32, bool)>,
    /// The run-time definitions that the controller uses, each with its id. The definitions are JSON, because documents
    /// need a self-describing format.
    pub(crate) definitions: Vec<(u32, String)>,
}

impl Portable {
    /// Returns the controller's id. The controller keeps this id when it is inserted.
    pub fn id(&self) -> crate::ControllerId {
        self.row.id
    }

    /// Returns the time at which the controller was extracted.
    pub fn at(&self) -> SimTime {
        self.at
    }

    /// Sets the time at which the controller was extracted. Call this function if the time was sent separately.
    pub fn set_at(&mut self, at: SimTime) {
        self.at = at;
    }

    /// Removes data that a client does not need in every snapshot:
    ///
    /// - the time at which the controller was extracted;
    /// - the links into the sim's ring buffer of causes;
    /// - the run-time definitions, which the server sends once, separately;
    /// - the latest [`origin_id`](crate::EffectKey::origin_id) on the controller, if the controller has no activation,
    ///   held input, global cooldown or ability set.
    pub fn strip(&mut self) {
        self.at = SimTime::ZERO;
        self.definitions.clear();
        self.row.effects.iter_mut().for_each(|e| e.link = 0);
        if self.row.is_at_rest() {
            self.row.last_origin_id = (0, 0, 0);
        }
        if let Some(side) = &mut self.row.side {
            side.queue.iter_mut().for_each(|q| q.link = 0);
        }
    }
}
