//! Compiled ability sets.

use super::capability::{CapabilityEntry, runs_on_observers};
use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use crate::{AbilityGrant, AbilitySetId, EffectId, NameKind, SetId};
use std::sync::Arc;
use ugas_doc::{AbilitySet, DurationPolicy, Origin, ReplicationMode};

#[derive(Clone, Debug)]
pub(crate) struct AbilitySetDef {
    /// Attribute sets, registered first.
    pub(crate) sets: Box<[SetId]>,
    pub(crate) effects: Box<[EffectId]>,
    pub(crate) abilities: Box<[AbilityGrant]>,
    /// The capability sets that are added before the capabilities of this set.
    pub(crate) nested: Box<[AbilitySetId]>,
    /// The capabilities, in the order in which they run.
    pub(crate) capabilities: Box<[CapabilityEntry]>,
    /// Which clients run capabilities of the set.
    pub(crate) replication: ReplicationMode,
    /// Whether the document is a capability set.
    pub(crate) is_capability_set: bool,
}

impl CompiledText for AbilitySetDef {}

impl RulesDocument for AbilitySet {
    fn phase(&self) -> Phase {
        Phase::AbilitySets
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::AbilitySet)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.ability_set(self);
    }
}

impl Compiler<'_> {
    pub(crate) fn ability_set(&mut self, doc: &AbilitySet) {
        let sets = self.data_components("AttributeSets", &doc.attribute_sets);
        let effects = self.effect_list("Effects", &doc.effects);
        for &effect in &effects {
            let instant = self.rules.effect_def(effect).is_some_and(|e| e.policy == DurationPolicy::Instant);
            if instant {
                let name = self.rules.effect_name(effect).unwrap_or("").to_owned();
                self.warn(
                    "instant-in-set",
                    format!("Effects: {name} is Instant, so revoking the set does not undo it; use a lasting effect"),
                );
            }
        }
        let mut abilities = Vec::with_capacity(doc.abilities.len());
        for (i, a) in doc.abilities.iter().enumerate() {
            if a.level == 0 {
                self.error("bad-level", format!("Abilities[{i}]: {} has level 0; write at least 1", a.ability));
            }
            let input = self.input(a.input_id.as_deref());
            if let Some(ability) = self.ability_ref(&format!("Abilities[{i}]"), &a.ability) {
                abilities.push(AbilityGrant { ability, level: a.level, input: input.some() });
            }
        }
        let capabilities = self.capability_entries(&doc.capabilities);
        let is_seen = capabilities.iter().any(|entry| runs_on_observers(entry.side));
        if let Some(id) = self.find(NameKind::AbilitySet, &doc.name) {
            let def = AbilitySetDef {
                sets,
                effects,
                abilities: abilities.into(),
                nested: [].into(),
                capabilities,
                replication: if is_seen { ReplicationMode::All } else { ReplicationMode::OwnerOnly },
                is_capability_set: false,
            };
            self.rules.to_mut().ability_sets.define(id, Arc::new(def));
        }
    }

    pub(crate) fn ability_set_ref(&mut self, place: &str, name: &str) -> Option<AbilitySetId> {
        self.reference(NameKind::AbilitySet, "unknown-ability-set", place, name).map(AbilitySetId)
    }
}
