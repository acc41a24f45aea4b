//! A small world for tests: rules, a sim, and names instead of ids.

pub(crate) mod busy;
pub(crate) mod calcs;
pub(crate) mod load;

use std::sync::Arc;
use ugas_core::{
    AttributeId, ControllerId, Diagnostic, EffectId, EffectKey, Fact, FactKind, Facts, Refusal, Rules, RulesBuilder,
    SetId, Sim, SimConfig, SimTime, SpawnSpec, Spec, TagId,
};

/// Rules and a sim that runs them.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) rules: Arc<Rules>,
    pub(crate) sim: Sim,
}

impl World {
    pub(crate) fn new(builder: RulesBuilder) -> World {
        World::seeded(builder, 0)
    }

    pub(crate) fn seeded(builder: RulesBuilder, seed: u64) -> World {
        let rules = builder.build().unwrap_or_else(|e| panic!("{e}"));
        World::on(rules, seed)
    }

    pub(crate) fn on(rules: Arc<Rules>, seed: u64) -> World {
        let sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
        World { rules, sim }
    }

    pub(crate) fn attr(&self, name: &str) -> AttributeId {
        self.rules.find_attribute(name).unwrap_or_else(|| panic!("attribute {name}"))
    }
    pub(crate) fn effect(&self, name: &str) -> EffectId {
        self.rules.find_effect(name).unwrap_or_else(|| panic!("effect {name}"))
    }
    pub(crate) fn tag(&self, name: &str) -> TagId {
        self.rules.find_tag(name).unwrap_or_else(|| panic!("tag {name}"))
    }
    pub(crate) fn set(&self, name: &str) -> SetId {
        self.rules.find_set(name).unwrap_or_else(|| panic!("set {name}"))
    }

    /// A controller with one set.
    pub(crate) fn spawn(&mut self, set: &str) -> ControllerId {
        self.spawn_with(set, &[])
    }

    /// A controller with one set and base values.
    pub(crate) fn spawn_with(&mut self, set: &str, base: &[(&str, f64)]) -> ControllerId {
        let mut spec = SpawnSpec::sets([self.set(set)]);
        for (name, value) in base {
            spec = spec.base(self.attr(name), *value);
        }
        self.sim.spawn(spec).unwrap()
    }

    pub(crate) fn get(&self, who: ControllerId, name: &str) -> f64 {
        self.sim.get(who, self.attr(name)).unwrap()
    }
    pub(crate) fn base(&self, who: ControllerId, name: &str) -> f64 {
        self.sim.base(who, self.attr(name)).unwrap()
    }
    pub(crate) fn has(&self, who: ControllerId, tag: &str) -> bool {
        self.sim.has_tag(who, self.tag(tag)).unwrap()
    }

    pub(crate) fn spec(&self, effect: &str, target: ControllerId) -> Spec {
        Spec::new(self.effect(effect), target)
    }
    pub(crate) fn apply(&mut self, effect: &str, target: ControllerId) -> EffectKey {
        let spec = self.spec(effect, target);
        self.sim.apply(&spec).unwrap()
    }
    pub(crate) fn hit(&mut self, effect: &str, source: ControllerId, target: ControllerId) -> EffectKey {
        let spec = self.spec(effect, target).from(source);
        self.sim.apply(&spec).unwrap()
    }
    pub(crate) fn try_apply(&mut self, effect: &str, target: ControllerId) -> Result<EffectKey, Refusal> {
        let spec = self.spec(effect, target);
        self.sim.apply(&spec)
    }

    /// Advances to an absolute time in seconds.
    pub(crate) fn to(&mut self, seconds: f64) {
        let progress = self.sim.advance_to(SimTime::seconds(seconds));
        assert!(progress.finished);
    }

    pub(crate) fn facts(&mut self) -> Vec<Fact> {
        let mut facts = Facts::default();
        self.sim.take_facts(&mut facts);
        facts.list
    }
    pub(crate) fn diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut list = Vec::new();
        self.sim.take_diagnostics(&mut list);
        list
    }

    /// The facts since last asked for, one short line each.
    pub(crate) fn log(&mut self) -> Vec<String> {
        self.facts().iter().map(|f| self.line(f)).collect()
    }

    fn line(&self, f: &Fact) -> String {
        let r = &self.rules;
        let tag = |t| r.tag_name(t).unwrap_or("?");
        match f.kind {
            FactKind::AttributeChanged { attribute, old, new, .. } => {
                format!("{} {old} -> {new}", r.attribute_name(attribute).unwrap_or("?"))
            }
            FactKind::TagChanged { tag: t, added, .. } => format!("{}{}", if added { '+' } else { '-' }, tag(t)),
            FactKind::Granted { ability, .. } => format!("granted {}", r.ability_name(ability).unwrap_or("?")),
            FactKind::Revoked { ability, .. } => format!("revoked {}", r.ability_name(ability).unwrap_or("?")),
            FactKind::EffectApplied { .. } => format!("applied {}", self.sim.effect_name(f.effect).unwrap_or("?")),
            FactKind::EffectRemoved { reason } => {
                format!("removed {} {reason:?}", self.sim.effect_name(f.effect).unwrap_or("?"))
            }
            FactKind::EffectExecuted { execution } => format!("executed {execution}"),
            FactKind::ExecutionRestricted { execution } => format!("execution {execution} restricted"),
            FactKind::Cue { tag: t, cue, .. } => format!("cue {cue:?} {}", tag(t)),
            FactKind::ContextTag { tag: t } => format!("context {}", tag(t)),
            FactKind::Died { .. } => "died".into(),
            other => other.name().into(),
        }
    }
}

/// The fact without its link into the ring of causes.
pub(crate) fn without_link(f: &Fact) -> Fact {
    Fact { link: 0, ..*f }
}

/// The facts about one controller, without their links into the ring of causes.
pub(crate) fn about(facts: &[Fact], who: ControllerId) -> Vec<Fact> {
    facts.iter().filter(|f| f.who == who).map(without_link).collect()
}
