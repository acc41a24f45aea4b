//! Removes effects. The order of one removal: modifiers, tags, settle, attribute facts, tag facts, revocation of
//! abilities, `EffectRemoved` fact, cues, conditional effects, reactions.

use super::settle::Emit;
use super::{Flow, RowEvent, Via};
use crate::rules::EffectDef;
use crate::state::{CauseWhat, Effect, alert};
use crate::{BadValue, EffectChange, EffectFilter, EffectKey, Refusal, RemoveReason, SimTime, TagId};
use ugas_doc::{ExecutionPolicy, OnExpire};

/// The trigger of a conditional effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    Applied = 1,
    Executed,
    Expired,
    Removed,
    Overflow,
    Hook,
}

impl Flow<'_> {
    /// Removes stacks of the effect with a key. Without a number of stacks, removes the whole effect.
    pub(crate) fn remove(&mut self, key: EffectKey, stacks: Option<u32>) -> Result<(), Refusal> {
        let target = self.slot(key.target)?;
        if stacks == Some(0) {
            return Err(Refusal::BadValue { what: BadValue::RemoveCount });
        }
        if let Some(at) = self.row(target).find_queued(key) {
            self.row_mut(target).side_mut().queue.remove(at);
            return Ok(());
        }
        let at = self.row(target).find(key).ok_or(Refusal::StaleHandle)?;
        let e = &self.row(target).effects[at];
        let (seq, have) = (e.seq(), e.stacks());
        match stacks.filter(|&n| n < have) {
            Some(n) => self.set_stacks(target, seq, have - n, EffectChange::Stacks),
            None => self.end_at(target, at, RemoveReason::Removed, Some(Trigger::Removed)),
        }
        Ok(())
    }

    /// Removes every effect that matches the filter. Queued applications of the matching definitions are removed first.
    pub(crate) fn remove_matching(&mut self, target: usize, filter: &EffectFilter) -> u32 {
        // No effect has sequence number 0.
        self.remove_matching_but(target, filter, 0)
    }

    /// Removes every effect that matches the filter, except the effect with sequence number `except`.
    pub(crate) fn remove_matching_but(&mut self, target: usize, filter: &EffectFilter, except: u64) -> u32 {
        let reason = if filter.with_any_tag.is_empty() { RemoveReason::Removed } else { RemoveReason::ByTag };
        let mut matched = self.matching(target, filter);
        matched.retain(|&seq| seq != except);
        self.clear_queue(target, filter, &matched);
        for &seq in &matched {
            self.end(target, seq, reason, Some(Trigger::Removed));
        }
        matched.len() as u32
    }

    /// Returns the sequence numbers of the active effects that match, in order of application.
    pub(crate) fn matching(&self, target: usize, filter: &EffectFilter) -> Vec<u64> {
        let row = self.row(target);
        let hit = |e: &&Effect| {
            filter.effect.is_none_or(|d| d == e.def)
                && filter.source.is_none_or(|s| s == e.source)
                && (filter.with_any_tag.is_empty()
                    || self.def(e.def).is_some_and(|d| self.tagged(&d, &filter.with_any_tag)))
                && filter.modifies.is_none_or(|a| {
                    let layout = self.layout(target);
                    let Some(slot) = layout.slot(a) else { return false };
                    self.def(e.def).is_some_and(|d| d.modifiers.iter().any(|m| layout.slot(m.attribute) == Some(slot)))
                })
        };
        row.effects.iter().filter(hit).map(|e| e.seq()).collect()
    }

    /// Returns whether an effect's own or granted tags match any of `tags`.
    fn tagged(&self, def: &EffectDef, tags: &[TagId]) -> bool {
        let mine = def.effect_tags.iter().chain(&def.granted_tags);
        mine.clone().any(|&t| tags.iter().any(|&of| self.rules.tags.is_under(t, of)))
    }

    fn clear_queue(&mut self, target: usize, filter: &EffectFilter, matched: &[u64]) {
        if self.row(target).queue().is_empty() {
            return;
        }
        let row = self.row(target);
        let defs: Vec<_> = matched.iter().filter_map(|&s| row.effect_at(s)).map(|i| row.effects[i].def).collect();
        let by_source = filter.source;
        self.row_mut(target)
            .side_mut()
            .queue
            .retain(|q| !defs.contains(&q.spec.effect) || by_source.is_some_and(|s| s != q.spec.source));
    }

    /// Removes effects by tag before a new effect acts. The removal can cancel an ability whose OnCancel list applies
    /// effects, so the magnitudes captured for the new effect are saved during the removal and restored afterwards.
    /// Returns whether any effect was removed.
    pub(crate) fn remove_with_tags(&mut self, def: &EffectDef, target: usize) -> bool {
        if def.remove_with_tags.is_empty() {
            return false;
        }
        let captured = (std::mem::take(&mut self.sc.units), std::mem::take(&mut self.sc.captures));
        let filter = EffectFilter { with_any_tag: def.remove_with_tags.to_vec(), ..EffectFilter::default() };
        let queued = self.sc.reactions.len();
        let removed = self.remove_matching(target, &filter);
        self.withdraw_rechecks(queued);
        (self.sc.units, self.sc.captures) = captured;
        removed > 0
    }

    /// Handles the end of an effect's duration: the effect ends, or its stacking policy restarts the duration with one
    /// stack less or with all stacks.
    pub(crate) fn expire(&mut self, target: usize, seq: u64) {
        let Some(at) = self.row(target).effect_at(seq) else {
            return;
        };
        let e = &self.row(target).effects[at];
        let (def, stacks) = (e.def, e.stacks());
        let length = e.length();
        let policy = self.def(def).and_then(|d| d.stacking.as_ref().map(|s| s.on_expire));
        match policy {
            Some(OnExpire::RemoveOne) if stacks > 1 && length > SimTime::ZERO => {
                self.restart(target, seq, length);
                self.set_stacks(target, seq, stacks - 1, EffectChange::Stacks);
            }
            Some(OnExpire::Refresh) if length > SimTime::ZERO => {
                self.restart(target, seq, length);
                self.changed_fact(target, seq, EffectChange::Duration);
            }
            _ => self.end_at(target, at, RemoveReason::Expired, Some(Trigger::Expired)),
        }
    }

    /// Expires an effect that has no time left. An effect is active from its start until just before its end.
    pub(crate) fn expire_if_over(&mut self, target: usize, seq: u64) {
        let row = self.row(target);
        let now = row.clock.local(self.st.now);
        if row.effect_at(seq).is_some_and(|at| row.effects[at].end <= now) {
            self.expire(target, seq);
        }
    }

    /// Restarts an effect's duration, so that the effect ends `length` from now.
    pub(crate) fn restart(&mut self, target: usize, seq: u64, length: SimTime) {
        let now = self.row(target).clock.local(self.st.now);
        self.reschedule(target, seq, |e| {
            e.end = if length == SimTime::NEVER { SimTime::NEVER } else { now + length };
        });
    }

    /// Changes an effect's times and updates the row's schedule.
    pub(crate) fn reschedule(&mut self, target: usize, seq: u64, change: impl FnOnce(&mut Effect)) {
        let row = self.row_mut(target);
        let Some(at) = row.effect_at(seq) else { return };
        if let Some(due) = row.effects[at].due() {
            row.unschedule(due);
        }
        change(&mut row.effects[at]);
        if let Some(due) = row.effects[at].due() {
            row.schedule(due.with_hint(at));
        }
        self.publish(target);
    }

    /// Ends an active effect. `then` selects the conditional effects that follow, or is `None` to apply none.
    pub(crate) fn end(&mut self, target: usize, seq: u64, reason: RemoveReason, then: Option<Trigger>) {
        if let Some(at) = self.row(target).effect_at(seq) {
            self.end_at(target, at, reason, then);
        }
    }

    /// Ends the effect at index `at`.
    fn end_at(&mut self, target: usize, at: usize, reason: RemoveReason, then: Option<Trigger>) {
        let row = self.row(target);
        let (who, e) = (row.id, &row.effects[at]);
        let (seq, effect, source) = (e.seq(), e.def, e.source);
        let Some(def) = self.def(effect) else { return };
        let what =
            if reason == RemoveReason::Expired { CauseWhat::Expired(effect) } else { CauseWhat::Removed(effect) };
        let cause = self.because(what, who, source);
        let e = self.take_effect(target, at, &def);
        let key = e.key(who);
        let via = Via { source, key, effect };
        let mut flips = std::mem::take(&mut self.sc.flips);
        flips.clear();
        if !e.inhibited() {
            let own = self.take_innate(&e, target);
            self.take_tags(&def, &own, target, &mut flips);
        }
        self.settle(via, Emit::Facts);
        self.emit_flips(target, &flips, via);
        self.sc.flips = flips;
        self.revoke_by(target, seq, via);
        self.emit_removed(target, via, reason);
        self.unblock_ended_effect(key);
        if !def.rules.is_empty() {
            self.recharge(target);
            self.notify(target, alert::ABILITY, || RowEvent::Freed);
        }
        if !e.inhibited() {
            self.release_cues(&def, target, via);
        }
        if let Some(trigger) = then {
            if def.then.has(trigger) {
                self.then(&def, &e.spec(who), key, trigger, 0);
            }
            if def.execution_policy == ExecutionPolicy::RunInSequence {
                self.next_later(target, effect);
            }
        }
        self.finish_operation();
        self.publish(target);
        self.cause = cause;
    }

    /// Removes an effect's record, modifiers and due work from a row, and marks the attributes that the modifiers
    /// changed.
    pub(crate) fn take_effect(&mut self, target: usize, at: usize, def: &EffectDef) -> Effect {
        let (seq, source) = (self.row(target).effects[at].seq(), self.row(target).effects[at].source);
        if def.has_live {
            self.unlink_live(target, def, seq, source);
        }
        if def.watches {
            self.unlink_filter(target, seq, source);
        }
        if def.reads_source {
            self.unlink_source_reader(target, seq, source);
        }
        let row = self.row_mut(target);
        let e = row.effects.remove(at);
        if let Some(due) = e.due() {
            row.unschedule(due);
        }
        row.watching -= e.watches() as u16;
        row.immunities -= def.refuses_others() as u16;
        self.take_mods(target, seq, def);
        e
    }

    /// Removes an effect's modifiers from a row. The other modifiers keep their order.
    pub(crate) fn take_mods(&mut self, target: usize, seq: u64, def: &EffectDef) {
        let row = self.st.controllers.row_mut(target);
        let (mut live, dirty) = (0, &mut self.sc.dirty);
        let before = dirty.len();
        row.mods.retain(|m| {
            let keep = m.seq() != seq;
            if !keep {
                dirty.push((target as u32, m.slot));
                live += (def.has_live && def.modifiers[m.index() as usize].magnitude.live_on().is_some()) as u32;
            }
            keep
        });
        if dirty.len() > before {
            row.live -= live;
            row.rebuild_modded();
        }
    }
}
