//! State: a sim at one time, as plain data that can be cloned, hashed and serialized. The state contains everything
//! that a rollback restores. Derived data (agenda, reverse edges, layouts) is in [`index`](self) and is not hashed.

mod ability;
mod agenda;
mod attribute;
mod capability;
mod causes;
mod controllers;
mod definition;
mod digest;
mod effect;
mod hash;
mod index;
mod input;
mod row;
mod tag;
mod values;

pub(crate) use ability::{
    Activation, AppliedByClient, Cast, Charge, FAILS_BITS, Gcd, Grant, GrantMore, Play, SetGrant, Status, Task,
};
pub(crate) use agenda::Agenda;
pub(crate) use attribute::{Attr, FILTERED, Mod, ModOp, NOT_FINITE, OFF};
pub(crate) use capability::{Block, Capabilities, CapabilityRecord, DueRecords, RecordKey, Stage};
pub(crate) use causes::Causes;
pub use causes::{CauseLink, CauseWhat};
pub(crate) use controllers::Controllers;
pub(crate) use definition::{AbilityRef, Definition, Definitions, EffectRef};
pub(crate) use effect::{Cold, Due, Effect, EffectExtras, Frozen, FrozenEffect, Periodic, Queued, SEQ_BITS, TimerKind};
pub(crate) use index::{Index, LiveEdge};
pub use input::AxisValue;
pub(crate) use input::{Axis, BufferedPress, DIRECTIONS, DirectionChange, HeldInput, Inputs, QueuedPress, Tap};
pub(crate) use row::{CueCount, Row, RowExtras, alert};
pub(crate) use tag::{TagFlip, Tags};
pub(crate) use values::Values;
