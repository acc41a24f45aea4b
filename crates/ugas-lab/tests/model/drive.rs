//! Runs the same ops through the runtime and through the model and compares after every op.

use super::compare::same;
use super::effects::{Change, Filter};
use super::generate::{self, ABILITIES, CUES, Documents, KEYS, Rng, TAGS};
use super::ops::{self, Op};
use super::world::{INITIAL_TAGS, Spawn, Spec, World};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use ugas_core as core;
use ugas_core::{ControllerId, DefId, EffectId, EffectKey, NoHost, Rules, SimTime};
use ugas_doc::{Ability, Doc, Effect};

/// The two worlds side by side.
pub(crate) struct Both {
    pub(crate) sim: core::Sim,
    pub(crate) world: World,
    docs: Documents,
    effects: BTreeMap<String, EffectId>,
    pub(crate) names: BTreeMap<EffectId, String>,
    /// The runtime's key for each of the model's.
    pub(crate) keys: BTreeMap<u64, EffectKey>,
}

/// One sequence. On a difference it prints what is needed to understand and repeat it, and panics.
pub(crate) fn sequence(seed: u64, ops: usize) {
    let mut rng = Rng::new(seed);
    let docs = generate::documents(&mut rng);
    let mut both = Both::new(docs);
    let mut done: Vec<Op> = Vec::new();
    for n in 0..ops {
        let op = ops::op(&mut rng, &both.world, &both.docs, n);
        done.push(op.clone());
        let outcome = catch_unwind(AssertUnwindSafe(|| both.step(op)));
        let difference = match outcome {
            Ok(Ok(())) => continue,
            Ok(Err(difference)) => difference,
            Err(panic) => {
                report(seed, n, &both.docs, &done, "a panic");
                resume_unwind(panic)
            }
        };
        report(seed, n, &both.docs, &done, &difference);
        panic!("seed {seed}, op {n}: {difference}");
    }
}

fn report(seed: u64, n: usize, docs: &Documents, done: &[Op], difference: &str) {
    eprintln!("==== seed {seed} (replay with UGAS_SEED={seed}), op {n} ====");
    docs.sets.iter().for_each(|s| eprintln!("{}", compact(&format!("{s:?}"))));
    docs.effects.iter().for_each(|e| eprintln!("{}", compact(&format!("{e:?}"))));
    done.iter().enumerate().for_each(|(i, op)| eprintln!("op {i}: {}", compact(&format!("{op:?}"))));
    eprintln!("first difference: {difference}");
}

/// Leaves out fields that say nothing.
fn compact(text: &str) -> String {
    let boring = [": None", ": []", ": {}", ": false", ": Clamp", ": All", ": Statistic"];
    let parts: Vec<&str> = text.split(", ").filter(|p| !boring.iter().any(|b| p.ends_with(b))).collect();
    parts.join(", ")
}

impl Both {
    fn new(docs: Documents) -> Both {
        let all = docs.sets.iter().cloned().map(Doc::from);
        let all = all.chain(docs.curves.iter().cloned().map(Doc::from));
        let all = all.chain(docs.effects.iter().cloned().map(Doc::from));
        let all = all.chain(ABILITIES.iter().map(|a| Doc::from(Ability::new(*a))));
        // A tag or key that nothing mentions would have no id.
        let mut known = Effect::lasting("GE_Names", 1.0);
        known.granted_tags = TAGS.iter().chain(CUES).map(|t| (*t).to_owned()).collect();
        let first = docs.sets[0].attributes.iter().find(|a| a.derived_from.is_none()).expect("one is plain");
        for key in KEYS {
            known = known.add(&first.name, ugas_doc::Magnitude::set_by_caller(*key));
        }
        // First, so that the tags' hierarchy is in the order of the list.
        let rules = Rules::builder().add(known).add_all(all).build();
        let rules = rules.unwrap_or_else(|e| panic!("generated rules must load: {e:?}"));
        let mut effects = BTreeMap::new();
        for name in docs.effects.iter().map(|e| e.name.as_str()).chain([INITIAL_TAGS]) {
            effects.insert(name.to_owned(), rules.effect(name).expect("it was loaded"));
        }
        Both {
            sim: core::Sim::new(rules, core::SimConfig::default()),
            world: World::new(&docs.sets, &docs.effects, &docs.curves),
            names: effects.iter().map(|(n, id)| (*id, n.clone())).collect(),
            effects,
            docs,
            keys: BTreeMap::new(),
        }
    }

    fn step(&mut self, op: Op) -> Result<(), String> {
        self.world.facts.clear();
        let (model, runtime) = self.run(op);
        if model != runtime {
            return Err(format!("the model says {model:?}, the runtime {runtime:?}"));
        }
        self.compare_facts()?;
        let ids: Vec<u32> = self.sim.controllers().map(|c| c.0).collect();
        let expected: Vec<u32> = self.world.rows.keys().copied().collect();
        same("controllers", &expected, &ids)?;
        for who in ids {
            self.compare_row(who).map_err(|e| format!("controller {who}: {e}"))?;
        }
        Ok(())
    }

    // The same op in both worlds --------------------------------------------------------------------------------

    fn run(&mut self, op: Op) -> (Result<(), &'static str>, Result<(), &'static str>) {
        let id = ControllerId;
        match op {
            Op::Apply(spec) => {
                let key = self.world.key();
                let model = self.world.apply(&spec, key);
                let got = self.sim.apply(&self.spec(&spec));
                // One that merged or stacked gave the key of the instance it joined; the model's own stays unused.
                let joins = self.world.effects[&spec.def].duration_policy != ugas_doc::DurationPolicy::Instant;
                if let (Ok(theirs), false) = (got, joins) {
                    self.keys.insert(key, theirs);
                }
                (model, kind(got))
            }
            Op::Remove { who, key, stacks } => {
                let theirs = self.key(who, key);
                (self.world.remove(who, key, stacks), kind(self.sim.remove(theirs, stacks)))
            }
            Op::RemoveMatching { who, filter } => {
                let theirs = core::Op::RemoveMatching { who: id(who), filter: self.filter(&filter) };
                (self.world.remove_matching(who, &filter), kind(self.sim.run(theirs)))
            }
            Op::Change { who, key, change } => {
                let theirs = core::Op::Change { key: self.key(who, key), change: self.change(&change) };
                (self.world.change(who, key, &change), kind(self.sim.run(theirs)))
            }
            Op::ChangeMatching { who, filter, change } => {
                let (f, c) = (self.filter(&filter), self.change(&change));
                let theirs = core::Op::ChangeMatching { who: id(who), filter: f, change: c };
                (self.world.change_matching(who, &filter, &change), kind(self.sim.run(theirs)))
            }
            Op::Advance { to } => {
                self.world.advance(to);
                let progress = self.sim.advance_to(SimTime(to), &mut NoHost);
                assert!(progress.finished && progress.reached == SimTime(to), "{progress:?}");
                (Ok(()), Ok(()))
            }
            Op::AddSet { who, set } => {
                let theirs = core::Op::AddSet { who: id(who), set: self.set(&set) };
                (self.world.add_set(who, &set), kind(self.sim.run(theirs)))
            }
            Op::RemoveSet { who, set, force } => {
                let theirs = core::Op::RemoveSet { who: id(who), set: self.set(&set), force };
                (self.world.remove_set(who, &set, force), kind(self.sim.run(theirs)))
            }
            Op::SetRate { who, rate } => {
                let theirs = core::Op::SetRate { who: id(who), rate: core::Rate(rate) };
                (self.world.set_rate(who, rate), kind(self.sim.run(theirs)))
            }
            Op::SetActive { who, active } => {
                let theirs = core::Op::SetActive { who: id(who), active };
                (self.world.set_active(who, active), kind(self.sim.run(theirs)))
            }
            Op::Spawn(spawn) => {
                let theirs = self.spawn(&spawn);
                (self.world.spawn(&spawn).map(drop), kind(self.sim.spawn(theirs)))
            }
            Op::Despawn { who } => (self.world.despawn(who), kind(self.sim.despawn(id(who)))),
            Op::ExtractInsert { who } => {
                let model = self.world.extract_insert(who);
                let theirs = self.sim.extract(id(who)).map(|portable| {
                    let back = self.sim.insert(&portable).unwrap_or_else(|e| panic!("what came out goes in: {e}"));
                    assert_eq!(back, id(who));
                });
                (model, kind(theirs))
            }
            Op::Define(effect) => {
                let defined = self.sim.define(Doc::from((*effect).clone()));
                let Ok(DefId::Effect(new)) = defined else { panic!("a run-time effect must load: {defined:?}") };
                self.effects.insert(effect.name.clone(), new);
                self.names.insert(new, effect.name.clone());
                self.world.effects.insert(effect.name.clone(), (*effect).clone());
                self.docs.effects.push(*effect);
                (Ok(()), Ok(()))
            }
        }
    }

    fn key(&self, who: u32, key: u64) -> EffectKey {
        let stale = EffectKey { target: ControllerId(who), ..EffectKey::NONE };
        self.keys.get(&key).copied().filter(|k| k.target.0 == who).unwrap_or(stale)
    }

    fn set(&self, name: &str) -> core::SetId {
        self.sim.rules().set(name).expect("it was loaded")
    }

    pub(crate) fn tag(&self, name: &str) -> core::TagId {
        self.sim.rules().tag(name).expect("it is used")
    }

    pub(crate) fn attribute(&self, name: &str) -> core::AttributeId {
        self.sim.rules().attribute(name).expect("it was loaded")
    }

    fn key_id(&self, name: &str) -> core::KeyId {
        self.sim.rules().key(name).expect("it is used")
    }

    fn spec(&self, spec: &Spec) -> core::Spec {
        let mut out = core::Spec::new(self.effects[&spec.def], ControllerId(spec.target))
            .from(ControllerId(spec.source))
            .level(spec.level)
            .stacks(spec.stacks);
        for (key, value) in &spec.set_by_caller {
            out = out.set(self.key_id(key), *value);
        }
        if let Some(d) = spec.duration {
            out = out.lasting(SimTime(d));
        }
        if let Some(p) = spec.period {
            out = out.every(SimTime(p));
        }
        out
    }

    fn spawn(&self, spawn: &Spawn) -> core::SpawnSpec {
        core::SpawnSpec {
            sets: spawn.sets.iter().map(|s| self.set(s)).collect(),
            base: spawn.base.iter().map(|(a, v)| (self.attribute(a), *v)).collect(),
            tags: spawn.tags.iter().map(|t| self.tag(t)).collect(),
            effects: spawn.effects.iter().map(|e| self.effects[e]).collect(),
            abilities: spawn
                .abilities
                .iter()
                .map(|(a, level)| core::AbilityGrant {
                    ability: self.sim.rules().ability(a).expect("it was loaded"),
                    level: *level,
                    input: core::InputId::NONE,
                })
                .collect(),
            ..core::SpawnSpec::default()
        }
    }

    fn filter(&self, filter: &Filter) -> core::EffectFilter {
        core::EffectFilter {
            effect: filter.def.as_ref().map(|d| self.effects[d]),
            with_any_tag: filter.tags.iter().map(|t| self.tag(t)).collect(),
            source: filter.source.map(ControllerId),
            modifies: filter.modifies.as_ref().map(|a| self.attribute(a)),
        }
    }

    fn change(&self, change: &Change) -> core::Change {
        match change {
            Change::Level(n) => core::Change::Level(*n),
            Change::Remaining(t) => core::Change::Remaining(SimTime(*t)),
            Change::Extend(t) => core::Change::Extend(SimTime(*t)),
            Change::Period(t) => core::Change::Period(SimTime(*t)),
            Change::Stacks(n) => core::Change::Stacks(*n),
            Change::SetByCaller(key, v) => core::Change::SetByCaller(self.key_id(key), *v),
        }
    }
}

fn kind<T>(result: Result<T, core::Refusal>) -> Result<(), &'static str> {
    result.map(drop).map_err(|r| r.kind())
}
