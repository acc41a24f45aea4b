//! The fast path of effects whose magnitudes are constants and that grant only tags. Such an effect has, among other
//! restrictions, no cues, no calculations and no `OnApplied` effects. The fast path is taken only if the sim has no
//! hooks, keeps no journal and writes no trace.

use super::apply::Plan;
use super::settle::Emit;
use super::{Flow, Via, stacked};
use crate::rules::EffectDef;
use crate::state::ModOp;
use crate::{DiagnosticKind, EffectKey, Refusal, SimTime, Spec};
use ugas_doc::DurationPolicy;

impl Flow<'_> {
    /// Applies an effect whose magnitudes are constants and that grants only tags.
    #[inline]
    pub(crate) fn apply_simple(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        key: EffectKey,
    ) -> Result<EffectKey, Refusal> {
        let via = Via { source: spec.source, key, effect: spec.effect };
        let cause;
        if def.policy == DurationPolicy::Instant {
            if spec.extra.as_ref().is_some_and(|x| x.duration.is_some()) {
                self.diagnose(spec.target, def.id, DiagnosticKind::DurationOverrideIgnored);
            }
            for m in &def.modifiers {
                let Some(unit) = m.magnitude.constant() else { continue };
                let op = ModOp::from(m.op);
                if let Some(slot) = self.layout(target).slot(m.attribute) {
                    if !self.plan_write(target, slot, op, stacked(op, unit, spec.stacks)) {
                        self.sc.writes.clear();
                        self.sc.dirty.clear();
                        return Err(Refusal::NonFinite { attribute: Some(m.attribute) });
                    }
                    self.mark(target, slot);
                }
            }
            cause = self.because_plain_applied(def, spec, target);
            self.row_mut(target).next_seq += 1;
            self.settle(via, Emit::Facts);
        } else {
            self.check_room(target, def)?;
            let (mut over, mut period) = (None, def.period);
            if let Some(x) = &spec.extra {
                over = x.duration;
                period = x.period.filter(|_| def.period.is_some()).or(def.period);
            }
            let duration = match (def.fixed_duration, over) {
                (Some(_), Some(d)) => d,
                (Some(d), None) => d,
                (None, over) => {
                    if over.is_some() {
                        self.diagnose(spec.target, def.id, DiagnosticKind::DurationOverrideIgnored);
                    }
                    SimTime::NEVER
                }
            };
            if duration == SimTime::ZERO {
                let plan = self.capture_magnitudes(def, spec, target, key, spec.stacks)?;
                return self.apply_lasting(def, spec, target, &plan);
            }
            let mut units = std::mem::take(&mut self.sc.units);
            units.clear();
            units.extend(def.modifiers.iter().map(|m| m.magnitude.constant().unwrap_or(f64::NAN)));
            self.sc.units = units;
            cause = self.because_plain_applied(def, spec, target);
            let plan = Plan { key, duration, period };
            self.put_effect(def, spec, target, &plan);
            if def.granted_tags.is_empty() {
                self.settle(via, Emit::Facts);
            } else {
                let mut flips = std::mem::take(&mut self.sc.flips);
                flips.clear();
                self.grant_tags(def, &[], target, &mut flips);
                self.settle(via, Emit::Facts);
                self.emit_flips(target, &flips, via);
                self.sc.flips = flips;
                self.finish_operation();
            }
            self.publish(target);
        }
        self.emit_applied(target, via, spec.level, spec.stacks);
        self.finish_operation();
        self.cause = cause;
        Ok(key)
    }
}
