//! An owned controller on the server: its hashes per tick, and the baseline that the client has.

use crate::types::Tick;
use crate::wire::bits::BitWriter;
use crate::wire::delta::Coder;
use crate::wire::number::put_uint;
use crate::wire::token::Tokens;
use std::collections::VecDeque;
use ugas_core::{ControllerId, Portable, Refusal, Sim};

/// The most states in flight and hashes kept.
const KEPT: usize = 128;

/// The status of an owned controller in a packet, in two bits: nothing.
pub(crate) const NOTHING: u64 = 0;
/// The prediction is right as of a tick.
pub(crate) const MATCHED: u64 = 1;
/// A delta follows.
pub(crate) const DELTA: u64 = 2;
/// It was removed.
pub(crate) const GONE: u64 = 3;

/// What was written for an owned controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A confirmation, or nothing.
    Word,
    /// Its state.
    State,
    /// Nothing: its state was too long; it is the last kept baseline.
    TooLong,
}

/// An owned controller.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    pub(crate) who: ControllerId,
    /// Hashes of the latest ticks, without hidden attributes.
    hashes: VecDeque<(Tick, u32)>,
    /// Hashes of the client for ticks that the server has not simulated.
    claims: VecDeque<(Tick, u32)>,
    /// The last tick with a right prediction.
    matched: Option<Tick>,
    /// Baselines: states the client has or that are in flight, by rising tick. The first is acknowledged if `have` says so.
    states: VecDeque<(Tick, Tokens)>,
    have: Option<Tick>,
    spare: Vec<Tokens>,
    /// A state too long for a packet was queued in the reliable stream at this tick.
    streamed: Option<Tick>,
    /// It is not in the sim, or its owner gets no exact state.
    is_away: bool,
}

impl Owned {
    pub(crate) fn new(who: ControllerId) -> Owned {
        Owned {
            who,
            hashes: VecDeque::new(),
            claims: VecDeque::new(),
            matched: None,
            states: VecDeque::new(),
            have: None,
            spare: Vec::new(),
            streamed: None,
            is_away: true,
        }
    }

    /// Takes the hash after a tick; `None` if it is away. Everything is dropped then, as on the client: when it returns, it
    /// starts with a full state.
    pub(crate) fn follow(&mut self, tick: Tick, hash: Option<u32>) {
        match hash {
            Some(hash) => {
                self.is_away = false;
                self.note(tick, hash);
            }
            None => self.leave(),
        }
    }

    fn leave(&mut self) {
        if !self.is_away {
            *self = Owned::new(self.who);
        }
    }

    /// The hash of the last recorded tick.
    pub(crate) fn newest(&self) -> Option<u32> {
        self.hashes.back().map(|(_, hash)| *hash)
    }

    /// Records the hash after a tick.
    fn note(&mut self, tick: Tick, hash: u32) {
        if self.hashes.len() >= KEPT {
            self.hashes.pop_front();
        }
        self.hashes.push_back((tick, hash));
        while let Some(&(claimed, theirs)) = self.claims.front() {
            if claimed > tick {
                break;
            }
            self.claims.pop_front();
            self.compare(claimed, theirs);
        }
    }

    /// Takes the hash that the client sent for a tick, and its newest baseline.
    pub(crate) fn claim(&mut self, now: Tick, tick: Tick, hash: Option<u32>, have: Option<Tick>) {
        if have.is_none() {
            // It dropped its baseline, for example because the controller was removed.
            self.have = None;
        }
        if have > self.have && self.states.iter().any(|(t, _)| Some(*t) == have) {
            self.have = have;
            while self.states.front().is_some_and(|(t, _)| Some(*t) < have) {
                self.spare.extend(self.states.pop_front().map(|(_, tokens)| tokens));
            }
        }
        let Some(hash) = hash else {
            // A client that cannot use a confirmation requests the state this way.
            self.matched = None;
            return;
        };
        if tick <= now {
            self.compare(tick, hash);
        } else if self.claims.len() < KEPT && self.claims.back().is_none_or(|(last, _)| *last < tick) {
            self.claims.push_back((tick, hash));
        }
    }

    fn compare(&mut self, tick: Tick, theirs: u32) {
        let ours = self.hashes.binary_search_by_key(&tick, |(t, _)| *t);
        if ours.is_ok_and(|at| self.hashes[at].1 == theirs) && Some(tick) > self.matched {
            self.matched = Some(tick);
        }
    }

    /// Whether the prediction of exactly this tick is right.
    pub(crate) fn is_right(&self, tick: Tick) -> bool {
        self.matched == Some(tick)
    }

    /// Whether nothing changed after a tick, as far as hashes are kept.
    fn is_still(&self, since: Tick) -> bool {
        let Ok(at) = self.hashes.binary_search_by_key(&since, |(t, _)| *t) else { return false };
        self.hashes.range(at..).all(|(_, hash)| *hash == self.hashes[at].1)
    }

    /// Writes the status of the controller; `peek` returns its redacted snapshot. Fails if it is away.
    pub(crate) fn write(
        &mut self,
        sim: &Sim,
        peek: impl FnOnce(ControllerId) -> Result<Portable, Refusal>,
        tick: Tick,
        delta: &mut Coder,
        out: &mut BitWriter,
        room_bits: usize,
    ) -> Result<Written, Refusal> {
        if self.is_away || !sim.exists(self.who) {
            self.leave();
            return Err(Refusal::StaleHandle);
        }
        if let Some(matched) = self.matched.filter(|&m| self.is_still(m)) {
            out.bits(MATCHED, 2);
            put_uint(out, (tick.0 - matched.0) as u64);
            return Ok(Written::Word);
        }
        // A full state is still in the reliable stream.
        if self.have.is_none() && self.streamed.is_some_and(|at| tick.0 - at.0 < 30) {
            out.bits(NOTHING, 2);
            return Ok(Written::Word);
        }
        let mut portable = peek(self.who)?;
        portable.strip();
        let mut tokens = self.spare.pop().unwrap_or_default();
        tokens.clear();
        if tokens.write(&portable).is_err() {
            return Err(Refusal::Mismatch);
        }
        let begun = out.bit_len();
        out.bits(DELTA, 2);
        match (self.have, self.states.front()) {
            (Some(have), Some((at, old))) if have == *at => {
                put_uint(out, (tick.0 - have.0) as u64);
                delta.encode(old, &tokens, out);
            }
            _ => {
                put_uint(out, 0);
                delta.encode(&Tokens::new(), &tokens, out);
            }
        }
        let fits = out.bit_len() <= room_bits;
        if !fits {
            out.truncate(begun);
        }
        if self.states.len() >= KEPT {
            let oldest = if self.have.is_some() { 1 } else { 0 };
            self.spare.extend(self.states.remove(oldest).map(|(_, tokens)| tokens));
        }
        if self.states.back().is_none_or(|(t, _)| *t < tick) {
            self.states.push_back((tick, tokens));
        }
        Ok(if fits { Written::State } else { Written::TooLong })
    }

    /// The full state did not fit into the reliable stream.
    pub(crate) fn not_streamed(&mut self) {
        self.streamed = None;
    }

    /// The last tick with a right prediction.
    pub(crate) fn matched(&self) -> Option<Tick> {
        self.matched
    }

    /// Whether it is not in the sim, or its owner gets no exact state.
    pub(crate) fn is_away(&self) -> bool {
        self.is_away
    }

    /// Writes the last kept state in full, for the reliable stream.
    pub(crate) fn whole(&mut self, tick: Tick, delta: &mut Coder, out: &mut BitWriter) -> bool {
        if self.streamed.is_some_and(|at| tick.0 - at.0 < 30) {
            return false;
        }
        let Some((at, tokens)) = self.states.back().filter(|(at, _)| *at == tick) else { return false };
        out.clear();
        delta.encode(&Tokens::new(), tokens, out);
        self.streamed = Some(*at);
        true
    }
}
