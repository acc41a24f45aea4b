//! Outgoing reliable messages: split into fragments, which are resent until acknowledged, within a window.

use std::collections::VecDeque;

use ugas_core::SimTime;

use super::{CarrierError, FRAGMENT, MAX_MESSAGE, WINDOW};

/// Bytes counted per fragment in addition to its own, so that the number of empty messages is bounded too.
const OVERHEAD: usize = 32;
/// The bytes of a fragment header on the wire: sequence number and length.
const HEAD: usize = 4;
/// The minimum number of bytes for which a fragment has memory.
const MIN_MEMORY: usize = 64;

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
    /// The sequence number of the first fragment.
    first: u64,
    fragments: VecDeque<Fragment>,
    /// Bytes of all fragments, with overhead.
    queued_bytes: usize,
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Queues a message. Returns the sequence number after its last fragment.
    pub(super) fn push(&mut self, message: &[u8], limit: usize) -> Result<u64, CarrierError> {
        if message.len() > MAX_MESSAGE {
            return Err(CarrierError::TooLong { length: message.len(), limit: MAX_MESSAGE });
        }
        let count = message.len().div_ceil(FRAGMENT).max(1);
        let cost = message.len() + count * OVERHEAD;
        if self.queued_bytes + cost > limit {
            return Err(CarrierError::BacklogFull { queued_bytes: self.queued_bytes, more: cost, limit });
        }
        self.queued_bytes += cost;
        for index in 0..count {
            let rest = &message[index * FRAGMENT..];
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            let part = &rest[..rest.len().min(FRAGMENT)];
            if part.len() > bytes.capacity() {
                // The memory is reused for fragments of other lengths.
                bytes.reserve_exact(part.len().next_power_of_two().max(MIN_MEMORY));
            }
            bytes.extend_from_slice(part);
            self.fragments.push_back(Fragment { bytes, last: index + 1 == count, state: State::Queued });
        }
        Ok(self.first + self.fragments.len() as u64)
    }

    /// Returns the first sequence number that was not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the bytes of all fragments, with overhead.
    pub(super) fn retained(&self) -> usize {
        self.queued_bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fragments.is_empty()
    }

    /// Appends the fragments that are new or to be resent and fit into `room` bytes, and their numbers to `sequences`.
    /// Writes nothing, not even a count, if there are none. Returns how many.
    pub(super) fn write(
        &mut self,
        packet: u64,
        now: SimTime,
        loss_timeout: SimTime,
        room: usize,
        out: &mut Vec<u8>,
        sequences: &mut VecDeque<u64>,
    ) -> u16 {
        let start = out.len();
        let mut count: u8 = 0;
        for (i, fragment) in self.fragments.iter_mut().take(WINDOW as usize).enumerate() {
            let due = match fragment.state {
                State::Queued => true,
                State::InFlight { at, .. } => now - at >= loss_timeout,
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
            sequences.push_back(sequence);
        }
        if count > 0 {
            out[start] = count;
        }
        u16::from(count)
    }

    /// Records that a packet with the fragment arrived: it is not resent.
    pub(super) fn arrived(&mut self, sequence: u64) {
        if let Some(fragment) = self.get(sequence) {
            fragment.state = State::Arrived;
        }
        while self.fragments.front().is_some_and(|f| f.state == State::Arrived) {
            let Some(fragment) = self.fragments.pop_front() else { break };
            self.first += 1;
            self.queued_bytes -= fragment.bytes.len() + OVERHEAD;
            if self.spare.len() < WINDOW as usize {
                self.spare.push(fragment.bytes);
            }
        }
    }

    /// Records that a packet with the fragment was lost: it is resent, unless a later packet contains it too.
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
