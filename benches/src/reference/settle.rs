//! Writes base values and recomputes current values, and emits one fact for each attribute that changed.

use super::fact::{Cause, Fact, Kind};
use super::value::{Modifier, Operation};
use super::{EffectKey, Reference, Rules};
use crate::plan::ATTRIBUTES;

/// `f64::max` must think of NaN, which never gets this far; this is one instruction.
#[inline]
fn at_least(value: f64, low: f64) -> f64 {
    if value < low { low } else { value }
}

/// Returns the counterpart of [`at_least`].
#[inline]
fn at_most(value: f64, high: f64) -> f64 {
    if value > high { high } else { value }
}

impl Reference {
    /// One modifier as an instant or periodic execution: it changes base.
    #[inline(always)]
    pub(super) fn write_base(&mut self, who: u32, modifier: &Modifier, cause: &Cause) {
        let attribute = modifier.attribute();
        let row = &mut self.rows[who as usize];
        let old_base = row.values[attribute].base;
        let (low, high) = match self.rules.cap[attribute] {
            Rules::NO_CAP => (f64::NEG_INFINITY, f64::INFINITY),
            cap => (0.0, at_least(row.values[usize::from(cap) & (ATTRIBUTES - 1)].current, 0.0)),
        };
        let modified = row.modified >> attribute & 1 != 0;
        let window = if modified { self.modifiers[who as usize].window(attribute, low, high) } else { (low, high) };
        let hull = (at_most(low, window.0), at_least(high, window.1));
        let start = at_most(at_least(old_base, hull.0), hull.1);
        let wanted = match modifier.operation() {
            Operation::Multiply => start * (1.0 + modifier.magnitude),
            Operation::Add | Operation::AddPost => start + modifier.magnitude,
        };
        // A write upwards never lowers base, one downwards never raises it.
        let new_base = if wanted < start {
            at_most(old_base, at_least(at_most(wanted, hull.1), window.0))
        } else if wanted > start {
            at_least(old_base, at_most(at_least(wanted, hull.0), window.1))
        } else {
            old_base
        };
        if new_base == old_base {
            return;
        }
        row.values[attribute].base = new_base;
        if modified || self.rules.capped[attribute] != 0 {
            return self.settle_from(who, 1 << attribute, cause, (attribute, old_base));
        }
        let new = at_most(at_least(new_base, low), high);
        let old = std::mem::replace(&mut row.values[attribute].current, new);
        let fact = cause.fact(self.now, who, Kind::Changed, attribute as u32);
        self.facts.push(Fact { old, new, old_base, new_base, ..fact });
    }

    /// Brings a set of attributes, and what they cap, up to date.
    #[inline]
    pub(super) fn settle(&mut self, who: u32, attributes: u16, cause: &Cause) {
        self.settle_from(who, attributes, cause, (ATTRIBUTES, 0.0));
    }

    /// The same after the base of one attribute was written: its old base belongs into the fact.
    #[inline(never)]
    fn settle_from(&mut self, who: u32, mut dirty: u16, cause: &Cause, written: (usize, f64)) {
        let row = &mut self.rows[who as usize];
        let modifiers = &self.modifiers[who as usize];
        let modified = row.modified;
        // A cap has a lower index than what it caps, so one pass upwards meets them in order.
        while dirty != 0 {
            let attribute = dirty.trailing_zeros() as usize & (ATTRIBUTES - 1);
            dirty &= dirty - 1;
            let base = row.values[attribute].base;
            let mut new = base;
            if modified >> attribute & 1 != 0 {
                new = modifiers.sums(attribute).of(base);
            }
            let cap = self.rules.cap[attribute];
            if cap != Rules::NO_CAP {
                let high = at_least(row.values[usize::from(cap) & (ATTRIBUTES - 1)].current, 0.0);
                new = at_most(at_least(new, 0.0), high);
            }
            let old = std::mem::replace(&mut row.values[attribute].current, new);
            let old_base = if written.0 == attribute { written.1 } else { base };
            if new != old || old_base != base {
                let fact = cause.fact(self.now, who, Kind::Changed, attribute as u32);
                self.facts.push(Fact { old, new, old_base, new_base: base, ..fact });
                dirty |= self.rules.capped[attribute];
            }
        }
    }

    /// Returns what the facts of an application say about their cause.
    #[inline]
    pub(super) fn cause(effect: u16, source: u32, root: u64, ordinal: u32) -> Cause {
        Cause { source, key: EffectKey { origin_id: root, ordinal }, definition: u32::from(effect), root, link: 0 }
    }
}
