//! Converts values to tokens.

use super::{Kind, MAX_DEPTH, Token, TokenError, Tokens};
use serde::ser::{self, Serialize};
use std::fmt::Display;

impl ser::Error for TokenError {
    fn custom<T: Display>(message: T) -> TokenError {
        TokenError::Value(message.to_string())
    }
}

pub(super) fn write<T: Serialize + ?Sized>(into: &mut Tokens, value: &T) -> Result<(), TokenError> {
    value.serialize(&mut Writer { into, depth: 0 })?;
    if into.len() > u32::MAX as usize { Err(TokenError::TooLarge) } else { Ok(()) }
}

struct Writer<'t> {
    into: &'t mut Tokens,
    depth: usize,
}

impl Writer<'_> {
    #[inline]
    fn leaf(&mut self, kind: Kind, bits: u64) -> Result<(), TokenError> {
        self.into.list.push(Token::leaf(kind, bits));
        Ok(())
    }

    fn store(&mut self, kind: Kind, bytes: &[u8]) -> Result<(), TokenError> {
        let from = self.into.bytes.len();
        if from + bytes.len() > u32::MAX as usize {
            return Err(TokenError::TooLarge);
        }
        self.into.bytes.extend_from_slice(bytes);
        self.leaf(kind, (from as u64) << 32 | bytes.len() as u64)
    }

    /// Starts a group. Returns the position of its head.
    fn open(&mut self, kind: Kind, bits: u64) -> Result<usize, TokenError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TokenError::TooDeep);
        }
        self.into.list.push(Token::leaf(kind, bits));
        Ok(self.into.len() - 1)
    }

    fn close(&mut self, head: usize) {
        self.depth -= 1;
        let size = self.into.len() - head;
        if let Some(token) = self.into.list.get_mut(head) {
            token.size = size.min(u32::MAX as usize) as u32;
        }
    }
}

/// A group being written.
struct Group<'w, 't> {
    to: &'w mut Writer<'t>,
    head: usize,
    /// The key-value pair of a map being written.
    pair: usize,
    count: u64,
}

impl<'w, 't> Group<'w, 't> {
    fn new(to: &'w mut Writer<'t>, kind: Kind, bits: u64) -> Result<Group<'w, 't>, TokenError> {
        let head = to.open(kind, bits)?;
        Ok(Group { to, head, pair: 0, count: 0 })
    }

    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TokenError> {
        self.count += 1;
        value.serialize(&mut *self.to)
    }

    fn close(self) -> Result<(), TokenError> {
        if self.count > u32::MAX as u64 {
            return Err(TokenError::TooLarge);
        }
        if let Some(token) = self.to.into.list.get_mut(self.head) {
            token.bits |= if token.kind == Kind::Variant { self.count << 32 } else { self.count };
        }
        self.to.close(self.head);
        Ok(())
    }
}

/// Implements the methods of number types that fit into 64 bits.
macro_rules! leaves {
    ($($method:ident $type:ty, $kind:ident, $bits:expr;)*) => {
        $(#[inline]
        fn $method(self, v: $type) -> Result<(), TokenError> {
            let bits: fn($type) -> u64 = $bits;
            self.leaf(Kind::$kind, bits(v))
        })*
    };
}

impl<'w, 't> ser::Serializer for &'w mut Writer<'t> {
    type Ok = ();
    type Error = TokenError;
    type SerializeSeq = Group<'w, 't>;
    type SerializeTuple = Group<'w, 't>;
    type SerializeTupleStruct = Group<'w, 't>;
    type SerializeTupleVariant = Group<'w, 't>;
    type SerializeMap = Group<'w, 't>;
    type SerializeStruct = Group<'w, 't>;
    type SerializeStructVariant = Group<'w, 't>;

    leaves! {
        serialize_bool bool, Bool, |v| v as u64;
        serialize_u8 u8, Unsigned, |v| v as u64;
        serialize_u16 u16, Unsigned, |v| v as u64;
        serialize_u32 u32, Unsigned, |v| v as u64;
        serialize_u64 u64, Unsigned, |v| v;
        serialize_i8 i8, Signed, |v| v as u64;
        serialize_i16 i16, Signed, |v| v as u64;
        serialize_i32 i32, Signed, |v| v as u64;
        serialize_i64 i64, Signed, |v| v as u64;
        serialize_f32 f32, Float32, |v| v.to_bits() as u64;
        serialize_f64 f64, Float, |v| v.to_bits();
        serialize_char char, Char, |v| v as u64;
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_u128(self, v: u128) -> Result<(), TokenError> {
        self.store(Kind::Bytes, &v.to_le_bytes())
    }

    fn serialize_i128(self, v: i128) -> Result<(), TokenError> {
        self.store(Kind::Bytes, &v.to_le_bytes())
    }

    fn serialize_str(self, v: &str) -> Result<(), TokenError> {
        self.store(Kind::Str, v.as_bytes())
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), TokenError> {
        self.store(Kind::Bytes, v)
    }

    fn serialize_none(self) -> Result<(), TokenError> {
        self.leaf(Kind::None, 0)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), TokenError> {
        let head = self.open(Kind::Some, 0)?;
        value.serialize(&mut *self)?;
        self.close(head);
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), TokenError> {
        self.leaf(Kind::Unit, 0)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), TokenError> {
        self.leaf(Kind::Unit, 0)
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), TokenError> {
        self.leaf(Kind::Variant, index as u64)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), TokenError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), TokenError> {
        let mut group = Group::new(self, Kind::Variant, index as u64)?;
        group.member(value)?;
        group.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Group<'w, 't>, TokenError> {
        Group::new(self, Kind::Seq, 0)
    }

    fn serialize_tuple(self, _: usize) -> Result<Group<'w, 't>, TokenError> {
        Group::new(self, Kind::Tuple, 0)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Group<'w, 't>, TokenError> {
        Group::new(self, Kind::Tuple, 0)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Group<'w, 't>, TokenError> {
        Group::new(self, Kind::Variant, index as u64)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Group<'w, 't>, TokenError> {
        Group::new(self, Kind::Map, 0)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Group<'w, 't>, TokenError> {
        Group::new(self, Kind::Tuple, 0)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Group<'w, 't>, TokenError> {
        Group::new(self, Kind::Variant, index as u64)
    }
}

/// Implements the traits of groups whose members have no key.
macro_rules! groups {
    ($($trait:ident $method:ident)*) => {
        $(impl ser::$trait for Group<'_, '_> {
            type Ok = ();
            type Error = TokenError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TokenError> {
                self.member(value)
            }

            fn end(self) -> Result<(), TokenError> {
                self.close()
            }
        })*
    };
}

groups! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// Implements the traits of groups with named members; the names are not written.
macro_rules! named_groups {
    ($($trait:ident)*) => {
        $(impl ser::$trait for Group<'_, '_> {
            type Ok = ();
            type Error = TokenError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), TokenError> {
                self.member(value)
            }

            fn end(self) -> Result<(), TokenError> {
                self.close()
            }
        })*
    };
}

named_groups! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Group<'_, '_> {
    type Ok = ();
    type Error = TokenError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), TokenError> {
        self.pair = self.to.open(Kind::Tuple, 2)?;
        self.member(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TokenError> {
        value.serialize(&mut *self.to)?;
        self.to.close(self.pair);
        Ok(())
    }

    fn end(self) -> Result<(), TokenError> {
        self.close()
    }
}
