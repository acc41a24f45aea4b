//! The first phase of a reload: ends, under the old rules, everything that cannot continue under the new rules, such as
//! effects and abilities that the new rules do not define.

use super::super::ability::EndHow;
use super::super::{Flow, Via};
use super::{Catalogue, Layouts};
use crate::migration::{Migration, ReloadError};
use crate::rules::{EffectDef, Layout};
use crate::state::{Activation, Effect};
use crate::{AbilityId, ControllerId, GrantId, InputId, RemoveReason, SetId};
use ugas_doc::DurationPolicy;

/// Maximum number of passes. An ability that ends may start other abilities, which must end too.
const PASSES: u32 = 16;

impl Flow<'_> {
    /// Ends everything that the new rules do not define.
    pub(crate) fn retire(
        &mut self,
        next: Catalogue<'_>,
        layouts: &mut Layouts,
        report: &mut Migration,
    ) -> Result<(), ReloadError> {
        let everyone: Vec<ControllerId> = self.st.controllers.iter().map(|r| r.id).collect();
        let mut unstable = None;
        for _ in 0..PASSES {
            unstable = None;
            for &who in &everyone {
                if let Ok(slot) = self.slot(who)
                    && self.retire_row(slot, next, layouts, report)?
                {
                    unstable = unstable.or(Some(who));
                }
            }
            if unstable.is_none() {
                break;
            }
        }
        unstable.map_or(Ok(()), |who| Err(ReloadError::Unstable { who }))
    }

    /// Retires one row. Returns whether anything was removed.
    fn retire_row(
        &mut self,
        slot: usize,
        next: Catalogue<'_>,
        layouts: &mut Layouts,
        report: &mut Migration,
    ) -> Result<bool, ReloadError> {
        let sets: Vec<u64> = {
            let is_removed = |s: &&crate::state::SetGrant| next.rules.ability_set_def(s.set).is_none();
            self.row(slot).play().sets.iter().filter(is_removed).map(|s| s.seq).collect()
        };
        for &handle in &sets {
            self.retire_set(slot, handle, report);
        }
        let (who, limit) = (self.row(slot).id, self.limits.attributes_per_controller);
        let has_sets = !self.row(slot).play().sets.is_empty();
        let ended = has_sets
            && self.retire_capabilities(slot, next.rules, &mut layouts.requests, report).map_err(|refusal| {
                let why = refusal.describe(next.rules);
                ReloadError::Capabilities { who, refusal, why }
            })?;
        let layout = layouts.of(next, &self.layout(slot).sets, who, limit)?;

        let ends = |a: &&Activation| !self.can_continue(a.ability, next);
        let running: Vec<u64> = self.row(slot).play().activations.iter().filter(ends).map(|a| a.seq).collect();
        for &seq in &running {
            self.finish(slot, seq, EndHow::Cancelled);
            report.activations_ended += 1;
        }
        let grants = self.surplus_grants(slot, next);
        for &grant in &grants {
            self.revoke_grant(slot, grant, Via::NOTHING);
            report.grants_revoked += 1;
        }
        let lasts = |def: &EffectDef| def.policy != DurationPolicy::Instant;
        let queued = self.row(slot).queue().len();
        if self.row(slot).queue().iter().any(|q| !next.effect(q.spec.effect).is_some_and(|d| lasts(&d))) {
            let queue = &mut self.row_mut(slot).side_mut().queue;
            queue.retain(|q| next.effect(q.spec.effect).is_some_and(|d| lasts(&d)));
        }
        let left_queue = queued - self.row(slot).queue().len();
        let removed = |e: &&Effect| {
            let Some((new, old)) = next.effect(e.def).zip(self.def(e.def)) else { return true };
            !(lasts(&new) && fits(&new, &kept_drops(e, &old, &new), &layout))
        };
        let effects: Vec<u64> = self.row(slot).effects.iter().filter(removed).map(|e| e.seq()).collect();
        for &seq in &effects {
            self.end(slot, seq, RemoveReason::Reload, None);
        }
        for e in self.row_mut(slot).effects.iter_mut() {
            e.retain_frozen(|def| next.effect(def).is_some());
        }
        report.effects_removed += (effects.len() + left_queue) as u32;
        let quiet = !ended
            && sets.is_empty()
            && running.is_empty()
            && grants.is_empty()
            && effects.is_empty()
            && left_queue == 0;
        Ok(!quiet)
    }

    /// Returns whether activations of an ability can continue under the new rules.
    fn can_continue(&self, ability: AbilityId, next: Catalogue<'_>) -> bool {
        let defs = next.ability(ability).zip(self.ability(ability));
        defs.is_some_and(|(new, old)| next.rules.same_steps(self.rules, &new, &old))
    }

    /// Returns the grants whose ability the new rules do not define, and the grants from effects that no longer grant
    /// the ability.
    fn surplus_grants(&self, slot: usize, next: Catalogue<'_>) -> Vec<GrantId> {
        let row = self.row(slot);
        let is_removed = |g: &&crate::state::Grant| next.ability(g.ability).is_none();
        let mut list: Vec<GrantId> = row.grants.iter().filter(is_removed).map(|g| g.id).collect();
        for e in &row.effects {
            let Some((new, old)) = next.effect(e.def).zip(self.def(e.def)) else { continue };
            for (ability, input) in surplus(&granted(&old), &granted(&new)) {
                let mine = |g: &&crate::state::Grant| {
                    g.by() == e.seq() && (g.ability, g.input()) == (ability, input) && !list.contains(&g.id)
                };
                list.extend(row.grants.iter().find(mine).map(|g| g.id));
            }
        }
        list
    }

    /// Revokes one grant of an ability set. Attribute sets that something else needs are kept.
    fn retire_set(&mut self, slot: usize, handle: u64, report: &mut Migration) {
        let sets = &self.row(slot).play().sets;
        let Ok(at) = sets.binary_search_by_key(&handle, |s| s.seq) else { return };
        let who = self.row(slot).id;
        let taken = self.row_mut(slot).play_mut().sets.remove(at);
        report.capabilities_ended += self.remove_capabilities(who, handle);
        for &grant in taken.grants.iter().rev() {
            if self.row(slot).grant(grant).is_some() {
                self.revoke_grant(slot, grant, Via::NOTHING);
                report.grants_revoked += 1;
            }
        }
        for &(origin_id, ordinal) in taken.effects.iter().rev() {
            let key = crate::EffectKey { origin_id, target: who, ordinal };
            if let Some(queued) = self.row(slot).find_queued(key) {
                self.row_mut(slot).side_mut().queue.remove(queued);
                report.effects_removed += 1;
            } else if let Some(at) = self.row(slot).find(key) {
                self.end(slot, self.row(slot).effects[at].seq(), RemoveReason::Reload, None);
                report.effects_removed += 1;
            }
        }
        for set in taken.attributes.into_iter().rev() {
            let shared = |s: &crate::state::SetGrant| s.attributes.contains(&set);
            if !self.row(slot).play().sets.iter().any(shared) {
                // An attribute set that something else needs stays registered on the controller.
                let _ = self.remove_set(who, set, true);
            }
        }
        self.row_mut(slot).trim();
        self.fact(who, Via::NOTHING, crate::FactKind::SetRevoked { set: taken.set, handle });
        report.ability_sets_revoked += 1;
    }
}

/// Returns the abilities that an effect grants, each with its input.
pub(super) fn granted(def: &EffectDef) -> Vec<(AbilityId, InputId)> {
    def.grants.iter().map(|g| (g.ability, g.input)).collect()
}

/// Returns the elements that `of` contains more often than `over`.
pub(super) fn surplus<T: PartialEq + Copy>(of: &[T], over: &[T]) -> Vec<T> {
    let mut rest = over.to_vec();
    let taken = |item: &&T| match rest.iter().position(|r| r == *item) {
        Some(at) => {
            rest.swap_remove(at);
            false
        }
        None => true,
    };
    of.iter().filter(taken).copied().collect()
}

/// Returns the dropped modifiers of an effect that the new definition has at the same index.
pub(super) fn kept_drops(e: &Effect, old: &EffectDef, new: &EffectDef) -> Vec<u16> {
    let attribute = |def: &EffectDef, index: u16| def.modifiers.get(index as usize).map(|m| m.attribute);
    let same = |&&i: &&u16| attribute(old, i).is_some() && attribute(old, i) == attribute(new, i);
    e.dropped().iter().filter(same).copied().collect()
}

/// Returns whether an effect can be applied to a row with this layout.
fn fits(def: &EffectDef, dropped: &[u16], layout: &Layout) -> bool {
    def.modifiers.iter().enumerate().all(|(index, m)| {
        let found = layout.slot(m.attribute);
        let writable = |slot: usize| layout.slots[slot].derived.is_none() || def.acts_on_current(m);
        dropped.contains(&(index as u16)) || found.is_some_and(writable)
    })
}

/// Returns the attribute sets of `sets` that the layout still has.
pub(super) fn left(sets: &[SetId], layout: &Layout) -> Vec<SetId> {
    sets.iter().copied().filter(|s| layout.sets.contains(s)).collect()
}
