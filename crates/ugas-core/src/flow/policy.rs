//! Policies for several applications of one effect to one target: the applications are queued, merged or stacked.

use super::Flow;
use super::magnitude::About;
use super::remove::Trigger;
use crate::rules::EffectDef;
use crate::state::{CauseWhat, Queued};
use crate::{DiagnosticKind, EffectChange, EffectFilter, EffectId, EffectKey, LimitKind, Refusal, SimTime, Spec};
use ugas_doc::{DurationPolicy, ExecutionPolicy, OnStack, PeriodOnStack, StackBy};

impl Flow<'_> {
    /// Returns whether an application must be queued, because the effect runs in sequence and is already active or
    /// queued on the target.
    pub(crate) fn must_queue(&self, def: &EffectDef, target: usize) -> bool {
        let row = self.row(target);
        def.execution_policy == ExecutionPolicy::RunInSequence
            && def.policy != DurationPolicy::Instant
            && (row.effects.iter().any(|e| e.def == def.id) || row.queue().iter().any(|q| q.spec.effect == def.id))
    }

    /// Queues an application. Its tags, captures and duration are evaluated when it starts.
    pub(crate) fn enqueue(&mut self, spec: &Spec, key: EffectKey, target: usize) -> Result<EffectKey, Refusal> {
        let row = self.row(target);
        let max = self.limits.effects_per_controller;
        if row.effects.len() + row.queue().len() >= max as usize {
            return Err(Refusal::Limit { what: LimitKind::Effects, max, link: self.cause.link });
        }
        let (root, link) = (self.cause.root, self.cause.link);
        let queued = Queued { spec: spec.clone(), origin_id: key.origin_id, ordinal: key.ordinal, root, link };
        self.row_mut(target).side_mut().queue.push(queued);
        Ok(key)
    }

    /// Starts the next queued application. An application that is refused now is skipped. If the effect is no longer
    /// sequential, all queued applications start.
    pub(crate) fn start_next(&mut self, target: usize, effect: EffectId) {
        let in_turn = self.def(effect).is_some_and(|d| d.execution_policy == ExecutionPolicy::RunInSequence);
        while !(in_turn && self.row(target).effects.iter().any(|e| e.def == effect)) {
            let Some(at) = self.row(target).queue().iter().position(|q| q.spec.effect == effect) else {
                return;
            };
            let q = self.row_mut(target).side_mut().queue.remove(at);
            let Some(def) = self.def(effect) else { return };
            let key = EffectKey { origin_id: q.origin_id, target: q.spec.target, ordinal: q.ordinal };
            let cause = std::mem::replace(&mut self.cause, crate::Cause { root: q.root, link: q.link });
            self.journal_source(q.spec.target, q.spec.source);
            let begun = self
                .check_attributes(&def, target)
                .and_then(|_| self.admit(&def, &q.spec, target, key))
                .and_then(|_| self.begin(&def, &q.spec, target, key));
            if let Err(refusal) = begun {
                self.trace_refusal(q.spec.target, effect, refusal);
            }
            self.cause = cause;
        }
    }

    /// Merges an application into the active instance of its effect, or adds the application to the stacks of that
    /// instance. Returns `None` if the policies of the effect do not allow this or no instance is active. `removes` is
    /// false if the application has already removed effects by tag.
    pub(crate) fn join_active(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        key: EffectKey,
        removes: bool,
    ) -> Option<Result<EffectKey, Refusal>> {
        if def.execution_policy == ExecutionPolicy::RunInMerge && def.policy != DurationPolicy::Instant {
            let active = self.row(target).effects.iter().position(|e| e.def == def.id);
            if let Some(at) = active {
                return Some(self.merge(def, spec, target, (at, removes), key));
            }
        }
        let at = self.stack_of(def, spec, target)?;
        Some(self.stack(def, spec, target, (at, removes), key))
    }

    /// Decides again what becomes of an application after its removal by tag, because a cancel list that ran during the
    /// removal may have applied effects: queues, merges or stacks the application and returns its key, or returns `None`
    /// if the application adds a new instance. The filters that precede the removal (tags, immunity, condition, chance,
    /// hooks) are not repeated: an effect may remove the tag that it requires.
    pub(crate) fn decide_again(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        key: EffectKey,
    ) -> Result<Option<EffectKey>, Refusal> {
        let sequential = def.execution_policy == ExecutionPolicy::RunInSequence;
        if sequential && self.row(target).effects.iter().any(|e| e.def == def.id) {
            return self.enqueue(spec, key, target).map(Some);
        }
        self.view().check_overflow(def, spec, target)?;
        if let Some(joined) = self.join_active(def, spec, target, key, false) {
            return joined.map(Some);
        }
        self.check_room(target, def)?;
        self.check_cycles(def, target, spec.source)?;
        Ok(None)
    }

    /// Merges an application into the active instance. The result lasts from the earlier start to the later end and has
    /// the higher level. At equal levels, the latest application replaces the values.
    fn merge(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        (at, removes): (usize, bool),
        key: EffectKey,
    ) -> Result<EffectKey, Refusal> {
        let e = &self.row(target).effects[at];
        let (seq, level, stacks, end) = (e.seq(), e.level(), e.stacks(), e.end);
        let existing = e.key(spec.target);
        let about = About { spec, target, origin_id: key.origin_id, ordinal: key.ordinal, stacks, execution: 0 };
        let duration = self.duration(def, about)?;
        let cause = self.because(CauseWhat::Applied(def.id), spec.target, spec.source);
        if spec.level >= level {
            let merged = Spec { stacks, ..spec.clone() };
            if let Err(r) = self.reevaluate(target, seq, &merged, false) {
                self.cause = cause;
                return Err(r);
            }
        }
        let now = self.row(target).clock.local(self.st.now);
        if end != SimTime::NEVER && duration != SimTime::NEVER && now + duration > end {
            self.reschedule(target, seq, |e| e.end = now + duration);
        }
        if removes {
            self.remove_others(def, target, seq);
        }
        self.changed_fact(target, seq, EffectChange::Merged);
        self.cause = cause;
        Ok(existing)
    }

    /// Adds an application to the stacks of the active instance. Magnitudes are multiplied by the stacks.
    fn stack(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        (at, removes): (usize, bool),
        key: EffectKey,
    ) -> Result<EffectKey, Refusal> {
        let Some(rule) = &def.stacking else {
            return Err(Refusal::StaleHandle);
        };
        let e = &self.row(target).effects[at];
        let (seq, have, source) = (e.seq(), e.stacks(), e.source);
        let existing = e.key(spec.target);
        let wanted = have as u64 + spec.stacks as u64;
        let stacks = wanted.min(rule.limit as u64).min(self.limits.stacks as u64) as u32;
        let source = if rule.by == StackBy::Target { spec.source } else { source };
        let stacked = Spec { stacks, source, ..spec.clone() };
        let about =
            About { spec: &stacked, target, origin_id: key.origin_id, ordinal: key.ordinal, stacks, execution: 0 };
        let duration = self.duration(def, about)?;
        let cause = self.because(CauseWhat::Applied(def.id), spec.target, spec.source);
        if let Err(r) = self.reevaluate(target, seq, &stacked, false) {
            self.cause = cause;
            return Err(r);
        }
        let now = self.row(target).clock.local(self.st.now);
        self.reschedule(target, seq, |e| {
            if rule.on_stack == OnStack::RefreshDuration && duration != SimTime::NEVER {
                e.end = now + duration;
                e.cold_mut().length = duration;
            }
            if rule.period_on_stack == PeriodOnStack::Reset
                && let Some(p) = e.periodic_mut()
            {
                (p.anchor, p.n) = (now, 1);
            }
        });
        if removes {
            self.remove_others(def, target, seq);
        }
        self.changed_fact(target, seq, EffectChange::Stacks);
        if have >= rule.limit {
            self.overflow(rule, spec, key);
        }
        if rule.on_stack == OnStack::RefreshDuration && duration == SimTime::ZERO {
            self.diagnose(spec.target, def.id, DiagnosticKind::ZeroDuration);
            self.expire_if_over(target, seq);
        }
        self.cause = cause;
        Ok(existing)
    }

    /// Removes effects by tag for an application that is merged or stacked, like a first application does. The merged
    /// or stacked instance itself is kept.
    fn remove_others(&mut self, def: &EffectDef, target: usize, except: u64) {
        if def.remove_with_tags.is_empty() {
            return;
        }
        let filter = EffectFilter { with_any_tag: def.remove_with_tags.to_vec(), ..EffectFilter::default() };
        let queued = self.sc.reactions.len();
        self.remove_matching_but(target, &filter, except);
        self.withdraw_rechecks(queued);
    }

    /// Applies the overflow effects of a stack that was already full before this application. An application that adds
    /// at least one stack has no overflow.
    pub(crate) fn overflow(&mut self, rule: &crate::rules::StackDef, spec: &Spec, key: EffectKey) {
        for (position, &effect) in rule.overflow.iter().enumerate() {
            self.then_one(spec, key, effect, Trigger::Overflow, 0, position);
        }
    }
}
