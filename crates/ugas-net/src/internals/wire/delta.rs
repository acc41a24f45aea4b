//! The delta between two token lists, in bits.
//!
//! A tick usually changes two or three of the hundreds of numbers of a controller. The writer compares both lists and
//! does not write equal members. A changed integer is written as the difference to its old value. A changed `f64` that
//! equals the preceding `f64` in the same list is written as one bit. Otherwise, a value with at most four decimal
//! places is scaled to an integer and written as the difference to its scaled old value; any other value, and a value
//! whose difference is too long, is written as raw bits. An `f32` is always written as raw bits. The elements of a list
//! are matched by an identity: their first leaf that is not a float, since ids come first. A removed element therefore
//! does not shift the others. Elements are matched by index instead if the list has the same length and either at most
//! one element was replaced or the identity would match no more elements than the index. A new element is written as a
//! delta to the element it replaces or follows.
//!
//! Where writer and reader know that a value changed, the code for "no change" is not needed. In such a place this code
//! means that the value has another kind and follows in full.
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

/// The limits of a decoded value.
///
/// ```
/// use ugas_net::internals::wire::delta::Limits;
/// assert!(Limits::default().tokens < 1 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of tokens: numbers, flags, texts and groups.
    pub tokens: usize,
    /// The maximum number of bytes of all texts and blobs.
    pub bytes: usize,
}

impl Default for Limits {
    /// Returns limits far above a controller with a hundred effects: about one mebibyte of memory.
    fn default() -> Limits {
        Limits { tokens: 1 << 16, bytes: 1 << 18 }
    }
}

/// Writes and reads deltas with reused memory.
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
    /// The changed members of each group being written.
    changed: Vec<encode::Member>,
    /// The indices and matches of each list being written; the selected members of each group being read.
    stack: Vec<u32>,
}

impl Coder {
    /// Writes the delta from `old` to `new`. Either may be empty.
    pub fn encode(&mut self, old: &Tokens, new: &Tokens, out: &mut BitWriter) {
        encode::encode(self, old, new, out);
    }

    /// Reads a delta and applies it to `old`, which must be the value that the delta was written against. With another
    /// value, the result is an error or an arbitrary value within `limits`. On an error `into` is empty.
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

/// Writes a delta with a new [`Coder`]; see [`Coder::encode`].
pub fn encode(old: &Tokens, new: &Tokens, out: &mut BitWriter) {
    Coder::default().encode(old, new, out);
}

/// Reads a delta with a new [`Coder`]; see [`Coder::decode`].
pub fn decode(old: &Tokens, from: &mut BitReader, limits: Limits, into: &mut Tokens) -> Result<(), WireError> {
    Coder::default().decode(old, from, limits, into)
}

/// The number of bits of a kind.
const KIND_BITS: u32 = 4;
/// The code for no value, instead of a kind.
const NOTHING: u64 = 15;
/// The number of bits of a character.
const CHAR_BITS: u32 = 21;

/// Returns the float right before the next token: the base and the current value of an attribute are usually equal.
fn fraction_before(before: Option<Token>) -> Option<u64> {
    before.filter(|t| t.kind == Kind::Float).map(|t| t.bits)
}

#[cfg(test)]
mod tests;
