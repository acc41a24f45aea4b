//! The trace: lifecycle steps, state changes and refusals.

use crate::{AbilityId, ControllerId, EffectId, GrantId, Refusal, SetId, SimTime, TaskKey, TaskKindId};
use serde::{Deserialize, Serialize};

/// A step of a controller's lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifecycleStep {
    /// The controller was created for its owner.
    Instantiated,
    /// An attribute set was registered.
    SetRegistered(SetId),
    /// The owner and the avatar were set.
    ActorsSet,
    /// An initial ability was granted.
    AbilityGranted(AbilityId),
    /// An initial effect was applied.
    EffectApplied(EffectId),
    /// Replication was configured.
    ReplicationConfigured,
    /// The old avatar was cleared.
    AvatarCleared,
    /// Effects bound to the avatar's position were revalidated.
    AvatarEffectsRevalidated,
    /// The new avatar was set.
    AvatarSet,
    /// Abilities that need the avatar were revalidated.
    AvatarAbilitiesRevalidated,
    /// All effects were removed.
    EffectsRemoved,
    /// All abilities were revoked.
    AbilitiesRevoked,
    /// The controller's subscriptions were cleared.
    SubscriptionsCleared,
    /// Replication ended.
    ReplicationEnded,
}

/// An entry of the opt-in trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The time.
    pub at: SimTime,
    /// The controller.
    pub who: ControllerId,
    /// What happened.
    pub kind: TraceKind,
}

/// What a trace entry records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TraceKind {
    /// A step of a lifecycle.
    Lifecycle(LifecycleStep),
    /// A refused application.
    Refused {
        /// The effect, or [`EffectId::NONE`].
        effect: EffectId,
        /// The refusal.
        refusal: Refusal,
    },
    /// A granted ability changed its state.
    Ability {
        /// The ability.
        ability: AbilityId,
        /// The grant.
        grant: GrantId,
        /// The previous state.
        from: AbilityState,
        /// The new state.
        to: AbilityState,
    },
    /// An ability could not be activated or committed.
    AbilityRefused {
        /// The ability.
        ability: AbilityId,
        /// The refusal.
        refusal: Refusal,
    },
    /// A task of an ability changed its state.
    Task {
        /// The ability.
        ability: AbilityId,
        /// The task type.
        task: TaskKindId,
        /// The task, or [`TaskKey::NONE`] for a task that completed immediately.
        task_key: TaskKey,
        /// The new state.
        to: TaskState,
    },
}

/// The state of a task. A task that has not been created yet is `Inactive` and has no trace entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum TaskState {
    /// The task has not been created yet.
    Inactive,
    /// The task has been created, but has not started yet.
    Ready,
    /// The task acts, waits or ticks.
    Active,
    /// The task ended by itself, successfully or not.
    Completed,
    /// The ability, or the race that contains the task, ended before the task completed.
    Cancelled,
}

/// The state of a granted ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum AbilityState {
    /// The controller does not have the ability.
    NotGranted,
    /// The ability is granted and not active.
    Granted,
    /// The activation checks are running.
    Activating,
    /// The activation checks passed, and the activation waits for an asynchronous validation.
    PendingConfirmation,
    /// The ability is active.
    Active,
    /// The ability is ending.
    Ending,
}
