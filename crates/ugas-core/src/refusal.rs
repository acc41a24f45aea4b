//! Refusals: the first failed check as a small value with what a person needs. Nothing was changed.

use crate::{
    AbilityId, ActivationKey, AttributeId, CalcId, ControllerId, EffectId, EffectKey, HookId, KeyId, Rules, SetId,
    SimTime, TagId,
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

/// Which number was bad.
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

/// Which limit was reached.
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

/// Why a door refused. Kinds and order are those of ruling R-10; [`Refusal::kind`] gives the name scenarios use.
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
    /// The key or controller id names nothing that exists now.
    StaleHandle,
    /// An id that the rules do not have.
    UnknownName {
        /// What was asked for.
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
    /// Only the authority may do this.
    Authority,
    /// The effect is for the authority only.
    AuthoritativeOnly,
    /// The target lacks a tag.
    RequiredTags {
        /// The first one missing.
        missing: TagId,
    },
    /// The target has a tag that forbids it.
    BlockedTags {
        /// The first one found.
        found: TagId,
    },
    /// The source's tags do not fit.
    SourceTags {
        /// The tag missing or forbidden.
        tag: TagId,
    },
    /// An active effect refuses it.
    Immune {
        /// That effect.
        blocker: EffectKey,
        /// Its definition.
        by: EffectId,
    },
    /// A rule forbids it.
    Restricted,
    /// The application condition or requirement does not hold.
    Condition,
    /// The dice said no.
    Chance {
        /// What was rolled.
        rolled: f64,
        /// It had to be below this.
        needed: f64,
    },
    /// The stack is full.
    Stacks {
        /// Its limit.
        limit: u32,
    },
    /// A value the caller has to set is missing.
    MissingSetByCaller {
        /// The key.
        key: KeyId,
    },
    /// A computed number is not finite.
    NonFinite {
        /// The attribute it was for, if any.
        attribute: Option<AttributeId>,
    },
    /// A number given is out of range.
    BadValue {
        /// What changed.
        what: BadValue,
    },
    /// It would close a circle of dependencies.
    Cycle {
        /// Where the circle closes.
        who: ControllerId,
        /// On which attribute.
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
    /// A hook said no.
    Hook {
        /// The hook.
        hook: HookId,
    },
    /// A calculation read what it did not declare.
    UndeclaredRead {
        /// The calculation.
        calculator: CalcId,
    },
    /// A calculation of a cost draws random numbers: nobody could say before whether it can be paid.
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
    /// Something registered needs the set.
    SetNeeded {
        /// The set that needs it.
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
    /// A run-time definition does not compile; `Sim::define` says why.
    BadDefinition,
    /// The image or journal does not belong here, or the journal no longer reaches back to the image.
    Mismatch,
    /// The controller does not have the ability.
    NotGranted,
    /// The ability needs an avatar, or is not ready here yet.
    NotInitialized,
    /// The ability runs already.
    AlreadyActive {
        /// The activation.
        by: ActivationKey,
    },
    /// The ability waits for its validation.
    Pending,
    /// The controller is dead.
    Dead {
        /// By this attribute.
        attribute: AttributeId,
    },
    /// The controller has a tag that prevents the ability.
    BlockedByTags {
        /// The first one found.
        found: TagId,
    },
    /// An active ability prevents it.
    BlockedByAbility {
        /// That ability.
        by: AbilityId,
    },
    /// The target's tags do not fit.
    TargetTags {
        /// The tag missing or forbidden.
        tag: TagId,
    },
    /// An active ability of the same group prevents it.
    Group {
        /// That ability.
        by: AbilityId,
    },
    /// The activation query does not hold.
    Query,
    /// Something is being cast.
    Casting {
        /// For so long.
        left: SimTime,
    },
    /// The global cooldown runs.
    GlobalCooldown {
        /// For so long.
        left: SimTime,
    },
    /// There are not enough charges.
    Charges {
        /// How many there are.
        have: u32,
        /// How many are needed.
        need: u32,
        /// When the next one comes.
        left: SimTime,
    },
    /// The cost cannot be paid.
    Cost {
        /// With this attribute.
        attribute: AttributeId,
        /// What there is.
        have: f64,
        /// What is needed.
        need: f64,
    },
    /// The cooldown runs.
    Cooldown {
        /// By this tag.
        tag: TagId,
        /// For so long; [`SimTime::NEVER`] if it does not end by itself.
        left: SimTime,
    },
    /// The ability needs a target.
    NoTarget,
    /// The target is too far away.
    OutOfRange {
        /// How far it is.
        distance: f64,
        /// How far it may be.
        max: f64,
    },
    /// The client is a whole prediction window ahead of the last confirmed tick: nothing more is predicted until the
    /// server answers.
    PredictionWindowClosed,
    /// A late command claims a tick at which the ability's own cooldown was still running.
    ClaimedDuringCooldown,
}

impl Refusal {
    /// The kind's name, as scenarios, the command line and the studio write it.
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

    /// Whether the caller made a mistake (a stale handle, an unknown name), as opposed to the rules saying no.
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

    /// A sentence for a person, with names from the rules.
    pub fn describe(&self, rules: &Rules) -> String {
        let tag = |t: TagId| rules.tag_name(t).unwrap_or("?").to_owned();
        let attribute = |a: AttributeId| rules.attribute_name(a).unwrap_or("?").to_owned();
        let ability = |a: AbilityId| rules.ability_name(a).unwrap_or("a run-time ability").to_owned();
        let set = |s: SetId| rules.set_name(s).unwrap_or("?").to_owned();
        match *self {
            Refusal::StaleHandle => "the handle names nothing that exists now".into(),
            Refusal::UnknownName { kind, id } => format!("the rules have no {kind:?} with id {id}"),
            Refusal::UnknownAttribute { who: ControllerId::NONE, attribute: a } => {
                format!("it reads {} of its source, but has none; give one with Spec::from", attribute(a))
            }
            Refusal::UnknownAttribute { who, attribute: a } => {
                format!("controller {} has no attribute {}; register a set that defines it", who.0, attribute(a))
            }
            Refusal::Inactive => "the controller is inactive".into(),
            Refusal::Authority => "only the authority may do this".into(),
            Refusal::AuthoritativeOnly => "the effect is for the authority only".into(),
            Refusal::RequiredTags { missing } => format!("the required tag {} is missing", tag(missing)),
            Refusal::BlockedTags { found } => format!("the blocking tag {} is there", tag(found)),
            Refusal::SourceTags { tag: t } => format!("the source's tags do not fit: {}", tag(t)),
            Refusal::Immune { by, .. } => {
                format!("the target is immune through {}", rules.effect_name(by).unwrap_or("a run-time effect"))
            }
            Refusal::Restricted => "a rule forbids it".into(),
            Refusal::Condition => "the application condition does not hold".into(),
            Refusal::Chance { rolled, needed } => format!("rolled {rolled:.4}, needed below {needed}"),
            Refusal::Stacks { limit } => format!("the stack is full at {limit}"),
            Refusal::MissingSetByCaller { key } => {
                format!("the caller has to set {}", rules.key_name(key).unwrap_or("?"))
            }
            Refusal::NonFinite { attribute: Some(a) } => format!("the number for {} is not finite", attribute(a)),
            Refusal::NonFinite { attribute: None } => "a computed number is not finite".into(),
            Refusal::BadValue { what } => match what {
                BadValue::Level => "a level is at least 1".into(),
                BadValue::Stacks => "stacks are at least 1 and at most the limit".into(),
                BadValue::RemoveCount => "remove at least 1 stack".into(),
                BadValue::Duration => "a duration is not negative and at most about 400 years".into(),
                BadValue::Period => "a period is at least 1 ms".into(),
                BadValue::Rate => "a clock rate lies between 0 and 1000".into(),
                BadValue::Position => "a position has three finite numbers".into(),
                BadValue::Time => "time only goes forward".into(),
                BadValue::Number => "the number must be finite".into(),
            },
            Refusal::Cycle { who, attribute: a } => {
                format!("it would make {} of controller {} depend on itself", attribute(a), who.0)
            }
            Refusal::Limit { what, max, .. } => format!("the limit of {max} for {what:?} is reached"),
            Refusal::Hook { hook } => format!("the hook {} said no", rules.hook_name(hook).unwrap_or("?")),
            Refusal::UndeclaredRead { calculator } => format!(
                "the calculation {} reads an attribute it did not declare, or writes one that does not exist",
                rules.calculator_name(calculator).unwrap_or("?")
            ),
            Refusal::RandomCost { calculator } => format!(
                "the calculation {} of the cost draws random numbers; a cost must be known before it is paid",
                rules.calculator_name(calculator).unwrap_or("?")
            ),
            Refusal::SetRegistered { set: s } => format!("the set {} is registered already", set(s)),
            Refusal::SetMissing { set: s } => format!("the set {} is not registered", set(s)),
            Refusal::DuplicateAttribute { attribute: a, set: s } => {
                format!("the set {} already defines {}", set(s), attribute(a))
            }
            Refusal::SetNeeded { by } => format!("the set {} needs it", set(by)),
            Refusal::SetInUse { .. } => "an active effect modifies the set; remove it first or use force".into(),
            Refusal::IdTaken { who } => format!("a controller with id {} exists already", who.0),
            Refusal::InUse { who } => format!("controller {} still uses the definition", who.0),
            Refusal::NoSets => "a controller needs at least one attribute set".into(),
            Refusal::BadDefinition => "the definition does not compile; Sim::define says why".into(),
            Refusal::Mismatch => {
                "the image belongs to other rules or another controller, or its journal is too short".into()
            }
            Refusal::NotGranted => "the controller does not have the ability".into(),
            Refusal::NotInitialized => "the ability needs an avatar".into(),
            Refusal::AlreadyActive { .. } => "the ability is active already".into(),
            Refusal::Pending => "the ability waits for its validation".into(),
            Refusal::Dead { attribute: a } => format!("{} is used up: the controller is dead", attribute(a)),
            Refusal::BlockedByTags { found } => format!("the owner's tag {} blocks the ability", tag(found)),
            Refusal::BlockedByAbility { by } => format!("the active ability {} blocks it", ability(by)),
            Refusal::TargetTags { tag: t } => format!("the target's tags do not fit: {}", tag(t)),
            Refusal::Group { by } => format!("the active ability {} of its group prevents it", ability(by)),
            Refusal::Query => "the activation query does not hold".into(),
            Refusal::Casting { left } => format!("a cast is under way for {:.3} s", left.as_seconds()),
            Refusal::GlobalCooldown { left } => {
                format!("the global cooldown runs for {:.3} s", left.as_seconds())
            }
            Refusal::Charges { have, need: 1, .. } => format!("a charge is needed, there are {have}"),
            Refusal::Charges { have, need, .. } => format!("{need} charges are needed, there are {have}"),
            Refusal::Cost { attribute: a, have, need } => {
                format!("it costs {need} {}, there is {have}", attribute(a))
            }
            Refusal::Cooldown { tag: t, left: SimTime::NEVER } => format!("the cooldown {} runs", tag(t)),
            Refusal::Cooldown { tag: t, left } => {
                format!("the cooldown {} runs for {:.3} s", tag(t), left.as_seconds())
            }
            Refusal::NoTarget => {
                "the ability needs a target that exists; one with a range needs a place for both of them too".into()
            }
            Refusal::OutOfRange { distance, max } => {
                format!("the target is {distance:.2} away, at most {max} is allowed")
            }
            Refusal::PredictionWindowClosed => {
                "the prediction window is full: wait until the server confirms earlier commands".into()
            }
            Refusal::ClaimedDuringCooldown => "the ability was on cooldown at the tick the command claims".into(),
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind())
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
    /// It was made under other rules.
    OtherRules {
        /// The hash it carries.
        theirs: u64,
        /// The hash of the rules here.
        ours: u64,
    },
    /// A limit was reached.
    Limit(Refusal),
    /// A run-time definition it carries does not compile here.
    Definition(String),
    /// Its data is damaged: an index, a count or a number that no sim produces.
    Damaged(&'static str),
}

impl std::fmt::Display for InsertError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InsertError::IdTaken(who) => write!(f, "a controller with id {} exists already", who.0),
            InsertError::OtherRules { theirs, ours } => {
                write!(f, "it was made under other rules (hash {theirs:016x}, here {ours:016x})")
            }
            InsertError::Limit(r) => write!(f, "{r}"),
            InsertError::Definition(what) => write!(f, "a run-time definition does not compile here: {what}"),
            InsertError::Damaged(what) => write!(f, "the data is damaged: {what}"),
        }
    }
}
impl std::error::Error for InsertError {}
