//! The enumerations that facts contain. Scenarios refer to their values by name.

use super::FieldValue;
use serde::{Deserialize, Serialize};

/// Defines an enumeration, and its values as fields of facts.
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
    /// Why an effect ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum RemoveReason {
        /// Its duration ended.
        Expired,
        /// The effect was removed explicitly.
        Removed,
        /// The effect was removed because of its tags.
        ByTag,
        /// An ongoing requirement failed.
        Ongoing,
        /// Its controller was destroyed.
        Destroyed,
        /// The avatar changed, and the effect is not valid at the new avatar's position.
        Avatar,
        /// The new rules of a reload do not define the effect, or do not allow its application.
        Reload,
    }
}

words! {
    /// What changed about an effect.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum EffectChange {
        /// Its level.
        Level,
        /// Its end time.
        Duration,
        /// Its period.
        Period,
        /// Its stacks.
        Stacks,
        /// A set-by-caller value.
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
    /// How a cue is triggered.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum CueType {
        /// A one-shot cue.
        Execute,
        /// A looping cue starts.
        Add,
        /// A looping cue stops.
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
        /// The ability ended before the task.
        Cancelled,
        /// The task failed.
        Failed,
        /// The task emitted a value and keeps waiting.
        Output,
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
    }
}
