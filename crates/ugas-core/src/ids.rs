//! Ids: small integers with a type each, so that none is mistaken for another.
//!
//! Definition ids are dense, given append-only by name when rules are built, and stay the same across rebuilds. A
//! definition made at run time has [`RUNTIME_BIT`] set and lives in the sim's state.

use serde::{Deserialize, Serialize};

/// Set in the id of a definition that was made at run time.
pub const RUNTIME_BIT: u32 = 1 << 31;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(transparent)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index into a dense table.
            #[inline]
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
ids! {
    /// An attribute by name: `Health` of one set and `Health` of another share it.
    AttributeId;
    /// An attribute set.
    SetId;
    /// A tag.
    TagId;
    /// An effect definition.
    EffectId;
    /// An ability definition.
    AbilityId;
    /// A curve.
    CurveId;
    /// A registered calculator.
    CalcId;
    /// A registered hook, requirement or validator.
    HookId;
    /// A compiled controller template.
    TemplateId;
    /// A set-by-caller key.
    KeyId;
    /// A multiply channel: a hash of its name, so that it does not depend on load order.
    ChannelId;
    /// An input binding name.
    InputId;
    /// A controller: rising, never reused.
    ControllerId;
    /// A granted ability of one controller: rising, never reused on it.
    GrantId;
    /// A global cooldown group or an activation group: a hash of its name.
    GroupId;
    /// A parameter of a granted ability, a payload entry or a restriction: a hash of its name.
    ParamId;
    /// A task type.
    TaskKindId;
    /// An ability set.
    AbilitySetId;
    /// A timeline.
    TimelineId;
}

macro_rules! hashed {
    ($($name:ident)*) => {$(
        impl $name {
            /// The id of this name.
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

    /// Itself, or `None` for [`ControllerId::NONE`].
    pub fn some(self) -> Option<ControllerId> {
        (self != ControllerId::NONE).then_some(self)
    }
}
impl EffectId {
    /// No effect.
    pub const NONE: EffectId = EffectId(u32::MAX);

    /// Whether the definition was made at run time.
    pub fn is_runtime(self) -> bool {
        self.0 & RUNTIME_BIT != 0 && self != EffectId::NONE
    }
}
impl AbilityId {
    /// No ability.
    pub const NONE: AbilityId = AbilityId(u32::MAX);

    /// Whether the definition was made at run time.
    pub fn is_runtime(self) -> bool {
        self.0 & RUNTIME_BIT != 0 && self != AbilityId::NONE
    }
}
impl InputId {
    /// No input.
    pub const NONE: InputId = InputId(u32::MAX);
}
/// Channels, groups and parameters are hashes of their names, so that they do not depend on load order.
///
/// ```
/// use ugas_core::ChannelId;
/// assert_eq!(ChannelId::named("Gear"), ChannelId::named("Gear"));
/// assert_ne!(ChannelId::named("Gear"), ChannelId::NONE);
/// ```
impl ChannelId {
    /// No channel: the modifier is a channel of its own.
    pub const NONE: ChannelId = ChannelId(0);
}

/// An actor of the host's world: owner or avatar. The number is the host's.
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

    /// The id of an actor that documents name.
    pub fn named(name: &str) -> ActorId {
        ActorId(fnv64(name.as_bytes()).max(1))
    }

    /// Itself, or `None` for [`ActorId::NONE`].
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
    /// An id from its parts.
    pub fn new(client: u16, base: u32, sub: u16) -> OpId {
        OpId((client as u64) << 48 | (base as u64) << 16 | sub as u64)
    }
    /// Who gave the op; 0 is the server.
    pub fn client(self) -> u16 {
        (self.0 >> 48) as u16
    }
    /// The input frame.
    pub fn base(self) -> u32 {
        (self.0 >> 16) as u32
    }
    /// The position in the frame.
    pub fn sub(self) -> u16 {
        self.0 as u16
    }
}

/// Identifies one application by where it came from, not by where it lies: a predicted one keeps its key when the
/// server confirms it. A key of something that is gone is a refusal, never another effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(C)]
pub struct EffectKey {
    /// The op that caused it, or a mix of the parent effect's key and the trigger.
    pub birth: u64,
    /// The controller it acts on.
    pub target: ControllerId,
    /// Counts within that birth on that target.
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
    /// The op that caused it, or a mix of what caused it.
    pub birth: u64,
    /// The controller whose ability it is.
    pub who: ControllerId,
    /// Counts within that birth on that controller.
    pub ordinal: u32,
}

impl ActivationKey {
    /// No activation.
    pub const NONE: ActivationKey = ActivationKey { birth: u64::MAX, who: ControllerId::NONE, ordinal: u32::MAX };
}

/// A task that waits for the host: what the host answers.
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

/// FNV-1a over bytes.
pub(crate) fn fnv64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ b as u64).wrapping_mul(0x0100_0000_01b3))
}
