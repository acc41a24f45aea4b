//! Effects: the definitions of all changes of attributes and tags.

use crate::{Area, Combat, CombatRule, Document, Magnitude, Metadata, Stacking, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long an effect is active.
///
/// ```
/// assert_eq!(ugas_doc::DurationPolicy::default(), ugas_doc::DurationPolicy::Instant);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DurationPolicy {
    /// The effect changes base values immediately and does not stay active.
    #[default]
    Instant,
    /// The effect is active for `Duration`.
    HasDuration,
    /// The effect is active until it is removed.
    Infinite,
}

/// How several applications of one effect to one target are combined.
///
/// ```
/// assert_eq!(ugas_doc::ExecutionPolicy::default(), ugas_doc::ExecutionPolicy::RunInParallel);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ExecutionPolicy {
    /// Each application creates a separate instance of the effect.
    #[default]
    RunInParallel,
    /// Applications are queued and run one after the other.
    RunInSequence,
    /// All applications share one instance, which is active from the earliest start to the latest end.
    RunInMerge,
}

/// The operation of a modifier.
///
/// ```
/// assert_eq!(ugas_doc::Operation::default(), ugas_doc::Operation::Add);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Operation {
    /// Adds the magnitude before the multiplications.
    #[default]
    Add,
    /// Multiplies by 1 plus the magnitude, so that 0.25 means +25 %. The magnitudes of one channel are added first.
    Multiply,
    /// Adds the magnitude after the multiplications.
    AddPost,
    /// Replaces the result of the other operations; the bounds still apply.
    Override,
}

/// The periodic execution of an effect.
///
/// ```
/// let p = ugas_doc::Period { period: 1.0, execute_on_application: false };
/// assert_eq!(p.period, 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Period {
    /// Seconds between executions, at least 0.001.
    pub period: f64,
    /// Whether the effect also executes when it is applied.
    #[serde(default)]
    pub execute_on_application: bool,
}

/// One operation of an effect on one attribute. Instant and periodic effects write base values; other effects change
/// current values while they are active.
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
    /// The operation.
    pub operation: Operation,
    /// The amount.
    pub magnitude: Magnitude,
    /// For Multiply: the channel. The bonuses of one channel are added before they multiply the value. Without
    /// `Channel`, the modifier has its own channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The modifier applies only while the source has all of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_tags: Vec<String>,
    /// The modifier applies only while the target has all of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_tags: Vec<String>,
}

impl Modifier {
    /// Creates a modifier without channel or filters.
    pub fn new(attribute: impl Into<String>, operation: Operation, magnitude: impl Into<Magnitude>) -> Modifier {
        Modifier { attribute: attribute.into(), operation, magnitude: magnitude.into(), ..Modifier::default() }
    }

    /// Sets the channel.
    pub fn channel(mut self, channel: impl Into<String>) -> Modifier {
        self.channel = Some(channel.into());
        self
    }

    /// Adds a tag that the source must have for the modifier to apply.
    pub fn source_tag(mut self, tag: impl Into<String>) -> Modifier {
        self.source_tags.push(tag.into());
        self
    }

    /// Adds a tag that the target must have for the modifier to apply.
    pub fn target_tag(mut self, tag: impl Into<String>) -> Modifier {
        self.target_tags.push(tag.into());
        self
    }
}

/// A calculation that an effect runs at each execution.
///
/// ```
/// assert!(ugas_doc::Execution::new("ExecCalc_Hit").predictable);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Execution {
    /// The name of a `calculation` document or of a calculator that the host registers.
    pub calculator_class: String,
    /// Whether a client may run the calculation when it predicts the effect. With `false`, clients do not predict the
    /// effect.
    #[serde(default = "yes")]
    pub predictable: bool,
    /// Parameters that the calculation reads as `params.Name`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
}

impl Execution {
    /// Creates a predictable execution without parameters.
    pub fn new(calculator: impl Into<String>) -> Execution {
        Execution { calculator_class: calculator.into(), predictable: true, params: BTreeMap::new() }
    }
}

/// An ability that an effect grants to its target.
///
/// ```
/// assert!(ugas_doc::GrantedAbilityEntry::new("GA_FlameStrike").remove_on_effect_removal);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct GrantedAbilityEntry {
    /// The name of the ability.
    pub ability_class: String,
    /// The level, 1 or higher.
    #[serde(default = "one")]
    pub level: u32,
    /// The input action that activates the ability.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "InputID")]
    pub input_id: Option<String>,
    /// Whether the ability is revoked when the effect ends.
    #[serde(default = "yes")]
    pub remove_on_effect_removal: bool,
}

impl GrantedAbilityEntry {
    /// Creates an entry at level 1; the ability is revoked when the effect ends.
    pub fn new(ability: impl Into<String>) -> GrantedAbilityEntry {
        GrantedAbilityEntry { ability_class: ability.into(), level: 1, input_id: None, remove_on_effect_removal: true }
    }
}

/// What happens when an ongoing requirement is no longer met.
///
/// ```
/// assert_eq!(ugas_doc::OnOngoingFail::default(), ugas_doc::OnOngoingFail::Inhibit);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnOngoingFail {
    /// The effect is inhibited: its modifiers, tags and cues are off until the requirement is met again.
    #[default]
    Inhibit,
    /// The effect is removed.
    Remove,
}

/// What happens to executions that are due while the effect is inhibited.
///
/// ```
/// assert_eq!(ugas_doc::PeriodInhibition::default(), ugas_doc::PeriodInhibition::Skip);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PeriodInhibition {
    /// The executions are skipped.
    #[default]
    Skip,
    /// The period starts again when the inhibition ends.
    Reset,
    /// The missed executions run when the inhibition ends.
    CatchUp,
}

/// One immunity: an incoming effect is rejected if it matches every list of the entry. Empty lists are ignored.
///
/// ```
/// let fire = ugas_doc::ImmunityEntry { effect_tags: vec!["DamageType.Fire".into()], ..Default::default() };
/// assert!(fire.effects.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ImmunityEntry {
    /// Matches effects with one of these tags among their `EffectTags` or `GrantedTags`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effect_tags: Vec<String>,
    /// Matches these effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Matches effects whose source has one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_tags: Vec<String>,
}

/// Further effects that an effect applies to its target.
///
/// ```
/// let e = ugas_doc::ConditionalEffects { on_expired: vec!["GE_Blast".into()], ..Default::default() };
/// assert!(e.on_removed.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ConditionalEffects {
    /// Effects that are applied when this effect is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_applied: Vec<String>,
    /// Effects that are applied at each execution of this effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_executed: Vec<String>,
    /// Effects that are applied when the duration of this effect ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_expired: Vec<String>,
    /// Effects that are applied when this effect is removed before its duration ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_removed: Vec<String>,
}

/// A `gameplay_effect` document: a change of attributes and tags.
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
    /// The name, unique in the project.
    pub name: String,
    /// How long the effect is active.
    pub duration_policy: DurationPolicy,
    /// For HasDuration: the duration in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Magnitude>,
    /// Makes the effect execute periodically while it is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// How several applications to one target are combined.
    #[serde(default)]
    pub execution_policy: ExecutionPolicy,
    /// The priority of the effect's Override modifiers. Among the Override modifiers of one attribute, the modifier
    /// with the highest priority applies.
    #[serde(default)]
    pub priority: i32,
    /// The modifiers, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
    /// The calculations that the effect runs, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Execution>,
    /// Tags that the target has while the effect is active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_tags: Vec<String>,
    /// The target must have all of these tags at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application_required_tags: Vec<String>,
    /// Abilities that the effect grants to the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted_abilities: Vec<GrantedAbilityEntry>,
    /// The cues that the effect triggers; their tags begin with `GameplayCue.`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gameplay_cues: Vec<String>,
    /// Tags that describe the effect. Immunities, removals and queries select the effect by these tags. The target does
    /// not gain these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effect_tags: Vec<String>,
    /// The area of effect. Not supported yet; a value is a load error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-unsupported" = true)))]
    pub area: Option<Area>,
    /// The target must have none of these tags at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application_blocked_tags: Vec<String>,
    /// The source must have all of these tags at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_required_tags: Vec<String>,
    /// The source must have none of these tags at application.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_blocked_tags: Vec<String>,
    /// The chance that the effect is applied, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_chance: Option<Magnitude>,
    /// An expression that must be true at application, such as `source.Level > target.Level`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_condition: Option<String>,
    /// The name of a registered host function that must return true at application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_requirement: Option<String>,
    /// The target must have all of these tags while the effect is active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ongoing_required_tags: Vec<String>,
    /// The target must have none of these tags while the effect is active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ongoing_blocked_tags: Vec<String>,
    /// What happens when an ongoing requirement is no longer met.
    #[serde(default)]
    pub on_ongoing_fail: OnOngoingFail,
    /// What happens to executions that are due while the effect is inhibited.
    #[serde(default)]
    pub period_inhibition: PeriodInhibition,
    /// Incoming effects that are rejected while the effect is active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub immunity: Vec<ImmunityEntry>,
    /// At application, the target's active effects with one of these tags are removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_effects_with_tags: Vec<String>,
    /// Makes further applications add stacks to one instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacking: Option<Stacking>,
    /// Whether the effect depends on the avatar. When the avatar changes, the host's avatar validator decides whether
    /// the effect remains active.
    #[serde(default)]
    pub bound_to_avatar_location: bool,
    /// Further effects that the effect applies to its target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<ConditionalEffects>,
    /// Combat rules that apply to the target while the effect is active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<CombatRule>,
    /// Marks the effect's writes to base values as damage, healing or threat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combat: Option<Combat>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for Effect {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        let mut parts = vec![match (self.duration_policy, &self.duration) {
            (DurationPolicy::Instant, _) => "instant".to_owned(),
            (DurationPolicy::Infinite, _) => "until it is removed".to_owned(),
            (DurationPolicy::HasDuration, Some(duration)) => format!("for {duration} s"),
            (DurationPolicy::HasDuration, None) => "with a duration".to_owned(),
        }];
        parts.extend(self.period.as_ref().map(|period| format!("every {} s", period.period)));
        for m in &self.modifiers {
            let operation = match m.operation {
                Operation::Add => "+",
                Operation::Multiply => "× 1 +",
                Operation::AddPost => "+ after multiplying",
                Operation::Override => "becomes",
            };
            let channel = m.channel.as_ref().map(|c| format!(" in {c}")).unwrap_or_default();
            parts.push(format!("{} {operation} {}{channel}", m.attribute, m.magnitude));
        }
        parts.extend(self.executions.iter().map(|x| format!("runs {}", x.calculator_class)));
        if !self.granted_tags.is_empty() {
            parts.push(format!("grants {}", self.granted_tags.join(", ")));
        }
        Some(parts.join("; "))
    }
}

impl Effect {
    /// Creates an Instant effect.
    pub fn instant(name: impl Into<String>) -> Effect {
        Effect { name: name.into(), ..Effect::default() }
    }

    /// Creates an effect that is active for a number of seconds.
    pub fn lasting(name: impl Into<String>, duration: impl Into<Magnitude>) -> Effect {
        Effect {
            name: name.into(),
            duration_policy: DurationPolicy::HasDuration,
            duration: Some(duration.into()),
            ..Effect::default()
        }
    }

    /// Creates an Infinite effect.
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

    /// Adds a Multiply modifier with its own channel.
    pub fn multiply(self, attribute: impl Into<String>, bonus: impl Into<Magnitude>) -> Effect {
        self.modify(Modifier::new(attribute, Operation::Multiply, bonus))
    }

    /// Adds a Multiply modifier to a named channel.
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

    /// Sets the period in seconds.
    pub fn every(mut self, seconds: f64) -> Effect {
        self.period = Some(Period { period: seconds, execute_on_application: false });
        self
    }

    /// Sets the period in seconds and makes the effect also execute at application.
    pub fn every_and_now(mut self, seconds: f64) -> Effect {
        self.period = Some(Period { period: seconds, execute_on_application: true });
        self
    }

    /// Adds a granted tag.
    pub fn grants(mut self, tag: impl Into<String>) -> Effect {
        self.granted_tags.push(tag.into());
        self
    }

    /// Adds an effect tag.
    pub fn tagged(mut self, tag: impl Into<String>) -> Effect {
        self.effect_tags.push(tag.into());
        self
    }

    /// Adds a tag that the target must have at application.
    pub fn requires(mut self, tag: impl Into<String>) -> Effect {
        self.application_required_tags.push(tag.into());
        self
    }

    /// Adds a cue.
    pub fn cue(mut self, tag: impl Into<String>) -> Effect {
        self.gameplay_cues.push(tag.into());
        self
    }

    /// Adds an execution.
    pub fn execute(mut self, calculator: impl Into<String>) -> Effect {
        self.executions.push(Execution::new(calculator));
        self
    }

    /// Sets the execution policy.
    pub fn policy(mut self, policy: ExecutionPolicy) -> Effect {
        self.execution_policy = policy;
        self
    }

    /// Sets the priority of Override modifiers.
    pub fn priority(mut self, priority: i32) -> Effect {
        self.priority = priority;
        self
    }

    /// Sets the stacking.
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
