//! Shared by the tests of tasks: one hero with one ability, and the results of its tasks.

pub(crate) use super::*;

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, ActivationKey, ControllerId, EventData, FactKind, GrantId, InputId, Rules, Sim, SimConfig,
    Target, TaskResult,
};
use ugas_doc::{Ability, AbilityTask};

pub(crate) fn task(kind: &str) -> AbilityTask {
    AbilityTask::new(kind)
}

/// A task that marks its execution: it applies an effect to the owner.
pub(crate) fn mark(effect: &str) -> AbilityTask {
    task("ApplyEffectToOwner").param("EffectClass", effect)
}

pub(crate) fn wait(seconds: f64) -> AbilityTask {
    task("WaitDelay").param("Duration", seconds)
}

pub(crate) fn ability(rules: &Rules, name: &str) -> AbilityId {
    rules.find_ability(name).unwrap_or_else(|| panic!("no ability {name}"))
}

/// A hero with the ability.
pub(crate) struct Stage {
    pub(crate) sim: Sim,
    pub(crate) hero: ControllerId,
    pub(crate) grant: GrantId,
    pub(crate) ability: AbilityId,
}

impl Stage {
    pub(crate) fn new(rules: &Arc<Rules>, name: &str) -> Stage {
        Stage::with(rules, name, SimConfig::default())
    }

    pub(crate) fn with(rules: &Arc<Rules>, name: &str, config: SimConfig) -> Stage {
        let mut sim = Sim::new(rules.clone(), config);
        let hero = spawn(&mut sim);
        let ability = ability(rules, name);
        let input = rules.find_input("Fire").unwrap_or(InputId::NONE);
        let grant = sim.grant(hero, AbilityGrant { ability, level: 1, input: input.some() }).unwrap();
        Stage { sim, hero, grant, ability }
    }

    pub(crate) fn activate(&mut self) -> ActivationKey {
        self.sim.activate(self.hero, self.ability, Target::None).unwrap()
    }

    pub(crate) fn event(&mut self, tag_name: &str, magnitude: f64) {
        let tag = tag(self.sim.rules(), tag_name);
        self.sim.event(EventData { magnitude, ..EventData::new(tag, self.hero) }).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> f64 {
        get(&self.sim, self.hero, name)
    }

    pub(crate) fn is_active(&self) -> bool {
        self.sim.activations(self.hero).unwrap().count() > 0
    }

    pub(crate) fn waiting(&self) -> usize {
        self.sim.tasks(self.hero).unwrap().len()
    }

    /// The tasks that ended since the last call: type, result, value.
    pub(crate) fn task_results(&mut self) -> Vec<(String, TaskResult, f64)> {
        let rules = self.sim.rules().clone();
        let facts = facts(&mut self.sim);
        let task_results = facts.into_iter().filter_map(|f| match f.kind {
            FactKind::TaskEnded { task, result, value, .. } => {
                Some((rules.task_kind_name(task).unwrap().to_owned(), result, value))
            }
            _ => None,
        });
        task_results.collect()
    }
}

pub(crate) fn rules_with(ability: Ability) -> Arc<Rules> {
    base().add(ability).build().unwrap()
}

/// The sample world with effects that tasks use.
pub(crate) fn base() -> RulesBuilder {
    use ugas_doc::Effect;
    world()
        .add(Effect::instant("GE_Mark").add("AttackPower", 1.0))
        .add(Effect::instant("GE_Mark10").add("AttackPower", 10.0))
        .add(Effect::instant("GE_Hurt").add("Health", -10.0))
        .add(Effect::infinite("GE_Burn").grants("Status.Burning"))
        .add(Effect::infinite("GE_Stun").grants("State.Debuff.Stunned.Magic"))
        .add(TagRegistry::new(["Event.Hit.Hard", "Event.Other", "Cue.Spark"]))
}
