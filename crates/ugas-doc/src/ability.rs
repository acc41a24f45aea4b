//! Abilities: actions of an actor with their requirements, costs, cooldowns and tasks.

use crate::{Document, Metadata, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tag lists of an ability. A listed tag also matches the tags below it: `State.Debuff` matches
/// `State.Debuff.Stunned`.
///
/// ```
/// assert!(ugas_doc::AbilityTags::default().ability_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AbilityTags {
    /// Tags that describe the ability. Other lists and queries match them. Example: `AbilityTags:
    /// [Ability.Type.Spell.Fire]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_tags: Vec<String>,
    /// Status tags of the owner that block the activation, such as silences and stuns; reported as `BlockedByTags`.
    /// Tested at activation only: a running ability continues. Example: `BlockedByTags: [State.Silenced]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by_tags: Vec<String>,
    /// While this ability is active, the owner's other abilities with one of these among their `AbilityTags` cannot
    /// be activated. Example: `BlockAbilitiesWithTags: [Ability.Type.Spell]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_abilities_with_tags: Vec<String>,
    /// The specification's list for both directions. A tag here is the same as the tag in `CancelledByTags` and in
    /// `CancelOtherAbilitiesWithTags`; write the one that is meant. Example: `CancelAbilitiesWithTags:
    /// [State.Stunned]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancel_abilities_with_tags: Vec<String>,
    /// Tags of the owner that cancel this ability: it is cancelled when the owner gains one of them. Example:
    /// `CancelledByTags: [State.Stunned]` cancels a cast when its caster is stunned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancelled_by_tags: Vec<String>,
    /// Tags of other abilities that this ability cancels: when it activates, the owner's other active abilities
    /// with one of these among their `AbilityTags` are cancelled. Example: `CancelOtherAbilitiesWithTags:
    /// [Ability.Type.Melee]` lets a dodge cancel an attack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancel_other_abilities_with_tags: Vec<String>,
    /// The owner must have all of these tags at activation. Example: `ActivationRequiredTags: [State.Alive]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activation_required_tags: Vec<String>,
    /// Preconditions of the ability itself: the owner must have none of these tags at activation; reported as
    /// `BlockedTags`, before `BlockedByTags` is tested. Example: `ActivationBlockedTags: [State.Mounted]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activation_blocked_tags: Vec<String>,
    /// Tags that the owner has while the ability is active. Example: `ActivationOwnedTags: [State.Casting]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activation_owned_tags: Vec<String>,
}

/// One entry of a task list.
///
/// ```
/// let t = ugas_doc::AbilityTask { kind: "WaitDelay".into(), ..Default::default() };
/// assert!(t.tasks.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AbilityTask {
    /// The task type, such as `WaitDelay` or `ApplyEffectToTarget`.
    #[serde(rename = "Type")]
    pub kind: String,
    /// The parameters of the task type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// Seconds between ticks; 0 ticks every frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_interval: Option<f64>,
    /// Tasks with a higher priority tick first when the tick budget is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Sequence, Parallel, Race, Repeat: the inner tasks. WaitGameplayEvent: the tasks that run at each event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbilityTask>,
    /// Branch: a tag query over the owner's tags, such as `State.Alive & !State.Stunned`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Branch: an expression. A branch has either `Query` or `When`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Branch: the tasks that run if the condition is true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<AbilityTask>,
    /// Branch: the tasks that run if the condition is false.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub r#else: Vec<AbilityTask>,
    /// Repeat: the number of rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// When cost and cooldown are committed.
///
/// ```
/// assert_eq!(ugas_doc::CommitPolicy::default(), ugas_doc::CommitPolicy::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CommitPolicy {
    /// Before the first task.
    #[default]
    Auto,
    /// By a CommitAbility task.
    Manual,
}

/// Where an ability runs.
///
/// ```
/// assert_eq!(ugas_doc::NetExecution::default(), ugas_doc::NetExecution::LocalPredicted);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NetExecution {
    /// On the client in prediction; the server confirms or rejects it.
    #[default]
    LocalPredicted,
    /// Only on the client.
    LocalOnly,
    /// On the server first, then on the client.
    ServerInitiated,
    /// Only on the server.
    ServerOnly,
}

/// A validation that the host answers later, such as a check with an inventory service.
///
/// ```
/// assert!(!ugas_doc::AsyncValidation::default().required);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AsyncValidation {
    /// Whether the validation is requested.
    #[serde(default)]
    pub required: bool,
    /// What is requested; the host receives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Milliseconds after which a missing answer counts as a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    /// Whether the client runs the ability before the answer arrives.
    #[serde(default)]
    pub predicted: bool,
}

/// How abilities of one activation group share it.
///
/// ```
/// assert_eq!(ugas_doc::GroupPolicy::default(), ugas_doc::GroupPolicy::Independent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GroupPolicy {
    /// While it is active, other exclusive abilities of the group cannot be activated.
    Exclusive,
    /// It is cancelled when another ability of the group activates.
    Replaceable,
    /// It neither blocks nor is cancelled.
    #[default]
    Independent,
}

/// An activation group.
///
/// ```
/// assert_eq!(ugas_doc::ActivationGroup::default().name, "");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ActivationGroup {
    /// The name of the group.
    pub name: String,
    /// The policy of this ability in the group.
    #[serde(default)]
    pub policy: GroupPolicy,
}

/// What activates an ability without a command. A trigger has exactly one of `Event`, `TagAdded`, `TagPresent`,
/// `Attribute`, `EffectApplied` and `Died`.
///
/// ```
/// let t = ugas_doc::Trigger { event: Some("Event.Parried".into()), ..Default::default() };
/// assert!(t.tag_added.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Trigger {
    /// A gameplay event with this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The owner gains this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_added: Option<String>,
    /// The owner has this tag; the ability ends when the tag is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_present: Option<String>,
    /// This attribute of the owner crosses `Below` or `Above`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// With `Attribute`: the value falls below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// With `Attribute`: the value rises above this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// This effect is applied to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_applied: Option<String>,
    /// The death of the owner. The target is the controller that caused it; the ability needs `CastableWhileDead: true`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub died: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The global cooldown that an ability starts and waits for.
///
/// ```
/// assert_eq!(ugas_doc::GlobalCooldown::default().length, 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GlobalCooldown {
    /// The group; abilities of one group share the cooldown. `Default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The length in seconds.
    pub length: f64,
}

/// Charges of an ability.
///
/// ```
/// assert_eq!(ugas_doc::Charges::default().max, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Charges {
    /// The largest number of charges.
    pub max: u32,
    /// The charges that one activation costs, 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u32>,
    /// The charges that one cooldown restores, 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_cooldown: Option<u32>,
    /// The cooldown in seconds.
    pub cooldown: f64,
    /// Whether the client predicts the cooldown's length; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predict_length: Option<bool>,
}

/// What happens to a cast whose target is lost.
///
/// ```
/// assert_eq!(ugas_doc::OnTargetLost::default(), ugas_doc::OnTargetLost::Continue);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnTargetLost {
    /// The cast continues.
    #[default]
    Continue,
    /// The ability is cancelled.
    Cancel,
    /// The cast ends immediately as if it had run to its end; ticks that have not run are skipped.
    Complete,
}

fn goes_on(value: &OnTargetLost) -> bool {
    *value == OnTargetLost::Continue
}

/// A cast or channel: ticks over a length of time.
///
/// ```
/// assert_eq!(ugas_doc::Cast::default().length, 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Cast {
    /// The length in seconds.
    pub length: f64,
    /// The number of ticks, 1 by default: a cast has one tick, at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<u32>,
    /// Whether one more tick runs at the start.
    #[serde(default)]
    pub initial_tick: bool,
    /// Whether releasing the input cancels it.
    #[serde(default)]
    pub cancel_on_release: bool,
    /// Whether it can be interrupted; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// Whether the owner may move; true by default. `false` cancels the cast when the owner gains the tag `State.Moving`
    /// or is moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub while_moving: Option<bool>,
    /// What happens when the target dies, is removed, leaves the range or fails the target's tag checks.
    #[serde(default, skip_serializing_if = "goes_on")]
    pub on_target_lost: OnTargetLost,
    /// The range within which the target must stay. The ability's `MaxRange` if absent; not below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_range: Option<f64>,
    /// Whether the client predicts the length; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predict_length: Option<bool>,
}

/// A `gameplay_ability` document: an action of an actor with its requirements, cost, cooldown and tasks.
///
/// ```
/// let a = ugas_doc::Ability::new("GA_Fireball");
/// assert_eq!(a.name, "GA_Fireball");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Ability {
    /// The name, unique in the project.
    pub name: String,
    /// The tag lists.
    pub tags: AbilityTags,
    /// The Instant effect that is applied as cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// The HasDuration effect that is applied as cooldown; its tags under `Cooldown` block the next activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown: Option<String>,
    /// The tasks, in order. The ability ends after the last one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbilityTask>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The largest distance to the target at activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_range: Option<f64>,
    /// A validation that the host answers later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_validation: Option<AsyncValidation>,
    /// When cost and cooldown are committed.
    pub commit_policy: CommitPolicy,
    /// Whether several activations may run at the same time.
    pub allow_multiple_instances: bool,
    /// A tag query over the owner's tags that must be true at activation, such as `State.Alive & !State.Stunned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_query: Option<String>,
    /// An expression that must be true at activation, such as `Health < MaxHealth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_condition: Option<String>,
    /// The name of registered host code that must agree at activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_activate: Option<String>,
    /// Whether activating it again while it is active restarts it.
    pub retrigger: bool,
    /// Whether a refused press is tried again while the input is held.
    pub held_activation: bool,
    /// Whether the owner needs an avatar.
    pub avatar_dependent: bool,
    /// The source of the activation must have all of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source_required_tags: Vec<String>,
    /// The target must have all of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_required_tags: Vec<String>,
    /// The target must have none of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_blocked_tags: Vec<String>,
    /// The activation group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_group: Option<ActivationGroup>,
    /// What activates the ability without a command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// Whether it is active from the moment it is granted until it is revoked.
    pub passive: bool,
    /// Where it runs.
    pub net_execution: NetExecution,
    /// Whether the owning client may cancel it; true by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_may_cancel: Option<bool>,
    /// Whether it can be activated while the owner is dead.
    pub castable_while_dead: bool,
    /// The global cooldown that it starts and waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_cooldown: Option<GlobalCooldown>,
    /// Charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charges: Option<Charges>,
    /// A cast or channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cast: Option<Cast>,
    /// Tasks of each cast tick, on every side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_tick: Vec<AbilityTask>,
    /// Tasks of each cast tick on the owning client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_predicted_tick: Vec<AbilityTask>,
    /// Tasks of each cast tick on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_tick: Vec<AbilityTask>,
    /// Tasks of each cast tick on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_tick: Vec<AbilityTask>,
    /// Tasks when it is cancelled, on every side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_cancel: Vec<AbilityTask>,
    /// Tasks when it is cancelled, on the owning client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_predicted_cancel: Vec<AbilityTask>,
    /// Tasks when it is cancelled, on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_cancel: Vec<AbilityTask>,
    /// Tasks when it is cancelled, on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_cancel: Vec<AbilityTask>,
    /// Tasks when the cast is interrupted, on every side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_interrupt: Vec<AbilityTask>,
    /// Tasks when the cast is interrupted, on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_interrupt: Vec<AbilityTask>,
    /// Tasks when the cast is interrupted, on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_interrupt: Vec<AbilityTask>,
    /// Tasks on the client when the server rejects a predicted activation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_mispredicted: Vec<AbilityTask>,
    /// Repeated activation while the input is held. Not supported yet: a load error.
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-unsupported" = true)))]
    pub automatic: bool,
    /// Values that combat rules do not change: `CastLength`, `GlobalCooldown`, `Cooldown`, `Cost`, `MaxCharges`,
    /// `ChargeCost`, `ChargesPerCooldown`.
    #[serde(rename = "Static", skip_serializing_if = "Vec::is_empty")]
    pub static_values: Vec<String>,
}

impl Document for Ability {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        let cost = self.cost.as_ref().map(|c| format!("cost {c}"));
        let cooldown = self.cooldown.as_ref().map(|c| format!("cooldown {c}"));
        let tasks: Vec<&str> = self.tasks.iter().map(|t| t.kind.as_str()).collect();
        let tasks = (!tasks.is_empty()).then(|| tasks.join(", "));
        Some([cost, cooldown, tasks].into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}
