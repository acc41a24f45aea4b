//! An owned controller on the server: its hash after each of the latest ticks, and the baseline that the client has.

use crate::types::Tick;
use crate::wire::bits::BitWriter;
use crate::wire::delta::Coder;
use crate::wire::number::put_uint;
use crate::wire::token::Tokens;
use std::collections::VecDeque;
use ugas_core::{ControllerId, Portable, Refusal, Sim};

/// The maximum number of states in flight and hashes kept.
const MAX_KEPT: usize = 128;

/// The status of an owned controller in a packet, in two bits: no status.
pub(crate) const NOTHING: u64 = 0;
/// Means that the client predicted a tick correctly and that the server's state has not changed since that tick. The tick
/// follows in the packet.
pub(crate) const MATCHED: u64 = 1;
/// A delta follows, after a bit that states whether something other than the client's commands changed the controller
/// since the prediction was last right.
pub(crate) const DELTA: u64 = 2;
/// The controller was removed.
pub(crate) const REMOVED: u64 = 3;

/// What was written for an owned controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A status without a state: the prediction is right, or there is nothing to send.
    Status,
    /// Its state.
    State,
    /// Nothing, because the state was too long for the packet. The state is kept as the newest baseline.
    TooLong,
}

/// An owned controller.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    pub(crate) who: ControllerId,
    /// Hashes of the latest ticks, without hidden attributes.
    hashes: VecDeque<(Tick, u32)>,
    /// Hashes that the client sent for ticks that the server has not simulated yet.
    client_hashes: VecDeque<(Tick, u32)>,
    /// The newest tick whose prediction by the client equals the server's state.
    matched: Option<Tick>,
    /// The last tick in which something other than the client's commands changed the controller.
    external: Option<Tick>,
    /// Baselines: states the client has or that are in flight, sorted by tick. The first is acknowledged if its
    /// tick is `baseline`.
    states: VecDeque<(Tick, Tokens)>,
    /// The newest state that the client has.
    baseline: Option<Tick>,
    spare: Vec<Tokens>,
    /// A state too long for a packet was queued in the reliable stream at this tick.
    streamed: Option<Tick>,
    /// Whether the controller is away: it is not in the sim, or its owning client gets no exact state.
    is_away: bool,
}

impl Owned {
    pub(crate) fn new(who: ControllerId) -> Owned {
        Owned {
            who,
            hashes: VecDeque::new(),
            client_hashes: VecDeque::new(),
            matched: None,
            external: None,
            states: VecDeque::new(),
            baseline: None,
            spare: Vec::new(),
            streamed: None,
            is_away: true,
        }
    }

    /// Records the hash after a tick; `None` if the controller is away. In that case all baselines and hashes are
    /// dropped, as on the client: when the controller returns, the server sends a full state first.
    pub(crate) fn follow(&mut self, tick: Tick, hash: Option<u32>) {
        match hash {
            Some(hash) => {
                self.is_away = false;
                self.record_hash(tick, hash);
            }
            None => self.reset(),
        }
    }

    fn reset(&mut self) {
        if !self.is_away {
            *self = Owned::new(self.who);
        }
    }

    /// Records that something other than the client's commands changed the controller in a tick.
    pub(crate) fn record_external(&mut self, tick: Tick) {
        self.external = Some(tick);
    }

    /// Returns the hash of the last recorded tick.
    pub(crate) fn newest(&self) -> Option<u32> {
        self.hashes.back().map(|(_, hash)| *hash)
    }

    /// Records the hash after a tick.
    fn record_hash(&mut self, tick: Tick, hash: u32) {
        if self.hashes.len() >= MAX_KEPT {
            self.hashes.pop_front();
        }
        self.hashes.push_back((tick, hash));
        while let Some(&(client_tick, client_hash)) = self.client_hashes.front() {
            if client_tick > tick {
                break;
            }
            self.client_hashes.pop_front();
            self.compare(client_tick, client_hash);
        }
    }

    /// Receives the client's hash of a tick and the tick of its newest baseline. The hash is compared with the server's
    /// hash, at once or when the server has simulated that tick.
    pub(crate) fn take_client_hash(&mut self, now: Tick, tick: Tick, hash: Option<u32>, baseline: Option<Tick>) {
        if baseline.is_none() {
            // It dropped its baseline, for example because the controller was removed.
            self.baseline = None;
        }
        if baseline > self.baseline && self.states.iter().any(|(t, _)| Some(*t) == baseline) {
            self.baseline = baseline;
            while self.states.front().is_some_and(|(t, _)| Some(*t) < baseline) {
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
        } else if self.client_hashes.len() < MAX_KEPT && self.client_hashes.back().is_none_or(|(last, _)| *last < tick)
        {
            self.client_hashes.push_back((tick, hash));
        }
    }

    fn compare(&mut self, tick: Tick, client_hash: u32) {
        let at = self.hashes.binary_search_by_key(&tick, |(t, _)| *t);
        if at.is_ok_and(|at| self.hashes[at].1 == client_hash) && Some(tick) > self.matched {
            self.matched = Some(tick);
        }
    }

    /// Returns whether the prediction of exactly this tick is right.
    pub(crate) fn is_matched_at(&self, tick: Tick) -> bool {
        self.matched == Some(tick)
    }

    /// Returns whether the hash has not changed since a tick; `false` if the hash of that tick is no longer kept.
    fn is_unchanged_since(&self, since: Tick) -> bool {
        let Ok(at) = self.hashes.binary_search_by_key(&since, |(t, _)| *t) else { return false };
        self.hashes.range(at..).all(|(_, hash)| *hash == self.hashes[at].1)
    }

    /// Writes the status of the controller; `snapshot` returns its redacted snapshot. Fails if it is away.
    pub(crate) fn write(
        &mut self,
        sim: &Sim,
        snapshot: impl FnOnce(ControllerId) -> Result<Portable, Refusal>,
        tick: Tick,
        delta: &mut Coder,
        out: &mut BitWriter,
        room_bits: usize,
    ) -> Result<Written, Refusal> {
        if self.is_away || !sim.exists(self.who) {
            self.reset();
            return Err(Refusal::StaleHandle);
        }
        if let Some(matched) = self.matched.filter(|&m| self.is_unchanged_since(m)) {
            out.bits(MATCHED, 2);
            put_uint(out, (tick.0 - matched.0) as u64);
            return Ok(Written::Status);
        }
        // A full state is still in the reliable stream.
        if self.baseline.is_none() && self.streamed.is_some_and(|at| tick.0 - at.0 < 30) {
            out.bits(NOTHING, 2);
            return Ok(Written::Status);
        }
        let mut portable = snapshot(self.who)?;
        portable.strip();
        let mut tokens = self.spare.pop().unwrap_or_default();
        tokens.clear();
        if tokens.write(&portable).is_err() {
            return Err(Refusal::Mismatch);
        }
        let start = out.bit_len();
        out.bits(DELTA, 2);
        out.bit(self.external > self.matched);
        match (self.baseline, self.states.front()) {
            (Some(baseline), Some((at, old))) if baseline == *at => {
                put_uint(out, (tick.0 - baseline.0) as u64);
                delta.encode(old, &tokens, out);
            }
            _ => {
                put_uint(out, 0);
                delta.encode(&Tokens::new(), &tokens, out);
            }
        }
        let fits = out.bit_len() <= room_bits;
        if !fits {
            out.truncate(start);
        }
        if self.states.len() >= MAX_KEPT {
            let oldest = if self.baseline.is_some() { 1 } else { 0 };
            self.spare.extend(self.states.remove(oldest).map(|(_, tokens)| tokens));
        }
        if self.states.back().is_none_or(|(t, _)| *t < tick) {
            self.states.push_back((tick, tokens));
        }
        Ok(if fits { Written::State } else { Written::TooLong })
    }

    /// Records that the full state did not fit into the reliable stream.
    pub(crate) fn on_stream_full(&mut self) {
        self.streamed = None;
    }

    /// Returns the newest tick whose prediction by the client equals the server's state.
    pub(crate) fn matched(&self) -> Option<Tick> {
        self.matched
    }

    /// Returns whether the controller is not in the sim, or its owning client gets no exact state.
    pub(crate) fn is_away(&self) -> bool {
        self.is_away
    }

    /// Writes the last kept state in full, for the reliable stream.
    pub(crate) fn write_full(&mut self, tick: Tick, delta: &mut Coder, out: &mut BitWriter) -> bool {
        if self.streamed.is_some_and(|at| tick.0 - at.0 < 30) {
            return false;
        }
        let Some((at, tokens)) = self.states.back().filter(|(at, _)| *at == tick) else { return false };
        out.clear();
        out.bit(self.external > self.matched);
        delta.encode(&Tokens::new(), tokens, out);
        self.streamed = Some(*at);
        true
    }
}
