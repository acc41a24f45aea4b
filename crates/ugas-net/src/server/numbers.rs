//! The numbers of clients and the keys under them. A key contains the client number and a rising Base, and effects with that
//! key may stay active for ever. A number is therefore reused only when there is no new one, the longest unused first, and its
//! next client continues from the last Base: no key is used twice.

use std::collections::VecDeque;

/// The last number is reserved for local ops of clients.
const LAST: u16 = u16::MAX - 1;
/// A number with fewer Bases left is not reused: a session of years needs no more.
const LEAST_BASES: u32 = 1 << 30;

/// A client number, and the last Base used under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) client: u16,
    pub(crate) base: u32,
    /// How many connections there were before this one.
    pub(crate) serial: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// The last number that was assigned for the first time.
    given: u16,
    /// Returned numbers with the last Base of each.
    free: VecDeque<(u16, u32)>,
    serial: u64,
}

impl Numbers {
    /// Returns an unused number; `None` if all are in use.
    pub(crate) fn take(&mut self) -> Option<Number> {
        let (client, base) = if self.given < LAST {
            self.given += 1;
            (self.given, 0)
        } else {
            self.free.pop_front()?
        };
        self.serial += 1;
        Some(Number { client, base, serial: self.serial })
    }

    /// Returns a number with its last Base.
    pub(crate) fn give_back(&mut self, client: u16, base: u32) {
        if u32::MAX - base >= LEAST_BASES {
            self.free.push_back((client, base));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_numbers_come_first_then_those_free_for_longest_and_bases_go_on() {
        let mut numbers = Numbers::default();
        let first = numbers.take().unwrap();
        assert_eq!(first, Number { client: 1, base: 0, serial: 1 });
        numbers.give_back(1, 40);
        for client in 2..=LAST {
            assert_eq!(numbers.take().unwrap().client, client);
        }
        numbers.give_back(9, 7);
        assert_eq!(numbers.take().map(|n| (n.client, n.base)), Some((1, 40)));
        assert_eq!(numbers.take().map(|n| (n.client, n.base)), Some((9, 7)));
        assert_eq!(numbers.take(), None);
        numbers.give_back(3, u32::MAX - LEAST_BASES + 1);
        assert_eq!(numbers.take(), None, "one that is used up is not given again");
    }
}
