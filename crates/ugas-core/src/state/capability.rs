//! The capabilities of a row: one record for each entry of the sets that the controller has, and the blocks.

use crate::rules::EntryPlace;
use crate::{AbilitySetId, BlockSource, CapabilityId, SimTime, TagId};
use serde::{Deserialize, Serialize};
use ugas_doc::Side;

/// The stage of a capability's life in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The capability waits for its data components.
    Waiting,
    /// The capability does not run in this row: it runs on another machine or in the local runner.
    Elsewhere,
    /// The capability is set up and not active.
    Inactive,
    /// The capability is active.
    Active,
}

impl Stage {
    /// Returns whether the capability runs in this row, so that its code was called.
    pub(crate) fn is_set_up(self) -> bool {
        match self {
            Stage::Waiting | Stage::Elsewhere => false,
            Stage::Inactive | Stage::Active => true,
        }
    }
}

/// One capability of a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CapabilityRecord {
    /// The handle of the grant that added the capability.
    pub(crate) handle: u64,
    /// The position among the capabilities of the grant.
    pub(crate) position: u16,
    /// The set that lists the entry. Not the set of the grant if that set contains other sets.
    pub(crate) set: AbilitySetId,
    /// The index of the entry in its set.
    pub(crate) index: u16,
    pub(crate) class: CapabilityId,
    pub(crate) side: Side,
    pub(crate) stage: Stage,
    pub(crate) enabled: bool,
    pub(crate) ticks: bool,
    pub(crate) interval: SimTime,
    /// The local time of the last evaluation, or of the setup. Zero if neither the interval nor a tick needs it.
    pub(crate) last: SimTime,
    /// How many effects and events the capability requested. Part of the origin ids of its effects.
    pub(crate) acts: u32,
    /// The effects that are applied while the capability is active: origin id and ordinal of their keys.
    pub(crate) effects: Vec<(u64, u32)>,
    /// The state of a coded capability.
    pub(crate) state: Vec<u8>,
}

/// The identity of a capability on its controller. The order is the order in which capabilities run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordKey {
    pub(crate) handle: u64,
    pub(crate) position: u16,
}

impl CapabilityRecord {
    pub(crate) fn key(&self) -> RecordKey {
        RecordKey { handle: self.handle, position: self.position }
    }

    pub(crate) fn place(&self) -> EntryPlace {
        EntryPlace { set: self.set, index: self.index }
    }

    /// Returns whether frames evaluate the capability: it waits for its setup, or it is set up, enabled and ticks.
    pub(crate) fn is_evaluated(&self) -> bool {
        match self.stage {
            Stage::Elsewhere => false,
            Stage::Waiting => true,
            Stage::Inactive | Stage::Active => self.enabled && self.ticks,
        }
    }

    /// Returns the source of the blocks that the capability requests.
    pub(crate) fn block_source(&self) -> BlockSource {
        BlockSource::Capability { handle: self.handle, position: self.position }
    }

    /// Returns whether the owning client does not know the stage, because only the server evaluates the capability.
    pub(crate) fn is_for_authority(&self) -> bool {
        match self.side {
            Side::AuthorityOnly => true,
            Side::Always
            | Side::LocalControlledOnly
            | Side::AuthorityAndLocalControlled
            | Side::OwnerLocalControlledOnly
            | Side::AllClients => false,
        }
    }

    /// Removes what only the authoritative sim knows.
    pub(crate) fn redact(&mut self) {
        if self.is_for_authority() {
            (self.stage, self.last, self.acts) = (Stage::Elsewhere, SimTime::ZERO, 0);
            self.effects.clear();
            self.state.clear();
        }
    }
}

/// A block: while it exists, capabilities with the tag or a descendant of it are blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Block {
    pub(crate) tag: TagId,
    pub(crate) source: BlockSource,
}

/// The records that a frame evaluates if nothing has woken the row: one bit for each record. Derived from the records
/// and the rules, so not state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DueRecords {
    /// The row's stamp for which the bits are valid. Bits with stamp 0 are never valid.
    stamp: u32,
    bits: u64,
}

impl DueRecords {
    pub(crate) const NONE: DueRecords = DueRecords { stamp: 0, bits: 0 };
    /// The number of records that the bits can describe.
    pub(crate) const MAX: usize = u64::BITS as usize;

    pub(crate) fn new(stamp: u32, bits: u64) -> DueRecords {
        DueRecords { stamp, bits }
    }

    /// Returns the bits if they are valid for a row with this stamp.
    #[inline]
    pub(crate) fn at(self, stamp: u32) -> Option<u64> {
        (self.stamp == stamp).then_some(self.bits)
    }
}

impl PartialEq for DueRecords {
    /// Derived values do not distinguish rows.
    fn eq(&self, _: &DueRecords) -> bool {
        true
    }
}

/// The capabilities and blocks of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Capabilities {
    /// Sorted by key.
    pub(crate) records: Vec<CapabilityRecord>,
    /// Sorted, without duplicates.
    pub(crate) blocks: Vec<Block>,
    /// The sets that each machine adds for itself, in order (`Mode: Local`).
    pub(crate) presets: Vec<AbilitySetId>,
    #[serde(skip)]
    pub(crate) due: DueRecords,
}

impl Capabilities {
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.blocks.is_empty() && self.presets.is_empty()
    }

    #[inline]
    pub(crate) fn find(&self, key: RecordKey) -> Option<&CapabilityRecord> {
        self.place_of(key).and_then(|at| self.records.get(at))
    }

    #[inline]
    pub(crate) fn find_mut(&mut self, key: RecordKey) -> Option<&mut CapabilityRecord> {
        self.place_of(key).and_then(|at| self.records.get_mut(at))
    }

    /// Returns the index of a record. In the first grant, the position of a record is its index.
    #[inline]
    fn place_of(&self, key: RecordKey) -> Option<usize> {
        let first = key.position as usize;
        match self.records.get(first) {
            Some(record) if record.key() == key => Some(first),
            Some(_) | None => self.records.binary_search_by_key(&key, CapabilityRecord::key).ok(),
        }
    }

    /// Returns the index of the first record after a key.
    pub(crate) fn index_after(&self, key: RecordKey) -> usize {
        self.records.partition_point(|record| record.key() <= key)
    }

    /// Feeds everything that is state into a hash. With `is_redacted`, the hash leaves out what the owning client does
    /// not know.
    pub(crate) fn hash(&self, is_redacted: bool, put: &mut impl FnMut(u64)) {
        let Capabilities { records, blocks, presets, due: _ } = self;
        for record in records {
            let hidden = is_redacted && record.is_for_authority();
            let CapabilityRecord {
                handle,
                position,
                set,
                index,
                class,
                side,
                stage,
                enabled,
                ticks,
                interval,
                last,
                acts,
                effects,
                state,
            } = record;
            put(*handle);
            put((*position as u64) << 48 | (*index as u64) << 32 | set.0 as u64);
            put((class.0 as u64) << 32 | (*side as u64) << 8 | (*enabled as u64) << 1 | *ticks as u64);
            put(interval.0 as u64);
            if hidden {
                continue;
            }
            put(*stage as u64);
            put(last.0 as u64);
            put((*acts as u64) << 32 | effects.len() as u64);
            for (origin_id, ordinal) in effects {
                put(*origin_id);
                put(*ordinal as u64);
            }
            put(state.len() as u64);
            for chunk in state.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                put(u64::from_le_bytes(word));
            }
        }
        for Block { tag, source } in blocks {
            put(tag.0 as u64);
            source.words().into_iter().for_each(&mut *put);
        }
        presets.iter().for_each(|set| put(set.0 as u64));
    }
}
