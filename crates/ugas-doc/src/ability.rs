//! Abilities: actions that a controller can perform, with their requirements, costs, cooldowns and tasks.

use crate::{Document, Metadata, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tag lists of an ability. A listed tag also matches its child tags: `State.Debuff` matches
/// `State.Debuff.Stunned`.
///
/// ```
/// assert!(ugas_doc::AbilityTags::default().ability_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AbilityTags {
    /// Tags that describe the ability. Tag lists and queries of other documents select the ability by these tags.
    /// Example: `AbilityTags: [Ability.Type.Spell.Fire]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_tags: Vec<String>,
    /// Status tags that block the activation while the owner has one of them, such as silences and stuns. The refusal
    /// is `BlockedByTags`. The tags are tested only at activation; an ability that is already active continues.
    /// Example: `BlockedByTags: [State.Silenced]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by_tags: Vec<String>,
    /// While this ability is active, the owner's other abilities with one of these tags among their `AbilityTags`
    /// cannot be activated. Example: `BlockAbilitiesWithTags: [Ability.Type.Spell]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_abilities_with_tags: Vec<String>,
    /// The specification gives this list two meanings. A tag in this list has the same effect as the tag in both
    /// `CancelledByTags` and `CancelOtherAbilitiesWithTags`. Prefer one of these two lists. Example:
    /// `CancelAbilitiesWithTags: [State.Stunned]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancel_abilities_with_tags: Vec<String>,
    /// Tags that cancel this ability when the owner gains one of them. Example: `CancelledByTags: [State.Stunned]`
    /// cancels a cast when its caster is stunned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancelled_by_tags: Vec<String>,
    /// When this ability is activated, the owner's other active abilities with one of these tags among their
    /// `AbilityTags` are cancelled. Example: `CancelOtherAbilitiesWithTags: [Ability.Type.Melee]` lets a dodge cancel
    /// an attack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancel_other_abilities_with_tags: Vec<String>,
    /// The owner must have all of these tags at activation. Example: `ActivationRequiredTags: [State.Alive]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activation_required_tags: Vec<String>,
    /// The owner must have none of these tags at activation. Use this list for preconditions of the ability itself. The
    /// refusal is `BlockedTags`; this list is tested before `BlockedByTags`. Example: `ActivationBlockedTags:
    /// [State.Mounted]`.
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
    /// The seconds between two ticks of the task; with 0 the task ticks in every frame. Only a task that ticks can have
    /// this field, such as WaitOverlap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_interval: Option<f64>,
    /// The tick priority. If more tasks are due in a frame than the task budget of the sim allows, tasks with a higher
    /// priority tick first. Only a task that ticks can have this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// For `Sequence`, `Parallel`, `Race` and `Repeat`: the inner tasks. For `WaitGameplayEvent`: the tasks that run at
    /// each event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbilityTask>,
    /// For `Branch`: a tag query over the owner's tags, such as `State.Alive & !State.Stunned`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// For `Branch`: the condition as an expression. A branch has either `Query` or `When`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// For `Branch`: the tasks that run if the condition is true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<AbilityTask>,
    /// For `Branch`: the tasks that run if the condition is false.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub r#else: Vec<AbilityTask>,
    /// For `Repeat`: how many times the inner tasks run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// When an activation commits: pays its cost and starts its cooldown.
///
/// ```
/// assert_eq!(ugas_doc::CommitPolicy::default(), ugas_doc::CommitPolicy::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CommitPolicy {
    /// The activation commits before its first task.
    #[default]
    Auto,
    /// The activation commits when it runs a `CommitAbility` task.
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
    /// On the owning client, as a prediction, and on the server, which confirms or rejects the activation.
    #[default]
    LocalPredicted,
    /// Only on the owning client.
    LocalOnly,
    /// On the server first, then on the owning client.
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
    /// Whether the activation needs the validation.
    #[serde(default)]
    pub required: bool,
    /// The kind of validation, such as `Inventory`. The host receives the kind with the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Milliseconds after which a missing answer counts as a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    /// Whether the client runs the ability before the answer arrives.
    #[serde(default)]
    pub predicted: bool,
}

/// How an ability behaves in its activation group.
///
/// ```
/// assert_eq!(ugas_doc::GroupPolicy::default(), ugas_doc::GroupPolicy::Independent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GroupPolicy {
    /// While the ability is active, other `Exclusive` and `Replaceable` abilities of the group cannot be activated.
    Exclusive,
    /// The ability is cancelled when another `Exclusive` or `Replaceable` ability of the group is activated.
    Replaceable,
    /// The group has no influence on the ability, and the ability does not block or cancel other abilities of the
    /// group.
    #[default]
    Independent,
}

/// The activation group of an ability.
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

/// A condition that activates an ability without a command. A trigger has exactly one of `Event`, `TagAdded`,
/// `TagPresent`, `Attribute`, `EffectApplied` and `Died`.
///
/// ```
/// let t = ugas_doc::Trigger { event: Some("Event.Parried".into()), ..Default::default() };
/// assert!(t.tag_added.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Trigger {
    /// The ability is activated when the owner receives a gameplay event with this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The ability is activated when the owner gains this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_added: Option<String>,
    /// The ability is activated when the owner gains this tag, or when the ability is granted to an owner with this
    /// tag. The ability is cancelled when the tag is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_present: Option<String>,
    /// The ability is activated when this attribute of the owner crosses `Below` or `Above`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// With `Attribute`: the ability is activated when the value falls below this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// With `Attribute`: the ability is activated when the value rises above this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// The ability is activated when this effect is applied to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_applied: Option<String>,
    /// The ability is activated when the owner dies. The target of the activation is the controller that caused the
    /// death. The ability needs `CastableWhileDead: true`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub died: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A global cooldown: a cooldown that all abilities of one group share.
///
/// ```
/// assert_eq!(ugas_doc::GlobalCooldown::default().length, 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GlobalCooldown {
    /// The name of the group; abilities of one group share the cooldown. The default is `Default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The length in seconds.
    pub length: f64,
}

/// The charges of an ability and the cooldown that restores them.
///
/// ```
/// assert_eq!(ugas_doc::Charges::default().max, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Charges {
    /// The maximum number of charges.
    pub max: u32,
    /// The charges that one activation costs, 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u32>,
    /// The charges that one cooldown restores, 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_cooldown: Option<u32>,
    /// The cooldown in seconds.
    pub cooldown: f64,
    /// Whether the owning client predicts the length of the cooldown; true by default.
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
    /// The cast completes immediately; its remaining ticks are skipped.
    Complete,
}

/// Which target the server uses in the ticks of a cast that a client predicts.
///
/// ```
/// assert_eq!(ugas_doc::TickData::default(), ugas_doc::TickData::Latest);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TickData {
    /// The last target that the owning client sent.
    #[default]
    Latest,
    /// The target that the owning client chose in the same tick. The server waits for it until the time of the next
    /// tick; without it, the tick is skipped.
    Required,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn is_latest(value: &TickData) -> bool {
    *value == TickData::Latest
}

fn is_continue(value: &OnTargetLost) -> bool {
    *value == OnTargetLost::Continue
}

/// The cast of an ability, or its channelled phase: the length, the ticks and what cancels it.
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
    /// The number of ticks, 1 by default. The ticks are evenly spaced, and the last tick runs at the end of the cast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<u32>,
    /// Whether an additional tick runs at the start of the cast.
    #[serde(default)]
    pub initial_tick: bool,
    /// Whether releasing the input cancels the cast.
    #[serde(default)]
    pub cancel_on_release: bool,
    /// Whether a press that is refused because of the cast cancels the cast and is tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancel_on_input: bool,
    /// Whether the cast can be interrupted; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// Whether the owner may move during the cast; true by default. With `false`, the cast is cancelled when the owner
    /// gains the tag `State.Moving` or its position changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub while_moving: Option<bool>,
    /// What happens when the target dies, is removed, leaves the range or fails the ability's target tag checks.
    #[serde(default, skip_serializing_if = "is_continue")]
    pub on_target_lost: OnTargetLost,
    /// The range within which the target must stay. The default is the ability's `MaxRange`; a value below that
    /// `MaxRange` is a load error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_range: Option<f64>,
    /// Whether the owning client predicts the length of the cast; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predict_length: Option<bool>,
    /// Which target the ticks on the server use. `Latest` is the last target that the owning client sent. With
    /// `Required`, a tick waits for the target that the client chose in the same tick, at most until the time of the
    /// next tick; then it is skipped. `Required` needs a `SetTarget` task in `OnPredictedTick`.
    #[serde(default, skip_serializing_if = "is_latest")]
    pub tick_data: TickData,
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
    /// The Instant effect that is applied as the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// The HasDuration effect that is applied as the cooldown. The ability cannot be activated while the owner has one
    /// of the effect's granted `Cooldown.*` tags. If the effect grants no `Cooldown.*` tag, each of its granted tags
    /// blocks the activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown: Option<String>,
    /// The tasks, in order. The ability ends after the last task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbilityTask>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The maximum distance to the target at activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_range: Option<f64>,
    /// A validation that the host answers later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_validation: Option<AsyncValidation>,
    /// When an activation commits: pays its cost and starts its cooldown.
    pub commit_policy: CommitPolicy,
    /// Whether several activations may run at the same time.
    pub allow_multiple_instances: bool,
    /// A tag query over the owner's tags that must be true at activation, such as `State.Alive & !State.Stunned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_query: Option<String>,
    /// An expression that must be true at activation, such as `Health < MaxHealth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_condition: Option<String>,
    /// The name of a registered host function that must return true at activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_activate: Option<String>,
    /// Whether an active ability restarts when it is activated again.
    pub retrigger: bool,
    /// Whether an activation that was refused when the input was pressed is tried again while the input is held.
    pub held_activation: bool,
    /// Whether the owner must have an avatar.
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
    /// The triggers that activate the ability without a command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// Whether the ability is activated when it is granted and stays active until it is revoked.
    pub passive: bool,
    /// Where the ability runs: on the owning client, on the server or on both.
    pub net_execution: NetExecution,
    /// Whether the owning client may cancel the ability; true by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_may_cancel: Option<bool>,
    /// Whether the ability can be activated while the owner is dead.
    pub castable_while_dead: bool,
    /// The global cooldown that a commit of the ability starts. While the global cooldown runs, the ability cannot be
    /// activated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_cooldown: Option<GlobalCooldown>,
    /// The charges of the ability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charges: Option<Charges>,
    /// The cast of the ability, or its channelled phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cast: Option<Cast>,
    /// Tasks that run at each cast tick, on the server and on the owning client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_tick: Vec<AbilityTask>,
    /// Tasks that run at each cast tick, only on the machine whose player plays the controller: the owning client, a
    /// listen server, or a game without a network. On a listen server they run before those of `OnServerTick`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_predicted_tick: Vec<AbilityTask>,
    /// Tasks that run at each cast tick, only on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_tick: Vec<AbilityTask>,
    /// Tasks that run at each cast tick, only on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_tick: Vec<AbilityTask>,
    /// Tasks that run when the ability is cancelled, on the server and on the owning client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_cancel: Vec<AbilityTask>,
    /// Tasks that run when the ability is cancelled, only on the machine whose player plays the controller, as in
    /// `OnPredictedTick`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_predicted_cancel: Vec<AbilityTask>,
    /// Tasks that run when the ability is cancelled, only on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_cancel: Vec<AbilityTask>,
    /// Tasks that run when the ability is cancelled, only on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_cancel: Vec<AbilityTask>,
    /// Tasks that run when the cast is interrupted, on the server and on the owning client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_interrupt: Vec<AbilityTask>,
    /// Tasks that run when the cast is interrupted, only on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_interrupt: Vec<AbilityTask>,
    /// Tasks that run when the cast is interrupted, only on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_interrupt: Vec<AbilityTask>,
    /// Tasks that run on the owning client when the server rejects a predicted activation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_mispredicted: Vec<AbilityTask>,
    /// Whether the ability is activated again in each frame while the input is held. Pressing another input that is
    /// bound to an ability ends the repetition.
    pub automatic: bool,
    /// How long before the end of a cast or a global cooldown a press is queued, in seconds. A queued press is tried at
    /// that end.
    #[serde(skip_serializing_if = "is_zero")]
    pub queue_window: f64,
    /// The motion pattern that must precede the press, such as a quarter circle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<String>,
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
