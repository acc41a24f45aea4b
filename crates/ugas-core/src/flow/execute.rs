//! Executions: an effect's writes to base values, by modifiers and by calculations, at application or at each period.

use super::magnitude::About;
use super::remove::Trigger;
use super::{Flow, Via, stacked};
use crate::rules::{CaptureTime, EffectDef};
use crate::state::{CauseWhat, ModOp};
use crate::{DiagnosticKind, FactKind, Refusal, Restriction, Role, TagId};
use ugas_doc::DurationPolicy;

impl Flow<'_> {
    /// Writes an instant effect's modifiers and then its calculations' results. Facts are emitted later. After a
    /// refusal, the values are restored.
    pub(crate) fn write_and_execute(
        &mut self,
        def: &EffectDef,
        about: About<'_>,
        via: Via,
        context: &mut Vec<TagId>,
    ) -> Result<(), Refusal> {
        for (index, m) in def.modifiers.iter().enumerate() {
            let (unit, op) = (self.sc.units[index], ModOp::from(m.op));
            let Some(slot) = self.layout(about.target).slot(m.attribute) else {
                continue;
            };
            let filtered = m.is_filtered() && !self.filter_holds(m, about.spec.source, about.target);
            if unit.is_nan() || filtered {
                continue;
            }
            if !self.plan_write(about.target, slot, op, stacked(op, unit, about.stacks)) {
                self.sc.writes.clear();
                self.sc.dirty.clear();
                return Err(Refusal::NonFinite { attribute: Some(m.attribute) });
            }
            self.mark(about.target, slot);
        }
        let written = self.settle_writes(def, about, via, &[]);
        let result = written.and_then(|()| self.execute_results(def, about, via, context));
        if result.is_err() {
            self.undo_changes();
        }
        result
    }

    /// Runs an effect's calculations in authored order. The results of each calculation are written before the next
    /// calculation runs.
    pub(crate) fn execute_results(
        &mut self,
        def: &EffectDef,
        about: About<'_>,
        via: Via,
        context: &mut Vec<TagId>,
    ) -> Result<(), Refusal> {
        if def.executions.is_empty() {
            return Ok(());
        }
        let captured = std::mem::take(&mut self.sc.captures);
        let mut results = std::mem::take(&mut self.sc.results);
        let mut at = 0;
        let mut outcome = Ok(());
        for (index, x) in def.executions.iter().enumerate() {
            let reads = self.rules.calcs.get(x.calculator.0).map_or(0, |c| c.reads.len());
            let mine = captured.get(at..at + reads);
            at += reads;
            if self.work.role == Role::Client && !(x.predictable && self.may_predict(x.calculator)) {
                continue;
            }
            results.clear();
            let site = Self::execution_site(index);
            outcome = self.calculate(x.calculator, about, site, &x.params, &mut results, context, mine).map(|_| ());
            if outcome.is_ok() {
                outcome = self.write_results(def, about, via, &results);
            }
            if matches!(outcome, Err(Refusal::NotReplicated { .. })) {
                // The server runs it.
                outcome = Ok(());
            }
            if outcome.is_err() {
                break;
            }
        }
        self.sc.captures = captured;
        self.sc.results = results;
        outcome
    }

    fn write_results(
        &mut self,
        def: &EffectDef,
        about: About<'_>,
        via: Via,
        results: &[crate::rules::CalcResult],
    ) -> Result<(), Refusal> {
        for r in results {
            let who = about.spec.target;
            let slot = self.layout(about.target).slot(r.attribute);
            let refused = match slot {
                None => Some(Refusal::UnknownAttribute { who, attribute: r.attribute }),
                Some(slot) if self.layout(about.target).slots[slot].derived.is_some() => {
                    Some(Refusal::Restricted { by: Restriction::DerivedAttribute })
                }
                Some(slot) if let Err(refusal) = self.view().check_stat_slot(about.target, slot) => Some(refusal),
                Some(_) if let Err(refusal) = self.view().check_hidden_write(about.target, r.attribute) => {
                    Some(refusal)
                }
                Some(slot) => {
                    let fine = r.value.is_finite() && self.plan_write(about.target, slot, r.op.into(), r.value);
                    self.mark(about.target, slot);
                    (!fine).then_some(Refusal::NonFinite { attribute: Some(r.attribute) })
                }
            };
            if let Some(refusal) = refused {
                self.sc.writes.clear();
                self.sc.dirty.clear();
                self.trace_refusal(who, def.id, refusal);
                return Err(refusal);
            }
        }
        self.settle_writes(def, about, via, &[])
    }

    /// Captures the values that calculations read at application. A value that is read at execution is NaN.
    pub(crate) fn capture_reads(
        &mut self,
        def: &EffectDef,
        about: About<'_>,
        into: &mut Vec<f64>,
    ) -> Result<(), Refusal> {
        for x in &def.executions {
            let reads = self.rules.calcs.get(x.calculator.0).map_or(&[][..], |c| &c.reads);
            for r in reads {
                let who = if r.of_target { about.spec.target } else { about.spec.source };
                into.push(match r.when {
                    // The execution reads it again and is left to the server.
                    CaptureTime::OnApplication if self.ix.hidden.hides(who, r.attribute) => f64::NAN,
                    CaptureTime::OnApplication => self.read(who, r.attribute)?,
                    CaptureTime::OnExecution => f64::NAN,
                });
            }
        }
        Ok(())
    }

    /// Runs one execution of an active effect: a periodic execution or, if the effect started inhibited, the execution
    /// of its application. An execution that a combat rule prevents emits `ExecutionRestricted`. An execution that
    /// cannot be computed emits a diagnostic.
    pub(crate) fn execute(&mut self, target: usize, seq: u64) {
        let Some(at) = self.row(target).effect_at(seq) else {
            return;
        };
        let who = self.row(target).id;
        let Some(def) = self.def(self.row(target).effects[at].def) else {
            return;
        };
        let spec = self.row(target).effects[at].spec(who);
        self.journal_source(who, spec.source);
        let e = &mut self.row_mut(target).effects[at];
        let (key, stacks) = (e.key(who), e.stacks());
        let mut execution = 0;
        if let Some(p) = e.periodic_mut() {
            execution = p.executed;
            p.executed = p.executed.saturating_add(1);
        }
        let captured = e.captures().to_vec();
        let via = Via { source: spec.source, key, effect: spec.effect };
        let cause = self.because(CauseWhat::Executed(def.id), who, spec.source);
        let about = About { spec: &spec, target, origin_id: key.origin_id, ordinal: key.ordinal, stacks, execution };
        if self.view().restricts_execution(&def, about) {
            self.fact(who, via, FactKind::ExecutionRestricted { execution });
            self.cause = cause;
            return;
        }
        let mut context = Vec::new();
        if let Err(refusal) = self.try_execute(&def, about, via, captured, &mut context) {
            if refusal == (Refusal::Restricted { by: Restriction::CombatRule }) {
                self.fact(who, via, FactKind::ExecutionRestricted { execution });
                self.cause = cause;
                return;
            }
            // A client leaves rolls and values that it does not know to the server.
            if !matches!(refusal, Refusal::UnknownRoll | Refusal::NotReplicated { .. }) {
                self.diagnose(who, def.id, DiagnosticKind::ReactionRefused { refusal });
            }
            self.cause = cause;
            return;
        }
        self.emit_changes(via);
        for tag in context {
            self.fact(who, via, FactKind::ContextTag { tag });
        }
        if def.period.is_some() {
            self.fact(who, via, FactKind::EffectExecuted { execution });
            self.burst_cues(&def, spec.extra.as_deref(), target, via);
            self.then(&def, &spec, key, Trigger::Executed, execution);
        }
        self.cause = cause;
    }

    fn is_dropped(&self, about: About<'_>, index: usize) -> bool {
        let mine = |e: &&crate::state::Effect| e.origin_id == about.origin_id && e.ordinal == about.ordinal;
        self.row(about.target).effects.iter().find(mine).is_some_and(|e| e.has_dropped(index as u16))
    }

    fn unit_at(&mut self, about: About<'_>, index: usize) -> Option<&mut f64> {
        let row = self.st.controllers.row_mut(about.target);
        let mine = |e: &&mut crate::state::Effect| e.origin_id == about.origin_id && e.ordinal == about.ordinal;
        row.effects.iter_mut().find(mine)?.units_mut().get_mut(index)
    }

    fn last_unit(&mut self, about: About<'_>, index: usize) -> f64 {
        self.unit_at(about, index).map_or(f64::NAN, |u| *u)
    }

    fn remember_unit(&mut self, about: About<'_>, index: usize, value: f64) {
        if let Some(u) = self.unit_at(about, index) {
            *u = value;
        }
    }

    fn try_execute(
        &mut self,
        def: &EffectDef,
        about: About<'_>,
        via: Via,
        captured: Vec<f64>,
        context: &mut Vec<TagId>,
    ) -> Result<(), Refusal> {
        for (index, m) in def.modifiers.iter().enumerate() {
            if def.policy != DurationPolicy::Instant && def.acts_on_current(m) {
                continue;
            }
            // Without the attribute (its set was removed), or with an unmet filter, the modifier writes nothing.
            let Some(slot) = self.layout(about.target).slot(m.attribute) else {
                continue;
            };
            if m.is_filtered() && !self.view().filter_holds_for(m, about) || self.is_dropped(about, index) {
                continue;
            }
            let unit = match self.magnitude(&m.magnitude, about, index as u32) {
                Ok(v) => {
                    self.remember_unit(about, index, v);
                    v
                }
                // If the source left the sim, its last value is used.
                Err(Refusal::UnknownAttribute { .. }) if !self.last_unit(about, index).is_nan() => {
                    self.last_unit(about, index)
                }
                Err(Refusal::MissingSetByCaller { key }) => {
                    self.diagnose(about.spec.target, def.id, DiagnosticKind::MissingSetByCaller { key });
                    continue;
                }
                Err(r) => {
                    self.sc.writes.clear();
                    self.sc.dirty.clear();
                    return Err(r);
                }
            };
            let op = ModOp::from(m.op);
            if !self.plan_write(about.target, slot, op, stacked(op, unit, about.stacks)) {
                self.sc.writes.clear();
                self.sc.dirty.clear();
                return Err(Refusal::NonFinite { attribute: Some(m.attribute) });
            }
            self.mark(about.target, slot);
        }
        self.sc.captures = captured;
        let written = self.settle_writes(def, about, via, &[]);
        let result = written.and_then(|()| self.execute_results(def, about, via, context));
        self.sc.captures.clear();
        if result.is_err() {
            self.undo_changes();
        }
        result
    }
}
