//! Converts tokens to values. The tokens may come from a hostile peer: they are well-formed, but their values may be
//! anything.

use super::{Kind, Token, TokenError, Tokens};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor, value::U32Deserializer,
};
use std::fmt::Display;

impl de::Error for TokenError {
    fn custom<T: Display>(message: T) -> TokenError {
        TokenError::Value(message.to_string())
    }
}

pub(super) fn read<T: DeserializeOwned>(from: &Tokens) -> Result<T, TokenError> {
    T::deserialize(&mut Reader { from, at: 0 })
}

struct Reader<'t> {
    from: &'t Tokens,
    at: usize,
}

fn unexpected(found: Token, expected: &'static str) -> TokenError {
    TokenError::Unexpected { found: found.kind.name(), expected }
}

impl<'t> Reader<'t> {
    fn next(&mut self, expected: &'static str) -> Result<Token, TokenError> {
        let found = self.from.list.get(self.at).copied();
        let found = found.ok_or(TokenError::Unexpected { found: "the end", expected })?;
        self.at += 1;
        Ok(found)
    }

    /// Reads the sixteen bytes of a 128-bit number.
    fn wide(&mut self) -> Result<[u8; 16], TokenError> {
        let token = self.next("a wide number")?;
        let bytes = if token.kind == Kind::Bytes { self.from.stored(token) } else { &[] };
        bytes.try_into().map_err(|_| unexpected(token, "a wide number"))
    }

    /// Lets a visitor read the children of a group. Fails if it does not read all of them.
    fn group<V>(
        &mut self,
        count: usize,
        visit: impl FnOnce(&mut Members<'_, 't>) -> Result<V, TokenError>,
    ) -> Result<V, TokenError> {
        let mut members = Members { from: self, left: count };
        let value = visit(&mut members)?;
        match members.left {
            0 => Ok(value),
            left => Err(TokenError::LeftOver { left }),
        }
    }
}

/// Forwards methods that need no hint, since tokens have a kind.
macro_rules! as_any {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TokenError> {
            self.deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = TokenError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TokenError> {
        let token = self.next("a value")?;
        match token.kind {
            Kind::Unit => visitor.visit_unit(),
            Kind::None => visitor.visit_none(),
            Kind::Some => visitor.visit_some(self),
            Kind::Bool => visitor.visit_bool(token.bits != 0),
            Kind::Unsigned => visitor.visit_u64(token.bits),
            Kind::Signed => visitor.visit_i64(token.bits as i64),
            Kind::Float => visitor.visit_f64(f64::from_bits(token.bits)),
            Kind::Float32 => visitor.visit_f32(f32::from_bits(token.bits as u32)),
            Kind::Char => {
                let found = u32::try_from(token.bits).ok().and_then(char::from_u32);
                visitor.visit_char(found.ok_or_else(|| unexpected(token, "a Unicode character"))?)
            }
            Kind::Str => {
                let text = str::from_utf8(self.from.stored(token));
                visitor.visit_borrowed_str(text.map_err(|_| unexpected(token, "UTF-8 text"))?)
            }
            Kind::Bytes => visitor.visit_borrowed_bytes(self.from.stored(token)),
            Kind::Seq | Kind::Tuple => self.group(token.count(), |m| visitor.visit_seq(m)),
            Kind::Map => self.group(token.count(), |m| visitor.visit_map(m)),
            Kind::Variant => Err(unexpected(token, "anything else")),
        }
    }

    as_any! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option deserialize_unit deserialize_seq
        deserialize_map deserialize_identifier
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TokenError> {
        visitor.visit_u128(u128::from_le_bytes(self.wide()?))
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TokenError> {
        visitor.visit_i128(i128::from_le_bytes(self.wide()?))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TokenError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TokenError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TokenError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, TokenError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TokenError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TokenError> {
        let token = self.next("a variant")?;
        if let Kind::Variant = token.kind {
            visitor.visit_enum(VariantReader { from: self, token })
        } else {
            Err(unexpected(token, "a variant"))
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TokenError> {
        let token = self.next("a value")?;
        self.at += (token.size as usize).saturating_sub(1);
        visitor.visit_unit()
    }
}

/// The unread children of a group.
struct Members<'r, 't> {
    from: &'r mut Reader<'t>,
    left: usize,
}

impl<'de> SeqAccess<'de> for &mut Members<'_, 'de> {
    type Error = TokenError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, TokenError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.from).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de> {
    type Error = TokenError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TokenError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let pair = self.from.next("a pair")?;
        if pair.kind != Kind::Tuple || pair.count() != 2 {
            return Err(unexpected(pair, "a pair of key and value"));
        }
        seed.deserialize(&mut *self.from).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, TokenError> {
        seed.deserialize(&mut *self.from)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// A variant of an enum being read.
struct VariantReader<'r, 't> {
    from: &'r mut Reader<'t>,
    token: Token,
}

impl<'de> EnumAccess<'de> for VariantReader<'_, 'de> {
    type Error = TokenError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), TokenError> {
        let index: U32Deserializer<TokenError> = self.token.index().into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for VariantReader<'_, 'de> {
    type Error = TokenError;

    fn unit_variant(self) -> Result<(), TokenError> {
        self.from.group(self.token.count(), |_| Ok(()))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, TokenError> {
        let wanted = unexpected(self.token, "a variant with a value");
        self.from.group(self.token.count(), |m| SeqAccess::next_element_seed(&mut &mut *m, seed)?.ok_or(wanted))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TokenError> {
        self.from.group(self.token.count(), |m| visitor.visit_seq(m))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, TokenError> {
        self.from.group(self.token.count(), |m| visitor.visit_seq(m))
    }
}
