//! The state of coded capabilities as bytes. A state has a fixed layout, so that reading and writing allocate nothing.

use crate::{AbilityId, ControllerId, EffectId, EffectKey, SimTime, TagId};

/// A value that a coded capability keeps between calls. Numbers, `bool`, ids, `Option`, arrays and tuples implement this
/// trait; [`capability_memory!`](crate::capability_memory) implements it for a struct of such values.
///
/// ```
/// use ugas_core::{CapabilityMemory, SimTime};
/// #[derive(Clone, Copy, Debug, Default, PartialEq)]
/// struct Jet {
///     fuel: f64,
///     since: Option<SimTime>,
/// }
/// ugas_core::capability_memory!(Jet { fuel, since });
///
/// let (mut bytes, jet) = (Vec::new(), Jet { fuel: 0.5, since: None });
/// jet.write(&mut bytes);
/// assert_eq!(Jet::read(&mut bytes.as_slice()), Some(jet));
/// ```
pub trait CapabilityMemory: Copy + Default {
    /// Appends the value to a list of bytes.
    fn write(&self, to: &mut Vec<u8>);

    /// Reads a value from the start of `from`, and removes its bytes. `None` if the bytes are no such value.
    fn read(from: &mut &[u8]) -> Option<Self>;
}

/// Implements [`CapabilityMemory`] for a struct. The list must name every field.
#[macro_export]
macro_rules! capability_memory {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::CapabilityMemory for $name {
            fn write(&self, to: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($crate::CapabilityMemory::write($field, to);)*
            }
            fn read(from: &mut &[u8]) -> Option<$name> {
                Some($name { $($field: $crate::CapabilityMemory::read(from)?),* })
            }
        }
    };
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl CapabilityMemory for $type {
            fn write(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            fn read(from: &mut &[u8]) -> Option<$type> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$type>::from_le_bytes(*bytes))
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl CapabilityMemory for () {
    fn write(&self, _: &mut Vec<u8>) {}

    fn read(_: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

impl CapabilityMemory for bool {
    fn write(&self, to: &mut Vec<u8>) {
        (*self as u8).write(to);
    }

    fn read(from: &mut &[u8]) -> Option<bool> {
        match u8::read(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl CapabilityMemory for SimTime {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }

    fn read(from: &mut &[u8]) -> Option<SimTime> {
        i64::read(from).map(SimTime)
    }
}

impl<T: CapabilityMemory> CapabilityMemory for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(from: &mut &[u8]) -> Option<Option<T>> {
        if bool::read(from)? { T::read(from).map(Some) } else { Some(None) }
    }
}

impl<T: CapabilityMemory, const N: usize> CapabilityMemory for [T; N]
where
    [T; N]: Default,
{
    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.write(to));
    }

    fn read(from: &mut &[u8]) -> Option<[T; N]> {
        let mut all = <[T; N]>::default();
        for value in &mut all {
            *value = T::read(from)?;
        }
        Some(all)
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        #[allow(non_snake_case, reason = "the names of the types also name the values")]
        impl<$($name: CapabilityMemory),*> CapabilityMemory for ($($name,)*) {
            fn write(&self, to: &mut Vec<u8>) {
                let ($($name,)*) = self;
                $($name.write(to);)*
            }
            fn read(from: &mut &[u8]) -> Option<Self> {
                Some(($($name::read(from)?,)*))
            }
        }
    )*};
}
tuples!((A)(A B)(A B C)(A B C D)(A B C D E)(A B C D E F));

/// Ids have no default, so they are stored inside an `Option`.
macro_rules! optional_ids {
    ($($id:ident)*) => {$(
        impl CapabilityMemory for Option<$id> {
            fn write(&self, to: &mut Vec<u8>) {
                self.map_or(u32::MAX, |id| id.0).write(to);
            }
            fn read(from: &mut &[u8]) -> Option<Option<$id>> {
                u32::read(from).map(|id| (id != u32::MAX).then_some($id(id)))
            }
        }
    )*};
}
optional_ids!(ControllerId EffectId AbilityId TagId);

impl CapabilityMemory for Option<EffectKey> {
    fn write(&self, to: &mut Vec<u8>) {
        let EffectKey { origin_id, target, ordinal } = self.unwrap_or(EffectKey::NONE);
        (origin_id, target.0, ordinal).write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Option<EffectKey>> {
        let (origin_id, target, ordinal) = CapabilityMemory::read(from)?;
        Some(EffectKey { origin_id, target: ControllerId(target), ordinal }.some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: CapabilityMemory + PartialEq + std::fmt::Debug>(value: T) -> usize {
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        let mut rest = bytes.as_slice();
        assert_eq!(T::read(&mut rest), Some(value));
        assert!(rest.is_empty());
        for short in 0..bytes.len() {
            assert_eq!(T::read(&mut &bytes[..short]), None, "{value:?} from {short} bytes");
        }
        bytes.len()
    }

    #[test]
    fn every_kind_of_value_is_read_as_it_was_written() {
        assert_eq!(round_trip((1u8, -2i64, 0.5f64)), 17);
        assert_eq!(round_trip((true, Some(SimTime(7)), None::<f32>)), 11);
        assert_eq!(round_trip([[1u16, 2], [3, 4]]), 8);
        assert_eq!(round_trip((Some(ControllerId(4)), None::<EffectId>)), 8);
        let key = EffectKey { origin_id: 1, target: ControllerId(2), ordinal: 3 };
        assert_eq!(round_trip((Some(key), None::<EffectKey>)), 32);
        assert_eq!(bool::read(&mut [2].as_slice()), None);
    }
}
