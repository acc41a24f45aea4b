//! Reliable messages on their way in: fragments put in order within a window, joined into messages.
//!
//! What a peer can make this hold is bounded by the window, the longest message and the limit on messages that nobody
//! has taken yet. A section is looked at as a whole before any of it counts.

use std::collections::VecDeque;

use super::header::{Bytes, widen};
use super::{CarrierError, FRAGMENT, MAX_MESSAGE, WINDOW};

/// Bytes counted for a message besides its own, so that empty messages are bounded too.
const OVERHEAD: usize = 32;

#[derive(Clone, Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
    last: bool,
    filled: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    /// Sequence number of the fragment expected next.
    next: u64,
    /// Fragments from `next` on that came before their turn.
    ahead: VecDeque<Slot>,
    /// The message being joined; cleared and dropped to its end once it is longer than any may be.
    joining: Vec<u8>,
    overlong: bool,
    ready: VecDeque<Vec<u8>>,
    /// Bytes in `ready`, with overhead.
    held: usize,
    spare: Vec<Vec<u8>>,
}

/// A fragment as it stands in a section.
struct Piece<'d> {
    sequence: u64,
    last: bool,
    bytes: &'d [u8],
}

impl Inbox {
    /// Looks at a section without keeping any of it and gives what follows it.
    pub(super) fn check<'d>(&self, section: &'d [u8]) -> Result<&'d [u8], CarrierError> {
        let mut bytes = Bytes(section);
        let count = bytes.number(1)?;
        if count == 0 {
            return Err(CarrierError::EmptySection);
        }
        for _ in 0..count {
            piece(self.next, &mut bytes)?;
        }
        Ok(bytes.0)
    }

    /// Keeps the fragments of a section that was checked. Gives how many messages were dropped for their length.
    pub(super) fn keep(&mut self, section: &[u8], limit: usize) -> u64 {
        let mut bytes = Bytes(section);
        let count = bytes.number(1).unwrap_or(0);
        // Sequence numbers are read against the same place as they were checked against.
        let next = self.next;
        for _ in 0..count {
            let Ok(piece) = piece(next, &mut bytes) else { break };
            let Some(place) = piece.sequence.checked_sub(self.next) else { continue };
            while self.ahead.len() <= place as usize {
                self.ahead.push_back(Slot { bytes: self.spare.pop().unwrap_or_default(), ..Slot::default() });
            }
            if let Some(slot) = self.ahead.get_mut(place as usize)
                && !slot.filled
            {
                slot.bytes.extend_from_slice(piece.bytes);
                slot.last = piece.last;
                slot.filled = true;
            }
        }
        self.join(limit)
    }

    /// The oldest message not yet taken.
    pub(super) fn take(&mut self, limit: usize) -> (Option<Vec<u8>>, u64) {
        let message = self.ready.pop_front();
        let mut dropped = 0;
        if let Some(message) = &message {
            self.held -= message.len() + OVERHEAD;
            dropped = self.join(limit);
        }
        (message, dropped)
    }

    /// Bytes of fragments and messages held.
    pub(super) fn retained(&self) -> usize {
        self.held + self.joining.len() + self.ahead.iter().map(|s| s.bytes.len()).sum::<usize>()
    }

    /// Joins what is in order. Stops where the messages nobody took reach the limit: the window then fills and the
    /// peer's further fragments are refused until somebody takes them.
    fn join(&mut self, limit: usize) -> u64 {
        let mut dropped = 0;
        while self.held < limit && self.ahead.front().is_some_and(|slot| slot.filled) {
            let Some(slot) = self.ahead.pop_front() else { break };
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
                    self.held += self.joining.len() + OVERHEAD;
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

fn piece<'d>(next: u64, bytes: &mut Bytes<'d>) -> Result<Piece<'d>, CarrierError> {
    let low = bytes.number(2)? as u16;
    let head = bytes.number(2)? as usize;
    let (length, last) = (head >> 1, head & 1 == 1);
    if length > FRAGMENT {
        return Err(CarrierError::TooLong { length, limit: FRAGMENT });
    }
    if length == 0 && !last {
        return Err(CarrierError::EmptySection);
    }
    // Before the first wrap a number below zero is one far ahead.
    let sequence = widen(low, Some(next)).unwrap_or(u64::MAX);
    if sequence >= next + WINDOW {
        return Err(CarrierError::FragmentAhead { expected: next as u16, found: low });
    }
    Ok(Piece { sequence, last, bytes: bytes.take(length)? })
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
    fn fragments_out_of_order_make_messages_in_order() {
        let mut inbox = Inbox::default();
        inbox.keep(&section(&[(2, true, b"last"), (1, true, b"world")]), 9999);
        assert_eq!(inbox.take(9999).0, None);
        inbox.keep(&section(&[(0, false, b"hello "), (1, true, b"other")]), 9999);
        assert_eq!(inbox.take(9999).0.unwrap(), b"hello world");
        assert_eq!(inbox.take(9999).0.unwrap(), b"last");
    }

    #[test]
    fn a_message_longer_than_any_may_be_is_dropped_and_the_next_one_arrives() {
        let mut inbox = Inbox::default();
        let piece = [7; FRAGMENT];
        let count = (MAX_MESSAGE / FRAGMENT + 2) as u16;
        let mut dropped = 0;
        for sequence in 0..count {
            dropped += inbox.keep(&section(&[(sequence, sequence + 1 == count, &piece)]), usize::MAX);
            assert!(inbox.retained() <= MAX_MESSAGE + FRAGMENT);
        }
        inbox.keep(&section(&[(count, true, b"next")]), usize::MAX);
        assert_eq!((dropped, inbox.take(9999).0.unwrap()), (1, b"next".to_vec()));
    }

    #[test]
    fn nonsense_is_refused_before_anything_counts() {
        let inbox = Inbox::default();
        let far = section(&[(0, true, b"good"), (WINDOW as u16, true, b"far")]);
        assert_eq!(inbox.check(&far).unwrap_err(), CarrierError::FragmentAhead { expected: 0, found: WINDOW as u16 });
        assert!(matches!(inbox.check(&section(&[(65_535, true, b"")])), Err(CarrierError::FragmentAhead { .. })));
        assert_eq!(inbox.check(&[0]).unwrap_err(), CarrierError::EmptySection);
        assert_eq!(inbox.check(&section(&[(0, false, b"")])).unwrap_err(), CarrierError::EmptySection);
        assert!(matches!(inbox.check(&section(&[(0, true, &[0; FRAGMENT + 1])])), Err(CarrierError::TooLong { .. })));
    }

    #[test]
    fn messages_nobody_takes_stop_the_window_and_taking_one_moves_it_on() {
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
