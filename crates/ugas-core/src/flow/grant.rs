//! The tags and abilities that an effect grants. Granted tags are counted and are removed when the effect ends or is
//! inhibited. An instant effect adds and removes its tags during the application. A granted ability is revoked when the
//! effect ends, if the grant is defined with `RemoveOnEffectRemoval`.

use super::{Flow, RowEvent, Via};
use crate::rules::{EffectDef, ModDef};
use crate::state::{TagFlip, alert};
use crate::{AbilityGrant, Cause, DiagnosticKind, Fact, FactKind, TagId};

impl Flow<'_> {
    pub(super) fn tag_in(&mut self, target: usize, tag: TagId, flips: &mut Vec<TagFlip>) {
        let tags = &self.rules.tags;
        let row = self.row_mut(target);
        let count = row.tags.add(tags, tag, &mut row.signature, flips);
        let who = row.id;
        let only_one = self.rules.tags.def(tag).is_some_and(|d| d.declared && !d.allow_multiple);
        if count == 2 && only_one && cfg!(debug_assertions) {
            self.diagnose(who, crate::EffectId::NONE, DiagnosticKind::MultipleGrants { tag });
        }
    }

    pub(super) fn tag_out(&mut self, target: usize, tag: TagId, flips: &mut Vec<TagFlip>) {
        let tags = &self.rules.tags;
        let row = self.row_mut(target);
        let who = row.id;
        if !row.tags.remove(tags, tag, &mut row.signature, flips) {
            self.diagnose(who, crate::EffectId::NONE, DiagnosticKind::TagUnderflow { tag });
        }
    }

    /// Grants an effect's tags, in authored order.
    pub(crate) fn grant_tags(&mut self, def: &EffectDef, own: &[TagId], target: usize, flips: &mut Vec<TagFlip>) {
        for &tag in def.granted_tags.iter().chain(own) {
            self.tag_in(target, tag, flips);
        }
        self.tags_changed(target, [&def.granted_tags, own], flips);
    }

    /// Removes an effect's tags, in authored order.
    pub(crate) fn take_tags(&mut self, def: &EffectDef, own: &[TagId], target: usize, flips: &mut Vec<TagFlip>) {
        for &tag in def.granted_tags.iter().chain(own) {
            self.tag_out(target, tag, flips);
        }
        self.tags_changed(target, [&def.granted_tags, own], flips);
    }

    /// Adds and removes an instant effect's tags during the application, so that listeners see both changes.
    pub(crate) fn pulse_tags(&mut self, def: &EffectDef, target: usize, via: Via) {
        if def.granted_tags.is_empty() {
            return;
        }
        let mut flips = std::mem::take(&mut self.sc.flips);
        flips.clear();
        for &tag in &def.granted_tags {
            self.tag_in(target, tag, &mut flips);
        }
        for &tag in &def.granted_tags {
            self.tag_out(target, tag, &mut flips);
        }
        self.emit_flips(target, &flips, via);
        self.sc.flips = flips;
    }

    pub(crate) fn emit_flips(&mut self, target: usize, flips: &[TagFlip], via: Via) {
        let who = self.row(target).id;
        if self.row(target).alert & (alert::TAG | alert::ASLEEP) != 0 {
            for f in flips.iter().filter(|f| f.presence) {
                let (tag, added) = (f.tag, f.added);
                self.notify(target, alert::TAG, || RowEvent::Tag { tag, added });
            }
            if !flips.is_empty() && self.may_change_liveness(target) {
                self.notify_anyway(target, RowEvent::Liveness);
            }
        }
        let kind =
            |f: &TagFlip| FactKind::TagChanged { tag: f.tag, added: f.added, exact: f.exact, presence: f.presence };
        let facts = &mut self.log.facts.list;
        if facts.len() + flips.len() > self.limits.facts as usize {
            return flips.iter().for_each(|f| self.fact(who, via, kind(f)));
        }
        let (at, Via { source, key, effect }, Cause { root, link }) = (self.st.now, via, self.cause);
        facts.extend(flips.iter().map(|f| Fact { at, who, source, key, root, link, effect, kind: kind(f) }));
    }

    /// Schedules a recheck of the row's effects that watch one of these tags. Effects that watch other tags are not
    /// rechecked. `tags` also includes tags whose count changed while they stayed present. Such a change can matter to
    /// ongoing requirements, because an effect's own grants do not count for them. It never matters to the filters of
    /// modifiers, which test only whether a tag is present: `flips` is empty if no tag was added or removed.
    #[inline]
    pub(super) fn tags_changed(&mut self, target: usize, tags: [&[TagId]; 2], flips: &[TagFlip]) {
        if self.row(target).watching > 0 {
            self.recheck_watchers(target, tags, !flips.is_empty());
        }
        if !flips.is_empty() && !self.ix.filters.is_empty() {
            self.report_filters(target, tags);
        }
    }

    /// Schedules a recheck of the row's effects that watch one of these tags.
    #[inline(never)]
    fn recheck_watchers(&mut self, target: usize, tags: [&[TagId]; 2], flipped: bool) {
        let (row, who) = (self.row(target), self.row(target).id);
        let concerned = row.effects.iter().filter(|e| {
            let filters = |m: &ModDef| {
                self.is_among(&m.target_tags, tags) || e.source == who && self.is_among(&m.source_tags, tags)
            };
            let watches = |d: &EffectDef| {
                self.is_among(&d.ongoing_required, tags)
                    || self.is_among(&d.ongoing_blocked, tags)
                    || flipped && d.modifiers.iter().any(filters)
            };
            e.watches() && self.def(e.def).is_some_and(|d| watches(&d))
        });
        let concerned: Vec<u64> = concerned.map(|e| e.seq()).collect();
        self.recheck_later(target, &concerned);
    }

    /// Schedules a recheck of effects on other rows whose filters test this row's tags.
    fn report_filters(&mut self, target: usize, tags: [&[TagId]; 2]) {
        let who = self.row(target).id;
        let range = (who, crate::ControllerId(0), 0)..=(who, crate::ControllerId::NONE, u64::MAX);
        let watchers: Vec<_> = self.ix.filters.range(range).map(|f| (f.1, f.2)).collect();
        for (watcher, seq) in watchers {
            let Some(slot) = self.st.controllers.slot(watcher) else { continue };
            let row = self.row(slot);
            let def = row.effect_at(seq).and_then(|at| self.def(row.effects[at].def));
            if def.is_some_and(|d| d.modifiers.iter().any(|m| self.is_among(&m.source_tags, tags))) {
                self.recheck_later(slot, &[seq]);
            }
        }
    }

    /// Returns whether any of `tags` is a watched tag or a descendant of a watched tag.
    fn is_among(&self, watched: &[TagId], tags: [&[TagId]; 2]) -> bool {
        watched.iter().any(|&of| tags.iter().copied().flatten().any(|&t| self.rules.tags.is_under(t, of)))
    }

    // Abilities -----------------------------------------------------------------------------------------------------

    pub(crate) fn grant_abilities(&mut self, def: &EffectDef, seq: u64, target: usize, via: Via) {
        for g in &def.grants {
            let by = if g.remove_with_effect { seq } else { 0 };
            self.grant_ability(
                target,
                AbilityGrant { ability: g.ability, level: g.level, input: g.input.some() },
                by,
                via,
            );
        }
    }

    /// Revokes the granted abilities that end with an effect.
    pub(crate) fn revoke_by(&mut self, target: usize, by: u64, via: Via) {
        while let Some(g) = self.row(target).grants.iter().find(|g| g.by() == by).map(|g| g.id) {
            self.revoke_grant(target, g, via);
        }
    }

    /// Revokes all granted abilities of a row.
    pub(crate) fn revoke_all(&mut self, target: usize, via: Via) {
        while let Some(g) = self.row(target).grants.first().map(|g| g.id) {
            self.revoke_grant(target, g, via);
        }
    }

    // Facts ---------------------------------------------------------------------------------------------------------

    /// Reports an application.
    #[inline]
    pub(crate) fn emit_applied(&mut self, target: usize, via: Via, level: u32, stacks: u32) {
        let row = self.row(target);
        let (who, is_listening) = (row.id, row.alert & alert::EFFECT != 0);
        self.fact(who, via, FactKind::EffectApplied { level, stacks });
        if is_listening {
            self.notify_anyway(target, RowEvent::Effect { effect: via.effect, source: via.source, applied: true });
        }
    }

    /// Reports a removal.
    #[inline]
    pub(crate) fn emit_removed(&mut self, target: usize, via: Via, reason: crate::RemoveReason) {
        let who = self.row(target).id;
        self.fact(who, via, FactKind::EffectRemoved { reason });
        let Via { source, effect, .. } = via;
        self.notify(target, alert::EFFECT, || RowEvent::Effect { effect, source, applied: false });
    }
}
