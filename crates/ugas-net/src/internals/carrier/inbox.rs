//! Incoming reliable messages: fragments are ordered within a window and joined into messages.
//!
//! Memory is bounded by the window, the longest message and the limit on unread messages. All fragments of a datagram
//! are checked before any of them is kept.

use std::collections::VecDeque;

use super::header::{Bytes, widen};
use super::{CarrierError, FRAGMENT, MAX_MESSAGE, WINDOW};

/// Bytes counted per message in addition to its own, so that the number of empty messages is bounded too.
const OVERHEAD: usize = 32;

#[derive(Clone, Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
    last: bool,
    filled: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    /// The sequence number of the next fragment.
    next: u64,
    /// Fragments from `next` on that arrived out of order.
    early: VecDeque<Slot>,
    /// The message being joined.
    joining: Vec<u8>,
    /// Whether the message being joined is longer than [`MAX_MESSAGE`]; if so, its remaining fragments are dropped.
    overlong: bool,
    ready: VecDeque<Vec<u8>>,
    /// Bytes of the messages in `ready`, with overhead.
    ready_bytes: usize,
    spare: Vec<Vec<u8>>,
}

/// A fragment in a section.
struct FragmentRef<'d> {
    sequence: u64,
    last: bool,
    bytes: &'d [u8],
}

impl Inbox {
    /// Checks a section without keeping it. Returns the bytes after it.
    pub(super) fn check<'d>(&self, section: &'d [u8]) -> Result<&'d [u8], CarrierError> {
        let mut bytes = Bytes(section);
        let count = bytes.number(1)?;
        if count == 0 {
            return Err(CarrierError::EmptySection);
        }
        for _ in 0..count {
            read_fragment(self.next, &mut bytes)?;
        }
        Ok(bytes.0)
    }

    /// Keeps the fragments of a checked section. Returns how many messages were dropped because they were too long.
    pub(super) fn keep(&mut self, section: &[u8], limit: usize) -> u64 {
        let mut bytes = Bytes(section);
        let count = bytes.number(1).unwrap_or(0);
        // The same reference as in `check`.
        let next = self.next;
        for _ in 0..count {
            let Ok(fragment) = read_fragment(next, &mut bytes) else { break };
            let Some(offset) = fragment.sequence.checked_sub(self.next) else { continue };
            while self.early.len() <= offset as usize {
                self.early.push_back(Slot { bytes: self.spare.pop().unwrap_or_default(), ..Slot::default() });
            }
            if let Some(slot) = self.early.get_mut(offset as usize)
                && !slot.filled
            {
                slot.bytes.extend_from_slice(fragment.bytes);
                slot.last = fragment.last;
                slot.filled = true;
            }
        }
        self.join(limit)
    }

    /// Takes the oldest message. Also returns how many messages were dropped because they were too long.
    pub(super) fn take(&mut self, limit: usize) -> (Option<Vec<u8>>, u64) {
        let message = self.ready.pop_front();
        let mut dropped = 0;
        if let Some(message) = &message {
            self.ready_bytes -= message.len() + OVERHEAD;
            dropped = self.join(limit);
        }
        (message, dropped)
    }

    /// Returns the bytes of all fragments and messages.
    pub(super) fn retained(&self) -> usize {
        self.ready_bytes + self.joining.len() + self.early.iter().map(|s| s.bytes.len()).sum::<usize>()
    }

    /// Joins the fragments that are in order. Stops when the unread messages reach the limit: the window then fills up,
    /// and further fragments are rejected until messages are read.
    fn join(&mut self, limit: usize) -> u64 {
        let mut dropped = 0;
        while self.ready_bytes < limit && self.early.front().is_some_and(|slot| slot.filled) {
            let Some(slot) = self.early.pop_front() else { break };
            self.next += 1;
            self.overlong |= self.joining.len() + slot.bytes.len() > MAX_MESSAGE;
            if self.overlong {
                self.joining.clear();
            } else {
                self.joining.extend_from_slice(&slot.bytes);
            }
            if slot.last {
                if std::mem::take(&mut self.overlong) {
                    dropped += 1;
                } else {
                    self.ready_bytes += self.joining.len() + OVERHEAD;
                    self.ready.push_back(self.joining.clone());
                    self.joining.clear();
                }
            }
            if self.spare.len() < WINDOW as usize {
                let mut bytes = slot.bytes;
                bytes.clear();
                self.spare.push(bytes);
            }
        }
        dropped
    }
}

/// Reads a fragment.
fn read_fragment<'d>(next: u64, bytes: &mut Bytes<'d>) -> Result<FragmentRef<'d>, CarrierError> {
    let low = bytes.number(2)? as u16;
    let head = bytes.number(2)? as usize;
    let (length, last) = (head >> 1, head & 1 == 1);
    if length > FRAGMENT {
        return Err(CarrierError::TooLong { length, limit: FRAGMENT });
    }
    if length == 0 && !last {
        return Err(CarrierError::EmptySection);
    }
    // A number below zero is beyond the window.
    let sequence = widen(low, Some(next)).unwrap_or(u64::MAX);
    if sequence >= next + WINDOW {
        return Err(CarrierError::FragmentAhead { expected: next as u16, found: low });
    }
    Ok(FragmentRef { sequence, last, bytes: bytes.take(length)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(pieces: &[(u16, bool, &[u8])]) -> Vec<u8> {
        let mut out = vec![pieces.len() as u8];
        for (sequence, last, bytes) in pieces {
            out.extend_from_slice(&sequence.to_le_bytes());
            out.extend_from_slice(&((bytes.len() as u16) << 1 | u16::from(*last)).to_le_bytes());
            out.extend_from_slice(bytes);
        }
        out
    }

    #[test]
    fn fragments_out_of_order_become_messages_in_order() {
        let mut inbox = Inbox::default();
        inbox.keep(&section(&[(2, true, b"last"), (1, true, b"world")]), 9999);
        assert_eq!(inbox.take(9999).0, None);
        inbox.keep(&section(&[(0, false, b"hello "), (1, true, b"other")]), 9999);
        assert_eq!(inbox.take(9999).0.unwrap(), b"hello world");
        assert_eq!(inbox.take(9999).0.unwrap(), b"last");
    }

    #[test]
    fn a_message_that_is_too_long_is_dropped_and_the_next_one_arrives() {
        let mut inbox = Inbox::default();
        let fragment = [7; FRAGMENT];
        let count = (MAX_MESSAGE / FRAGMENT + 2) as u16;
        let mut dropped = 0;
        for sequence in 0..count {
            dropped += inbox.keep(&section(&[(sequence, sequence + 1 == count, &fragment)]), usize::MAX);
            assert!(inbox.retained() <= MAX_MESSAGE + FRAGMENT);
        }
        inbox.keep(&section(&[(count, true, b"next")]), usize::MAX);
        assert_eq!((dropped, inbox.take(9999).0.unwrap()), (1, b"next".to_vec()));
    }

    #[test]
    fn a_malformed_section_is_rejected_completely() {
        let inbox = Inbox::default();
        let far = section(&[(0, true, b"good"), (WINDOW as u16, true, b"far")]);
        assert_eq!(inbox.check(&far).unwrap_err(), CarrierError::FragmentAhead { expected: 0, found: WINDOW as u16 });
        assert!(matches!(inbox.check(&section(&[(65_535, true, b"")])), Err(CarrierError::FragmentAhead { .. })));
        assert_eq!(inbox.check(&[0]).unwrap_err(), CarrierError::EmptySection);
        assert_eq!(inbox.check(&section(&[(0, false, b"")])).unwrap_err(), CarrierError::EmptySection);
        assert!(matches!(inbox.check(&section(&[(0, true, &[0; FRAGMENT + 1])])), Err(CarrierError::TooLong { .. })));
    }

    #[test]
    fn messages_that_are_not_taken_block_the_window() {
        let mut inbox = Inbox::default();
        for sequence in 0..4 {
            inbox.keep(&section(&[(sequence, true, b"12345678")]), 80);
        }
        assert_eq!((inbox.ready.len(), inbox.next), (2, 2));
        for _ in 0..4 {
            assert_eq!(inbox.take(80).0.unwrap(), b"12345678");
        }
        assert_eq!(inbox.next, 4);
    }
}
