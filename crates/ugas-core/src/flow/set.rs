//! Adding and removing attribute sets at run time, while effects are active.

use super::foreign::ForeignCheck;
use super::settle::Emit;
use super::{Flow, Via};
use crate::rules::{Layout, clamp};
use crate::state::{Attr, Values};
use crate::{ControllerId, FactKind, Refusal, ResourceStep, Restriction, SetId};

impl Flow<'_> {
    /// Returns the shared layout of an ordered list of sets.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other refusal passes unchanged")]
    pub(crate) fn layout_for(&mut self, sets: &[SetId], who: ControllerId) -> Result<u32, Refusal> {
        if let Some(id) = self.ix.layout_of(sets) {
            return Ok(id);
        }
        let layout = Layout::build(self.rules, sets, self.limits.attributes_per_controller).map_err(|r| match r {
            Refusal::Cycle { attribute, .. } => Refusal::Cycle { who, attribute },
            other => other,
        })?;
        let max = self.limits.layouts;
        let place = if self.ix.layouts.len() < max as usize { None } else { self.unused_layout() };
        if place.is_none() && self.ix.layouts.len() >= max as usize {
            return Err(Refusal::Limit { what: crate::LimitKind::Layouts, max, link: self.cause.link });
        }
        Ok(self.ix.keep_layout(layout, place))
    }

    /// Returns the index of a layout that no row uses.
    fn unused_layout(&self) -> Option<u32> {
        let used: std::collections::BTreeSet<u32> = self.st.controllers.iter().map(|r| r.layout).collect();
        (0..self.ix.layouts.len() as u32).find(|l| !used.contains(l))
    }

    pub(crate) fn add_set(&mut self, who: ControllerId, set: SetId) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        if self.rules.is_stat_table(set) {
            return Err(Refusal::Restricted { by: Restriction::StatTable });
        }
        let mut sets = self.layout(target).sets.to_vec();
        sets.push(set);
        let layout = self.layout_for(&sets, who)?;
        let old = self.row(target).layout;
        let before: Vec<Attr> = self.row(target).attrs.to_vec();
        self.move_row(target, layout, &before);
        let followed = self.row(target).live > 0 || self.row(target).readers > 0;
        let check = |flow: &Self| {
            flow.is_acyclic_from(who).map_err(|(at, slot)| {
                let row = flow.st.controllers.slot(at).unwrap_or(target);
                Refusal::Cycle { who: at, attribute: flow.layout(row).slots[slot as usize].attribute }
            })
        };
        if (followed || self.replay.is_some())
            && let Err(refusal) = self.checked(who, ForeignCheck::SetCycle(set), check)
        {
            let now: Vec<Attr> = self.row(target).attrs.to_vec();
            self.move_row(target, old, &now);
            return Err(refusal);
        }
        self.fact(who, Via::NOTHING, FactKind::SetAdded { set });
        // A capability may wait for the set.
        self.wake_capabilities(target);
        self.relink_readers(who);
        for slot in 0..self.row(target).attrs.len() {
            self.mark(target, slot);
        }
        self.settle(Via::NOTHING, Emit::Later);
        // A new attribute emits no change fact.
        let (was, now) = (self.ix.layouts[old as usize].clone(), self.ix.layouts[layout as usize].clone());
        let mut changes = std::mem::take(&mut self.sc.before);
        changes.retain(|b| b.row != target as u32 || was.slot(now.slots[b.slot as usize].attribute).is_some());
        self.sc.before = changes;
        self.emit_changes(Via::NOTHING);
        self.report_resource(target, set);
        self.apply_resource_effects(who, set);
        Ok(())
    }

    pub(crate) fn remove_set(&mut self, who: ControllerId, set: SetId, force: bool) -> Result<(), Refusal> {
        let target = self.slot(who)?;
        let layout = self.ix.layouts[self.row(target).layout as usize].clone();
        if !layout.sets.contains(&set) {
            return Err(Refusal::SetMissing { set });
        }
        if self.rules.is_stat_table(set) {
            return Err(Refusal::Restricted { by: Restriction::StatTable });
        }
        if layout.sets.len() == 1 {
            return Err(Refusal::NoSets);
        }
        if let Some(by) = layout.needed_by(self.rules, set) {
            return Err(Refusal::SetNeeded { by });
        }
        let sets: Vec<SetId> = layout.sets.iter().copied().filter(|&s| s != set).collect();
        let kept = self.layout_for(&sets, who)?;
        let is_removed = |slot: u16| layout.slots[slot as usize].set == set;
        // The effects of a resource are removed with it, so they do not keep it.
        let resource = self.rules.resource_attribute(set);
        let own = if resource.is_some() { self.resource_effects(target, set) } else { Vec::new() };
        let users = self.users_of(target, &layout, set);
        let key_of = |&(at, _): &(usize, u16)| self.row(target).effects[at].key(who);
        if let (Some(by), false) = (users.iter().map(key_of).find(|key| !own.contains(key)), force) {
            return Err(Refusal::SetInUse { by });
        }
        if !own.is_empty() {
            self.remove_resource_effects(target, set);
        }
        let last = resource.and_then(|a| layout.slot(a)).map(|slot| self.row(target).attrs[slot].current);
        for (at, index) in self.users_of(target, &layout, set) {
            self.row_mut(target).effects[at].rest_mut().dropped.push(index);
        }
        self.drop_mods_of(target, &is_removed);
        self.freeze_attributes(target, &layout, set);
        let before: Vec<Attr> = self.row(target).attrs.to_vec();
        self.move_row(target, kept, &before);
        self.fact(who, Via::NOTHING, FactKind::SetRemoved { set });
        if let Some((attribute, old)) = resource.zip(last) {
            self.fact(who, Via::NOTHING, FactKind::Resource { attribute, step: ResourceStep::Removed, old, new: 0.0 });
        }
        // A condition of a capability may read an attribute of the set.
        self.wake_capabilities(target);
        for slot in 0..self.row(target).attrs.len() {
            self.mark(target, slot);
        }
        self.settle(Via::NOTHING, Emit::Facts);
        Ok(())
    }

    /// Returns the modifiers that act on a set, on the current value or at each period, as (index of the effect, index
    /// of the modifier).
    fn users_of(&self, target: usize, layout: &Layout, set: SetId) -> Vec<(usize, u16)> {
        let mut users = Vec::new();
        for (at, e) in self.row(target).effects.iter().enumerate() {
            let Some(def) = self.def(e.def) else { continue };
            for (index, m) in def.modifiers.iter().enumerate() {
                let hit = layout.slot(m.attribute).is_some_and(|s| layout.slots[s].set == set);
                if hit && !e.has_dropped(index as u16) {
                    users.push((at, index as u16));
                }
            }
        }
        users
    }

    /// Removes the modifiers of the attributes of a set, before the set is removed by force. The effects of these
    /// modifiers stay active.
    fn drop_mods_of(&mut self, target: usize, is_removed: &dyn Fn(u16) -> bool) {
        let who = self.row(target).id;
        let removed: Vec<_> = self.row(target).mods.iter().filter(|m| is_removed(m.slot)).copied().collect();
        for m in &removed {
            let row = self.row(target);
            let Some(at) = row.effect_at(m.seq()) else { continue };
            let (def, source) = (row.effects[at].def, row.effects[at].source);
            let live = self.def(def).and_then(|d| d.modifiers[m.index() as usize].magnitude.live_on());
            if let Some((attribute, of_target)) = live {
                let from = if of_target { who } else { source };
                self.unlink_edge(from, attribute, who, m.seq(), m.index());
                self.row_mut(target).live -= 1;
            }
        }
        let row = self.row_mut(target);
        row.mods.retain(|m| !is_removed(m.slot));
        row.rebuild_modded();
    }

    /// Freezes live modifiers that read an attribute of a removed set at their last value.
    fn freeze_attributes(&mut self, target: usize, layout: &Layout, set: SetId) {
        let who = self.row(target).id;
        for slot in layout.slots.iter().filter(|s| s.set == set) {
            let edges: Vec<_> = self.ix.edges_from(who, slot.attribute).copied().collect();
            for e in edges {
                self.ix.live.remove(&e);
                self.st.controllers.row_mut(target).readers -= 1;
            }
        }
    }

    /// Moves a row's values and modifiers to another layout. New attributes start at their initial values.
    fn move_row(&mut self, target: usize, layout: u32, values: &[Attr]) {
        let old = self.ix.layouts[self.row(target).layout as usize].clone();
        let new = self.ix.layouts[layout as usize].clone();
        let mut attrs: Vec<Attr> = new.initial.to_vec();
        for (slot, attr) in old.slots.iter().zip(values) {
            if let Some(at) = new.slot(slot.attribute) {
                attrs[at] = *attr;
            }
        }
        // A new attribute starts at its derived value or its default, clamped to its bounds. Attributes are processed
        // in dependency order.
        for (slot, def) in new.slots.iter().enumerate() {
            if old.slot(def.attribute).is_none() {
                let (lo, hi) = def.bounds(&attrs);
                let base = match &def.derived {
                    Some(expr) => new.derive(expr, &attrs).0,
                    None => clamp(self.default_of(def.set, def.attribute), lo, hi),
                };
                attrs[slot] = Attr { base, current: clamp(base, lo, hi) };
            }
        }
        let row = self.row_mut(target);
        row.layout = layout;
        row.attrs = Values::from(&*attrs);
        for m in &mut row.mods {
            let attribute = old.slots[m.slot as usize].attribute;
            m.slot = new.slot(attribute).map_or(m.slot, |s| s as u16);
        }
        row.mods.sort_by(crate::state::Mod::order);
        row.rebuild_modded();
    }

    fn default_of(&self, set: SetId, attribute: crate::AttributeId) -> f64 {
        let list = self.rules.set_attributes(set).unwrap_or(&[]);
        list.iter().find(|a| a.attribute == attribute).map_or(0.0, |a| a.default)
    }
}
