//! The numbers of clients, and the keys under them. A key holds the number of its client and a base that rises, and what
//! was done under it may live in the world for ever. So a number is given again only when there is no fresh one, the one
//! that has been free for longest first, and its next holder goes on from the base of the last: no key is used twice.

use std::collections::VecDeque;

/// The last number is for what clients do by themselves.
const LAST: u16 = u16::MAX - 1;
/// A number with fewer bases left than this is not given again: one session of years needs no more.
const LEAST_BASES: u32 = 1 << 30;

/// A client's number, and the last base that was used under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) client: u16,
    pub(crate) base: u32,
    /// How many connections there were before this one.
    pub(crate) serial: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// The last that was given for the first time.
    given: u16,
    /// Those that were given back, with the last base of each.
    free: VecDeque<(u16, u32)>,
    serial: u64,
}

impl Numbers {
    /// A number nobody has; none if everybody is here at once.
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

    /// Its holder is gone, and this is the last base it used.
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
