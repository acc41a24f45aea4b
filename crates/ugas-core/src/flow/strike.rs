//! Strike: the shortest way through an application. One plain value on one attribute that nothing modifies, bounds or
//! follows; what most hits are. It does exactly what `apply` would do, with everything that cannot matter left out;
//! where anything could matter it steps aside.

use super::write::{Window, operate};
use super::{Flow, State, stacked};
use crate::rules::{EffectDef, Mag, clamp};
use crate::state::{Attr, ModOp};
use crate::{AttributeId, ControllerId, EffectKey, Fact, FactKind, Refusal, Spec};
use ugas_doc::DurationPolicy;

/// A definition and a spec that may strike, and where the attribute lies in the layout last met.
pub(crate) struct Strike<'d> {
    def: &'d EffectDef,
    attribute: AttributeId,
    op: ModOp,
    magnitude: f64,
    layout: u32,
    slot: usize,
    death: bool,
}

/// No layout met yet.
const NO_LAYOUT: u32 = u32::MAX;

impl<'d> Strike<'d> {
    /// Whether definition, spec and rules leave nothing but the write itself.
    #[inline]
    pub(crate) fn new(def: &'d EffectDef, spec: &Spec, flow: &Flow<'_>) -> Option<Strike<'d>> {
        let [m] = &*def.modifiers else { return None };
        let Mag::Value(unit) = m.magnitude else { return None };
        let plain = def.simple
            && def.policy == DurationPolicy::Instant
            && spec.extra.is_none()
            && spec.level > 0
            && spec.stacks > 0
            && spec.stacks <= flow.limits.stacks
            && (spec.source == ControllerId::NONE || spec.source.0 < flow.st.next_id)
            && flow.rules.hooks.before.is_empty()
            && flow.rules.hooks.after.is_empty();
        let op = ModOp::from(m.op);
        plain.then(|| Strike {
            def,
            attribute: m.attribute,
            op,
            magnitude: stacked(op, unit, spec.stacks),
            layout: NO_LAYOUT,
            slot: 0,
            death: false,
        })
    }

    /// Finds the attribute in a row's layout; false if something there follows it or supplies it.
    #[inline]
    fn aim(&mut self, layout: u32, flow: &Flow<'_>) -> bool {
        if layout != self.layout {
            let l = &flow.ix.layouts[layout as usize];
            let Some(slot) = l.slot(self.def.modifiers[0].attribute) else {
                return false;
            };
            let s = &l.slots[slot];
            if s.derived.is_some() || !s.dependents.is_empty() {
                return false;
            }
            (self.layout, self.slot, self.death, self.attribute) = (layout, slot, s.death, s.attribute);
        }
        true
    }
}

impl Flow<'_> {
    /// Strikes one target, or `None` where the long way has to be taken; nothing is changed then. The row is borrowed
    /// once: this is the hottest path there is.
    #[inline]
    pub(crate) fn strike(
        &mut self,
        strike: &mut Strike<'_>,
        spec: &Spec,
        who: ControllerId,
        birth: u64,
    ) -> Option<Result<EffectKey, Refusal>> {
        let target = self.st.controllers.slot(who)?;
        let layout = self.st.controllers.row(target).layout;
        if !strike.aim(layout, self) {
            return None;
        }
        let tags = &self.st.controllers;
        let def = strike.def;
        if def.required.iter().any(|&t| !tags.has(target, t)) || def.blocked.iter().any(|&t| tags.has(target, t)) {
            return None;
        }
        let State { controllers, hash_dirty, now, .. } = &mut *self.st;
        let row = controllers.row_mut(target);
        let (last, _, of_root) = row.last_birth;
        // Only the plainest numbering: a birth that is new to this row and comes from this sim.
        let fresh = last != birth && of_root != self.cause.root.0 as u32 && birth >> 48 == 0;
        let quiet = row.readers == 0 && row.immunities == 0 && self.sc.births.is_empty();
        let facts = &mut self.log.facts.list;
        if !fresh
            || !quiet
            || row.is_modded(strike.slot)
            || facts.len() + 3 > self.limits.facts as usize
        {
            return None;
        }
        let (lo, hi) = self.ix.layouts[layout as usize].slots[strike.slot].bounds(&row.attrs);
        let old = row.attrs[strike.slot];
        let window = Window::plain(lo, hi);
        let start = window.start(old.base);
        let end = operate(strike.op, start, strike.magnitude);
        if !end.is_finite() {
            return None;
        }
        let base = window.settle(old.base, start, end, strike.op == ModOp::Override);
        let new = Attr { base, current: clamp(base, lo, hi) + 0.0 };
        row.last_birth = (birth, 0, self.cause.root.0 as u32);
        row.next_seq += 1;
        row.attrs[strike.slot] = new;
        if !row.hash_dirty {
            row.hash_dirty = true;
            hash_dirty.push(who);
        }
        let key = EffectKey { birth, target: who, ordinal: 0 };
        let (root, link) = (self.cause.root, self.cause.link);
        let fact = |kind| Fact { at: *now, who, source: spec.source, key, root, link, effect: def.id, kind };
        let attribute = strike.attribute;
        if new != old {
            facts.push(fact(FactKind::AttributeChanged {
                attribute,
                old: old.current,
                new: new.current,
                old_base: old.base,
                new_base: new.base,
            }));
            if strike.death && old.current > 0.0 && new.current <= 0.0 {
                facts.push(fact(FactKind::Died { attribute }));
            }
        }
        facts.push(fact(FactKind::EffectApplied { level: spec.level, stacks: spec.stacks }));
        Some(Ok(key))
    }
}
