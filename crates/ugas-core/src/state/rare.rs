//! A list that most rows do not have: one word while it is empty.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut};

/// A list behind one pointer.
#[derive(Clone, Debug)]
pub(crate) struct Rare<T>(#[allow(clippy::box_collection)] Option<Box<Vec<T>>>);

impl<T> Default for Rare<T> {
    fn default() -> Rare<T> {
        Rare(None)
    }
}

impl<T> Rare<T> {
    /// The list, to change; made if there is none.
    pub(crate) fn list(&mut self) -> &mut Vec<T> {
        self.0.get_or_insert_default()
    }
}

impl<T> Deref for Rare<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |list| list)
    }
}

impl<T> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut().map_or(&mut [], |list| list)
    }
}

impl<T: Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Rare<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Rare<T>, D::Error> {
        let list = Vec::deserialize(from)?;
        Ok(Rare(Some(list).filter(|l| !l.is_empty()).map(Box::new)))
    }
}
