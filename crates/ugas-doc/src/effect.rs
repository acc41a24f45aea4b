//! Effects: the only thing that changes attributes and tags.

use crate::{Area, Combat, CombatRule, Magnitude, Metadata, Stacking, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long an effect lives.
///
/// ```
/// assert_eq!(ugas_doc::DurationPolicy::default(), ugas_doc::DurationPolicy::Instant);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DurationPolicy {
    /// Changes base at once and is never active.
    #[default]
    Instant,
    /// Active for its duration.
    HasDuration,
    /// Active until removed.
    Infinite,
}

/// What several applications of one effect on one target do.
///
/// ```
/// assert_eq!(ugas_doc::ExecutionPolicy::default(), ugas_doc::ExecutionPolicy::RunInParallel);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ExecutionPolicy {
    /// Each is its own instance.
    #[default]
    RunInParallel,
    /// One after the other.
    RunInSequence,
    /// One instance from the earliest start to the latest end.
    RunInMerge,
}

/// The four modifier operations.
///
/// ```
/// assert_eq!(ugas_doc::Operation::default(), ugas_doc::Operation::Add);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Operation {
    /// Flat, before the multiplications.
    #[default]
    Add,
    /// Signed bonus: +0.25 is +25 %.
    Multiply,
    /// Flat, after the multiplications.
    AddPost,
    /// Replaces the result; clamping still applies.
    Override,
}

/// Periodic execution.
///
/// ```
/// let p = ugas_doc::Period { period: 1.0, execute_on_application: false };
/// assert_eq!(p.period, 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Period {
    /// Seconds between executions.
    pub period: f64,
    /// One more execution at application.
    #[serde(default)]
    pub execute_on_application: bool,
}

/// One modifier.
///
/// ```
/// use ugas_doc::{Modifier, Operation};
/// let m = Modifier::new("WeaponDamage", Operation::Multiply, 0.2).channel("DamageBonuses");
/// assert_eq!(m.channel.as_deref(), Some("DamageBonuses"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Modifier {
    /// The attribute, as `Name` or `Set.Name`.
    pub attribute: String,
    /// What is done to it.
    pub operation: Operation,
    /// By how much.
    pub magnitude: Magnitude,
    /// Multiply only: bonuses of one channel add up before they multiply; none is a channel of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Counts only while the source has all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_tags: Vec<String>,
    /// Counts only while the target has all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_tags: Vec<String>,
}

impl Modifier {
    /// A modifier without channel or filters.
    pub fn new(attribute: impl Into<String>, operation: Operation, magnitude: impl Into<Magnitude>) -> Modifier {
        Modifier { attribute: attribute.into(), operation, magnitude: magnitude.into(), ..Modifier::default() }
    }

    /// Puts it into a channel.
    pub fn channel(mut self, channel: impl Into<String>) -> Modifier {
        self.channel = Some(channel.into());
        self
    }

    /// Counts only while the source has this tag.
    pub fn source_tag(mut self, tag: impl Into<String>) -> Modifier {
        self.source_tags.push(tag.into());
        self
    }

    /// Counts only while the target has this tag.
    pub fn target_tag(mut self, tag: impl Into<String>) -> Modifier {
        self.target_tags.push(tag.into());
        self
    }
}

/// A named calculation that writes results.
///
/// ```
/// assert!(ugas_doc::Execution::new("ExecCalc_Hit").predictable);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Execution {
    /// The registered calculation.
    pub calculator_class: String,
    /// Whether a client may run it ahead of the server.
    #[serde(default = "yes")]
    pub predictable: bool,
    /// Parameters it can read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
}

impl Execution {
    /// A predictable execution without parameters.
    pub fn new(calculator: impl Into<String>) -> Execution {
        Execution { calculator_class: calculator.into(), predictable: true, params: BTreeMap::new() }
    }
}

/// An ability granted while an effect is active.
///
/// ```
/// assert!(ugas_doc::GrantedAbilityEntry::new("GA_FlameStrike").remove_on_effect_removal);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GrantedAbilityEntry {
    /// The ability.
    pub ability_class: String,
    /// Its level.
    #[serde(default = "one")]
    pub level: u32,
    /// Input binding.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "InputID")]
    pub input_id: Option<String>,
    /// Whether it goes with the effect.
    #[serde(default = "yes")]
    pub remove_on_effect_removal: bool,
}

impl GrantedAbilityEntry {
    /// The ability at level 1, removed with the effect.
    pub fn new(ability: impl Into<String>) -> GrantedAbilityEntry {
        GrantedAbilityEntry { ability_class: ability.into(), level: 1, input_id: None, remove_on_effect_removal: true }
    }
}

/// What an unmet ongoing requirement does.
///
/// ```
/// assert_eq!(ugas_doc::OnOngoingFail::default(), ugas_doc::OnOngoingFail::Inhibit);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnOngoingFail {
    /// Modifiers and tags are off until it holds again.
    #[default]
    Inhibit,
    /// The effect is removed.
    Remove,
}

/// What happens to periods that fall due while an effect is inhibited.
///
/// ```
/// assert_eq!(ugas_doc::PeriodInhibition::default(), ugas_doc::PeriodInhibition::Skip);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PeriodInhibition {
    /// They are lost.
    #[default]
    Skip,
    /// The period starts anew when the effect comes back.
    Reset,
    /// They run when the effect comes back.
    CatchUp,
}

/// One immunity rule: an incoming effect that matches every list given here is refused.
///
/// ```
/// let fire = ugas_doc::ImmunityEntry { effect_tags: vec!["DamageType.Fire".into()], ..Default::default() };
/// assert!(fire.effects.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ImmunityEntry {
    /// Any of these among its effect or granted tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effect_tags: Vec<String>,
    /// It is one of these effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Its source has any of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_tags: Vec<String>,
}

/// Effects applied by an effect.
///
/// ```
/// let e = ugas_doc::ConditionalEffects { on_expired: vec!["GE_Blast".into()], ..Default::default() };
/// assert!(e.on_removed.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ConditionalEffects {
    /// When it is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_applied: Vec<String>,
    /// At each execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_executed: Vec<String>,
    /// When its time is over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_expired: Vec<String>,
    /// When it is removed before its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_removed: Vec<String>,
}

/// A `gameplay_effect` document.
///
/// ```
/// use ugas_doc::{DurationPolicy, Effect};
/// let sword = Effect::infinite("GE_Weapon_FireSword")
///     .multiply_in("WeaponDamage", 0.2, "DamageBonuses")
///     .grants("Item.Type.Sword");
/// assert_eq!(sword.duration_policy, DurationPolicy::Infinite);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Effect {
    /// Unique name.
    pub name: String,
    /// How long it lives.
    pub duration_policy: DurationPolicy,
    /// Seconds, for HasDuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Magnitude>,
    /// Periodic execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// What several applications do.
    #[serde(default)]
    pub execution_policy: ExecutionPolicy,
    /// Which Override wins.
    #[serde(default)]
    pub priority: i32,
    /// Modifiers in authored order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
    /// Calculations in authored order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Execution>,
    /// Tags granted while active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_tags: Vec<String>,
    /// The target must have all of these at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application_required_tags: Vec<String>,
    /// Abilities granted while active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_abilities: Vec<GrantedAbilityEntry>,
    /// Cues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gameplay_cues: Vec<String>,
    /// What the effect is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effect_tags: Vec<String>,
    /// An area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// The target must have none of these at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application_blocked_tags: Vec<String>,
    /// The source must have all of these at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_required_tags: Vec<String>,
    /// The source must have none of these at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_blocked_tags: Vec<String>,
    /// Chance to apply, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_chance: Option<Magnitude>,
    /// Expression that must hold at application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_condition: Option<String>,
    /// Registered host code that must agree at application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_requirement: Option<String>,
    /// The target must keep all of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ongoing_required_tags: Vec<String>,
    /// The target must keep free of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ongoing_blocked_tags: Vec<String>,
    /// What an unmet ongoing requirement does.
    #[serde(default)]
    pub on_ongoing_fail: OnOngoingFail,
    /// Periods that fall due while inhibited.
    #[serde(default)]
    pub period_inhibition: PeriodInhibition,
    /// What it refuses while active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub immunity: Vec<ImmunityEntry>,
    /// Removes active effects with any of these tags at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_effects_with_tags: Vec<String>,
    /// Stacking of one instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacking: Option<Stacking>,
    /// Re-evaluated when the avatar changes.
    #[serde(default)]
    pub bound_to_avatar_location: bool,
    /// Effects applied by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<ConditionalEffects>,
    /// Combat rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<CombatRule>,
    /// Combat marking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combat: Option<Combat>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Effect {
    /// An effect that changes base at once.
    pub fn instant(name: impl Into<String>) -> Effect {
        Effect { name: name.into(), ..Effect::default() }
    }

    /// An effect with a duration in seconds.
    pub fn lasting(name: impl Into<String>, duration: impl Into<Magnitude>) -> Effect {
        Effect {
            name: name.into(),
            duration_policy: DurationPolicy::HasDuration,
            duration: Some(duration.into()),
            ..Effect::default()
        }
    }

    /// An effect that stays until removed.
    pub fn infinite(name: impl Into<String>) -> Effect {
        Effect { name: name.into(), duration_policy: DurationPolicy::Infinite, ..Effect::default() }
    }

    /// Adds a modifier.
    pub fn modify(mut self, modifier: Modifier) -> Effect {
        self.modifiers.push(modifier);
        self
    }

    /// Adds an Add modifier.
    pub fn add(self, attribute: impl Into<String>, magnitude: impl Into<Magnitude>) -> Effect {
        self.modify(Modifier::new(attribute, Operation::Add, magnitude))
    }

    /// Adds an AddPost modifier.
    pub fn add_post(self, attribute: impl Into<String>, magnitude: impl Into<Magnitude>) -> Effect {
        self.modify(Modifier::new(attribute, Operation::AddPost, magnitude))
    }

    /// Adds a Multiply modifier of its own channel.
    pub fn multiply(self, attribute: impl Into<String>, bonus: impl Into<Magnitude>) -> Effect {
        self.modify(Modifier::new(attribute, Operation::Multiply, bonus))
    }

    /// Adds a Multiply modifier in a channel.
    pub fn multiply_in(
        self,
        attribute: impl Into<String>,
        bonus: impl Into<Magnitude>,
        channel: impl Into<String>,
    ) -> Effect {
        self.modify(Modifier::new(attribute, Operation::Multiply, bonus).channel(channel))
    }

    /// Adds an Override modifier.
    pub fn set(self, attribute: impl Into<String>, value: impl Into<Magnitude>) -> Effect {
        self.modify(Modifier::new(attribute, Operation::Override, value))
    }

    /// Executes every so many seconds.
    pub fn every(mut self, seconds: f64) -> Effect {
        self.period = Some(Period { period: seconds, execute_on_application: false });
        self
    }

    /// Executes every so many seconds and once at application.
    pub fn every_and_now(mut self, seconds: f64) -> Effect {
        self.period = Some(Period { period: seconds, execute_on_application: true });
        self
    }

    /// Grants a tag while active.
    pub fn grants(mut self, tag: impl Into<String>) -> Effect {
        self.granted_tags.push(tag.into());
        self
    }

    /// Says what the effect is.
    pub fn tagged(mut self, tag: impl Into<String>) -> Effect {
        self.effect_tags.push(tag.into());
        self
    }

    /// The target must have this tag.
    pub fn requires(mut self, tag: impl Into<String>) -> Effect {
        self.application_required_tags.push(tag.into());
        self
    }

    /// Triggers a cue.
    pub fn cue(mut self, tag: impl Into<String>) -> Effect {
        self.gameplay_cues.push(tag.into());
        self
    }

    /// Runs a calculation.
    pub fn execute(mut self, calculator: impl Into<String>) -> Effect {
        self.executions.push(Execution::new(calculator));
        self
    }

    /// Sets the policy.
    pub fn policy(mut self, policy: ExecutionPolicy) -> Effect {
        self.execution_policy = policy;
        self
    }

    /// Sets the Override priority.
    pub fn priority(mut self, priority: i32) -> Effect {
        self.priority = priority;
        self
    }

    /// Stacks on one instance.
    pub fn stacking(mut self, stacking: Stacking) -> Effect {
        self.stacking = Some(stacking);
        self
    }
}

fn one() -> u32 {
    1
}
fn yes() -> bool {
    true
}
