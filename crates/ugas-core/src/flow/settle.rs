//! Settle: recomputes the attributes that a change affected, and records their old and new values. Each attribute is
//! recomputed once, in dependency order.
//!
//! In the common case, only one row changes and no other row reads it. Settling is then one ascending pass over the
//! dirty slots of the row. Otherwise the affected attributes of all rows are first sorted by dependency. Independent
//! attributes are ordered by (controller id, slot).

use super::write::Window;
use super::{Flow, PreviousValue, RowEvent, Via, Write};
use crate::rules::{Layout, Slot, SlotBound};
use crate::state::{Attr, LiveEdge, Mod, ModOp, NOT_FINITE, alert};
use crate::{AttributeId, ControllerId, DiagnosticKind, FactKind, SetId};
use std::collections::{BTreeMap, BTreeSet};

/// When changes become facts: immediately, at the end of a longer application, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emit {
    Facts,
    Later,
    Nothing,
}

/// What the facts about a changed attribute depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedSlot {
    attribute: AttributeId,
    death: bool,
    /// The set of the resource that the attribute is the value of.
    resource: Option<SetId>,
}

impl ChangedSlot {
    pub(crate) fn of(def: &Slot) -> ChangedSlot {
        ChangedSlot { attribute: def.attribute, death: def.death, resource: def.resource.then_some(def.set) }
    }
}

/// The change of an attribute's range: the start and length of the old range and of the new range.
#[derive(Clone, Copy, Debug)]
struct Rescaling {
    old_lo: f64,
    old: f64,
    lo: f64,
    new: f64,
}

impl Rescaling {
    fn of(&self, value: f64) -> f64 {
        super::pipeline::held(self.lo + (value - self.old_lo) / self.old * self.new)
    }

    /// Shifts a write after the base value was rescaled. The write starts from the rescaled value and changes it by the
    /// same amount. An Override keeps its end value.
    fn shift(&self, write: &mut Write) {
        let by = write.end - write.start;
        write.start = self.of(write.start);
        if !write.over {
            write.end = super::pipeline::held(write.start + by);
        }
    }
}

struct AffectedNode {
    row: u32,
    waiting: u32,
    dirty: bool,
}

impl Flow<'_> {
    #[inline]
    pub(crate) fn mark(&mut self, row: usize, slot: usize) {
        self.sc.dirty.push((row as u32, slot as u16));
    }

    /// Settles all marked attributes.
    pub(crate) fn settle(&mut self, via: Via, emit: Emit) {
        let Some(&(first, slot)) = self.sc.dirty.first() else {
            return;
        };
        if self.fast && emit == Emit::Facts && self.settle_one(first as usize, slot as usize, via) {
            return;
        }
        let alone = self.row(first as usize).readers == 0 && self.sc.dirty.iter().all(|d| d.0 == first);
        if alone {
            self.settle_row(first as usize, via, emit);
        } else {
            self.settle_graph(via, emit);
        }
        self.sc.writes.clear();
    }

    /// Settles the most common change: modifiers of one attribute that no other attribute depends on. Returns false,
    /// with nothing changed, if there is anything else to settle.
    #[inline]
    fn settle_one(&mut self, row: usize, slot: usize, via: Via) -> bool {
        let r = self.row(row);
        let def = &self.ix.layouts[r.layout as usize].slots[slot];
        let follows = def.derived.is_some() || def.proportional || !def.dependents.is_empty() || r.readers != 0;
        if follows || self.sc.dirty.len() != 1 || !self.sc.writes.is_empty() {
            return false;
        }
        let sums = self.sums_of(r, slot, def.aggregation);
        let old = r.attrs[slot];
        if sums.is_out_of_range(old.base) {
            return false;
        }
        let (lo, hi) = def.bounds(&r.attrs);
        let new = Attr { base: old.base, current: sums.value(old.base, lo, hi) };
        let place = ChangedSlot::of(def);
        self.sc.dirty.clear();
        if new.current != old.current {
            self.row_mut(row).attrs[slot] = new;
            self.changed(row, place, old, new, via);
        }
        true
    }

    fn settle_row(&mut self, row: usize, via: Via, emit: Emit) {
        // Taken out for the pass, because evaluation borrows the layout and the flow mutably.
        let layouts = std::mem::take(&mut self.ix.layouts);
        let layout = &*layouts[self.row(row).layout as usize];
        if layout.slots.len() <= 64 {
            let mut bits = self.sc.dirty.drain(..).fold(0u64, |bits, (_, slot)| bits | 1 << slot);
            while bits != 0 {
                let slot = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.evaluate(row, slot, layout, via, emit) {
                    bits = layout.slots[slot].dependents.iter().fold(bits, |bits, &d| bits | 1 << d);
                }
            }
            self.sc.moved.clear();
            self.ix.layouts = layouts;
            return;
        }
        let mut bits = std::mem::take(&mut self.sc.bits);
        bits.clear();
        bits.resize(layout.slots.len().div_ceil(64), 0);
        for (_, slot) in self.sc.dirty.drain(..) {
            bits[slot as usize / 64] |= 1 << (slot % 64);
        }
        for word in 0..bits.len() {
            while bits[word] != 0 {
                let slot = word * 64 + bits[word].trailing_zeros() as usize;
                bits[word] &= bits[word] - 1;
                if self.evaluate(row, slot, layout, via, emit) {
                    for &d in &layout.slots[slot].dependents {
                        bits[d as usize / 64] |= 1 << (d % 64);
                    }
                }
            }
        }
        self.sc.bits = bits;
        self.sc.moved.clear();
        self.ix.layouts = layouts;
    }

    /// Recomputes one attribute. Returns whether its current value changed.
    pub(crate) fn evaluate(&mut self, row: usize, slot: usize, layout: &Layout, via: Via, emit: Emit) -> bool {
        let r = self.row(row);
        let def = &layout.slots[slot];
        let old = r.attrs[slot];
        let (lo, hi) = def.bounds(&r.attrs);
        let sums = self.sums_of(r, slot, def.aggregation);
        let who = r.id;
        let mut write = self.sc.writes.iter().find(|w| w.row == row as u32 && w.slot == slot as u16).copied();
        let (mut base, mut not_finite) = (old.base, false);
        if let Some(expr) = &def.derived {
            (base, not_finite) = layout.derive(expr, &r.attrs);
        } else if def.proportional
            && emit != Emit::Nothing
            && let Some(rescaling) = self.rescaling(row as u32, def, lo, hi)
        {
            base = rescaling.of(base);
            if let Some(w) = &mut write {
                rescaling.shift(w);
                self.rescale_result(w);
            }
        }
        if let Some(w) = write {
            base = Window::new(&sums, lo, hi).settle(base, w.start, w.end, w.over);
        }
        let new = Attr { base, current: sums.value(base, lo, hi) };
        if not_finite {
            self.diagnose(who, via.effect, DiagnosticKind::NonFinite { attribute: def.attribute });
        }
        if sums.is_out_of_range(base) {
            self.diagnose(who, via.effect, DiagnosticKind::Saturated { attribute: def.attribute });
        }
        if new.base == old.base && new.current == old.current {
            return false;
        }
        self.row_mut(row).attrs[slot] = new;
        if new.current != old.current {
            self.sc.moved.push((row as u32, slot as u16, old.current));
        }
        match emit {
            Emit::Facts => self.changed(row, ChangedSlot::of(def), old, new, via),
            Emit::Later => {
                let known = self.sc.before.iter().any(|b| b.row == row as u32 && b.slot == slot as u16);
                if !known {
                    let (row, slot) = (row as u32, slot as u16);
                    self.sc.before.push(PreviousValue { row, slot, base: old.base, current: old.current });
                }
            }
            Emit::Nothing => {}
        }
        new.current != old.current
    }

    #[inline]
    pub(crate) fn changed(&mut self, row: usize, place: ChangedSlot, old: Attr, new: Attr, via: Via) {
        let ChangedSlot { attribute, death, resource } = place;
        let r = self.row(row);
        let (who, alerts) = (r.id, r.alert);
        self.fact(
            who,
            via,
            FactKind::AttributeChanged {
                attribute,
                old: old.current,
                new: new.current,
                old_base: old.base,
                new_base: new.base,
            },
        );
        if let Some(set) = resource
            && old.current != new.current
        {
            self.resource_changed(row, set, old, new, via);
        }
        let died = death && old.current > 0.0 && new.current <= 0.0;
        if died {
            self.fact(who, via, FactKind::Died { attribute });
        }
        if alerts & (alert::ATTRIBUTE | alert::DEATH | alert::ASLEEP) != 0 {
            if died {
                self.notify(row, alert::DEATH, || RowEvent::Died { source: via.source });
            }
            let (old, new) = (old.current, new.current);
            self.notify(row, alert::ATTRIBUTE, || RowEvent::Attribute { attribute, old, new });
        }
    }

    /// Emits the recorded changes: one fact for each attribute that differs at the end.
    pub(crate) fn emit_changes(&mut self, via: Via) {
        let before = std::mem::take(&mut self.sc.before);
        for b in &before {
            let layout = self.ix.layouts[self.row(b.row as usize).layout as usize].clone();
            let row = self.row(b.row as usize);
            let new = row.attrs[b.slot as usize];
            let old = Attr { base: b.base, current: b.current };
            if new != old {
                let place = ChangedSlot::of(&layout.slots[b.slot as usize]);
                self.changed(b.row as usize, place, old, new, via);
            }
        }
        self.sc.before = before;
        self.sc.before.clear();
        if !self.sc.combat_results.is_empty() {
            self.damage_facts(via);
        }
    }

    /// Restores the values that a failed application had written.
    pub(crate) fn undo_changes(&mut self) {
        self.sc.combat_results.clear();
        let before = std::mem::take(&mut self.sc.before);
        for b in &before {
            self.row_mut(b.row as usize).attrs[b.slot as usize].base = b.base;
            self.mark(b.row as usize, b.slot as usize);
        }
        self.settle(Via::NOTHING, Emit::Nothing);
        self.sc.before = before;
        self.sc.before.clear();
    }

    /// Plans one operation on an attribute's base value. The operations of one effect on one attribute form one write.
    pub(crate) fn plan_write(&mut self, row: usize, slot: usize, op: ModOp, magnitude: f64) -> bool {
        let at = self.sc.writes.iter().position(|w| w.row == row as u32 && w.slot == slot as u16);
        let at = at.unwrap_or_else(|| {
            let r = self.row(row);
            let def = &self.ix.layouts[r.layout as usize].slots[slot];
            let (lo, hi) = def.bounds(&r.attrs);
            let start = if r.is_modded(slot) {
                Window::new(&self.sums_of(r, slot, def.aggregation), lo, hi).start(r.attrs[slot].base)
            } else {
                Window::plain(lo, hi).start(r.attrs[slot].base)
            };
            self.sc.writes.push(Write { row: row as u32, slot: slot as u16, over: false, start, end: start });
            self.sc.writes.len() - 1
        });
        let w = &mut self.sc.writes[at];
        w.end = super::write::operate(op, w.end, magnitude);
        w.over |= op == ModOp::Override;
        w.end.is_finite()
    }

    /// Returns how the base value is rescaled to keep its proportion of a range that changed in this settle, or `None`
    /// if the range did not change.
    fn rescaling(&self, row: u32, def: &Slot, lo: f64, hi: f64) -> Option<Rescaling> {
        let was = |bound: SlotBound, now: f64| match bound {
            SlotBound::Slot(s) => self.sc.moved.iter().rev().find(|m| (m.0, m.1) == (row, s)).map_or(now, |m| m.2),
            SlotBound::Open | SlotBound::Value(_) => now,
        };
        // A bound of a value that is not negative counts as 0 below 0, before as after.
        let (old_lo, old_hi) = (was(def.lo, lo).max(def.least), was(def.hi, hi));
        let (old_lo, lo) = if lo.is_finite() { (old_lo, lo) } else { (0.0, 0.0) };
        let (old, new) = (old_hi - old_lo, hi - lo);
        let moved = old_lo != lo || old_hi != hi;
        (moved && old > 0.0 && old.is_finite() && new.is_finite()).then_some(Rescaling { old_lo, old, lo, new })
    }

    // Several rows ----------------------------------------------------------------------------------------------

    fn settle_graph(&mut self, via: Via, emit: Emit) {
        let dirty = std::mem::take(&mut self.sc.dirty);
        let starts = dirty.iter().map(|&(row, slot)| (self.row(row as usize).id, slot)).collect();
        let mut nodes = self.affected(starts);
        for &(row, slot) in &dirty {
            if let Some(n) = nodes.get_mut(&(self.row(row as usize).id, slot)) {
                n.dirty = true;
            }
        }
        self.sc.dirty = dirty;
        self.sc.dirty.clear();
        let mut ready: BTreeSet<(ControllerId, u16)> =
            nodes.iter().filter(|(_, n)| n.waiting == 0).map(|(k, _)| *k).collect();
        while let Some(key) = ready.pop_first() {
            let Some(node) = nodes.get(&key) else { continue };
            let (row, slot) = (node.row as usize, key.1 as usize);
            let layout = self.ix.layouts[self.row(row).layout as usize].clone();
            let changed = node.dirty && self.evaluate(row, slot, &layout, via, emit);
            for &d in &layout.slots[slot].dependents {
                arrive(&mut nodes, &mut ready, (key.0, d), changed);
            }
            let edges: Vec<LiveEdge> = self.edges(key.0, &layout, slot);
            for edge in edges {
                let Some((target, target_slot)) = self.edge_end(&edge) else {
                    continue;
                };
                let value = self.row(row).attrs[slot].current;
                let moved = changed && self.follow(target, target_slot, &edge, value, via);
                arrive(&mut nodes, &mut ready, (edge.target, target_slot as u16), moved);
            }
        }
        self.sc.moved.clear();
    }

    /// Returns every attribute reachable from `starts`, with the number of affected inputs of each.
    fn affected(&self, starts: Vec<(ControllerId, u16)>) -> BTreeMap<(ControllerId, u16), AffectedNode> {
        let mut nodes: BTreeMap<(ControllerId, u16), AffectedNode> = BTreeMap::new();
        let mut stack = Vec::new();
        for key in starts {
            if let (Some(row), false) = (self.st.controllers.slot(key.0), nodes.contains_key(&key)) {
                nodes.insert(key, AffectedNode { row: row as u32, waiting: 0, dirty: false });
                stack.push(key);
            }
        }
        while let Some(key) = stack.pop() {
            self.successors(key, &mut |next| {
                let node = nodes.entry(next).or_insert_with(|| {
                    stack.push(next);
                    AffectedNode { row: self.st.controllers.slot(next.0).unwrap_or(0) as u32, waiting: 0, dirty: false }
                });
                node.waiting += 1;
            });
        }
        nodes
    }

    /// Calls `each` with the attributes that directly depend on an attribute.
    pub(crate) fn successors(&self, key: (ControllerId, u16), each: &mut dyn FnMut((ControllerId, u16))) {
        let Some(row) = self.st.controllers.get(key.0) else {
            return;
        };
        let layout = &self.ix.layouts[row.layout as usize];
        let Some(def) = layout.slots.get(key.1 as usize) else {
            return;
        };
        for &d in &def.dependents {
            each((key.0, d));
        }
        if row.readers > 0 {
            for edge in self.edges(key.0, layout, key.1 as usize) {
                if let Some((_, slot)) = self.edge_end(&edge) {
                    each((edge.target, slot as u16));
                }
            }
        }
    }

    /// Checks that no dependency cycle is reachable from a row's attributes. The error is an attribute of the cycle.
    pub(crate) fn is_acyclic_from(&self, who: ControllerId) -> Result<(), (ControllerId, u16)> {
        let Some(row) = self.st.controllers.get(who) else {
            return Ok(());
        };
        let mut nodes = self.affected((0..row.attrs.len() as u16).map(|s| (who, s)).collect());
        let mut ready: Vec<(ControllerId, u16)> =
            nodes.iter().filter(|(_, n)| n.waiting == 0).map(|(k, _)| *k).collect();
        while let Some(key) = ready.pop() {
            self.successors(key, &mut |next| {
                if let Some(n) = nodes.get_mut(&next) {
                    n.waiting -= 1;
                    if n.waiting == 0 {
                        ready.push(next);
                    }
                }
            });
            nodes.remove(&key);
        }
        nodes.keys().next().map_or(Ok(()), |&k| Err(k))
    }

    fn edges(&self, who: ControllerId, layout: &Layout, slot: usize) -> Vec<LiveEdge> {
        let mine = |e: &&LiveEdge| self.replay.is_none_or(|r| r.includes(e.target));
        self.ix.edges_from(who, layout.slots[slot].attribute).filter(mine).copied().collect()
    }

    /// Returns the row and slot that a live modifier acts on.
    fn edge_end(&self, edge: &LiveEdge) -> Option<(usize, usize)> {
        let target = self.st.controllers.slot(edge.target)?;
        let m = self.row(target).mods.iter().find(|m| m.seq() == edge.seq && m.index() == edge.index)?;
        Some((target, m.slot as usize))
    }

    /// Updates a live modifier to a new value of its source. Returns whether the contribution of the modifier changed.
    pub(crate) fn follow(&mut self, target: usize, slot: usize, edge: &LiveEdge, value: f64, via: Via) -> bool {
        let row = self.row(target);
        let Some(at) = row.mods.iter().position(|m| m.seq() == edge.seq && m.index() == edge.index) else {
            return false;
        };
        let old = row.mods[at];
        let Some(e) = row.effect_at(edge.seq) else { return false };
        let (def, level, stacks) = (row.effects[e].def, row.effects[e].level(), row.effects[e].stacks());
        let spec_extra = row.effects[e].extra().cloned();
        let Some(def) = self.def(def) else { return false };
        let m = &def.modifiers[edge.index as usize];
        let unit = self.live_value(&m.magnitude, value, level, spec_extra.as_ref());
        let mut new = Mod { off: old.off & !NOT_FINITE, ..old };
        if unit.is_finite() {
            new.magnitude = super::stacked(old.op, unit, stacks) + 0.0;
        } else {
            new.off |= NOT_FINITE;
            let (who, attribute) = (self.row(target).id, self.layout(target).slots[slot].attribute);
            self.diagnose(who, def.id, DiagnosticKind::NonFinite { attribute });
        }
        if new == old {
            return false;
        }
        let row = self.row_mut(target);
        row.mods.remove(at);
        row.add_mod(new);
        if let Some(e) = row.effect_at(edge.seq)
            && let Some(u) = row.effects[e].units_mut().get_mut(edge.index as usize)
            && unit.is_finite()
        {
            *u = unit;
        }
        self.journal_follow(edge, value, via);
        true
    }
}

fn arrive(
    nodes: &mut BTreeMap<(ControllerId, u16), AffectedNode>,
    ready: &mut BTreeSet<(ControllerId, u16)>,
    key: (ControllerId, u16),
    dirty: bool,
) {
    if let Some(n) = nodes.get_mut(&key) {
        n.dirty |= dirty;
        n.waiting -= 1;
        if n.waiting == 0 {
            ready.insert(key);
        }
    }
}
