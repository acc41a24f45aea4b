//! Reliable messages on their way out: cut into fragments, sent until acknowledged, never more than the window.

use std::collections::VecDeque;

use ugas_core::SimTime;

use super::{CarrierError, FRAGMENT, MAX_MESSAGE, WINDOW};

/// Bytes counted for a fragment besides its own, so that empty messages are bounded too.
const OVERHEAD: usize = 32;
/// What a fragment costs on the wire besides its bytes: sequence number and length.
const HEAD: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Queued,
    InFlight { packet: u64, at: SimTime },
    Arrived,
}

#[derive(Clone, Debug)]
struct Fragment {
    bytes: Vec<u8>,
    last: bool,
    state: State,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    /// Sequence number of the first fragment held.
    first: u64,
    fragments: VecDeque<Fragment>,
    /// Bytes held, with overhead.
    held: usize,
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Gives the sequence number behind the message's last fragment.
    pub(super) fn push(&mut self, message: &[u8], limit: usize) -> Result<u64, CarrierError> {
        if message.len() > MAX_MESSAGE {
            return Err(CarrierError::TooLong { length: message.len(), limit: MAX_MESSAGE });
        }
        let pieces = message.len().div_ceil(FRAGMENT).max(1);
        let cost = message.len() + pieces * OVERHEAD;
        if self.held + cost > limit {
            return Err(CarrierError::BacklogFull { held: self.held, more: cost, limit });
        }
        self.held += cost;
        for piece in 0..pieces {
            let rest = &message[piece * FRAGMENT..];
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(&rest[..rest.len().min(FRAGMENT)]);
            self.fragments.push_back(Fragment { bytes, last: piece + 1 == pieces, state: State::Queued });
        }
        Ok(self.first + self.fragments.len() as u64)
    }

    /// Everything before this sequence number has arrived.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Bytes held, with overhead.
    pub(super) fn retained(&self) -> usize {
        self.held
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fragments.is_empty()
    }

    /// Appends the fragments that are new or due again and fit into `room` bytes; says which by appending to `holds`.
    /// Writes nothing, not even a count, if there are none.
    pub(super) fn write(
        &mut self,
        packet: u64,
        now: SimTime,
        patience: SimTime,
        room: usize,
        out: &mut Vec<u8>,
        holds: &mut VecDeque<u64>,
    ) -> u16 {
        let start = out.len();
        let mut count: u8 = 0;
        for (i, fragment) in self.fragments.iter_mut().take(WINDOW as usize).enumerate() {
            let due = match fragment.state {
                State::Queued => true,
                State::InFlight { at, .. } => now - at >= patience,
                State::Arrived => false,
            };
            if !due {
                continue;
            }
            let used = (out.len() - start).max(1);
            if used + HEAD + fragment.bytes.len() > room || count == u8::MAX {
                break;
            }
            if count == 0 {
                out.push(0);
            }
            count += 1;
            let sequence = self.first + i as u64;
            out.extend_from_slice(&(sequence as u16).to_le_bytes());
            let length = (fragment.bytes.len() as u16) << 1 | u16::from(fragment.last);
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(&fragment.bytes);
            fragment.state = State::InFlight { packet, at: now };
            holds.push_back(sequence);
        }
        if count > 0 {
            out[start] = count;
        }
        u16::from(count)
    }

    /// A packet with the fragment arrived: it is not resent.
    pub(super) fn arrived(&mut self, sequence: u64) {
        if let Some(fragment) = self.get(sequence) {
            fragment.state = State::Arrived;
        }
        while self.fragments.front().is_some_and(|f| f.state == State::Arrived) {
            let Some(fragment) = self.fragments.pop_front() else { break };
            self.first += 1;
            self.held -= fragment.bytes.len() + OVERHEAD;
            if self.spare.len() < WINDOW as usize {
                self.spare.push(fragment.bytes);
            }
        }
    }

    /// A packet that held the fragment was lost: it is due again, unless a later packet holds it too.
    pub(super) fn lost(&mut self, sequence: u64, by: u64) {
        if let Some(fragment) = self.get(sequence)
            && matches!(fragment.state, State::InFlight { packet, .. } if packet == by)
        {
            fragment.state = State::Queued;
        }
    }

    fn get(&mut self, sequence: u64) -> Option<&mut Fragment> {
        self.fragments.get_mut(sequence.checked_sub(self.first)? as usize)
    }
}
