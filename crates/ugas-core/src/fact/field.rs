//! Access to the fields of facts and diagnostics by name. Tools use this access to read facts and diagnostics of every
//! kind with the same code.

use super::Span;
use crate::{
    AbilityId, AbilitySetId, ActorId, AttributeId, CapabilityId, ControllerId, EffectId, GrantId, GroupId, InputId,
    KeyId, Refusal, SetId, SimTime, TagId, TaskKindId,
};
use ugas_doc::{CombatKind, CombatStyle, TriggerBehavior};

/// The value of a named field of a fact or a diagnostic.
///
/// ```
/// use ugas_core::{FactKind, FieldValue};
/// let mut fields = Vec::new();
/// FactKind::EffectApplied { level: 2, stacks: 1 }.fields(&mut |name, value| fields.push((name, value)));
/// assert_eq!(fields, [("Level", FieldValue::Count(2)), ("Stacks", FieldValue::Count(1))]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue {
    /// A number.
    Number(f64),
    /// A whole number.
    Count(u32),
    /// A boolean.
    Flag(bool),
    /// A duration.
    Time(SimTime),
    /// A value of an enumeration, by name.
    Word(&'static str),
    /// An attribute.
    Attribute(AttributeId),
    /// A tag.
    Tag(TagId),
    /// An effect.
    Effect(EffectId),
    /// An ability.
    Ability(AbilityId),
    /// A granted ability of a controller.
    Grant(GrantId),
    /// An ability set.
    AbilitySet(AbilitySetId),
    /// A class of capabilities.
    Capability(CapabilityId),
    /// An attribute set.
    Set(SetId),
    /// A global cooldown group.
    Group(GroupId),
    /// A task type.
    Task(TaskKindId),
    /// An input.
    Input(InputId),
    /// The key of a set-by-caller value.
    Key(KeyId),
    /// A controller.
    Controller(ControllerId),
    /// An actor of the host.
    Actor(ActorId),
    /// Named parameters in the details; see [`crate::Facts::params`].
    Params(Span),
}

macro_rules! from {
    ($($type:ty => $Value:ident,)*) => {
        $(impl From<$type> for FieldValue {
            fn from(value: $type) -> FieldValue {
                FieldValue::$Value(value)
            }
        })*
    };
}

from! {
    f64 => Number,
    u32 => Count,
    bool => Flag,
    SimTime => Time,
    AttributeId => Attribute,
    TagId => Tag,
    EffectId => Effect,
    AbilityId => Ability,
    GrantId => Grant,
    AbilitySetId => AbilitySet,
    CapabilityId => Capability,
    SetId => Set,
    GroupId => Group,
    TaskKindId => Task,
    InputId => Input,
    KeyId => Key,
    ControllerId => Controller,
    ActorId => Actor,
    Span => Params,
}

impl From<Refusal> for FieldValue {
    fn from(refusal: Refusal) -> FieldValue {
        FieldValue::Word(refusal.kind())
    }
}

impl From<CombatKind> for FieldValue {
    fn from(kind: CombatKind) -> FieldValue {
        FieldValue::Word(match kind {
            CombatKind::Damage => "Damage",
            CombatKind::Healing => "Healing",
            CombatKind::Threat => "Threat",
            CombatKind::Resource => "Resource",
        })
    }
}

impl From<CombatStyle> for FieldValue {
    fn from(style: CombatStyle) -> FieldValue {
        FieldValue::Word(match style {
            CombatStyle::Direct => "Direct",
            CombatStyle::Periodic => "Periodic",
            CombatStyle::Area => "Area",
        })
    }
}

impl From<TriggerBehavior> for FieldValue {
    fn from(behavior: TriggerBehavior) -> FieldValue {
        FieldValue::Word(match behavior {
            TriggerBehavior::OnPressed => "OnPressed",
            TriggerBehavior::OnReleased => "OnReleased",
            TriggerBehavior::WhileHeld => "WhileHeld",
            TriggerBehavior::OnTap => "OnTap",
            TriggerBehavior::OnDoubleTap => "OnDoubleTap",
        })
    }
}

/// Defines an enum of events. The same lines define the names of its kinds and fields.
macro_rules! event_kinds {
    (
        $(#[$outer:meta])*
        pub enum $Enum:ident {
            $(
                $(#[$kind_doc:meta])*
                $Kind:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $name:literal)?,)* })?,
            )*
        }
    ) => {
        $(#[$outer])*
        pub enum $Enum {
            $(
                $(#[$kind_doc])*
                $Kind $({ $($(#[$field_doc])* $field: $type,)* })?,
            )*
        }

        impl $Enum {
            /// The name of each kind and the names of its fields, in the order of the definition.
            pub const KINDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($Kind), &[$($($($name,)?)*)?]),)*];

            /// Returns the name of the kind, as written in scenarios.
            pub fn name(&self) -> &'static str {
                match self {
                    $($Enum::$Kind { .. } => stringify!($Kind),)*
                }
            }

            /// Calls `visit` with each named field, in the order of the definition.
            #[allow(unused_variables, reason = "fields without a name are not visited, and some kinds have no fields")]
            pub fn fields(&self, visit: &mut dyn FnMut(&'static str, FieldValue)) {
                match *self {
                    $($Enum::$Kind $({ $($field,)* })? => {
                        $($($(visit($name, FieldValue::from($field));)?)*)?
                    })*
                }
            }
        }
    };
}
pub(super) use event_kinds;
