//! Strike and beat: the shortest ways through an application and through a periodic execution. One plain value on one
//! attribute that nothing modifies or follows: what most hits and most ticks are. They do exactly what the long ways
//! would do, with everything that cannot matter left out; where anything could matter they step aside. Rows are borrowed
//! once: these are the hottest paths there are.

use super::write::{Window, operate};
use super::{Flow, State, Via, stacked};
use crate::limits::Limits;
use crate::rules::{Aim, Blow, EffectDef, Layout, Rules, TagTable, clamp};
use crate::state::{Attr, CauseWhat, Controllers, Due, ModOp, Row, alert};
use crate::{Cause, ControllerId, EffectKey, Fact, FactKind, SimTime, Spec, TagId};
use std::sync::Arc;
use ugas_doc::DurationPolicy;

/// A definition and a spec that may strike.
#[derive(Clone, Copy)]
pub(crate) struct Strike<'d> {
    def: &'d EffectDef,
    blow: Blow,
    spec: &'d Spec,
    tags: &'d TagTable,
}

/// Room for the facts of one blow: the change, a death, and the verb.
const FACTS: usize = 3;

impl<'d> Strike<'d> {
    /// Whether definition, spec and rules leave nothing but the write itself.
    #[inline(always)]
    pub(crate) fn new(spec: &'d Spec, rules: &'d Rules, limits: &Limits, next_id: u32) -> Option<Strike<'d>> {
        let def = rules.effect_def(spec.effect)?;
        let blow = def.blow?;
        let plain = def.policy == DurationPolicy::Instant
            && spec.extra.is_none()
            && spec.level > 0
            && spec.stacks.wrapping_sub(1) < limits.stacks
            && (spec.source == ControllerId::NONE || spec.source.0 < next_id)
            && !rules.hooks.any();
        let magnitude = stacked(blow.op, blow.magnitude, spec.stacks);
        plain.then_some(Strike { def, blow: Blow { magnitude, ..blow }, spec, tags: &rules.tags })
    }
}

/// Whom a strike is for. Asked for first: a row that is not in the cache comes while the rest is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Stand {
    who: ControllerId,
    slot: usize,
    signature: u32,
}

impl Stand {
    #[inline(always)]
    pub(crate) fn of(controllers: &Controllers, who: ControllerId) -> Option<Stand> {
        let slot = controllers.slot(who)?;
        Some(Stand { who, slot, signature: controllers.row(slot).signature })
    }
}

/// What a strike touches of a sim.
pub(crate) struct Reach<'a> {
    pub(crate) st: &'a mut State,
    pub(crate) layouts: &'a [Arc<Layout>],
    pub(crate) facts: &'a mut Vec<Fact>,
    pub(crate) limit: u32,
    pub(crate) cause: Cause,
}

impl Reach<'_> {
    /// Strikes one target, or `None` where the long way has to be taken; nothing is changed then.
    #[inline(always)]
    pub(crate) fn strike(&mut self, strike: &Strike<'_>, stand: Stand, birth: u64) -> Option<EffectKey> {
        let Strike { def, ref blow, spec, tags } = *strike;
        let Stand { who, slot, signature } = stand;
        let State { controllers, hash_dirty, now, .. } = &mut *self.st;
        let row = controllers.row_mut(slot);
        let has = |t: &TagId| row.has(tags, *t);
        // Whoever has no tags is not asked for any.
        if !def.required.iter().all(has) || signature != 0 && def.blocked.iter().any(has) {
            return None;
        }
        let root = self.cause.root.0 as u32;
        let ordinal = match row.last_birth {
            (last, count, of) if of == root && last == birth => count + 1,
            // Only the plainest numbering: the first birth of this cause here, and one of this sim.
            (_, _, of) if of != root && birth >> 48 == 0 => 0,
            _ => return None,
        };
        if row.immunities != 0 || self.facts.len() + FACTS > self.limit as usize {
            return None;
        }
        let aim = self.layouts[row.layout as usize].aim(blow.attribute)?;
        let (old, new) = land(row, aim, blow)?;
        row.last_birth = (birth, ordinal, root);
        // Moves the row's stamp too.
        row.next_seq += 1;
        if !row.hash_dirty {
            row.hash_dirty = true;
            hash_dirty.push(who);
        }
        let key = EffectKey { birth, target: who, ordinal };
        let via = Via { source: spec.source, key, effect: def.id };
        let mut told = Told { facts: self.facts, at: *now, who, via, cause: self.cause };
        told.blow(aim, old, new, FactKind::EffectApplied { level: spec.level, stacks: spec.stacks });
        Some(key)
    }
}

/// Writes one plain value; the attribute's two values before and after. `None`, with nothing changed, where the long way
/// is needed.
#[inline(always)]
fn land(row: &mut Row, aim: &Aim, blow: &Blow) -> Option<(Attr, Attr)> {
    let slot = aim.slot as usize;
    let heard = alert::ATTRIBUTE | alert::EFFECT | alert::DEATH;
    if !aim.plain || row.is_modded(slot) || row.readers != 0 || row.alert & heard != 0 {
        return None;
    }
    let attrs = &mut *row.attrs;
    let (lo, hi) = aim.bounds(attrs);
    let old = attrs[slot];
    let window = Window::plain(lo, hi);
    let start = window.start(old.base);
    let end = operate(blow.op, start, blow.magnitude);
    if !end.is_finite() {
        return None;
    }
    let base = window.settle(old.base, start, end, blow.op == ModOp::Override);
    let new = Attr { base, current: clamp(base, lo, hi) + 0.0 };
    attrs[slot] = new;
    Some((old, new))
}

/// What facts of one blow share.
struct Told<'l> {
    facts: &'l mut Vec<Fact>,
    at: SimTime,
    who: ControllerId,
    via: Via,
    cause: Cause,
}

impl Told<'_> {
    #[inline(always)]
    fn fact(&mut self, kind: FactKind) {
        let Told { at, who, via: Via { source, key, effect }, cause: Cause { root, link }, .. } = *self;
        self.facts.push(Fact { at, who, source, key, root, link, effect, kind });
    }

    /// The change and a death, if there is one, then the verb.
    #[inline(always)]
    fn blow(&mut self, aim: &Aim, old: Attr, new: Attr, verb: FactKind) {
        if new != old {
            let attribute = aim.attribute;
            let (old_base, new_base) = (old.base, new.base);
            self.fact(FactKind::AttributeChanged { attribute, old: old.current, new: new.current, old_base, new_base });
            if aim.death && old.current > 0.0 && new.current <= 0.0 {
                self.fact(FactKind::Died { attribute });
            }
        }
        self.fact(verb);
    }
}

impl<'r> Flow<'r> {
    /// See [`Reach::strike`].
    #[inline(always)]
    pub(crate) fn strike(&mut self, strike: &Strike<'_>, who: ControllerId, birth: u64) -> Option<EffectKey> {
        if !self.sc.births.is_empty() {
            return None;
        }
        let Flow { st, ix, log, limits, cause, .. } = self;
        let (limit, cause) = (limits.facts, *cause);
        let stand = Stand::of(&st.controllers, who)?;
        Reach { st, layouts: &ix.layouts, facts: &mut log.facts.list, limit, cause }.strike(strike, stand, birth)
    }

    /// Whether a spec may strike.
    #[inline(always)]
    pub(crate) fn striking<'s>(&self, spec: &'s Spec) -> Option<Strike<'s>>
    where
        'r: 's,
    {
        Strike::new(spec, self.rules, self.limits, self.st.next_id)
    }

    /// Runs the execution of a plain periodic effect that is due and lies at `at`; false where the long way has to be
    /// taken, with nothing changed.
    #[inline(always)]
    pub(crate) fn beat(&mut self, target: usize, at: usize, due: Due) -> bool {
        let State { controllers, hash_dirty, now, .. } = &mut *self.st;
        let row = controllers.row_mut(target);
        let facts = &mut self.log.facts.list;
        let e = &row.effects[at];
        let Some(def) = self.rules.effect_def(e.def) else { return false };
        let (Some(blow), Some(cold)) = (&def.blow, &e.cold) else { return false };
        let (who, key, source) = (row.id, e.key(row.id), e.source);
        let blow = Blow { magnitude: stacked(blow.op, blow.magnitude, e.stacks()), ..*blow };
        if e.inhibited()
            || cold.rest.as_ref().is_some_and(|r| !r.dropped.is_empty())
            || facts.len() + FACTS > self.limits.facts as usize
            || !self.journals.is_empty()
        {
            return false;
        }
        let Some(&aim) = self.ix.layouts[row.layout as usize].aim(blow.attribute) else { return false };
        let Some((old, new)) = land(row, &aim, &blow) else { return false };
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
        let mut told = Told { facts: &mut self.log.facts.list, at, who, via, cause: self.cause };
        told.blow(&aim, old, new, FactKind::EffectExecuted { execution });
        true
    }
}
