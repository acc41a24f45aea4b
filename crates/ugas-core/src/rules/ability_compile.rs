//! The compiler of abilities, ability sets and timelines.

use super::ability::{AbilityDef, AbilityFlags, CastDef, ChargesDef, StaticMask, TriggerDef, ValidationDef, listen};
use super::compile::Compiler;
use super::document::{Phase, RulesDocument};
use super::effect::EffectDef;
use super::error::LoadError;
use super::interner::nearest;
use super::lookup::suggestion;
use super::scope::Scope;
use super::{Mag, Rules, Severity};
use crate::{AbilityId, AttributeId, CalcId, EffectId, GroupId, HookId, NameKind, SimTime, TagId};
use std::sync::Arc;
use ugas_doc::{Ability, CommitPolicy, DurationPolicy, Effect, ExecutionPolicy, OnTargetLost, Origin, Trigger};

/// Returns the built-in effect that grants an ability's `ActivationOwnedTags`.
pub(crate) fn owned_tags_effect(doc: &Ability) -> Option<Effect> {
    let tags = &doc.tags.activation_owned_tags;
    (!tags.is_empty()).then(|| {
        let name = format!("GE_OwnedTags_{}", doc.name);
        Effect { granted_tags: tags.clone(), ..Effect::infinite(name) }
    })
}

/// A run-time ability and its owned-tags effect, which share a number.
pub(crate) struct CompiledAbility {
    pub(crate) ability: AbilityDef,
    pub(crate) owned: Option<EffectDef>,
}

/// Compiles an ability on top of finished rules under a run-time number.
pub(crate) fn compile_ability(rules: &Rules, doc: &Ability, number: u32) -> Result<CompiledAbility, LoadError> {
    let mut c = Compiler::over(rules);
    c.about(&doc.name, None);
    let effect = owned_tags_effect(doc);
    let owned = effect.as_ref().and_then(|e| c.effect(e, EffectId(number), None));
    let ability = c.ability(doc, AbilityId(number), effect.map(|_| EffectId(number)), None);
    match ability {
        Some(ability) if !c.has_errors() => Ok(CompiledAbility { ability, owned }),
        _ => Err(LoadError { issues: c.issues }),
    }
}

const STATICS: [(&str, StaticMask); 7] = [
    ("CastLength", StaticMask::CAST_LENGTH),
    ("GlobalCooldown", StaticMask::GLOBAL_COOLDOWN),
    ("Cooldown", StaticMask::COOLDOWN),
    ("Cost", StaticMask::COST),
    ("MaxCharges", StaticMask::MAX_CHARGES),
    ("ChargeCost", StaticMask::CHARGE_COST),
    ("ChargesPerCooldown", StaticMask::CHARGES_PER_COOLDOWN),
];

impl RulesDocument for Ability {
    fn phase(&self) -> Phase {
        Phase::Abilities
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Ability)
    }

    fn own_effect(&self) -> Option<Effect> {
        owned_tags_effect(self)
    }

    fn compile(&self, c: &mut Compiler<'_>, origin: &Option<Origin>) {
        let Some(id) = c.find(NameKind::Ability, &self.name).map(AbilityId) else { return };
        let own = owned_tags_effect(self).and_then(|e| c.find(NameKind::Effect, &e.name)).map(EffectId);
        if let Some(def) = c.ability(self, id, own, origin.clone()) {
            c.rules.to_mut().abilities.define(id.0, Arc::new(def));
        }
    }
}

impl Compiler<'_> {
    /// Compiles an ability. Returns `None` if the ability has an error.
    pub(crate) fn ability(
        &mut self,
        doc: &Ability,
        id: AbilityId,
        owned: Option<EffectId>,
        origin: Option<Origin>,
    ) -> Option<AbilityDef> {
        let errors_before = self.issues.len();
        let cost = doc.cost.as_ref().and_then(|name| self.cost(name));
        let cooldown = doc.cooldown.as_ref().and_then(|name| self.cooldown(name));
        let cooldown_tags = self.cooldown_tags(cooldown);
        let query = doc.activation_query.as_ref().and_then(|q| self.query("ActivationQuery", q));
        let condition = doc
            .activation_condition
            .as_ref()
            .and_then(|text| self.expression_in("ActivationCondition", text, Scope::ACTIVATION));
        let hook = doc.can_activate.as_ref().and_then(|name| self.hook(name));
        let triggers: Vec<TriggerDef> =
            doc.triggers.iter().enumerate().filter_map(|(i, t)| self.trigger(i, t, doc)).collect();
        let group = doc.activation_group.as_ref().and_then(|g| {
            if g.name.is_empty() {
                self.error("missing-field", "ActivationGroup: the field Name is missing; add it".into());
                return None;
            }
            Some((self.group(&g.name), g.policy))
        });
        if let Some(range) = doc.max_range
            && !(range.is_finite() && range >= 0.0)
        {
            self.error("bad-range", format!("MaxRange is {range}; write a finite number from 0"));
        }
        let validation = doc.async_validation.as_ref().filter(|v| v.required).map(|v| ValidationDef {
            kind: v.kind.as_deref().unwrap_or("").into(),
            timeout: v.timeout_ms.map_or(SimTime::NEVER, |ms| SimTime::millis(i64::from(ms))),
            predicted: v.predicted,
        });
        let cast = self.cast(doc);
        let timeline = self.rules.by_ability.get(&id).and_then(|t| self.rules.timeline_def(*t)).cloned();
        let program = self.program(doc, timeline.as_deref());
        let mut def = AbilityDef {
            id,
            name: doc.name.as_str().into(),
            origin,
            tags: self.tag_list(&doc.tags.ability_tags),
            blocked_by: self.tag_list(&doc.tags.blocked_by_tags),
            blocks: self.tag_list(&doc.tags.block_abilities_with_tags),
            cancels: self.tags_of([&doc.tags.cancel_abilities_with_tags, &doc.tags.cancel_other_abilities_with_tags]),
            cancelled_by: self.tags_of([&doc.tags.cancel_abilities_with_tags, &doc.tags.cancelled_by_tags]),
            required: self.tag_list(&doc.tags.activation_required_tags),
            blocked: self.tag_list(&doc.tags.activation_blocked_tags),
            owned,
            source_required: self.tag_list(&doc.source_required_tags),
            target_required: self.tag_list(&doc.target_required_tags),
            target_blocked: self.tag_list(&doc.target_blocked_tags),
            query,
            condition,
            hook,
            cost,
            cooldown,
            cooldown_tags,
            group,
            triggers: triggers.into(),
            gcd: self.global_cooldown(doc),
            charges: self.charges(doc),
            cast,
            max_range: doc.max_range,
            validation,
            manual: doc.commit_policy == CommitPolicy::Manual,
            multiple: doc.allow_multiple_instances,
            retrigger: doc.retrigger,
            held: doc.held_activation,
            automatic: doc.automatic,
            queue_window: SimTime::seconds(self.seconds("bad-queue-window", "QueueWindow", doc.queue_window, true)),
            motion: doc.motion.as_ref().and_then(|name| self.motion_ref("Motion", name)),
            avatar: doc.avatar_dependent,
            passive: doc.passive,
            dead: doc.castable_while_dead,
            fixed: self.statics(&doc.static_values),
            program,
            flags: AbilityFlags::default(),
            doc: Arc::new(doc.clone()),
        };
        def.flags = self.flags(&def);
        let failed = self.issues[errors_before..].iter().any(|i| i.severity == Severity::Error);
        (!failed).then_some(def)
    }

    fn flags(&self, def: &AbilityDef) -> AbilityFlags {
        let (mut listens, mut watched) = (0, Vec::new());
        for trigger in &def.triggers {
            match *trigger {
                TriggerDef::Event(_) => listens |= listen::EVENT,
                TriggerDef::TagAdded(_) | TriggerDef::TagPresent(_) => listens |= listen::TAG,
                TriggerDef::Below(attribute, _) | TriggerDef::Above(attribute, _) => watched.push(attribute),
                TriggerDef::EffectApplied(_) => listens |= listen::EFFECT,
                TriggerDef::Died => listens |= listen::DEATH,
            }
        }
        if def.passive {
            listens |= listen::TAG;
        }
        watched.sort_unstable();
        watched.dedup();
        AbilityFlags {
            checks: def.open_checks(),
            ends_at_once: def.ends_at_once(),
            price: def.cost.and_then(|cost| self.price(cost)),
            foreign_condition: def.condition.as_ref().is_some_and(|c| c.is_foreign()),
            foreign_hook: def.hook.is_some_and(|h| !self.rules.hooks.activations.get(&h).is_some_and(|h| h.own_only)),
            foreign_commit: [def.cost, def.cooldown].into_iter().flatten().any(|e| self.is_required_by_code(e)),
            needs_target: !def.target_required.is_empty(),
            listens,
            watched: watched.into(),
        }
    }

    // Cost and cooldown -----------------------------------------------------------------------------------------

    /// Validates an effect that a commit applies. Returns `None` if the effect has errors.
    fn commit_effect(&mut self, place: &str, name: &str) -> Option<(EffectId, Option<Arc<EffectDef>>)> {
        let id = self.effect_ref(place, name)?;
        let def = self.rules.effect_def(id).cloned();
        if def.as_ref().is_some_and(|d| d.chance.is_some()) {
            self.error(
                "chance-on-commit",
                format!("{place}: {name} has an ApplicationChance, but a commit always applies it; remove the chance"),
            );
        }
        if let Some(calc) = def.as_deref().and_then(|d| self.rolling(d)) {
            let calc = self.rules.calculator_name(calc).unwrap_or_default();
            let message =
                format!("{place}: {name} uses {calc}, which draws random numbers; use a calculation without roll");
            self.error("roll-on-commit", message);
        }
        Some((id, def))
    }

    /// Returns the first calculation of the effect that draws random numbers.
    fn rolling(&self, def: &EffectDef) -> Option<CalcId> {
        let numbers = def.modifiers.iter().map(|m| &m.magnitude).chain(&def.duration);
        let used = numbers.filter_map(Mag::calculation);
        let mut used = used.chain(def.executions.iter().map(|x| x.calculator));
        used.find(|c| self.rules.calcs.get(c.0).is_some_and(|c| c.rolls))
    }

    fn cost(&mut self, name: &str) -> Option<EffectId> {
        let (id, def) = self.commit_effect("Cost", name)?;
        if let Some(def) = def.filter(|d| d.policy != DurationPolicy::Instant) {
            self.error("bad-cost", format!("Cost: {name} is {:?}; use an Instant effect", def.policy));
        }
        Some(id)
    }

    /// Returns the attribute and the amount of a cost that is a single number.
    fn price(&self, cost: EffectId) -> Option<(AttributeId, f64)> {
        let def = self.rules.effect_def(cost)?;
        match &*def.modifiers {
            [m] if def.executions.is_empty() => m.magnitude.constant().map(|v| (m.attribute, -v)),
            _ => None,
        }
    }

    /// Returns whether code decides about an effect. Such code may read anything.
    fn is_required_by_code(&self, effect: EffectId) -> bool {
        self.rules.effect_def(effect).is_none_or(|d| d.requirement.is_some())
    }

    fn cooldown(&mut self, name: &str) -> Option<EffectId> {
        let (id, def) = self.commit_effect("Cooldown", name)?;
        if let Some(def) = def {
            if def.policy != DurationPolicy::HasDuration {
                self.error("bad-cooldown", format!("Cooldown: {name} is {:?}; use a HasDuration effect", def.policy));
            }
            if def.execution_policy == ExecutionPolicy::RunInSequence {
                self.error("bad-cooldown", format!("Cooldown: {name} is RunInSequence; use RunInParallel"));
            }
            if def.granted_tags.is_empty() {
                let message =
                    format!("Cooldown: {name} grants no tag, so it never blocks; grant one such as Cooldown.Dash");
                self.warn("cooldown-without-tag", message);
            }
        }
        Some(id)
    }

    /// Returns the cooldown tags: descendants of `Cooldown`; if there are none, all granted tags.
    fn cooldown_tags(&self, cooldown: Option<EffectId>) -> Box<[TagId]> {
        let Some(def) = cooldown.and_then(|id| self.rules.effect_def(id)) else {
            return Box::default();
        };
        let under: Box<[TagId]> = def.granted_tags.iter().copied().filter(|&t| self.rules.is_cooldown_tag(t)).collect();
        if under.is_empty() { def.granted_tags.clone() } else { under }
    }

    // Activation checks --------------------------------------------------------------------------------------------

    fn hook(&mut self, name: &str) -> Option<HookId> {
        let id = self.rules.hook_names.find(name).map(HookId);
        let known = |id: HookId| self.rules.hooks.activations.contains_key(&id);
        if id.is_some_and(known) {
            return id;
        }
        let near = suggestion(self.rules.hook_names.nearest_of(name, |id| known(HookId(id))));
        self.error("unknown-hook", format!("CanActivate: no hook {name} is registered{near}"));
        None
    }

    fn trigger(&mut self, index: usize, t: &Trigger, of: &Ability) -> Option<TriggerDef> {
        let place = format!("Triggers[{index}]");
        let named =
            [&t.event, &t.tag_added, &t.tag_present, &t.attribute, &t.effect_applied].into_iter().flatten().count();
        let found = named + usize::from(t.died);
        if found != 1 {
            let forms = "Event, TagAdded, TagPresent, Attribute, EffectApplied, Died: true";
            self.error("bad-trigger", format!("{place}: expected exactly one of {forms}, found {found}"));
            return None;
        }
        if t.attribute.is_none() && (t.below.is_some() || t.above.is_some()) {
            self.error("bad-trigger", format!("{place}: only an Attribute trigger uses Below and Above; remove them"));
            return None;
        }
        if t.died {
            if !of.castable_while_dead {
                let why = "the owner is dead when Died fires";
                let message = format!("{place}: CastableWhileDead is false, but {why}; write CastableWhileDead: true");
                self.error("bad-trigger", message);
            }
            return Some(TriggerDef::Died);
        }
        if let Some(tag) = &t.event {
            return self.tag(tag).map(TriggerDef::Event);
        }
        if let Some(tag) = &t.tag_added {
            return self.tag(tag).map(TriggerDef::TagAdded);
        }
        if let Some(tag) = &t.tag_present {
            return self.tag(tag).map(TriggerDef::TagPresent);
        }
        if let Some(effect) = &t.effect_applied {
            return self.effect_ref(&place, effect).map(TriggerDef::EffectApplied);
        }
        let attribute = self.attribute_ref(&place, t.attribute.as_deref().unwrap_or(""))?;
        match (t.below, t.above) {
            (Some(v), None) if v.is_finite() => Some(TriggerDef::Below(attribute, v)),
            (None, Some(v)) if v.is_finite() => Some(TriggerDef::Above(attribute, v)),
            _ => {
                let found: Vec<f64> = [t.below, t.above].into_iter().flatten().collect();
                let message = format!("{place}: expected one finite number, Below or Above, found {found:?}");
                self.error("bad-trigger", message);
                None
            }
        }
    }

    // Timers ----------------------------------------------------------------------------------------------------

    /// Validates the length of a timer in seconds.
    fn seconds(&mut self, code: &'static str, place: &str, seconds: f64, zero: bool) -> f64 {
        let fits = SimTime::try_seconds(seconds).is_some_and(|t| t > SimTime::ZERO || (zero && seconds == 0.0));
        if !fits {
            let least = if zero { "from 0" } else { "above 0" };
            self.error(code, format!("{place} is {seconds}; write seconds {least}"));
        }
        seconds
    }

    fn global_cooldown(&mut self, doc: &Ability) -> Option<(GroupId, f64)> {
        let g = doc.global_cooldown.as_ref()?;
        let length = self.seconds("bad-global-cooldown", "GlobalCooldown.Length", g.length, true);
        Some((self.group(g.group.as_deref().unwrap_or("Default")), length))
    }

    fn charges(&mut self, doc: &Ability) -> Option<ChargesDef> {
        let c = doc.charges.as_ref()?;
        if c.max == 0 {
            self.error("bad-charges", "Charges.Max is 0; write at least 1".into());
        }
        if c.per_cooldown == Some(0) {
            self.error("bad-charges", "Charges.PerCooldown is 0; write at least 1".into());
        }
        Some(ChargesDef {
            max: c.max,
            cost: c.cost.unwrap_or(1),
            per: c.per_cooldown.unwrap_or(1),
            cooldown: self.seconds("bad-charges", "Charges.Cooldown", c.cooldown, false),
            predicted: c.predict_length != Some(false),
        })
    }

    fn cast(&mut self, doc: &Ability) -> Option<CastDef> {
        let c = doc.cast.as_ref()?;
        if c.ticks == Some(0) {
            self.error("bad-cast", "Cast.Ticks is 0; write at least 1".into());
        }
        self.cast_range(doc);
        let while_moving = c.while_moving.unwrap_or(true);
        let moving = match while_moving {
            true => None,
            // A tag that the finished rules do not define is never granted.
            false if self.is_fixed() => self.rules.find_tag("State.Moving"),
            false => self.tag("State.Moving"),
        };
        Some(CastDef {
            length: self.seconds("bad-cast", "Cast.Length", c.length, true),
            ticks: c.ticks.unwrap_or(1),
            initial: c.initial_tick,
            cancel_on_release: c.cancel_on_release,
            cancel_on_input: c.cancel_on_input,
            interruptible: c.interruptible.unwrap_or(true),
            still: !while_moving,
            moving,
            on_target_lost: c.on_target_lost,
            max_range: c.max_range,
            predicted: c.predict_length != Some(false),
            awaits_data: self.tick_data(doc, c),
        })
    }

    /// Returns whether the ticks of a cast wait for the data of the client, and validates that the client sends data.
    fn tick_data(&mut self, doc: &Ability, cast: &ugas_doc::Cast) -> bool {
        match cast.tick_data {
            ugas_doc::TickData::Latest => return false,
            ugas_doc::TickData::Required => {}
        }
        if doc.net_execution != ugas_doc::NetExecution::LocalPredicted {
            let message = "Cast.TickData: Required needs the NetExecutionPolicy LocalPredicted, because only a \
                           predicting client sends targets";
            self.error("bad-cast", message.into());
        } else if !crate::task::TargetUse::Sets.is_in(&doc.on_predicted_tick) {
            let message = "Cast.TickData: Required needs a task in OnPredictedTick that sets the target; add SetTarget";
            self.error("bad-cast", message.into());
        }
        true
    }

    /// Validates the range of a cast.
    fn cast_range(&mut self, doc: &Ability) {
        let Some((cast, range)) = doc.cast.as_ref().and_then(|c| Some((c, c.max_range?))) else { return };
        if !(range.is_finite() && range >= 0.0) {
            self.error("bad-range", format!("Cast.MaxRange is {range}; write a finite number from 0"));
        }
        if cast.on_target_lost == OnTargetLost::Continue {
            let message =
                "Cast.MaxRange: not used while OnTargetLost is Continue; write OnTargetLost: Cancel or Complete";
            self.error("bad-cast", message.into());
        }
        if let Some(start) = doc.max_range.filter(|&start| start > range) {
            self.error(
                "bad-cast",
                format!("Cast.MaxRange: {range} is less than the ability's MaxRange {start}; write at least {start}"),
            );
        }
    }

    fn statics(&mut self, words: &[String]) -> StaticMask {
        let mut mask = StaticMask::default();
        for word in words {
            match STATICS.iter().find(|(w, _)| w == word) {
                Some((_, bit)) => mask.0 |= bit.0,
                None => {
                    let near = suggestion(nearest(word, STATICS.iter().map(|(w, _)| *w)));
                    let known = STATICS.map(|(w, _)| w).join(", ");
                    let help = if near.is_empty() { format!("; the values are {known}") } else { near };
                    self.error("bad-static", format!("Static: unknown value {word}{help}"));
                }
            }
        }
        mask
    }
}
