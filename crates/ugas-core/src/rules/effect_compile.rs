//! The compiler of effects: from the document to [`EffectDef`].

use super::Mag;
use super::compile::Compiler;
use super::document::{Phase, RulesDocument};
use super::effect::{EffectDef, ExecDef, GrantDef, ImmunityDef, ModDef, StackDef, ThenDef};
use super::lookup::suggestion;
use super::scope::Scope;
use crate::limits::MIN_PERIOD;
use crate::{ChannelId, EffectId, HookId, NameKind, SimTime};
use std::sync::Arc;
use ugas_doc::{
    DurationPolicy, Effect, Execution, ExecutionPolicy, GrantedAbilityEntry, ImmunityEntry, Magnitude, Operation,
    Origin,
};

/// The tag of effects that only the authoritative sim applies (specification, section 13.7).
const AUTHORITATIVE_ONLY: &str = "Gameplay.Effect.AuthoritativeOnly";

/// Returns whether the document says that only the authoritative sim applies the effect: by the tag
/// [`AUTHORITATIVE_ONLY`], or by an execution that is marked as not predictable.
fn is_for_authority(doc: &Effect) -> bool {
    let marked =
        |tag: &String| tag.strip_prefix(AUTHORITATIVE_ONLY).is_some_and(|s| s.is_empty() || s.starts_with('.'));
    doc.effect_tags.iter().chain(&doc.granted_tags).any(marked) || doc.executions.iter().any(|x| !x.predictable)
}

impl RulesDocument for Effect {
    fn phase(&self) -> Phase {
        Phase::Effects
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Effect)
    }

    fn compile(&self, c: &mut Compiler<'_>, origin: &Option<Origin>) {
        let Some(id) = c.find(NameKind::Effect, &self.name).map(EffectId) else { return };
        if let Some(def) = c.effect(self, id, origin.clone()) {
            c.rules.to_mut().effects.define(id.0, Arc::new(def));
        }
    }
}

impl Compiler<'_> {
    pub(crate) fn effect(&mut self, doc: &Effect, id: EffectId, origin: Option<Origin>) -> Option<EffectDef> {
        let errors_before = self.issues.len();
        self.refuse_in_effect(doc);
        let duration = self.effect_duration(doc);
        let period = self.period(doc);
        let modifiers: Box<[ModDef]> =
            doc.modifiers.iter().enumerate().filter_map(|(i, m)| self.modifier(i, m)).collect();
        let authority = is_for_authority(doc) || modifiers.iter().any(|m| self.rules.is_stat(m.attribute));
        let executions = self.executions(doc);
        let immunity = self.immunity(doc);
        let grants = self.granted_abilities(doc);
        let stacking = self.stacking(doc);
        let then = self.effects_of_events(doc);
        let chance = doc.application_chance.as_ref().and_then(|m| self.magnitude("ApplicationChance", m));
        let condition = doc.application_condition.as_ref();
        let condition = condition.and_then(|t| self.expression_in("ApplicationCondition", t, Scope::APPLICATION));
        let requirement = doc.application_requirement.as_ref().and_then(|name| self.requirement(name));
        let mut def = EffectDef {
            id,
            name: doc.name.as_str().into(),
            origin,
            policy: doc.duration_policy,
            duration,
            period,
            execute_on_application: doc.period.is_some_and(|p| p.execute_on_application),
            execution_policy: doc.execution_policy,
            priority: doc.priority,
            modifiers,
            executions,
            granted_tags: self.tag_list(&doc.granted_tags),
            effect_tags: self.tag_list(&doc.effect_tags),
            required: self.tag_list(&doc.application_required_tags),
            blocked: self.tag_list(&doc.application_blocked_tags),
            source_required: self.tag_list(&doc.source_required_tags),
            source_blocked: self.tag_list(&doc.source_blocked_tags),
            chance,
            condition,
            requirement,
            ongoing_required: self.tag_list(&doc.ongoing_required_tags),
            ongoing_blocked: self.tag_list(&doc.ongoing_blocked_tags),
            on_ongoing_fail: doc.on_ongoing_fail,
            period_inhibition: doc.period_inhibition,
            immunity,
            remove_with_tags: self.tag_list(&doc.remove_effects_with_tags),
            stacking,
            bound_to_avatar: doc.bound_to_avatar_location,
            then,
            grants,
            cues: self.tag_list(&doc.gameplay_cues),
            rules: self.combat_rules(doc),
            combat: self.combat(doc),
            authority,
            simple: false,
            reads_source: false,
            plain_write: None,
            watches: false,
            has_live: false,
            fixed_duration: None,
        };
        def.classify();
        let failed = self.issues[errors_before..].iter().any(|i| i.severity == super::Severity::Error);
        (!failed).then_some(def)
    }

    fn effect_duration(&mut self, doc: &Effect) -> Option<Mag> {
        match (doc.duration_policy, &doc.duration) {
            (DurationPolicy::HasDuration, Some(m)) => self.duration(m),
            (DurationPolicy::HasDuration, None) => {
                self.error("missing-field", "DurationPolicy: HasDuration needs Duration; add it".into());
                None
            }
            (DurationPolicy::Instant | DurationPolicy::Infinite, Some(_)) => {
                let policy = doc.duration_policy;
                let message =
                    format!("Duration is not used by {policy:?}; remove it, or write DurationPolicy: HasDuration");
                self.warn("unused-field", message);
                None
            }
            (DurationPolicy::Instant | DurationPolicy::Infinite, None) => None,
        }
    }

    fn executions(&mut self, doc: &Effect) -> Box<[ExecDef]> {
        let compile = |(i, e): (usize, &Execution)| {
            let params: Box<[(Arc<str>, _)]> = e.params.iter().map(|(k, v)| (k.as_str().into(), v.clone())).collect();
            let calculator = self.calc_ref(&format!("Executions[{i}]"), &e.calculator_class, &params)?;
            Some(ExecDef { calculator, predictable: e.predictable, params })
        };
        doc.executions.iter().enumerate().filter_map(compile).collect()
    }

    fn immunity(&mut self, doc: &Effect) -> Box<[ImmunityDef]> {
        let compile = |entry: &ImmunityEntry| ImmunityDef {
            effect_tags: self.tag_list(&entry.effect_tags),
            effects: self.effect_list("Immunity", &entry.effects),
            source_tags: self.tag_list(&entry.source_tags),
        };
        doc.immunity.iter().map(compile).collect()
    }

    fn granted_abilities(&mut self, doc: &Effect) -> Box<[GrantDef]> {
        let compile = |g: &GrantedAbilityEntry| {
            if g.level == 0 {
                let message = format!("GrantedAbilities: {} has level 0; write at least 1", g.ability_class);
                self.error("bad-level", message);
            }
            let input = self.input(g.input_id.as_deref());
            let ability = self.ability_ref("GrantedAbilities", &g.ability_class)?;
            Some(GrantDef { ability, level: g.level, input, remove_with_effect: g.remove_on_effect_removal })
        };
        doc.granted_abilities.iter().filter_map(compile).collect()
    }

    fn effects_of_events(&mut self, doc: &Effect) -> ThenDef {
        let Some(then) = &doc.effects else { return ThenDef::default() };
        ThenDef {
            applied: self.effect_list("Effects.OnApplied", &then.on_applied),
            executed: self.effect_list("Effects.OnExecuted", &then.on_executed),
            expired: self.effect_list("Effects.OnExpired", &then.on_expired),
            removed: self.effect_list("Effects.OnRemoved", &then.on_removed),
        }
    }

    fn requirement(&mut self, name: &str) -> Option<HookId> {
        let id = self.rules.hook_names.find(name).map(HookId);
        let known = |id: u32| self.rules.hooks.requirements.contains_key(&HookId(id));
        if !id.is_some_and(|id| known(id.0)) {
            let near = suggestion(self.rules.hook_names.nearest_of(name, known));
            self.error("unknown-hook", format!("ApplicationRequirement: no requirement {name} is registered{near}"));
        }
        id
    }

    /// Compiles a duration. A constant duration must be in the valid range.
    fn duration(&mut self, doc: &Magnitude) -> Option<Mag> {
        let duration = self.magnitude("Duration", doc)?;
        let Some(seconds) = duration.constant() else { return Some(duration) };
        let most = SimTime::LONGEST.as_seconds().floor();
        if seconds < 0.0 || SimTime::try_seconds(seconds).is_none() {
            let message = format!("Duration: {seconds} s is out of range; write seconds from 0 to {most}");
            self.error("bad-duration", message);
            return None;
        }
        if seconds == 0.0 {
            let message = "Duration: 0 s ends the effect when it is applied; write a longer duration, or use Instant";
            self.warn("bad-duration", message.into());
        }
        Some(duration)
    }

    fn period(&mut self, doc: &Effect) -> Option<SimTime> {
        let p = doc.period?;
        if doc.duration_policy == DurationPolicy::Instant {
            self.error("bad-period", "Period: an Instant effect executes once; remove Period".into());
            return None;
        }
        if p.period == 0.0 {
            self.warn(
                "zero-period",
                "Period.Period: with 0 s, the effect is not periodic; write at least 0.001 s, or remove Period".into(),
            );
            return None;
        }
        match SimTime::try_seconds(p.period) {
            Some(t) if t >= MIN_PERIOD => Some(t),
            _ => {
                let (period, most) = (p.period, SimTime::LONGEST.as_seconds().floor());
                let message = format!("Period.Period: {period} s is out of range; write seconds from 0.001 to {most}");
                self.error("bad-period", message);
                None
            }
        }
    }

    fn modifier(&mut self, index: usize, m: &ugas_doc::Modifier) -> Option<ModDef> {
        let place = format!("Modifiers[{index}]");
        let attribute = self.attribute_ref(&place, &m.attribute)?;
        self.check_modified(&place, attribute);
        let magnitude = self.magnitude(&format!("{place}.Magnitude"), &m.magnitude)?;
        let channel = match (&m.channel, m.operation) {
            (Some(name), Operation::Multiply) => ChannelId::named(name),
            _ => ChannelId::NONE,
        };
        Some(ModDef {
            attribute,
            op: m.operation,
            magnitude,
            channel,
            channel_name: m.channel.as_deref().filter(|_| channel != ChannelId::NONE).map(Arc::from),
            source_tags: self.tag_list(&m.source_tags),
            target_tags: self.tag_list(&m.target_tags),
        })
    }

    fn stacking(&mut self, doc: &Effect) -> Option<StackDef> {
        let s = doc.stacking.as_ref()?;
        if doc.execution_policy != ExecutionPolicy::RunInParallel {
            let policy = doc.execution_policy;
            let message = format!(
                "ExecutionPolicy is {policy:?}, but Stacking requires RunInParallel; remove ExecutionPolicy or Stacking"
            );
            self.error("stacking-policy", message);
        }
        if doc.duration_policy == DurationPolicy::Instant {
            self.warn(
                "unused-field",
                "Stacking: an Instant effect does not stack; remove Stacking or change DurationPolicy".into(),
            );
            return None;
        }
        if s.limit == Some(0) {
            self.error("bad-limit", "Stacking.Limit is 0; write at least 1, or remove Limit".into());
        }
        Some(StackDef {
            by: s.by,
            limit: s.limit.unwrap_or(u32::MAX),
            on_stack: s.on_stack,
            period_on_stack: s.period_on_stack,
            on_expire: s.on_expire,
            overflow: self.effect_list("Stacking.OverflowEffects", &s.overflow_effects),
            deny_overflow: s.deny_overflow,
        })
    }

    pub(crate) fn effect_list(&mut self, place: &str, names: &[String]) -> Box<[EffectId]> {
        names.iter().filter_map(|n| self.effect_ref(place, n)).collect()
    }
}
