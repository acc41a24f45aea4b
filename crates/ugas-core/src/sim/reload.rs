//! Hot reload: migrates a running sim to new rules. A refused reload changes nothing.

use super::Sim;
use crate::flow::{Catalogue, Layouts, PreviousRules, Via, compile, server_op};
use crate::migration::{Migration, ReloadError};
use crate::rules::Rules;
use crate::state::{CauseWhat, Definitions};
use crate::{Cause, ControllerId, FactKind, RUNTIME_BIT};
use std::sync::Arc;

impl Sim {
    /// Migrates the sim to new rules. If the reload is refused, nothing changes.
    ///
    /// The new rules must be built with [`RulesBuilder::after`](crate::RulesBuilder::after) and the current rules as
    /// its argument, so that the ids that the host stored stay valid. The migration has these results:
    ///
    /// - If a default changed, a base value that equals the old default bit for bit is set to the new default. Other
    ///   base values are kept. Attributes that were added to an attribute set start at their default. Attributes that
    ///   were removed from an attribute set are removed from the controllers that have the set. Bounds, derived values
    ///   and current values are recomputed.
    /// - Active effects keep their times and captured values. If a magnitude changed, all magnitudes of the effect are
    ///   evaluated again with current values. A duration or period that the new definition adds starts at the time of
    ///   the reload. A duration or period that the new definition lacks is dropped. Granted tags, cues and abilities,
    ///   requirements and immunities are those of the new definition.
    /// - Effects, grants, ability sets and attribute sets that the new rules do not define are removed. Effects that
    ///   could not be applied under the new rules are removed too. The `EffectRemoved` facts have the reason `Reload`.
    ///   Templates and granted ability sets are not applied again.
    /// - A capability keeps its state if its set still lists its class. The order is that of the new set. An interval or
    ///   a switch that still has the old set's value gets the new one. Other capabilities end under the old rules, and
    ///   capabilities that were added to a set start under the new rules. A capability whose class got or lost its code
    ///   ends and starts again.
    /// - An activation continues if its task lists compile to the same steps and its timelines are unchanged. Otherwise
    ///   the activation is cancelled under the old rules, so that its `OnCancel` list can clean up.
    ///
    /// Facts report each change, with [`CauseWhat::Reload`] as their cause. A reload counts as an op: the same ops and
    /// reloads in the same order give the same hash. Images and journals recorded before the reload belong to the old
    /// rules. The sim refuses such an image or journal with [`Refusal::Mismatch`](crate::Refusal::Mismatch).
    ///
    /// The reload works on a copy of the sim, so its cost depends on the size of the sim.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig, SpawnSpec, Spec};
    /// use ugas_doc::{Attribute, AttributeSet, Effect};
    /// let vitals = |most| AttributeSet::new("Vitals").with(Attribute::new("MaxHealth", most));
    /// let buff = Effect::infinite("GE_Oak").add("MaxHealth", 20.0);
    /// let rules = Rules::builder().add(vitals(100.0)).add(buff.clone()).build()?;
    /// let (most, oak) = (rules.attribute("MaxHealth").unwrap(), rules.effect("GE_Oak").unwrap());
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// sim.apply(&Spec::new(oak, hero))?;
    ///
    /// let next = Rules::builder().after(rules).add(vitals(150.0)).add(buff).build()?;
    /// let migration = sim.reload(next)?;
    /// assert_eq!(sim.get(hero, most)?, 170.0);
    /// assert_eq!(
    ///     migration.to_string(),
    ///     "attribute_set Vitals changed; 1 controller, 1 base value set to its new default, 1 value changed"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reload(&mut self, rules: Arc<Rules>) -> Result<Migration, ReloadError> {
        rules.continues(&self.rules).map_err(|s| ReloadError::OtherIds { kind: s.kind, name: s.name })?;
        let definitions = self.recompile(&rules)?;
        let mut report = Migration { documents: rules.changes_since(&self.rules), ..Migration::default() };
        let other = rules.fingerprint() != self.rules.fingerprint();

        let mut sim = self.clone();
        let id = server_op(sim.state.next_op);
        let mut layouts = Layouts::default();
        let mut flow = sim.flow();
        flow.cause = Cause { root: id, link: 0 };
        flow.because(CauseWhat::Reload, ControllerId::NONE, ControllerId::NONE);
        let cause = flow.cause;
        if other {
            let (from, to) = (flow.rules.fingerprint(), rules.fingerprint());
            flow.fact(ControllerId::NONE, Via::NOTHING, FactKind::Reloaded { from, to });
        }
        flow.retire(Catalogue { rules: &rules, definitions: &definitions }, &mut layouts, &mut report)?;

        let old = std::mem::replace(&mut sim.state.definitions, definitions);
        let past = PreviousRules {
            catalogue: Catalogue { rules: &self.rules, definitions: &old },
            layouts: std::mem::take(&mut sim.index.layouts),
        };
        sim.rules = rules;
        let mut flow = sim.flow();
        flow.cause = cause;
        let added = flow.migrate(&past, layouts, &mut report);
        let changed = other || report.touched();
        if changed {
            flow.apply_new_rules();
        }
        flow.react();
        flow.start_capabilities(&added, &self.rules, &mut report);
        flow.react();
        let changed = other || report.touched();
        if changed {
            flow.journals.values_mut().for_each(|j| j.forget());
        }
        sim.state.next_op += changed as u64;
        *self = sim;
        Ok(report)
    }

    /// Compiles the run-time definitions against other rules.
    fn recompile(&self, rules: &Rules) -> Result<Definitions, ReloadError> {
        let mut list = Vec::with_capacity(self.state.definitions.list.len());
        for (number, definition) in self.state.definitions.list.iter().enumerate() {
            let Some(old) = definition else {
                list.push(None);
                continue;
            };
            let made = compile(rules, &old.doc, RUNTIME_BIT | number as u32).map_err(|error| {
                let error = error.unwrap_or(crate::LoadError { issues: Vec::new() });
                ReloadError::Definition { name: old.doc.name().to_owned(), error }
            })?;
            list.push(Some(made));
        }
        Ok(Definitions { list })
    }
}
