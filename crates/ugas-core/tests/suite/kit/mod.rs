//! Shared by the tests of this crate: a small world, short names and a seeded random generator.

pub(crate) mod abilities;
pub(crate) mod capability;
pub(crate) mod life;
pub(crate) mod script;
pub(crate) mod tasks;
pub(crate) mod world;

use std::sync::Arc;
use ugas_core::{
    AttributeId, ControllerId, Diagnostic, EffectId, EffectKey, Fact, FactKind, Facts, Rules, RulesBuilder, SetId, Sim,
    SimConfig, SimTime, SpawnSpec, Spec, TagId,
};
use ugas_doc::{Attribute, AttributeSet, Category, TagRegistry};

/// The sample set of the specification.
pub(crate) fn combat_set() -> AttributeSet {
    AttributeSet::new("Combat")
        .with(Attribute::new("Health", 100.0).category(Category::Resource).min(0.0).max("MaxHealth"))
        .with(Attribute::new("MaxHealth", 100.0).min(1.0))
        .with(Attribute::new("Mana", 50.0).category(Category::Resource).min(0.0).max("MaxMana"))
        .with(Attribute::new("MaxMana", 50.0).min(0.0))
        .with(Attribute::new("AttackPower", 10.0))
        .with(Attribute::new("Defense", 5.0))
}

/// A builder that has the sample set and a few declared tags.
pub(crate) fn world() -> RulesBuilder {
    Rules::builder().add(combat_set()).add(TagRegistry::new([
        "State.Alive",
        "State.Buff",
        "State.Debuff.Stunned.Magic",
        "Status.Burning",
        "Status.Frozen",
        "Immunity.Fire",
    ]))
}

/// A sim of these rules and one controller with the sample set.
pub(crate) fn one(rules: &Arc<Rules>) -> (Sim, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = spawn(&mut sim);
    (sim, who)
}

/// One more controller with the sample set.
pub(crate) fn spawn(sim: &mut Sim) -> ControllerId {
    let set = set(sim.rules(), "Combat");
    sim.spawn(SpawnSpec::sets([set])).unwrap()
}

pub(crate) fn effect(rules: &Rules, name: &str) -> EffectId {
    rules.find_effect(name).unwrap_or_else(|| panic!("no effect {name}"))
}
pub(crate) fn attribute(rules: &Rules, name: &str) -> AttributeId {
    rules.find_attribute(name).unwrap_or_else(|| panic!("no attribute {name}"))
}
pub(crate) fn tag(rules: &Rules, name: &str) -> TagId {
    rules.find_tag(name).unwrap_or_else(|| panic!("no tag {name}"))
}
pub(crate) fn set(rules: &Rules, name: &str) -> SetId {
    rules.find_set(name).unwrap_or_else(|| panic!("no set {name}"))
}

/// Applies an effect by name, without a source.
pub(crate) fn apply(sim: &mut Sim, name: &str, who: ControllerId) -> EffectKey {
    let id = effect(sim.rules(), name);
    sim.apply(&Spec::new(id, who)).unwrap()
}

/// An attribute's current value, by name.
pub(crate) fn get(sim: &Sim, who: ControllerId, name: &str) -> f64 {
    sim.get(who, attribute(sim.rules(), name)).unwrap()
}

/// Goes to an absolute time in seconds.
pub(crate) fn go(sim: &mut Sim, seconds: f64) {
    go_to(sim, SimTime::seconds(seconds));
}

/// Goes to an absolute time.
pub(crate) fn go_to(sim: &mut Sim, time: SimTime) {
    assert!(sim.advance_to(time).finished);
}

/// The facts so far.
pub(crate) fn facts(sim: &mut Sim) -> Vec<Fact> {
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    facts.list
}

/// What happened, without when and why.
pub(crate) fn kinds(sim: &mut Sim) -> Vec<FactKind> {
    facts(sim).into_iter().map(|f| f.kind).collect()
}

/// The diagnostics so far.
pub(crate) fn diagnostics(sim: &mut Sim) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    sim.take_diagnostics(&mut list);
    list
}

/// A seeded stream of numbers, so that a failure can be repeated.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A number from 0 up to, but not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between the two.
    pub(crate) fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }
}
