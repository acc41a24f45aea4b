//! Facts: everything that happened, in one ordered log. Observers, cues, replication, the studio and the audit trail
//! read it; there is no other channel. A fact is plain data that C can read.
//!
//! There are two further streams: diagnostics (likely mistakes in data) and the trace (lifecycle steps and refusals,
//! opt-in).

mod describe;
mod detail;

pub(crate) use detail::put as put_param;
pub use detail::{ParamValue, Params};

use crate::{
    AbilityId, AbilitySetId, ActivationKey, ActorId, AttributeId, ControllerId, EffectId, EffectKey, GrantId, GroupId,
    InputId, KeyId, OpId, Refusal, SetId, SimTime, TagId, TaskKey, TaskKindId,
};
use serde::{Deserialize, Serialize};

/// Why something happened: the root op, and a link into the sim's bounded ring of causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Cause {
    /// The root op.
    pub root: OpId,
    /// The nearest link; `Sim::chain` follows it.
    pub link: u32,
}

/// Why an effect ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum RemoveReason {
    /// Its duration ended.
    Expired,
    /// It was removed explicitly.
    Removed,
    /// It was removed by tag.
    ByTag,
    /// An ongoing requirement failed.
    Ongoing,
    /// Its controller was destroyed.
    Destroyed,
    /// Its place in the world is no longer valid.
    Avatar,
    /// The new rules of a reload do not define it any more, or it could not be applied under them.
    Reload,
}

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
    /// A further application was merged into it.
    Merged,
    /// It was inhibited.
    Inhibited,
    /// It is no longer inhibited.
    Restored,
}

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

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
#[non_exhaustive]
pub enum FactKind {
    /// The base or current value changed.
    AttributeChanged {
        /// The attribute.
        attribute: AttributeId,
        /// The current value before.
        old: f64,
        /// The current value after.
        new: f64,
        /// The base value before.
        old_base: f64,
        /// The base value after.
        new_base: f64,
    },
    /// A tag was added or removed; reported for ancestors too.
    TagChanged {
        /// The tag.
        tag: TagId,
        /// Whether it was added.
        added: bool,
        /// Whether the explicit count crossed zero, as opposed to a descendant's.
        exact: bool,
        /// Whether hierarchical presence changed. False only for an explicit grant while a descendant is present.
        presence: bool,
    },
    /// An effect was applied (for an instant one: executed).
    EffectApplied {
        /// Its level.
        level: u32,
        /// Its stacks.
        stacks: u32,
    },
    /// A periodic execution ran.
    EffectExecuted {
        /// The index, from 0.
        execution: u32,
    },
    /// A combat rule prevented an execution of an active effect: nothing was written, and its timing is unchanged.
    ExecutionRestricted {
        /// The index, from 0, counted together with the executions that ran.
        execution: u32,
    },
    /// An effect ended.
    EffectRemoved {
        /// The reason.
        reason: RemoveReason,
    },
    /// An effect changed.
    EffectChanged {
        /// The change.
        what: EffectChange,
        /// The number of stacks now.
        stacks: u32,
        /// The level now.
        level: u32,
    },
    /// An effect was refused by immunity. The fact's effect is the refused one.
    Immune {
        /// The active effect that blocked it.
        blocker: EffectKey,
        /// The definition of the blocker.
        by: EffectId,
    },
    /// An ability was granted.
    Granted {
        /// The ability.
        ability: AbilityId,
        /// The grant's number on this controller.
        grant: GrantId,
        /// Its level.
        level: u32,
        /// Its input.
        input: InputId,
    },
    /// A granted ability was revoked.
    Revoked {
        /// The ability.
        ability: AbilityId,
        /// The grant's number.
        grant: GrantId,
    },
    /// A cue was triggered.
    Cue {
        /// The tag.
        tag: TagId,
        /// How the cue is triggered.
        cue: CueType,
        /// The context in the details: `Position` and `Distance` of the hit, `Origin`. Empty without a position.
        detail: Span,
    },
    /// An attribute that marks death reached zero.
    Died {
        /// The attribute.
        attribute: AttributeId,
    },
    /// A controller was spawned.
    Spawned {
        /// Its owner.
        owner: ActorId,
    },
    /// A controller was destroyed.
    Despawned,
    /// A set was registered.
    SetAdded {
        /// The set.
        set: SetId,
    },
    /// A set was unregistered.
    SetRemoved {
        /// The set.
        set: SetId,
    },
    /// The avatar changed.
    Possessed {
        /// The previous avatar.
        old: ActorId,
        /// The new avatar.
        new: ActorId,
    },
    /// A calculation added a tag to the context, e.g. `Hit.Critical`.
    ContextTag {
        /// The tag.
        tag: TagId,
    },
    /// A controller was restored or inserted; one fact instead of one per change.
    Restored,
    /// An ability was activated.
    AbilityActivated {
        /// The ability.
        ability: AbilityId,
        /// The grant.
        grant: GrantId,
        /// Its level.
        level: u32,
        /// The activation.
        activation: ActivationKey,
    },
    /// An ability ended.
    AbilityEnded {
        /// The ability.
        ability: AbilityId,
        /// The grant.
        grant: GrantId,
        /// The activation.
        activation: ActivationKey,
        /// Whether it was cancelled.
        cancelled: bool,
        /// Whether an interrupt cancelled it.
        interrupted: bool,
    },
    /// The host is asked to do something. The parameters are in the details.
    TaskRequest {
        /// The ability.
        ability: AbilityId,
        /// The task type.
        task: TaskKindId,
        /// The key for the answer; [`TaskKey::NONE`] if no task waits.
        task_key: TaskKey,
        /// The parameters in the details.
        detail: Span,
    },
    /// A waiting task completed, failed, was cancelled or emitted an output.
    TaskEnded {
        /// The ability.
        ability: AbilityId,
        /// The task type.
        task: TaskKindId,
        /// The task.
        task_key: TaskKey,
        /// Its value: held seconds, a magnitude, a new value.
        value: f64,
        /// The result.
        result: TaskResult,
    },
    /// A gameplay event was received. The payload is in the details.
    GameplayEvent {
        /// The tag.
        tag: TagId,
        /// The magnitude.
        magnitude: f64,
        /// The payload in the details.
        detail: Span,
    },
    /// A cast started, ticked or ended.
    Cast {
        /// The ability.
        ability: AbilityId,
        /// Ticks so far.
        tick: u32,
        /// The total duration.
        length: SimTime,
        /// The step.
        step: CastStep,
    },
    /// A global cooldown started or ended.
    GlobalCooldown {
        /// The group.
        group: GroupId,
        /// Whether it is running.
        running: bool,
        /// The duration.
        length: SimTime,
    },
    /// The charges of an ability changed.
    Charges {
        /// The ability.
        ability: AbilityId,
        /// The grant.
        grant: GrantId,
        /// The number of charges.
        have: u32,
        /// The maximum.
        max: u32,
        /// The duration of the running cooldown, or zero.
        length: SimTime,
    },
    /// An input was pressed or released.
    Input {
        /// The input.
        input: InputId,
        /// Whether it is pressed now.
        pressed: bool,
        /// How long it was held.
        held: SimTime,
    },
    /// Damage, healing or threat was dealt.
    Damage {
        /// Damage, healing or threat.
        damage: ugas_doc::CombatKind,
        /// How it was dealt.
        style: ugas_doc::CombatStyle,
        /// The controller that gets the credit.
        credit: ControllerId,
        /// The amount after mitigation and pools.
        amount: f64,
        /// The amount before mitigation and pools.
        raw: f64,
        /// The amount that pools absorbed.
        absorbed: f64,
        /// The amount beyond zero.
        overkill: f64,
    },
    /// An ability set was granted.
    SetGranted {
        /// The set.
        set: AbilitySetId,
        /// Its handle.
        handle: u64,
    },
    /// A granted ability set was revoked.
    SetRevoked {
        /// The set.
        set: AbilitySetId,
        /// Its handle.
        handle: u64,
    },
    /// The sim was migrated to new rules. The resulting changes follow.
    Reloaded {
        /// The hash of the old rules.
        from: u64,
        /// The hash of the new rules.
        to: u64,
    },
}

/// A range of [`Facts::detail`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Span {
    /// The offset in bytes.
    pub offset: u32,
    /// The length in bytes.
    pub len: u32,
}

/// The result of a waiting task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum TaskResult {
    /// It completed.
    Completed,
    /// Its ability ended first.
    Cancelled,
    /// It failed.
    Failed,
    /// It emitted a value and keeps waiting.
    Output,
}

/// A step of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum CastStep {
    /// It started.
    Started,
    /// A tick.
    Tick,
    /// It finished.
    Finished,
    /// It was cancelled.
    Cancelled,
    /// It was interrupted.
    Interrupted,
}

impl FactKind {
    /// Returns the name that scenarios use.
    pub fn name(&self) -> &'static str {
        match self {
            FactKind::AttributeChanged { .. } => "AttributeChanged",
            FactKind::TagChanged { .. } => "TagChanged",
            FactKind::EffectApplied { .. } => "EffectApplied",
            FactKind::EffectExecuted { .. } => "EffectExecuted",
            FactKind::ExecutionRestricted { .. } => "ExecutionRestricted",
            FactKind::EffectRemoved { .. } => "EffectRemoved",
            FactKind::EffectChanged { .. } => "EffectChanged",
            FactKind::Immune { .. } => "Immune",
            FactKind::Granted { .. } => "Granted",
            FactKind::Revoked { .. } => "Revoked",
            FactKind::Cue { .. } => "Cue",
            FactKind::Died { .. } => "Died",
            FactKind::Spawned { .. } => "Spawned",
            FactKind::Despawned => "Despawned",
            FactKind::SetAdded { .. } => "SetAdded",
            FactKind::SetRemoved { .. } => "SetRemoved",
            FactKind::Possessed { .. } => "Possessed",
            FactKind::ContextTag { .. } => "ContextTag",
            FactKind::Restored => "Restored",
            FactKind::AbilityActivated { .. } => "AbilityActivated",
            FactKind::AbilityEnded { .. } => "AbilityEnded",
            FactKind::TaskRequest { .. } => "TaskRequest",
            FactKind::TaskEnded { .. } => "TaskEnded",
            FactKind::GameplayEvent { .. } => "GameplayEvent",
            FactKind::Cast { .. } => "Cast",
            FactKind::GlobalCooldown { .. } => "GlobalCooldown",
            FactKind::Charges { .. } => "Charges",
            FactKind::Input { .. } => "Input",
            FactKind::Damage { .. } => "Damage",
            FactKind::SetGranted { .. } => "SetGranted",
            FactKind::SetRevoked { .. } => "SetRevoked",
            FactKind::Reloaded { .. } => "Reloaded",
        }
    }
}

/// One event of a sim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub struct Fact {
    /// The time.
    pub at: SimTime,
    /// The controller.
    pub who: ControllerId,
    /// The controller that caused it, or [`ControllerId::NONE`].
    pub source: ControllerId,
    /// The application that caused it, or [`EffectKey::NONE`].
    pub key: EffectKey,
    /// The root op.
    pub root: OpId,
    /// The nearest cause; `Sim::chain` follows it.
    pub link: u32,
    /// The definition of that application, or [`EffectId::NONE`].
    pub effect: EffectId,
    /// What happened.
    pub kind: FactKind,
}

const _: () = assert!(size_of::<Fact>() == 96);

impl Fact {
    /// Returns the cause.
    pub fn cause(&self) -> Cause {
        Cause { root: self.root, link: self.link }
    }
}

/// A log of facts, with the variable-length data that does not fit into a fact.
///
/// ```
/// let facts = ugas_core::Facts::default();
/// assert!(facts.list.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The facts in order.
    pub list: Vec<Fact>,
    /// Details: task parameters, event payloads, hit contexts.
    pub detail: Vec<u8>,
}

/// Iterates over the facts in order.
///
/// ```
/// # use ugas_core::Facts;
/// for fact in &Facts::default() {
///     println!("{}", fact.at);
/// }
/// ```
impl<'f> IntoIterator for &'f Facts {
    type Item = &'f Fact;
    type IntoIter = std::slice::Iter<'f, Fact>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl Facts {
    /// Iterates over the facts in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Fact> {
        self.list.iter()
    }

    /// Iterates over the changes of one attribute, of one controller or of all.
    ///
    /// ```
    /// # use ugas_core::{AttributeId, Facts};
    /// assert_eq!(Facts::default().changes_of(AttributeId(0), None).count(), 0);
    /// ```
    pub fn changes_of(&self, attribute: AttributeId, who: Option<ControllerId>) -> impl Iterator<Item = &Fact> {
        self.list.iter().filter(move |f| {
            matches!(f.kind, FactKind::AttributeChanged { attribute: a, .. } if a == attribute)
                && who.is_none_or(|w| w == f.who)
        })
    }
}

/// A likely mistake in data that the sim worked around.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A tag was to be removed that is not present.
    TagUnderflow {
        /// The tag.
        tag: TagId,
    },
    /// A modifier was skipped because its set-by-caller value is missing.
    MissingSetByCaller {
        /// The key.
        key: KeyId,
    },
    /// A derived value or a live magnitude is not finite and is ignored.
    NonFinite {
        /// The attribute.
        attribute: AttributeId,
    },
    /// A condition has a part that is not finite and is therefore false.
    NonFiniteCondition,
    /// A computed value left the range of numbers and was clamped.
    Saturated {
        /// The attribute.
        attribute: AttributeId,
    },
    /// A duration of zero or less: the effect was applied and removed immediately.
    ZeroDuration,
    /// A duration override on an effect without a duration.
    DurationOverrideIgnored,
    /// A controller document states a current value that differs from the computed one.
    ValueMismatch {
        /// The attribute.
        attribute: AttributeId,
        /// The value in the document.
        stated: f64,
        /// The computed value.
        found: f64,
    },
    /// A tag that allows one grant has several.
    MultipleGrants {
        /// The tag.
        tag: TagId,
    },
    /// A reaction was refused.
    ReactionRefused {
        /// The refusal.
        refusal: Refusal,
    },
    /// The ongoing requirements of an effect keep toggling.
    Cycle,
    /// A limit was reached in a reaction or by the log.
    Limit,
    /// A document refers to something that does not exist where it is used.
    MissingTarget,
}

impl DiagnosticKind {
    /// Returns the name that scenarios use.
    pub fn name(&self) -> &'static str {
        match self {
            DiagnosticKind::TagUnderflow { .. } => "TagUnderflow",
            DiagnosticKind::MissingSetByCaller { .. } => "MissingSetByCaller",
            DiagnosticKind::NonFinite { .. } => "NonFinite",
            DiagnosticKind::NonFiniteCondition => "NonFiniteCondition",
            DiagnosticKind::Saturated { .. } => "Saturated",
            DiagnosticKind::ZeroDuration => "ZeroDuration",
            DiagnosticKind::DurationOverrideIgnored => "DurationOverrideIgnored",
            DiagnosticKind::ValueMismatch { .. } => "ValueMismatch",
            DiagnosticKind::MultipleGrants { .. } => "MultipleGrants",
            DiagnosticKind::ReactionRefused { .. } => "ReactionRefused",
            DiagnosticKind::Cycle => "Cycle",
            DiagnosticKind::Limit => "Limit",
            DiagnosticKind::MissingTarget => "MissingTarget",
        }
    }
}

/// A diagnostic with its context.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The time.
    pub at: SimTime,
    /// The controller.
    pub who: ControllerId,
    /// The definition that caused it.
    pub effect: EffectId,
    /// The cause.
    pub cause: Cause,
    /// What happened.
    pub kind: DiagnosticKind,
}

/// A step of a controller's lifecycle, in the specified orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifecycleStep {
    /// Created on its owner.
    Instantiated,
    /// A set was registered.
    SetRegistered(SetId),
    /// Owner and avatar were set.
    ActorsSet,
    /// An initial ability was granted.
    AbilityGranted(AbilityId),
    /// An initial effect was applied.
    EffectApplied(EffectId),
    /// Replication was configured.
    ReplicationConfigured,
    /// The old avatar was cleared.
    AvatarCleared,
    /// Effects bound to the avatar's place were revalidated.
    AvatarEffectsRevalidated,
    /// The new avatar was set.
    AvatarSet,
    /// Abilities that need the avatar were revalidated.
    AvatarAbilitiesRevalidated,
    /// All effects were removed.
    EffectsRemoved,
    /// All abilities were revoked.
    AbilitiesRevoked,
    /// Its subscriptions were cleared.
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
        /// The task; [`TaskKey::NONE`] for one that completed immediately.
        task_key: TaskKey,
        /// The new state.
        to: TaskState,
    },
}

/// The state of a task. A task that was not created yet is `Inactive` and has no trace entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum TaskState {
    /// Not started yet.
    Inactive,
    /// Created, not yet started.
    Ready,
    /// It acts, waits or ticks.
    Active,
    /// Ended by itself, successfully or not.
    Completed,
    /// Its ability, or the race it was part of, ended first.
    Cancelled,
}

/// The state of a granted ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum AbilityState {
    /// The controller does not have it.
    NotGranted,
    /// Granted, not active.
    Granted,
    /// Its checks are running.
    Activating,
    /// The checks passed; it waits for a validation.
    PendingConfirmation,
    /// Active.
    Active,
    /// It is ending.
    Ending,
}
