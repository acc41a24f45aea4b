//! Settling: after a change all values are recomputed, base writes are clamped in dependency order, and each changed
//! attribute emits a fact.

use super::eval::{Node, Values, acts_on_current, clamp};
use super::notice::Notice;
use super::world::{Fact, Shown, Unit, World};
use std::collections::BTreeSet;
use ugas_doc::{Attribute, OnBoundChange, OnDepleted};

/// Whether an attribute at 0 or below means death.
pub(crate) fn means_death(doc: &Attribute) -> bool {
    doc.on_depleted.map_or(doc.name == "Health", |d| d == OnDepleted::Death)
}

/// A base write in the making: start, result, and whether an Override is among the operations.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) attribute: String,
    pub(crate) start: f64,
    pub(crate) result: f64,
    pub(crate) overrides: bool,
}

impl World {
    /// Recomputes all values in dependency order, with writes on `target`; then emits a fact for each changed attribute
    /// that depends on `touched`. `source` is the cause, or `NONE`.
    pub(crate) fn settle(&mut self, touched: &[Node], target: u32, writes: Vec<Write>, source: u32) {
        let before = std::mem::take(&mut self.shown);
        self.starts.clear();
        let mut values = Values::new();
        let order = self.sort(self.all_nodes()).expect("circles are refused");
        for node in order {
            let (lo, hi) = self.bounds(&node, &values);
            let mut base = match self.derived(&node, &values) {
                Some(v) => v,
                None => self.rows[&node.0].base[&node.1],
            };
            let proportional = self.attribute(&node).map(|d| d.on_bound_change) == Some(OnBoundChange::Proportional);
            let write = writes.iter().find(|w| node == (target, w.attribute.clone()));
            let mut write = write.cloned();
            if let (true, Some(old)) = (proportional, before.get(&node)) {
                // Without a lower bound the share counts from 0.
                let (old, lo) = if lo.is_finite() { (*old, lo) } else { (Shown { lo: 0.0, ..*old }, 0.0) };
                let (range, new_range) = (old.hi - old.lo, hi - lo);
                if (old.lo, old.hi) != (lo, hi) && range > 0.0 && range.is_finite() && new_range.is_finite() {
                    let rescaled = |v: f64| lo + (v - old.lo) / range * new_range;
                    base = rescaled(base);
                    // The effect changes the value left by the bound by as much as it would have changed the original.
                    if let Some(w) = &mut write {
                        let by = w.result - w.start;
                        w.start = rescaled(w.start);
                        if !w.overrides {
                            w.result = w.start + by;
                        }
                    }
                }
            }
            if let Some(w) = write {
                self.starts.insert(w.attribute.clone(), w.start);
                let (window, hull) = self.window(&node, &values);
                if w.overrides {
                    base = clamp(w.result, window.0, window.1);
                } else if w.result < w.start {
                    base = base.min(w.result.min(hull.1).max(window.0));
                } else if w.result > w.start {
                    base = base.max(w.result.max(hull.0).min(window.1));
                }
                base += 0.0;
            }
            let current = self.current(&node, base, &values);
            self.rows.get_mut(&node.0).expect("it exists").base.insert(node.1.clone(), base);
            values.insert(node.clone(), current);
            self.shown.insert(node, Shown { base, current, lo, hi });
        }
        self.remember_readings(&values);

        let mut affected: BTreeSet<Node> = touched.iter().filter(|n| self.attribute(n).is_some()).cloned().collect();
        loop {
            let more: Vec<Node> = self
                .all_nodes()
                .into_iter()
                .filter(|n| !affected.contains(n) && self.all_reads(n).iter().any(|r| affected.contains(r)))
                .collect();
            if more.is_empty() {
                break;
            }
            affected.extend(more);
        }
        for node in self.sort(affected.clone()).expect("circles are refused") {
            let (Some(old), new) = (before.get(&node), self.shown[&node]) else {
                continue;
            };
            if (old.base, old.current) == (new.base, new.current) {
                continue;
            }
            match &mut self.later {
                Some(list) if list.iter().any(|l| l.0 == node) => {}
                Some(list) => list.push((node, *old)),
                None => self.attribute_facts(&node, *old, new, source),
            }
        }
        for (node, old) in &before {
            let same = self.shown.get(node).is_none_or(|new| new.current == old.current && new.base == old.base);
            assert!(same || affected.contains(node), "the model changed {node:?} behind its own back");
        }
    }

    /// The facts of an application that settled several times: one for each attribute that ended different.
    pub(crate) fn flush(&mut self, source: u32) {
        for (node, old) in self.later.take().unwrap_or_default() {
            let new = self.shown[&node];
            if (old.base, old.current) != (new.base, new.current) {
                self.attribute_facts(&node, old, new, source);
            }
        }
    }

    fn attribute_facts(&mut self, node: &Node, old: Shown, new: Shown, source: u32) {
        let numbers = vec![old.current, new.current, old.base, new.base];
        self.emit_with(node.0, format!("AttributeChanged {}", node.1), numbers);
        self.resource_changed(node.0, &node.1, old.current, new.current);
        let death = self.attribute(node).is_some_and(means_death);
        if death && old.current > 0.0 && new.current <= 0.0 {
            self.emit(node.0, format!("Died {}", node.1));
            self.notify(node.0, Notice::Died { source });
        }
        self.notify(node.0, Notice::Attribute { name: node.1.clone(), old: old.current, new: new.current });
    }

    /// Stores the current reading of each live modifier, in case its source is destroyed. A periodic effect reads at
    /// its executions only.
    fn remember_readings(&mut self, values: &Values) {
        let mut seen = Vec::new();
        for (who, row) in &self.rows {
            for (n, e) in row.effects.iter().enumerate() {
                let def = &self.effects[&e.def];
                for (i, m) in e.mods.iter().enumerate().filter(|(i, _)| acts_on_current(def, &def.modifiers[*i])) {
                    if let (Unit::Reading { .. }, Some(v)) = (m.unit, self.unit(*who, e, i, values)) {
                        seen.push((*who, n, i, v));
                    }
                }
            }
        }
        for (who, n, i, v) in seen {
            let row = self.rows.get_mut(&who).expect("it exists");
            row.effects[n].mods[i].unit = Unit::Reading { last: v };
        }
    }

    pub(crate) fn emit(&mut self, who: u32, text: String) {
        self.emit_with(who, text, Vec::new());
    }

    pub(crate) fn emit_with(&mut self, who: u32, text: String, numbers: Vec<f64>) {
        self.facts.push(Fact { at: self.now, who, text, numbers });
    }
}
