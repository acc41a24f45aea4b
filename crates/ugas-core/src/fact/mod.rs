//! Facts: what happened, in one ordered log. Observers, cues, replication, the studio and the audit trail all read
//! it; nothing else carries news. A fact is plain data that C can read.
//!
//! Two other streams exist: diagnostics (mistakes people should hear of) and the trace (lifecycle steps and
//! refusals, opt-in).

mod describe;
mod detail;

pub(crate) use detail::put as put_param;
pub use detail::{ParamValue, Params};

use crate::{
    AbilityId, AbilitySetId, ActivationKey, ActorId, AttributeId, ControllerId, EffectId, EffectKey, GrantId, GroupId,
    InputId, KeyId, OpId, Refusal, SetId, SimTime, TagId, TaskKey, TaskKindId,
};
use serde::{Deserialize, Serialize};

/// Why something happened: the op at the root, and a link into the sim's bounded ring of causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Cause {
    /// The op that started it all.
    pub root: OpId,
    /// The nearest link; `Sim::chain` walks it back.
    pub link: u32,
}

/// Why an effect ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum RemoveReason {
    /// Its time was over.
    Expired,
    /// Somebody removed it.
    Removed,
    /// A removal by tag met it.
    ByTag,
    /// An ongoing requirement failed.
    Ongoing,
    /// Its controller was destroyed.
    Destroyed,
    /// Its place in the world is no longer valid.
    Avatar,
    /// The rules that the sim moved to do not have it any more, or could not apply it as it is.
    Reload,
}

/// What changed about an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum EffectChange {
    /// Its level.
    Level,
    /// Its end.
    Duration,
    /// Its period.
    Period,
    /// Its stacks.
    Stacks,
    /// A caller's value.
    SetByCaller,
    /// A further application merged into it.
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
    /// A burst.
    Execute,
    /// A loop starts.
    Add,
    /// A loop stops.
    Remove,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
#[non_exhaustive]
pub enum FactKind {
    /// Base or current value changed.
    AttributeChanged {
        /// The attribute.
        attribute: AttributeId,
        /// Current before.
        old: f64,
        /// Current after.
        new: f64,
        /// Base before.
        old_base: f64,
        /// Base after.
        new_base: f64,
    },
    /// A tag appeared or vanished; for ancestors too.
    TagChanged {
        /// The tag.
        tag: TagId,
        /// Whether it appeared.
        added: bool,
        /// Whether the explicit count crossed zero (as opposed to a descendant's).
        exact: bool,
        /// Whether hierarchical presence changed. False only for an explicit grant hidden by a present descendant.
        presence: bool,
    },
    /// An effect was applied (for an instant one: executed).
    EffectApplied {
        /// Its level.
        level: u32,
        /// Its stacks.
        stacks: u32,
    },
    /// A periodic execution happened.
    EffectExecuted {
        /// Counting from 0.
        execution: u32,
    },
    /// A rule forbade an execution of an active effect: nothing was written, its timing goes on.
    ExecutionRestricted {
        /// Counting from 0, together with those that happened.
        execution: u32,
    },
    /// An effect ended.
    EffectRemoved {
        /// The reason.
        reason: RemoveReason,
    },
    /// An effect changed.
    EffectChanged {
        /// What changed.
        what: EffectChange,
        /// Its stacks now.
        stacks: u32,
        /// Its level now.
        level: u32,
    },
    /// An effect was refused by immunity. The fact's effect is the refused one.
    Immune {
        /// The active effect that refused it.
        blocker: EffectKey,
        /// Its definition.
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
    /// A cue is triggered.
    Cue {
        /// The tag.
        tag: TagId,
        /// How the cue is triggered.
        cue: CueType,
        /// Where its context lies: `Position` and `Distance` of the hit, `Origin`. Empty for what has no place of its
        /// own.
        detail: Span,
    },
    /// An attribute that means life fell to zero.
    Died {
        /// The attribute.
        attribute: AttributeId,
    },
    /// A controller came into being.
    Spawned {
        /// Its owner.
        owner: ActorId,
    },
    /// A controller is gone.
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
        /// The old one.
        old: ActorId,
        /// The new one.
        new: ActorId,
    },
    /// A calculation put a tag on the context, e.g. `Hit.Critical`.
    ContextTag {
        /// The tag.
        tag: TagId,
    },
    /// A controller was restored or inserted; one fact instead of a storm.
    Restored,
    /// An ability became active.
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
        /// Whether it was cut short.
        cancelled: bool,
        /// Whether an interrupt did it.
        interrupted: bool,
    },
    /// The host is asked to do something. Parameters lie in the details.
    TaskRequest {
        /// The ability.
        ability: AbilityId,
        /// The task type.
        task: TaskKindId,
        /// What to answer with; [`TaskKey::NONE`] if nobody waits.
        task_key: TaskKey,
        /// Where the parameters lie.
        detail: Span,
    },
    /// A waiting task gave something.
    TaskEnded {
        /// The ability.
        ability: AbilityId,
        /// The task type.
        task: TaskKindId,
        /// The task.
        task_key: TaskKey,
        /// What it gave: held seconds, a magnitude, a new value.
        value: f64,
        /// The result.
        result: TaskResult,
    },
    /// A gameplay event arrived. Its payload lies in the details.
    GameplayEvent {
        /// The tag.
        tag: TagId,
        /// The magnitude.
        magnitude: f64,
        /// Where the payload lies.
        detail: Span,
    },
    /// A cast goes on.
    Cast {
        /// The ability.
        ability: AbilityId,
        /// Ticks so far.
        tick: u32,
        /// Its whole length.
        length: SimTime,
        /// What happened.
        step: CastStep,
    },
    /// A global cooldown began or is over.
    GlobalCooldown {
        /// The group.
        group: GroupId,
        /// Whether it runs.
        running: bool,
        /// Its length.
        length: SimTime,
    },
    /// Charges of an ability changed.
    Charges {
        /// The ability.
        ability: AbilityId,
        /// The grant.
        grant: GrantId,
        /// How many there are.
        have: u32,
        /// How many fit.
        max: u32,
        /// Length of the cooldown that runs, or zero.
        length: SimTime,
    },
    /// An input went down or up.
    Input {
        /// The input.
        input: InputId,
        /// Whether it is down now.
        pressed: bool,
        /// How long it was down.
        held: SimTime,
    },
    /// Damage, healing or threat was dealt.
    Damage {
        /// What.
        damage: ugas_doc::CombatKind,
        /// How it was dealt.
        style: ugas_doc::CombatStyle,
        /// Whom it is credited to.
        credit: ControllerId,
        /// What arrived.
        amount: f64,
        /// What was meant.
        raw: f64,
        /// What pools took.
        absorbed: f64,
        /// What was beyond the end.
        overkill: f64,
    },
    /// An ability set was granted.
    SetGranted {
        /// The set.
        set: AbilitySetId,
        /// Its handle.
        handle: u64,
    },
    /// A granted ability set was taken back.
    SetRevoked {
        /// The set.
        set: AbilitySetId,
        /// Its handle.
        handle: u64,
    },
    /// The sim moved to other rules. What that changed follows.
    Reloaded {
        /// The hash of the old rules.
        from: u64,
        /// The hash of the new rules.
        to: u64,
    },
}

/// A piece of [`Facts::detail`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C)]
pub struct Span {
    /// Where it begins.
    pub offset: u32,
    /// How many bytes.
    pub len: u32,
}

/// How a waiting task gave something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum TaskResult {
    /// It is done.
    Completed,
    /// Its ability ended first.
    Cancelled,
    /// It could not be done.
    Failed,
    /// It gave something and waits for more.
    Output,
}

/// A step of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum CastStep {
    /// It began.
    Started,
    /// A tick.
    Tick,
    /// It is complete.
    Finished,
    /// It was cancelled.
    Cancelled,
    /// It was interrupted.
    Interrupted,
}

impl FactKind {
    /// The name scenarios use.
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

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C)]
pub struct Fact {
    /// The time.
    pub at: SimTime,
    /// The controller.
    pub who: ControllerId,
    /// Through whom, or [`ControllerId::NONE`].
    pub source: ControllerId,
    /// Through which application, or [`EffectKey::NONE`].
    pub key: EffectKey,
    /// The op that started it all.
    pub root: OpId,
    /// The nearest cause; `Sim::chain` walks it back.
    pub link: u32,
    /// Of which definition, or [`EffectId::NONE`].
    pub effect: EffectId,
    /// What happened.
    pub kind: FactKind,
}

const _: () = assert!(size_of::<Fact>() == 96);

impl Fact {
    /// Why it happened.
    pub fn cause(&self) -> Cause {
        Cause { root: self.root, link: self.link }
    }
}

/// A log of facts, and the bytes of what does not fit into one.
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

    /// The changes of one attribute, of one controller or of all.
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

/// A mistake somebody should hear of; nothing was lost by it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A tag was to be removed that is not there.
    TagUnderflow {
        /// The tag.
        tag: TagId,
    },
    /// A modifier was skipped because the caller did not set its value.
    MissingSetByCaller {
        /// The key.
        key: KeyId,
    },
    /// A derived value or a live magnitude is not finite and counts as nothing.
    NonFinite {
        /// The attribute.
        attribute: AttributeId,
    },
    /// A condition has a part that is not finite, and is false for it.
    NonFiniteCondition,
    /// A computed value left the range of numbers and was held at its edge.
    Saturated {
        /// The attribute.
        attribute: AttributeId,
    },
    /// A duration of zero or less: applied and removed at once.
    ZeroDuration,
    /// A duration override on an effect without a duration.
    DurationOverrideIgnored,
    /// A controller document's current value is not what its effects give.
    ValueMismatch {
        /// The attribute.
        attribute: AttributeId,
        /// What the document says.
        stated: f64,
        /// What comes out.
        found: f64,
    },
    /// A tag that allows one grant has more.
    MultipleGrants {
        /// The tag.
        tag: TagId,
    },
    /// A reaction was refused.
    ReactionRefused {
        /// The refusal.
        refusal: Refusal,
    },
    /// Ongoing requirements of an effect flip without end.
    Cycle,
    /// A limit was reached in a reaction or by the log.
    Limit,
    /// Something a document says does not exist at the place it is used.
    MissingTarget,
}

impl DiagnosticKind {
    /// The name scenarios use.
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

/// A diagnostic with its place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The time.
    pub at: SimTime,
    /// The controller.
    pub who: ControllerId,
    /// Through which definition.
    pub effect: EffectId,
    /// The cause.
    pub cause: Cause,
    /// What happened.
    pub kind: DiagnosticKind,
}

/// A step of a controller's life, in the specified orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifecycleStep {
    /// Made on its owner.
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
    /// Effects bound to the avatar's place were looked at again.
    AvatarEffectsRevalidated,
    /// The new avatar was set.
    AvatarSet,
    /// Abilities that need the avatar were looked at again.
    AvatarAbilitiesRevalidated,
    /// All effects were removed.
    EffectsRemoved,
    /// All abilities were revoked.
    AbilitiesRevoked,
    /// Nobody is told about it any more.
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

/// What the trace tells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TraceKind {
    /// A step of a life.
    Lifecycle(LifecycleStep),
    /// A refused application.
    Refused {
        /// Of which effect, or [`EffectId::NONE`].
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
        /// The task; [`TaskKey::NONE`] for one that is done at once.
        task_key: TaskKey,
        /// The new state.
        to: TaskState,
    },
}

/// Where a task stands. One that nothing was made of yet is `Inactive` and has no entry in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum TaskState {
    /// Its turn has not come.
    Inactive,
    /// Made, not yet begun.
    Ready,
    /// It acts, waits or ticks.
    Active,
    /// Over by itself, whether it succeeded or not.
    Completed,
    /// Its ability, or the race it ran in, ended first.
    Cancelled,
}

/// Where a granted ability stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum AbilityState {
    /// The controller does not have it.
    NotGranted,
    /// Granted, not running.
    Granted,
    /// Its checks run.
    Activating,
    /// Checks passed; a validation is awaited.
    PendingConfirmation,
    /// Running.
    Active,
    /// Its end runs.
    Ending,
}
