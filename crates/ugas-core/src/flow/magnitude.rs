//! Magnitudes: evaluates the numbers of modifiers, durations and chances.

use super::{Flow, SourceRecord, UsedAbility, View};
use crate::rng::DrawAt;
use crate::rules::{Calc, CalcDef, CalcResult, Mag, MagnitudeInputs, Rules};
use crate::state::{Frozen, Tags};
use crate::{AttributeId, CalcId, ControllerId, KeyId, Refusal, Spec, SpecExtra, TagId};
use std::sync::Arc;
use ugas_doc::Value;

/// The context of an evaluation.
#[derive(Clone, Copy)]
pub(crate) struct About<'s> {
    pub(crate) spec: &'s Spec,
    /// The target row.
    pub(crate) target: usize,
    pub(crate) origin_id: u64,
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

/// The inputs of an evaluation: the current values of source and target.
struct Evaluated<'v, 's> {
    view: &'v View<'v>,
    about: About<'s>,
    site: u32,
}

impl MagnitudeInputs for Evaluated<'_, '_> {
    #[inline]
    fn rules(&self) -> &Rules {
        self.view.rules
    }

    #[inline]
    fn level(&self) -> u32 {
        self.about.spec.level
    }

    #[inline]
    fn attribute(&self, attribute: AttributeId, of_target: bool) -> Result<f64, Refusal> {
        let (view, about) = (self.view, self.about);
        match of_target {
            true => view.read(about.spec.target, attribute),
            false => view.read_source(about, view.frozen_of(about), attribute),
        }
    }

    #[inline]
    fn caller(&self, key: KeyId) -> Result<f64, Refusal> {
        self.about.spec.value(key).ok_or(Refusal::MissingSetByCaller { key })
    }

    fn calculate(&self, calc: CalcId) -> Result<f64, Refusal> {
        self.view.calculate(calc, self.about, self.site, &[], &mut Vec::new(), &mut Vec::new(), None)
    }
}

/// The inputs of a live magnitude whose attribute changed.
struct Followed<'v> {
    rules: &'v Rules,
    value: f64,
    level: u32,
    extra: Option<&'v SpecExtra>,
}

impl MagnitudeInputs for Followed<'_> {
    #[inline]
    fn rules(&self) -> &Rules {
        self.rules
    }

    #[inline]
    fn level(&self) -> u32 {
        self.level
    }

    #[inline]
    fn attribute(&self, _: AttributeId, _: bool) -> Result<f64, Refusal> {
        Ok(self.value)
    }

    fn caller(&self, key: KeyId) -> Result<f64, Refusal> {
        let list = self.extra.map_or(&[][..], |x| &x.set_by_caller);
        let found = list.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        found.ok_or(Refusal::MissingSetByCaller { key })
    }

    fn calculate(&self, _: CalcId) -> Result<f64, Refusal> {
        Err(Refusal::Condition)
    }
}

impl<'a> View<'a> {
    /// Returns an attribute's current value on any controller, or `None` if the controller does not have the attribute or
    /// the client does not have the value.
    pub(crate) fn current_of(&self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        if self.reads_hidden(who, attribute) {
            return None;
        }
        match self.recorded(who) {
            Some(SourceRecord::Absent) => return None,
            Some(SourceRecord::Now(known)) => return known.value(attribute),
            Some(SourceRecord::Earlier(known)) => {
                // The controller may have got the attribute later.
                if let Some(value) = known.value(attribute) {
                    return Some(value);
                }
            }
            None => {}
        }
        let row = self.st.controllers.get(who)?;
        let slot = self.ix.layouts[row.layout as usize].slot(attribute)?;
        Some(row.attrs[slot].current)
    }

    /// Returns an attribute's current value, or a refusal for an unknown attribute.
    pub(crate) fn read(&self, who: ControllerId, attribute: AttributeId) -> Result<f64, Refusal> {
        self.current_of(who, attribute).ok_or_else(|| match self.ix.hidden.hides(who, attribute) {
            true => Refusal::NotReplicated { who, attribute },
            false => Refusal::UnknownAttribute { who, attribute },
        })
    }

    /// Returns an attribute of an effect's source: the current value, or the last value if the source left the sim.
    fn read_source(&self, about: About<'_>, frozen: Option<&Frozen>, attribute: AttributeId) -> Result<f64, Refusal> {
        let who = about.spec.source;
        match frozen {
            Some(frozen) => frozen.value(attribute).ok_or(Refusal::UnknownAttribute { who, attribute }),
            None => self.read(who, attribute),
        }
    }

    /// Returns any controller's tags.
    pub(crate) fn tags_of(&self, who: ControllerId) -> Option<&'a Tags> {
        if let Some(record) = self.recorded(who) {
            return record.known().map(|known| &known.tags);
        }
        self.st.controllers.get(who).map(|r| &r.tags)
    }

    /// Returns a controller's position, from the sim or from the journal of a replay.
    pub(crate) fn position_of(&self, who: ControllerId) -> Option<[f64; 3]> {
        if let Some(record) = self.recorded(who) {
            return record.known()?.position;
        }
        Some(self.st.controllers.get(who)?.side().anchor?.position)
    }

    /// Returns a live magnitude for a value of the attribute that it reads.
    #[inline]
    pub(crate) fn live_value(&self, m: &Mag, value: f64, level: u32, extra: Option<&SpecExtra>) -> f64 {
        m.value(&Followed { rules: self.rules, value, level, extra }).unwrap_or(f64::NAN)
    }

    /// Evaluates a magnitude. A missing set-by-caller value and a number that is not finite are refusals.
    pub(crate) fn magnitude(&self, m: &Mag, about: About<'_>, site: u32) -> Result<f64, Refusal> {
        let value = m.value(&Evaluated { view: self, about, site })?;
        if value.is_finite() { Ok(value + 0.0) } else { Err(Refusal::NonFinite { attribute: None }) }
    }

    /// Reads the attributes that a calculation declares, runs it and returns its value. `captured` contains the values
    /// that were read at application, and NaN for each value to read now.
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

    /// Returns an amount after mitigation.
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
        let Some(CalcDef { code, reads, .. }) = rules.calcs.get(calc.0) else {
            return Err(Refusal::Condition);
        };
        let spec = about.spec;
        // Most calculations read at most 16 attributes and need no allocation.
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
            distance: &|| self.source_distance(spec.source, frozen, spec.target),
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
        if cx.draw.draw > 0 {
            self.record_draws(&cx.draw, used_in(spec))?;
        }
        cx.refused.map_or(Ok(cx.value), Err)
    }

    /// Returns the position of a random draw in the random stream: a hash of the seed and the identity of the
    /// application, so that draws do not depend on each other.
    pub(crate) fn draw(&self, about: About<'_>, site: u32) -> DrawAt {
        let stream = self.roll_stream(used_in(about.spec), || self.is_effect_for_server(about.spec.effect));
        let is_use = stream.path.is_some();
        DrawAt {
            seed: stream.seed,
            known: stream.known,
            is_use: stream.is_use,
            sub: if self.root.client() == 0 || is_use { 0 } else { self.root.sub() },
            target: if is_use { 0 } else { about.spec.target.0 },
            origin_id: stream.path.unwrap_or(about.origin_id),
            ordinal: about.ordinal,
            execution: about.execution,
            calculation: site,
            site: about.spec.effect.0,
            draw: 0,
        }
    }
}

/// Returns the ability whose rolls an application makes.
pub(crate) fn used_in(spec: &Spec) -> UsedAbility {
    UsedAbility { who: spec.source, ability: spec.ability }
}

/// Functions that forward to the view.
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
