//! Abilities: what an actor can do, when it may, what it costs and what then happens step by step.

use crate::{Metadata, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tag lists of an ability.
///
/// ```
/// assert!(ugas_doc::AbilityTags::default().ability_tags.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AbilityTags {
    /// What the ability is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_tags: Vec<String>,
    /// Owner's tags that prevent it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by_tags: Vec<String>,
    /// Abilities it prevents while active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_abilities_with_tags: Vec<String>,
    /// Abilities it cancels, and owner's tags that cancel it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancel_abilities_with_tags: Vec<String>,
    /// Owner must have all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activation_required_tags: Vec<String>,
    /// Owner must have none of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activation_blocked_tags: Vec<String>,
    /// Granted to the owner while active.
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
    /// The task type.
    #[serde(rename = "Type")]
    pub kind: String,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// Seconds between ticks; 0 is every frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_interval: Option<f64>,
    /// Who ticks first when the budget is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Composite: its tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbilityTask>,
    /// Branch: a tag query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Branch: an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Branch: if it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<AbilityTask>,
    /// Branch: if not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub r#else: Vec<AbilityTask>,
    /// Repeat: how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// Who commits cost and cooldown.
///
/// ```
/// assert_eq!(ugas_doc::CommitPolicy::default(), ugas_doc::CommitPolicy::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CommitPolicy {
    /// The controller, before the first task.
    #[default]
    Auto,
    /// A CommitAbility task.
    Manual,
}

/// Where an ability runs first.
///
/// ```
/// assert_eq!(ugas_doc::NetExecution::default(), ugas_doc::NetExecution::LocalPredicted);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NetExecution {
    /// On the client, confirmed by the server.
    #[default]
    LocalPredicted,
    /// Only on the client.
    LocalOnly,
    /// On the server, then on the client.
    ServerInitiated,
    /// Only on the server.
    ServerOnly,
}

/// Validation that answers later.
///
/// ```
/// assert!(!ugas_doc::AsyncValidation::default().required);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AsyncValidation {
    /// Whether it is asked for.
    #[serde(default)]
    pub required: bool,
    /// What is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Milliseconds until it counts as refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    /// Whether the client goes ahead.
    #[serde(default)]
    pub predicted: bool,
}

/// How abilities of one group share it.
///
/// ```
/// assert_eq!(ugas_doc::GroupPolicy::default(), ugas_doc::GroupPolicy::Independent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GroupPolicy {
    /// Refuses others.
    Exclusive,
    /// Gives way to others.
    Replaceable,
    /// Does not care.
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
    /// Its name.
    pub name: String,
    /// Its policy.
    #[serde(default)]
    pub policy: GroupPolicy,
}

/// What activates an ability by itself.
///
/// ```
/// let t = ugas_doc::Trigger { event: Some("Event.Parried".into()), ..Default::default() };
/// assert!(t.tag_added.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Trigger {
    /// A gameplay event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// A tag that appears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_added: Option<String>,
    /// A tag while it is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_present: Option<String>,
    /// An attribute that crosses a threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The threshold from above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// The threshold from below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// An effect that is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_applied: Option<String>,
    /// The death of the owner. The target is the controller that caused it; the ability needs `CastableWhileDead: true`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub died: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The global cooldown an ability obeys and starts.
///
/// ```
/// assert_eq!(ugas_doc::GlobalCooldown::default().length, 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GlobalCooldown {
    /// Its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Its length in seconds.
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
    /// How many fit.
    pub max: u32,
    /// How many one use costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u32>,
    /// How many one cooldown restores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_cooldown: Option<u32>,
    /// Seconds of one cooldown.
    pub cooldown: f64,
    /// Whether the client predicts its length.
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
    /// The cast goes on.
    #[default]
    Continue,
    /// The ability is cancelled.
    Cancel,
    /// The cast ends at once as if it had run to its end; ticks that have not run are skipped.
    Complete,
}

fn goes_on(value: &OnTargetLost) -> bool {
    *value == OnTargetLost::Continue
}

/// Casting and channelling.
///
/// ```
/// assert_eq!(ugas_doc::Cast::default().length, 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Cast {
    /// Seconds.
    pub length: f64,
    /// Number of ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<u32>,
    /// Whether one more runs at the start.
    #[serde(default)]
    pub initial_tick: bool,
    /// Whether letting go cancels it.
    #[serde(default)]
    pub cancel_on_release: bool,
    /// Whether it can be interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// Whether moving leaves it alone. `false` cancels it when its owner gets the tag `State.Moving` or is moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub while_moving: Option<bool>,
    /// What happens when the target dies, is removed, leaves the range or fails the target's tag checks.
    #[serde(default, skip_serializing_if = "goes_on")]
    pub on_target_lost: OnTargetLost,
    /// The range within which the target must stay. The ability's `MaxRange` if absent; not below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_range: Option<f64>,
    /// Whether the client predicts its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predict_length: Option<bool>,
}

/// A `gameplay_ability` document.
///
/// ```
/// let a = ugas_doc::Ability::new("GA_Fireball");
/// assert_eq!(a.name, "GA_Fireball");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Ability {
    /// Unique name.
    pub name: String,
    /// Tag lists.
    pub tags: AbilityTags,
    /// Cost effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Cooldown effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown: Option<String>,
    /// Tasks in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AbilityTask>,
    /// Display data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Range of a targeted activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_range: Option<f64>,
    /// Validation that answers later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_validation: Option<AsyncValidation>,
    /// Who commits.
    pub commit_policy: CommitPolicy,
    /// Whether several may run.
    pub allow_multiple_instances: bool,
    /// Tag query that must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_query: Option<String>,
    /// Expression that must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_condition: Option<String>,
    /// Host hook that must agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_activate: Option<String>,
    /// Whether activating again restarts it.
    pub retrigger: bool,
    /// Whether a refused press is tried again while held.
    pub held_activation: bool,
    /// Whether it needs an avatar.
    pub avatar_dependent: bool,
    /// Source's tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source_required_tags: Vec<String>,
    /// Target's tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_required_tags: Vec<String>,
    /// Target's tags that prevent it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_blocked_tags: Vec<String>,
    /// Its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_group: Option<ActivationGroup>,
    /// What activates it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// Active from grant to revoke.
    pub passive: bool,
    /// Where it runs first.
    pub net_execution: NetExecution,
    /// Whether a client may cancel it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_may_cancel: Option<bool>,
    /// Whether the dead may use it.
    pub castable_while_dead: bool,
    /// Its global cooldown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_cooldown: Option<GlobalCooldown>,
    /// Its charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charges: Option<Charges>,
    /// Its cast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cast: Option<Cast>,
    /// Tasks per cast tick, on every side that simulates it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_tick: Vec<AbilityTask>,
    /// Tasks per cast tick where it is locally controlled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_predicted_tick: Vec<AbilityTask>,
    /// Tasks per cast tick on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_tick: Vec<AbilityTask>,
    /// Tasks per cast tick on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_tick: Vec<AbilityTask>,
    /// Tasks on cancellation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_cancel: Vec<AbilityTask>,
    /// Tasks on cancellation where it is locally controlled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_predicted_cancel: Vec<AbilityTask>,
    /// Tasks on cancellation on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_cancel: Vec<AbilityTask>,
    /// Tasks on cancellation on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_cancel: Vec<AbilityTask>,
    /// Tasks on interruption.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_interrupt: Vec<AbilityTask>,
    /// Tasks on interruption on the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_server_interrupt: Vec<AbilityTask>,
    /// Tasks on interruption on observers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_simulated_interrupt: Vec<AbilityTask>,
    /// Tasks on a misprediction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_mispredicted: Vec<AbilityTask>,
    /// Activated again whenever castable while held.
    pub automatic: bool,
    /// Values that modifiers do not touch.
    #[serde(rename = "Static", skip_serializing_if = "Vec::is_empty")]
    pub static_values: Vec<String>,
}
