//! Compiled attributes and attribute sets.

use super::combat::ScaleDef;
use super::compiled::CompiledText;
use super::expr::Expr;
use super::resource::ResourceDef;
use crate::{AttributeId, SetId};
use std::sync::Arc;
use ugas_doc::{Aggregation, Category, OnBoundChange, Quantize, ReplicationMode};

/// A compiled bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundDef {
    /// No bound.
    Open,
    /// A fixed number.
    Value(f64),
    /// The current value of an attribute.
    Attribute(AttributeId),
}

/// The static definition of an attribute, from its document.
///
/// ```
/// use ugas_core::{BoundDef, Rules};
/// use ugas_doc::{Attribute, AttributeSet};
/// let set = AttributeSet::new("V").with(Attribute::new("MaxHealth", 100.0))
///     .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"));
/// let rules = Rules::builder().add(set).build().unwrap();
/// let health = &rules.set_attributes(rules.set("V").unwrap()).unwrap()[1];
/// assert_eq!(health.min, BoundDef::Value(0.0));
/// assert_eq!(health.max, BoundDef::Attribute(rules.attribute("MaxHealth").unwrap()));
/// ```
#[derive(Clone, Debug)]
pub struct AttributeDef {
    /// The id, shared by all attributes of this name.
    pub attribute: AttributeId,
    /// The base value at registration, before clamping.
    pub default: f64,
    /// The lower bound.
    pub min: BoundDef,
    /// The upper bound.
    pub max: BoundDef,
    /// The category.
    pub category: Category,
    /// The clients that the value is replicated to.
    pub replication: ReplicationMode,
    /// How values are quantized when they are replicated to observers. `None` sends exact values.
    pub quantize: Option<Quantize>,
    /// How modifiers are aggregated.
    pub aggregation: Aggregation,
    /// What happens when an attribute that is a bound of this attribute changes.
    pub on_bound_change: OnBoundChange,
    /// Whether the controller dies when the attribute reaches zero.
    pub death: bool,
    /// The attribute before which this pool absorbs damage, and the pool's position among the pools of that attribute.
    pub(crate) absorb: Option<(AttributeId, i32)>,
    pub(crate) derived: Option<Arc<Expr>>,
    /// The base value of a derived attribute while an attribute that its expression reads is not registered; `None` if
    /// the document has no `DefaultBaseValue`.
    pub(crate) fallback: Option<f64>,
}

#[derive(Clone, Debug)]
pub(crate) struct SetDef {
    pub(crate) dependencies: Box<[SetId]>,
    pub(crate) attributes: Box<[AttributeDef]>,
    /// The stat of each attribute, in the order of `attributes`; empty if the set is not a stat table.
    pub(crate) stats: Box<[StatDef]>,
    /// The resource, if the set is one.
    pub(crate) resource: Option<Box<ResourceDef>>,
}

/// What a stat has beside its attribute.
#[derive(Clone, Debug)]
pub(crate) struct StatDef {
    /// The id of the tag of the stat, which is an alias of its attribute.
    pub(crate) alias: AttributeId,
    /// Whether effects may modify the stat.
    pub(crate) is_modifiable: bool,
    /// The combat value that the stat multiplies.
    pub(crate) scale: Option<ScaleDef>,
}

impl SetDef {
    /// Returns the stat of an attribute of the set.
    pub(crate) fn stat(&self, attribute: AttributeId) -> Option<&StatDef> {
        let at = self.attributes.iter().position(|a| a.attribute == attribute)?;
        self.stats.get(at)
    }
}

impl CompiledText for SetDef {}
