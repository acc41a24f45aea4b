//! The values of a row's attributes. Up to sixteen attributes, enough for most controllers, are stored in the row
//! itself.

use super::Attr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut};

/// Number of values that are stored in the row.
const INLINE: usize = 16;

/// The values, by slot.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Values {
    /// All values, if the row has more than [`INLINE`]. A thin pointer, because its cache line is full.
    #[allow(clippy::box_collection)]
    more: Option<Box<Vec<Attr>>>,
    len: u32,
    inline: [Attr; INLINE],
}

impl From<&[Attr]> for Values {
    fn from(list: &[Attr]) -> Values {
        let mut inline = [Attr { base: 0.0, current: 0.0 }; INLINE];
        let more = match inline.get_mut(..list.len()) {
            Some(place) => {
                place.copy_from_slice(list);
                None
            }
            None => Some(Box::new(list.to_vec())),
        };
        Values { more, len: list.len() as u32, inline }
    }
}

impl Deref for Values {
    type Target = [Attr];

    #[inline(always)]
    fn deref(&self) -> &[Attr] {
        match &self.more {
            None => &self.inline[..self.len as usize],
            Some(all) => all,
        }
    }
}

impl DerefMut for Values {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Attr] {
        match &mut self.more {
            None => &mut self.inline[..self.len as usize],
            Some(all) => all,
        }
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Values, D::Error> {
        Ok(Values::from(&*Vec::deserialize(from)?))
    }
}
