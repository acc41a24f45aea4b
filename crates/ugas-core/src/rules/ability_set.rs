//! Compiled ability sets.

use super::compile::Compiler;
use super::lookup::Kind;
use crate::{AbilityGrant, AbilitySetId, EffectId, SetId};
use std::sync::Arc;
use ugas_doc::{AbilitySet, DurationPolicy};

#[derive(Clone, Debug)]
pub(crate) struct AbilitySetDef {
    /// Attribute sets, registered first.
    pub(crate) sets: Box<[SetId]>,
    pub(crate) effects: Box<[EffectId]>,
    pub(crate) abilities: Box<[AbilityGrant]>,
}

impl Compiler<'_> {
    pub(crate) fn ability_set(&mut self, doc: &AbilitySet) {
        let mut sets = Vec::with_capacity(doc.attribute_sets.len());
        for name in &doc.attribute_sets {
            match self.find(Kind::Set, name) {
                Some(set) => sets.push(SetId(set)),
                None => {
                    let near = self.nearest_suggestion(Kind::Set, name);
                    self.error("unknown-set", format!("AttributeSets: unknown attribute set {name}{near}"));
                }
            }
        }
        let effects = self.effect_list("Effects", &doc.effects);
        for &effect in &effects {
            let instant = self.rules.effect_def(effect).is_some_and(|e| e.policy == DurationPolicy::Instant);
            if instant {
                let name = self.rules.effect_name(effect).unwrap_or("").to_owned();
                self.warn(
                    "instant-in-set",
                    format!("Effects: {name} is Instant, so it is not undone when the set is removed"),
                );
            }
        }
        let mut abilities = Vec::with_capacity(doc.abilities.len());
        for (i, a) in doc.abilities.iter().enumerate() {
            if a.level == 0 {
                self.error("bad-level", format!("Abilities[{i}]: {} has level 0; levels start at 1", a.ability));
            }
            let input = self.input(a.input_id.as_deref());
            if let Some(ability) = self.ability_ref(&format!("Abilities[{i}]"), &a.ability) {
                abilities.push(AbilityGrant { ability, level: a.level, input });
            }
        }
        if let Some(id) = self.rules.ability_set_names.find(&doc.name) {
            let def = AbilitySetDef { sets: sets.into(), effects, abilities: abilities.into() };
            self.rules.to_mut().ability_sets[id as usize] = Some(Arc::new(def));
        }
    }

    pub(crate) fn ability_set_ref(&mut self, place: &str, name: &str) -> Option<AbilitySetId> {
        let found = self.find(Kind::AbilitySet, name);
        if found.is_none() {
            let near = self.nearest_suggestion(Kind::AbilitySet, name);
            self.error("unknown-ability-set", format!("{place}: unknown ability set {name}{near}"));
        }
        found.map(AbilitySetId)
    }
}
