//! A serializer that hashes any serializable value without allocating. The same value has the same hash on every
//! machine.

use crate::rng::fold;
use serde::Serialize;
use serde::ser::{self, Serializer};

/// Returns the hash of a value.
pub(crate) fn digest(value: &impl Serialize) -> u64 {
    let mut hash = Digest(7);
    // Writing into a hash cannot fail. A value that fails to serialize is hashed up to the failure.
    let _ = value.serialize(&mut hash);
    hash.0
}

struct Digest(u64);

impl Digest {
    fn put(&mut self, word: u64) -> Result<(), DigestError> {
        self.0 = fold(self.0, word);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), DigestError> {
        self.put(bytes.len() as u64)?;
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.put(u64::from_le_bytes(word))?;
        }
        Ok(())
    }
}

/// An error that never occurs.
#[derive(Debug)]
struct DigestError;

impl std::fmt::Display for DigestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value cannot be hashed")
    }
}
impl std::error::Error for DigestError {}
impl ser::Error for DigestError {
    fn custom<T: std::fmt::Display>(_: T) -> DigestError {
        DigestError
    }
}

macro_rules! words {
    ($($name:ident $kind:ty),*) => {$(
        fn $name(self, v: $kind) -> Result<(), DigestError> {
            self.put(v as u64)
        }
    )*};
}

impl Serializer for &mut Digest {
    type Ok = ();
    type Error = DigestError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    words!(
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_char char
    );

    fn serialize_f32(self, v: f32) -> Result<(), DigestError> {
        self.put((v + 0.0).to_bits() as u64)
    }
    fn serialize_f64(self, v: f64) -> Result<(), DigestError> {
        self.put((v + 0.0).to_bits())
    }
    fn serialize_str(self, v: &str) -> Result<(), DigestError> {
        self.bytes(v.as_bytes())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<(), DigestError> {
        self.bytes(v)
    }
    fn serialize_none(self) -> Result<(), DigestError> {
        self.put(0)
    }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), DigestError> {
        self.put(1)?;
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), DigestError> {
        self.put(0)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), DigestError> {
        self.put(0)
    }
    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), DigestError> {
        self.put(index as u64)
    }
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), DigestError> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), DigestError> {
        self.put(index as u64)?;
        value.serialize(self)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Self, DigestError> {
        self.put(len.unwrap_or(0) as u64)?;
        Ok(self)
    }
    fn serialize_tuple(self, _: usize) -> Result<Self, DigestError> {
        Ok(self)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, DigestError> {
        Ok(self)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, DigestError> {
        self.put(index as u64)?;
        Ok(self)
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Self, DigestError> {
        self.put(len.unwrap_or(0) as u64)?;
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, DigestError> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, DigestError> {
        self.put(index as u64)?;
        Ok(self)
    }
}

macro_rules! parts {
    ($($kind:ident $method:ident),*) => {$(
        impl ser::$kind for &mut Digest {
            type Ok = ();
            type Error = DigestError;
            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), DigestError> {
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), DigestError> {
                Ok(())
            }
        }
    )*};
}
parts!(
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

macro_rules! fields {
    ($($kind:ident),*) => {$(
        impl ser::$kind for &mut Digest {
            type Ok = ();
            type Error = DigestError;
            fn serialize_field<T: ?Sized + Serialize>(&mut self, _: &'static str, value: &T) -> Result<(), DigestError> {
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), DigestError> {
                Ok(())
            }
        }
    )*};
}
fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for &mut Digest {
    type Ok = ();
    type Error = DigestError;
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), DigestError> {
        key.serialize(&mut **self)
    }
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), DigestError> {
        value.serialize(&mut **self)
    }
    fn end(self) -> Result<(), DigestError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn distinguishes_values_but_not_signed_zeros() {
        assert_eq!(digest(&(1u8, "ab", 0.0f64)), digest(&(1u8, "ab", -0.0f64)));
        assert_ne!(digest(&vec![1u32, 2]), digest(&vec![2u32, 1]));
        assert_ne!(digest(&(vec![1u8], vec![2u8])), digest(&(vec![1u8, 2], Vec::<u8>::new())));
        assert_ne!(digest(&Some(0u8)), digest(&None::<u8>));
    }
}
