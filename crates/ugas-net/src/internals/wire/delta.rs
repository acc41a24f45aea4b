//! The difference of two token lists, in bits.
//!
//! A controller changes in two or three numbers a tick out of hundreds. The writer walks both lists once: what is equal
//! costs nothing but its absence from a list of changed members, a whole number is written as its difference, a fraction
//! as decimals against the old one, one equal to the fraction before it as one bit. Lists are matched by the first leaf
//! of their elements that is no fraction (ids and numbers come first), so that an element that left does not shift the rest; a new element
//! is written against the one it replaced or follows.
//!
//! Where both know that a value changed, the code for "it did not" is free: it says that something of another kind
//! follows in full.
//!
//! ```
//! use ugas_net::internals::wire::bits::{BitReader, BitWriter};
//! use ugas_net::internals::wire::delta::{Limits, decode, encode};
//! use ugas_net::internals::wire::token::Tokens;
//! let (mut old, mut new, mut back) = (Tokens::new(), Tokens::new(), Tokens::new());
//! old.write(&vec![(1, 100.0), (2, 50.0)]).unwrap();
//! new.write(&vec![(1, 83.0), (2, 50.0)]).unwrap();
//! let mut out = BitWriter::new();
//! encode(&old, &new, &mut out);
//! assert!(out.byte_len() <= 3);
//! decode(&old, &mut BitReader::new(out.finish()), Limits::default(), &mut back).unwrap();
//! assert_eq!(back, new);
//! ```

mod decode;
mod encode;
mod set;

use super::bits::{BitReader, BitWriter, WireError};
use super::token::{Kind, Token, Tokens};

/// The most a decoded value may hold, whatever the bytes say.
///
/// ```
/// use ugas_net::internals::wire::delta::Limits;
/// assert!(Limits::default().tokens < 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens: numbers, flags, texts and groups.
    pub tokens: usize,
    /// Bytes of all texts and blobs.
    pub bytes: usize,
}

impl Default for Limits {
    /// Far more than a controller with a hundred effects: about one mebibyte of memory.
    fn default() -> Limits {
        Limits { tokens: 1 << 16, bytes: 1 << 18 }
    }
}

/// Writes and reads differences with memory it keeps. Have one per place that does so every tick.
///
/// ```
/// use ugas_net::internals::wire::bits::BitWriter;
/// use ugas_net::internals::wire::delta::Coder;
/// use ugas_net::internals::wire::token::Tokens;
/// let mut same = Tokens::new();
/// same.write(&[1, 2, 3]).unwrap();
/// let mut out = BitWriter::new();
/// Coder::default().encode(&same, &same, &mut out);
/// assert_eq!(out.bit_len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Coder {
    /// Members that changed, of each group being written.
    changed: Vec<encode::Member>,
    /// Places and matches, of each list being written; picked members, of each group being read.
    stack: Vec<u32>,
}

impl Coder {
    /// Writes what makes `new` out of `old`. Either may be empty.
    pub fn encode(&mut self, old: &Tokens, new: &Tokens, out: &mut BitWriter) {
        encode::encode(self, old, new, out);
    }

    /// Makes the new value out of the old one and what was written. On an error `into` is empty. The old value must be
    /// the one it was written against; another gives an error or some value within the limits.
    pub fn decode(
        &mut self,
        old: &Tokens,
        from: &mut BitReader,
        limits: Limits,
        into: &mut Tokens,
    ) -> Result<(), WireError> {
        into.clear();
        self.stack.clear();
        let read = decode::decode(&mut self.stack, old, from, limits, into);
        if read.is_err() {
            into.clear();
        }
        read
    }
}

/// [`Coder::encode`] once.
pub fn encode(old: &Tokens, new: &Tokens, out: &mut BitWriter) {
    Coder::default().encode(old, new, out);
}

/// [`Coder::decode`] once.
pub fn decode(old: &Tokens, from: &mut BitReader, limits: Limits, into: &mut Tokens) -> Result<(), WireError> {
    Coder::default().decode(old, from, limits, into)
}

/// Bits of a kind written in full.
const KIND_BITS: u32 = 4;
/// In the place of a kind: no value at all.
const NOTHING: u64 = 15;
/// Bits of a character.
const CHAR_BITS: u32 = 21;

/// The fraction right before the next token: base and current value of an attribute are mostly equal.
fn fraction_before(before: Option<Token>) -> Option<u64> {
    before.filter(|t| t.kind == Kind::Float).map(|t| t.bits)
}

#[cfg(test)]
mod tests;
