//! An attribute's two values, and the modifiers that act on current.

use crate::ChannelId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use ugas_doc::Operation;

/// Permanent base and computed current.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attr {
    pub(crate) base: f64,
    pub(crate) current: f64,
}

/// Set while the effect is inhibited.
pub(crate) const OFF: u8 = 1;
/// Set while the modifier's tag filter does not hold.
pub(crate) const FILTERED: u8 = 2;
/// Set while a live magnitude is not finite and contributes nothing.
pub(crate) const NOT_FINITE: u8 = 4;

/// One modifier on a row. A row keeps them sorted by (slot, operation, channel, magnitude, effect, index), so that an
/// attribute's modifiers lie together and sums come out the same however the set came about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mod {
    /// What is added, multiplied or set: the unit magnitude times the stacks.
    pub(crate) magnitude: f64,
    /// The effect's sequence number on this row.
    pub(crate) seq: u64,
    pub(crate) channel: ChannelId,
    pub(crate) slot: u16,
    /// Position among the definition's modifiers.
    pub(crate) index: u16,
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
    pub(crate) fn order(&self, other: &Mod) -> Ordering {
        (self.slot, self.op, self.channel)
            .cmp(&(other.slot, other.op, other.channel))
            .then_with(|| self.magnitude.total_cmp(&other.magnitude))
            .then_with(|| (self.seq, self.index).cmp(&(other.seq, other.index)))
    }
}
