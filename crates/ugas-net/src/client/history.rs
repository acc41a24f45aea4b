//! An owned controller on its client: what it was at each tick that the server has not spoken about, and the last state
//! the server did.

use crate::types::Tick;
use crate::wire::token::Tokens;
use std::collections::VecDeque;
use ugas_core::{AttributeId, ControllerId, JournalPosition, RowImage, Rules};

/// States of the server's that differences may refer to.
const KEPT: usize = 128;

/// The end of one tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    pub(crate) tick: Tick,
    pub(crate) mark: JournalPosition,
    pub(crate) image: RowImage,
}

/// An owned controller.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) who: ControllerId,
    /// Attributes the server does not show even to the owner.
    pub(crate) hidden: Vec<AttributeId>,
    /// Ticks after the last one that is settled.
    pub(crate) stops: VecDeque<Stop>,
    /// What it was at the last settled tick.
    pub(crate) settled: Option<(Tick, RowImage)>,
    /// States the server sent, by rising tick.
    states: VecDeque<(Tick, Tokens)>,
    spare: Vec<Stop>,
    /// Hashes the server was told, by rising tick.
    told: VecDeque<(Tick, u32)>,
    /// The server's word cannot be used: it is asked for the state by telling it no hash.
    pub(crate) asks: bool,
}

impl History {
    pub(crate) fn new(who: ControllerId) -> History {
        History {
            who,
            hidden: Vec::new(),
            stops: VecDeque::new(),
            settled: None,
            states: VecDeque::new(),
            spare: Vec::new(),
            told: VecDeque::new(),
            asks: false,
        }
    }

    /// The newest state of the server's that this client holds.
    pub(crate) fn have(&self) -> Option<Tick> {
        self.states.back().map(|(tick, _)| *tick)
    }

    /// A state that a difference refers to.
    pub(crate) fn state(&self, tick: Tick) -> Option<&Tokens> {
        let at = self.states.binary_search_by_key(&tick, |(t, _)| *t).ok()?;
        Some(&self.states[at].1)
    }

    /// Keeps a state of the server's.
    pub(crate) fn keep_state(&mut self, tick: Tick, tokens: Tokens) {
        if self.have().is_some_and(|newest| newest >= tick) {
            return;
        }
        if self.states.len() >= KEPT {
            self.states.pop_front();
        }
        self.states.push_back((tick, tokens));
    }

    /// The server will not refer to states before this one any more.
    pub(crate) fn drop_states_before(&mut self, tick: Tick) {
        while self.states.front().is_some_and(|(t, _)| *t < tick) {
            self.states.pop_front();
        }
    }

    /// A place for the end of a tick, with memory of one that is settled.
    pub(crate) fn new_stop(&mut self) -> Stop {
        self.spare.pop().unwrap_or_default()
    }

    /// The tick is settled: what is older is forgotten. Gives the mark of the journal then.
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

    /// Keeps the ends of so many ticks; what is older will not be played again.
    pub(crate) fn keep_stops(&mut self, most: usize) {
        while self.stops.len() > most {
            self.spare.extend(self.stops.pop_front());
        }
    }

    /// Forgets the ends of ticks: nobody will speak about them.
    pub(crate) fn forget_stops(&mut self) {
        self.spare.extend(self.stops.drain(..));
    }

    /// The end of a tick that is not settled yet.
    pub(crate) fn stop(&self, tick: Tick) -> Option<&Stop> {
        let at = self.stops.binary_search_by_key(&tick, |s| s.tick).ok()?;
        Some(&self.stops[at])
    }

    /// Notes that the server was told a hash for a tick.
    pub(crate) fn note_told(&mut self, tick: Tick, hash: u32) {
        if self.told.back() == Some(&(tick, hash)) {
            return;
        }
        if self.told.len() >= KEPT {
            self.told.pop_front();
        }
        self.told.push_back((tick, hash));
    }

    /// The server says that what it was told for a tick is right, and that nothing has changed up to another: the newest
    /// tick in between that was played so. None if it is not known any more which that was.
    pub(crate) fn confirmed(&self, rules: &Rules, tick: Tick, until: Tick) -> Option<(Tick, RowImage)> {
        let mut told = self.told.iter().filter(|(t, _)| *t == tick).map(|(_, hash)| *hash);
        let hash = told.next()?;
        if told.any(|other| other != hash) {
            return None;
        }
        let is_it = |s: &&Stop| {
            let same = || s.image.hash_without(rules, &self.hidden).map(|h| h as u32) == Some(hash);
            (tick..=until).contains(&s.tick) && same()
        };
        self.stops.iter().rev().find(is_it).map(|s| (s.tick, s.image.clone()))
    }

    /// The hash of the newest tick, as the server computes it.
    pub(crate) fn newest_hash(&self, rules: &Rules) -> Option<(Tick, u32)> {
        let stop = self.stops.back()?;
        Some((stop.tick, stop.image.hash_without(rules, &self.hidden)? as u32))
    }
}
