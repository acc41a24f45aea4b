//! An attribute's two values, and the modifiers of its current value.

use crate::ChannelId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use ugas_doc::Operation;

/// The permanent base value and the computed current value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attr {
    pub(crate) base: f64,
    pub(crate) current: f64,
}

/// Set while the effect is inhibited.
pub(crate) const OFF: u8 = 1;
/// Set while the modifier's tag filter is not met.
pub(crate) const FILTERED: u8 = 2;
/// Set while a live magnitude is not finite and contributes nothing.
pub(crate) const NOT_FINITE: u8 = 4;

/// One modifier on a row. A row keeps its modifiers sorted by (slot, operation, channel, magnitude, effect, index), so
/// that those of one attribute are adjacent and sums do not depend on the order of application.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mod {
    /// The value to add, multiply or set: the magnitude per stack times the stacks.
    pub(crate) magnitude: f64,
    /// The sequence number of the effect. The low 16 bits are the index among the modifiers of the effect's definition.
    pub(crate) seq_index: u64,
    pub(crate) channel: ChannelId,
    pub(crate) slot: u16,
    pub(crate) op: ModOp,
    pub(crate) off: u8,
}

/// The operation in pipeline order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum ModOp {
    Add,
    Multiply,
    AddPost,
    Override,
}

impl From<Operation> for ModOp {
    fn from(op: Operation) -> ModOp {
        match op {
            Operation::Add => ModOp::Add,
            Operation::Multiply => ModOp::Multiply,
            Operation::AddPost => ModOp::AddPost,
            Operation::Override => ModOp::Override,
        }
    }
}

impl Mod {
    #[inline]
    pub(crate) fn new(seq: u64, index: u16, slot: usize, op: ModOp, channel: ChannelId, magnitude: f64) -> Mod {
        Mod { magnitude, seq_index: seq << 16 | index as u64, channel, slot: slot as u16, op, off: 0 }
    }

    /// Returns the sequence number of the effect.
    #[inline]
    pub(crate) fn seq(&self) -> u64 {
        self.seq_index >> 16
    }

    /// Returns the index among the definition's modifiers.
    #[inline]
    pub(crate) fn index(&self) -> u16 {
        self.seq_index as u16
    }

    /// Returns slot, operation and channel as one number.
    #[inline]
    fn rank(&self) -> u64 {
        (self.slot as u64) << 48 | (self.op as u64) << 32 | self.channel.0 as u64
    }

    #[inline]
    pub(crate) fn order(&self, other: &Mod) -> Ordering {
        (self.rank().cmp(&other.rank()))
            .then_with(|| self.magnitude.total_cmp(&other.magnitude))
            .then_with(|| self.seq_index.cmp(&other.seq_index))
    }
}
