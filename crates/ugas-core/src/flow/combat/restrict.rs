//! Restrictions: combat rules that prevent the use of an ability, an interrupt, an application, an execution or a
//! gameplay event.

use super::super::{About, View};
use super::{CombatEvent, RuleHolder};
use crate::rules::{AbilityDef, EffectDef, RuleOn, RuleWhat};
use crate::state::Frozen;
use crate::{AttributeId, ControllerId, Refusal, Restriction, Spec, TagId};
use ugas_doc::{CombatKind, DurationPolicy};

impl<'a> View<'a> {
    /// Returns whether an active effect on a row prevents an event.
    pub(crate) fn restricted(
        &self,
        slot: usize,
        on: RuleOn,
        ability: Option<&AbilityDef>,
        event: Option<&CombatEvent<'_>>,
    ) -> bool {
        self.restricted_by(RuleHolder::Row(slot), on, ability, event)
    }

    /// Returns whether a rule of a controller prevents the event. A function of a rule that changes a value is not
    /// called here, but where the value is calculated.
    fn restricted_by(
        &self,
        holder: RuleHolder<'_>,
        on: RuleOn,
        ability: Option<&AbilityDef>,
        event: Option<&CombatEvent<'_>>,
    ) -> bool {
        self.each_rule(holder, on, ability, event, on.is_permission(), &mut |what, _| what == RuleWhat::Restrict)
    }

    /// Checks whether restrictions of the target or of the source refuse an effect. Both combat effects and buffs can
    /// be restricted.
    pub(crate) fn check_restrictions(&self, def: &EffectDef, spec: &Spec, target: usize) -> Result<(), Refusal> {
        let lasting = def.policy != DurationPolicy::Instant && self.row(target).immunities > 0;
        if lasting {
            let tags = self.combat_tags(def, spec);
            let ability = self.ability(spec.ability);
            let event = self.combat_event(def, spec, &tags, None, 0.0);
            if self.restricted(target, RuleOn::BuffApplied, ability.as_deref(), Some(&event)) {
                return Err(Refusal::Restricted { by: Restriction::CombatRule });
            }
        }
        if self.restricts_combat(def, spec, target, None) {
            Err(Refusal::Restricted { by: Restriction::CombatRule })
        } else {
            Ok(())
        }
    }

    /// Returns whether restrictions of the target or of the source prevent an execution of an active effect. A
    /// restriction also applies to effects that were applied before it.
    pub(crate) fn restricts_execution(&self, def: &EffectDef, about: About<'_>) -> bool {
        def.combat.is_some() && self.restricts_combat(def, about.spec, about.target, self.frozen_of(about))
    }

    /// Returns whether restrictions of the target or of the source prevent the combat of an effect.
    fn restricts_combat(&self, def: &EffectDef, spec: &Spec, target: usize, frozen: Option<&Frozen>) -> bool {
        // The restrictions of changes of a resource read the amount, so they are evaluated with it.
        let Some(combat) = def.combat.as_ref().filter(|c| c.kind != CombatKind::Resource) else { return false };
        let tags = self.combat_tags(def, spec);
        let ability = self.ability(spec.ability);
        let event = CombatEvent { frozen, ..self.combat_event(def, spec, &tags, None, 0.0) };
        let bars = |holder, on| self.restricted_by(holder, on, ability.as_deref(), Some(&event));
        let (done, taken) = sides(combat.kind);
        bars(RuleHolder::Row(target), taken) || self.source_rules(spec.source, frozen).is_some_and(|s| bars(s, done))
    }

    /// Returns the controller whose rules apply as the source: the source itself, or its stored state if the source
    /// left the sim. A replay reads the rules of another controller from its journal only, because the rules may have
    /// changed since. `None` without a source, or if its record in the journal has no rules.
    pub(crate) fn source_rules<'f>(&self, source: ControllerId, frozen: Option<&'f Frozen>) -> Option<RuleHolder<'f>>
    where
        'a: 'f,
    {
        if let Some(frozen) = frozen {
            return Some(RuleHolder::Frozen(frozen));
        }
        match &self.replay {
            Some(replay) if !replay.includes(source) => replay.rules(source, self.st.now).map(RuleHolder::Frozen),
            Some(_) | None => self.st.controllers.slot(source).map(RuleHolder::Row),
        }
    }

    /// Returns the tags that restrictions match: an effect's own and granted tags, its school and the tags of its
    /// ability.
    pub(crate) fn combat_tags(&self, def: &EffectDef, spec: &Spec) -> Vec<TagId> {
        let mut tags: Vec<TagId> = def.effect_tags.iter().chain(&def.granted_tags).copied().collect();
        tags.extend(def.combat.as_ref().and_then(|c| c.school));
        if let Some(ability) = self.ability(spec.ability) {
            tags.extend_from_slice(&ability.tags);
        }
        tags
    }

    pub(crate) fn combat_event<'e>(
        &self,
        def: &EffectDef,
        spec: &Spec,
        tags: &'e [TagId],
        attribute: Option<AttributeId>,
        amount: f64,
    ) -> CombatEvent<'e> {
        let style = def.combat.as_ref().map_or_else(Default::default, |c| c.style);
        CombatEvent { tags, amount, style, source: spec.source, target: spec.target, attribute, frozen: None }
    }
}

/// Returns the kind of rules that applies to the source, and the kind that applies to the target.
pub(crate) fn sides(kind: CombatKind) -> (RuleOn, RuleOn) {
    match kind {
        CombatKind::Damage => (RuleOn::DamageDone, RuleOn::DamageTaken),
        CombatKind::Healing => (RuleOn::HealingDone, RuleOn::HealingTaken),
        CombatKind::Threat => (RuleOn::Threat, RuleOn::Threat),
        CombatKind::Resource => (RuleOn::ResourceDelta, RuleOn::ResourceDelta),
    }
}
