//! Refusals: the first failed check of a command, as a small value. A refused command changes nothing.

use crate::{
    AbilityId, ActivationKey, AttributeId, CalcId, ControllerId, EffectId, EffectKey, HookId, KeyId, SetId, SimTime,
    TagId,
};
use serde::{Deserialize, Serialize};

/// The kinds of definition that rules give ids to.
///
/// ```
/// assert_eq!(ugas_core::NameKind::AbilitySet.to_string(), "ability set");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NameKind {
    /// An attribute.
    Attribute,
    /// An effect.
    Effect,
    /// An ability.
    Ability,
    /// A tag.
    Tag,
    /// An attribute set.
    Set,
    /// An ability set.
    AbilitySet,
    /// A controller template.
    Template,
    /// A run-time definition.
    Definition,
    /// A timeline.
    Timeline,
    /// A task type.
    TaskKind,
    /// A curve.
    Curve,
    /// A calculation.
    Calculation,
    /// A set-by-caller key.
    Key,
    /// An input.
    Input,
}

impl std::fmt::Display for NameKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NameKind::Attribute => "attribute",
            NameKind::Effect => "effect",
            NameKind::Ability => "ability",
            NameKind::Tag => "tag",
            NameKind::Set => "attribute set",
            NameKind::AbilitySet => "ability set",
            NameKind::Template => "controller template",
            NameKind::Definition => "run-time definition",
            NameKind::Timeline => "timeline",
            NameKind::TaskKind => "task type",
            NameKind::Curve => "curve",
            NameKind::Calculation => "calculation",
            NameKind::Key => "set-by-caller key",
            NameKind::Input => "input",
        })
    }
}

/// The argument that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BadValue {
    /// A level below 1.
    Level,
    /// Stacks of 0, or above the limit.
    Stacks,
    /// A stack count to remove that is 0.
    RemoveCount,
    /// A negative or overlong duration.
    Duration,
    /// A period below 1 ms.
    Period,
    /// A clock rate outside 0 to 1000.
    Rate,
    /// A position, facing or origin that is not finite.
    Position,
    /// A time before now, or too far ahead.
    Time,
    /// A number that is not finite.
    Number,
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// Controllers in the sim.
    Controllers,
    /// Effects on a controller.
    Effects,
    /// Modifiers on a controller.
    Modifiers,
    /// Attributes of a controller.
    Attributes,
    /// Length of a chain of causes.
    ChainDepth,
    /// Reactions to one cause.
    Reactions,
    /// Definitions made at run time.
    Definitions,
    /// Abilities granted to a controller.
    Grants,
    /// Combinations of attribute sets in use at once.
    Layouts,
    /// Activations of a controller at once.
    Activations,
    /// Parameters or restrictions of a grant.
    Params,
    /// Waiting tasks of a controller.
    Tasks,
    /// Inputs held at once.
    Held,
    /// Steps of task lists under one cause.
    TaskSteps,
    /// Bytes of a coded ability's state.
    CodeState,
    /// Ability sets granted to a controller.
    AbilitySets,
}

/// Why a command was refused. [`Refusal::kind`] returns the name that scenarios use, [`Refusal::describe`] the sentence.
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
    /// The key or controller id does not exist anymore.
    StaleHandle,
    /// The rules have no definition with this id.
    UnknownName {
        /// The kind of definition.
        kind: NameKind,
        /// The id given.
        id: u32,
    },
    /// The controller has no such attribute.
    UnknownAttribute {
        /// The controller.
        who: ControllerId,
        /// The attribute.
        attribute: AttributeId,
    },
    /// The controller is inactive.
    Inactive,
    /// Only the authoritative server can do this.
    Authority,
    /// Only the authoritative server can apply this effect.
    AuthoritativeOnly,
    /// The target lacks a tag.
    RequiredTags {
        /// The first one missing.
        missing: TagId,
    },
    /// The target has a blocking tag.
    BlockedTags {
        /// The first one found.
        found: TagId,
    },
    /// The tags of the source do not match.
    SourceTags {
        /// The tag missing or forbidden.
        tag: TagId,
    },
    /// An active effect makes the target immune.
    Immune {
        /// That effect.
        blocker: EffectKey,
        /// Its definition.
        by: EffectId,
    },
    /// An active rule restricts it.
    Restricted,
    /// The application condition or requirement is false.
    Condition,
    /// The roll of the application chance failed.
    Chance {
        /// The rolled number.
        rolled: f64,
        /// The roll had to be below this number.
        needed: f64,
    },
    /// The stack is full.
    Stacks {
        /// Its limit.
        limit: u32,
    },
    /// A SetByCaller value is missing.
    MissingSetByCaller {
        /// The key.
        key: KeyId,
    },
    /// A computed number is not finite.
    NonFinite {
        /// The attribute it was for, if any.
        attribute: Option<AttributeId>,
    },
    /// An argument is out of range.
    BadValue {
        /// What changed.
        what: BadValue,
    },
    /// An attribute would depend on itself.
    Cycle {
        /// The controller of the attribute.
        who: ControllerId,
        /// The attribute.
        attribute: AttributeId,
    },
    /// A limit was reached.
    Limit {
        /// What changed.
        what: LimitKind,
        /// Its value.
        max: u32,
        /// The cause whose chain reached it; see `Sim::chain`.
        link: u32,
    },
    /// A hook refused it.
    Hook {
        /// The hook.
        hook: HookId,
    },
    /// A calculation read an attribute that it does not declare.
    UndeclaredRead {
        /// The calculation.
        calculator: CalcId,
    },
    /// A calculation of a cost draws random numbers, so the cost is not known before it is paid.
    RandomCost {
        /// The calculation.
        calculator: CalcId,
    },
    /// The set is registered already.
    SetRegistered {
        /// The set.
        set: SetId,
    },
    /// The set is not registered.
    SetMissing {
        /// The set.
        set: SetId,
    },
    /// Two sets of one controller would have the same attribute.
    DuplicateAttribute {
        /// The attribute.
        attribute: AttributeId,
        /// The set that has it already.
        set: SetId,
    },
    /// Another registered set depends on the set.
    SetNeeded {
        /// The set that depends on it.
        by: SetId,
    },
    /// An active effect modifies the set.
    SetInUse {
        /// That effect.
        by: EffectKey,
    },
    /// The controller id is taken.
    IdTaken {
        /// The id.
        who: ControllerId,
    },
    /// A run-time definition is in use.
    InUse {
        /// By this controller.
        who: ControllerId,
    },
    /// A controller needs at least one attribute set.
    NoSets,
    /// A run-time definition does not compile; `Sim::define` returns the reason.
    BadDefinition,
    /// The snapshot or journal belongs to something else, or the journal does not reach back to the snapshot.
    Mismatch,
    /// The ability is not granted to the controller.
    NotGranted,
    /// The ability needs an avatar, or is not ready here yet.
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
        /// The first one found.
        found: TagId,
    },
    /// An active ability blocks it.
    BlockedByAbility {
        /// That ability.
        by: AbilityId,
    },
    /// The tags of the target do not match.
    TargetTags {
        /// The tag missing or forbidden.
        tag: TagId,
    },
    /// An active ability of the same group blocks it.
    Group {
        /// That ability.
        by: AbilityId,
    },
    /// The activation query is false.
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
        /// The needed charges.
        need: u32,
        /// The time until the next charge.
        left: SimTime,
    },
    /// The cost cannot be paid.
    Cost {
        /// The attribute that pays.
        attribute: AttributeId,
        /// Its value.
        have: f64,
        /// The needed value.
        need: f64,
    },
    /// The ability is on cooldown.
    Cooldown {
        /// The cooldown tag.
        tag: TagId,
        /// The remaining time; [`SimTime::NEVER`] if the cooldown does not expire.
        left: SimTime,
    },
    /// The ability needs a target.
    NoTarget,
    /// The target is too far away.
    OutOfRange {
        /// The distance to the target.
        distance: f64,
        /// The maximum range.
        max: f64,
    },
    /// The client is a whole prediction window ahead of the last confirmed tick: nothing more is predicted until the
    /// server answers.
    PredictionWindowClosed,
    /// A late command claims a tick at which the ability's own cooldown was still running.
    ClaimedDuringCooldown,
}

impl Refusal {
    /// Returns the name of the kind, as scenarios, the command line and the studio write it.
    pub fn kind(&self) -> &'static str {
        match self {
            Refusal::StaleHandle => "StaleHandle",
            Refusal::UnknownName { .. } => "UnknownName",
            Refusal::UnknownAttribute { .. } => "UnknownAttribute",
            Refusal::Inactive => "Inactive",
            Refusal::Authority => "Authority",
            Refusal::AuthoritativeOnly => "AuthoritativeOnly",
            Refusal::RequiredTags { .. } => "RequiredTags",
            Refusal::BlockedTags { .. } => "BlockedTags",
            Refusal::SourceTags { .. } => "SourceTags",
            Refusal::Immune { .. } => "Immune",
            Refusal::Restricted => "Restricted",
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
        }
    }

    /// Returns whether the caller made a mistake (a stale handle, an unknown name); otherwise the rules refused.
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

    /// Returns the time until the check passes again, on the controller's own clock; none for checks that time does not
    /// change.
    ///
    /// ```
    /// use ugas_core::{Refusal, SimTime};
    /// let refusal = Refusal::Casting { left: SimTime::seconds(2.0) };
    /// assert_eq!(refusal.remaining(), Some(SimTime::seconds(2.0)));
    /// assert_eq!(Refusal::NoTarget.remaining(), None);
    /// ```
    pub fn remaining(&self) -> Option<SimTime> {
        match *self {
            Refusal::Casting { left }
            | Refusal::GlobalCooldown { left }
            | Refusal::Charges { left, .. }
            | Refusal::Cooldown { left, .. } => Some(left),
            _ => None,
        }
    }

    /// Returns the refusal with another remaining time, for callers that count on another clock.
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

/// Why a portable controller could not be inserted.
///
/// ```
/// use ugas_core::{ControllerId, InsertError};
/// assert!(InsertError::IdTaken(ControllerId(3)).to_string().contains('3'));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InsertError {
    /// A controller with this id exists.
    IdTaken(ControllerId),
    /// The data belongs to other rules.
    OtherRules {
        /// The hash of its rules.
        theirs: u64,
        /// The hash of the rules here.
        ours: u64,
    },
    /// A limit was reached.
    Limit(Refusal),
    /// One of its run-time definitions does not compile.
    Definition(String),
    /// The data is damaged: an index, a count or a number is invalid.
    Damaged(&'static str),
}

impl std::fmt::Display for InsertError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InsertError::IdTaken(who) => write!(f, "controller {} already exists", who.0),
            InsertError::OtherRules { theirs, ours } => {
                write!(f, "the data belongs to other rules: its hash is {theirs:016x}, expected {ours:016x}")
            }
            InsertError::Limit(r) => write!(f, "{r}"),
            InsertError::Definition(what) => write!(f, "a run-time definition does not compile: {what}"),
            InsertError::Damaged(what) => write!(f, "the data is damaged: {what}"),
        }
    }
}
impl std::error::Error for InsertError {}
