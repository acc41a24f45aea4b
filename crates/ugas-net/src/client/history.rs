//! An owned controller on its client: its predicted state at each unconfirmed tick, its last confirmed state, and its
//! baselines.

use crate::types::Tick;
use crate::wire::token::Tokens;
use std::collections::VecDeque;
use ugas_core::{AttributeId, ControllerId, JournalPosition, OpId, RowImage, Rules};

/// The maximum number of server states kept as baselines.
const MAX_KEPT: usize = 128;

/// An owned controller at the end of a tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct TickEnd {
    pub(crate) tick: Tick,
    /// The end of the controller's journal at the tick.
    pub(crate) journal: JournalPosition,
    pub(crate) image: RowImage,
}

/// The history of an owned controller.
#[derive(Clone, Debug)]
pub(crate) struct OwnedHistory {
    pub(crate) who: ControllerId,
    /// Attributes that are hidden from the owning client.
    pub(crate) hidden: Vec<AttributeId>,
    /// The predicted states of the ticks after the last confirmed one, sorted by tick.
    pub(crate) tick_ends: VecDeque<TickEnd>,
    /// The state at the last confirmed tick.
    pub(crate) last_confirmed: Option<(Tick, RowImage)>,
    /// Baselines: states the server sent, sorted by tick.
    states: VecDeque<(Tick, Tokens)>,
    spare: Vec<TickEnd>,
    /// Hashes sent to the server, sorted by tick.
    sent_hashes: VecDeque<(Tick, u32)>,
    /// Whether the client requests the full state by sending no hash, because it cannot use the server's confirmation.
    pub(crate) requests_state: bool,
    /// Whether the controller is in the sim under new rules, and its first state under these rules has not arrived.
    is_reloaded: bool,
    /// The last own tick when a correction of the position was counted.
    pub(crate) moves_corrected_until: Tick,
    /// The commands whose validation the host of the server had not answered at the last confirmed tick. Their facts
    /// stay undecided.
    pub(crate) pending_validations: Vec<OpId>,
}

impl OwnedHistory {
    pub(crate) fn new(who: ControllerId) -> OwnedHistory {
        OwnedHistory {
            who,
            hidden: Vec::new(),
            tick_ends: VecDeque::new(),
            last_confirmed: None,
            states: VecDeque::new(),
            spare: Vec::new(),
            sent_hashes: VecDeque::new(),
            requests_state: false,
            is_reloaded: false,
            moves_corrected_until: Tick(0),
            pending_validations: Vec::new(),
        }
    }

    /// Returns whether the controller is in the sim of the client.
    pub(crate) fn is_present(&self) -> bool {
        self.last_confirmed.is_some() || self.is_reloaded
    }

    /// Drops everything that was recorded under other rules.
    pub(crate) fn restart(&mut self, hidden: &[AttributeId]) {
        let is_reloaded = self.is_present();
        *self = OwnedHistory { hidden: hidden.to_vec(), is_reloaded, ..OwnedHistory::new(self.who) };
    }

    /// Returns the newest baseline.
    pub(crate) fn newest_baseline(&self) -> Option<Tick> {
        self.states.back().map(|(tick, _)| *tick)
    }

    /// Returns the baseline of a delta.
    pub(crate) fn state(&self, tick: Tick) -> Option<&Tokens> {
        let at = self.states.binary_search_by_key(&tick, |(t, _)| *t).ok()?;
        Some(&self.states[at].1)
    }

    /// Keeps a state of the server as a baseline.
    pub(crate) fn keep_state(&mut self, tick: Tick, tokens: Tokens) {
        if self.newest_baseline().is_some_and(|newest| newest >= tick) {
            return;
        }
        if self.states.len() >= MAX_KEPT {
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

    /// Returns an empty entry for the end of a tick, with reused memory.
    pub(crate) fn new_tick_end(&mut self) -> TickEnd {
        self.spare.pop().unwrap_or_default()
    }

    /// Confirms a tick and drops older ticks. Returns the journal position at the tick.
    pub(crate) fn confirm(&mut self, tick: Tick, image: RowImage) -> Option<JournalPosition> {
        let mut journal = None;
        while self.tick_ends.front().is_some_and(|s| s.tick <= tick) {
            if let Some(tick_end) = self.tick_ends.pop_front() {
                journal = Some(tick_end.journal);
                self.spare.push(tick_end);
            }
        }
        self.last_confirmed = Some((tick, image));
        self.is_reloaded = false;
        journal
    }

    /// Limits the number of kept ticks; older ticks are not resimulated.
    pub(crate) fn limit_tick_ends(&mut self, most: usize) {
        while self.tick_ends.len() > most {
            self.spare.extend(self.tick_ends.pop_front());
        }
    }

    /// Drops all kept ticks.
    pub(crate) fn clear_tick_ends(&mut self) {
        self.spare.extend(self.tick_ends.drain(..));
    }

    /// Returns the state at the end of an unconfirmed tick.
    pub(crate) fn tick_end(&self, tick: Tick) -> Option<&TickEnd> {
        let at = self.tick_ends.binary_search_by_key(&tick, |s| s.tick).ok()?;
        Some(&self.tick_ends[at])
    }

    /// Records that a hash was sent for a tick.
    pub(crate) fn record_sent_hash(&mut self, tick: Tick, hash: u32) {
        if self.sent_hashes.back() == Some(&(tick, hash)) {
            return;
        }
        if self.sent_hashes.len() >= MAX_KEPT {
            self.sent_hashes.pop_front();
        }
        self.sent_hashes.push_back((tick, hash));
    }

    /// Returns the newest predicted tick, with its state, to which a confirmation of the server applies: the server
    /// confirmed the hash of `tick` and reported no change up to `until`. Returns `None` if the hash of `tick` is no
    /// longer kept.
    pub(crate) fn find_confirmed(&self, rules: &Rules, tick: Tick, until: Tick) -> Option<(Tick, RowImage)> {
        let mut sent = self.sent_hashes.iter().filter(|(t, _)| *t == tick).map(|(_, hash)| *hash);
        let hash = sent.next()?;
        if sent.any(|other| other != hash) {
            return None;
        }
        let matches = |s: &&TickEnd| {
            let same = || s.image.hash_without(rules, &self.hidden).map(|h| h as u32) == Some(hash);
            (tick..=until).contains(&s.tick) && same()
        };
        self.tick_ends.iter().rev().find(matches).map(|s| (s.tick, s.image.clone()))
    }

    /// Returns whether the prediction of `until` is known to be wrong. The server confirmed a hash that the client sent
    /// for `tick`, and reported no change up to `until`. The prediction is wrong if its hash is none of the hashes that
    /// were sent for `tick`. This happens if a later correction replaced the confirmed prediction.
    pub(crate) fn is_contradicted(&self, rules: &Rules, tick: Tick, until: Tick) -> bool {
        let mut sent = self.sent_hashes.iter().filter(|(t, _)| *t == tick).map(|(_, hash)| *hash).peekable();
        let predicted = self.tick_end(until).and_then(|s| s.image.hash_without(rules, &self.hidden));
        sent.peek().is_some() && predicted.is_some_and(|predicted| sent.all(|hash| hash != predicted as u32))
    }

    /// Returns the hash of the newest tick, without hidden attributes.
    pub(crate) fn newest_hash(&self, rules: &Rules) -> Option<(Tick, u32)> {
        let tick_end = self.tick_ends.back()?;
        Some((tick_end.tick, tick_end.image.hash_without(rules, &self.hidden)? as u32))
    }
}
