//! Combat: effects that deal damage, heal or cause threat, and combat rules. A combat rule changes amounts of damage,
//! healing or threat, the costs, times and charges of abilities, or the magnitudes of gameplay events, or it forbids an
//! action or event.

use serde::{Deserialize, Serialize};

/// The meaning of an effect's writes to base values: damage, healing, threat, or gains and losses of a resource.
///
/// ```
/// assert_eq!(ugas_doc::CombatKind::default(), ugas_doc::CombatKind::Damage);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CombatKind {
    /// Negative writes are damage.
    #[default]
    Damage,
    /// Positive writes are healing.
    Healing,
    /// The writes are threat, a value that the game's AI reads.
    Threat,
    /// The writes are gains and losses of a resource. Combat rules with `On: ResourceDelta` of the target change them.
    Resource,
}

/// How damage, healing or threat is delivered. In the expressions of a combat rule, `event.Direct`, `event.Periodic`
/// and `event.Area` are 1 if the event has that style, and 0 otherwise.
///
/// ```
/// assert_eq!(ugas_doc::CombatStyle::default(), ugas_doc::CombatStyle::Direct);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CombatStyle {
    /// A single hit.
    #[default]
    Direct,
    /// Damage or healing over time.
    Periodic,
    /// A hit on several targets. The style is only a label: it does not make the runtime search for targets.
    Area,
}

/// Marks an effect's writes to base values as combat, so that combat rules and the damage pipeline process them.
///
/// ```
/// assert!(ugas_doc::Combat::default().school.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Combat {
    /// Damage, healing, threat, or gains and losses of a resource.
    pub kind: CombatKind,
    /// How the damage, healing or threat is delivered.
    #[serde(default)]
    pub style: CombatStyle,
    /// A damage-type tag, such as `DamageType.Fire`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub school: Option<String>,
    /// A calculation that turns the raw amount into the amount that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
}

/// How a combat rule changes a value.
///
/// ```
/// assert_eq!(ugas_doc::ModifyOperation::default(), ugas_doc::ModifyOperation::Add);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ModifyOperation {
    /// Adds `Value`.
    #[default]
    Add,
    /// Multiplies by `Factor`.
    Multiply,
}

/// The change that a combat rule makes.
///
/// ```
/// let m = ugas_doc::Modify { operation: ugas_doc::ModifyOperation::Multiply, value: None, factor: Some(0.9) };
/// assert_eq!(m.factor, Some(0.9));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Modify {
    /// Add or Multiply.
    pub operation: ModifyOperation,
    /// For Add: the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// For Multiply: the factor. A factor of 0.9 means 10 % less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
}

/// A combat rule: while the effect is active, the rule changes a combat value of the effect's target or forbids an
/// action.
///
/// ```
/// let r = ugas_doc::CombatRule { on: "CastLength".into(), ..Default::default() };
/// assert!(!r.restrict);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct CombatRule {
    /// The value or event that the rule changes or forbids: `CastLength`, `GlobalCooldown`, `CooldownLength`,
    /// `ResourceCost`, `MaxCharges`, `ChargeCost`, `ChargesPerCooldown`, `DamageDone`, `DamageTaken`, `HealingDone`,
    /// `HealingTaken`, `Threat`, `ResourceDelta`, `AbilityUse`, `Interrupt`, `BuffApplied`, or the tag of a gameplay
    /// event. A rule on `ResourceDelta` changes the size of a gain or loss that an effect with `Combat: {Kind: Resource}`
    /// or `ModifyResource` writes; `event.Amount` is negative for a loss.
    pub on: String,
    /// The rule applies only to these abilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<String>,
    /// The rule applies only to abilities with one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_tags: Vec<String>,
    /// The rule applies only to amounts that are written to this attribute. Allowed only if the rule changes damage,
    /// healing, threat or a resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The rule applies only while this expression is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// How the rule changes the value in `On`. A rule has one of `Modify`, `Restrict: true` and `Function`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modify: Option<Modify>,
    /// Whether the rule forbids the action or event in `On`. A rule has one of `Modify`, `Restrict: true` and
    /// `Function`.
    #[serde(default)]
    pub restrict: bool,
    /// The name of a function of the host that decides for each event: a change, a restriction or nothing. The host
    /// registers the function with `RulesBuilder::combat_fn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Whether the change is multiplied by the effect's stack count. With 3 stacks, a factor of 0.9 (10 % less) becomes
    /// 0.7 (30 % less).
    #[serde(default)]
    pub stacks: bool,
}
