//! Reload: migrates a running sim to new rules. The reload has two phases. Both run on a copy of the sim, so that a
//! refused reload changes nothing:
//!
//! 1. Everything that cannot continue under the new rules is ended under the old rules ([`retire`]): activations,
//!    grants, ability sets, capabilities, effects. Abilities are cancelled, so that their `OnCancel` lists run.
//! 2. Under the new rules, rows are migrated ([`row`], [`effect`]): layouts, base values, modifiers, tags. Then changed
//!    magnitudes are evaluated again ([`renew`]), and the tags, cues and abilities that effects grant are updated
//!    ([`give`]).
//!
//! Reactions to both phases (conditional effects, passive abilities, ongoing requirements) run under the new rules. The
//! capabilities that only the new rules list start last.

mod effect;
mod give;
mod renew;
mod retire;
mod row;

use super::{Flow, Reaction, RequestCounts};
use crate::migration::{Migration, ReloadError};
use crate::rules::{Layout, Rules};
use crate::state::{AbilityRef, Attr, Definitions, EffectRef, RecordKey};
use crate::{AbilityId, ControllerId, EffectId, FactKind, Refusal, ResourceStep, SetId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The old or the new rules, with the run-time definitions compiled against them.
#[derive(Clone, Copy)]
pub(crate) struct Catalogue<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) definitions: &'r Definitions,
}

impl<'r> Catalogue<'r> {
    fn effect(&self, id: EffectId) -> Option<EffectRef<'r>> {
        self.definitions.effect(self.rules, id)
    }

    fn ability(&self, id: AbilityId) -> Option<AbilityRef<'r>> {
        self.definitions.ability(self.rules, id)
    }
}

/// The layout under the new rules for each list of sets in use, and what else the second phase must know of the first.
#[derive(Default)]
pub(crate) struct Layouts {
    by_old: BTreeMap<Box<[SetId]>, Arc<Layout>>,
    /// How many requests the capabilities made that ended.
    requests: RequestCounts,
}

impl Layouts {
    /// Returns the layout of the sets that the new rules still define.
    fn of(
        &mut self,
        next: Catalogue<'_>,
        sets: &[SetId],
        who: ControllerId,
        limit: u32,
    ) -> Result<Arc<Layout>, ReloadError> {
        if let Some(known) = self.by_old.get(sets) {
            return Ok(known.clone());
        }
        let left: Vec<SetId> = sets.iter().copied().filter(|&s| next.rules.set_def(s).is_some()).collect();
        let built = if left.is_empty() { Err(Refusal::NoSets) } else { Layout::build(next.rules, &left, limit) };
        let layout = built.map(Arc::new).map_err(|refusal| {
            let names: Vec<&str> = sets.iter().map(|&s| next.rules.set_name(s).unwrap_or("?")).collect();
            let why = format!("{} (the controller has {})", refusal.describe(next.rules), names.join(", "));
            ReloadError::Sets { who, refusal, why }
        })?;
        self.by_old.insert(sets.into(), layout.clone());
        Ok(layout)
    }
}

/// The state before the rules changed.
pub(crate) struct PreviousRules<'r> {
    pub(crate) catalogue: Catalogue<'r>,
    pub(crate) layouts: Vec<Arc<Layout>>,
}

/// A row's values before the migration.
struct OldValues {
    who: ControllerId,
    layout: Arc<Layout>,
    attrs: Vec<Attr>,
}

impl Flow<'_> {
    /// Runs the second phase. The flow already has the new rules, and the rows still have the old layouts. Returns the
    /// capabilities that only the new rules list.
    pub(crate) fn migrate(
        &mut self,
        past: &PreviousRules<'_>,
        layouts: Layouts,
        report: &mut Migration,
    ) -> BTreeSet<(ControllerId, RecordKey)> {
        self.ix.renew_layouts(layouts.by_old.values());
        self.ix.live.clear();
        self.ix.filters.clear();
        self.ix.source_readers.clear();
        let everyone: Vec<ControllerId> = self.st.controllers.iter().map(|r| r.id).collect();
        report.controllers = everyone.len() as u32;
        let (mut was, mut changed) = (Vec::with_capacity(everyone.len()), Vec::new());
        let mut added = BTreeSet::new();
        for &who in &everyone {
            let Ok(slot) = self.slot(who) else { continue };
            was.push(self.move_row_over(slot, past, &layouts, report));
            let keys = self.move_capabilities(slot, past.catalogue.rules, &layouts.requests);
            added.extend(keys.into_iter().map(|key| (who, key)));
        }
        // Effects read other rows, so all rows are migrated before the first effect.
        for &who in &everyone {
            if let Ok(slot) = self.slot(who) {
                self.migrate_effects(slot, past, &mut changed);
            }
        }
        for &who in &everyone {
            if let Ok(slot) = self.slot(who) {
                self.refresh_listeners(slot);
                self.connect(slot);
            }
        }
        self.settle_everyone(&everyone);
        self.catch_up(&everyone);
        let removed = self.renew_all(changed, report);
        self.emit_values(&was, report);
        for was in &was {
            self.migrate_grants(was.who, past, report);
        }
        for (who, seq) in removed {
            if let Ok(slot) = self.slot(who) {
                self.end(slot, seq, crate::RemoveReason::Reload, None);
                report.effects_removed += 1;
            }
        }
        for &who in &everyone {
            if let Ok(slot) = self.slot(who) {
                self.publish(slot);
            }
        }
        self.renew_agenda();
        added
    }

    /// Applies the new rules to migrated rows: rechecks requirements, starts queued effects and passive abilities.
    pub(crate) fn apply_new_rules(&mut self) {
        let everyone: Vec<ControllerId> = self.st.controllers.iter().map(|r| r.id).collect();
        for who in everyone {
            let Ok(slot) = self.slot(who) else { continue };
            self.free_effects(slot);
            self.expire_overdue(slot);
            self.recheck_all_later(slot);
            self.notify(slot, crate::state::alert::ABILITY, || super::RowEvent::Freed);
            let mut queued: Vec<EffectId> = self.row(slot).queue().iter().map(|q| q.spec.effect).collect();
            let mut seen = BTreeSet::new();
            queued.retain(|effect| seen.insert(*effect));
            for effect in queued {
                self.sc.reactions.push_back(Reaction::Next { who, effect, cause: self.cause });
            }
        }
    }

    /// Emits one fact for each changed attribute, but none for a new attribute.
    fn emit_values(&mut self, rows: &[OldValues], report: &mut Migration) {
        for OldValues { who, layout: old, attrs } in rows {
            let Ok(slot) = self.slot(*who) else { continue };
            let layout = self.ix.layouts[self.row(slot).layout as usize].clone();
            for (at, def) in layout.slots.iter().enumerate() {
                let Some(before) = old.slot(def.attribute).map(|s| attrs[s]) else { continue };
                let now = self.row(slot).attrs[at];
                if now != before {
                    report.values += 1;
                    self.changed(slot, super::settle::ChangedSlot::of(def), before, now, super::Via::NOTHING);
                }
            }
            let lost: Vec<SetId> = old.sets.iter().copied().filter(|s| !layout.sets.contains(s)).collect();
            for set in lost {
                self.fact(*who, super::Via::NOTHING, FactKind::SetRemoved { set });
                let lost = old.slots.iter().position(|slot| slot.resource && slot.set == set);
                if let Some((attribute, old)) = lost.map(|at| (old.slots[at].attribute, attrs[at].current)) {
                    let step = ResourceStep::Removed;
                    self.fact(*who, super::Via::NOTHING, FactKind::Resource { attribute, step, old, new: 0.0 });
                    self.remove_resource_effects(slot, set);
                }
            }
        }
    }
}
