//! Client numbers. A prediction key contains the client number and a Base, which rises with each tick that has
//! commands. A client number is reused only when all client numbers have been assigned, and only if enough Bases are
//! left; the client number that has been unused for the longest time is reused first. The next client with that client
//! number continues from the last Base of the previous client, so no key is used twice. The ids of ops contain the tick
//! instead of the Base; ticks never repeat.

use std::collections::VecDeque;

/// The last number is reserved for local ops of clients.
const LAST: u16 = u16::MAX - 1;
/// The minimum number of Bases that a reused number must have left. Even a session that lasts years needs no more
/// Bases.
const MIN_BASES_LEFT: u32 = 1 << 30;

/// A client number, and the last Base used under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) client: u16,
    pub(crate) base: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// The last number that was assigned for the first time.
    last_assigned: u16,
    /// Returned numbers with the last Base of each.
    free: VecDeque<(u16, u32)>,
}

impl Numbers {
    /// Returns an unused number; `None` if no number is available.
    pub(crate) fn take(&mut self) -> Option<Number> {
        let (client, base) = if self.last_assigned < LAST {
            self.last_assigned += 1;
            (self.last_assigned, 0)
        } else {
            self.free.pop_front()?
        };
        Some(Number { client, base })
    }

    /// Makes a number available again, with its last Base.
    pub(crate) fn release(&mut self, client: u16, base: u32) {
        if u32::MAX - base >= MIN_BASES_LEFT {
            self.free.push_back((client, base));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_numbers_are_assigned_first_then_the_longest_unused_and_bases_continue() {
        let mut numbers = Numbers::default();
        let first = numbers.take().unwrap();
        assert_eq!(first, Number { client: 1, base: 0 });
        numbers.release(1, 40);
        for client in 2..=LAST {
            assert_eq!(numbers.take().unwrap().client, client);
        }
        numbers.release(9, 7);
        assert_eq!(numbers.take().map(|n| (n.client, n.base)), Some((1, 40)));
        assert_eq!(numbers.take().map(|n| (n.client, n.base)), Some((9, 7)));
        assert_eq!(numbers.take(), None);
        numbers.release(3, u32::MAX - MIN_BASES_LEFT + 1);
        assert_eq!(numbers.take(), None, "a number without enough Bases left is not reused");
    }
}
