//! Compiled controller documents: the data that a spawn needs, with ids instead of names.

use super::Rules;
use super::compile::Compiler;
use super::compiled::CompiledText;
use super::document::{Phase, RulesDocument};
use crate::{
    AbilityGrant, AbilitySetId, ActorId, AttributeId, EffectId, NameKind, ResourceSpec, SetId, SimTime, TagId,
};
use std::sync::Arc;
use ugas_doc::{CapabilityMode, Controller, ControllerReplication, Origin};

#[derive(Clone, Debug)]
pub(crate) struct TemplateEffect {
    pub(crate) effect: EffectId,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) remaining: Option<SimTime>,
}

#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) owner: ActorId,
    pub(crate) avatar: ActorId,
    pub(crate) sets: Box<[SetId]>,
    /// The resources, which are also among the sets.
    pub(crate) resources: Box<[ResourceSpec]>,
    pub(crate) base: Box<[(AttributeId, f64)]>,
    /// The current values in the document. If a current value differs from the computed value, a diagnostic is emitted.
    pub(crate) stated: Box<[(AttributeId, f64)]>,
    /// The owned tags that none of the listed effects grants.
    pub(crate) tags: Box<[TagId]>,
    pub(crate) effects: Box<[TemplateEffect]>,
    pub(crate) abilities: Box<[AbilityGrant]>,
    pub(crate) ability_sets: Box<[AbilitySetId]>,
    pub(crate) capability_sets: Box<[AbilitySetId]>,
    pub(crate) capability_mode: CapabilityMode,
    pub(crate) active: bool,
    pub(crate) position: Option<[f64; 3]>,
    /// The replication mode. The network session reads it; it is not part of a row.
    pub(crate) replication: ControllerReplication,
}

impl CompiledText for Template {}

/// Attributes with values.
type AttributeValues = Box<[(AttributeId, f64)]>;

impl Template {
    /// Returns whether a new controller of the template gets more than attributes, actors and a position.
    pub(crate) fn has_parts(&self) -> bool {
        let has_sets = !self.ability_sets.is_empty() || !self.capability_sets.is_empty();
        has_sets || !self.abilities.is_empty() || !self.tags.is_empty() || !self.effects.is_empty()
    }
}

impl RulesDocument for Controller {
    fn phase(&self) -> Phase {
        Phase::Controllers
    }

    fn name_kind(&self) -> Option<NameKind> {
        Some(NameKind::Template)
    }

    fn compile(&self, c: &mut Compiler<'_>, _: &Option<Origin>) {
        c.template(self);
    }
}

impl Rules {
    /// Returns whether a document names the avatar for its controllers.
    pub(crate) fn is_template_avatar(&self, avatar: ActorId) -> bool {
        self.templates.iter().flatten().any(|template| template.avatar == avatar)
    }
}

impl Compiler<'_> {
    fn template(&mut self, doc: &Controller) {
        self.refuse_in_controller(doc);
        if doc.attribute_sets.is_empty() && doc.stats.is_empty() && doc.resources.is_empty() {
            self.error("no-sets", "the controller has no attribute sets; add at least one".into());
        }
        let resources = self.template_resources(doc);
        let (sets, base, stated) = self.template_sets(doc, &resources);
        if let Some((a, v)) = base.iter().chain(&stated).find(|(_, v)| !v.is_finite()) {
            let name = self.rules.attribute_name(*a).unwrap_or_default();
            self.error("not-finite", format!("the value of {name} is {v}; write a finite number"));
        }
        let effects = self.template_effects(doc);
        let explained = |tag: TagId| {
            let grants = |e: &TemplateEffect| self.rules.effect_def(e.effect).map(|d| d.granted_tags.contains(&tag));
            effects.iter().any(|e| grants(e) == Some(true))
        };
        let known: Vec<TagId> =
            doc.owned_tags.iter().filter_map(|t| self.rules.tags.find(t)).filter(|&t| explained(t)).collect();
        let mut tags: Vec<TagId> = self.tag_list(&doc.owned_tags).into_vec();
        tags.retain(|t| !known.contains(t));
        let abilities = self.template_abilities(doc);
        let ability_sets = doc.ability_sets.iter().filter_map(|s| self.ability_set_ref("AbilitySets", s)).collect();
        let listed = doc.capabilities.as_ref().map_or(&[][..], |c| &c.sets);
        let capability_sets = listed.iter().filter_map(|s| self.capability_set_ref("Capabilities.Sets", s)).collect();
        let owner = ActorId::named(&doc.owner_actor.actor_id);
        let avatar = doc.avatar_actor.as_ref().map_or(owner, |a| ActorId::named(&a.actor_id));
        let Some(id) = self.find(NameKind::Template, &doc.owner_actor.actor_id) else { return };
        let template = Template {
            owner,
            avatar,
            sets,
            resources: resources.into(),
            base,
            stated,
            tags: tags.into(),
            effects,
            abilities,
            ability_sets,
            capability_sets,
            capability_mode: doc.capabilities.as_ref().map_or_else(CapabilityMode::default, |c| c.mode),
            active: doc.is_active,
            position: doc.position,
            replication: doc.replication_mode,
        };
        self.rules.to_mut().templates.define(id, Arc::new(template));
    }

    /// Returns the sets of a controller, and the base values and current values that the document states.
    fn template_sets(
        &mut self,
        doc: &Controller,
        resources: &[ResourceSpec],
    ) -> (Box<[SetId]>, AttributeValues, AttributeValues) {
        let (mut sets, mut base, mut stated) = (Vec::new(), Vec::new(), Vec::new());
        sets.extend(doc.stats.iter().filter_map(|name| self.stat_table_ref("Stats", name)));
        sets.extend(resources.iter().map(|r| r.resource));
        for s in &doc.attribute_sets {
            let Some(id) = self.find(NameKind::Set, &s.name).map(SetId) else {
                let near = self.nearest_suggestion(NameKind::Set, &s.name);
                self.error("unknown-set", format!("unknown attribute set {}{near}", s.name));
                continue;
            };
            if self.rules.is_stat_table(id) {
                self.error("unknown-set", format!("{} is a stat table; write it into Stats", s.name));
                continue;
            }
            if self.rules.resource_def(id).is_some() {
                self.error("unknown-set", format!("{} is a resource; write it into Resources", s.name));
                continue;
            }
            sets.push(id);
            for v in &s.attributes {
                let Some(a) = self.attribute_ref(&s.name, &v.name) else {
                    continue;
                };
                if !self.rules.set_attributes(id).is_some_and(|list| list.iter().any(|d| d.attribute == a)) {
                    self.error(
                        "unknown-attribute",
                        format!(
                            "the set {} has no attribute {}; add it to the set, or remove the value",
                            s.name, v.name
                        ),
                    );
                    continue;
                }
                for (list, value) in [(&mut base, v.base_value), (&mut stated, v.current_value)] {
                    if let Some(value) = value {
                        list.push((a, value));
                    }
                }
            }
        }
        (sets.into(), base.into(), stated.into())
    }

    fn template_effects(&mut self, doc: &Controller) -> Box<[TemplateEffect]> {
        let mut effects = Vec::new();
        for e in &doc.active_effects {
            let Some(effect) = self.effect_ref("ActiveEffects", &e.effect_class) else {
                continue;
            };
            if e.level == 0 || e.stacks == 0 {
                self.error(
                    "bad-level",
                    format!("{}: Level is {} and Stacks is {}; write at least 1", e.effect_class, e.level, e.stacks),
                );
            }
            let remaining = match e.duration {
                Some(d) if d >= 0.0 => SimTime::try_seconds(d),
                _ => None,
            };
            effects.push(TemplateEffect { effect, level: e.level, stacks: e.stacks, remaining });
        }
        effects.into()
    }

    fn template_abilities(&mut self, doc: &Controller) -> Box<[AbilityGrant]> {
        let mut abilities = Vec::new();
        for a in &doc.granted_abilities {
            if a.level == 0 {
                self.error("bad-level", format!("{}: Level is 0; write at least 1", a.ability_class));
            }
            let input = self.input(a.input_id.as_deref());
            if let Some(ability) = self.ability_ref("GrantedAbilities", &a.ability_class) {
                abilities.push(AbilityGrant { ability, level: a.level, input: input.some() });
            }
        }
        abilities.into()
    }
}
