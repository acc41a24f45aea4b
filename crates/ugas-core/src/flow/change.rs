//! Changes the level, remaining time, period, stacks or a set-by-caller value of active effects. Each change of an
//! effect emits one `EffectChanged` fact.

use super::magnitude::About;
use super::settle::Emit;
use super::{Flow, Via, stacked};
use crate::limits::MIN_PERIOD;
use crate::state::{Mod, ModOp};
use crate::{BadValue, EffectChange, EffectFilter, EffectKey, EffectUpdate, FactKind, Refusal, SimTime, Spec};

impl Flow<'_> {
    pub(crate) fn change(&mut self, key: EffectKey, change: EffectUpdate) -> Result<(), Refusal> {
        let target = self.slot(key.target)?;
        let at = self.row(target).find(key).ok_or(Refusal::StaleHandle)?;
        let seq = self.row(target).effects[at].seq();
        self.check_change(target, seq, change)?;
        self.change_one(target, seq, change)
    }

    /// Changes every effect that matches, or none if one of them cannot be changed.
    pub(crate) fn change_matching(
        &mut self,
        target: usize,
        filter: &EffectFilter,
        change: EffectUpdate,
    ) -> Result<u32, Refusal> {
        let matched = self.matching(target, filter);
        for &seq in &matched {
            self.check_change(target, seq, change)?;
        }
        let saved = self.save_row(target);
        for &seq in &matched {
            if let Err(refusal) = self.change_one(target, seq, change) {
                self.roll_back(Some(saved), target);
                return Err(refusal);
            }
        }
        Ok(matched.len() as u32)
    }

    fn check_change(&self, target: usize, seq: u64, change: EffectUpdate) -> Result<(), Refusal> {
        let row = self.row(target);
        let Some(at) = row.effect_at(seq) else {
            return Err(Refusal::StaleHandle);
        };
        let e = &row.effects[at];
        let limit = self.def(e.def).and_then(|d| d.stacking.as_ref().map(|s| s.limit)).unwrap_or(u32::MAX);
        let bad = |what| Err(Refusal::BadValue { what });
        let timed = e.end != SimTime::NEVER;
        match change {
            EffectUpdate::Level(0) => bad(BadValue::Level),
            EffectUpdate::Stacks(n) if n == 0 || n > self.limits.stacks.min(limit) => bad(BadValue::Stacks),
            EffectUpdate::Remaining(t) if !timed || t < SimTime::ZERO || t > SimTime::LONGEST => {
                bad(BadValue::Duration)
            }
            EffectUpdate::Extend(t) if !timed || t.0.unsigned_abs() > SimTime::LONGEST.0 as u64 => {
                bad(BadValue::Duration)
            }
            EffectUpdate::Extend(t) if e.end + t > SimTime::LONGEST => bad(BadValue::Duration),
            EffectUpdate::Period(p) if e.periodic().is_none() || p < MIN_PERIOD || p > SimTime::LONGEST => {
                bad(BadValue::Period)
            }
            EffectUpdate::SetByCaller(_, v) if !v.is_finite() => bad(BadValue::Number),
            EffectUpdate::Level(_)
            | EffectUpdate::Stacks(_)
            | EffectUpdate::Remaining(_)
            | EffectUpdate::Extend(_)
            | EffectUpdate::Period(_)
            | EffectUpdate::SetByCaller(..) => Ok(()),
        }
    }

    fn change_one(&mut self, target: usize, seq: u64, change: EffectUpdate) -> Result<(), Refusal> {
        let now = self.row(target).clock.local(self.st.now);
        match change {
            EffectUpdate::Level(level) => {
                let mut spec = self.spec_of(target, seq);
                spec.level = level;
                self.reevaluate(target, seq, &spec, true)?;
                self.changed_fact(target, seq, EffectChange::Level);
            }
            EffectUpdate::SetByCaller(key, value) => {
                let mut spec = self.spec_of(target, seq);
                spec.put(key, value);
                self.reevaluate(target, seq, &spec, true)?;
                self.changed_fact(target, seq, EffectChange::SetByCaller);
            }
            EffectUpdate::Remaining(t) => {
                self.reschedule(target, seq, |e| e.end = now + t);
                self.changed_fact(target, seq, EffectChange::Duration);
                self.expire_if_over(target, seq);
            }
            EffectUpdate::Extend(t) => {
                self.reschedule(target, seq, |e| e.end = (e.end + t).max(now));
                self.changed_fact(target, seq, EffectChange::Duration);
                self.expire_if_over(target, seq);
            }
            EffectUpdate::Period(period) => {
                self.reschedule(target, seq, |e| {
                    if let Some(p) = e.periodic_mut() {
                        p.restart(period, now);
                    }
                });
                self.changed_fact(target, seq, EffectChange::Period);
            }
            EffectUpdate::Stacks(stacks) => self.set_stacks(target, seq, stacks, EffectChange::Stacks),
        }
        Ok(())
    }

    pub(crate) fn spec_of(&self, target: usize, seq: u64) -> Spec {
        let row = self.row(target);
        match row.effect_at(seq) {
            Some(at) => row.effects[at].spec(row.id),
            None => Spec::new(crate::EffectId::NONE, row.id),
        }
    }

    /// Sets an active effect's level, source, set-by-caller values and stacks, and evaluates its magnitudes again. With
    /// `keep_frozen`, the stored values of a source that left the sim are kept.
    pub(crate) fn reevaluate(
        &mut self,
        target: usize,
        seq: u64,
        spec: &Spec,
        keep_frozen: bool,
    ) -> Result<(), Refusal> {
        let Some(def) = self.def(spec.effect) else {
            return Err(Refusal::StaleHandle);
        };
        let Some(at) = self.row(target).effect_at(seq) else {
            return Err(Refusal::StaleHandle);
        };
        let e = &self.row(target).effects[at];
        let (old_source, inhibited) = (e.source, e.inhibited());
        let key = e.key(spec.target);
        let about =
            About { spec, target, origin_id: key.origin_id, ordinal: key.ordinal, stacks: spec.stacks, execution: 0 };
        let frozen = if keep_frozen { self.units_of(target, seq, def.modifiers.len()) } else { Vec::new() };
        let dropped = self.row(target).effects[at].dropped().to_vec();
        self.capture_units(&def, about, &frozen, &dropped)?;
        let mut captured = Vec::new();
        if !keep_frozen {
            self.capture_reads(&def, about, &mut captured)?;
        }
        self.unlink_live(target, &def, seq, old_source);
        if let Err(r) = self.check_cycles(&def, target, spec.source) {
            let _ = self.link_row(target);
            return Err(r);
        }
        let units = std::mem::take(&mut self.sc.units);
        self.unlink_filter(target, seq, old_source);
        self.unlink_source_reader(target, seq, old_source);
        self.take_mods(target, seq, &def);
        let e = &mut self.row_mut(target).effects[at];
        if old_source != spec.source {
            e.source = spec.source;
            e.thaw();
        }
        e.set_level(spec.level);
        e.set_stacks(spec.stacks);
        let context = super::apply::context_of(spec);
        if context.is_some() || e.extra().is_some() {
            e.rest_mut().extra = context;
        }
        // A new application replaces the captured values and the ability. A change keeps both.
        if !captured.is_empty() {
            e.rest_mut().captures = captured.into();
        }
        if !keep_frozen && spec.ability != crate::AbilityId::NONE {
            e.cold_mut().ability = spec.ability;
        }
        if spec.stacks != 1 || !e.units().is_empty() {
            e.rest_mut().units = units.as_slice().into();
        }
        self.put_mods(&def, target, seq, spec.source, spec.stacks, &units);
        if def.reads_source {
            self.link_source_reader(target, seq, spec.source);
        }
        if inhibited {
            self.switch_mods(target, seq, true);
        }
        self.sc.units = units;
        self.settle(Via { source: spec.source, key, effect: spec.effect }, Emit::Facts);
        Ok(())
    }

    /// Returns the magnitude per stack of each modifier of the current value, or NaN for a modifier that has none.
    pub(super) fn units_of(&self, target: usize, seq: u64, modifiers: usize) -> Vec<f64> {
        let row = self.row(target);
        let Some(at) = row.effect_at(seq) else {
            return Vec::new();
        };
        let kept = row.effects[at].units();
        let mut units = vec![f64::NAN; modifiers];
        units[..kept.len()].copy_from_slice(kept);
        if kept.is_empty() {
            row.mods.iter().filter(|m| m.seq() == seq).for_each(|m| units[m.index() as usize] = m.magnitude);
        }
        units
    }

    /// Sets the number of stacks. Magnitudes are multiplied by the new number, and timers do not change.
    pub(crate) fn set_stacks(&mut self, target: usize, seq: u64, stacks: u32, what: EffectChange) {
        let Some(at) = self.row(target).effect_at(seq) else {
            return;
        };
        let modifiers = self.def(self.row(target).effects[at].def).map_or(0, |d| d.modifiers.len());
        let before = self.units_of(target, seq, modifiers);
        let row = self.row_mut(target);
        let e = &mut row.effects[at];
        let (key, source, effect) = (e.key(row.id), e.source, e.def);
        let alone = e.stacks() == 1;
        e.set_stacks(stacks);
        if alone {
            row.effects[at].rest_mut().units = before.into();
        }
        let units = row.effects[at].units().to_vec();
        let mine: Vec<Mod> = row.mods.iter().filter(|m| m.seq() == seq).copied().collect();
        row.mods.retain(|m| m.seq() != seq);
        let mut touched = Vec::with_capacity(mine.len());
        for m in mine {
            let unit = units.get(m.index() as usize).copied().unwrap_or(m.magnitude);
            let magnitude = if m.op == ModOp::Override { m.magnitude } else { stacked(m.op, unit, stacks) + 0.0 };
            row.add_mod(Mod { magnitude, ..m });
            touched.push(m.slot as usize);
        }
        for slot in touched {
            self.mark(target, slot);
        }
        self.settle(Via { source, key, effect }, Emit::Facts);
        self.changed_fact(target, seq, what);
    }

    pub(crate) fn changed_fact(&mut self, target: usize, seq: u64, what: EffectChange) {
        let row = self.row(target);
        let Some(at) = row.effect_at(seq) else { return };
        let (e, who) = (&row.effects[at], row.id);
        let via = Via { source: e.source, key: e.key(who), effect: e.def };
        let kind = FactKind::EffectChanged { what, stacks: e.stacks(), level: e.level() };
        self.fact(who, via, kind);
        if self.def(via.effect).is_some_and(|d| !d.rules.is_empty()) {
            self.recharge(target);
        }
    }
}
