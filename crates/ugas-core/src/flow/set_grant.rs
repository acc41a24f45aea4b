//! Ability sets: attribute sets, effects and abilities that are granted and revoked together (equipment, a class, a
//! form). If one part is refused, no part is granted. The revocation of a granted ability set removes the parts that
//! this grant added, except attribute sets that another granted ability set shares. Parts that were already removed are
//! skipped. The revocation is refused if something else needs one of the attribute sets.

use super::{Flow, Via};
use crate::state::{Row, SetGrant};
use crate::{AbilitySetId, ControllerId, EffectKey, FactKind, LimitKind, NameKind, Refusal, SetId, Spec};

/// Origin id and ordinal: the identity of an effect on its target.
type EffectIdentity = (u64, u32);

impl Flow<'_> {
    /// Grants an ability set: its attribute sets, then its effects, then its abilities. If one part is refused, the
    /// other parts are undone.
    pub(crate) fn grant_set(&mut self, who: ControllerId, set: AbilitySetId) -> Result<u64, Refusal> {
        let target = self.slot(who)?;
        let rules = self.rules;
        let Some(def) = rules.ability_set_def(set) else {
            return Err(Refusal::UnknownName { kind: NameKind::AbilitySet, id: set.0 });
        };
        self.admit_capabilities(target, set)?;
        let row = self.row(target);
        let limit = |what, max| Refusal::Limit { what, max, link: self.cause.link };
        if row.play().sets.len() >= self.limits.grants_per_controller as usize {
            return Err(limit(LimitKind::AbilitySets, self.limits.grants_per_controller));
        }
        let grants = self.limits.grants_per_controller;
        if row.grants.len() + def.abilities.len() > grants as usize {
            return Err(limit(LimitKind::Grants, grants));
        }
        let removed = def.effects.iter().filter_map(|&e| self.def(e)).flat_map(|d| d.remove_with_tags.to_vec());
        let saved = self.save_before_removal(target, &removed.collect::<Vec<_>>());
        let components = self.attribute_sets_of(set);
        let given = self.grant_parts(target, who, &components, &def.effects);
        let (attributes, effects) = match given {
            Ok(given) => given,
            Err(refusal) => {
                self.roll_back(Some(saved), target);
                return Err(refusal);
            }
        };
        let seq = self.row_mut(target).take_seq();
        let mut grants = Vec::with_capacity(def.abilities.len());
        for &ability in &def.abilities {
            let id = self.grant_ability(target, ability, 0, Via::NOTHING);
            let row = self.row_mut(target);
            if let Some(at) = row.grant(id) {
                row.grants[at].more.get_or_insert_default().set = seq;
            }
            grants.push(id);
        }
        let row = self.row_mut(target);
        row.play_mut().sets.push(SetGrant { seq, set, effects, grants, attributes });
        self.fact(who, Via::NOTHING, FactKind::SetGranted { set, handle: seq });
        self.add_capabilities(who, seq, set);
        Ok(seq)
    }

    /// Returns the attribute sets of a set and of the capability sets that it contains, in the order in which they are
    /// registered.
    fn attribute_sets_of(&self, set: AbilitySetId) -> Vec<SetId> {
        let mut all: Vec<SetId> = Vec::new();
        for part in self.rules.sets_in(set) {
            for &component in self.rules.ability_set_def(part).map_or(&[][..], |def| &def.sets) {
                if !all.contains(&component) {
                    all.push(component);
                }
            }
        }
        all
    }

    /// Returns the attribute sets that this grant added or shares with another grant, and the keys of its effects.
    fn grant_parts(
        &mut self,
        target: usize,
        who: ControllerId,
        sets: &[SetId],
        list: &[crate::EffectId],
    ) -> Result<(Vec<SetId>, Vec<EffectIdentity>), Refusal> {
        let mut attributes = Vec::new();
        for &set in sets {
            if !self.layout(target).sets.contains(&set) {
                self.add_set(who, set)?;
                attributes.push(set);
            } else if is_shared(self.row(target), set) {
                attributes.push(set);
            }
        }
        let origin_id = self.cause.root.0;
        let mut effects = Vec::with_capacity(list.len());
        for &effect in list {
            let key = self.apply(&Spec::new(effect, who).from(who), origin_id)?;
            let row = self.row(target);
            if row.find(key).is_some() || row.find_queued(key).is_some() {
                effects.push((key.origin_id, key.ordinal));
            }
        }
        Ok((attributes, effects))
    }

    /// Revokes one grant of an ability set, in reverse order. If something else needs one of its attribute sets, the
    /// whole revocation is refused.
    pub(crate) fn revoke_set(&mut self, who: ControllerId, handle: u64) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        let sets = &self.row(target).play().sets;
        let at = sets.binary_search_by_key(&handle, |s| s.seq).map_err(|_| Refusal::StaleHandle)?;
        let taken = self.row_mut(target).play_mut().sets.remove(at);
        let removed: Vec<SetId> =
            taken.attributes.iter().rev().copied().filter(|&set| !is_shared(self.row(target), set)).collect();
        if let Err(refusal) = self.can_lose(target, who, &removed) {
            self.row_mut(target).play_mut().sets.insert(at, taken);
            return Err(refusal);
        }
        self.remove_capabilities(who, handle);
        for &grant in taken.grants.iter().rev() {
            self.revoke_grant(target, grant, Via::NOTHING);
        }
        for &(origin_id, ordinal) in taken.effects.iter().rev() {
            // An effect that has already ended is skipped.
            let _ = self.remove(EffectKey { origin_id, target: who, ordinal }, None);
        }
        for &set in &removed {
            // `can_lose` has checked the removal. A set that was already removed is skipped.
            let _ = self.remove_set(who, set, true);
        }
        self.row_mut(target).trim();
        self.wake_capabilities(target);
        self.fact(who, Via::NOTHING, FactKind::SetRevoked { set: taken.set, handle });
        Ok(())
    }

    /// Checks that nothing else on the controller needs these attribute sets.
    fn can_lose(&mut self, target: usize, who: ControllerId, removed: &[SetId]) -> Result<(), Refusal> {
        let mut kept: Vec<SetId> = self.layout(target).sets.to_vec();
        for &set in removed.iter().filter(|s| self.layout(target).sets.contains(s)).collect::<Vec<_>>() {
            let layout = self.layout_for(&kept, who)?;
            if let Some(by) = self.ix.layouts[layout as usize].needed_by(self.rules, set) {
                return Err(Refusal::SetNeeded { by });
            }
            kept.retain(|&s| s != set);
            if kept.is_empty() {
                return Err(Refusal::NoSets);
            }
        }
        Ok(())
    }

    /// Grants the ability sets of a new controller. A refusal becomes a diagnostic, like the refusal of an initial
    /// effect.
    pub(crate) fn grant_spawn_sets(&mut self, who: ControllerId, sets: &[AbilitySetId]) {
        for &set in sets {
            if let Err(refusal) = self.grant_set(who, set) {
                self.diagnose(who, crate::EffectId::NONE, crate::DiagnosticKind::ReactionRefused { refusal });
            }
        }
    }
}

/// Returns whether a grant of an ability set contains this attribute set.
fn is_shared(row: &Row, set: SetId) -> bool {
    row.play().sets.iter().any(|s| s.attributes.contains(&set))
}
