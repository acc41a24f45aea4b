//! Resources: values that abilities spend and that regain, such as mana or energy, with bounds that may follow stats.

use crate::{Attribute, AttributeSet, Document, Metadata, OnBoundChange, ReplicationMode};
use serde::{Deserialize, Serialize};

/// A `resource` document. The resource `Mana` becomes an attribute set `Mana` with the attributes `Mana`, `MaxMana` (if
/// `Max` is set) and `MinMana` (if `Min` or `MinStat` is set). The value and its bounds are never below 0.
///
/// ```
/// use ugas_doc::Resource;
/// let mana = Resource::new("Mana", 100.0).max(100.0).max_stat("Stat.MaxMana");
/// let names: Vec<String> = mana.attribute_set().attributes.into_iter().map(|a| a.name).collect();
/// assert_eq!(names, ["MaxMana", "Mana"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Resource {
    /// The name of the resource, of its attribute and of its attribute set, unique in the project.
    pub name: String,
    /// The value when the resource is added, clamped to the bounds.
    pub initial: f64,
    /// The maximum, the default of the attribute `MaxMana` of the resource `Mana`. Without it, the resource has no
    /// maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The minimum. Without it and without `MinStat`, the minimum is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The stat that the maximum follows on a controller that has the stat. On other controllers, the maximum is `Max`,
    /// which is therefore required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_stat: Option<String>,
    /// The stat that the minimum follows on a controller that has the stat. On other controllers, the minimum is `Min`,
    /// or 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_stat: Option<String>,
    /// What happens to the value when a bound changes.
    #[serde(default = "proportional")]
    pub on_bound_change: OnBoundChange,
    /// The clients that the value and its bounds are replicated to.
    #[serde(default)]
    pub replication_mode: ReplicationMode,
    /// Effects that are applied to the owner when the resource is added and removed when the resource is removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Effects that are applied to the owner each time the value changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_changed: Vec<String>,
    /// Display data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

fn proportional() -> OnBoundChange {
    OnBoundChange::Proportional
}

/// A resource of a controller, with the values that differ from the document of the resource.
///
/// ```
/// let mana = ugas_doc::ResourceValues { initial: Some(20.0), ..ugas_doc::ResourceValues::new("Mana") };
/// assert_eq!((mana.resource.as_str(), mana.max), ("Mana", None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ResourceValues {
    /// The name of the resource.
    pub resource: String,
    /// The initial value, clamped to the bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<f64>,
    /// The maximum. An error if the resource has no `Max`, or if its maximum follows a stat of the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The minimum. An error if the resource has neither `Min` nor `MinStat`, or if its minimum follows a stat of the
    /// controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
}

impl ResourceValues {
    /// Creates an entry with the values of the document.
    pub fn new(resource: impl Into<String>) -> ResourceValues {
        ResourceValues { resource: resource.into(), ..ResourceValues::default() }
    }
}

impl Document for Resource {
    fn name(&self) -> &str {
        &self.name
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    fn summary(&self) -> Option<String> {
        let of = |bound: Option<f64>, stat: &Option<String>, word: &str| match (bound, stat) {
            (bound, Some(stat)) => format!(", {word} {stat} or {}", bound.unwrap_or(0.0)),
            (Some(bound), None) => format!(", {word} {bound}"),
            (None, None) => String::new(),
        };
        let (min, max) = (of(self.min, &self.min_stat, "at least"), of(self.max, &self.max_stat, "at most"));
        Some(format!("initially {}{min}{max}", self.initial))
    }
}

impl Resource {
    /// Creates a resource without a maximum that keeps its proportion when a bound changes.
    pub fn new(name: impl Into<String>, initial: f64) -> Resource {
        let on_bound_change = OnBoundChange::Proportional;
        Resource { name: name.into(), initial, on_bound_change, ..Resource::default() }
    }

    /// Sets the maximum.
    pub fn max(self, max: f64) -> Resource {
        Resource { max: Some(max), ..self }
    }

    /// Sets the minimum.
    pub fn min(self, min: f64) -> Resource {
        Resource { min: Some(min), ..self }
    }

    /// Makes the maximum follow a stat where the controller has the stat.
    pub fn max_stat(self, stat: impl Into<String>) -> Resource {
        Resource { max_stat: Some(stat.into()), ..self }
    }

    /// Makes the minimum follow a stat where the controller has the stat.
    pub fn min_stat(self, stat: impl Into<String>) -> Resource {
        Resource { min_stat: Some(stat.into()), ..self }
    }

    /// Adds an effect that comes and goes with the resource.
    pub fn effect(mut self, effect: impl Into<String>) -> Resource {
        self.effects.push(effect.into());
        self
    }

    /// Adds an effect that is applied each time the value changes.
    pub fn on_changed(mut self, effect: impl Into<String>) -> Resource {
        self.on_changed.push(effect.into());
        self
    }

    /// Returns the name of the attribute of a bound: `Max` or `Min` before the name of the resource, after a namespace.
    ///
    /// ```
    /// assert_eq!(ugas_doc::Resource::new("rpg::Mana", 0.0).bound_name("Max"), "rpg::MaxMana");
    /// ```
    pub fn bound_name(&self, bound: &str) -> String {
        match self.name.rsplit_once("::") {
            Some((space, name)) => format!("{space}::{bound}{name}"),
            None => format!("{bound}{}", self.name),
        }
    }

    /// Returns the attribute set that the resource becomes. Its last attribute is the value of the resource.
    pub fn attribute_set(&self) -> AttributeSet {
        let mut set = AttributeSet { metadata: self.metadata.clone(), ..AttributeSet::new(self.name.clone()) };
        let mut value = Attribute::new(self.name.clone(), self.initial).non_negative();
        value.on_bound_change = self.on_bound_change;
        value.replication_mode = self.replication_mode;
        if self.min.is_some() || self.min_stat.is_some() {
            let min = self.bound(self.bound_name("Min"), self.min.unwrap_or(0.0), &self.min_stat);
            value = value.min(min.name.as_str());
            set = set.with(min);
        }
        if self.max.is_some() || self.max_stat.is_some() {
            let max = self.bound(self.bound_name("Max"), self.max.unwrap_or(0.0), &self.max_stat);
            value = value.max(max.name.as_str());
            set = set.with(max);
        }
        set.with(value)
    }

    fn bound(&self, name: String, default: f64, stat: &Option<String>) -> Attribute {
        let attribute = match stat {
            Some(stat) => Attribute { default_base_value: Some(default), ..Attribute::derived(name, stat.as_str()) },
            None => Attribute::new(name, default),
        };
        Attribute { replication_mode: self.replication_mode, ..attribute.non_negative() }
    }
}
