//! Attributes and attribute sets.

use serde::{Deserialize, Serialize};

/// What an attribute is for.
///
/// ```
/// assert_eq!(ugas_doc::Category::default(), ugas_doc::Category::Statistic);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Category {
    /// Consumed and recovered: Health, Mana.
    Resource,
    /// Used in calculations: Damage, Defense.
    #[default]
    Statistic,
    /// Internal; not in player-facing lists.
    Meta,
}

/// To whom an attribute is replicated.
///
/// ```
/// assert_eq!(ugas_doc::ReplicationMode::default(), ugas_doc::ReplicationMode::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReplicationMode {
    /// To nobody.
    None,
    /// To the owning client.
    OwnerOnly,
    /// To everyone.
    #[default]
    All,
}

/// A bound of an attribute: a number, or the name of another attribute whose current value is used.
///
/// ```
/// use ugas_doc::Bound;
/// assert_eq!(Bound::from("MaxHealth"), Bound::Attribute("MaxHealth".into()));
/// assert_eq!(Bound::from(0.0), Bound::Value(0.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Bound {
    /// A fixed number.
    Value(f64),
    /// Another attribute's current value.
    Attribute(String),
}
impl From<f64> for Bound {
    fn from(v: f64) -> Bound {
        Bound::Value(v)
    }
}
impl From<&str> for Bound {
    fn from(name: &str) -> Bound {
        Bound::Attribute(name.to_owned())
    }
}

/// The bounds of an attribute.
///
/// ```
/// assert!(ugas_doc::Clamping::default().min.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Clamping {
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bound>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bound>,
}

/// How modifiers of an attribute are aggregated.
///
/// ```
/// assert_eq!(ugas_doc::Aggregation::default(), ugas_doc::Aggregation::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Aggregation {
    /// Every modifier counts.
    #[default]
    All,
    /// Of the Multiply modifiers only the largest bonus and the largest penalty count.
    StrongestMultiply,
}

/// What happens to base when a referenced bound changes.
///
/// ```
/// assert_eq!(ugas_doc::OnBoundChange::default(), ugas_doc::OnBoundChange::Clamp);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnBoundChange {
    /// Current is clamped, base is kept.
    #[default]
    Clamp,
    /// Base keeps its proportion of the range.
    Proportional,
}

/// What reaching zero means.
///
/// ```
/// assert_ne!(ugas_doc::OnDepleted::Death, ugas_doc::OnDepleted::Nothing);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnDepleted {
    /// Falling from above zero to zero or below is a death. The default for an attribute named `Health`.
    Death,
    /// Nothing happens.
    Nothing,
}

/// A pool that takes damage before another attribute.
///
/// ```
/// let shield = ugas_doc::Absorb { before: "Health".into(), order: 10 };
/// assert_eq!(shield.order, 10);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Absorb {
    /// The attribute it protects.
    pub before: String,
    /// Rising order among pools.
    #[serde(default)]
    pub order: i32,
}

/// An expression that supplies an attribute's base.
///
/// ```
/// let d = ugas_doc::DerivedFrom { expression: "Health * (1 + Defense / 100)".into() };
/// assert!(d.expression.contains("Defense"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct DerivedFrom {
    /// Arithmetic over other attributes' current values.
    pub expression: String,
}

/// How an attribute is rounded on the wire, for observers only.
///
/// ```
/// let q = ugas_doc::Quantize { min: 0.0, max: 1000.0, bits: 10 };
/// assert_eq!(q.bits, 10);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Quantize {
    /// Smallest value sent.
    pub min: f64,
    /// Largest value sent.
    pub max: f64,
    /// Bits per value.
    pub bits: u8,
}

/// Display data; never read by the runtime.
///
/// ```
/// assert!(ugas_doc::Metadata::default().display_name.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Metadata {
    /// Name shown to players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Tooltip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Group in a user interface.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "UICategory")]
    pub ui_category: Option<String>,
    /// Path of an icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Group in a settings screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Labels for tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Group in debug views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_category: Option<String>,
}

/// One attribute as authored.
///
/// ```
/// use ugas_doc::{Attribute, Bound, Category};
/// let health = Attribute::new("Health", 100.0).category(Category::Resource).min(0.0).max("MaxHealth");
/// assert_eq!(health.clamping.unwrap().max, Some(Bound::from("MaxHealth")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Attribute {
    /// Unique name within a controller.
    pub name: String,
    /// Base value at registration, clamped. Required unless the attribute is derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_base_value: Option<f64>,
    /// What it is for.
    #[serde(default)]
    pub category: Category,
    /// Bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamping: Option<Clamping>,
    /// Replication.
    #[serde(default)]
    pub replication_mode: ReplicationMode,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Alias of `Metadata.Description`, as some documents write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Expression that supplies the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived_from: Option<DerivedFrom>,
    /// What reaching zero means; `Death` for an attribute named `Health`, else nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_depleted: Option<OnDepleted>,
    /// A pool that takes damage first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absorb: Option<Absorb>,
    /// How modifiers add up.
    #[serde(default)]
    pub aggregation: Aggregation,
    /// What a bound change does to base.
    #[serde(default)]
    pub on_bound_change: OnBoundChange,
    /// Rounding on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantize: Option<Quantize>,
}

impl Attribute {
    /// An unbounded statistic.
    pub fn new(name: impl Into<String>, default_base_value: f64) -> Attribute {
        Attribute { name: name.into(), default_base_value: Some(default_base_value), ..Attribute::default() }
    }

    /// An attribute computed from others.
    pub fn derived(name: impl Into<String>, expression: impl Into<String>) -> Attribute {
        Attribute {
            name: name.into(),
            derived_from: Some(DerivedFrom { expression: expression.into() }),
            ..Attribute::default()
        }
    }

    /// Sets the lower bound.
    pub fn min(mut self, bound: impl Into<Bound>) -> Attribute {
        self.clamping.get_or_insert_default().min = Some(bound.into());
        self
    }

    /// Sets the upper bound.
    pub fn max(mut self, bound: impl Into<Bound>) -> Attribute {
        self.clamping.get_or_insert_default().max = Some(bound.into());
        self
    }

    /// Sets the category.
    pub fn category(mut self, category: Category) -> Attribute {
        self.category = category;
        self
    }

    /// Falling to zero is a death, as it is by default for an attribute named `Health`.
    pub fn deadly(mut self) -> Attribute {
        self.on_depleted = Some(OnDepleted::Death);
        self
    }

    /// Only the strongest bonus and the strongest penalty count.
    pub fn strongest_wins(mut self) -> Attribute {
        self.aggregation = Aggregation::StrongestMultiply;
        self
    }

    /// Base keeps its proportion when a bound changes.
    pub fn proportional(mut self) -> Attribute {
        self.on_bound_change = OnBoundChange::Proportional;
        self
    }
}

/// A group of attributes registered together.
///
/// ```
/// use ugas_doc::{Attribute, AttributeSet};
/// let set = AttributeSet::new("Derived").needs("Combat").with(Attribute::derived("EffectiveHealth", "Health * 2"));
/// assert_eq!(set.dependencies, ["Combat"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct AttributeSet {
    /// Unique name.
    pub name: String,
    /// Sets that must be registered first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl AttributeSet {
    /// An empty set.
    pub fn new(name: impl Into<String>) -> AttributeSet {
        AttributeSet { name: name.into(), ..AttributeSet::default() }
    }

    /// Adds an attribute.
    pub fn with(mut self, attribute: Attribute) -> AttributeSet {
        self.attributes.push(attribute);
        self
    }

    /// Names a set that must be registered first.
    pub fn needs(mut self, set: impl Into<String>) -> AttributeSet {
        self.dependencies.push(set.into());
        self
    }
}
