//! The confirmations that the client has received from the server, and the tick up to which it has all of them.

use crate::confirm::{ConfirmationList, Serial};
use crate::types::Tick;
use std::collections::{BTreeSet, VecDeque};

/// The maximum number of entries in the list of ticks whose confirmations have not all arrived. If the list is full, the
/// newest ticks share the last entry, so their facts are resolved together.
const MAX_MARKS: usize = 256;

/// Which confirmations the client has received.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfirmationWindow {
    /// All confirmations before this serial have arrived, or are not needed.
    next: Serial,
    /// The serials after `next` that have arrived.
    early: BTreeSet<Serial>,
    /// Ticks of received packets, each with a serial: when all confirmations before this serial have arrived, all
    /// confirmations up to the tick have arrived.
    marks: VecDeque<(Serial, Tick)>,
    complete_until: Tick,
    unknown_until: Option<Tick>,
}

impl ConfirmationWindow {
    /// Takes the list of a packet. Returns the confirmations that are new, with their ticks.
    pub(crate) fn receive(&mut self, list: Option<ConfirmationList>, tick: Tick) -> Vec<(Tick, u32)> {
        let Some(ConfirmationList { header, entries }) = list else {
            // The client has acknowledged all confirmations.
            self.early.clear();
            self.marks.clear();
            self.complete_until = self.complete_until.max(tick);
            return Vec::new();
        };
        let end = header.first + header.count as Serial;
        self.next = self.next.max(header.first);
        self.unknown_until = self.unknown_until.max(header.dropped_until);
        drop(self.early.split_off(&end));
        self.early = self.early.split_off(&self.next);
        let is_new = |e: &(Serial, Tick, u32)| e.0 >= self.next && self.early.insert(e.0);
        let new = entries.into_iter().filter(is_new).map(|(_, at, hash)| (at, hash)).collect();
        while self.early.remove(&self.next) {
            self.next += 1;
        }
        let is_full = self.marks.len() >= MAX_MARKS;
        match self.marks.back_mut().filter(|mark| mark.0 == end || is_full) {
            Some(mark) => *mark = (end, tick),
            None => self.marks.push_back((end, tick)),
        }
        while let Some((_, complete)) = self.marks.pop_front_if(|mark| mark.0 <= self.next) {
            self.complete_until = self.complete_until.max(complete);
        }
        new
    }

    /// Returns the tick up to which all confirmations have arrived, except those that the server dropped.
    pub(crate) fn complete_until(&self) -> Tick {
        self.complete_until
    }

    /// Returns the newest tick of which the server dropped a confirmation.
    pub(crate) fn unknown_until(&self) -> Option<Tick> {
        self.unknown_until
    }
}
