//! The complete visible state of a controller, taken from a sim or from a proxy. Replication is correct if the states
//! of the sim and of the proxy are equal.

use super::code::Coded;
use super::{Field, ProxyEffect};
use crate::mask::{Mask, Recipient};
use ugas_core::{AttributeId, ControllerId, Holding, Refusal, SetId, Sim, TagId};
use ugas_doc::ControllerReplication;

/// The visible state of a controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProxySnapshot {
    /// The attribute sets of the controller.
    pub sets: Vec<SetId>,
    /// Attributes with their rounded current values.
    pub values: Vec<(AttributeId, f64)>,
    /// Explicit tags, sorted by id.
    pub tags: Vec<TagId>,
    /// Effects, sorted by key.
    pub effects: Vec<ProxyEffect>,
    /// Looping cues, sorted by id.
    pub loops: Vec<TagId>,
    /// Actors and capability sets, sorted.
    pub holdings: Vec<Holding>,
}

impl ProxySnapshot {
    /// Returns the visible state of a controller in this replication mode.
    pub fn of(sim: &Sim, who: ControllerId, mode: ControllerReplication) -> Result<ProxySnapshot, Refusal> {
        let rules = sim.rules();
        let hidden = rules.hidden_data_components();
        let sets: Vec<SetId> = sim.sets(who)?.into_iter().filter(|set| !hidden.contains(set)).collect();
        let mask = Mask::new(rules, &sets, mode, Recipient::Observer);
        let mut seen = ProxySnapshot { sets, ..ProxySnapshot::default() };
        let attributes = seen.sets.iter().filter_map(|&s| rules.set_attributes(s)).flatten().enumerate();
        for (_, def) in attributes.filter(|&(at, _)| mask.attributes.has(at)) {
            let field = Field::from(def);
            let value = Coded::new(&field, sim.get(who, def.attribute)?).value(&field);
            seen.values.push((def.attribute, value));
        }
        if mask.tags {
            seen.tags = sim.tags(who)?.into_iter().map(|(tag, _)| tag).collect();
            seen.tags.sort();
        }
        if mask.effects {
            seen.effects = sim.effects(who)?.into_iter().map(ProxyEffect::from).collect();
            seen.effects.sort_by_key(|e| e.key);
        }
        if mask.cues {
            seen.loops = sim.cues(who)?;
        }
        if rules.has_holdings() {
            sim.remote().holdings(who, &mut seen.holdings);
        }
        Ok(seen)
    }

    /// Numbers the capability sets from zero in their order. Servers and observers have other numbers for the same
    /// sets.
    pub fn renumbered(mut self) -> ProxySnapshot {
        let mut next = 0;
        for holding in &mut self.holdings {
            if let Holding::Set { handle, .. } = holding {
                *handle = next;
                next += 1;
            }
        }
        self
    }
}
