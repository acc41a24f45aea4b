//! The actors and capability sets of a remote actor, and their encoding.

use super::code::Cx;
use super::marks::{Item, Mark};
use crate::wire::bits::{BitReader, BitWriter, WireError};
use crate::wire::number::{get_uint_to, put_uint};
use ugas_core::{AbilitySetId, ActorId, Holding};

/// The largest number of a capability set.
const MAX_NUMBER: u64 = u32::MAX as u64;

/// The numbers by which observers know the capability sets of a controller, in the order in which the sets were added.
/// The handle of a set counts everything that the controller got before, also what is hidden from observers.
#[derive(Clone, Debug, Default)]
pub(super) struct SetNumbers {
    /// Handle and number of each set.
    known: Vec<(u64, u64)>,
    next: u64,
}

impl SetNumbers {
    /// Replaces the handles of sets by their numbers. A new set gets the next number.
    pub(super) fn replace_handles(&mut self, holdings: &mut [Holding]) {
        let is_of = |holding: &Holding, known: u64| matches!(holding, Holding::Set { handle, .. } if *handle == known);
        self.known.retain(|known| holdings.iter().any(|holding| is_of(holding, known.0)));
        for holding in holdings {
            let Holding::Set { handle, .. } = holding else { continue };
            let known = self.known.iter().find(|known| known.0 == *handle).map(|known| known.1);
            let number = known.unwrap_or_else(|| {
                self.known.push((*handle, self.next));
                self.next += 1;
                self.next - 1
            });
            *handle = number;
        }
    }
}

impl Item for Holding {
    type Key = (u8, u64);
    fn key(&self) -> (u8, u64) {
        match *self {
            Holding::Owner(_) => (0, 0),
            Holding::Avatar(_) => (1, 0),
            Holding::Set { handle, .. } => (2, handle),
            Holding::LocalSet { index, .. } => (3, index as u64),
        }
    }
}

impl Cx<'_> {
    pub(super) fn put_holding(&self, out: &mut BitWriter, mark: &Mark<Holding>) {
        let (kind, number) = mark.item.key();
        out.bit(mark.on);
        out.bits(kind as u64, 2);
        match mark.item {
            Holding::Owner(actor) | Holding::Avatar(actor) => {
                if mark.on {
                    out.bits(actor.0, 64);
                }
            }
            Holding::Set { set, .. } | Holding::LocalSet { set, .. } => {
                put_uint(out, number);
                if mark.on {
                    put_uint(out, set.0 as u64);
                }
            }
        }
    }

    pub(super) fn get_holding(&self, from: &mut BitReader) -> Result<Mark<Holding>, WireError> {
        let on = from.bit()?;
        let actor = |from: &mut BitReader| match on {
            true => from.bits(64).map(ActorId),
            false => Ok(ActorId::NONE),
        };
        let set = |from: &mut BitReader| {
            let set = match on {
                true => AbilitySetId(get_uint_to(from, u32::MAX as u64, "a capability set")? as u32),
                false => return Ok(AbilitySetId(0)),
            };
            let is_known = self.rules.has_capabilities(set);
            if is_known { Ok(set) } else { Err(WireError::BadValue { what: "a capability set" }) }
        };
        let item = match from.bits(2)? {
            0 => Holding::Owner(actor(from)?),
            1 => Holding::Avatar(actor(from)?),
            2 => Holding::Set { handle: get_uint_to(from, MAX_NUMBER, "a capability set")?, set: set(from)? },
            _ => {
                let index = get_uint_to(from, u16::MAX as u64, "a capability set")? as u16;
                Holding::LocalSet { index, set: set(from)? }
            }
        };
        Ok(Mark { item, on, at: self.tick })
    }
}
