//! The shape of a controller: which attributes observers receive, in which order and with which rounding. Client
//! and server derive the shape from the rules, the attribute sets and the replication mode.

use crate::mask::{Mask, Recipient};
use crate::wire::number::Quantizer;
use std::borrow::Cow;
use std::sync::Arc;
use ugas_core::{AttributeDef, AttributeId, Rules, SetId};
use ugas_doc::ControllerReplication;

/// The maximum number of shapes that are kept.
const KEPT: usize = 4096;

/// One attribute of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// The attribute.
    pub attribute: AttributeId,
    /// How the value is rounded; `None` if the exact value is sent.
    pub quantize: Option<Quantizer>,
}

impl From<&AttributeDef> for Field {
    fn from(def: &AttributeDef) -> Field {
        let quantize = def.quantize.and_then(|q| Quantizer::new(q.min, q.max, q.bits as u32));
        Field { attribute: def.attribute, quantize }
    }
}

/// The parts of a controller that observers receive.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The attribute sets of the controller, in the order of registration.
    pub sets: Box<[SetId]>,
    /// The replication mode of the controller.
    pub mode: ControllerReplication,
    /// The visible attributes.
    pub fields: Box<[Field]>,
    /// Whether effects are sent.
    pub effects: bool,
    /// Whether tags are sent.
    pub tags: bool,
    /// Whether cues are sent.
    pub cues: bool,
}

impl Shape {
    fn new(rules: &Rules, sets: &[SetId], mode: ControllerReplication) -> Shape {
        let mask = Mask::new(rules, sets, mode, Recipient::Observer);
        let attributes = sets.iter().filter_map(|&s| rules.set_attributes(s)).flatten().enumerate();
        let seen = attributes.filter(|&(at, _)| mask.attributes.has(at));
        let fields = seen.map(|(_, a)| Field::from(a)).collect();
        let Mask { effects, tags, cues, .. } = mask;
        Shape { sets: sets.into(), mode, fields, effects, tags, cues }
    }

    /// Returns whether an attribute is replicated to observers.
    pub(crate) fn shows(&self, attribute: AttributeId) -> bool {
        self.fields.iter().any(|f| f.attribute == attribute)
    }

    /// Returns the number of bits of an attribute index.
    pub(super) fn index_bits(&self) -> u32 {
        width(self.fields.len())
    }
}

/// Returns the number of bits of an index below `count`.
fn width(count: usize) -> u32 {
    count.saturating_sub(1).checked_ilog2().map_or(0, |w| w + 1)
}

/// The shapes of controllers under given rules, each created once, and the bit widths of ids.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
/// use ugas_net::internals::view::Shapes;
/// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build()?;
/// let mut shapes = Shapes::new(rules.clone());
/// let sets = [rules.set("S").unwrap()];
/// assert_eq!(shapes.of(&sets, ControllerReplication::Full).fields.len(), 1);
/// assert!(shapes.of(&sets, ControllerReplication::Mixed).fields.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shapes {
    rules: Arc<Rules>,
    list: Vec<Arc<Shape>>,
    pub(super) tag_bits: u32,
    pub(super) effect_bits: u32,
    /// Whether sections can have a list of actors and capability sets.
    pub(super) has_holdings: bool,
    /// Attribute sets that observers do not learn about.
    hidden: Vec<SetId>,
}

impl Shapes {
    /// Creates an empty list.
    pub fn new(rules: Arc<Rules>) -> Shapes {
        let tag_bits = width(rules.tag_ids().map(|t| t.index() + 1).max().unwrap_or(0));
        let effect_bits = width(rules.effect_list().map(|(e, _)| e.index() + 1).max().unwrap_or(0));
        let (has_holdings, hidden) = (rules.has_holdings(), rules.hidden_data_components());
        Shapes { rules, list: Vec::new(), tag_bits, effect_bits, has_holdings, hidden }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the attribute sets that observers learn about.
    pub(crate) fn visible<'s>(&self, sets: &'s [SetId]) -> Cow<'s, [SetId]> {
        match sets.iter().any(|set| self.hidden.contains(set)) {
            true => sets.iter().copied().filter(|set| !self.hidden.contains(set)).collect(),
            false => Cow::Borrowed(sets),
        }
    }

    /// Returns the shape of these attribute sets in this mode.
    pub fn of(&mut self, sets: &[SetId], mode: ControllerReplication) -> Arc<Shape> {
        if let Some(known) = self.list.iter().find(|s| s.mode == mode && *s.sets == *sets) {
            return known.clone();
        }
        let shape = Arc::new(Shape::new(&self.rules, sets, mode));
        if self.list.len() < KEPT {
            self.list.push(shape.clone());
        }
        shape
    }
}
