//! Applies effects. An application is checked and evaluated before its first change. If a calculation refuses the
//! application later, the previous state is restored. A refused application therefore changes nothing.
//!
//! The order of one application: filters, immunity, before-hooks, captures, removal by tag, modifiers, settle,
//! executions, tags, attribute facts, tag facts, grants, `EffectApplied` fact, cues, conditional effects, after-hooks,
//! reactions.
//!
//! A removal by tag can cancel an ability, whose cancel list can apply effects. For a lasting effect, it is therefore
//! decided again after the removal whether the application is queued, merged or stacked, and whether the row has room
//! ([`Flow::decide_again`]).

use super::magnitude::About;
use super::remove::Trigger;
use super::settle::Emit;
use super::{Flow, Via, stacked};
use crate::rules::{AfterCx, EffectDef, ModDef};
use crate::state::{CauseWhat, Effect, EffectRef, FILTERED, Mod, ModOp, OFF, Periodic, alert};
use crate::{CalcId, Cause, ControllerId, DiagnosticKind, EffectKey, FactKind, NameKind, Refusal, Role, SimTime, Spec};
use ugas_doc::{DurationPolicy, OnOngoingFail};

/// The key and times of an application that passed its checks.
pub(crate) struct Plan {
    pub(crate) key: EffectKey,
    pub(crate) duration: SimTime,
    pub(crate) period: Option<SimTime>,
}

impl Flow<'_> {
    /// Applies a spec. `origin_id` identifies the cause of the application.
    #[inline]
    pub(crate) fn apply(&mut self, spec: &Spec, origin_id: u64) -> Result<EffectKey, Refusal> {
        if let Some(application) = self.fast_application(spec)
            && let Some(key) = self.apply_fast(&application, spec.target, origin_id)
        {
            return Ok(key);
        }
        self.apply_slow(spec, origin_id)
    }

    /// Applies a spec as an op of its own.
    pub(crate) fn apply_op(&mut self, id: crate::OpId, spec: &Spec) -> Result<EffectKey, Refusal> {
        if !self.journals.is_empty() {
            self.journal_op(id, &crate::Op::Apply(spec.clone()));
        }
        let result = self.apply_slow(spec, id.0);
        self.react();
        result
    }

    pub(crate) fn apply_slow(&mut self, spec: &Spec, origin_id: u64) -> Result<EffectKey, Refusal> {
        let result = self.try_apply(spec, origin_id);
        if let Err(refusal) = result {
            self.trace_refusal(spec.target, spec.effect, refusal);
        }
        result
    }

    #[inline]
    fn try_apply(&mut self, spec: &Spec, origin_id: u64) -> Result<EffectKey, Refusal> {
        let target = self.slot(spec.target)?;
        let Some(def) = self.def(spec.effect) else {
            return Err(Refusal::UnknownName { kind: NameKind::Effect, id: spec.effect.0 });
        };
        if self.work.role == Role::Client && self.view().is_for_authority(&def) {
            return Err(Refusal::AuthoritativeOnly);
        }
        let ordinal = self.number(target, origin_id);
        let key = EffectKey { origin_id, target: spec.target, ordinal };
        self.check_spec(spec)?;
        self.check_attributes(&def, target)?;
        self.journal_source(spec.target, spec.source);
        if self.fast && is_plain(&def, spec) && self.row(target).immunities == 0 {
            self.check_target_tags(&def, target)?;
            return self.apply_simple(&def, spec, target, key);
        }
        if self.must_queue(&def, target) {
            return self.enqueue(spec, key, target);
        }
        self.admit(&def, spec, target, key)?;
        self.begin(&def, spec, target, key)
    }

    /// Makes an application the cause of the following changes, and returns the previous cause. An application of
    /// constant magnitudes gets no link of its own in the chain of causes, because its facts already contain the effect
    /// and its key. Exception: an ability on the target listens to effects. Fast path and slow path give the same
    /// chain.
    pub(crate) fn because_applied(&mut self, def: &EffectDef, spec: &Spec, target: usize) -> Cause {
        if is_plain(def, spec) {
            return self.because_plain_applied(def, spec, target);
        }
        self.because(CauseWhat::Applied(def.id), spec.target, spec.source)
    }

    /// Does what [`Flow::because_applied`] does, for an application that is known to contain only constant magnitudes
    /// and tags.
    #[inline(always)]
    pub(crate) fn because_plain_applied(&mut self, def: &EffectDef, spec: &Spec, target: usize) -> Cause {
        if self.row(target).alert & alert::EFFECT == 0 {
            return self.cause;
        }
        self.because(CauseWhat::Applied(def.id), spec.target, spec.source)
    }

    /// Returns whether a predicting client may run a calculation.
    pub(crate) fn may_predict(&self, calculator: CalcId) -> bool {
        self.rules.calcs.get(calculator.0).is_none_or(|c| c.code.predictable())
    }

    /// Returns the ordinal of the next application of one cause on one target.
    #[inline]
    pub(crate) fn number(&mut self, target: usize, origin_id: u64) -> u32 {
        let root = self.cause.root.0 as u32;
        let row = self.st.controllers.row_mut(target);
        let (last, count, of_root) = row.last_origin_id;
        if last == origin_id && of_root == root {
            row.last_origin_id.1 += 1;
            return count + 1;
        }
        // Applications with different origin ids may alternate on a row, so the count of the previous id is stored.
        let who = row.id;
        if of_root == root && last != 0 {
            self.sc.origin_counts.insert((last, who), count);
        }
        let known = if self.sc.origin_counts.is_empty() { None } else { self.sc.origin_counts.get(&(origin_id, who)) };
        let mut next = known.map_or(0, |n| n + 1);
        // A client may send the same op id twice; the keys must still be unique.
        if origin_id >> 63 == 0 && origin_id >> 48 != 0 {
            let row = self.row(target);
            let active = row.effects.iter().filter(|e| e.origin_id == origin_id).map(|e| e.ordinal);
            let queued = row.queue().iter().filter(|q| q.origin_id == origin_id).map(|q| q.ordinal);
            next = next.max(active.chain(queued).max().map_or(0, |n| n + 1));
        }
        self.st.controllers.row_mut(target).last_origin_id = (origin_id, next, root);
        next
    }

    /// Starts an application that passed its checks: evaluates its magnitudes, then applies it.
    pub(crate) fn begin(
        &mut self,
        def: &EffectRef<'_>,
        spec: &Spec,
        target: usize,
        key: EffectKey,
    ) -> Result<EffectKey, Refusal> {
        if let Some(joined) = self.join_active(def, spec, target, key, true) {
            return joined;
        }
        if let Some(rule) = &def.stacking
            && spec.stacks > rule.limit
        {
            let full = Spec { stacks: rule.limit, ..spec.clone() };
            self.begin_new(def, &full, target, key)
        } else {
            self.begin_new(def, spec, target, key)
        }
    }

    fn begin_new(&mut self, def: &EffectDef, spec: &Spec, target: usize, key: EffectKey) -> Result<EffectKey, Refusal> {
        let plan = self.capture_magnitudes(def, spec, target, key, spec.stacks)?;
        if def.policy == DurationPolicy::Instant {
            self.apply_instant(def, spec, target, &plan).map(|()| key)
        } else {
            self.check_room(target, def)?;
            self.apply_lasting(def, spec, target, &plan)
        }
    }

    pub(crate) fn apply_instant(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        plan: &Plan,
    ) -> Result<(), Refusal> {
        let key = plan.key;
        let via = Via { source: spec.source, key, effect: spec.effect };
        let cause = self.because_applied(def, spec, target);
        let saved = self.checkpoint(def, target);
        self.remove_with_tags(def, target);
        let about =
            About { spec, target, origin_id: key.origin_id, ordinal: key.ordinal, stacks: spec.stacks, execution: 0 };
        let mut context = Vec::new();
        if let Err(r) = self.write_and_execute(def, about, via, &mut context) {
            self.roll_back(saved, target);
            self.cause = cause;
            return Err(r);
        }
        self.row_mut(target).next_seq += 1;
        self.emit_changes(via);
        self.pulse_tags(def, target, via);
        for tag in context {
            self.fact(spec.target, via, FactKind::ContextTag { tag });
        }
        self.emit_applied(target, via, spec.level, spec.stacks);
        self.burst_cues(def, spec.extra.as_deref(), target, via);
        self.then(def, spec, key, Trigger::Applied, 0);
        self.after_hooks(spec, target, key);
        self.finish_operation();
        self.cause = cause;
        Ok(())
    }

    pub(crate) fn apply_lasting(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        plan: &Plan,
    ) -> Result<EffectKey, Refusal> {
        let key = plan.key;
        let via = Via { source: spec.source, key, effect: spec.effect };
        let cause = self.because_applied(def, spec, target);
        let saved = self.checkpoint(def, target);
        if self.remove_with_tags(def, target) {
            let applied = std::mem::replace(&mut self.cause, cause);
            match self.decide_again(def, spec, target, key) {
                Ok(None) => self.cause = applied,
                Ok(Some(key)) => return Ok(key),
                Err(r) => {
                    self.roll_back(saved, target);
                    return Err(r);
                }
            }
        }
        let seq = self.row(target).next_seq;
        let unmet = !self.ongoing_holds(def, &[], target);
        let inhibited = unmet && def.on_ongoing_fail == OnOngoingFail::Inhibit;
        self.put_effect(def, spec, target, plan);
        if !def.remove_with_tags.is_empty() {
            self.follow_all(def, target, seq, spec.source);
        }
        if inhibited {
            self.switch_mods(target, seq, true);
        }
        self.settle(via, Emit::Later);
        let mut context = Vec::new();
        if def.period.is_none() && !def.executions.is_empty() && !inhibited {
            let about = About {
                spec,
                target,
                origin_id: key.origin_id,
                ordinal: key.ordinal,
                stacks: spec.stacks,
                execution: 0,
            };
            if let Err(r) = self.execute_results(def, about, via, &mut context) {
                self.undo_changes();
                if let Some(at) = self.row(target).effect_at(seq) {
                    self.take_effect(target, at, def);
                }
                self.settle(via, Emit::Nothing);
                self.roll_back(saved, target);
                self.cause = cause;
                return Err(r);
            }
        }
        let mut flips = std::mem::take(&mut self.sc.flips);
        flips.clear();
        if inhibited {
            if let Some(at) = self.row(target).effect_at(seq) {
                let e = &mut self.row_mut(target).effects[at];
                e.set_inhibited(true);
                // An effect that starts inhibited runs its executions once its requirements are met.
                if def.executes_at_once() {
                    e.cold_mut().missed = 1;
                }
            }
        } else {
            self.grant_tags(def, &[], target, &mut flips);
        }
        self.emit_changes(via);
        self.emit_flips(target, &flips, via);
        self.sc.flips = flips;
        self.grant_abilities(def, seq, target, via);
        for tag in context {
            self.fact(spec.target, via, FactKind::ContextTag { tag });
        }
        let stacks = self.row(target).effect_at(seq).map_or(spec.stacks, |e| self.row(target).effects[e].stacks());
        self.emit_applied(target, via, spec.level, stacks);
        if !def.rules.is_empty() {
            self.recharge(target);
        }
        if !inhibited {
            self.hold_cues(def, spec.extra.as_deref(), target, via);
        }
        self.then(def, spec, key, Trigger::Applied, 0);
        self.after_hooks(spec, target, key);
        if unmet && !inhibited {
            self.recheck_later(target, &[seq]);
        }
        self.finish_operation();
        if def.period.is_some() && def.execute_on_application && !inhibited {
            self.execute(target, seq);
        }
        if plan.duration == SimTime::ZERO && def.policy == DurationPolicy::HasDuration {
            self.diagnose(spec.target, def.id, DiagnosticKind::ZeroDuration);
            self.expire(target, seq);
        }
        self.publish(target);
        self.cause = cause;
        Ok(key)
    }

    /// Adds an effect and its modifiers to a row and marks the attributes they change. The magnitudes are in the
    /// scratch buffer.
    pub(crate) fn put_effect(&mut self, def: &EffectDef, spec: &Spec, target: usize, plan: &Plan) {
        let units = std::mem::take(&mut self.sc.units);
        let now = self.row(target).clock.local(self.st.now);
        let root = self.cause.root;
        let link = self.cause.link;
        let limit = def.stacking.as_ref().map_or(u32::MAX, |s| s.limit);
        let stacks = spec.stacks.min(limit);
        let captures = !self.sc.captures.is_empty() && !def.simple;
        let row = self.row_mut(target);
        let seq = row.next_seq;
        row.next_seq += 1;
        let end = if plan.duration == SimTime::NEVER { SimTime::NEVER } else { now + plan.duration };
        let mut effect = Effect::new(seq, plan.key, (now, end), spec, link);
        if stacks != 1 {
            effect.set_stacks(stacks);
        }
        if root.0 != effect.origin_id {
            effect.cold_mut().root = root;
        }
        if def.watches {
            effect.set_watches(true);
        }
        if let Some(period) = plan.period {
            effect.cold_mut().periodic = Some(Periodic::new(period, now));
        }
        if let Some(context) = context_of(spec) {
            effect.rest_mut().extra = Some(context);
        }
        if spec.ability != crate::AbilityId::NONE {
            effect.cold_mut().ability = spec.ability;
        }
        let writes_later = def.has_live && plan.period.is_some();
        if stacks != 1 || writes_later {
            effect.rest_mut().units = units.as_slice().into();
        }
        if def.stacking.is_some() {
            effect.cold_mut().length = plan.duration;
        }
        row.watching += def.watches as u16;
        row.immunities += def.refuses_others() as u16;
        if let Some(due) = effect.due() {
            row.schedule(due.with_hint(row.effects.len()));
        }
        row.push_effect(effect);
        if captures {
            let captured = self.sc.captures.as_slice().into();
            let row = self.row_mut(target);
            if let Some(e) = row.effects.last_mut() {
                e.rest_mut().captures = captured;
            }
        }
        if def.simple {
            self.put_plain_mods(def, target, seq, stacks, &units);
        } else if !def.modifiers.is_empty() {
            self.put_mods(def, target, seq, spec.source, stacks, &units);
        }
        if def.reads_source {
            self.link_source_reader(target, seq, spec.source);
        }
        self.sc.units = units;
    }

    /// Like [`Flow::put_mods`], for a new effect of constant magnitudes: no filters, no live magnitudes, no dropped
    /// modifiers.
    #[inline]
    fn put_plain_mods(&mut self, def: &EffectDef, target: usize, seq: u64, stacks: u32, units: &[f64]) {
        let row = self.st.controllers.row_mut(target);
        let layout = &self.ix.layouts[row.layout as usize];
        for (index, (m, &unit)) in def.modifiers.iter().zip(units).enumerate() {
            if let Some(slot) = layout.slot(m.attribute).filter(|_| def.acts_on_current(m)) {
                let op = ModOp::from(m.op);
                let magnitude = stacked(op, unit, stacks) + 0.0;
                row.add_mod(Mod::new(seq, index as u16, slot, op, m.channel, magnitude));
                self.sc.dirty.push((target as u32, slot as u16));
            }
        }
    }

    /// Adds the modifiers of an effect that change current values.
    pub(crate) fn put_mods(
        &mut self,
        def: &EffectDef,
        target: usize,
        seq: u64,
        source: ControllerId,
        stacks: u32,
        units: &[f64],
    ) {
        let row = self.row(target);
        let who = row.id;
        let dropped = match row.effects.last() {
            Some(e) if e.seq() == seq && e.cold.is_none() => Vec::new(),
            _ => row.effect_at(seq).map_or(Vec::new(), |e| row.effects[e].dropped().to_vec()),
        };
        for (index, m) in def.modifiers.iter().enumerate() {
            let Some(slot) = self.layout(target).slot(m.attribute) else {
                continue;
            };
            if !def.acts_on_current(m) || units[index].is_nan() || dropped.contains(&(index as u16)) {
                continue;
            }
            let op = ModOp::from(m.op);
            let holds = !m.is_filtered() || self.view().filter_holds_of(m, seq, source, target);
            let off = if holds { 0 } else { FILTERED };
            let magnitude = stacked(op, units[index], stacks) + 0.0;
            let new = Mod::new(seq, index as u16, slot, op, m.channel, magnitude);
            self.row_mut(target).add_mod(Mod { off, ..new });
            self.mark(target, slot);
            if def.has_live
                && let Some((attribute, of_target)) = m.magnitude.live_on()
            {
                let from = if of_target { who } else { source };
                self.row_mut(target).live += 1;
                self.link_live(target, seq, index as u16, from, attribute);
            }
        }
        if def.is_filtered() {
            self.link_filter(target, def, seq, source);
        }
    }

    /// Returns whether a modifier's tag filter is met.
    pub(crate) fn filter_holds(&self, m: &ModDef, source: ControllerId, target: usize) -> bool {
        self.view().filter_holds(m, source, target)
    }

    /// Turns an effect's modifiers off when the effect is inhibited, and on again afterwards.
    pub(crate) fn switch_mods(&mut self, target: usize, seq: u64, off: bool) {
        let row = self.row_mut(target);
        let mut touched = Vec::new();
        for m in row.mods.iter_mut().filter(|m| m.seq() == seq) {
            m.off = if off { m.off | OFF } else { m.off & !OFF };
            touched.push(m.slot);
        }
        for slot in touched {
            self.mark(target, slot as usize);
        }
    }

    pub(super) fn after_hooks(&mut self, spec: &Spec, target: usize, key: EffectKey) {
        if self.rules.hooks.after.is_empty() {
            return;
        }
        let mut wanted = Vec::new();
        for hook in &self.rules.hooks.after {
            let values = |w, a| self.current_of(w, a);
            let view = self.view();
            let see = view.hook_cx(spec, target, &values);
            hook(&mut AfterCx { see, then: &mut wanted });
        }
        for (position, effect) in wanted.into_iter().enumerate() {
            self.then_one(spec, key, effect, Trigger::Hook, 0, position);
        }
    }
}

/// Returns whether definition and spec contain only constant magnitudes and tags.
pub(crate) fn is_plain(def: &EffectDef, spec: &Spec) -> bool {
    def.simple && spec.extra.as_ref().is_none_or(|x| x.is_only_time())
}

/// Returns the part of a spec that the active effect keeps: its context, without overrides of duration and period.
pub(crate) fn context_of(spec: &Spec) -> Option<Box<crate::SpecExtra>> {
    let x = spec.extra.as_ref().filter(|x| !x.is_only_time())?;
    Some(Box::new(crate::SpecExtra { duration: None, period: None, ..(**x).clone() }))
}
