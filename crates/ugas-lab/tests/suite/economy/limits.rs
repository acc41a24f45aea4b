//! The limits of honest play, computed from the documents of a stage.

use super::program::{Docs, Program};
use super::stage::Stage;
use std::collections::BTreeMap;
use ugas_core::{AbilityId, AttributeId, EffectId, Rules, TagId};
use ugas_doc::{Ability, CommitPolicy, Effect};

/// A place of a program that applies an effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) effect: EffectId,
    /// The earliest time after the activation, in seconds.
    pub(crate) at: f64,
    pub(crate) to_one: u32,
    pub(crate) in_all: Option<u32>,
    pub(crate) after_commit: bool,
    pub(crate) after_event: Option<TagId>,
}

/// The limits of one ability.
pub(crate) struct AbilityLimits {
    pub(crate) places: Vec<Place>,
    /// The least time between two uses, in seconds.
    pub(crate) cooldown: Option<f64>,
    pub(crate) cooldown_effect: Option<EffectId>,
    /// The charges and the time in which one is restored.
    pub(crate) charges: Option<(u32, f64)>,
    pub(crate) global_cooldown: Option<(String, f64)>,
    /// Whether the ability commits itself.
    pub(crate) manual: bool,
    /// The least time between two activations of an ability that a client may not cancel.
    pub(crate) locked: Option<f64>,
    pub(crate) range: Option<f64>,
    /// Effects that are present only while the ability is active.
    pub(crate) held: Vec<EffectId>,
    /// What one use costs.
    pub(crate) cost: Vec<(AttributeId, f64)>,
}

/// A random roll of an ability, by id.
pub(crate) struct ChanceLimits {
    pub(crate) ability: AbilityId,
    pub(crate) effect: EffectId,
    pub(crate) tag: Option<TagId>,
    pub(crate) chance: f64,
}

/// The limits of a stage.
pub(crate) struct Limits {
    pub(crate) abilities: BTreeMap<AbilityId, AbilityLimits>,
    /// The most that one execution of an effect changes a resource.
    pub(crate) most: BTreeMap<EffectId, f64>,
    /// The most executions of one application.
    pub(crate) executions: BTreeMap<EffectId, u64>,
    /// Effects that are not counted.
    pub(crate) unbounded: Vec<EffectId>,
    pub(crate) names: BTreeMap<EffectId, String>,
    pub(crate) resources: Vec<AttributeId>,
    pub(crate) chances: Vec<ChanceLimits>,
    pub(crate) falloff: Option<(EffectId, f64, f64)>,
    pub(crate) speed: f64,
}

/// Returns a name without its pack.
fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

impl Limits {
    pub(crate) fn new(stage: &Stage, rules: &Rules, docs: &Docs) -> Limits {
        let id = |name: &str| rules.effect(name).unwrap();
        let mut limits = Limits {
            abilities: BTreeMap::new(),
            most: BTreeMap::new(),
            executions: BTreeMap::new(),
            unbounded: stage.outside.iter().map(|name| id(name)).collect(),
            names: docs.effects.keys().map(|name| (id(name), short(name).to_owned())).collect(),
            resources: docs.resources.iter().map(|name| rules.attribute(name).unwrap()).collect(),
            chances: Vec::new(),
            falloff: stage.falloff.map(|(effect, most, range)| (id(effect), most, range)),
            speed: stage.speed,
        };
        for (name, effect) in &docs.effects {
            if let Some(most) = most_of(stage, docs, effect) {
                limits.most.insert(id(name), most);
            }
            if let Some(count) = docs.executions(name) {
                limits.executions.insert(id(name), count);
            }
        }
        for (name, ability) in &docs.abilities {
            let program = docs.program(ability);
            limits.unbounded.extend(program.unbounded.iter().map(|name| id(name)));
            let found = ability_limits(stage, rules, docs, ability, &program);
            limits.abilities.insert(rules.ability(name).unwrap(), found);
        }
        for chance in stage.chances {
            limits.chances.push(ChanceLimits {
                ability: rules.ability(chance.ability).unwrap(),
                effect: id(chance.effect),
                tag: chance.tag.map(|tag| rules.tag(tag).unwrap()),
                chance: chance.chance,
            });
        }
        limits
    }

    pub(crate) fn name(&self, effect: EffectId) -> &str {
        self.names.get(&effect).map_or("an effect without a document", String::as_str)
    }
}

/// Returns the most that one execution of an effect can change a resource.
fn most_of(stage: &Stage, docs: &Docs, effect: &Effect) -> Option<f64> {
    if let Some((_, most)) = stage.most.iter().find(|(name, _)| *name == short(&effect.name)) {
        return Some(*most);
    }
    let stacks = effect.stacking.as_ref().and_then(|s| s.limit).unwrap_or(1);
    let on_resource = effect.modifiers.iter().filter(|m| docs.resources.contains(&m.attribute));
    on_resource.filter_map(|m| m.magnitude.constant()).map(|v| v.abs() * f64::from(stacks)).reduce(f64::max)
}

fn ability_limits(stage: &Stage, rules: &Rules, docs: &Docs, ability: &Ability, program: &Program) -> AbilityLimits {
    let id = |name: &str| rules.effect(name).unwrap();
    let place = |slot: &super::program::Slot| Place {
        effect: id(&slot.effect),
        at: slot.at,
        to_one: slot.to_one,
        in_all: slot.in_all,
        after_commit: slot.after_commit,
        after_event: slot.after_event.as_ref().map(|tag| rules.tag(tag).unwrap()),
    };
    let length = |name: &String| {
        let known = stage.cooldowns.iter().find(|(known, _)| *known == short(name)).map(|(_, seconds)| *seconds);
        let constant = || docs.effects.get(name)?.duration.as_ref()?.constant();
        known.or_else(constant).expect("the stage gives the length of a calculated cooldown")
    };
    let cost = |name: &String| {
        let literal = |m: &ugas_doc::Modifier| Some((rules.attribute(&m.attribute).unwrap(), -m.magnitude.constant()?));
        docs.effects.get(name).map(|e| e.modifiers.iter().filter_map(literal).collect()).unwrap_or_default()
    };
    let is_locked = ability.client_may_cancel == Some(false) && !ability.allow_multiple_instances;
    AbilityLimits {
        places: program.slots.iter().map(place).collect(),
        cooldown: ability.cooldown.as_ref().map(length),
        cooldown_effect: ability.cooldown.as_ref().map(|name| id(name)),
        charges: ability.charges.as_ref().map(|c| (c.max, c.cooldown / f64::from(c.per_cooldown.unwrap_or(1)))),
        global_cooldown: ability.global_cooldown.as_ref().map(|g| (g.group.clone().unwrap_or_default(), g.length)),
        manual: ability.commit_policy == CommitPolicy::Manual,
        locked: (is_locked && program.length > 0.0).then_some(program.length),
        range: program.range,
        held: program.held.iter().map(|name| id(name)).collect(),
        cost: ability.cost.as_ref().map(cost).unwrap_or_default(),
    }
}
