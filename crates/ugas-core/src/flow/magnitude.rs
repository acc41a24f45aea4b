//! Magnitudes: the evaluation of a number.

use super::{Flow, View};
use crate::rng::DrawAt;
use crate::rules::{Calc, CalcDef, CalcResult, CurveInput, Mag};
use crate::state::{Frozen, Tags};
use crate::{AttributeId, CalcId, ControllerId, Refusal, Spec, SpecExtra, TagId};
use std::sync::Arc;
use ugas_doc::Value;

/// The context of an evaluation.
#[derive(Clone, Copy)]
pub(crate) struct About<'s> {
    pub(crate) spec: &'s Spec,
    /// The target row.
    pub(crate) target: usize,
    pub(crate) birth: u64,
    pub(crate) ordinal: u32,
    pub(crate) stacks: u32,
    /// The index of the execution, for the random stream.
    pub(crate) execution: u32,
}

/// Calculation indices of the random stream: modifiers first, then executions, then the rest.
const SITE_EXECUTION: u32 = 1 << 16;
pub(crate) const SITE_DURATION: u32 = 1 << 17;
pub(crate) const SITE_CHANCE: u32 = (1 << 17) + 1;
pub(crate) const SITE_MITIGATION: u32 = 1 << 18;

impl<'a> View<'a> {
    /// Returns an attribute's current value on any controller.
    pub(crate) fn current_of(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        if let Some(replay) = &self.replay
            && who != replay.only
            && let Some(value) = replay.value(who, attribute, self.st.now)
        {
            return Some(value);
        }
        let row = self.st.controllers.get(who)?;
        let slot = self.ix.layouts[row.layout as usize].slot(attribute)?;
        Some(row.attrs[slot].current)
    }

    /// Returns a value that must exist.
    pub(crate) fn read(&self, who: ControllerId, attribute: AttributeId) -> Result<f64, Refusal> {
        self.current_of(who, attribute).ok_or(Refusal::UnknownAttribute { who, attribute })
    }

    /// Returns an attribute of an effect's source, current or as it was before the source left the sim.
    fn read_source(&self, about: About<'_>, frozen: Option<&Frozen>, attribute: AttributeId) -> Result<f64, Refusal> {
        let who = about.spec.source;
        match frozen {
            Some(frozen) => frozen.value(attribute).ok_or(Refusal::UnknownAttribute { who, attribute }),
            None => self.read(who, attribute),
        }
    }

    /// Returns any controller's tags.
    pub(crate) fn tags_of(&self, who: ControllerId) -> Option<&'a Tags> {
        if let Some(replay) = &self.replay
            && who != replay.only
            && let Some(tags) = replay.tags(who, self.st.now)
        {
            return Some(tags);
        }
        self.st.controllers.get(who).map(|r| &r.tags)
    }

    /// Where a controller is, wherever it is known from.
    pub(crate) fn position_of(&self, who: ControllerId) -> Option<[f64; 3]> {
        if let Some(replay) = &self.replay
            && who != replay.only
            && let Some(position) = replay.position(who, self.st.now)
        {
            return position;
        }
        Some(self.st.controllers.get(who)?.side().anchor?.position)
    }

    /// Returns a live magnitude for a value of the attribute it follows.
    pub(crate) fn live_value(&self, m: &Mag, value: f64, level: u32, extra: Option<&SpecExtra>) -> f64 {
        match m {
            Mag::Attribute { coefficient, pre, post, .. } => (value + pre) * coefficient + post,
            Mag::Curve { curve, input, factor } => {
                let x = match input {
                    CurveInput::Level => level as f64,
                    CurveInput::Attribute(_) => value,
                    CurveInput::Caller(key) => {
                        let list = extra.map_or(&[][..], |x| &x.set_by_caller);
                        list.iter().find(|(k, _)| k == key).map_or(f64::NAN, |(_, v)| *v)
                    }
                };
                let curve = self.rules.curves.get(curve.index()).and_then(Option::as_ref);
                curve.map_or(f64::NAN, |c| c.at(x) * factor)
            }
            Mag::Value(v) => *v,
            Mag::Calc(_) | Mag::Caller(_) => f64::NAN,
        }
    }

    /// Evaluates a magnitude. A missing set-by-caller value and a number that is not finite are refusals.
    pub(crate) fn magnitude(&self, m: &Mag, about: About<'_>, site: u32) -> Result<f64, Refusal> {
        let spec = about.spec;
        let value = match m {
            Mag::Value(v) => *v,
            Mag::Caller(key) => spec.value(*key).ok_or(Refusal::MissingSetByCaller { key: *key })?,
            Mag::Curve { input: CurveInput::Caller(key), .. } if spec.value(*key).is_none() => {
                return Err(Refusal::MissingSetByCaller { key: *key });
            }
            Mag::Calc(calc) => self.calculate(*calc, about, site, &[], &mut Vec::new(), &mut Vec::new(), None)?,
            Mag::Curve { .. } | Mag::Attribute { .. } => {
                let read = match m.live_on() {
                    Some((attribute, true)) => self.read(spec.target, attribute)?,
                    Some((attribute, false)) => self.read_source(about, self.frozen_of(about), attribute)?,
                    None => 0.0,
                };
                self.live_value(m, read, spec.level, spec.extra.as_deref())
            }
        };
        if value.is_finite() { Ok(value + 0.0) } else { Err(Refusal::NonFinite { attribute: None }) }
    }

    /// Reads what a calculation declares, runs it and returns its value. `captured` replaces reads taken earlier (NaN
    /// if there is none).
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn calculate(
        &self,
        calc: CalcId,
        about: About<'_>,
        site: u32,
        params: &[(Arc<str>, Value)],
        results: &mut Vec<CalcResult>,
        context_tags: &mut Vec<TagId>,
        captured: Option<&[f64]>,
    ) -> Result<f64, Refusal> {
        self.calculate_on(0.0, calc, about, site, params, results, context_tags, captured)
    }

    /// Returns what a mitigation leaves of an amount.
    pub(crate) fn mitigate(&self, amount: f64, calc: CalcId, about: About<'_>, site: u32) -> Result<f64, Refusal> {
        self.calculate_on(amount, calc, about, site, &[], &mut Vec::new(), &mut Vec::new(), None)
    }

    #[allow(clippy::too_many_arguments)]
    fn calculate_on(
        &self,
        amount: f64,
        calc: CalcId,
        about: About<'_>,
        site: u32,
        params: &[(Arc<str>, Value)],
        results: &mut Vec<CalcResult>,
        context_tags: &mut Vec<TagId>,
        captured: Option<&[f64]>,
    ) -> Result<f64, Refusal> {
        let rules = self.rules;
        let Some(CalcDef { code, reads, .. }) = rules.calcs.get(calc.index()).and_then(Option::as_ref) else {
            return Err(Refusal::Condition);
        };
        let spec = about.spec;
        // Few calculations read more than this, and a base write should not allocate.
        let (mut few, mut many) = ([0.0; 16], Vec::new());
        let values = match few.get_mut(..reads.len()) {
            Some(few) => few,
            None => {
                many.resize(reads.len(), 0.0);
                &mut many[..]
            }
        };
        let frozen = self.frozen_of(about);
        for (i, r) in reads.iter().enumerate() {
            let taken = captured.map(|c| c[i]).filter(|v| !v.is_nan());
            values[i] = match taken {
                Some(v) => v,
                None if r.of_target => self.read(spec.target, r.attribute)?,
                None => self.read_source(about, frozen, r.attribute)?,
            };
        }
        let frozen_tags = frozen.map(|f| f.to_tags(&rules.tags));
        let mut cx = Calc {
            calc,
            rules,
            spec,
            reads,
            values,
            params,
            target_row: self.st.controllers.row(about.target),
            source_tags: frozen_tags.as_ref().or_else(|| self.tags_of(spec.source)),
            distance: &|| self.distance_between(spec.source, spec.target),
            draw: self.draw(about, site),
            results,
            context_tags,
            value: 0.0,
            amount,
            stacks: about.stacks,
            not_finite: false,
            refused: None,
        };
        code.run(&mut cx);
        if cx.not_finite {
            self.note_non_finite(spec.target, spec.effect);
        }
        if self.sure && cx.draw.draw > 0 {
            return Err(Refusal::RandomCost { calculator: calc });
        }
        cx.refused.map_or(Ok(cx.value), Err)
    }

    /// Returns the site of a random draw (ruling R-05).
    pub(crate) fn draw(&self, about: About<'_>, site: u32) -> DrawAt {
        DrawAt {
            seed: self.st.seed_of(self.root),
            sub: if self.root.client() == 0 { 0 } else { self.root.sub() },
            target: about.spec.target.0,
            birth: about.birth,
            ordinal: about.ordinal,
            execution: about.execution,
            calculation: site,
            site: about.spec.effect.0,
            draw: 0,
        }
    }
}

/// The same reads as those of a view.
impl Flow<'_> {
    /// Returns an attribute's current value.
    #[inline]
    pub(crate) fn current_of(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        self.view().current_of(who, attribute)
    }

    #[inline]
    pub(crate) fn read(&self, who: ControllerId, attribute: AttributeId) -> Result<f64, Refusal> {
        self.view().read(who, attribute)
    }

    #[inline]
    pub(crate) fn tags_of(&self, who: ControllerId) -> Option<&Tags> {
        self.view().tags_of(who)
    }

    #[inline]
    pub(crate) fn live_value(&self, m: &Mag, value: f64, level: u32, extra: Option<&SpecExtra>) -> f64 {
        self.view().live_value(m, value, level, extra)
    }

    #[inline]
    pub(crate) fn magnitude(&self, m: &Mag, about: About<'_>, site: u32) -> Result<f64, Refusal> {
        self.view().magnitude(m, about, site)
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn calculate(
        &self,
        calc: CalcId,
        about: About<'_>,
        site: u32,
        params: &[(Arc<str>, Value)],
        results: &mut Vec<CalcResult>,
        context_tags: &mut Vec<TagId>,
        captured: Option<&[f64]>,
    ) -> Result<f64, Refusal> {
        self.view().calculate(calc, about, site, params, results, context_tags, captured)
    }

    pub(crate) fn execution_site(index: usize) -> u32 {
        SITE_EXECUTION + index as u32
    }
}
