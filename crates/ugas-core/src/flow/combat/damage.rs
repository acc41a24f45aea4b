//! The damage pipeline of effects that have the field `Combat`, which also computes healing, threat and changes of a resource. The stages are
//! the combat rules of the source, the combat rules of the target (not for threat), mitigation, absorption by the pools
//! in order (only for damage), and the write to the attribute. The pipeline changes planned writes immediately before
//! they are settled.

use super::super::magnitude::{About, SITE_MITIGATION};
use super::super::remove::Trigger;
use super::super::settle::Emit;
use super::super::{Flow, ForeignAction, Reaction, Via, View, Write, child_origin_id};
use super::restrict::sides;
use super::{CombatEvent, RuleHolder, RuledValue};
use crate::rules::{AbilityDef, CombatDef, DamageCx, EffectDef, RuleOn};
use crate::state::{ModOp, alert};
use crate::{ControllerId, EventData, FactKind, Refusal, Restriction, TagId};
use ugas_doc::{CombatKind, CombatStyle};

/// The result of one combat write, kept until the facts of the application are emitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CombatResult {
    target: ControllerId,
    kind: CombatKind,
    style: CombatStyle,
    credit: ControllerId,
    row: u32,
    slot: u16,
    raw: f64,
    absorbed: f64,
    /// The amount that remains after absorption. `start` is the attribute's base value before the write.
    rest: f64,
    start: f64,
    overkill: f64,
}

impl View<'_> {
    /// Returns the controller that gets the credit for the damage: the source or, if the source is a pet, the
    /// controller of the pet's owner.
    pub(crate) fn credit(&self, source: ControllerId) -> ControllerId {
        if let Some(record) = self.recorded(source) {
            return record.known().map_or(source, |known| known.credit);
        }
        let Some(row) = self.st.controllers.get(source) else { return source };
        let Some(owner) = row.owner.some().filter(|&o| o != row.avatar()) else { return source };
        self.st.controllers.with_avatar(owner, source).unwrap_or(source)
    }
}

/// Returns a value after combat rules, or refuses if a rule forbids the event.
fn permitted(ruled: RuledValue) -> Result<f64, Refusal> {
    if ruled.is_restricted { Err(Refusal::Restricted { by: Restriction::CombatRule }) } else { Ok(ruled.value) }
}

impl Flow<'_> {
    /// Settles planned writes. Writes of combat effects pass the damage pipeline first. `tags` are tags of the event in
    /// addition to those of the effect and its ability.
    pub(crate) fn settle_writes(
        &mut self,
        def: &EffectDef,
        about: About<'_>,
        via: Via,
        tags: &[TagId],
    ) -> Result<(), Refusal> {
        if def.combat.is_none() {
            self.settle(via, Emit::Later);
            return Ok(());
        }
        let first = self.sc.combat_results.len();
        if let Err(refusal) = self.refuse_hidden(|flow| flow.combat(def, about, tags)) {
            self.sc.writes.clear();
            self.sc.dirty.clear();
            self.sc.combat_results.truncate(first);
            return Err(refusal);
        }
        self.settle(via, Emit::Later);
        for at in first..self.sc.combat_results.len() {
            let b = self.sc.combat_results[at];
            let moved = (self.row(b.row as usize).attrs[b.slot as usize].base - b.start).abs();
            self.sc.combat_results[at].overkill = (b.rest - moved).max(0.0);
        }
        Ok(())
    }

    /// Updates the start value of a combat result after a changed bound rescaled its write, because overkill is
    /// computed from the start value.
    pub(crate) fn rescale_result(&mut self, write: &Write) {
        if let Some(b) = self.sc.combat_results.iter_mut().rev().find(|b| (b.row, b.slot) == (write.row, write.slot)) {
            b.start = write.start;
        }
    }

    /// Changes the planned writes to the amounts after mitigation, and plans the writes to the pools that absorb a
    /// part.
    fn combat(&mut self, def: &EffectDef, about: About<'_>, more_tags: &[TagId]) -> Result<(), Refusal> {
        let Some(combat) = &def.combat else { return Ok(()) };
        let mut tags = self.view().combat_tags(def, about.spec);
        tags.extend_from_slice(more_tags);
        if combat.kind == CombatKind::Resource {
            return self.resource_deltas(def, combat, about, &tags);
        }
        let ability = self.ability(about.spec.ability);
        let ability: Option<&AbilityDef> = ability.as_deref();
        let sign = if combat.kind == CombatKind::Damage { -1.0 } else { 1.0 };
        let (done, taken) = sides(combat.kind);
        let frozen = self.view().frozen_of(about).cloned();
        let credit = frozen.as_ref().map_or_else(|| self.view().credit(about.spec.source), |f| f.credit);
        // Only the writes planned so far are processed, because an absorbed amount is not damage to the pool.
        let planned: Vec<Write> = self.sc.writes.clone();
        for (at, w) in planned.into_iter().enumerate() {
            let raw = (w.end - w.start) * sign;
            if w.over || raw.is_nan() || raw <= 0.0 {
                continue;
            }
            let attribute = self.layout(about.target).slots[w.slot as usize].attribute;
            let event = self.view().combat_event(def, about.spec, &tags, Some(attribute), raw);
            let mut event = CombatEvent { frozen: frozen.as_ref(), ..event };
            let mut amount = match self.view().source_rules(about.spec.source, frozen.as_ref()) {
                Some(source) => permitted(self.view().ruled_value(source, done, raw, ability, Some(&event)))?,
                None => raw,
            };
            if taken != done {
                event.amount = amount;
                let target = RuleHolder::Row(about.target);
                amount = permitted(self.view().ruled_value(target, taken, amount, ability, Some(&event)))?;
            }
            if let Some(calc) = combat.mitigation {
                let site = SITE_MITIGATION + self.sc.combat_results.len() as u32;
                amount = self.view().mitigate(amount, calc, about, site)?.max(0.0);
            }
            if !amount.is_finite() {
                return Err(Refusal::NonFinite { attribute: Some(attribute) });
            }
            let absorbed = if sign < 0.0 { self.absorb(about.target, w.slot as usize, amount) } else { 0.0 };
            let rest = amount - absorbed;
            self.sc.writes[at].end += w.start + sign * rest - w.end;
            self.sc.combat_results.push(CombatResult {
                target: about.spec.target,
                kind: combat.kind,
                style: combat.style,
                credit,
                row: w.row,
                slot: w.slot,
                raw,
                absorbed,
                rest,
                start: w.start,
                overkill: 0.0,
            });
        }
        Ok(())
    }

    /// Changes the planned writes to the gains and losses after the rules of the target. The rules change the size of a
    /// gain or loss and keep its direction.
    fn resource_deltas(
        &mut self,
        def: &EffectDef,
        combat: &CombatDef,
        about: About<'_>,
        tags: &[TagId],
    ) -> Result<(), Refusal> {
        let ability = self.ability(about.spec.ability);
        let ability: Option<&AbilityDef> = ability.as_deref();
        let frozen = self.view().frozen_of(about).cloned();
        let holder = RuleHolder::Row(about.target);
        for at in 0..self.sc.writes.len() {
            let w = self.sc.writes[at];
            let delta = w.end - w.start;
            if w.over || delta.is_nan() || delta == 0.0 {
                continue;
            }
            let attribute = self.layout(about.target).slots[w.slot as usize].attribute;
            let event = self.view().combat_event(def, about.spec, tags, Some(attribute), delta);
            let event = CombatEvent { frozen: frozen.as_ref(), ..event };
            let ruled = self.view().ruled_value(holder, RuleOn::ResourceDelta, delta.abs(), ability, Some(&event));
            let mut amount = permitted(ruled)?;
            if let Some(calc) = combat.mitigation {
                amount = self.view().mitigate(amount, calc, about, SITE_MITIGATION + at as u32)?.max(0.0);
            }
            let end = w.start + amount.copysign(delta);
            if !end.is_finite() {
                return Err(Refusal::NonFinite { attribute: Some(attribute) });
            }
            self.sc.writes[at].end = end;
        }
        Ok(())
    }

    /// Plans the amounts that the pools of an attribute absorb; returns their sum.
    fn absorb(&mut self, target: usize, slot: usize, amount: f64) -> f64 {
        let layout = self.ix.layouts[self.row(target).layout as usize].clone();
        let mut rest = amount;
        for &pool in &layout.slots[slot].pools {
            let pool = pool as usize;
            let row = self.row(target);
            let (lo, _) = layout.slots[pool].bounds(&row.attrs);
            let product = self.sums_of(row, pool, layout.slots[pool].aggregation).product;
            let scale = if product > 0.0 { product } else { 1.0 };
            let planned = self.sc.writes.iter().find(|w| (w.row, w.slot) == (target as u32, pool as u16));
            let planned = planned.map_or(0.0, |w| (w.end - w.start) * scale);
            let there = row.attrs[pool].current - lo.max(0.0) + planned;
            let take = there.min(rest);
            if take > 0.0 && self.plan_write(target, pool, ModOp::Add, -take / scale) {
                self.mark(target, pool);
                rest -= take;
            }
        }
        amount - rest
    }

    /// Reports the results of combat: emits facts, calls hooks, and sends events to listeners.
    pub(crate) fn damage_facts(&mut self, via: Via) {
        let results = std::mem::take(&mut self.sc.combat_results);
        for (position, b) in results.iter().enumerate() {
            let CombatResult { target, kind: damage, style, credit, raw, absorbed, overkill, .. } = *b;
            let amount = b.rest - overkill;
            self.fact(target, via, FactKind::Damage { damage, style, credit, amount, raw, absorbed, overkill });
            self.damage_hooks(b, amount, via, position);
            if damage == CombatKind::Damage {
                self.damage_event("Event.Damage.Taken", target, target, credit, amount);
                self.damage_event("Event.Damage.Dealt", target, credit, target, amount);
            }
        }
        self.sc.combat_results = results;
        self.sc.combat_results.clear();
    }

    /// Sends a damage event from the row `from` to `target`, if something on the target listens to events.
    fn damage_event(
        &mut self,
        name: &str,
        from: ControllerId,
        target: ControllerId,
        instigator: ControllerId,
        magnitude: f64,
    ) {
        // In a replay, actions on other rows are skipped: they have already happened.
        if self.skips_action_on(target) {
            return;
        }
        let Some(slot) = self.st.controllers.slot(target) else { return };
        let is_listening = self.row(slot).alert & alert::EVENT != 0 && self.listens_to_events(slot);
        if is_listening && let Some(tag) = self.rules.find_tag(name) {
            let event = EventData { instigator: instigator.some(), magnitude, ..EventData::new(tag, target) };
            self.journal_foreign_action(from, target, || ForeignAction::Event(event.clone()));
            // The target exists, so this cannot be refused.
            let _ = self.send_event(event);
        }
    }

    fn damage_hooks(&mut self, b: &CombatResult, amount: f64, via: Via, position: usize) {
        let rules = self.rules;
        if rules.hooks.damage.is_empty() {
            return;
        }
        let mut then = Vec::new();
        let row = self.row(b.row as usize);
        let frozen = row.find(via.key).and_then(|at| self.view().frozen_source(&row.effects[at])).cloned();
        for hook in &rules.hooks.damage {
            let CombatResult { target, kind, style, credit, raw, absorbed, overkill, .. } = *b;
            let source = via.source;
            let values = |w, a| match &frozen {
                Some(frozen) if w == source => frozen.value(a),
                _ => self.current_of(w, a),
            };
            hook(&mut DamageCx {
                rules,
                values: &values,
                source,
                target,
                credit,
                kind,
                style,
                amount,
                raw,
                absorbed,
                overkill,
                then: &mut then,
            });
        }
        let (cause, depth) = (self.cause, self.depth + 1);
        for (nth, spec) in then.into_iter().enumerate() {
            let origin_id = child_origin_id(via.key, Trigger::Hook as u64, position as u32, nth);
            let roll = self.roll.child([Trigger::Hook as u64, position as u64, nth as u64]);
            self.sc.reactions.push_back(Reaction::Apply { from: b.target, spec, origin_id, roll, cause, depth });
        }
    }
}
