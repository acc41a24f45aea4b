//! An owned controller on its client: its predicted state at each unconfirmed tick, and the last confirmed state.

use crate::types::Tick;
use crate::wire::token::Tokens;
use std::collections::VecDeque;
use ugas_core::{AttributeId, ControllerId, JournalPosition, RowImage, Rules};

/// The most server states kept as baselines.
const KEPT: usize = 128;

/// An owned controller at the end of a tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct TickEnd {
    pub(crate) tick: Tick,
    pub(crate) mark: JournalPosition,
    pub(crate) image: RowImage,
}

/// The history of an owned controller.
#[derive(Clone, Debug)]
pub(crate) struct OwnedHistory {
    pub(crate) who: ControllerId,
    /// Attributes that are hidden from the owner.
    pub(crate) hidden: Vec<AttributeId>,
    /// Ticks after the last confirmed one.
    pub(crate) stops: VecDeque<TickEnd>,
    /// Its state at the last confirmed tick.
    pub(crate) settled: Option<(Tick, RowImage)>,
    /// Baselines: states the server sent, by rising tick.
    states: VecDeque<(Tick, Tokens)>,
    spare: Vec<TickEnd>,
    /// Hashes sent to the server, by rising tick.
    told: VecDeque<(Tick, u32)>,
    /// The server's confirmation cannot be used: sending no hash requests the state.
    pub(crate) requests_state: bool,
}

impl OwnedHistory {
    pub(crate) fn new(who: ControllerId) -> OwnedHistory {
        OwnedHistory {
            who,
            hidden: Vec::new(),
            stops: VecDeque::new(),
            settled: None,
            states: VecDeque::new(),
            spare: Vec::new(),
            told: VecDeque::new(),
            requests_state: false,
        }
    }

    /// The newest baseline.
    pub(crate) fn have(&self) -> Option<Tick> {
        self.states.back().map(|(tick, _)| *tick)
    }

    /// The baseline of a delta.
    pub(crate) fn state(&self, tick: Tick) -> Option<&Tokens> {
        let at = self.states.binary_search_by_key(&tick, |(t, _)| *t).ok()?;
        Some(&self.states[at].1)
    }

    /// Keeps a state of the server as a baseline.
    pub(crate) fn keep_state(&mut self, tick: Tick, tokens: Tokens) {
        if self.have().is_some_and(|newest| newest >= tick) {
            return;
        }
        if self.states.len() >= KEPT {
            self.states.pop_front();
        }
        self.states.push_back((tick, tokens));
    }

    /// Drops baselines that the server no longer uses.
    pub(crate) fn drop_states_before(&mut self, tick: Tick) {
        while self.states.front().is_some_and(|(t, _)| *t < tick) {
            self.states.pop_front();
        }
    }

    /// An entry for the end of a tick, with reused memory.
    pub(crate) fn new_stop(&mut self) -> TickEnd {
        self.spare.pop().unwrap_or_default()
    }

    /// Confirms a tick and drops older ones. Returns the journal position at the tick.
    pub(crate) fn settle(&mut self, tick: Tick, image: RowImage) -> Option<JournalPosition> {
        let mut mark = None;
        while self.stops.front().is_some_and(|s| s.tick <= tick) {
            if let Some(stop) = self.stops.pop_front() {
                mark = Some(stop.mark);
                self.spare.push(stop);
            }
        }
        self.settled = Some((tick, image));
        mark
    }

    /// Limits the number of kept ticks; older ones are not resimulated.
    pub(crate) fn keep_stops(&mut self, most: usize) {
        while self.stops.len() > most {
            self.spare.extend(self.stops.pop_front());
        }
    }

    /// Drops all kept ticks.
    pub(crate) fn forget_stops(&mut self) {
        self.spare.extend(self.stops.drain(..));
    }

    /// The state at the end of an unconfirmed tick.
    pub(crate) fn stop(&self, tick: Tick) -> Option<&TickEnd> {
        let at = self.stops.binary_search_by_key(&tick, |s| s.tick).ok()?;
        Some(&self.stops[at])
    }

    /// Records that a hash was sent for a tick.
    pub(crate) fn note_sent_hash(&mut self, tick: Tick, hash: u32) {
        if self.told.back() == Some(&(tick, hash)) {
            return;
        }
        if self.told.len() >= KEPT {
            self.told.pop_front();
        }
        self.told.push_back((tick, hash));
    }

    /// The server confirmed the hash of a tick and that nothing changed until another tick. Returns the newest predicted tick
    /// in between with that hash; `None` if the hash is no longer known.
    pub(crate) fn confirmed(&self, rules: &Rules, tick: Tick, until: Tick) -> Option<(Tick, RowImage)> {
        let mut told = self.told.iter().filter(|(t, _)| *t == tick).map(|(_, hash)| *hash);
        let hash = told.next()?;
        if told.any(|other| other != hash) {
            return None;
        }
        let is_it = |s: &&TickEnd| {
            let same = || s.image.hash_without(rules, &self.hidden).map(|h| h as u32) == Some(hash);
            (tick..=until).contains(&s.tick) && same()
        };
        self.stops.iter().rev().find(is_it).map(|s| (s.tick, s.image.clone()))
    }

    /// The hash of the newest tick, without hidden attributes.
    pub(crate) fn newest_hash(&self, rules: &Rules) -> Option<(Tick, u32)> {
        let stop = self.stops.back()?;
        Some((stop.tick, stop.image.hash_without(rules, &self.hidden)? as u32))
    }
}
