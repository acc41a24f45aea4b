//! Any serialisable value as a flat list of tokens.
//!
//! What two machines keep of a controller has many types and changes with the rules of the game; writing its difference
//! by hand would be one more place for each. Instead a value is flattened: one token a number, flag or text, one in
//! front of each group with the length of all it holds. Two lists are compared in one pass, and
//! [`delta`](super::delta) writes one against the other. Names of fields are absent: both sides have the same types.
//! A type whose fields may be left out (`skip_serializing_if`) cannot be read back.
//!
//! ```
//! use ugas_net::internals::wire::token::Tokens;
//! let mut tokens = Tokens::new();
//! tokens.write(&(7u8, "seven", vec![Some(0.5), None])).unwrap();
//! let back: (u8, String, Vec<Option<f64>>) = tokens.read().unwrap();
//! assert_eq!(back, (7, "seven".into(), vec![Some(0.5), None]));
//! ```

mod read;
mod write;

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

/// How deep values may nest.
pub const MAX_DEPTH: usize = 64;

/// Why a value could not become tokens or tokens not a value.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TokenError {
    /// What the value's type found, in its words.
    #[error("{0}")]
    Value(String),
    /// Groups within groups.
    #[error("the value nests more than {MAX_DEPTH} deep")]
    TooDeep,
    /// More than fits into the lengths kept.
    #[error("the value has more than four billion parts or bytes")]
    TooLarge,
    /// Another type was written.
    #[error("{found} was found where {expected} was expected: both sides need the same types")]
    Unexpected {
        /// What the tokens hold.
        found: &'static str,
        /// What the type asked for.
        expected: &'static str,
    },
    /// A group has more members than its type.
    #[error("a group has {left} members more than its type: both sides need the same types")]
    LeftOver {
        /// How many were not read.
        left: usize,
    },
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Unit,
    None,
    /// One child.
    Some,
    Bool,
    Unsigned,
    Signed,
    Float,
    Float32,
    Char,
    /// Text; its bits say where it lies among the bytes.
    Str,
    Bytes,
    /// A list; its bits are the number of children.
    Seq,
    /// A struct or tuple; like a list.
    Tuple,
    /// Pairs of key and value, each a tuple; like a list.
    Map,
    /// One of an enum; its bits are the index and the number of children.
    Variant,
}

impl Kind {
    pub(super) const ALL: [Kind; 15] = [
        Kind::Unit,
        Kind::None,
        Kind::Some,
        Kind::Bool,
        Kind::Unsigned,
        Kind::Signed,
        Kind::Float,
        Kind::Float32,
        Kind::Char,
        Kind::Str,
        Kind::Bytes,
        Kind::Seq,
        Kind::Tuple,
        Kind::Map,
        Kind::Variant,
    ];

    fn name(self) -> &'static str {
        match self {
            Kind::Unit => "nothing",
            Kind::None => "an absent value",
            Kind::Some => "a present value",
            Kind::Bool => "a flag",
            Kind::Unsigned | Kind::Signed => "a whole number",
            Kind::Float | Kind::Float32 => "a fraction",
            Kind::Char => "a character",
            Kind::Str => "a text",
            Kind::Bytes => "bytes",
            Kind::Seq => "a list",
            Kind::Tuple => "a group of fields",
            Kind::Map => "a map",
            Kind::Variant => "a variant",
        }
    }
}

/// One number, flag or text, or the head of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) bits: u64,
    /// Tokens of this value, this one included.
    pub(super) size: u32,
    pub(super) kind: Kind,
}

impl Token {
    pub(super) const UNIT: Token = Token { bits: 0, size: 1, kind: Kind::Unit };

    pub(super) fn leaf(kind: Kind, bits: u64) -> Token {
        Token { bits, size: 1, kind }
    }

    /// Of a group, how many children.
    #[inline]
    pub(super) fn count(self) -> usize {
        match self.kind {
            Kind::Seq | Kind::Tuple | Kind::Map => self.bits as usize,
            Kind::Variant => (self.bits >> 32) as usize,
            Kind::Some => 1,
            _ => 0,
        }
    }

    /// Of a variant, which.
    pub(super) fn index(self) -> u32 {
        self.bits as u32
    }

    /// Whether its bits say where something lies.
    #[inline]
    pub(super) fn is_stored(self) -> bool {
        matches!(self.kind, Kind::Str | Kind::Bytes)
    }
}

/// A value as tokens. Writing another into it keeps the memory; without a value it is empty.
#[derive(Debug, Default)]
pub struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) bytes: Vec<u8>,
}

impl Tokens {
    /// Without a value.
    pub fn new() -> Tokens {
        Tokens::default()
    }

    /// Forgets its value but not its memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
    }

    /// How many tokens.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many bytes of text and blobs.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the place of what was there; on an error it is empty.
    pub fn write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TokenError> {
        self.clear();
        let written = write::write(self, value);
        if written.is_err() {
            self.clear();
        }
        written
    }

    /// The value, if it is of this type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, TokenError> {
        read::read(self)
    }

    #[inline]
    pub(super) fn at(&self, at: usize) -> Token {
        self.list.get(at).copied().unwrap_or(Token::UNIT)
    }

    /// The bytes of a text or blob.
    #[inline]
    pub(super) fn stored(&self, token: Token) -> &[u8] {
        let (from, len) = ((token.bits >> 32) as usize, token.bits as u32 as usize);
        self.bytes.get(from..from.saturating_add(len)).unwrap_or(&[])
    }

    /// Whether two tokens say the same; of groups only the heads.
    #[inline]
    pub(super) fn is_same(&self, at: usize, other: &Tokens, there: usize) -> bool {
        let (a, b) = (self.at(at), other.at(there));
        a.kind == b.kind && (a.bits == b.bits && !a.is_stored() || a.is_stored() && self.stored(a) == other.stored(b))
    }

    /// How many tokens of two values agree before the first that does not. Heads agree if they have as many children,
    /// so that up to there both have the same shape, and two values that agree all along are equal.
    #[inline]
    pub(super) fn common(&self, at: usize, other: &Tokens, there: usize) -> usize {
        let most = self.at(at).size.min(other.at(there).size) as usize;
        let (a, b) = (self.list.get(at..at + most), other.list.get(there..there + most));
        let (a, b) = (a.unwrap_or(&[]), b.unwrap_or(&[]));
        let differs = |(x, y): (&Token, &Token)| {
            x.kind != y.kind || if x.is_stored() { self.stored(*x) != other.stored(*y) } else { x.bits != y.bits }
        };
        a.iter().zip(b).position(differs).unwrap_or(most)
    }
}

impl Clone for Tokens {
    fn clone(&self) -> Tokens {
        Tokens { list: self.list.clone(), bytes: self.bytes.clone() }
    }

    fn clone_from(&mut self, from: &Tokens) {
        self.list.clone_from(&from.list);
        self.bytes.clone_from(&from.bytes);
    }
}

/// Equal bit for bit: a value that is not a number equals itself, zero does not equal minus zero.
impl PartialEq for Tokens {
    fn eq(&self, other: &Tokens) -> bool {
        self.len() == other.len() && (self.is_empty() || self.common(0, other, 0) == self.len())
    }
}

#[cfg(test)]
mod tests;
