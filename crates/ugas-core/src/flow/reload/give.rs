//! Migration of the tags, cues and abilities that active effects grant, and of the charges of grants.

use super::super::{Flow, Via};
use super::PreviousRules;
use super::retire::{granted, surplus};
use crate::migration::Migration;
use crate::rules::EffectDef;
use crate::state::GrantMore;
use crate::{AbilityGrant, ControllerId, DiagnosticKind};

impl Flow<'_> {
    /// Migrates the tags, cues, abilities and charges of one row.
    pub(super) fn migrate_grants(&mut self, who: ControllerId, past: &PreviousRules<'_>, report: &mut Migration) {
        let Ok(slot) = self.slot(who) else { return };
        let effects: Vec<(u64, crate::EffectId)> = self.row(slot).effects.iter().map(|e| (e.seq(), e.def)).collect();
        for (seq, effect) in effects {
            let Some(at) = self.row(slot).effect_at(seq) else { continue };
            let Some((new, old)) = self.def(effect).zip(past.catalogue.effect(effect)) else { continue };
            let e = &self.row(slot).effects[at];
            let via = Via { source: e.source, key: e.key(who), effect };
            let (shown, extra) = (!e.inhibited(), e.extra().cloned());
            if shown {
                self.migrate_tags(slot, &new, &old, via);
                for tag in surplus(&new.cues, &old.cues) {
                    self.cue_in(slot, tag, extra.as_ref(), via);
                }
                for tag in surplus(&old.cues, &new.cues) {
                    self.cue_out(slot, tag, via);
                }
            }
            self.migrate_abilities(slot, seq, (&new, &old), via, report);
        }
        self.migrate_charges(slot);
    }

    /// Replaces the granted tags. New tags are added before old tags are removed, so that a tag that is still granted
    /// does not toggle.
    fn migrate_tags(&mut self, slot: usize, new: &EffectDef, old: &EffectDef, via: Via) {
        let added = surplus(&new.granted_tags, &old.granted_tags);
        let removed = surplus(&old.granted_tags, &new.granted_tags);
        if added.is_empty() && removed.is_empty() {
            return;
        }
        let mut flips = Vec::new();
        added.iter().for_each(|&tag| self.tag_in(slot, tag, &mut flips));
        removed.iter().for_each(|&tag| self.tag_out(slot, tag, &mut flips));
        self.tags_changed(slot, [&added, &removed], &flips);
        self.emit_flips(slot, &flips, via);
    }

    /// Grants the abilities that the new definition adds, and changes the level of a grant that still has the old
    /// level. Abilities that the new definition lacks were already revoked under the old rules.
    fn migrate_abilities(
        &mut self,
        slot: usize,
        seq: u64,
        (new, old): (&EffectDef, &EffectDef),
        via: Via,
        report: &mut Migration,
    ) {
        for (ability, input) in surplus(&granted(new), &granted(old)) {
            let fits = |g: &&crate::rules::GrantDef| (g.ability, g.input) == (ability, input) && g.remove_with_effect;
            let Some(g) = new.grants.iter().find(fits) else { continue };
            if self.row(slot).grants.len() >= self.limits.grants_per_controller as usize {
                self.diagnose(via.key.target, via.effect, DiagnosticKind::Limit);
                continue;
            }
            let level = g.level;
            self.grant_ability(slot, AbilityGrant { ability, level, input: input.some() }, seq, via);
            report.grants_added += 1;
        }
        for g in &new.grants {
            let was = old.grants.iter().find(|o| (o.ability, o.input) == (g.ability, g.input));
            let Some(was) = was.filter(|o| o.level != g.level) else { continue };
            let mine = |x: &&crate::state::Grant| x.by() == seq && (x.ability, x.input()) == (g.ability, g.input);
            let at = self.row(slot).grants.iter().position(|x| mine(&x) && x.level() == was.level);
            if let Some(at) = at {
                self.row_mut(slot).grants[at].set_level(g.level);
            }
        }
    }

    /// Adapts the charges of grants to the new definitions.
    fn migrate_charges(&mut self, slot: usize) {
        for at in 0..self.row(slot).grants.len() {
            let g = &self.row(slot).grants[at];
            let charged = self.ability(g.ability).is_some_and(|d| d.charges.is_some());
            if charged || g.more.as_ref().is_none_or(|m| m.charges.is_none()) {
                continue;
            }
            self.stop_charges(slot, at);
            let more = &mut self.row_mut(slot).grants[at].more;
            if let Some(m) = more {
                m.charges = None;
            }
            if more.as_deref() == Some(&GrantMore::default()) {
                *more = None;
            }
        }
        self.recharge(slot);
    }

    /// Expires the effects that have no remaining time under the new rules.
    pub(super) fn expire_overdue(&mut self, slot: usize) {
        let all: Vec<u64> = self.row(slot).effects.iter().map(|e| e.seq()).collect();
        all.into_iter().for_each(|seq| self.expire_if_over(slot, seq));
    }

    /// Restores effects whose inhibiting requirements were removed by the new rules.
    pub(super) fn free_effects(&mut self, slot: usize) {
        let held: Vec<(u64, crate::EffectId)> = {
            let held = self.row(slot).effects.iter().filter(|e| e.inhibited());
            held.map(|e| (e.seq(), e.def)).collect()
        };
        for (seq, effect) in held {
            if let Some(def) = self.def(effect).filter(|d| !d.has_ongoing()) {
                self.restore_effect(&def, slot, seq);
            }
        }
    }
}
