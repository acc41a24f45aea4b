//! Checks of cost and cooldown: computes the cost of an activation and compares it with the owner's values, without
//! spending anything.

use super::super::combat::RuleHolder;
use super::super::magnitude::About;
use super::super::write::{Window, operate};
use super::super::{Flow, View, stacked};
use super::check::{ActivationAttempt, FailedCheck};
use crate::rules::{CalcResult, EffectDef, RuleOn, StaticMask};
use crate::state::{Effect, ModOp};
use crate::{AttributeId, EffectId, EffectKey, NameKind, Refusal, Restriction, SimTime, Spec, TagId};
use ugas_doc::CombatKind;

impl View<'_> {
    /// Creates the spec of an effect of the ability on its owner.
    pub(crate) fn own_spec(&self, t: &ActivationAttempt<'_>, effect: EffectId) -> Spec {
        let who = self.row(t.slot).id;
        Spec::new(effect, who).from(who).level(t.level)
    }

    /// Runs every check that could refuse an effect of the ability on its owner, except the checks of its magnitudes.
    fn admits(&self, t: &ActivationAttempt<'_>, def: &EffectDef, spec: &Spec) -> Result<(), Refusal> {
        let key = EffectKey { origin_id: self.root.0, target: spec.target, ordinal: 0 };
        self.check_attributes(def, t.slot)?;
        self.refuse(def, spec, t.slot, key)
    }

    /// Checks the cost: for each attribute, the current value minus the cost must not be below the minimum, or below 0
    /// if the attribute has no minimum. An attribute that the owner lacks counts as 0. If the filters of the cost effect
    /// refuse the effect, their refusal is returned.
    pub(crate) fn afford(&self, t: &ActivationAttempt<'_>) -> Result<(), Refusal> {
        let Some(effect) = t.def.cost else { return Ok(()) };
        let Some(def) = self.def(effect) else {
            return Err(Refusal::UnknownName { kind: NameKind::Effect, id: effect.0 });
        };
        if let Some(answer) = self.afford_plain(t, &def) {
            return answer;
        }
        let spec = self.own_spec(t, effect);
        let sure = View { sure: true, ..*self };
        let about = About { spec: &spec, target: t.slot, origin_id: self.root.0, ordinal: 0, stacks: 1, execution: 0 };
        sure.check_missing(t, &def, about)?;
        self.admits(t, &def, &spec)?;
        let (row, layout) = (self.row(t.slot), self.layout(t.slot));
        let results = sure.results_of(&def, about)?;
        let touched = || def.modifiers.iter().map(|m| m.attribute).chain(results.iter().map(|r| r.attribute));
        for (first, attribute) in touched().enumerate() {
            if touched().take(first).any(|other| other == attribute) {
                continue;
            }
            let Some(slot) = layout.slot(attribute) else { continue };
            let s = &layout.slots[slot];
            let (lo, hi) = s.bounds(&row.attrs);
            let sums = self.sums_of(row, slot, s.aggregation);
            let start = Window::new(&sums, lo, hi).start(row.attrs[slot].base);
            let (mut end, mut over) = (start, false);
            for (i, m) in def.modifiers.iter().enumerate().filter(|(_, m)| m.attribute == attribute) {
                if m.is_filtered() && !self.filter_holds(m, spec.source, t.slot) {
                    continue;
                }
                let unit = match sure.magnitude(&m.magnitude, about, i as u32) {
                    Ok(v) => v,
                    Err(Refusal::MissingSetByCaller { .. }) => continue,
                    Err(Refusal::NonFinite { .. }) => return Err(Refusal::NonFinite { attribute: Some(attribute) }),
                    Err(r) => return Err(r),
                };
                let op = ModOp::from(m.op);
                end = operate(op, end, stacked(op, self.scaled_cost(t, op, unit), 1));
                over |= op == ModOp::Override;
            }
            for r in results.iter().filter(|r| r.attribute == attribute) {
                end = operate(r.op.into(), end, r.value);
                over |= ModOp::from(r.op) == ModOp::Override;
            }
            if !over {
                end = self.ruled_delta(&def, &spec, t.slot, attribute, (start, end))?;
            }
            if !end.is_finite() {
                return Err(Refusal::NonFinite { attribute: Some(attribute) });
            }
            let product = if sums.product > 0.0 { sums.product } else { 1.0 };
            let (have, need) = (row.attrs[slot].current, product * (start - end));
            let min = if lo.is_finite() { lo } else { 0.0 };
            if need > 0.0 && have - need < min {
                return Err(Refusal::Cost { attribute, have, need });
            }
        }
        Ok(())
    }

    /// Returns the end of a write after the combat rules on `ResourceDelta`, if the cost is such a change of a resource.
    fn ruled_delta(
        &self,
        def: &EffectDef,
        spec: &Spec,
        slot: usize,
        attribute: AttributeId,
        (start, end): (f64, f64),
    ) -> Result<f64, Refusal> {
        let is_resource = def.combat.as_ref().is_some_and(|c| c.kind == CombatKind::Resource);
        let delta = end - start;
        if !is_resource || delta == 0.0 || !delta.is_finite() {
            return Ok(end);
        }
        let tags = self.combat_tags(def, spec);
        let event = self.combat_event(def, spec, &tags, Some(attribute), delta);
        let (holder, ability) = (RuleHolder::Row(slot), self.ability(spec.ability));
        let ruled = self.ruled_value(holder, RuleOn::ResourceDelta, delta.abs(), ability.as_deref(), Some(&event));
        if ruled.is_restricted {
            return Err(Refusal::Restricted { by: Restriction::CombatRule });
        }
        Ok(start + ruled.value.copysign(delta))
    }

    /// Refuses a cost in an attribute that the owner lacks, as if the owner had 0 of it.
    fn check_missing(&self, t: &ActivationAttempt<'_>, def: &EffectDef, about: About<'_>) -> Result<(), Refusal> {
        let layout = self.layout(t.slot);
        let mut modifiers = def.modifiers.iter().enumerate();
        let Some((i, m)) = modifiers.find(|(_, m)| layout.slot(m.attribute).is_none()) else { return Ok(()) };
        let op = ModOp::from(m.op);
        // If the magnitude cannot be computed, the needed amount is not known.
        let unit = self.magnitude(&m.magnitude, about, i as u32).unwrap_or(0.0);
        let end = operate(op, 0.0, stacked(op, self.scaled_cost(t, op, unit), 1));
        Err(Refusal::Cost { attribute: m.attribute, have: 0.0, need: (-end).max(0.0) })
    }

    /// Returns the results that the calculations of a cost would write now. A result that the commit would refuse is
    /// refused here too.
    fn results_of(&self, def: &EffectDef, about: About<'_>) -> Result<Vec<CalcResult>, Refusal> {
        let mut results = Vec::new();
        for (index, x) in def.executions.iter().enumerate() {
            let site = Flow::execution_site(index);
            self.calculate(x.calculator, about, site, &x.params, &mut results, &mut Vec::new(), None)?;
        }
        let layout = self.layout(about.target);
        for &CalcResult { attribute, value, op } in &results {
            let need = (-operate(op.into(), 0.0, value)).max(0.0);
            let slot = layout.slot(attribute).ok_or(Refusal::Cost { attribute, have: 0.0, need })?;
            self.check_stat_slot(about.target, slot)?;
            if layout.slots[slot].derived.is_some() {
                return Err(Refusal::Restricted { by: Restriction::DerivedAttribute });
            }
            if !value.is_finite() {
                return Err(Refusal::NonFinite { attribute: Some(attribute) });
            }
        }
        Ok(results)
    }

    /// Checks a cost that is one fixed number. Returns `None` for any other cost.
    fn afford_plain(&self, t: &ActivationAttempt<'_>, def: &EffectDef) -> Option<Result<(), Refusal>> {
        let (row, write) = (self.row(t.slot), def.plain_write.as_ref()?);
        let place = self.layout(t.slot).write_slot(write.attribute)?;
        let slot = place.slot as usize;
        if !place.plain || row.is_modded(slot) || row.immunities != 0 || !self.fast || self.has_rules(t.slot) {
            return None;
        }
        if let Err(refusal) = self.check_target_tags(def, t.slot) {
            return Some(Err(refusal));
        }
        let (lo, hi) = place.bounds(&row.attrs);
        let start = Window::plain(lo, hi).start(row.attrs[slot].base);
        let end = operate(write.op, start, write.magnitude);
        let (attribute, have, need) = (write.attribute, row.attrs[slot].current, start - end);
        let min = if lo.is_finite() { lo } else { 0.0 };
        Some(if !end.is_finite() {
            Err(Refusal::NonFinite { attribute: Some(attribute) })
        } else if need > 0.0 && have - need < min {
            Err(Refusal::Cost { attribute, have, need })
        } else {
            Ok(())
        })
    }

    /// Applies combat rules to one number of a cost. The rules scale the amount, and the result is at least zero.
    pub(crate) fn scaled_cost(&self, t: &ActivationAttempt<'_>, op: ModOp, unit: f64) -> f64 {
        if op == ModOp::Override || t.def.fixed.has(StaticMask::COST) {
            return unit;
        }
        self.combat_value(t.slot, RuleOn::ResourceCost, unit.abs(), Some(t.def), None).max(0.0).copysign(unit)
    }

    /// Checks that no cooldown is running, and that nothing refuses the effects of the new cooldown and of the owned
    /// tags.
    pub(crate) fn cooled(&self, t: &ActivationAttempt<'_>) -> Result<(), FailedCheck> {
        if let Some(&tag) = t.def.cooldown_tags.iter().find(|&&tag| self.has(t.slot, tag)) {
            let end = self.cooldown_of(t).map_or(SimTime::NEVER, |(_, end)| end);
            return Err((Refusal::Cooldown { tag, left: self.left(t.slot, end) }, end));
        }
        for effect in [t.def.cooldown, t.def.owned].into_iter().flatten() {
            let Some(def) = self.def(effect) else {
                return Err((Refusal::UnknownName { kind: NameKind::Effect, id: effect.0 }, SimTime::NEVER));
            };
            self.admits(t, &def, &self.own_spec(t, effect)).map_err(|r| (r, SimTime::NEVER))?;
        }
        Ok(())
    }

    /// Returns the local start and end of the active effect with a cooldown tag that ends last.
    pub(crate) fn cooldown_of(&self, t: &ActivationAttempt<'_>) -> Option<(SimTime, SimTime)> {
        self.longest_with(t.slot, &t.def.cooldown_tags)
    }

    /// Returns the local time at which the last effect that grants any of these tags ends.
    pub(crate) fn tags_end(&self, slot: usize, tags: &[TagId]) -> SimTime {
        self.longest_with(slot, tags).map_or(SimTime::NEVER, |(_, end)| end)
    }

    /// Returns the local start and end of the active effect with any of these tags that ends last.
    fn longest_with(&self, slot: usize, tags: &[TagId]) -> Option<(SimTime, SimTime)> {
        self.effects_with(slot, tags).map(|e| (e.start, e.end)).max_by_key(|&(_, end)| end)
    }

    /// Returns the active effects that grant any of these tags.
    pub(super) fn effects_with<'s>(&'s self, slot: usize, tags: &'s [TagId]) -> impl Iterator<Item = &'s Effect> {
        let row = self.row(slot);
        let under = |tag: TagId| tags.iter().any(|&of| self.rules.tags.is_under(tag, of));
        let holds = move |e: &&Effect| {
            !e.inhibited()
                && (row.own_tags(e, &self.rules.tags).any(under)
                    || self.def(e.def).is_some_and(|d| d.granted_tags.iter().any(|&tag| under(tag))))
        };
        row.effects.iter().filter(holds)
    }
}
