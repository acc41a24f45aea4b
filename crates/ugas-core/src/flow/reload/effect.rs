//! Migration of active effects. Times and captured values are kept. A duration or period that the new definition adds
//! starts at the time of the reload. A duration or period that the new definition lacks is dropped.

use super::super::Flow;
use super::retire::kept_drops;
use super::{Catalogue, PreviousRules};
use crate::rules::{CaptureTime, EffectDef, INITIAL_TAGS};
use crate::state::{Effect, Periodic};
use crate::{ControllerId, SimTime};
use ugas_doc::{DurationPolicy, PeriodInhibition};

/// An active effect whose magnitudes must be evaluated again.
pub(super) struct ChangedEffect {
    pub(super) who: ControllerId,
    pub(super) seq: u64,
    /// Magnitudes to keep if their source left the sim, or NaN where there is none.
    pub(super) frozen: Vec<f64>,
    /// Whether the new definition gives the effect an end and the old one did not.
    pub(super) gains_end: bool,
}

impl Flow<'_> {
    /// Migrates a row's effects. If the modifiers of an effect changed, they are removed, and the effect is added to
    /// `changed`.
    pub(super) fn migrate_effects(&mut self, slot: usize, past: &PreviousRules<'_>, changed: &mut Vec<ChangedEffect>) {
        let who = self.row(slot).id;
        let now = self.row(slot).clock.local(self.st.now);
        let (mut watching, mut immunities) = (0, 0);
        for at in 0..self.row(slot).effects.len() {
            let e = &self.row(slot).effects[at];
            let (seq, stacks) = (e.seq(), e.stacks());
            // An effect without a definition in the new rules was removed under the old rules.
            let Some((new, old)) = self.def(e.def).zip(past.catalogue.effect(e.def)) else { continue };
            watching += new.watches as u16;
            immunities += new.refuses_others() as u16;
            if e.def == INITIAL_TAGS {
                continue;
            }
            let captures = self.moved_captures(slot, at, &new, &old, past.catalogue);
            let most = new.stacking.as_ref().map_or(u32::MAX, |s| s.limit);
            let same = self.rules.same_modifiers(past.catalogue.rules, &new, &old) && stacks <= most;
            if !same {
                let frozen = self.frozen_units(slot, seq, &new, &old, past.catalogue);
                let gains_end = new.policy == DurationPolicy::HasDuration && old.policy != new.policy;
                changed.push(ChangedEffect { who, seq, frozen, gains_end });
            }
            let row = self.row_mut(slot);
            let e = &mut row.effects[at];
            let dropped = kept_drops(e, &old, &new);
            if e.dropped() != dropped {
                e.rest_mut().dropped = dropped;
            }
            if e.captures().iter().map(|v| v.to_bits()).ne(captures.iter().map(|v| v.to_bits())) {
                e.rest_mut().captures = captures.into();
            }
            e.set_stacks(stacks.min(most));
            e.set_watches(new.watches);
            keep_times(e, &new, &old, now);
            if !same {
                if !e.units().is_empty() {
                    e.rest_mut().units = Box::default();
                }
                row.mods.retain(|m| m.seq() != seq);
            }
        }
        let row = self.row_mut(slot);
        (row.watching, row.immunities) = (watching, immunities);
        row.rebuild();
    }

    /// Returns the reads captured at application. A read that the new definition adds is captured now. NaN means that
    /// the value is read at execution.
    fn moved_captures(
        &self,
        slot: usize,
        at: usize,
        new: &EffectDef,
        old: &EffectDef,
        before: Catalogue<'_>,
    ) -> Vec<f64> {
        let row = self.row(slot);
        let e = &row.effects[at];
        let reads = |rules: &crate::Rules, calc: crate::CalcId| {
            rules.calcs.get(calc.0).map_or(Box::default(), |c| c.reads.clone())
        };
        let mut had = Vec::new();
        for x in &old.executions {
            had.extend(reads(before.rules, x.calculator).iter().map(|r| (x.calculator, *r)));
        }
        let mut list = Vec::new();
        for x in &new.executions {
            for r in &*reads(self.rules, x.calculator) {
                let known = had.iter().position(|h| *h == (x.calculator, *r)).and_then(|i| e.captures().get(i));
                let of = if r.of_target { row.id } else { e.source };
                list.push(match (r.when, known) {
                    (_, Some(&value)) => value,
                    (CaptureTime::OnApplication, None) => self.current_of(of, r.attribute).unwrap_or(f64::NAN),
                    (CaptureTime::OnExecution, None) => f64::NAN,
                });
            }
        }
        // An effect that captures nothing has an empty list.
        if e.captures().is_empty() && list.iter().all(|v| v.is_nan()) { Vec::new() } else { list }
    }

    /// Returns the unchanged magnitudes per stack, for sources that left the sim.
    fn frozen_units(&self, slot: usize, seq: u64, new: &EffectDef, old: &EffectDef, before: Catalogue<'_>) -> Vec<f64> {
        let units = self.units_of(slot, seq, old.modifiers.len());
        let same = |i: usize| {
            let (mine, theirs) = (&new.modifiers[i], old.modifiers.get(i));
            theirs.is_some_and(|t| mine.magnitude.is_same(self.rules, &t.magnitude, before.rules))
        };
        let unit = |i: usize| units.get(i).copied().filter(|_| same(i)).unwrap_or(f64::NAN);
        (0..new.modifiers.len()).map(unit).collect()
    }
}

fn keep_times(e: &mut Effect, new: &EffectDef, old: &EffectDef, now: SimTime) {
    if new.policy == DurationPolicy::Infinite {
        e.end = SimTime::NEVER;
    }
    match (e.periodic().is_some(), new.period) {
        (false, Some(period)) => e.cold_mut().periodic = Some(Periodic::new(period, now)),
        (true, None) => e.cold_mut().periodic = None,
        _ => {}
    }
    let catches_up = new.period.is_some() && new.period_inhibition == PeriodInhibition::CatchUp;
    if e.missed() > 0 && !catches_up {
        e.cold_mut().missed = e.missed().min(new.executes_at_once() as u32);
    }
    let length = match (&new.stacking, &old.stacking) {
        (Some(_), _) if e.end == SimTime::NEVER => SimTime::NEVER,
        (Some(_), None) => e.end - e.start,
        (Some(_), Some(_)) => e.length(),
        (None, _) => SimTime::ZERO,
    };
    if length != e.length() {
        e.cold_mut().length = length;
    }
}
