//! Any serialisable value as a flat list of tokens.
//!
//! The state of a controller consists of values of many types. A hand-written delta would have to be updated with each
//! change of these types. Instead a value is flattened to a list of tokens: each number, flag or text is one token, and
//! each group starts with a token that contains its size. Two lists of one type can be compared token by token, and
//! [`delta`](super::delta) writes one list relative to the other. Field names are left out, since client and server
//! have the same types. A type with fields that serde may skip (`skip_serializing_if`) cannot be read back.
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

/// The maximum nesting depth of a value.
pub const MAX_DEPTH: usize = 64;

/// Why a value could not be converted to tokens or back.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TokenError {
    /// An error of the value's own implementation of `Serialize` or `Deserialize`.
    #[error("{0}")]
    Value(String),
    /// The value is nested too deeply.
    #[error("the value is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// The value is too long for 32-bit lengths.
    #[error("the value has more than four billion parts or bytes")]
    TooLarge,
    /// The tokens belong to another type.
    #[error("expected {expected}, found {found}; client and server need the same types")]
    Unexpected {
        /// The kind of the token.
        found: &'static str,
        /// The kind that the type expects.
        expected: &'static str,
    },
    /// A group has more members than its type has fields.
    #[error("a group has {left} more members than its type expects; client and server need the same types")]
    LeftOver {
        /// The number of unread members.
        left: usize,
    },
}

/// The kind of a token.
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
    /// Text; its bits are the position and the length of the text in the byte list.
    Str,
    Bytes,
    /// A list; its bits are the number of children.
    Seq,
    /// A struct or tuple; its bits are the number of children.
    Tuple,
    /// A map; its bits are the number of children, each a tuple of key and value.
    Map,
    /// A variant of an enum; its bits are the index and the number of children.
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
            Kind::Unsigned | Kind::Signed => "an integer",
            Kind::Float | Kind::Float32 => "a float",
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

/// A number, flag or text, or the head of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) bits: u64,
    /// The number of tokens of this value, including this one.
    pub(super) size: u32,
    pub(super) kind: Kind,
}

impl Token {
    pub(super) const UNIT: Token = Token { bits: 0, size: 1, kind: Kind::Unit };

    pub(super) fn leaf(kind: Kind, bits: u64) -> Token {
        Token { bits, size: 1, kind }
    }

    /// Returns the number of children of a group.
    #[inline]
    pub(super) fn count(self) -> usize {
        match self.kind {
            Kind::Seq | Kind::Tuple | Kind::Map => self.bits as usize,
            Kind::Variant => (self.bits >> 32) as usize,
            Kind::Some => 1,
            Kind::Unit
            | Kind::None
            | Kind::Bool
            | Kind::Unsigned
            | Kind::Signed
            | Kind::Float
            | Kind::Float32
            | Kind::Char
            | Kind::Str
            | Kind::Bytes => 0,
        }
    }

    /// Returns the index of a variant.
    pub(super) fn index(self) -> u32 {
        self.bits as u32
    }

    /// Returns whether its bits are a location in the bytes.
    #[inline]
    pub(super) fn is_stored(self) -> bool {
        matches!(self.kind, Kind::Str | Kind::Bytes)
    }
}

/// A value as tokens; empty if there is no value. Writing another value reuses the memory.
#[derive(Debug, Default)]
pub struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) bytes: Vec<u8>,
}

impl Tokens {
    /// Creates an empty list.
    pub fn new() -> Tokens {
        Tokens::default()
    }

    /// Removes the value and keeps the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of bytes of texts and blobs.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Replaces the value. After an error the list is empty.
    pub fn write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TokenError> {
        self.clear();
        let written = write::write(self, value);
        if written.is_err() {
            self.clear();
        }
        written
    }

    /// Converts the tokens to a value of this type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, TokenError> {
        read::read(self)
    }

    #[inline]
    pub(super) fn at(&self, at: usize) -> Token {
        self.list.get(at).copied().unwrap_or(Token::UNIT)
    }

    /// Returns the bytes of a text or blob.
    #[inline]
    pub(super) fn stored(&self, token: Token) -> &[u8] {
        let (from, len) = ((token.bits >> 32) as usize, token.bits as u32 as usize);
        self.bytes.get(from..from.saturating_add(len)).unwrap_or(&[])
    }

    /// Returns whether two tokens are equal; of groups only the heads are compared.
    #[inline]
    pub(super) fn is_same(&self, at: usize, other: &Tokens, there: usize) -> bool {
        let (a, b) = (self.at(at), other.at(there));
        a.kind == b.kind && (a.bits == b.bits && !a.is_stored() || a.is_stored() && self.stored(a) == other.stored(b))
    }

    /// Returns the number of equal tokens before the first difference. Heads are equal if they have the same number of
    /// children, so the values have the same structure up to there.
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

/// Compares bit for bit: NaN equals itself, zero does not equal minus zero.
impl PartialEq for Tokens {
    fn eq(&self, other: &Tokens) -> bool {
        self.len() == other.len() && (self.is_empty() || self.common(0, other, 0) == self.len())
    }
}

#[cfg(test)]
mod tests;
