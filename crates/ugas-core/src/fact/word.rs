//! The enumerations that facts contain. Scenarios refer to the values of these enumerations by name.

use super::FieldValue;
use serde::{Deserialize, Serialize};

/// Defines an enumeration whose values can be fields of facts.
macro_rules! words {
    ($(#[$outer:meta])* pub enum $Enum:ident { $($(#[$doc:meta])* $Word:ident,)* }) => {
        $(#[$outer])*
        pub enum $Enum { $($(#[$doc])* $Word,)* }

        impl From<$Enum> for FieldValue {
            fn from(word: $Enum) -> FieldValue {
                FieldValue::Word(match word {
                    $($Enum::$Word => stringify!($Word),)*
                })
            }
        }
    };
}

words! {
    /// The reason why an effect ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum RemoveReason {
        /// The duration of the effect ended.
        Expired,
        /// The effect was removed explicitly.
        Removed,
        /// The effect was removed because of one of its tags.
        ByTag,
        /// An ongoing requirement failed.
        Ongoing,
        /// The controller of the effect was destroyed.
        Destroyed,
        /// The avatar changed, and the effect is not valid at the new avatar's position.
        Avatar,
        /// The new rules of a reload do not define the effect, or do not allow its application.
        Reload,
    }
}

words! {
    /// What changed in an active effect.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum EffectChange {
        /// The level changed.
        Level,
        /// The end time changed.
        Duration,
        /// The period changed.
        Period,
        /// The number of stacks changed.
        Stacks,
        /// A set-by-caller value changed.
        SetByCaller,
        /// Another application was merged into the effect as a stack or a refresh.
        Merged,
        /// The effect was inhibited.
        Inhibited,
        /// The effect is no longer inhibited.
        Restored,
    }
}

words! {
    /// The type of a cue notification.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum CueType {
        /// A burst cue plays.
        Execute,
        /// A loop cue starts.
        Add,
        /// A loop cue stops.
        Remove,
    }
}

words! {
    /// The result of a waiting task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum TaskResult {
        /// The task completed.
        Completed,
        /// The ability, or the race that contains the task, ended before the task completed.
        Cancelled,
        /// The task failed.
        Failed,
        /// The task emitted a value and keeps waiting.
        Output,
    }
}

words! {
    /// A step in the life of a capability.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum CapabilityStep {
        /// The controller got the capability. Emitted once on every machine that knows it.
        StartLife,
        /// The capability was set up on this machine.
        Setup,
        /// The capability became active on this machine.
        Activated,
        /// The capability became inactive on this machine.
        Deactivated,
        /// The capability no longer runs on this machine.
        EndCapability,
        /// The controller lost the capability. Emitted once on every machine that knows it.
        EndLife,
    }
}

words! {
    /// What happened to a resource.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum ResourceStep {
        /// The controller got the resource.
        Added,
        /// The value of the resource changed.
        Changed,
        /// The controller lost the resource.
        Removed,
    }
}

words! {
    /// A step of a cast.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum CastStep {
        /// The cast started.
        Started,
        /// The cast ticked.
        Tick,
        /// The cast finished.
        Finished,
        /// The cast was cancelled.
        Cancelled,
        /// The cast was interrupted.
        Interrupted,
        /// The tick was skipped: the target that its client chose did not arrive before the time of the next tick.
        Skipped,
    }
}

words! {
    /// What happened to a press that waits to be tried again.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum BufferStep {
        /// The press was buffered.
        Stored,
        /// The press was queued for the end of a cast or of a global cooldown.
        Queued,
        /// The press activated an ability.
        Used,
        /// The press got too old.
        Expired,
        /// The press was dropped: the buffer was full, or another press was used.
        Overflow,
        /// The press was tried and refused for a reason that does not pass.
        Refused,
        /// The queued press was dropped, because its action was asleep when it was tried.
        Asleep,
    }
}
