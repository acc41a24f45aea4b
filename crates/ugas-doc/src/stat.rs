//! Stats: the numbers of a controller that combat rules and calculations read, such as haste or the damage done.

use crate::{Attribute, AttributeSet, Document, Metadata, ReplicationMode};
use serde::{Deserialize, Serialize};

/// The tag above the tags of all stats.
pub const STAT_PREFIX: &str = "Stat.";

/// A `stat_table` document: stats that are registered together when a controller is spawned. The table becomes an
/// attribute set of the same name, and the stat `Stat.Haste` its attribute `Haste`. Wherever a document names an
/// attribute, `Stat.Haste` names the stat.
///
/// ```
/// use ugas_doc::{Stat, StatTable};
/// let table = StatTable::new("MageStats").with(Stat::new("Stat.Haste", 1.0)).with(Stat::new("Stat.MaxMana", 120.0));
/// assert_eq!(table.attribute_set().attributes[0].name, "Haste");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct StatTable {
    /// The name of the table and of its attribute set, unique in the project.
    pub name: String,
    /// The stats.
    #[serde(default)]
    pub stats: Vec<Stat>,
    /// A CSV file that supplies the stats instead of `Stats`. The first line names the columns, which are keys of a
    /// stat: `Tag` and `Default`, and any of `Min`, `Max`, `Replicate`, `Modifiable` and `Scales`. The file must be in
    /// the folder of the document or in a subfolder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<String>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// One stat of a [`StatTable`]. A stat is never below 0.
///
/// ```
/// let fixed = ugas_doc::Stat { modifiable: false, ..ugas_doc::Stat::new("Stat.MaxMana", 120.0) };
/// assert_eq!(fixed.attribute_name(), "MaxMana");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Stat {
    /// The tag of the stat: `Stat.` and one name, unique in the table.
    pub tag: String,
    /// The base value.
    pub default: f64,
    /// The lower bound. A bound below 0 counts as 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Whether clients receive the stat.
    #[serde(default = "yes")]
    pub replicate: bool,
    /// Whether effects may modify the stat. A stat that they may not modify keeps the value that it has at spawn.
    #[serde(default = "yes")]
    pub modifiable: bool,
    /// The combat value of the owner that the stat multiplies: with `DamageDone`, damage that the owner does is
    /// multiplied by the current value of the stat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scales: Option<Scales>,
}

fn yes() -> bool {
    true
}

/// The combat value that a stat multiplies: its name, or its name and the abilities that are meant.
///
/// ```
/// use ugas_doc::Scales;
/// assert_eq!(Scales::from("DamageDone").value().on, "DamageDone");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Scales {
    /// A combat value for all abilities: `CastLength`, `GlobalCooldown`, `CooldownLength`, `ResourceCost`, `MaxCharges`,
    /// `ChargeCost`, `ChargesPerCooldown`, `DamageDone`, `DamageTaken`, `HealingDone`, `HealingTaken`, `Threat` or
    /// `ResourceDelta`.
    Value(String),
    /// A combat value for some abilities.
    Selected(ScaledValue),
}

/// A combat value, and the abilities for which a stat multiplies it.
///
/// ```
/// let scaled = ugas_doc::ScaledValue { on: "CastLength".into(), ..Default::default() };
/// assert!(scaled.abilities.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ScaledValue {
    /// The combat value.
    pub on: String,
    /// Only for these abilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<String>,
    /// Only for abilities with one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ability_tags: Vec<String>,
}

impl From<&str> for Scales {
    fn from(on: &str) -> Scales {
        Scales::Value(on.to_owned())
    }
}

impl Scales {
    /// Returns the combat value and its abilities.
    pub fn value(&self) -> ScaledValue {
        match self {
            Scales::Value(on) => ScaledValue { on: on.clone(), ..ScaledValue::default() },
            Scales::Selected(value) => value.clone(),
        }
    }
}

impl Document for StatTable {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        let stats: Vec<String> = self.stats.iter().map(|s| format!("{} {}", s.tag, s.default)).collect();
        (!stats.is_empty()).then(|| stats.join(", "))
    }
}

impl StatTable {
    /// Creates an empty table.
    pub fn new(name: impl Into<String>) -> StatTable {
        StatTable { name: name.into(), ..StatTable::default() }
    }

    /// Adds a stat.
    pub fn with(mut self, stat: Stat) -> StatTable {
        self.stats.push(stat);
        self
    }

    /// Returns the attribute set that the table becomes.
    pub fn attribute_set(&self) -> AttributeSet {
        let attributes = self.stats.iter().map(Stat::attribute).collect();
        AttributeSet { attributes, metadata: self.metadata.clone(), ..AttributeSet::new(self.name.clone()) }
    }
}

impl Stat {
    /// Creates a stat that has no upper bound and that effects may modify.
    pub fn new(tag: impl Into<String>, default: f64) -> Stat {
        Stat { tag: tag.into(), default, min: None, max: None, replicate: true, modifiable: true, scales: None }
    }

    /// Makes the stat multiply a combat value of its owner.
    pub fn scales(mut self, value: impl Into<Scales>) -> Stat {
        self.scales = Some(value.into());
        self
    }

    /// Returns the name of the attribute that the stat becomes, which is the tag without `Stat.`.
    pub fn attribute_name(&self) -> &str {
        self.tag.strip_prefix(STAT_PREFIX).unwrap_or(&self.tag)
    }

    /// Returns the attribute that the stat becomes.
    pub fn attribute(&self) -> Attribute {
        let mut attribute = Attribute::new(self.attribute_name(), self.default).non_negative();
        if let Some(min) = self.min {
            attribute = attribute.min(min);
        }
        if let Some(max) = self.max {
            attribute = attribute.max(max);
        }
        if !self.replicate {
            attribute.replication_mode = ReplicationMode::None;
        }
        attribute
    }
}
