//! Refusals. A refusal is the value that a refused op returns; it names the first check that failed. A refused op
//! changes nothing, except that a refused commit cancels the activation.

use crate::{
    AbilityId, ActionSetId, ActivationKey, AttributeId, CalcId, CapabilityId, ControllerId, EffectId, EffectKey,
    HookId, InputId, KeyId, MotionId, NameKind, SetId, SimTime, TagId,
};
use serde::{Deserialize, Serialize};

/// An argument that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BadValue {
    /// A level below 1.
    Level,
    /// A stack count of 0 or above the limit.
    Stacks,
    /// A request to remove 0 stacks.
    RemoveCount,
    /// A duration that is negative or too long, or a duration for an effect that has none.
    Duration,
    /// A period that is below 1 ms or too long, or a period for an effect that is not periodic.
    Period,
    /// A clock rate outside 0 to 1000.
    Rate,
    /// A position, facing or origin that is not finite.
    Position,
    /// A time that is out of range, e.g. a resimulation stop before the time of the image or after the current time.
    Time,
    /// A number that is not finite.
    Number,
    /// An answer with more targets than its task allows.
    Targets,
    /// A request of a client that is too long to be sent.
    Length,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// The number of controllers in the sim.
    Controllers,
    /// The number of effects on a controller.
    Effects,
    /// The number of modifiers on a controller.
    Modifiers,
    /// The number of attributes of a controller.
    Attributes,
    /// The length of a chain of causes.
    ChainDepth,
    /// The number of reactions to one cause.
    Reactions,
    /// The number of run-time definitions.
    Definitions,
    /// The number of abilities granted to a controller.
    Grants,
    /// The number of distinct combinations of attribute sets in use.
    Layouts,
    /// The number of simultaneous activations of a controller.
    Activations,
    /// The number of parameters or restrictions of a grant.
    Params,
    /// The number of waiting tasks of a controller.
    Tasks,
    /// The number of inputs that are pressed on a controller at the same time.
    Held,
    /// The size in bytes of a coded ability's state.
    CodeState,
    /// The number of ability sets granted to a controller.
    AbilitySets,
    /// The number of capabilities of a controller.
    Capabilities,
    /// The number of blocks on a controller.
    Blocks,
}

/// What forbids an op that is refused with [`Refusal::Restricted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Restriction {
    /// A combat rule of an active effect.
    CombatRule,
    /// An active restriction of the grant.
    Grant,
    /// The definition of the ability: its cast cannot be interrupted.
    NotInterruptible,
    /// The definition of an attribute: a derived attribute has no base value to write.
    DerivedAttribute,
    /// The definition of the attribute set: a stat table is registered only when the controller is spawned.
    StatTable,
    /// The definition of the attribute or attribute set, which is not a resource.
    NotResource,
    /// The definition of the resource: it has no such bound, or the bound follows a stat of the controller.
    ResourceBound,
}

/// The reason why an op was refused. [`Refusal::kind`] returns the name that scenarios use, and [`Refusal::describe`]
/// returns the message.
///
/// ```
/// use ugas_core::{Refusal, TagId};
/// let r = Refusal::RequiredTags { missing: TagId(3) };
/// assert_eq!(r.kind(), "RequiredTags");
/// assert!(!r.is_misuse());
/// assert!(Refusal::StaleHandle.is_misuse());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// The key or id refers to a controller, effect, grant, activation or task that does not exist.
    StaleHandle,
    /// The rules have no definition with this id.
    UnknownName {
        /// The kind of definition.
        kind: NameKind,
        /// The id that was given.
        id: u32,
    },
    /// No attribute set of the controller has the attribute.
    UnknownAttribute {
        /// The controller.
        who: ControllerId,
        /// The attribute.
        attribute: AttributeId,
    },
    /// The value is not replicated to this client, so the client does not predict what reads it.
    NotReplicated {
        /// The controller.
        who: ControllerId,
        /// The attribute.
        attribute: AttributeId,
    },
    /// The controller is inactive.
    Inactive,
    /// Only the authoritative server can run this op.
    Authority,
    /// Only the authoritative server can apply this effect.
    AuthoritativeOnly,
    /// The target lacks a required tag.
    RequiredTags {
        /// The first missing tag.
        missing: TagId,
    },
    /// The target has a blocking tag.
    BlockedTags {
        /// The first blocking tag found.
        found: TagId,
    },
    /// The source lacks a required tag or has a forbidden tag.
    SourceTags {
        /// The missing or forbidden tag.
        tag: TagId,
    },
    /// An active effect makes the target immune.
    Immune {
        /// The effect that grants immunity.
        blocker: EffectKey,
        /// The definition of that effect.
        by: EffectId,
    },
    /// A restriction forbids the op.
    Restricted {
        /// What forbids the op.
        by: Restriction,
    },
    /// The condition or requirement of the effect or ability is false.
    Condition,
    /// The roll of the application chance failed.
    Chance {
        /// The rolled number.
        rolled: f64,
        /// The application chance. A roll below the chance succeeds.
        needed: f64,
    },
    /// The effect already has the maximum number of stacks.
    Stacks {
        /// The maximum number of stacks.
        limit: u32,
    },
    /// A set-by-caller value is missing.
    MissingSetByCaller {
        /// The key.
        key: KeyId,
    },
    /// A computed number is not finite.
    NonFinite {
        /// The attribute that the number was computed for, if any.
        attribute: Option<AttributeId>,
    },
    /// An argument is out of range.
    BadValue {
        /// The argument.
        what: BadValue,
    },
    /// An attribute would depend on itself.
    Cycle {
        /// The controller that has the attribute.
        who: ControllerId,
        /// The attribute.
        attribute: AttributeId,
    },
    /// A limit was reached.
    Limit {
        /// The limit.
        what: LimitKind,
        /// The maximum.
        max: u32,
        /// The link of the cause that reached the limit. `Sim::chain` returns the chain of causes that starts at this
        /// link.
        link: u32,
    },
    /// A hook refused the change.
    Hook {
        /// The hook.
        hook: HookId,
    },
    /// A calculation read an attribute that it does not declare, or wrote an attribute that the rules do not define.
    UndeclaredRead {
        /// The calculation.
        calculator: CalcId,
    },
    /// A cost uses a calculation that draws random numbers. Costs must be known before they are paid, so such a cost is
    /// refused.
    RandomCost {
        /// The calculation.
        calculator: CalcId,
    },
    /// The attribute set is already registered.
    SetRegistered {
        /// The attribute set.
        set: SetId,
    },
    /// The attribute set is not registered.
    SetMissing {
        /// The attribute set.
        set: SetId,
    },
    /// Two attribute sets of one controller would have the same attribute.
    DuplicateAttribute {
        /// The attribute.
        attribute: AttributeId,
        /// The registered attribute set that already has the attribute.
        set: SetId,
    },
    /// Another registered attribute set depends on the set that would be removed.
    SetNeeded {
        /// The dependent attribute set.
        by: SetId,
    },
    /// An active effect modifies an attribute of the attribute set.
    SetInUse {
        /// The effect.
        by: EffectKey,
    },
    /// A controller with this id exists, or existed before. Ids are never reused.
    IdTaken {
        /// The id.
        who: ControllerId,
    },
    /// The run-time definition is in use.
    InUse {
        /// A controller that uses the definition.
        who: ControllerId,
    },
    /// The controller would have no attribute set; it needs at least one.
    NoSets,
    /// The document of an [`Op::Define`](crate::Op::Define) has errors or exceeds a limit, or a scenario step `Reload`
    /// was rejected.
    /// `Sim::define` returns a [`LoadError`](crate::LoadError) with the errors instead.
    BadDefinition,
    /// The image or journal belongs to other rules or another controller, or the journal starts after the image.
    Mismatch,
    /// The ability is not granted to the controller.
    NotGranted,
    /// The ability needs an avatar, but the controller has none, or the state of the controller has not arrived at the
    /// client that owns it.
    NotInitialized,
    /// The ability is already active.
    AlreadyActive {
        /// The activation.
        by: ActivationKey,
    },
    /// The ability is waiting for validation.
    Pending,
    /// The controller is dead.
    Dead {
        /// The depleted attribute.
        attribute: AttributeId,
    },
    /// The controller has a tag that blocks the ability.
    BlockedByTags {
        /// The first blocking tag found.
        found: TagId,
    },
    /// Another active ability blocks this ability.
    BlockedByAbility {
        /// The blocking ability.
        by: AbilityId,
    },
    /// The target lacks a tag that the ability requires, or has a tag that the ability forbids.
    TargetTags {
        /// The missing or forbidden tag.
        tag: TagId,
    },
    /// An active ability of the same activation group blocks the ability.
    Group {
        /// The blocking ability.
        by: AbilityId,
    },
    /// The ability's activation query does not match the controller's tags.
    Query,
    /// Another cast is in progress.
    Casting {
        /// The remaining time.
        left: SimTime,
    },
    /// The global cooldown is active.
    GlobalCooldown {
        /// The remaining time.
        left: SimTime,
    },
    /// There are not enough charges.
    Charges {
        /// The available charges.
        have: u32,
        /// The required charges.
        need: u32,
        /// The time until the next charge.
        left: SimTime,
    },
    /// The cost cannot be paid.
    Cost {
        /// The attribute that the cost is paid from.
        attribute: AttributeId,
        /// The current value of that attribute.
        have: f64,
        /// The required value.
        need: f64,
    },
    /// The ability is on cooldown.
    Cooldown {
        /// The cooldown tag.
        tag: TagId,
        /// The remaining time; [`SimTime::NEVER`] if the cooldown does not expire.
        left: SimTime,
    },
    /// The target is missing, does not exist or is dead, or a position for the range check is missing.
    NoTarget,
    /// The target is too far away.
    OutOfRange {
        /// The distance to the target.
        distance: f64,
        /// The maximum range.
        max: f64,
    },
    /// The prediction window of the client is closed, or too many commands wait for their verdicts, and the queue of
    /// requests is full. The client accepts requests again when the server has confirmed a later tick.
    PredictionWindowClosed,
    /// A command that arrived late claims a tick at which the ability was still on cooldown.
    ClaimedDuringCooldown,
    /// The owning client has applied the effect as often as the activation allows.
    EffectBudget {
        /// The exhausted budget: `PerTarget` or `Total` of `ClientEffects`.
        max: u32,
    },
    /// The owning client answers a task before the earliest time that the data allows.
    TooEarly {
        /// The remaining time.
        left: SimTime,
    },
    /// The attribute is a stat that effects may not modify.
    Static {
        /// The stat.
        attribute: AttributeId,
    },
    /// The action of the input is asleep: none of its action sets is live.
    InputAsleep {
        /// The action set of the action that has the highest priority.
        set: ActionSetId,
    },
    /// A tag suppresses the action of the input.
    InputSuppressed {
        /// The tag.
        tag: TagId,
    },
    /// The input is not an axis that the sim receives.
    NotAnAxis {
        /// The input.
        input: InputId,
    },
    /// The motion of the ability did not precede the press.
    Motion {
        /// The motion pattern.
        motion: MotionId,
    },
    /// The controller, or another controller with the same avatar, already has the capability set.
    SetHeld {
        /// The handle of the set.
        handle: u64,
    },
    /// The controller has no capability of the class.
    NoCapability {
        /// The class.
        class: CapabilityId,
    },
    /// The result depends on a random number that the server has not revealed to this client. The client leaves the
    /// result to the server.
    UnknownRoll,
}

impl Refusal {
    /// Returns the name of the variant, as used in scenarios, on the command line and in the studio.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::StaleHandle => "StaleHandle",
            Refusal::UnknownName { .. } => "UnknownName",
            Refusal::UnknownAttribute { .. } => "UnknownAttribute",
            Refusal::NotReplicated { .. } => "NotReplicated",
            Refusal::Inactive => "Inactive",
            Refusal::Authority => "Authority",
            Refusal::AuthoritativeOnly => "AuthoritativeOnly",
            Refusal::RequiredTags { .. } => "RequiredTags",
            Refusal::BlockedTags { .. } => "BlockedTags",
            Refusal::SourceTags { .. } => "SourceTags",
            Refusal::Immune { .. } => "Immune",
            Refusal::Restricted { .. } => "Restricted",
            Refusal::Condition => "Condition",
            Refusal::Chance { .. } => "Chance",
            Refusal::Stacks { .. } => "Stacks",
            Refusal::MissingSetByCaller { .. } => "MissingSetByCaller",
            Refusal::NonFinite { .. } => "NonFinite",
            Refusal::BadValue { .. } => "BadValue",
            Refusal::Cycle { .. } => "Cycle",
            Refusal::Limit { .. } => "Limit",
            Refusal::Hook { .. } => "Hook",
            Refusal::UndeclaredRead { .. } => "UndeclaredRead",
            Refusal::RandomCost { .. } => "RandomCost",
            Refusal::SetHeld { .. } => "SetHeld",
            Refusal::NoCapability { .. } => "NoCapability",
            Refusal::UnknownRoll => "UnknownRoll",
            Refusal::SetRegistered { .. } => "SetRegistered",
            Refusal::SetMissing { .. } => "SetMissing",
            Refusal::DuplicateAttribute { .. } => "DuplicateAttribute",
            Refusal::SetNeeded { .. } => "SetNeeded",
            Refusal::SetInUse { .. } => "SetInUse",
            Refusal::IdTaken { .. } => "IdTaken",
            Refusal::InUse { .. } => "InUse",
            Refusal::NoSets => "NoSets",
            Refusal::BadDefinition => "BadDefinition",
            Refusal::Mismatch => "Mismatch",
            Refusal::NotGranted => "NotGranted",
            Refusal::NotInitialized => "NotInitialized",
            Refusal::AlreadyActive { .. } => "AlreadyActive",
            Refusal::Pending => "Pending",
            Refusal::Dead { .. } => "Dead",
            Refusal::BlockedByTags { .. } => "BlockedByTags",
            Refusal::BlockedByAbility { .. } => "BlockedByAbility",
            Refusal::TargetTags { .. } => "TargetTags",
            Refusal::Group { .. } => "Group",
            Refusal::Query => "Query",
            Refusal::Casting { .. } => "Casting",
            Refusal::GlobalCooldown { .. } => "GlobalCooldown",
            Refusal::Charges { .. } => "Charges",
            Refusal::Cost { .. } => "Cost",
            Refusal::Cooldown { .. } => "Cooldown",
            Refusal::NoTarget => "NoTarget",
            Refusal::OutOfRange { .. } => "OutOfRange",
            Refusal::PredictionWindowClosed => "PredictionWindowClosed",
            Refusal::ClaimedDuringCooldown => "ClaimedDuringCooldown",
            Refusal::EffectBudget { .. } => "EffectBudget",
            Refusal::TooEarly { .. } => "TooEarly",
            Refusal::Static { .. } => "Static",
            Refusal::InputAsleep { .. } => "InputAsleep",
            Refusal::InputSuppressed { .. } => "InputSuppressed",
            Refusal::NotAnAxis { .. } => "NotAnAxis",
            Refusal::Motion { .. } => "Motion",
        }
    }

    /// Returns whether a mistake of the caller, such as a stale handle or an unknown name, caused the refusal. Returns
    /// false if a rule of the game caused the refusal.
    pub fn is_misuse(&self) -> bool {
        matches!(
            self,
            Refusal::StaleHandle
                | Refusal::UnknownName { .. }
                | Refusal::BadValue { .. }
                | Refusal::IdTaken { .. }
                | Refusal::NoSets
                | Refusal::BadDefinition
                | Refusal::Mismatch
                | Refusal::NotGranted
        )
    }

    /// Returns the time until the failed check can pass, measured on the controller's clock: the remaining time of the
    /// cast or cooldown, or the time until the next charge. Returns `None` if the check does not depend on time.
    ///
    /// ```
    /// use ugas_core::{Refusal, SimTime};
    /// let refusal = Refusal::Casting { left: SimTime::seconds(2.0) };
    /// assert_eq!(refusal.remaining(), Some(SimTime::seconds(2.0)));
    /// assert_eq!(Refusal::NoTarget.remaining(), None);
    /// ```
    pub fn remaining(&self) -> Option<SimTime> {
        if let Refusal::Casting { left }
        | Refusal::GlobalCooldown { left }
        | Refusal::Charges { left, .. }
        | Refusal::Cooldown { left, .. }
        | Refusal::TooEarly { left } = *self
        {
            Some(left)
        } else {
            None
        }
    }

    /// Returns the refusal with a different remaining time. Callers use this function to convert the time to another
    /// clock.
    #[must_use]
    pub fn with_remaining(mut self, time: SimTime) -> Refusal {
        if let Refusal::Casting { left }
        | Refusal::GlobalCooldown { left }
        | Refusal::Charges { left, .. }
        | Refusal::Cooldown { left, .. } = &mut self
        {
            *left = time;
        }
        self
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence(None))
    }
}
impl std::error::Error for Refusal {}

/// The reason why `Sim::insert` rejected a [`Portable`](crate::Portable) controller.
///
/// ```
/// use ugas_core::{ControllerId, InsertError};
/// assert!(InsertError::IdTaken(ControllerId(3)).to_string().contains('3'));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InsertError {
    /// A controller with this id already exists.
    IdTaken(ControllerId),
    /// The portable controller was extracted under different rules.
    OtherRules {
        /// The hash of the rules under which the controller was extracted.
        theirs: u64,
        /// The hash of this sim's rules.
        ours: u64,
    },
    /// A limit was reached.
    Limit(Refusal),
    /// A run-time definition of the portable controller does not compile.
    Definition(String),
    /// The controller data is invalid: for example, an index or a count is out of range.
    Damaged(&'static str),
}

impl std::fmt::Display for InsertError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InsertError::IdTaken(who) => write!(f, "controller {} already exists; despawn it first", who.0),
            InsertError::OtherRules { theirs, ours } => {
                write!(
                    f,
                    "the controller data was extracted under different rules: expected hash {ours:016x}, found {theirs:016x}"
                )
            }
            InsertError::Limit(r) => write!(f, "{r}"),
            InsertError::Definition(what) => write!(f, "a run-time definition does not compile: {what}"),
            InsertError::Damaged(what) => write!(f, "the controller data is invalid: {what}"),
        }
    }
}
impl std::error::Error for InsertError {}
