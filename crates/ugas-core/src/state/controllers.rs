//! Storage of rows. Slots are reused, ids are not. A paged table maps an id to its slot. A page without live ids is
//! freed, so that the table of a long-running sim that spawns and destroys controllers does not grow.

use super::Row;
use crate::rules::TagTable;
use crate::{ActorId, ControllerId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

const PAGE: usize = 1024;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Page {
    slots: Box<[u32; PAGE]>,
    live: u32,
}

/// Rows per chunk. The storage grows by whole chunks, so a row never moves, and at most one chunk is unused.
const CHUNK: usize = 32;

/// All controllers of a sim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controllers {
    /// The rows. A free slot contains an empty row that look-ups do not return.
    chunks: Vec<Vec<Row>>,
    /// The last computed hash of each row. Stored separately, so that row look-ups stay in the cache.
    hashes: Vec<[u64; CHUNK]>,
    free: Vec<u32>,
    pages: Vec<Option<Page>>,
    len: usize,
    /// The number of removed controllers, for hosts that keep lists of controllers. Not state.
    departed: u64,
    /// Controllers by avatar. An index derived from the rows.
    avatars: BTreeMap<ActorId, AvatarHolders>,
    /// In a partial copy: the rows that were requested but not copied. `None` otherwise.
    missed: Option<Arc<Mutex<Missed>>>,
}

/// The rows that were requested from a partial copy but are not in the copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Missed {
    pub(crate) ids: BTreeSet<ControllerId>,
    /// Whether all rows were visited.
    pub(crate) all: bool,
}

/// The controllers that share one avatar. Queries need only the count and the two lowest ids.
#[derive(Clone, Copy, Debug)]
struct AvatarHolders {
    count: u32,
    lowest: [ControllerId; 2],
    /// Whether the lowest ids are known. False after one of these ids was removed, because the next lowest id would
    /// require a search.
    known: bool,
}

impl AvatarHolders {
    fn one(id: ControllerId) -> AvatarHolders {
        AvatarHolders { count: 1, lowest: [id, ControllerId::NONE], known: true }
    }

    fn add(&mut self, id: ControllerId) {
        self.count += 1;
        let [first, second] = self.lowest;
        self.lowest = if id < first { [id, first] } else { [first, second.min(id)] };
    }

    fn remove(&mut self, id: ControllerId) {
        self.count -= 1;
        let [first, second] = self.lowest;
        if self.lowest.contains(&id) {
            self.lowest = [if id == first { second } else { first }, ControllerId::NONE];
            self.known &= self.count == 1;
        }
    }
}

impl Controllers {
    /// Returns the last computed hash of a row.
    pub(crate) fn hash_mut(&mut self, slot: usize) -> &mut u64 {
        &mut self.hashes[slot / CHUNK][slot % CHUNK]
    }

    /// Replaces the row of a used slot.
    pub(crate) fn replace(&mut self, slot: usize, mut row: Row, table: &TagTable) {
        row.signature = row.tags.signature(table);
        self.hide_avatar(slot);
        self.show_avatar(row.id, row.avatar());
        *self.row_mut(slot) = row;
    }

    /// Sets a row's avatar.
    pub(crate) fn set_avatar(&mut self, slot: usize, avatar: ActorId) {
        self.hide_avatar(slot);
        self.row_mut(slot).set_avatar(avatar);
        self.show_avatar(self.row(slot).id, avatar);
    }

    fn hide_avatar(&mut self, slot: usize) {
        let row = self.row(slot);
        let (avatar, id) = (row.avatar(), row.id);
        if let Some(holders) = self.avatars.get_mut(&avatar) {
            holders.remove(id);
            if holders.count == 0 {
                self.avatars.remove(&avatar);
            }
        }
    }

    fn show_avatar(&mut self, id: ControllerId, avatar: ActorId) {
        if avatar == ActorId::NONE {
            return;
        }
        match self.avatars.get_mut(&avatar) {
            Some(holders) => holders.add(id),
            None => drop(self.avatars.insert(avatar, AvatarHolders::one(id))),
        }
    }

    /// Returns the controller with the lowest id that has this avatar, without the controller `except`.
    pub(crate) fn with_avatar(&self, avatar: ActorId, except: ControllerId) -> Option<ControllerId> {
        if self.missed.is_some() {
            self.miss(None);
        }
        let holders = self.avatars.get(&avatar)?;
        let fits = |id: &ControllerId| *id != ControllerId::NONE && *id != except;
        if holders.known {
            return holders.lowest.into_iter().find(fits);
        }
        self.iter().filter(|row| row.avatar() == avatar).map(|row| row.id).find(fits)
    }

    #[inline]
    pub(crate) fn slot(&self, id: ControllerId) -> Option<usize> {
        let found = self.find(id);
        if found.is_none() && self.missed.is_some() {
            self.miss(Some(id));
        }
        found
    }

    #[inline]
    fn find(&self, id: ControllerId) -> Option<usize> {
        let page = self.pages.get(id.index() / PAGE)?.as_ref()?;
        let slot = page.slots[id.index() % PAGE];
        (slot != NONE).then_some(slot as usize)
    }

    /// Records a request for one row, or for all rows.
    #[cold]
    fn miss(&self, id: Option<ControllerId>) {
        let Some(missed) = &self.missed else { return };
        let mut missed = missed.lock().unwrap_or_else(PoisonError::into_inner);
        match id {
            Some(id) => drop(missed.ids.insert(id)),
            None => missed.all = true,
        }
    }

    /// Copies some rows. The copy records requests for other rows.
    pub(crate) fn copy_of(&self, ids: &BTreeSet<ControllerId>, table: &TagTable) -> Controllers {
        let mut copy = Controllers::default();
        for row in ids.iter().filter_map(|&id| self.get(id)) {
            copy.insert(row.clone(), table);
        }
        Controllers { len: self.len, missed: Some(Arc::default()), ..copy }
    }

    /// Returns the rows that were requested from a partial copy but are not in the copy.
    pub(crate) fn missed(&self) -> Missed {
        let missed = self.missed.as_ref();
        missed.map_or_else(Missed::default, |m| m.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    #[inline]
    pub(crate) fn get(&self, id: ControllerId) -> Option<&Row> {
        Some(self.row(self.slot(id)?))
    }

    /// Returns the row of a slot. The slot must come from [`Controllers::slot`], and its controller must still exist.
    #[inline(always)]
    pub(crate) fn row(&self, slot: usize) -> &Row {
        &self.chunks[slot / CHUNK][slot % CHUNK]
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, slot: usize) -> &mut Row {
        &mut self.chunks[slot / CHUNK][slot % CHUNK]
    }

    pub(crate) fn insert(&mut self, mut row: Row, table: &TagTable) -> usize {
        row.signature = row.tags.signature(table);
        self.show_avatar(row.id, row.avatar());
        let id = row.id.index();
        let slot = match self.free.pop() {
            Some(slot) => {
                self.chunks[slot as usize / CHUNK][slot as usize % CHUNK] = row;
                slot as usize
            }
            None => {
                if self.chunks.last().is_none_or(|c| c.len() == CHUNK) {
                    if self.chunks.len() == self.chunks.capacity() {
                        self.chunks.reserve_exact(self.chunks.len() / 8 + 1);
                        self.hashes.reserve_exact(self.chunks.len() / 8 + 1);
                    }
                    self.chunks.push(Vec::with_capacity(CHUNK));
                    self.hashes.push([0; CHUNK]);
                }
                let full = (self.chunks.len() - 1) * CHUNK;
                let rows = self.chunks.last_mut().expect("just made");
                rows.push(row);
                full + rows.len() - 1
            }
        };
        while self.pages.len() <= id / PAGE {
            self.pages.push(None);
        }
        let page = self.pages[id / PAGE].get_or_insert_with(|| Page { slots: Box::new([NONE; PAGE]), live: 0 });
        page.slots[id % PAGE] = slot as u32;
        page.live += 1;
        self.len += 1;
        slot
    }

    pub(crate) fn remove(&mut self, id: ControllerId) -> Option<Row> {
        let slot = self.slot(id)?;
        let entry = &mut self.pages[id.index() / PAGE];
        if let Some(page) = entry {
            page.slots[id.index() % PAGE] = NONE;
            page.live -= 1;
            if page.live == 0 {
                *entry = None;
            }
        }
        self.hide_avatar(slot);
        self.free.push(slot as u32);
        self.len -= 1;
        self.departed += 1;
        Some(std::mem::replace(self.row_mut(slot), Row::empty()))
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn departed(&self) -> u64 {
        self.departed
    }

    /// Iterates over the ids of the rows.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ControllerId> {
        self.pages
            .iter()
            .flatten()
            .flat_map(|p| p.slots.iter())
            .filter(|&&s| s != NONE)
            .map(|&s| self.row(s as usize).id)
    }

    /// Iterates over the rows in order of id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Row> {
        if self.missed.is_some() {
            self.miss(None);
        }
        self.pages.iter().flatten().flat_map(|p| p.slots.iter()).filter(|&&s| s != NONE).map(|&s| self.row(s as usize))
    }

    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.hashes.clear();
        self.free.clear();
        self.pages.clear();
        self.avatars.clear();
        self.departed += self.len as u64;
        self.len = 0;
    }
}
