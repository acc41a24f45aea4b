//! Planning: evaluates all magnitudes of an application once, before the first change.

use super::Flow;
use super::apply::Plan;
use super::magnitude::{About, SITE_DURATION};
use crate::rules::EffectDef;
use crate::{BadValue, DiagnosticKind, EffectKey, Refusal, SimTime, Spec};
use ugas_doc::DurationPolicy;

impl Flow<'_> {
    /// Evaluates all magnitudes once. The magnitudes per stack and the captured reads are left in the scratch buffers.
    pub(crate) fn capture_magnitudes(
        &mut self,
        def: &EffectDef,
        spec: &Spec,
        target: usize,
        key: EffectKey,
        stacks: u32,
    ) -> Result<Plan, Refusal> {
        let about = About { spec, target, origin_id: key.origin_id, ordinal: key.ordinal, stacks, execution: 0 };
        self.capture_units(def, about, &[], &[])?;
        let duration = self.duration(def, about)?;
        let mut captures = std::mem::take(&mut self.sc.captures);
        captures.clear();
        let captured = self.capture_reads(def, about, &mut captures);
        self.sc.captures = captures;
        captured?;
        if def.policy != DurationPolicy::Instant {
            self.check_cycles(def, target, spec.source)?;
        }
        let period = spec.extra.as_ref().and_then(|x| x.period).filter(|_| def.period.is_some()).or(def.period);
        Ok(Plan { key, duration, period })
    }

    /// Evaluates the magnitude per stack of each modifier. The magnitude is NaN if its set-by-caller value is missing.
    /// `frozen` has the values to use if the source left the sim.
    pub(crate) fn capture_units(
        &mut self,
        def: &EffectDef,
        about: About<'_>,
        frozen: &[f64],
        dropped: &[u16],
    ) -> Result<(), Refusal> {
        let mut units = std::mem::take(&mut self.sc.units);
        units.clear();
        let mut refused = None;
        for (i, m) in def.modifiers.iter().enumerate() {
            // A periodic effect evaluates these magnitudes again at each execution. The value evaluated here is used
            // only if the source leaves the sim before the execution. Calculations are skipped, because they would draw
            // random numbers that nothing uses.
            let later = def.policy != DurationPolicy::Instant && !def.acts_on_current(m);
            if later && m.magnitude.calculation().is_some() || dropped.contains(&(i as u16)) {
                units.push(f64::NAN);
                continue;
            }
            match self.magnitude(&m.magnitude, about, i as u32) {
                Ok(v) => units.push(v),
                Err(Refusal::UnknownAttribute { .. }) if frozen.get(i).is_some_and(|v| !v.is_nan()) => {
                    units.push(frozen[i]);
                }
                Err(Refusal::MissingSetByCaller { .. }) if later => units.push(f64::NAN),
                Err(Refusal::MissingSetByCaller { key }) => {
                    self.diagnose(about.spec.target, def.id, DiagnosticKind::MissingSetByCaller { key });
                    units.push(f64::NAN);
                }
                Err(Refusal::NonFinite { .. }) => {
                    refused = Some(Refusal::NonFinite { attribute: Some(m.attribute) });
                    break;
                }
                Err(r) => {
                    refused = Some(r);
                    break;
                }
            }
        }
        self.sc.units = units;
        refused.map_or(Ok(()), Err)
    }

    pub(crate) fn duration(&mut self, def: &EffectDef, about: About<'_>) -> Result<SimTime, Refusal> {
        let over = about.spec.extra.as_ref().and_then(|x| x.duration);
        match (&def.duration, over) {
            (Some(_), Some(d)) => Ok(d),
            (Some(m), None) => {
                let seconds = self.magnitude(m, about, SITE_DURATION)?;
                let d = SimTime::try_seconds(seconds).ok_or(Refusal::BadValue { what: BadValue::Duration })?;
                Ok(d.max(SimTime::ZERO))
            }
            (None, over) => {
                if over.is_some() {
                    self.diagnose(about.spec.target, def.id, DiagnosticKind::DurationOverrideIgnored);
                }
                Ok(if def.policy == DurationPolicy::Instant { SimTime::ZERO } else { SimTime::NEVER })
            }
        }
    }
}
