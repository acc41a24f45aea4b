//! Migration of a row to the layout of the new rules: moves values and modifiers to the new slot of their attribute,
//! and each tag to its new rank. If the default of an attribute changed, a base value that equals the old
//! initial value gets the new default.

use super::super::Flow;
use super::retire::left;
use super::{Layouts, OldValues, PreviousRules};
use crate::AttributeId;
use crate::migration::Migration;
use crate::rules::{AttributeDef, Layout, Rules, Slot, clamp};
use crate::state::{Attr, Tags, Values};

impl Flow<'_> {
    /// Migrates a row's values, modifiers and tags. Returns the old values.
    pub(super) fn move_row_over(
        &mut self,
        slot: usize,
        past: &PreviousRules<'_>,
        layouts: &Layouts,
        report: &mut Migration,
    ) -> OldValues {
        let row = self.row(slot);
        let who = row.id;
        let old = past.layouts[row.layout as usize].clone();
        // A layout exists, because every layout in use was rebuilt before the migration.
        let number = layouts.by_old.get(&old.sets).and_then(|l| self.ix.layout_of(&l.sets)).unwrap_or_default();
        let new = self.ix.layouts[number as usize].clone();
        let was = OldValues { who, layout: old.clone(), attrs: row.attrs.to_vec() };
        let attrs = self.moved_values(&old, &new, &was.attrs, past.catalogue.rules, report);
        let tags = row.tags.to_list(&past.catalogue.rules.tags);
        let table = &self.rules.tags;
        // Cannot fail: every tag of the old rules exists in the new ones. New tags are inserted without changing the
        // order of the old ones, because siblings are ordered by id.
        let tags = Tags::from_list(table, &tags).unwrap_or_default();
        let row = self.row_mut(slot);
        // Live modifiers that follow the row are linked again later.
        (row.layout, row.readers) = (number, 0);
        row.attrs = Values::from(&*attrs);
        row.signature = tags.signature(table);
        row.tags = tags;
        for m in &mut row.mods {
            let attribute = old.slots[m.slot as usize].attribute;
            m.slot = new.slot(attribute).map_or(m.slot, |s| s as u16);
        }
        row.mods.sort_by(crate::state::Mod::order);
        if let Some(play) = row.side.as_mut().and_then(|s| s.play.as_mut()) {
            play.sets.iter_mut().for_each(|s| s.attributes = left(&s.attributes, &new));
        }
        report.attributes_removed += old.slots.iter().filter(|s| new.slot(s.attribute).is_none()).count() as u32;
        was
    }

    /// Returns the migrated attributes. Base values are kept. Exception: if the default changed and a base value equals
    /// the old value at registration, it gets the new default. New attributes start at their default. All base values
    /// are clamped to the bounds without modifiers, as at registration.
    fn moved_values(
        &self,
        old: &Layout,
        new: &Layout,
        values: &[Attr],
        before: &Rules,
        report: &mut Migration,
    ) -> Vec<Attr> {
        let mut plain: Vec<Attr> = Vec::with_capacity(new.slots.len());
        let mut attrs = Vec::with_capacity(new.slots.len());
        for def in &new.slots {
            let (lo, hi) = def.bounds(&plain);
            let fresh = || document(self.rules, def).map_or(0.0, |d| clamp(d.default, lo, hi));
            let was = old.slot(def.attribute).map(|at| (&old.slots[at], values[at], old.initial[at]));
            let base = match (&def.derived, was) {
                (Some(expr), _) => new.derive(expr, &plain).0,
                (None, None) => fresh(),
                (None, Some((slot, _, _))) if slot.derived.is_some() => fresh(),
                (None, Some((slot, value, registered))) => {
                    let default = document(before, slot).map(|d| d.default);
                    let differs = default.map(f64::to_bits) != document(self.rules, def).map(|d| d.default.to_bits());
                    let is = |v: f64| v.to_bits() == value.base.to_bits();
                    if differs && (is(registered.base) || default.is_some_and(is)) {
                        report.bases += 1;
                        fresh()
                    } else {
                        value.base
                    }
                }
            };
            plain.push(Attr { base, current: clamp(base, lo, hi) });
            report.attributes_added += was.is_none() as u32;
            let current = was.map_or(clamp(base, lo, hi), |(_, value, _)| value.current);
            attrs.push(Attr { base, current });
        }
        attrs
    }
}

/// Returns the document's definition of a slot's attribute.
fn document<'r>(rules: &'r Rules, slot: &Slot) -> Option<&'r AttributeDef> {
    let named = |attribute: AttributeId| move |d: &&AttributeDef| d.attribute == attribute;
    rules.set_attributes(slot.set)?.iter().find(named(slot.attribute))
}
