//! Runs the verbs that change the sim.

use super::ability::Handle;
use super::path_value::filter_of;
use super::{Applied, Runner};
use crate::scenario::{ActorDef, ApplyVerb, ChangeTo, ModifyVerb, Name, RemoveVerb, RemoveWhat, Verb};
use ugas_core::{
    AbilityGrant, AbilityId, ActorId, Anchor, AttributeId, BadValue, ControllerId, EffectFilter, EffectId,
    EffectUpdate, Hit, Op, Outcome, Rate, Refusal, ResourceSpec, SetId, SpawnSpec, Spec,
};

/// The id of a controller that never existed; commands to it are refused as stale.
pub(crate) const NEVER_SPAWNED: ControllerId = ControllerId(u32::MAX - 1);
/// The id of a definition that does not exist.
const NO_EFFECT: EffectId = EffectId((1 << 31) - 1);
const NO_SET: SetId = SetId(u32::MAX - 1);
const NO_ATTRIBUTE: AttributeId = AttributeId(u32::MAX - 1);

impl Runner<'_> {
    /// Runs a verb. Expectations are handled elsewhere.
    pub(crate) fn act(&mut self, verb: &Verb) -> Result<(), Refusal> {
        match verb {
            Verb::Apply(apply) => self.apply(apply),
            Verb::Remove(remove) => self.remove(remove),
            Verb::ChangeEffect { handle, changes } => changes.iter().try_for_each(|c| self.change(handle, c)),
            Verb::Move { actor, to, facing } => self.move_to(actor, *to, *facing),
            Verb::Possess { actor, avatar } => {
                let who = self.who(&actor.text);
                let avatar = avatar.as_deref().map(ActorId::named);
                self.op(Op::Possess { who, avatar })
            }
            Verb::Spawn { actor } => self.spawn_named(actor),
            Verb::Despawn { actor } => {
                let who = self.who(&actor.text);
                self.op(Op::Despawn { who })
            }
            Verb::AddSet { actor, set } => {
                let (who, set) = (self.who(&actor.text), self.set(set));
                self.op(Op::AddSet { who, set })
            }
            Verb::RemoveSet { actor, set, force } => {
                let (who, set) = (self.who(&actor.text), self.set(set));
                self.op(Op::RemoveSet { who, set, force: *force })
            }
            Verb::SetActive { actor, active } => {
                let who = self.who(&actor.text);
                self.op(Op::SetActive { who, active: *active })
            }
            Verb::SetRate { actor, rate } => {
                let who = self.who(&actor.text);
                let rate = Rate::new(*rate).ok_or(Refusal::BadValue { what: BadValue::Rate })?;
                self.op(Op::SetRate { who, rate })
            }
            Verb::SetLocal { actor, is_local } => {
                let who = self.who(&actor.text);
                self.sim.set_local(who, *is_local)
            }
            Verb::ModifyResource(modify) => self.modify_resource(modify),
            Verb::Ability(verb) => self.ability_verb(verb),
            Verb::Capability(verb) => self.capability_verb(verb),
            Verb::Wire(_)
            | Verb::Reload(_)
            | Verb::Repeat { .. }
            | Verb::Expect(_)
            | Verb::ExpectStream { .. }
            | Verb::ExpectCount(_)
            | Verb::MarkHash { .. }
            | Verb::ExpectHash { .. } => Ok(()),
        }
    }

    pub(crate) fn op(&mut self, op: Op) -> Result<(), Refusal> {
        self.sim.run(op).map(|_| ())
    }

    fn set(&self, name: &Name) -> SetId {
        self.world.rules.find_set(&name.text).unwrap_or(NO_SET)
    }

    fn effect(&self, name: &Name) -> EffectId {
        self.world.rules.find_effect(&name.text).unwrap_or(NO_EFFECT)
    }

    fn apply(&mut self, apply: &ApplyVerb) -> Result<(), Refusal> {
        let rules = self.world.rules.clone();
        let source = apply.from.as_ref().map_or(ControllerId::NONE, |n| self.who(&n.text));
        let mut spec = Spec::new(self.effect(&apply.effect), self.who(&apply.to.text))
            .from(source)
            .level(apply.level)
            .stacks(apply.stacks);
        // A key that no document reads has no id and no effect.
        for (name, value) in &apply.set_by_caller {
            if let Some(key) = rules.find_key(&name.text) {
                spec.put(key, *value);
            }
        }
        if let Some(duration) = apply.duration {
            spec = spec.lasting(duration);
        }
        if let Some(period) = apply.period {
            spec = spec.every(period);
        }
        if let Some(origin) = apply.origin {
            spec = spec.origin(origin);
        }
        if let Some(hit) = &apply.hit {
            spec = spec.hit(Hit {
                position: hit.position,
                distance: hit.distance,
                tags: hit.tags.iter().filter_map(|t| rules.find_tag(&t.text)).collect(),
            });
        }
        if let Some(ability) = &apply.ability {
            spec = spec.ability(rules.find_ability(&ability.text).unwrap_or(AbilityId::NONE));
        }
        let key = self.sim.apply(&spec)?;
        if let Some(handle) = &apply.handle {
            let instant = self.world.is_instant(&apply.effect.text);
            self.applied.insert(handle.text.clone(), Applied { key, instant });
        }
        Ok(())
    }

    fn modify_resource(&mut self, modify: &ModifyVerb) -> Result<(), Refusal> {
        let rules = self.world.rules.clone();
        let who = self.who(&modify.actor.text);
        let attribute = rules.find_attribute(&modify.resource.text).unwrap_or(NO_ATTRIBUTE);
        let source = modify.from.as_ref().map(|n| self.who(&n.text));
        let tags = modify.tags.iter().filter_map(|t| rules.find_tag(&t.text)).collect();
        self.op(Op::ModifyResource { who, attribute, by: modify.by, source, tags, plain: modify.plain })
    }

    fn remove(&mut self, remove: &RemoveVerb) -> Result<(), Refusal> {
        let (who, filter) = match &remove.what {
            RemoveWhat::Handle(handle) => {
                let key = self.key(handle)?;
                return self.op(Op::Remove { key, stacks: stacks_of(remove.stacks) });
            }
            RemoveWhat::Effect { actor, effect } => (self.who(&actor.text), filter_of(self.effect(effect))),
            RemoveWhat::Tags { actor, tags } => {
                let with_any_tag = tags.iter().filter_map(|t| self.world.rules.find_tag(&t.text)).collect();
                let filter = EffectFilter { with_any_tag, ..EffectFilter::default() };
                (self.who(&actor.text), filter)
            }
        };
        if remove.stacks == -1 {
            return self.op(Op::RemoveMatching { who, filter });
        }
        for key in self.sim.query(who, &filter)? {
            self.op(Op::Remove { key, stacks: stacks_of(remove.stacks) })?;
        }
        Ok(())
    }

    fn key(&self, handle: &Name) -> Result<ugas_core::EffectKey, Refusal> {
        let applied = self.applied.get(&handle.text);
        applied.map(|a| a.key).ok_or(Refusal::StaleHandle)
    }

    fn change(&mut self, handle: &Name, to: &ChangeTo) -> Result<(), Refusal> {
        let key = self.key(handle)?;
        let change = match to {
            ChangeTo::Level(level) => EffectUpdate::Level(*level),
            ChangeTo::Remaining(time) => EffectUpdate::Remaining(*time),
            ChangeTo::Period(time) => EffectUpdate::Period(*time),
            ChangeTo::Stacks(stacks) => EffectUpdate::Stacks(*stacks),
            ChangeTo::SetByCaller(name, value) => match self.world.rules.find_key(&name.text) {
                Some(key) => EffectUpdate::SetByCaller(key, *value),
                None => return Ok(()),
            },
        };
        self.op(Op::Change { key, change })
    }

    fn move_to(&mut self, actor: &Name, to: Option<[f64; 3]>, facing: Option<[f64; 3]>) -> Result<(), Refusal> {
        let who = self.who(&actor.text);
        let before = self.sim.anchor(who)?;
        let anchor = match (to, facing) {
            (Some(position), Some(facing)) => Some(Anchor { position, facing }),
            (Some(position), None) => Some(before.map_or(Anchor::at(position), |a| Anchor { position, ..a })),
            (None, Some(facing)) => Some(Anchor { facing, ..before.unwrap_or(Anchor::at([0.0; 3])) }),
            (None, None) => None,
        };
        self.op(Op::Move { who, anchor })
    }

    fn spawn_named(&mut self, actor: &Name) -> Result<(), Refusal> {
        let who = self.who(&actor.text);
        if self.sim.exists(who) {
            return Err(Refusal::IdTaken { who });
        }
        match self.scenario.actors.iter().find(|a| a.name.text == actor.text) {
            Some(def) => self.spawn(def),
            None => Err(Refusal::StaleHandle),
        }
    }

    /// Spawns an actor's controller.
    pub(crate) fn spawn(&mut self, def: &ActorDef) -> Result<(), Refusal> {
        let spec = self.spawn_spec(def);
        let who =
            if let Outcome::Spawned(who) = self.sim.run(Op::Spawn(Box::new(spec)))? { who } else { NEVER_SPAWNED };
        self.ids.insert(def.name.text.clone(), who);
        self.who_is.insert(who, def.name.text.clone());
        // Grants without an effect are in the order of the document, then of the actor.
        let own = self.sim.grants(who)?.into_iter().filter(|g| g.by.is_none());
        let own: Vec<ugas_core::GrantId> = own.map(|g| g.id).collect();
        let first = own.len().saturating_sub(def.abilities.len());
        for (ability, id) in def.abilities.iter().zip(&own[first..]) {
            if let Some(handle) = &ability.handle {
                self.handles.insert(handle.text.clone(), Handle::Grant(who, *id));
            }
        }
        def.capabilities.iter().try_for_each(|set| self.grant_set(who, set).map(|_| ()))
    }

    fn spawn_spec(&self, def: &ActorDef) -> SpawnSpec {
        let rules = &self.world.rules;
        let template = def.controller.as_ref().and_then(|n| rules.find_template(&n.text));
        let ability = |a: &crate::scenario::AbilityDef| AbilityGrant {
            ability: rules.find_ability(&a.ability.text).unwrap_or(AbilityId::NONE),
            level: a.level,
            input: a.input.as_ref().map(|n| self.world.input(&n.text)),
        };
        let anchor = def.position.or(def.facing.map(|_| [0.0; 3])).map(Anchor::at);
        SpawnSpec {
            template,
            stats: def.stats.iter().map(|n| self.set(n)).collect(),
            resources: def
                .resources
                .iter()
                .map(|r| ResourceSpec { resource: self.set(&r.resource), initial: r.initial, max: r.max, min: r.min })
                .collect(),
            sets: def.sets.iter().map(|n| self.set(n)).collect(),
            base: def.base.iter().filter_map(|(n, value)| Some((rules.find_attribute(&n.text)?, *value))).collect(),
            tags: def.tags.iter().filter_map(|n| rules.find_tag(&n.text)).collect(),
            effects: def.effects.iter().map(|n| self.effect(n)).collect(),
            abilities: def.abilities.iter().map(ability).collect(),
            // A document names its owner; without one the actor owns itself.
            owner: template.is_none().then(|| ActorId::named(&def.name.text)),
            anchor: anchor.map(|a| match def.facing {
                Some(facing) => Anchor { facing, ..a },
                None => a,
            }),
            ..SpawnSpec::default()
        }
    }
}

/// Returns the stacks to remove; −1 removes all of them. Other negative numbers become 0, which the sim refuses.
fn stacks_of(stacks: i32) -> Option<u32> {
    (stacks != -1).then(|| u32::try_from(stacks).unwrap_or(0))
}
