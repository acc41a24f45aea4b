//! Where rows live: slots reused, ids never. A paged table finds the slot of an id; a page without live ids is freed,
//! so a long-running sim that spawns and destroys does not grow.

use super::Row;
use crate::ControllerId;

const PAGE: usize = 1024;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Page {
    slots: Box<[u32]>,
    live: u32,
}

/// Rows of one chunk: growing never moves rows and wastes at most a chunk.
const CHUNK: usize = 64;

/// All controllers of a sim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controllers {
    chunks: Vec<Vec<Option<Row>>>,
    free: Vec<u32>,
    pages: Vec<Option<Page>>,
    len: usize,
}

impl Controllers {
    #[inline]
    pub(crate) fn slot(&self, id: ControllerId) -> Option<usize> {
        let page = self.pages.get(id.index() / PAGE)?.as_ref()?;
        let slot = page.slots[id.index() % PAGE];
        (slot != NONE).then_some(slot as usize)
    }

    #[inline]
    pub(crate) fn get(&self, id: ControllerId) -> Option<&Row> {
        Some(self.row(self.slot(id)?))
    }

    /// The row in a slot that [`Controllers::slot`] gave and that was not removed since.
    #[inline(always)]
    pub(crate) fn row(&self, slot: usize) -> &Row {
        self.chunks[slot / CHUNK][slot % CHUNK].as_ref().expect("a slot in use")
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, slot: usize) -> &mut Row {
        self.chunks[slot / CHUNK][slot % CHUNK].as_mut().expect("a slot in use")
    }

    pub(crate) fn insert(&mut self, row: Row) -> usize {
        let id = row.id.index();
        let slot = match self.free.pop() {
            Some(slot) => {
                self.chunks[slot as usize / CHUNK][slot as usize % CHUNK] = Some(row);
                slot as usize
            }
            None => {
                if self.chunks.last().is_none_or(|c| c.len() == CHUNK) {
                    self.chunks.push(Vec::with_capacity(CHUNK));
                }
                let full = (self.chunks.len() - 1) * CHUNK;
                let chunk = self.chunks.last_mut().expect("just made");
                chunk.push(Some(row));
                full + chunk.len() - 1
            }
        };
        while self.pages.len() <= id / PAGE {
            self.pages.push(None);
        }
        let page =
            self.pages[id / PAGE].get_or_insert_with(|| Page { slots: vec![NONE; PAGE].into_boxed_slice(), live: 0 });
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
        self.free.push(slot as u32);
        self.len -= 1;
        self.chunks[slot / CHUNK][slot % CHUNK].take()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Rows by rising id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.pages.iter().flatten().flat_map(|p| p.slots.iter()).filter(|&&s| s != NONE).map(|&s| self.row(s as usize))
    }

    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.free.clear();
        self.pages.clear();
        self.len = 0;
    }
}
