//! Attributes and attribute sets.

use crate::Document;
use serde::{Deserialize, Serialize};

/// What an attribute is used for.
///
/// ```
/// assert_eq!(ugas_doc::Category::default(), ugas_doc::Category::Statistic);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Category {
    /// A pool that is spent and recovered, such as Health or Mana.
    Resource,
    /// A value that calculations read, such as Damage or Defense.
    #[default]
    Statistic,
    /// An internal value that is not shown to players.
    Meta,
}

/// Which clients receive an attribute.
///
/// ```
/// assert_eq!(ugas_doc::ReplicationMode::default(), ugas_doc::ReplicationMode::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReplicationMode {
    /// No client receives the attribute.
    None,
    /// Only the owning client receives the attribute.
    OwnerOnly,
    /// Every client receives the attribute.
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
    /// The lower bound: a number, or the name of an attribute such as `MinHealth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bound>,
    /// The upper bound: a number, or the name of an attribute such as `MaxHealth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bound>,
}

/// How the modifiers of an attribute are combined.
///
/// ```
/// assert_eq!(ugas_doc::Aggregation::default(), ugas_doc::Aggregation::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Aggregation {
    /// Every modifier applies.
    #[default]
    All,
    /// Of the Multiply modifiers, only the largest bonus and the largest penalty apply.
    StrongestMultiply,
    /// Every modifier applies, and no part of the calculation falls below 0: the base value plus the Add modifiers,
    /// each factor, and the result.
    NonNegative,
}

/// What happens to the base value when an attribute that serves as a bound changes.
///
/// ```
/// assert_eq!(ugas_doc::OnBoundChange::default(), ugas_doc::OnBoundChange::Clamp);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnBoundChange {
    /// The current value is clamped; the base value does not change.
    #[default]
    Clamp,
    /// The base value keeps its proportion of the range: 50 of 100 becomes 75 of 150.
    Proportional,
}

/// What happens when an attribute falls to zero.
///
/// ```
/// assert_ne!(ugas_doc::OnDepleted::Death, ugas_doc::OnDepleted::Nothing);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnDepleted {
    /// The controller dies when the value falls from above zero to zero or below. `Death` is the default for an
    /// attribute named `Health`.
    Death,
    /// Nothing happens when the value falls to zero. `Nothing` is the default for all attributes except `Health`.
    Nothing,
}

/// Makes an attribute a shield: the shield takes damage before another attribute does.
///
/// ```
/// let shield = ugas_doc::Absorb { before: "Health".into(), order: 10 };
/// assert_eq!(shield.order, 10);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Absorb {
    /// The attribute that is protected, such as `Health`.
    pub before: String,
    /// The order among the shields of one attribute; the shield with the lowest number takes damage first.
    #[serde(default)]
    pub order: i32,
}

/// An expression that supplies an attribute's base value.
///
/// ```
/// let d = ugas_doc::DerivedFrom { expression: "Health * (1 + Defense / 100)".into() };
/// assert!(d.expression.contains("Defense"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct DerivedFrom {
    /// Arithmetic over the current values of other attributes of the same controller, such as `Strength * 2 + 10`.
    pub expression: String,
}

/// How an attribute is rounded when it is sent to observers. The owning client receives the exact value.
///
/// ```
/// let q = ugas_doc::Quantize { min: 0.0, max: 1000.0, bits: 10 };
/// assert_eq!(q.bits, 10);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Quantize {
    /// The smallest value that can be sent.
    pub min: f64,
    /// The largest value that can be sent.
    pub max: f64,
    /// The number of bits per value, 1 to 32.
    pub bits: u8,
}

/// Display data for editors, tooltips and the studio. The runtime does not read display data.
///
/// ```
/// assert!(ugas_doc::Metadata::default().display_name.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "display")))]
pub struct Metadata {
    /// The name shown to players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The tooltip. Placeholders such as `{GE_Burn.Duration}` are replaced with numbers from the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The group in a user interface.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "UICategory")]
    pub ui_category: Option<String>,
    /// The path of an icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The group in a settings screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Labels for tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The group in debug views; `ugas sim --category` filters by this group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_category: Option<String>,
}

/// An `attribute` document, or one attribute of an attribute set.
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
    /// The name, unique within a controller.
    pub name: String,
    /// The base value when the attribute set is registered, clamped to the bounds. Required unless `DerivedFrom`
    /// supplies the base value. Together with `DerivedFrom`, it is the base value while the controller lacks an attribute
    /// that the expression reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_base_value: Option<f64>,
    /// What the attribute is used for.
    #[serde(default)]
    pub category: Category,
    /// The bounds of the base and the current value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamping: Option<Clamping>,
    /// Which clients receive the attribute.
    #[serde(default)]
    pub replication_mode: ReplicationMode,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The same as `Metadata.Description`. Some documents of the specification use this field instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-ugas-metadata" = "display")))]
    pub description: Option<String>,
    /// An expression that supplies the base value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived_from: Option<DerivedFrom>,
    /// What happens when the attribute falls to zero. The default is `Death` for an attribute named `Health` and
    /// `Nothing` for all other attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_depleted: Option<OnDepleted>,
    /// Makes the attribute a shield for another attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absorb: Option<Absorb>,
    /// How modifiers are combined.
    #[serde(default)]
    pub aggregation: Aggregation,
    /// What happens to the base value when a bound changes.
    #[serde(default)]
    pub on_bound_change: OnBoundChange,
    /// How the value is rounded when it is sent to observers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantize: Option<Quantize>,
}

impl Document for Attribute {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn attributes(&self) -> &[Attribute] {
        std::slice::from_ref(self)
    }
}

impl Attribute {
    /// Creates a statistic without bounds.
    pub fn new(name: impl Into<String>, default_base_value: f64) -> Attribute {
        Attribute { name: name.into(), default_base_value: Some(default_base_value), ..Attribute::default() }
    }

    /// Creates an attribute whose base value is computed from other attributes.
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

    /// Makes the controller die when the attribute falls to zero. An attribute named `Health` has this behavior by
    /// default.
    pub fn deadly(mut self) -> Attribute {
        self.on_depleted = Some(OnDepleted::Death);
        self
    }

    /// Applies only the largest bonus and the largest penalty of the Multiply modifiers.
    pub fn strongest_wins(mut self) -> Attribute {
        self.aggregation = Aggregation::StrongestMultiply;
        self
    }

    /// Keeps the value, the base value plus the Add modifiers, and each factor at 0 or above.
    pub fn non_negative(mut self) -> Attribute {
        self.aggregation = Aggregation::NonNegative;
        self
    }

    /// Makes the base value keep its proportion of the range when a bound changes.
    pub fn proportional(mut self) -> Attribute {
        self.on_bound_change = OnBoundChange::Proportional;
        self
    }
}

/// An `attribute_set` document: attributes that are registered together.
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
    /// The name of the set, unique in the project.
    pub name: String,
    /// Attribute sets that must be registered before this set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The attributes of the set.
    pub attributes: Vec<Attribute>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Document for AttributeSet {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }
}

impl AttributeSet {
    /// Creates an empty set.
    pub fn new(name: impl Into<String>) -> AttributeSet {
        AttributeSet { name: name.into(), ..AttributeSet::default() }
    }

    /// Adds an attribute.
    pub fn with(mut self, attribute: Attribute) -> AttributeSet {
        self.attributes.push(attribute);
        self
    }

    /// Adds an attribute set that must be registered before this set.
    pub fn needs(mut self, set: impl Into<String>) -> AttributeSet {
        self.dependencies.push(set.into());
        self
    }
}
