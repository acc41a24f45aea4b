//! Sets of present and recently removed items, each with the tick of its last change. Client and server use these sets
//! for tags, looping cues and effects.

use crate::types::Tick;

/// An item with a key.
pub(super) trait Item: Copy + PartialEq {
    type Key: Ord + Copy;
    fn key(&self) -> Self::Key;
}

impl Item for ugas_core::TagId {
    type Key = ugas_core::TagId;
    fn key(&self) -> ugas_core::TagId {
        *self
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark<T> {
    pub(super) item: T,
    /// Whether it is present; otherwise it was removed at that tick.
    pub(super) on: bool,
    pub(super) at: Tick,
}

/// The marks of a set, sorted by key.
#[derive(Clone, Debug)]
pub(super) struct Marks<T> {
    list: Vec<Mark<T>>,
}

impl<T> Default for Marks<T> {
    fn default() -> Marks<T> {
        Marks { list: Vec::new() }
    }
}

/// What inserting a mark did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkChange {
    Nothing,
    Added,
    Changed,
    Removed,
}

impl<T: Item> Marks<T> {
    /// Sets the present items, sorted by key. Returns whether anything changed.
    pub(super) fn refresh(&mut self, now: &[T], tick: Tick) -> bool {
        let (mut changed, mut at) = (false, 0);
        for item in now {
            while self.list.get(at).is_some_and(|m| m.item.key() < item.key()) {
                changed |= self.mark_removed(at, tick);
                at += 1;
            }
            let mark = Mark { item: *item, on: true, at: tick };
            match self.list.get_mut(at) {
                Some(m) if m.item.key() == item.key() => {
                    if !m.on || m.item != *item {
                        *m = mark;
                        changed = true;
                    }
                }
                _ => {
                    self.list.insert(at, mark);
                    changed = true;
                }
            }
            at += 1;
        }
        (at..self.list.len()).fold(changed, |changed, at| changed | self.mark_removed(at, tick))
    }

    fn mark_removed(&mut self, at: usize, tick: Tick) -> bool {
        match self.list.get_mut(at) {
            Some(m) if m.on => {
                (m.on, m.at) = (false, tick);
                true
            }
            _ => false,
        }
    }

    /// Inserts a mark. A mark that is older than the known one is ignored.
    pub(super) fn put(&mut self, mark: Mark<T>) -> MarkChange {
        match self.list.binary_search_by_key(&mark.item.key(), |m| m.item.key()) {
            Ok(at) => {
                let old = &mut self.list[at];
                if old.at > mark.at {
                    return MarkChange::Nothing;
                }
                let put = match (old.on, mark.on) {
                    (false, true) => MarkChange::Added,
                    (true, false) => MarkChange::Removed,
                    (true, true) if old.item != mark.item => MarkChange::Changed,
                    (true, true) | (false, false) => MarkChange::Nothing,
                };
                *old = mark;
                put
            }
            Err(at) => {
                self.list.insert(at, mark);
                if mark.on { MarkChange::Added } else { MarkChange::Nothing }
            }
        }
    }

    /// Removes items that a full section of a tick did not contain.
    pub(super) fn remove_before(&mut self, tick: Tick, mut on_removed: impl FnMut(T)) {
        for mark in self.list.iter_mut().filter(|m| m.on && m.at < tick) {
            (mark.on, mark.at) = (false, tick);
            on_removed(mark.item);
        }
    }

    /// Drops items removed before a tick. Returns the last such tick.
    pub(super) fn prune(&mut self, before: Tick) -> Option<Tick> {
        let old = |m: &Mark<T>| !m.on && m.at < before;
        let last = self.list.iter().filter(|m| old(m)).map(|m| m.at).max()?;
        self.list.retain(|m| !old(m));
        Some(last)
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Returns how many items are kept, including removed ones.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the changes after a tick.
    pub(super) fn after(&self, since: Tick) -> impl Iterator<Item = &Mark<T>> {
        self.list.iter().filter(move |m| m.at > since)
    }

    /// Returns the present items, sorted by key.
    pub(super) fn present(&self) -> impl Iterator<Item = &Mark<T>> {
        self.list.iter().filter(|m| m.on)
    }

    pub(super) fn find(&self, key: T::Key) -> Option<&T> {
        let at = self.list.binary_search_by_key(&key, |m| m.item.key()).ok()?;
        self.list.get(at).filter(|m| m.on).map(|m| &m.item)
    }
}
