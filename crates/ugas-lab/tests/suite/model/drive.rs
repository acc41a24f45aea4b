//! Runs the same ops through the runtime and through the model and compares after every op.

use super::abilities::{EVENTS, INPUTS, KINDS, MORE_TAGS};
use super::compare::same;
use super::damage::ARMOR;
use super::effects::{Change, Filter};
use super::gen_capability::{self, CAPABILITY_TAGS};
use super::generate::{self, CUES, Documents, KEYS, Rng, TAGS};
use super::give::Which;
use super::ops::{self, Op};
use super::play::{How, owned_tags};
use super::resources;
use super::world::{INITIAL_TAGS, Spawn, Spec, World};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use ugas_core as core;
use ugas_core::{ActivationKey, ControllerId, DefId, EffectId, EffectKey, GrantId, Rules, SimTime, TaskKey};
use ugas_doc::{AbilitySet, Calculation, ContextTag, Doc, Effect, SetAbility};

/// The two worlds side by side.
pub(crate) struct Both {
    pub(crate) sim: core::Sim,
    pub(crate) world: World,
    docs: Documents,
    effects: BTreeMap<String, EffectId>,
    pub(crate) names: BTreeMap<EffectId, String>,
    /// The runtime's key for each of the model's.
    pub(crate) keys: BTreeMap<u64, EffectKey>,
    pub(crate) acts: BTreeMap<u64, ActivationKey>,
    pub(crate) tasks: BTreeMap<u64, TaskKey>,
    pub(crate) sets: BTreeMap<u64, u64>,
    /// How often a twin was asked to activate something.
    pub(crate) tries: usize,
    /// The steps of the runtime, op by op.
    pub(crate) steps: Vec<Step>,
}

/// What one op did in the runtime: its facts, each with its chain of causes, and the hash after it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) facts: Vec<(core::Fact, Vec<core::CauseLink>)>,
    pub(crate) hash: u64,
}

/// The bit of a seed whose sequence has a stat table and a resource. The sequences of the other seeds stay the same.
pub(crate) const WITH_RESOURCES: u64 = 1 << 40;

/// Runs one sequence. On a difference it prints a report to reproduce it, and panics.
pub(crate) fn sequence(seed: u64, ops: usize) -> super::tally::Tally {
    run_sequence(seed, ops, core::SimConfig::default(), &mut |_, _| Ok(())).0
}

/// Runs one sequence with this configuration and returns the steps of the runtime. `after` is called after each op.
pub(crate) fn run_sequence(
    seed: u64,
    ops: usize,
    config: core::SimConfig,
    after: &mut dyn FnMut(&mut Both, usize) -> Result<(), String>,
) -> (super::tally::Tally, Vec<Step>) {
    let mut rng = Rng::new(seed);
    let mut docs = generate::documents(&mut rng);
    // A separate stream, for a part of the seeds: the sequences of the others stay the same.
    if seed % 4 == 3 {
        generate::entangle(&mut Rng::new(!seed), &mut docs);
    }
    if seed % 8 == 1 {
        generate::reapply(&mut Rng::new(!seed), &mut docs);
    }
    if seed % 8 == 5 {
        generate::rejoin(&mut Rng::new(!seed), &mut docs);
    }
    if seed & WITH_RESOURCES != 0 {
        resources::add(&mut Rng::new(!seed), &mut docs);
    }
    gen_capability::add(seed, &mut docs);
    let mut both = Both::new(docs, config);
    let mut done: Vec<Op> = Vec::new();
    for n in 0..ops {
        let op = ops::op(&mut rng, &both.world, &both.docs, n);
        done.push(op.clone());
        let outcome = catch_unwind(AssertUnwindSafe(|| both.step(op).and_then(|()| after(&mut both, n))));
        let difference = match outcome {
            Ok(Ok(())) if both.world.storm => {
                both.world.count("Storm");
                break;
            }
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
    both.world.tally.insert("why_not".to_owned(), both.tries as u64);
    (both.world.tally, both.steps)
}

fn report(seed: u64, n: usize, docs: &Documents, done: &[Op], difference: &str) {
    eprintln!("==== seed {seed} (replay with UGAS_SEED={seed}), op {n} ====");
    docs.sets.iter().for_each(|s| eprintln!("{}", compact(&format!("{s:?}"))));
    docs.abilities.iter().for_each(|a| eprintln!("{}", compact(&format!("{a:?}"))));
    docs.ability_sets.iter().for_each(|s| eprintln!("{}", compact(&format!("{s:?}"))));
    docs.capabilities.iter().for_each(|c| eprintln!("{}", compact(&format!("{c:?}"))));
    docs.capability_sets.iter().for_each(|s| eprintln!("{}", compact(&format!("{s:?}"))));
    docs.calculations.iter().for_each(|c| eprintln!("{}", compact(&format!("{c:?}"))));
    docs.stats.iter().for_each(|s| eprintln!("{}", compact(&format!("{s:?}"))));
    docs.resources.iter().for_each(|r| eprintln!("{}", compact(&format!("{r:?}"))));
    docs.effects.iter().for_each(|e| eprintln!("{}", compact(&format!("{e:?}"))));
    done.iter().enumerate().for_each(|(i, op)| eprintln!("op {i}: {}", compact(&format!("{op:?}"))));
    eprintln!("first difference: {difference}");
}

/// Omits empty fields.
fn compact(text: &str) -> String {
    let boring = [": None", ": []", ": {}", ": false", ": Clamp", ": All", ": Statistic"];
    let parts: Vec<&str> = text.split(", ").filter(|p| !boring.iter().any(|b| p.ends_with(b))).collect();
    parts.join(", ")
}

impl Both {
    fn new(docs: Documents, config: core::SimConfig) -> Both {
        let all = docs.sets.iter().cloned().map(Doc::from);
        let all = all.chain(docs.curves.iter().cloned().map(Doc::from));
        let all = all.chain(docs.effects.iter().cloned().map(Doc::from));
        let all = all.chain(docs.abilities.iter().cloned().map(Doc::from));
        let all = all.chain(docs.ability_sets.iter().cloned().map(Doc::from));
        let all = all.chain(docs.calculations.iter().cloned().map(Doc::from));
        let all = all.chain(docs.capabilities.iter().cloned().map(Doc::from));
        let all = all.chain(docs.capability_sets.iter().cloned().map(Doc::from));
        let all = all.chain(docs.stats.iter().cloned().map(Doc::from));
        let all = all.chain(docs.resources.iter().cloned().map(Doc::from));
        // A tag or key that nothing mentions would have no id.
        let mut known = Effect::lasting("GE_Names", 1.0);
        known.granted_tags =
            [TAGS, CUES, EVENTS, KINDS, MORE_TAGS, CAPABILITY_TAGS].concat().iter().map(|t| (*t).to_owned()).collect();
        known.granted_tags.extend(docs.resources.iter().map(|_| resources::POTION.to_owned()));
        let first = docs.sets[0].attributes.iter().find(|a| a.derived_from.is_none()).expect("one is plain");
        for key in KEYS {
            known = known.add(&first.name, ugas_doc::Magnitude::set_by_caller(*key));
        }
        // Calculations are compiled before effects: theirs comes first of all, so that the tags' hierarchy is in this order.
        let tags = known.granted_tags.iter().map(|tag| ContextTag { tag: tag.clone(), when: None });
        let names = Calculation { value: Some("0".into()), ..Calculation::new("Calc_Names") };
        let names = Calculation { context_tags: tags.collect(), ..names };
        let mut inputs = AbilitySet::new("AS_Names");
        inputs.abilities = INPUTS.iter().map(|i| SetAbility::new(docs.abilities[0].name.clone()).input(*i)).collect();
        let builder = Rules::builder().calc_fn(ARMOR, [], |cx| {
            let through = cx.amount() * 0.75 - 1.0;
            cx.give(through);
        });
        let builder = super::coded::register(builder, &docs);
        let rules = builder.add(names).add(known).add_all(all).add(inputs).build();
        let rules = rules.unwrap_or_else(|e| panic!("generated rules must load: {e:?}"));
        let mut effects = BTreeMap::new();
        let owning = docs.abilities.iter().filter(|a| !a.tags.activation_owned_tags.is_empty());
        let owned = owning.map(|a| owned_tags(&a.name));
        let names = docs.effects.iter().map(|e| e.name.clone()).chain([INITIAL_TAGS.to_owned()]).chain(owned);
        let names = names.chain(docs.resources.iter().map(|_| resources::MODIFY.to_owned()));
        for name in names {
            let id = rules.effect(&name).expect("it was loaded");
            effects.insert(name, id);
        }
        Both {
            sim: core::Sim::new(rules, config),
            world: World::new(&docs.sets, &docs.effects, &docs.curves)
                .with(&docs.abilities, &docs.ability_sets)
                .calculating(&docs.calculations)
                .with_resources(&docs)
                .capable(&docs),
            names: effects.iter().map(|(n, id)| (*id, n.clone())).collect(),
            effects,
            docs,
            tries: 0,
            steps: Vec::new(),
            keys: BTreeMap::new(),
            acts: BTreeMap::new(),
            tasks: BTreeMap::new(),
            sets: BTreeMap::new(),
        }
    }

    fn step(&mut self, op: Op) -> Result<(), String> {
        self.world.facts.clear();
        self.world.handles.clear();
        let (model, runtime) = self.run(op);
        let facts = self.sim.facts().list.iter().map(|f| (*f, self.sim.chain(f.link))).collect();
        self.steps.push(Step { facts, hash: self.sim.hash() });
        if self.world.storm {
            return Ok(());
        }
        if model != runtime {
            return Err(format!("the model returned {model:?}, the runtime {runtime:?}"));
        }
        self.compare_facts()?;
        self.compare_diagnostics()?;
        let ids: Vec<u32> = self.sim.controllers().map(|c| c.0).collect();
        let expected: Vec<u32> = self.world.rows.keys().copied().collect();
        same("controllers", &expected, &ids)?;
        for who in ids {
            self.compare_row(who).map_err(|e| {
                let facts = self.world.facts.iter().map(|f| format!("\n    {f:?}")).collect::<String>();
                format!("controller {who}: {e}\n  after{facts}")
            })?;
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
                let count = (stacks != -1).then(|| u32::try_from(stacks).unwrap_or(0));
                let got = self.sim.run(core::Op::Remove { key: theirs, stacks: count });
                (self.world.remove(who, key, stacks), kind(got))
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
                let progress = self.sim.advance_to(SimTime(to));
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
            Op::ModifyResource(gain) => {
                let tags = if gain.potion { vec![self.tag(resources::POTION)] } else { Vec::new() };
                let (who, attribute) = (id(gain.who), self.attribute(resources::RESOURCE));
                let (by, plain, source) = (gain.by, gain.plain, id(gain.source).some());
                let theirs = core::Op::ModifyResource { who, attribute, by, source, tags, plain };
                (self.world.modify_resource(&gain), kind(self.sim.run(theirs)))
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
            Op::Grant { who, ability, level, input } => {
                let grant = core::AbilityGrant { level, ..self.ability_grant(&ability, 1, input.as_deref()) };
                let theirs = core::Op::Grant { who: id(who), grant };
                (self.world.grant_op(who, &ability, level, input), kind(self.sim.run(theirs)))
            }
            Op::Revoke { who, which } => {
                let theirs = core::Op::Revoke { who: id(who), which: self.which(who, &which) };
                (self.world.revoke_op(who, &which), kind(self.sim.run(theirs)))
            }
            Op::Activate { who, which, target } => {
                let theirs = core::Op::Activate { who: id(who), which: self.which(who, &which), target: aim(target) };
                (self.world.activate_op(who, &which, target), kind(self.sim.run(theirs)))
            }
            Op::Cancel { who, which } => {
                let theirs = core::Op::Cancel { who: id(who), which: self.which(who, &which) };
                (self.world.end_op(who, &which, How::Cancelled), kind(self.sim.run(theirs)))
            }
            Op::End { who, which } => {
                let theirs = core::Op::End { who: id(who), which: self.which(who, &which) };
                (self.world.end_op(who, &which, How::Ended), kind(self.sim.run(theirs)))
            }
            Op::Commit { who, which } => {
                let theirs = core::Op::Commit { who: id(who), which: self.which(who, &which) };
                (self.world.commit_op(who, &which), kind(self.sim.run(theirs)))
            }
            Op::Validate { who, which, ok } => {
                let theirs = core::Op::Validate { who: id(who), which: self.which(who, &which), ok };
                (self.world.validate_op(who, &which, ok), kind(self.sim.run(theirs)))
            }
            Op::Press { who, input, target } => {
                let theirs = core::Op::Press { who: id(who), input: self.input(&input), target: aim(target) };
                let got = self.sim.run(theirs);
                let got = match &got {
                    Ok(core::Outcome::Pressed { activated: Some(_), .. }) => Err("Ok"),
                    Ok(core::Outcome::Pressed { refused: Some(r), .. }) => Err(r.kind()),
                    Ok(_) => Err("-"),
                    Err(r) => Err(r.kind()),
                };
                let ours = self.world.press(who, &input, target).unwrap_or_else(|kind| kind);
                self.world.react();
                (Err(ours), got)
            }
            Op::Release { who, input } => {
                let theirs = core::Op::Release { who: id(who), input: self.input(&input) };
                let ours = self.world.release(who, &input);
                self.world.react();
                (ours, kind(self.sim.run(theirs)))
            }
            Op::Event { who, event } => {
                let instigator = ControllerId(event.instigator);
                let magnitude = event.magnitude;
                let data = core::EventData::new(self.tag(&event.tag), id(who));
                let theirs = core::Op::Event(core::EventData { instigator: instigator.some(), magnitude, ..data });
                (self.world.event_op(who, event), kind(self.sim.run(theirs)))
            }
            Op::Complete { who, seq, answer } => {
                let key = self.tasks.get(&seq).copied().unwrap_or(TaskKey { seq: 0, who: id(who) });
                let targets = answer.targets.iter().copied().map(ControllerId).collect();
                let theirs = core::Answer { fail: answer.fail, targets, value: answer.value, hit: None };
                let ours = self.world.complete(who, seq, &answer);
                self.world.react();
                (ours, kind(self.sim.run(core::Op::Complete { key, answer: theirs })))
            }
            Op::GrantSet { who, set } => {
                let theirs = self.sim.rules().ability_set(&set).expect("it was loaded");
                let ours = self.world.grant_set_op(who, &set);
                (ours.map(drop), kind(self.sim.grant_set(id(who), theirs)))
            }
            Op::RevokeSet { who, handle } => {
                let theirs = self.sets.get(&handle).copied().unwrap_or(u64::MAX);
                (self.world.revoke_set(who, handle), kind(self.sim.revoke_set(id(who), theirs)))
            }
            Op::SetLevel { who, grant, level } => {
                (self.world.set_level(who, grant, level), kind(self.sim.set_level(id(who), GrantId(grant), level)))
            }
            Op::SetParam { who, grant, value } => {
                let name = core::ParamId::named("Power");
                let theirs = self.sim.set_param(id(who), GrantId(grant), name, value);
                (self.world.set_param(who, grant, "Power", value), kind(theirs))
            }
            Op::Restrict { who, grant, on } => {
                let name = core::ParamId::named("Locked");
                let theirs = self.sim.restrict(id(who), GrantId(grant), name, on);
                (self.world.restrict(who, grant, "Locked", on), kind(theirs))
            }
            Op::Possess { who, avatar } => {
                let theirs = core::Op::Possess { who: id(who), avatar: avatar.map(|a| core::ActorId(a as u64)) };
                (self.world.possess(who, avatar), kind(self.sim.run(theirs)))
            }
            Op::Move { who, place } => {
                let theirs = core::Op::Move { who: id(who), anchor: place.map(anchor) };
                (self.world.move_to(who, place), kind(self.sim.run(theirs)))
            }
            Op::Interrupt { who } => {
                let ours = self.world.interrupt(who);
                self.world.react();
                (ours, kind(self.sim.interrupt(id(who), None)))
            }
            Op::CaptureRestore { who } => {
                let ours = if self.world.rows.contains_key(&who) { Ok(()) } else { Err("StaleHandle") };
                if ours.is_ok() {
                    self.world.emit(who, "Restored".into());
                    self.world.check_own_target(who);
                    self.world.check_casters_at(who);
                    self.world.react();
                }
                let mut image = core::RowImage::default();
                let theirs = self.sim.capture(id(who), &mut image).and_then(|()| self.sim.restore(id(who), &image));
                (ours, kind(theirs))
            }
            Op::Capability(op) => self.run_capability(op),
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

    pub(crate) fn key(&self, who: u32, key: u64) -> EffectKey {
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

    fn input(&self, name: &str) -> core::InputId {
        self.sim.rules().input(name).expect("it is used")
    }

    fn ability_grant(&self, ability: &str, level: u32, input: Option<&str>) -> core::AbilityGrant {
        let ability = self.sim.rules().ability(ability).expect("it was loaded");
        core::AbilityGrant { ability, level, input: input.map(|i| self.input(i)) }
    }

    fn which(&self, who: u32, which: &Which) -> core::Which {
        match which {
            Which::Ability(name) => core::Which::Ability(self.sim.rules().ability(name).expect("it was loaded")),
            Which::Grant(grant) => core::Which::Grant(GrantId(*grant)),
            Which::Input(input) => core::Which::Input(self.input(input)),
            Which::Act(seq) => {
                let stale = ActivationKey { origin_id: 1 << 62, who: ControllerId(who), ordinal: 0 };
                core::Which::Activation(self.acts.get(seq).copied().unwrap_or(stale))
            }
        }
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
                .map(|(a, level, input)| self.ability_grant(a, *level, input.as_deref()))
                .collect(),
            owner: spawn.owner.map(|a| core::ActorId(a as u64)),
            avatar: spawn.avatar.map(|a| core::ActorId(a as u64)),
            anchor: spawn.place.map(anchor),
            ability_sets: spawn
                .ability_sets
                .iter()
                .map(|s| self.sim.rules().ability_set(s).expect("it was loaded"))
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

    fn change(&self, change: &Change) -> core::EffectUpdate {
        match change {
            Change::Level(n) => core::EffectUpdate::Level(*n),
            Change::Remaining(t) => core::EffectUpdate::Remaining(SimTime(*t)),
            Change::Extend(t) => core::EffectUpdate::Extend(SimTime(*t)),
            Change::Period(t) => core::EffectUpdate::Period(SimTime(*t)),
            Change::Stacks(n) => core::EffectUpdate::Stacks(*n),
            Change::SetByCaller(key, v) => core::EffectUpdate::SetByCaller(self.key_id(key), *v),
        }
    }
}

fn aim(target: Option<u32>) -> core::Target {
    target.map_or(core::Target::None, |who| core::Target::Controller(ControllerId(who)))
}

fn anchor(place: f64) -> core::Anchor {
    core::Anchor::at([place, 0.0, 0.0])
}

pub(crate) fn kind<T>(result: Result<T, core::Refusal>) -> Result<(), &'static str> {
    result.map(drop).map_err(|r| r.kind())
}
