//! The fast paths of applications and periodic executions.
//!
//! The fast paths handle the most common case: one constant magnitude, written to one attribute that has no modifiers
//! and that no other attribute depends on. The fast paths write the same state and emit the same facts as the slow
//! path. If an application or execution needs any other step, the fast path changes nothing and the slow path runs.

use super::write::{Window, operate};
use super::{Flow, State, Via, stacked};
use crate::limits::Limits;
use crate::rules::{EffectDef, Layout, PlainWrite, Rules, TagTable, WriteSlot, clamp};
use crate::state::{Attr, CauseWhat, Controllers, Due, ModOp, Row, alert};
use crate::{Cause, ControllerId, EffectKey, Fact, FactKind, SimTime, Spec, TagId};
use std::sync::Arc;
use ugas_doc::DurationPolicy;

/// A definition and a spec that may take the fast path.
#[derive(Clone, Copy)]
pub(crate) struct FastApplication<'d> {
    def: &'d EffectDef,
    write: PlainWrite,
    spec: &'d Spec,
    tags: &'d TagTable,
}

/// The maximum number of facts of one write: the change, a death, the application or execution.
const FACTS: usize = 3;

impl<'d> FastApplication<'d> {
    /// Returns a fast application if definition and spec need only one write. The caller must have checked that fast
    /// paths are allowed.
    #[inline(always)]
    pub(crate) fn new(spec: &'d Spec, rules: &'d Rules, limits: &Limits, next_id: u32) -> Option<FastApplication<'d>> {
        let def = rules.effect_def(spec.effect)?;
        let write = def.plain_write?;
        let plain = def.policy == DurationPolicy::Instant
            && spec.extra.is_none()
            && spec.level > 0
            && spec.stacks.wrapping_sub(1) < limits.stacks
            && (spec.source == ControllerId::NONE || spec.source.0 < next_id);
        let magnitude = stacked(write.op, write.magnitude, spec.stacks);
        plain.then_some(FastApplication { def, write: PlainWrite { magnitude, ..write }, spec, tags: &rules.tags })
    }
}

/// The target of a fast application. The target is resolved first, so that a cache miss on the row overlaps with the
/// other checks.
#[derive(Clone, Copy)]
pub(crate) struct TargetRow {
    who: ControllerId,
    slot: usize,
    signature: u32,
}

impl TargetRow {
    #[inline(always)]
    pub(crate) fn of(controllers: &Controllers, who: ControllerId) -> Option<TargetRow> {
        let slot = controllers.slot(who)?;
        Some(TargetRow { who, slot, signature: controllers.row(slot).signature })
    }
}

/// The parts of a sim that a fast application reads and writes.
pub(crate) struct FastCommit<'a> {
    pub(crate) st: &'a mut State,
    pub(crate) layouts: &'a [Arc<Layout>],
    pub(crate) facts: &'a mut Vec<Fact>,
    pub(crate) limit: u32,
    pub(crate) cause: Cause,
}

impl FastCommit<'_> {
    /// Applies the effect to one target. Returns `None`, with nothing changed, if the slow path is needed.
    #[inline(always)]
    pub(crate) fn apply(
        &mut self,
        application: &FastApplication<'_>,
        target: TargetRow,
        origin_id: u64,
    ) -> Option<EffectKey> {
        let FastApplication { def, ref write, spec, tags } = *application;
        let TargetRow { who, slot, signature } = target;
        let State { controllers, hash_dirty, now, .. } = &mut *self.st;
        let row = controllers.row_mut(slot);
        let has = |t: &TagId| row.has(tags, *t);
        // A row without tags cannot have a blocked tag.
        if !def.required.iter().all(has) || signature != 0 && def.blocked.iter().any(has) {
            return None;
        }
        let root = self.cause.root.0 as u32;
        let ordinal = match row.last_origin_id {
            (last, count, of) if of == root && last == origin_id => count + 1,
            // Other cases need the slow path: here the origin id is the first of this cause on the row, and this sim
            // assigned it.
            (_, _, of) if of != root && origin_id >> 48 == 0 => 0,
            _ => return None,
        };
        if row.immunities != 0 || self.facts.len() + FACTS > self.limit as usize {
            return None;
        }
        let place = self.layouts[row.layout as usize].write_slot(write.attribute)?;
        let (old, new) = write_plain_value(row, place, write)?;
        row.last_origin_id = (origin_id, ordinal, root);
        // The new sequence number also invalidates cached statuses.
        row.next_seq += 1;
        if !row.hash_dirty {
            row.hash_dirty = true;
            hash_dirty.push(who);
        }
        let key = EffectKey { origin_id, target: who, ordinal };
        let via = Via { source: spec.source, key, effect: def.id };
        let mut writer = FactWriter { facts: self.facts, at: *now, who, via, cause: self.cause };
        writer.write_facts(place, old, new, FactKind::EffectApplied { level: spec.level, stacks: spec.stacks });
        Some(key)
    }
}

/// Writes one constant magnitude. Returns the attribute before and after the write, or `None`, with nothing changed, if
/// the slow path is needed.
#[inline(always)]
fn write_plain_value(row: &mut Row, place: &WriteSlot, write: &PlainWrite) -> Option<(Attr, Attr)> {
    let slot = place.slot as usize;
    let alerts = alert::ATTRIBUTE | alert::EFFECT | alert::DEATH | alert::ASLEEP;
    if !place.plain || row.is_modded(slot) || row.readers != 0 || row.alert & alerts != 0 {
        return None;
    }
    let attrs = &mut *row.attrs;
    let (lo, hi) = place.bounds(attrs);
    let old = attrs[slot];
    let window = Window::plain(lo, hi);
    let start = window.start(old.base);
    let end = operate(write.op, start, write.magnitude);
    if !end.is_finite() {
        return None;
    }
    let base = window.settle(old.base, start, end, write.op == ModOp::Override);
    let new = Attr { base, current: clamp(base, lo, hi) + 0.0 };
    attrs[slot] = new;
    Some((old, new))
}

/// The fields that the facts of one write share.
struct FactWriter<'l> {
    facts: &'l mut Vec<Fact>,
    at: SimTime,
    who: ControllerId,
    via: Via,
    cause: Cause,
}

impl FactWriter<'_> {
    #[inline(always)]
    fn fact(&mut self, kind: FactKind) {
        let FactWriter { at, who, via: Via { source, key, effect }, cause: Cause { root, link }, .. } = *self;
        self.facts.push(Fact { at, who, source, key, root, link, effect, kind });
    }

    /// Emits the change, then a death if there is one, then the application or execution.
    #[inline(always)]
    fn write_facts(&mut self, place: &WriteSlot, old: Attr, new: Attr, verb: FactKind) {
        if new != old {
            let attribute = place.attribute;
            let (old_base, new_base) = (old.base, new.base);
            self.fact(FactKind::AttributeChanged { attribute, old: old.current, new: new.current, old_base, new_base });
            if place.death && old.current > 0.0 && new.current <= 0.0 {
                self.fact(FactKind::Died { attribute });
            }
        }
        self.fact(verb);
    }
}

impl<'r> Flow<'r> {
    /// Applies the effect to one target; see [`FastCommit::apply`]. The creator of the [`FastApplication`] has checked
    /// that fast paths are allowed.
    #[inline(always)]
    pub(crate) fn apply_fast(
        &mut self,
        application: &FastApplication<'_>,
        who: ControllerId,
        origin_id: u64,
    ) -> Option<EffectKey> {
        if !self.sc.origin_counts.is_empty() {
            return None;
        }
        let Flow { st, ix, log, limits, cause, .. } = self;
        let (limit, cause) = (limits.facts, *cause);
        let target = TargetRow::of(&st.controllers, who)?;
        FastCommit { st, layouts: &ix.layouts, facts: &mut log.facts.list, limit, cause }.apply(
            application,
            target,
            origin_id,
        )
    }

    /// Returns the fast application of a spec, if its definition allows one.
    #[inline(always)]
    pub(crate) fn fast_application<'s>(&self, spec: &'s Spec) -> Option<FastApplication<'s>>
    where
        'r: 's,
    {
        if !self.fast {
            return None;
        }
        FastApplication::new(spec, self.rules, self.limits, self.st.next_id)
    }

    /// Runs the due execution of the periodic effect at index `at`. Returns false, with nothing changed, if the slow
    /// path is needed.
    #[inline(always)]
    pub(crate) fn execute_fast(&mut self, target: usize, at: usize, due: Due) -> bool {
        if !self.fast {
            return false;
        }
        let State { controllers, hash_dirty, now, .. } = &mut *self.st;
        let row = controllers.row_mut(target);
        let facts = &mut self.log.facts.list;
        let e = &row.effects[at];
        let Some(def) = self.rules.effect_def(e.def) else { return false };
        let (Some(write), Some(cold)) = (&def.plain_write, &e.cold) else { return false };
        let (who, key, source) = (row.id, e.key(row.id), e.source);
        let write = PlainWrite { magnitude: stacked(write.op, write.magnitude, e.stacks()), ..*write };
        if e.inhibited()
            || cold.rest.as_ref().is_some_and(|r| !r.dropped.is_empty())
            || facts.len() + FACTS > self.limits.facts as usize
        {
            return false;
        }
        let Some(&place) = self.ix.layouts[row.layout as usize].write_slot(write.attribute) else { return false };
        let Some((old, new)) = write_plain_value(row, &place, &write) else { return false };
        row.changes = row.changes.wrapping_add(1).max(1);
        let e = &mut row.effects[at];
        let mut execution = 0;
        if let Some(p) = e.periodic_mut() {
            execution = p.executed;
            p.executed = p.executed.saturating_add(1);
            p.n = p.n.saturating_add(1);
        }
        match e.due() {
            Some(next) => row.put_off(due, next.with_hint(at)),
            None => row.unschedule(due),
        }
        if !row.hash_dirty {
            row.hash_dirty = true;
            hash_dirty.push(who);
        }
        let (at, via) = (*now, Via { source, key, effect: def.id });
        self.because(CauseWhat::Executed(via.effect), who, source);
        let mut writer = FactWriter { facts: &mut self.log.facts.list, at, who, via, cause: self.cause };
        writer.write_facts(&place, old, new, FactKind::EffectExecuted { execution });
        true
    }
}
