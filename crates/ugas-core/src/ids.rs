//! Ids: small typed integers, so that one kind cannot be confused with another.
//!
//! Definition ids are dense, assigned append-only by name when rules are built, and stable across rebuilds. The id of a
//! run-time definition has [`RUNTIME_BIT`] set; the definition is part of the sim's state.
//!
//! `Display` prints kind and number (`effect 3`); `describe` returns the name in the rules.

use crate::Rules;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Set in the id of a run-time definition.
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
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($what, " {}"), self.0)
            }
        }
    )*};
}
ids! {
    /// An attribute by name: `Health` in one set and `Health` in another share it.
    AttributeId "attribute";
    /// An attribute set.
    SetId "attribute set";
    /// A tag.
    TagId "tag";
    /// An effect definition.
    EffectId "effect";
    /// An ability definition.
    AbilityId "ability";
    /// A curve.
    CurveId "curve";
    /// A registered calculator.
    CalcId "calculation";
    /// A registered hook, requirement or validator.
    HookId "hook";
    /// A compiled controller template.
    TemplateId "controller template";
    /// A set-by-caller key.
    KeyId "set-by-caller key";
    /// A multiply channel: a hash of its name, independent of load order.
    ChannelId "channel";
    /// An input binding name.
    InputId "input";
    /// A controller: ascending, never reused.
    ControllerId "controller";
    /// A granted ability of one controller: ascending, never reused on it.
    GrantId "grant";
    /// A global cooldown group or an activation group: a hash of its name.
    GroupId "group";
    /// A parameter of a granted ability, a payload entry or a restriction: a hash of its name.
    ParamId "parameter";
    /// A task type.
    TaskKindId "task type";
    /// An ability set.
    AbilitySetId "ability set";
    /// A timeline.
    TimelineId "timeline";
}

macro_rules! described {
    ($($name:ident $lookup:ident;)*) => {$(
        impl $name {
            /// Returns the name in these rules; kind and number if the rules have no name for the id.
            pub fn describe(self, rules: &Rules) -> String {
                rules.$lookup(self).map_or_else(|| self.to_string(), str::to_owned)
            }
        }
    )*};
}
described! {
    AttributeId attribute_name;
    SetId set_name;
    TagId tag_name;
    EffectId effect_name;
    AbilityId ability_name;
    CalcId calculator_name;
    HookId hook_name;
    KeyId key_name;
    InputId input_name;
    GroupId group_name;
    ParamId param_name;
    TaskKindId task_kind_name;
    AbilitySetId ability_set_name;
    TimelineId timeline_name;
}

macro_rules! hashed {
    ($($name:ident)*) => {$(
        impl $name {
            /// Returns the id of this name.
            pub fn named(name: &str) -> $name {
                let h = fnv64(name.as_bytes());
                $name(((h ^ (h >> 32)) as u32).max(1))
            }
        }
    )*};
}
hashed!(ChannelId GroupId ParamId);

impl ControllerId {
    /// No controller.
    pub const NONE: ControllerId = ControllerId(u32::MAX);

    /// Returns the id, or `None` for [`ControllerId::NONE`].
    pub fn some(self) -> Option<ControllerId> {
        (self != ControllerId::NONE).then_some(self)
    }
}
impl EffectId {
    /// No effect.
    pub const NONE: EffectId = EffectId(u32::MAX);

    /// Returns whether it is a run-time definition.
    pub fn is_runtime(self) -> bool {
        self.0 & RUNTIME_BIT != 0 && self != EffectId::NONE
    }
}
impl AbilityId {
    /// No ability.
    pub const NONE: AbilityId = AbilityId(u32::MAX);

    /// Returns whether it is a run-time definition.
    pub fn is_runtime(self) -> bool {
        self.0 & RUNTIME_BIT != 0 && self != AbilityId::NONE
    }
}
impl InputId {
    /// No input.
    pub const NONE: InputId = InputId(u32::MAX);
}
/// Channels, groups and parameters are hashes of their names, independent of load order.
///
/// ```
/// use ugas_core::ChannelId;
/// assert_eq!(ChannelId::named("Gear"), ChannelId::named("Gear"));
/// assert_ne!(ChannelId::named("Gear"), ChannelId::NONE);
/// ```
impl ChannelId {
    /// No channel: the modifier has a channel of its own.
    pub const NONE: ChannelId = ChannelId(0);
}

/// An actor of the host's world: owner or avatar. The host assigns the number.
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

    /// Returns the id of an actor that documents name.
    pub fn named(name: &str) -> ActorId {
        ActorId(fnv64(name.as_bytes()).max(1))
    }

    /// Returns the id, or `None` for [`ActorId::NONE`].
    pub fn some(self) -> Option<ActorId> {
        (self != ActorId::NONE).then_some(self)
    }
}

/// The id of an op: client, input frame and position in it; client 0 is the server or a single-player sim.
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
    /// Returns the client that sent the op; 0 is the server.
    pub fn client(self) -> u16 {
        (self.0 >> 48) as u16
    }
    /// Returns the input frame.
    pub fn base(self) -> u32 {
        (self.0 >> 16) as u32
    }
    /// Returns the position in the frame.
    pub fn sub(self) -> u16 {
        self.0 as u16
    }
}

/// Identifies one application by its origin, not by its location: a predicted application keeps its key when the server
/// confirms it. The key of an ended effect is refused; it never refers to another effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct EffectKey {
    /// The op that caused it, or a hash of the parent effect's key and the trigger.
    pub birth: u64,
    /// The controller it acts on.
    pub target: ControllerId,
    /// Counts the applications of one birth on one target.
    pub ordinal: u32,
}

impl EffectKey {
    /// No effect.
    pub const NONE: EffectKey = EffectKey { birth: u64::MAX, target: ControllerId::NONE, ordinal: u32::MAX };
}

/// Identifies one activation of an ability, as [`EffectKey`] identifies an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct ActivationKey {
    /// The op that caused it, or a hash of its cause.
    pub birth: u64,
    /// The controller that owns the ability.
    pub who: ControllerId,
    /// Counts the activations of one birth on one controller.
    pub ordinal: u32,
}

impl ActivationKey {
    /// No activation.
    pub const NONE: ActivationKey = ActivationKey { birth: u64::MAX, who: ControllerId::NONE, ordinal: u32::MAX };
}

/// Identifies a task that waits for the host's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct TaskKey {
    /// The task's number on its controller.
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
    /// Prints `op 12` for an op of the sim itself, `op 3:7.1` for client 3, frame 7, position 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.client() {
            0 => write!(f, "op {}", self.0),
            client => write!(f, "op {client}:{}.{}", self.base(), self.sub()),
        }
    }
}
impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "effect {:x}.{} on {}", self.birth, self.ordinal, self.target)
    }
}
impl fmt::Display for ActivationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "activation {:x}.{} of {}", self.birth, self.ordinal, self.who)
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

    #[test]
    fn ids_are_written_with_their_kind_or_their_name() {
        let rules = Rules::builder().add(ugas_doc::Effect::instant("GE_Hit")).build().unwrap();
        let hit = rules.effect("GE_Hit").unwrap();
        assert_eq!((hit.describe(&rules), EffectId(900).describe(&rules)), ("GE_Hit".into(), "effect 900".into()));
        assert_eq!(ControllerId(4).to_string(), "controller 4");
        assert_eq!(OpId::new(3, 7, 1).to_string(), "op 3:7.1");
        let key = EffectKey { birth: 10, target: ControllerId(4), ordinal: 2 };
        assert_eq!(key.to_string(), "effect a.2 on controller 4");
    }
}
