//! Validation of a row from untrusted data, such as a saved game or a network message. Damaged or forged data must not
//! enter a sim.
//!
//! Derived values of a row (some counts, current values) are recomputed. In a snapshot for the owning client, values
//! that depend on hidden attributes are accepted as received. The other values are validated, and a row with an invalid
//! value is rejected.

use crate::flow::{Flow, sums};
use crate::limits::{Limits, MIN_PERIOD};
use crate::rules::{EffectDef, INITIAL_TAGS, Layout, ModDef, Rules};
use crate::state::{
    Attr, Cold, CueCount, Definitions, Effect, EffectExtras, FILTERED, Frozen, FrozenEffect, Grant, Mod, NOT_FINITE,
    OFF, Periodic, Queued, Row, RowExtras, SEQ_BITS,
};
use crate::{Anchor, AttributeId, ControllerId, SimTime, Spec, SpecExtra, TagId};
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{DurationPolicy, PeriodInhibition, ReplicationMode};

/// The maximum value of every counter of a row. It is so far from overflow that counting can continue.
const MANY: u32 = 1 << 30;

/// The context of a validation.
pub(crate) struct RowValidator<'a> {
    /// The layout of the row.
    pub(crate) layout: &'a Layout,
    pub(crate) rules: &'a Rules,
    pub(crate) defs: &'a Definitions,
    pub(crate) limits: &'a Limits,
    /// The sim time at which the row was extracted.
    pub(crate) at: SimTime,
    /// Whether the row is a snapshot for its owning client. Values that depend on attributes hidden from the owner
    /// cannot be recomputed and are accepted as received.
    pub(crate) is_owner_snapshot: bool,
}

fn want(good: bool, what: &'static str) -> Result<(), &'static str> {
    if good { Ok(()) } else { Err(what) }
}

impl RowValidator<'_> {
    /// Validates everything the flow relies on and recomputes derived values.
    ///
    /// Records are destructured without `..`: the code does not compile after a field is added, until the field is
    /// validated, recomputed or listed here as unrestricted.
    pub(crate) fn row(&self, row: &mut Row) -> Result<(), &'static str> {
        self.scalars(row)?;
        self.grants(row)?;
        self.queue(row)?;
        self.play(row)?;
        self.effects(row)?;
        row.live = self.modifiers(row)?;
        self.values(row);
        Ok(())
    }

    /// Validates the fields that are not lists of records.
    fn scalars(&self, row: &Row) -> Result<(), &'static str> {
        let Row {
            last_origin_id,
            next_seq,
            next_grant,
            attrs,
            clock,
            effects,
            mods,
            side: _,
            // Actor ids belong to the host. The caller validates the id and the sets.
            id: _,
            owner: _,
            layout: _,
            // Validated below, record by record.
            grants: _,
            tags: _,
            // Recomputed here and by `Row::rebuild`.
            modded: _,
            immunities: _,
            watching: _,
            live: _,
            due: _,
            // Not state: set when the row is inserted.
            readers: _,
            signature: _,
            hash_dirty: _,
            alert: _,
            published: _,
            changes: _,
            phase: _,
        } = row;
        // The avatar belongs to the host; the lists are validated below, record by record.
        let RowExtras { avatar: _, anchor, cues: _, queue: _, play: _ } = row.side();
        want(attrs.len() == self.layout.slots.len(), "wrong number of attributes")?;
        let finite = |Attr { base, current }: &Attr| base.is_finite() && current.is_finite();
        want(attrs.iter().all(finite), "an attribute's value is not finite")?;
        want(clock.is_valid(), "the clock is out of range")?;
        want(next_seq >> SEQ_BITS == 0, "the next sequence number is out of range")?;
        want(last_origin_id.1 <= MANY, "the ordinal of a cause is out of range")?;
        want(*next_grant <= MANY, "the next grant id is out of range")?;
        want(effects.windows(2).all(|w| w[0].seq() < w[1].seq()), "effects are not in order")?;
        want(
            effects.iter().all(|e| e.seq() > 0 && e.seq() < *next_seq),
            "an effect's sequence number is out of range",
        )?;
        want(mods.windows(2).all(|w| w[0].order(&w[1]).is_lt()), "modifiers are not in order")?;
        if let Some(Anchor { position, facing }) = anchor {
            want(position.iter().chain(facing).all(|v| v.is_finite()), "the anchor is not finite")?;
        }
        Ok(())
    }

    /// Validates each effect. Also checks that the tags, cues and counts of the row are those that its effects grant.
    fn effects(&self, row: &mut Row) -> Result<(), &'static str> {
        let rules = self.rules;
        let now = row.clock.local(self.at);
        let (mut tags, mut cues) = (BTreeMap::<TagId, u32>::new(), BTreeMap::<TagId, u32>::new());
        let (mut watching, mut immunities) = (0, 0);
        for tag in row.tags.innate(&rules.tags) {
            want(row.effects.iter().any(|e| e.def == INITIAL_TAGS), "the tags do not match the effects")?;
            tags.insert(tag, 1);
        }
        for e in &mut row.effects {
            let Some(def) = self.defs.effect(rules, e.def) else {
                return Err("an effect's definition is unknown or instant");
            };
            self.effect(e, &def, now)?;
            if !e.inhibited() {
                def.granted_tags.iter().for_each(|t| *tags.entry(*t).or_default() += 1);
                def.cues.iter().for_each(|t| *cues.entry(*t).or_default() += 1);
            }
            watching += e.watches() as u16;
            immunities += def.refuses_others() as u16;
        }
        for tag in row.play().activations.iter().flat_map(|a| &a.cues) {
            *cues.entry(*tag).or_default() += 1;
        }
        (row.watching, row.immunities) = (watching, immunities);
        want(row.tags.iter(&rules.tags).collect::<BTreeMap<_, _>>() == tags, "the tags do not match the effects")?;
        let held: BTreeMap<TagId, u32> = row.cues().iter().map(|&CueCount { tag, count }| (tag, count)).collect();
        want(
            held == cues && row.cues().windows(2).all(|w| w[0].tag < w[1].tag),
            "the cues do not match the effects and abilities",
        )
    }

    fn grants(&self, row: &Row) -> Result<(), &'static str> {
        want(row.grants.len() <= self.limits.grants_per_controller as usize, "too many grants")?;
        let ability = |id: crate::AbilityId| self.defs.ability(self.rules, id).is_some();
        for g in &row.grants {
            // `more` is validated with the abilities in progress; the cached status is not state.
            let Grant { id, ability: of, more: _, level_fails: _, seen: _, ready_at: _ } = g;
            want(g.level() > 0 && ability(*of) && id.0 < row.next_grant, "a grant's id, level or ability is invalid")?;
            want(g.by() == 0 || row.effect_at(g.by()).is_some(), "the effect of a grant does not exist")?;
        }
        want(row.grants.windows(2).all(|w| w[0].id < w[1].id), "grants are not in order")
    }

    fn queue(&self, row: &Row) -> Result<(), &'static str> {
        for q in row.queue() {
            // The origin is unrestricted; the ability may no longer exist.
            let Queued { spec, origin_id: _, ordinal: _, root: _, link: _ } = q;
            let Spec { effect, target, source, level, stacks, ability: _, extra } = spec;
            want(
                *target == row.id && *level > 0 && *stacks > 0,
                "a queued effect's target, level or stacks are invalid",
            )?;
            want(source_is_valid(*source), "a queued effect's source is invalid")?;
            let def = self.defs.effect(self.rules, *effect);
            want(
                def.is_some_and(|d| d.policy != DurationPolicy::Instant),
                "a queued effect's definition is unknown or instant",
            )?;
            want(self.extra_is_valid(extra.as_deref()), "a queued effect's values are invalid")?;
        }
        Ok(())
    }

    fn effect(&self, e: &mut Effect, def: &EffectDef, now: SimTime) -> Result<(), &'static str> {
        // `number` contains level and flags, which are validated below. The origin is unrestricted; the ability may no
        // longer exist.
        let Effect { number: _, origin_id: _, end: _, start: _, ordinal: _, def: _, source: _, link: _, cold } = &*e;
        if let Some(Cold { periodic: _, root: _, length: _, ability: _, missed: _, rest: Some(rest) }) = cold.as_deref()
        {
            let EffectExtras { level: _, stacks: _, extra, captures: _, units: _, dropped: _, frozen } = &**rest;
            want(self.extra_is_valid(extra.as_deref()), "an effect's values are invalid")?;
            want(
                frozen.iter().all(|f| self.frozen_is_valid(f)),
                "the stored values of an effect's source are invalid",
            )?;
        }
        want(def.policy != DurationPolicy::Instant, "an effect's definition is unknown or instant")?;
        want(e.level() > 0 && e.stacks() > 0, "an effect's level or stacks are 0")?;
        want(def.stacking.as_ref().is_none_or(|s| e.stacks() <= s.limit), "an effect has too many stacks")?;
        want(e.start <= now && e.end >= e.start, "an effect's start or end is invalid")?;
        want(def.policy != DurationPolicy::Infinite || e.end == SimTime::NEVER, "an effect's start or end is invalid")?;
        want(source_is_valid(e.source), "an effect's source is invalid")?;
        want(e.watches() == (def.has_ongoing() || def.is_filtered()), "an effect's flags do not match its definition")?;
        want(e.periodic().is_some() == def.period.is_some(), "an effect's period is invalid")?;
        let catches_up = e.periodic().is_some() && def.period_inhibition == PeriodInhibition::CatchUp;
        let start = e.start;
        let owed = if catches_up { u32::MAX } else { def.executes_at_once() as u32 };
        want(e.missed() == 0 || e.inhibited() && e.missed() <= owed, "too many missed executions of an effect")?;
        if let Some(Cold { periodic: Some(p), missed, .. }) = e.cold.as_deref_mut() {
            self.periodic(p, *missed, start, now)?;
            // Missed executions run immediately when the effect is restored, so their number is limited to what one
            // step may run.
            *missed = (*missed).min(self.limits.due_per_advance.min(MANY as u64) as u32);
        }
        let units = e.units().len();
        want(units == def.modifiers.len() || (units == 0 && e.stacks() == 1), "an effect's magnitudes are invalid")?;
        let captures = e.captures();
        want(captures.is_empty() || captures.len() == self.captures(def), "an effect's captures are invalid")?;
        want(captures.iter().all(|v| !v.is_infinite()), "an effect's captures are invalid")?;
        want(
            e.dropped().iter().all(|&i| (i as usize) < def.modifiers.len()),
            "the index of a dropped modifier is out of range",
        )?;
        want(length_is_valid(e.length()) || e.length() == SimTime::NEVER, "an effect's duration is invalid")
    }

    fn frozen_is_valid(&self, frozen: &Frozen) -> bool {
        let Frozen { values, tags, effects, position, credit } = frozen;
        let known = |a: AttributeId| self.rules.attribute_name(a).is_some();
        values.iter().all(|&(a, v)| known(a) && v.is_finite())
            && values.windows(2).all(|w| w[0].0 < w[1].0)
            && tags.windows(2).all(|w| w[0] < w[1])
            && tags.iter().all(|&t| self.rules.tags.def(t).is_some())
            && position.iter().flatten().all(|v| v.is_finite())
            && source_is_valid(*credit)
            && effects.len() <= self.limits.effects_per_controller as usize
            && effects.iter().all(|FrozenEffect { def, level, stacks, set_by_caller }| {
                self.defs.effect(self.rules, *def).is_some()
                    && *level > 0
                    && *stacks > 0
                    && set_by_caller.iter().all(|(_, v)| v.is_finite())
                    && set_by_caller.windows(2).all(|w| w[0].0 < w[1].0)
            })
    }

    fn extra_is_valid(&self, extra: Option<&SpecExtra>) -> bool {
        extra.is_none_or(|x| {
            // Causer and object belong to the host.
            let SpecExtra { set_by_caller, duration, period, origin, hit, causer: _, object: _ } = x;
            set_by_caller.iter().map(|(_, v)| *v).chain(origin.iter().flatten().copied()).all(f64::is_finite)
                && set_by_caller.windows(2).all(|w| w[0].0 < w[1].0)
                && hit.iter().all(|h| self.hit(h))
                && duration.is_none_or(length_is_valid)
                && period.is_none_or(period_is_valid)
        })
    }

    /// Validates the counters of a period against the time that passed.
    fn periodic(&self, p: &Periodic, missed: u32, start: SimTime, now: SimTime) -> Result<(), &'static str> {
        let Periodic { period: _, anchor: _, n, executed: _ } = p;
        want(period_is_valid(p.period()) && *n > 0, "an effect's period is invalid")?;
        want(p.anchor >= start && p.anchor <= now, "the start of an effect's period is invalid")?;
        let (period, anchor) = (p.period().0 as i128, p.anchor.0 as i128);
        let (start, now) = (start.0 as i128, now.0 as i128);
        let last = anchor + period * (p.n as i128 - 1);
        want(last <= now, "too many periods of an effect")?;
        // A step that exhausted its budget leaves executions for the next step, but not more than one step can run.
        let behind = (now - last) / period;
        want(behind <= self.limits.due_per_advance.max(1) as i128, "too many executions of an effect are overdue")?;
        // The period may have been shorter earlier.
        let before = (anchor - start) / MIN_PERIOD.0 as i128;
        let fallen = (1 + before + p.n as i128 - 1).min(MANY as i128);
        want(p.executed as i128 + missed as i128 <= fallen, "too many executions of an effect")
    }

    fn captures(&self, def: &EffectDef) -> usize {
        let reads = |c: crate::CalcId| self.rules.calcs.get(c.0).map_or(0, |c| c.reads.len());
        def.executions.iter().map(|x| reads(x.calculator)).sum()
    }

    /// Validates that each modifier belongs to an effect and that each effect has its modifiers. Returns the number of
    /// live modifiers.
    fn modifiers(&self, row: &Row) -> Result<u32, &'static str> {
        let mut there: BTreeMap<(u64, u16), u8> = BTreeMap::new();
        let mut live = 0;
        for m in &row.mods {
            let Some(e) = row.effect_at(m.seq()).map(|i| &row.effects[i]) else {
                return Err("the effect of a modifier does not exist");
            };
            let Some(def) = self.defs.effect(self.rules, e.def) else {
                return Err("an effect's definition is unknown or instant");
            };
            let Some(d) = def.modifiers.get(m.index() as usize) else {
                return Err("a modifier's index is out of range");
            };
            want(def.acts_on_current(d) && !e.has_dropped(m.index()), "a modifier does not belong to its effect")?;
            want(self.modifier(m, d, e), "a modifier does not match its definition")?;
            want(there.insert((m.seq(), m.index()), m.off).is_none(), "a modifier exists twice")?;
            live += d.magnitude.live_on().is_some() as u32;
        }
        for e in &row.effects {
            let Some(def) = self.defs.effect(self.rules, e.def) else {
                return Err("an effect's definition is unknown or instant");
            };
            for (index, d) in def.modifiers.iter().enumerate() {
                let unit = e.units().get(index).copied();
                let off = there.get(&(e.seq(), index as u16)).copied();
                let not_finite = off.is_some_and(|off| off & NOT_FINITE != 0);
                want(unit.is_none_or(|u| !u.is_infinite() || not_finite), "an effect's magnitudes are invalid")?;
                if !def.acts_on_current(d) || e.has_dropped(index as u16) {
                    continue;
                }
                let skipped = unit.map_or_else(|| lacks_value(d, e), f64::is_nan);
                want(off.is_some() != skipped || not_finite, "a modifier of an effect is missing")?;
            }
        }
        Ok(live)
    }

    fn modifier(&self, m: &Mod, d: &ModDef, e: &Effect) -> bool {
        // The owning effect was validated before.
        let Mod { magnitude, seq_index: _, channel, slot, op, off } = *m;
        magnitude.is_finite()
            && self.layout.slot(d.attribute) == Some(slot as usize)
            && channel == d.channel
            && op == d.op.into()
            && off & !(OFF | FILTERED | NOT_FINITE) == 0
            && (off & OFF != 0) == e.inhibited()
            && (off & FILTERED == 0 || d.is_filtered())
            && (off & NOT_FINITE == 0 || d.magnitude.live_on().is_some())
    }

    /// Recomputes current values and derived bases with the pipeline. Slots are in dependency order, so one pass is
    /// enough.
    fn values(&self, row: &mut Row) {
        let hidden_slots = if self.is_owner_snapshot { self.follow_hidden() } else { Vec::new() };
        let is_hidden = |slot: usize| hidden_slots.get(slot).is_some_and(|hidden| *hidden);
        for (slot, def) in self.layout.slots.iter().enumerate().filter(|(slot, _)| !is_hidden(*slot)) {
            let priority = |seq| {
                let e = row.effect_at(seq).and_then(|i| self.defs.effect(self.rules, row.effects[i].def));
                e.map_or(0, |d| d.priority)
            };
            let sums = sums(row.mods_of(slot), def.aggregation, priority);
            let (lo, hi) = def.bounds(&row.attrs);
            let own = row.attrs[slot].base;
            let base = def.derived.as_ref().map_or(own, |expr| self.layout.derive(expr, &row.attrs).0);
            row.attrs[slot] = Attr { base, current: sums.value(base, lo, hi) };
        }
    }

    /// Returns for each slot whether it depends, directly or indirectly, on a slot that is hidden from owners.
    fn follow_hidden(&self) -> Vec<bool> {
        let mut follows = vec![false; self.layout.slots.len()];
        for (slot, def) in self.layout.slots.iter().enumerate() {
            let mut attributes = self.rules.set_attributes(def.set).into_iter().flatten();
            let is_hidden = attributes.any(|a| a.attribute == def.attribute && a.replication == ReplicationMode::None);
            if is_hidden || follows[slot] {
                def.dependents.iter().for_each(|&d| follows[d as usize] = true);
            }
        }
        follows
    }
}

fn source_is_valid(source: ControllerId) -> bool {
    source == ControllerId::NONE || source.0 < u32::MAX - 1
}

fn length_is_valid(length: SimTime) -> bool {
    length >= SimTime::ZERO && length <= SimTime::LONGEST
}

fn period_is_valid(period: SimTime) -> bool {
    period >= MIN_PERIOD && period <= SimTime::LONGEST
}

/// Returns whether a modifier was skipped because its set-by-caller value is missing.
fn lacks_value(d: &ModDef, e: &Effect) -> bool {
    let Some(key) = d.magnitude.key() else { return false };
    e.extra().is_none_or(|x| !x.set_by_caller.iter().any(|(k, _)| *k == key))
}

/// Returns whether a row that was just inserted, and is not linked yet, would create a dependency cycle. Every new
/// cycle passes through an attribute of that row.
pub(crate) fn row_closes_cycle(flow: &Flow<'_>, who: ControllerId) -> bool {
    type SlotNode = (ControllerId, u16);
    let mut more: BTreeMap<SlotNode, Vec<SlotNode>> = BTreeMap::new();
    for row in flow.st.controllers.iter().filter(|r| r.live > 0) {
        for m in &row.mods {
            let Some(e) = row.effect_at(m.seq()).map(|i| &row.effects[i]) else {
                continue;
            };
            if row.id != who && e.source != who {
                continue;
            }
            let live = flow.def(e.def).and_then(|d| d.modifiers[m.index() as usize].magnitude.live_on());
            let Some((attribute, of_target)) = live else { continue };
            let from = if of_target { row.id } else { e.source };
            let Some(source) = flow.st.controllers.get(from) else {
                continue;
            };
            if let Some(read) = flow.ix.layouts[source.layout as usize].slot(attribute) {
                more.entry((from, read as u16)).or_default().push((row.id, m.slot));
            }
        }
    }
    if more.is_empty() {
        return false;
    }
    // Depth-first: reaching a node whose successors are still being visited is a cycle.
    let slots = flow.st.controllers.get(who).map_or(0, |r| r.attrs.len()) as u16;
    let mut stack: Vec<(SlotNode, bool)> = (0..slots).map(|s| ((who, s), false)).collect();
    let (mut open, mut done) = (BTreeSet::new(), BTreeSet::new());
    while let Some((node, left)) = stack.pop() {
        if left {
            open.remove(&node);
            done.insert(node);
        } else if open.contains(&node) {
            return true;
        } else if !done.contains(&node) {
            open.insert(node);
            stack.push((node, true));
            flow.successors(node, &mut |next| stack.push((next, false)));
            more.get(&node).into_iter().flatten().for_each(|&next| stack.push((next, false)));
        }
    }
    false
}
