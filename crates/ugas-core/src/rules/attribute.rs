//! Compiled attributes and sets.

use super::expr::Expr;
use crate::{AttributeId, SetId};
use std::sync::Arc;
use ugas_doc::{Aggregation, Category, OnBoundChange, Quantize, ReplicationMode};

/// A bound as the rules know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundDef {
    /// None.
    Open,
    /// A fixed number.
    Value(f64),
    /// The current value of an attribute.
    Attribute(AttributeId),
}

/// The static side of an attribute: what its document says.
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
    /// Its id, shared by attributes of this name in all sets.
    pub attribute: AttributeId,
    /// Base at registration, before clamping.
    pub default: f64,
    /// Lower bound.
    pub min: BoundDef,
    /// Upper bound.
    pub max: BoundDef,
    /// What it is for.
    pub category: Category,
    /// To whom it is replicated.
    pub replication: ReplicationMode,
    /// How it is rounded on the wire for observers; none sends it exactly.
    pub quantize: Option<Quantize>,
    /// How modifiers add up.
    pub aggregation: Aggregation,
    /// What a change of a referenced bound does to base.
    pub on_bound_change: OnBoundChange,
    /// Whether falling to zero is a death.
    pub death: bool,
    /// A pool that takes damage before another attribute does: which, and its place among such pools.
    pub(crate) absorb: Option<(AttributeId, i32)>,
    pub(crate) derived: Option<Arc<Expr>>,
}

#[derive(Clone, Debug)]
pub(crate) struct SetDef {
    pub(crate) dependencies: Box<[SetId]>,
    pub(crate) attributes: Box<[AttributeDef]>,
}
