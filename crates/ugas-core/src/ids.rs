//! Ids: small integers with one type per kind, so that the compiler rejects an id of the wrong kind. `kinds.rs` defines
//! the id types of definitions.
//!
//! When rules are built, every name gets an id: 0, 1, 2 and so on within its kind.
//! [`RulesBuilder::after`](crate::RulesBuilder::after) keeps the ids of older rules and assigns new ids only to new
//! names. Effects and abilities that are defined at run time are part of the sim's state; their ids have
//! [`RUNTIME_BIT`] set.
//!
//! `Display` prints the kind and the number (`effect 3`). `describe` returns the name in the rules.

use crate::{AbilityId, EffectId, InputId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The bit that is set in the ids of run-time definitions.
pub const RUNTIME_BIT: u32 = 1 << 31;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(transparent)]
        pub struct $name(pub u32);
        impl $name {
            /// Returns the id as an index into a dense table.
            #[inline]
            pub fn index(self) -> usize { self.0 as usize }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($what, " {}"), self.0)
            }
        }
    )*};
}
pub(crate) use ids;
ids! {
    /// A channel of Multiply modifiers. The id is a hash of the channel's name and does not depend on load order.
    ChannelId "channel";
    /// A controller. Ids are ascending and never reused.
    ControllerId "controller";
    /// A granted ability of one controller. Ids are ascending and never reused.
    GrantId "grant";
    /// A global cooldown group or an activation group. The id is a hash of the group's name.
    GroupId "group";
    /// A parameter or a restriction of a granted ability, or an entry of an event's payload. The id is a hash of the
    /// name.
    ParamId "parameter";
}

macro_rules! described {
    ($($name:ident $lookup:ident;)*) => {$(
        impl $name {
            /// Returns the name in these rules, or the kind and number (`effect 3`) if the rules have no name for the
            /// id.
            pub fn describe(self, rules: &crate::Rules) -> String {
                rules.$lookup(self).map_or_else(|| self.to_string(), str::to_owned)
            }
        }
    )*};
}
pub(crate) use described;
described! {
    GroupId group_name;
    ParamId param_name;
}

macro_rules! hashed {
    ($($name:ident)*) => {$(
        impl $name {
            /// Returns the id of a name.
            pub fn named(name: &str) -> $name {
                let h = fnv64(name.as_bytes());
                $name(((h ^ (h >> 32)) as u32).max(1))
            }
        }
    )*};
}
hashed!(ChannelId GroupId ParamId);

/// An id with a value that means "none".
pub(crate) trait Absent: Copy + PartialEq {
    const ABSENT: Self;
}

/// Serializes an optional id as the id itself, so that `None` needs no extra byte. Formats for people, such as JSON, also
/// accept `null`.
pub(crate) mod or_none {
    use super::{Absent, Deserialize, Serialize};

    pub(crate) fn serialize<T: Absent + Serialize, S: serde::Serializer>(
        id: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        id.unwrap_or(T::ABSENT).serialize(to)
    }

    pub(crate) fn deserialize<'de, T: Absent + Deserialize<'de>, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let id = if from.is_human_readable() { Option::deserialize(from)? } else { Some(T::deserialize(from)?) };
        Ok(id.filter(|id| *id != T::ABSENT))
    }
}

/// Adds `some` to ids with a `NONE` value. Facts, specs and records store `NONE` instead of an `Option`, because they
/// are written for every hit and an `Option` would make them larger. Views and arguments use `Option`.
macro_rules! optional {
    ($($name:ident)*) => {$(
        impl $name {
            #[doc = concat!("Returns the value, or `None` for [`", stringify!($name), "::NONE`].")]
            #[inline]
            pub fn some(self) -> Option<$name> {
                (self != $name::NONE).then_some(self)
            }
        }
        impl Absent for $name {
            const ABSENT: $name = $name::NONE;
        }
    )*};
}
optional!(ControllerId EffectId AbilityId InputId ChannelId ActorId EffectKey ActivationKey TaskKey);

impl ControllerId {
    /// No controller.
    pub const NONE: ControllerId = ControllerId(u32::MAX);
}
impl EffectId {
    /// No effect.
    pub const NONE: EffectId = EffectId(u32::MAX);

    /// Returns whether the id belongs to a run-time definition.
    pub fn is_runtime(self) -> bool {
        self.0 & RUNTIME_BIT != 0 && self != EffectId::NONE
    }
}
impl AbilityId {
    /// No ability.
    pub const NONE: AbilityId = AbilityId(u32::MAX);

    /// Returns whether the id belongs to a run-time definition.
    pub fn is_runtime(self) -> bool {
        self.0 & RUNTIME_BIT != 0 && self != AbilityId::NONE
    }
}
impl InputId {
    /// No input.
    pub const NONE: InputId = InputId(u32::MAX);
}
/// The ids of channels, groups and parameters are hashes of their names. They do not depend on load order.
///
/// ```
/// use ugas_core::ChannelId;
/// assert_eq!(ChannelId::named("Gear"), ChannelId::named("Gear"));
/// assert_ne!(ChannelId::named("Gear"), ChannelId::NONE);
/// ```
impl ChannelId {
    /// No channel. Each modifier without a channel is multiplied separately.
    pub const NONE: ChannelId = ChannelId(0);
}

/// An actor of the host's world, used as owner or avatar of a controller. The host assigns the number.
///
/// ```
/// use ugas_core::ActorId;
/// assert_eq!(ActorId::named("Hero_01"), ActorId::named("Hero_01"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(transparent)]
pub struct ActorId(pub u64);

impl ActorId {
    /// No actor.
    pub const NONE: ActorId = ActorId(0);

    /// Returns the id of an actor that documents refer to by name: a hash of the name.
    pub fn named(name: &str) -> ActorId {
        ActorId(fnv64(name.as_bytes()).max(1))
    }
}

/// The id of an op: the client, the input frame (the tick, in a session) and a number within that frame. Client 0 is the
/// server or a single-player sim.
///
/// ```
/// use ugas_core::OpId;
/// let id = OpId::new(3, 7, 1);
/// assert_eq!((id.client(), id.base(), id.sub()), (3, 7, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(transparent)]
pub struct OpId(pub u64);

impl OpId {
    /// Creates an id from its parts.
    pub fn new(client: u16, base: u32, sub: u16) -> OpId {
        OpId((client as u64) << 48 | (base as u64) << 16 | sub as u64)
    }
    /// Returns the number of the client that sent the op. 0 is the server or a single-player sim.
    pub fn client(self) -> u16 {
        (self.0 >> 48) as u16
    }
    /// Returns the input frame. In a session, this is the tick, and the rolls of the op use the seed of the tick.
    pub fn base(self) -> u32 {
        (self.0 >> 16) as u32
    }
    /// Returns the number of the op in its input frame.
    pub fn sub(self) -> u16 {
        self.0 as u16
    }
}

/// The identity of one application of an effect. The key is computed from the cause of the application, so client and
/// server compute the same key. Keys are not reused: a call with the key of an ended effect is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct EffectKey {
    /// The id of the op that caused the application, or a hash of the parent effect's key and the trigger.
    pub origin_id: u64,
    /// The controller that the effect is applied to.
    pub target: ControllerId,
    /// The index of this application among all applications with the same origin id and target.
    pub ordinal: u32,
}

impl EffectKey {
    /// No effect.
    pub const NONE: EffectKey = EffectKey { origin_id: u64::MAX, target: ControllerId::NONE, ordinal: u32::MAX };
}

/// The identity of one activation of an ability. Like an [`EffectKey`], it is computed from the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct ActivationKey {
    /// The id of the op that caused the activation, or a hash of the cause.
    pub origin_id: u64,
    /// The controller that owns the ability.
    pub who: ControllerId,
    /// The index of this activation among all activations with the same origin id and controller.
    pub ordinal: u32,
}

impl ActivationKey {
    /// No activation.
    pub const NONE: ActivationKey = ActivationKey { origin_id: u64::MAX, who: ControllerId::NONE, ordinal: u32::MAX };
}

/// The identity of a waiting task. The host passes it back with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct TaskKey {
    /// The sequence number of the task; unique on its controller.
    pub seq: u64,
    /// The controller.
    pub who: ControllerId,
}

impl TaskKey {
    /// No task.
    pub const NONE: TaskKey = TaskKey { seq: 0, who: ControllerId::NONE };
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "actor {:016x}", self.0)
    }
}
impl fmt::Display for OpId {
    /// Prints `op 12` for an op of the sim itself and `op 3:7.1` for client 3, frame 7, position 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.client() {
            0 => write!(f, "op {}", self.0),
            client => write!(f, "op {client}:{}.{}", self.base(), self.sub()),
        }
    }
}
impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "effect {:x}.{} on {}", self.origin_id, self.ordinal, self.target)
    }
}
impl fmt::Display for ActivationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "activation {:x}.{} of {}", self.origin_id, self.ordinal, self.who)
    }
}
impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {} of {}", self.seq, self.who)
    }
}

/// Returns the FNV-1a hash of bytes.
pub(crate) fn fnv64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ b as u64).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rules;

    #[test]
    fn ids_are_written_with_their_kind_or_their_name() {
        let rules = Rules::builder().add(ugas_doc::Effect::instant("GE_Hit")).build().unwrap();
        let hit = rules.effect("GE_Hit").unwrap();
        assert_eq!((hit.describe(&rules), EffectId(900).describe(&rules)), ("GE_Hit".into(), "effect 900".into()));
        assert_eq!(ControllerId(4).to_string(), "controller 4");
        assert_eq!(OpId::new(3, 7, 1).to_string(), "op 3:7.1");
        let key = EffectKey { origin_id: 10, target: ControllerId(4), ordinal: 2 };
        assert_eq!(key.to_string(), "effect a.2 on controller 4");
    }
}
