//! The compiler: tags, names, effects and templates; sets and look-ups have files of their own. One function per kind
//! of document; every error is kept.

use super::effect::{EffectDef, ExecDef, GrantDef, ImmunityDef, ModDef, StackDef, ThenDef};
use super::error::LoadIssue;
use super::lookup::{Kind, suggestion};
use super::scope::Scope;
use super::tag::{MAX_NAME, tag_segments};
use super::template::{Template, TemplateEffect};
use super::{Mag, Rules};
use crate::limits::MIN_PERIOD;
use crate::{AbilityGrant, ActorId, ChannelId, EffectId, HookId, SetId, SimTime, TagId};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_doc::{Controller, DurationPolicy, Effect, ExecutionPolicy, Magnitude, Operation, Origin, TagRegistry};

pub(crate) struct Compiler<'r> {
    /// Owned while rules are built; borrowed and never changed while a run-time definition is compiled.
    pub(crate) rules: Cow<'r, Rules>,
    /// The definitions of this build, collected before any document is compiled.
    pub(crate) declared: BTreeSet<(Kind, u32)>,
    pub(crate) issues: Vec<LoadIssue>,
    pub(crate) document: String,
    pub(crate) origin: Option<Origin>,
    /// Sets in document order, validated when all of them are known.
    pub(crate) defined: Vec<(SetId, String, Option<Origin>)>,
}

/// Marks an effect that only the authoritative sim applies (specification, section 13.7).
const AUTHORITATIVE_ONLY: &str = "Gameplay.Effect.AuthoritativeOnly";

/// Returns whether only the authoritative sim applies an effect: it is tagged so, or one of its executions is marked
/// as not predictable.
fn is_for_authority(doc: &Effect) -> bool {
    let marked =
        |tag: &String| tag.strip_prefix(AUTHORITATIVE_ONLY).is_some_and(|s| s.is_empty() || s.starts_with('.'));
    doc.effect_tags.iter().chain(&doc.granted_tags).any(marked) || doc.executions.iter().any(|x| !x.predictable)
}

impl Compiler<'_> {
    // Tags ------------------------------------------------------------------------------------------------------

    pub(crate) fn bad_tag(&mut self, name: &str) {
        if name.len() > MAX_NAME {
            let head: String = name.chars().take(32).collect();
            let message = format!("{head}… is not a tag: it has more than {MAX_NAME} characters");
            return self.error("bad-tag", message);
        }
        self.error(
            "bad-tag",
            format!("{name:?} is not a tag: write segments like State.Debuff, each A-Z then letters and digits"),
        );
    }

    pub(crate) fn registry(&mut self, doc: &TagRegistry) {
        for entry in &doc.tags {
            let Some(tag) = self.rules.tags.find(&entry.tag) else {
                continue;
            };
            let def = self.rules.to_mut().tags.def_mut(tag);
            if def.declared && def.allow_multiple != entry.allow_multiple {
                let message = format!("{} is declared twice with different AllowMultiple; the first stays", entry.tag);
                self.warn("tag-conflict", message);
                continue;
            }
            def.declared = true;
            def.allow_multiple = entry.allow_multiple;
        }
    }

    pub(crate) fn tag_list(&mut self, names: &[String]) -> Box<[TagId]> {
        names.iter().filter_map(|n| self.tag(n)).collect()
    }

    /// Resolves the tags of two lists with the same meaning.
    pub(crate) fn tags_of(&mut self, lists: [&[String]; 2]) -> Box<[TagId]> {
        lists.into_iter().flatten().filter_map(|n| self.tag(n)).collect()
    }

    /// Resolves a tag. A tag declares itself on use, but not at run time.
    pub(crate) fn tag(&mut self, name: &str) -> Option<TagId> {
        if tag_segments(name).is_none() {
            self.bad_tag(name);
            return None;
        }
        if let Some(tag) = self.rules.find_tag(name) {
            return Some(tag);
        }
        if self.is_fixed() {
            let near = suggestion(self.rules.tags.nearest(name));
            let message =
                format!("the rules do not know the tag {name}, and a run-time definition cannot add it{near}");
            self.error("undeclared-tag", message);
            return None;
        }
        let near = match self.are_suggestions_too_costly(self.rules.tags.len()) {
            true => String::new(),
            false => suggestion(self.rules.tags.nearest_declared(name)),
        };
        self.warn("undeclared-tag", format!("no registry declares {name}{near}"));
        Some(self.rules.to_mut().tags.intern(name))
    }

    /// Reports tag problems that are visible only when all tags are known.
    pub(crate) fn lint_tags(&mut self) {
        let tags: Vec<(TagId, String)> =
            self.rules.tags.ids().map(|t| (t, self.rules.tag_name(t).unwrap_or("").to_owned())).collect();
        for (_, name) in &tags {
            if name.split('.').count() > 5 {
                self.about(name, None);
                self.warn("tag-depth", "has more than five levels".into());
            }
        }
        // The first child of each tag, found once: a search per grant would cost effects times tags.
        let mut children: BTreeMap<TagId, &str> = BTreeMap::new();
        for (tag, name) in &tags {
            if let Some(parent) = self.rules.tags.parent(*tag) {
                children.entry(parent).or_insert(name);
            }
        }
        let effects: Vec<Arc<EffectDef>> = self.rules.effects.iter().flatten().cloned().collect();
        for e in effects {
            for &tag in &e.granted_tags {
                if let Some(child) = children.get(&tag) {
                    let parent = self.rules.tag_name(tag).unwrap_or("").to_owned();
                    self.about(&e.name, e.origin.clone());
                    self.warn(
                        "parent-granted",
                        format!("grants {parent}, which has more specific tags such as {child}"),
                    );
                }
            }
            for &cue in &e.cues {
                let name = self.rules.tag_name(cue).unwrap_or("").to_owned();
                if !name.starts_with("GameplayCue.") {
                    self.about(&e.name, e.origin.clone());
                    self.warn("cue-prefix", format!("the cue {name} does not start with GameplayCue."));
                }
            }
        }
    }

    // Effects ---------------------------------------------------------------------------------------------------

    pub(crate) fn effect(&mut self, doc: &Effect, id: EffectId, origin: Option<Origin>) -> Option<EffectDef> {
        let errors_before = self.issues.len();
        self.refuse_in_effect(doc);
        let duration = match (doc.duration_policy, &doc.duration) {
            (DurationPolicy::HasDuration, Some(m)) => self.duration(m),
            (DurationPolicy::HasDuration, None) => {
                self.error("missing-field", "DurationPolicy: HasDuration needs Duration".into());
                None
            }
            (DurationPolicy::Instant | DurationPolicy::Infinite, Some(_)) => {
                self.warn("unused-field", "Duration is only used by HasDuration".into());
                None
            }
            (DurationPolicy::Instant | DurationPolicy::Infinite, None) => None,
        };
        let period = self.period(doc);
        let mut modifiers = Vec::new();
        for (i, m) in doc.modifiers.iter().enumerate() {
            modifiers.extend(self.modifier(i, m));
        }
        let mut executions = Vec::new();
        for (i, e) in doc.executions.iter().enumerate() {
            let place = format!("Executions[{i}]");
            let params: Vec<(Arc<str>, _)> = e.params.iter().map(|(k, v)| (k.as_str().into(), v.clone())).collect();
            if let Some(calculator) = self.calc_ref(&place, &e.calculator_class, &params) {
                executions.push(ExecDef { calculator, predictable: e.predictable, params: params.into() });
            }
        }
        let mut immunity = Vec::new();
        for entry in &doc.immunity {
            immunity.push(ImmunityDef {
                effect_tags: self.tag_list(&entry.effect_tags),
                effects: self.effect_list("Immunity", &entry.effects),
                source_tags: self.tag_list(&entry.source_tags),
            });
        }
        let mut grants = Vec::new();
        for g in &doc.granted_abilities {
            if g.level == 0 {
                self.error(
                    "bad-level",
                    format!("GrantedAbilities: {} has level 0; levels start at 1", g.ability_class),
                );
            }
            let input = self.input(g.input_id.as_deref());
            if let Some(ability) = self.ability_ref("GrantedAbilities", &g.ability_class) {
                grants.push(GrantDef {
                    ability,
                    level: g.level,
                    input,
                    remove_with_effect: g.remove_on_effect_removal,
                });
            }
        }
        let stacking = self.stacking(doc);
        let then = doc.effects.clone().unwrap_or_default();
        let then = ThenDef {
            applied: self.effect_list("Effects.OnApplied", &then.on_applied),
            executed: self.effect_list("Effects.OnExecuted", &then.on_executed),
            expired: self.effect_list("Effects.OnExpired", &then.on_expired),
            removed: self.effect_list("Effects.OnRemoved", &then.on_removed),
        };
        let chance = match &doc.application_chance {
            Some(m) => self.magnitude("ApplicationChance", m),
            None => None,
        };
        let condition = match &doc.application_condition {
            Some(text) => self.expression_in("ApplicationCondition", text, Scope::APPLICATION),
            None => None,
        };
        let requirement = doc.application_requirement.as_ref().and_then(|name| {
            let id = self.rules.hook_names.find(name).map(HookId);
            let known = id.is_some_and(|id| self.rules.hooks.requirements.contains_key(&id));
            if !known {
                let known = |id: u32| self.rules.hooks.requirements.contains_key(&HookId(id));
                let near = suggestion(self.rules.hook_names.nearest_of(name, known));
                self.error(
                    "unknown-hook",
                    format!("ApplicationRequirement: no requirement {name} is registered{near}"),
                );
            }
            id
        });
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
            modifiers: modifiers.into(),
            executions: executions.into(),
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
            immunity: immunity.into(),
            remove_with_tags: self.tag_list(&doc.remove_effects_with_tags),
            stacking,
            bound_to_avatar: doc.bound_to_avatar_location,
            then,
            grants: grants.into(),
            cues: self.tag_list(&doc.gameplay_cues),
            rules: self.combat_rules(doc),
            combat: self.combat(doc),
            authority: is_for_authority(doc),
            simple: false,
            looks_at_source: false,
            plain_write: None,
            watches: false,
            has_live: false,
            fixed_duration: None,
        };
        def.classify();
        let failed = self.issues[errors_before..].iter().any(|i| i.severity == super::Severity::Error);
        (!failed).then_some(def)
    }

    /// Compiles a duration; a constant one must be a valid length of an effect.
    fn duration(&mut self, doc: &Magnitude) -> Option<Mag> {
        let duration = self.magnitude("Duration", doc)?;
        let Mag::Value(seconds) = duration else { return Some(duration) };
        let most = SimTime::LONGEST.as_seconds().floor();
        if seconds < 0.0 || SimTime::try_seconds(seconds).is_none() {
            let message = format!("Duration: {seconds} s is out of range; write seconds from 0 to {most}");
            self.error("bad-duration", message);
            return None;
        }
        if seconds == 0.0 {
            let message = "Duration: 0 s ends the effect when it is applied; write its length, or Instant";
            self.warn("bad-duration", message.into());
        }
        Some(duration)
    }

    fn period(&mut self, doc: &Effect) -> Option<SimTime> {
        let p = doc.period?;
        if doc.duration_policy == DurationPolicy::Instant {
            self.error("bad-period", "Period: an Instant effect happens once and has no Period".into());
            return None;
        }
        if p.period == 0.0 {
            self.warn(
                "zero-period",
                "Period.Period: a Period of 0 is not periodic; write its length, or remove Period".into(),
            );
            return None;
        }
        match SimTime::try_seconds(p.period) {
            Some(t) if t >= MIN_PERIOD => Some(t),
            _ => {
                self.error(
                    "bad-period",
                    format!("Period.Period: {} s is out of range; write at least 0.001 s", p.period),
                );
                None
            }
        }
    }

    fn modifier(&mut self, index: usize, m: &ugas_doc::Modifier) -> Option<ModDef> {
        let place = format!("Modifiers[{index}]");
        let attribute = self.attribute_ref(&place, &m.attribute)?;
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
            self.error("stacking-policy", "with Stacking the ExecutionPolicy must be RunInParallel".into());
        }
        if doc.duration_policy == DurationPolicy::Instant {
            self.warn("unused-field", "Stacking is not used by Instant".into());
            return None;
        }
        if s.limit == Some(0) {
            self.error("bad-limit", "Stacking.Limit must be at least 1".into());
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

    // Templates -------------------------------------------------------------------------------------------------

    pub(crate) fn template(&mut self, doc: &Controller) {
        self.refuse_in_controller(doc);
        if doc.attribute_sets.is_empty() {
            self.error("no-sets", "a controller needs at least one attribute set".into());
        }
        let (mut sets, mut base, mut stated) = (Vec::new(), Vec::new(), Vec::new());
        for s in &doc.attribute_sets {
            let Some(id) = self.find(Kind::Set, &s.name).map(SetId) else {
                let near = self.nearest_suggestion(Kind::Set, &s.name);
                self.error("unknown-set", format!("unknown attribute set {}{near}", s.name));
                continue;
            };
            sets.push(id);
            for v in &s.attributes {
                let Some(a) = self.attribute_ref(&s.name, &v.name) else {
                    continue;
                };
                if !self.rules.set_attributes(id).is_some_and(|list| list.iter().any(|d| d.attribute == a)) {
                    self.error("unknown-attribute", format!("the set {} has no attribute {}", s.name, v.name));
                    continue;
                }
                for (list, value) in [(&mut base, v.base_value), (&mut stated, v.current_value)] {
                    if let Some(value) = value {
                        list.push((a, value));
                    }
                }
            }
        }
        if base.iter().chain(&stated).any(|(_, v)| !v.is_finite()) {
            self.error("not-finite", "a value is not a finite number".into());
        }
        let mut effects = Vec::new();
        for e in &doc.active_effects {
            let Some(effect) = self.effect_ref("ActiveEffects", &e.effect_class) else {
                continue;
            };
            if e.level == 0 || e.stacks == 0 {
                self.error("bad-level", format!("{}: Level and Stacks start at 1", e.effect_class));
            }
            let remaining = match e.duration {
                Some(d) if d >= 0.0 => SimTime::try_seconds(d),
                _ => None,
            };
            effects.push(TemplateEffect { effect, level: e.level, stacks: e.stacks, remaining });
        }
        let explained = |tag: TagId| {
            let grants = |e: &TemplateEffect| self.rules.effect_def(e.effect).map(|d| d.granted_tags.contains(&tag));
            effects.iter().any(|e| grants(e) == Some(true))
        };
        let known: Vec<TagId> =
            doc.owned_tags.iter().filter_map(|t| self.rules.tags.find(t)).filter(|&t| explained(t)).collect();
        let mut tags: Vec<TagId> = self.tag_list(&doc.owned_tags).into_vec();
        tags.retain(|t| !known.contains(t));
        let mut abilities = Vec::new();
        for a in &doc.granted_abilities {
            if a.level == 0 {
                self.error("bad-level", format!("{}: Level starts at 1", a.ability_class));
            }
            let input = self.input(a.input_id.as_deref());
            if let Some(ability) = self.ability_ref("GrantedAbilities", &a.ability_class) {
                abilities.push(AbilityGrant { ability, level: a.level, input });
            }
        }
        let ability_sets = doc.ability_sets.iter().filter_map(|s| self.ability_set_ref("AbilitySets", s)).collect();
        let owner = ActorId::named(&doc.owner_actor.actor_id);
        let avatar = doc.avatar_actor.as_ref().map_or(owner, |a| ActorId::named(&a.actor_id));
        let Some(id) = self.rules.template_names.find(&doc.owner_actor.actor_id) else {
            return;
        };
        self.rules.to_mut().templates[id as usize] = Some(Arc::new(Template {
            owner,
            avatar,
            sets: sets.into(),
            base: base.into(),
            stated: stated.into(),
            tags: tags.into(),
            effects: effects.into(),
            abilities: abilities.into(),
            ability_sets,
            active: doc.is_active,
            position: doc.position,
            replication: doc.replication_mode,
        }));
    }
}
