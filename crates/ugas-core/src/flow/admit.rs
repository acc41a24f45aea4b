//! Admission: the checks that can refuse an application before its magnitudes are evaluated. The checks change no state
//! and run in a fixed order. The first failed check determines the refusal.

use super::magnitude::{About, SITE_CHANCE, used_in};
use super::{Flow, Via, View};
use crate::rules::{Bearer, EffectDef, HookCx, Local, Reads, Side};
use crate::state::Effect;
use crate::{
    AttributeId, BadValue, ControllerId, EffectId, EffectKey, FactKind, Hit, LimitKind, Refusal, Restriction, Role,
    SimTime, Spec, TagId,
};
use ugas_doc::StackBy;

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn check_spec(&self, spec: &Spec) -> Result<(), Refusal> {
        let bad = |what| Err(Refusal::BadValue { what });
        if spec.level == 0 {
            return bad(BadValue::Level);
        }
        if spec.stacks == 0 || spec.stacks > self.limits.stacks {
            return bad(BadValue::Stacks);
        }
        let known = spec.source == ControllerId::NONE || spec.source.0 < self.st.next_id;
        let source = if known { Ok(()) } else { Err(Refusal::StaleHandle) };
        let Some(x) = &spec.extra else { return source };
        if x.set_by_caller.windows(2).any(|w| w[0].0 >= w[1].0) {
            return bad(BadValue::Number);
        }
        if x.set_by_caller.iter().any(|(_, v)| !v.is_finite()) {
            return bad(BadValue::Number);
        }
        x.hit.iter().try_for_each(|hit| self.rules.refuse_hit(hit))?;
        if x.origin.is_some_and(|o| o.iter().any(|v| !v.is_finite())) {
            return bad(BadValue::Position);
        }
        if x.duration.is_some_and(|d| d < SimTime::ZERO || d > SimTime::LONGEST) {
            return bad(BadValue::Duration);
        }
        if x.period.is_some_and(|p| p < crate::limits::MIN_PERIOD || p > SimTime::LONGEST) {
            return bad(BadValue::Period);
        }
        source
    }

    #[inline]
    pub(crate) fn check_attributes(&self, def: &EffectDef, target: usize) -> Result<(), Refusal> {
        let layout = self.layout(target);
        let mut derived = false;
        for m in &def.modifiers {
            let Some(slot) = layout.slot(m.attribute) else {
                let who = self.row(target).id;
                return Err(Refusal::UnknownAttribute { who, attribute: m.attribute });
            };
            self.check_stat_slot(target, slot)?;
            derived |= layout.slots[slot].derived.is_some() && !def.acts_on_current(m);
            self.check_hidden_write(target, m.attribute)?;
        }
        if derived { Err(Refusal::Restricted { by: Restriction::DerivedAttribute }) } else { Ok(()) }
    }

    /// Refuses a change of a stat that effects may not modify, and on a client of every stat.
    #[inline]
    pub(crate) fn check_stat_slot(&self, target: usize, slot: usize) -> Result<(), Refusal> {
        let slot = &self.layout(target).slots[slot];
        let Some(stat) = slot.stat else { return Ok(()) };
        if !stat.is_modifiable {
            return Err(Refusal::Static { attribute: slot.attribute });
        }
        if self.role == Role::Client { Err(Refusal::AuthoritativeOnly) } else { Ok(()) }
    }

    pub(crate) fn check_room(&self, target: usize, def: &EffectDef) -> Result<(), Refusal> {
        let (row, link) = (self.row(target), self.link);
        let limit = |what, max| Err(Refusal::Limit { what, max, link });
        if row.effects.len() + row.queue().len() >= self.limits.effects_per_controller as usize {
            return limit(LimitKind::Effects, self.limits.effects_per_controller);
        }
        if row.grants.len() + def.grants.len() > self.limits.grants_per_controller as usize {
            return limit(LimitKind::Grants, self.limits.grants_per_controller);
        }
        if row.mods.len() + def.modifiers.len() > self.limits.modifiers_per_controller as usize {
            return limit(LimitKind::Modifiers, self.limits.modifiers_per_controller);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn check_target_tags(&self, def: &EffectDef, target: usize) -> Result<(), Refusal> {
        let row = self.row(target);
        let has = |t: &&TagId| row.has(&self.rules.tags, **t);
        if let Some(&missing) = def.required.iter().find(|t| !has(t)) {
            return Err(Refusal::RequiredTags { missing });
        }
        // A row without tags cannot have a blocked tag.
        if row.signature != 0
            && let Some(&found) = def.blocked.iter().find(has)
        {
            return Err(Refusal::BlockedTags { found });
        }
        Ok(())
    }

    /// Runs every check that can refuse an application before its magnitudes are evaluated. Changes nothing and emits
    /// no fact.
    pub(crate) fn refuse(&self, def: &EffectDef, spec: &Spec, target: usize, key: EffectKey) -> Result<(), Refusal> {
        self.check_target_tags(def, target)?;
        if !def.source_required.is_empty() || !def.source_blocked.is_empty() {
            let has = |t: TagId| self.source_has(spec.source, t);
            if let Some(&tag) = def.source_required.iter().find(|&&t| !has(t)) {
                return Err(Refusal::SourceTags { tag });
            }
            if let Some(&tag) = def.source_blocked.iter().find(|&&t| has(t)) {
                return Err(Refusal::SourceTags { tag });
            }
        }
        if self.row(target).immunities > 0
            && let Some((blocker, by)) = self.immune(def, spec, target)
        {
            return Err(Refusal::Immune { blocker, by });
        }
        self.check_restrictions(def, spec, target)?;
        if let Some(condition) = &def.condition
            && !self.holds(condition, &mut SpecReads { view: *self, spec, target }, spec.target, spec.effect)
        {
            return Err(Refusal::Condition);
        }
        if let Some(id) = def.requirement {
            let holds = self
                .rules
                .hooks
                .requirements
                .get(&id)
                .is_some_and(|f| f(&self.hook_cx(spec, target, &|w, a| self.current_of(w, a))));
            if !holds {
                return Err(Refusal::Condition);
            }
        }
        if let Some(chance) = &def.chance {
            let about = About {
                spec,
                target,
                origin_id: key.origin_id,
                ordinal: key.ordinal,
                stacks: spec.stacks,
                execution: 0,
            };
            let needed = self.magnitude(chance, about, SITE_CHANCE)?;
            let draw = self.draw(about, SITE_CHANCE);
            self.record_draws(&draw, used_in(spec))?;
            let rolled = draw.unit();
            if rolled >= needed {
                return Err(Refusal::Chance { rolled, needed });
            }
        }
        self.check_overflow(def, spec, target)?;
        for (id, hook) in &self.rules.hooks.before {
            if !hook(&self.hook_cx(spec, target, &|w, a| self.current_of(w, a))) {
                return Err(Refusal::Hook { hook: *id });
            }
        }
        Ok(())
    }

    /// Refuses a further application to a full stack of an effect with `DenyOverflow`.
    pub(crate) fn check_overflow(&self, def: &EffectDef, spec: &Spec, target: usize) -> Result<(), Refusal> {
        match &def.stacking {
            Some(s) if s.deny_overflow && self.stacks_of(def, spec, target) >= s.limit as u64 => {
                Err(Refusal::Stacks { limit: s.limit })
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn hook_cx<'c>(
        &'c self,
        spec: &'c Spec,
        target: usize,
        values: &'c dyn Fn(ControllerId, AttributeId) -> Option<f64>,
    ) -> HookCx<'c> {
        HookCx { rules: self.rules, spec, target_row: self.row(target), source_tags: self.tags_of(spec.source), values }
    }

    /// Returns whether a source has a tag. Returns false without a source.
    pub(crate) fn source_has(&self, source: ControllerId, tag: TagId) -> bool {
        self.tags_of(source).is_some_and(|t| t.has(&self.rules.tags, tag))
    }

    /// Returns the active effect that makes the target immune to an incoming effect.
    fn immune(&self, def: &EffectDef, spec: &Spec, target: usize) -> Option<(EffectKey, EffectId)> {
        let under = |list: &[TagId], t: TagId| list.iter().any(|&of| self.rules.tags.is_under(t, of));
        let row = self.row(target);
        for e in row.effects.iter().filter(|e| !e.inhibited()) {
            let Some(active) = self.def(e.def) else { continue };
            let hit = active.immunity.iter().any(|rule| {
                let tags = || def.effect_tags.iter().chain(&def.granted_tags).any(|&t| under(&rule.effect_tags, t));
                let source = || rule.source_tags.iter().any(|&t| self.source_has(spec.source, t));
                (rule.effect_tags.is_empty() || tags())
                    && (rule.effects.is_empty() || rule.effects.contains(&def.id))
                    && (rule.source_tags.is_empty() || source())
            });
            if hit {
                return Some((e.key(row.id), e.def));
            }
        }
        None
    }

    /// Returns the index of the active effect that another application stacks onto.
    pub(crate) fn stack_of(&self, def: &EffectDef, spec: &Spec, target: usize) -> Option<usize> {
        let by = def.stacking.as_ref()?.by;
        let same = |e: &Effect| e.def == def.id && (by == StackBy::Target || e.source == spec.source);
        self.row(target).effects.iter().position(same)
    }

    fn stacks_of(&self, def: &EffectDef, spec: &Spec, target: usize) -> u64 {
        self.stack_of(def, spec, target).map_or(0, |at| self.row(target).effects[at].stacks() as u64)
    }
}

impl Flow<'_> {
    /// Runs [`View::refuse`]. A refusal because of immunity also emits an `Immune` fact.
    pub(crate) fn admit(&mut self, def: &EffectDef, spec: &Spec, target: usize, key: EffectKey) -> Result<(), Refusal> {
        let result = self.refuse_hidden(|flow| flow.view().refuse(def, spec, target, key));
        if let Err(Refusal::Immune { blocker, by }) = result {
            let via = Via { source: spec.source, key, effect: spec.effect };
            self.fact(spec.target, via, FactKind::Immune { blocker, by });
        }
        result
    }

    #[inline]
    pub(crate) fn check_spec(&self, spec: &Spec) -> Result<(), Refusal> {
        self.view().check_spec(spec)
    }

    #[inline]
    pub(crate) fn check_attributes(&self, def: &EffectDef, target: usize) -> Result<(), Refusal> {
        self.view().check_attributes(def, target)
    }

    pub(crate) fn check_room(&self, target: usize, def: &EffectDef) -> Result<(), Refusal> {
        self.view().check_room(target, def)
    }

    #[inline]
    pub(crate) fn check_target_tags(&self, def: &EffectDef, target: usize) -> Result<(), Refusal> {
        self.view().check_target_tags(def, target)
    }

    /// Returns whether a source has a tag. Returns false without a source.
    pub(crate) fn source_has(&self, source: ControllerId, tag: TagId) -> bool {
        self.view().source_has(source, tag)
    }

    /// Returns the index of the active effect that another application stacks onto.
    pub(crate) fn stack_of(&self, def: &EffectDef, spec: &Spec, target: usize) -> Option<usize> {
        self.view().stack_of(def, spec, target)
    }
}

/// The values that an effect's application condition reads.
struct SpecReads<'v> {
    view: View<'v>,
    spec: &'v Spec,
    target: usize,
}

impl SpecReads<'_> {
    fn hit(&self) -> Option<&Hit> {
        self.spec.extra.as_ref()?.hit.as_ref()
    }
}

impl Reads for SpecReads<'_> {
    fn attribute(&mut self, side: Side, attribute: AttributeId) -> Option<f64> {
        let who = if side == Side::Source { self.spec.source } else { self.spec.target };
        self.view.current_of(who, attribute)
    }

    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
        match bearer {
            Bearer::Own | Bearer::Target => Some(self.view.has(self.target, tag)),
            Bearer::Source => Some(self.view.source_has(self.spec.source, tag)),
            Bearer::Hit => {
                let under = |t: &TagId| self.view.rules.tags.is_under(*t, tag);
                Some(self.hit().is_some_and(|h| h.tags.iter().any(under)))
            }
            Bearer::Event => None,
        }
    }

    fn local(&mut self, local: Local) -> Option<f64> {
        match local {
            Local::Level => Some(self.spec.level as f64),
            Local::Stacks => Some(self.spec.stacks as f64),
            Local::Caller(key) => self.spec.value(key),
            Local::TargetDistance => self.view.distance_between(self.spec.source, self.spec.target),
            Local::Distance => Some(self.hit().and_then(|h| h.distance).unwrap_or(0.0)),
            Local::Param(name) => {
                let slot = self.view.st.controllers.slot(self.spec.source)?;
                let grants = &self.view.row(slot).grants;
                let at = grants.iter().position(|g| g.ability == self.spec.ability)?;
                self.view.param_of(slot, at, name)
            }
            Local::Magnitude
            | Local::Amount
            | Local::Direct
            | Local::Periodic
            | Local::Area
            | Local::Tick
            | Local::Held
            | Local::Found
            | Local::Bound(_)
            | Local::Given(_) => None,
        }
    }
}
