//! Hot reload under seeded edits of a whole catalogue: identical rules change nothing, a fresh world becomes a new one,
//! and after any edit the state is consistent.

use crate::kit::script::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AttributeId, ControllerId, DiagnosticKind, Fact, FactKind, LoadError, Refusal, Rules, Sim, SimConfig,
    SimTime, SpawnSpec, Spec, TagId, Target,
};
use ugas_doc::{
    Ability, AbilitySet, Attribute, AttributeSet, Calculation, CalculationResult, Curve, DerivedFrom, Doc,
    DurationPolicy, Effect, ExecutionPolicy, GrantedAbilityEntry, Magnitude, Modifier, Operation, SetAbility, Stacking,
    TagRegistry,
};

// covers: OWN-08
#[test]
fn reloading_identical_rules_changes_nothing_at_any_time() {
    for seed in 0..6 {
        let mut play = Play::new(&kit(), seed);
        for round in 0..12 {
            let mut other = play.clone();
            let rebuilt = builder().after(play.sim.rules().clone()).build().unwrap();
            assert_eq!(rebuilt.fingerprint(), play.sim.rules().fingerprint());
            let migration = other.sim.reload(rebuilt).unwrap();
            assert!(migration.is_empty(), "seed {seed}, round {round}: {migration}");
            assert_eq!(other.sim.hash(), play.sim.hash(), "seed {seed}, round {round}");
            assert!(facts(&mut other.sim).is_empty());
            let (emitted, hashes) = play.run(100);
            let (emitted_other, hashes_other) = other.run(100);
            assert_eq!(hashes, hashes_other, "seed {seed}, round {round}");
            // Links are numbers of one sim's ring, and the reload took one.
            let without_link = |f: &Fact| Fact { link: 0, ..*f };
            let same = emitted.iter().map(without_link).eq(emitted_other.iter().map(without_link));
            assert!(same, "seed {seed}, round {round}");
            // One of the two continues, reloaded or not.
            if round % 2 == 0 {
                play = other;
            }
        }
        assert!(play.sim.now() >= SimTime::seconds(20.0 - 0.5));
    }
}

/// A catalogue of documents to edit, by kind.
#[derive(Clone)]
struct Book {
    sets: Vec<AttributeSet>,
    tags: Vec<String>,
    curves: Vec<Curve>,
    calculations: Vec<Calculation>,
    effects: Vec<Effect>,
    abilities: Vec<Ability>,
    bags: Vec<AbilitySet>,
    /// Rotates the order of documents.
    turn: usize,
}

fn book() -> Book {
    let derived = |name: &str, text: &str| Attribute {
        derived_from: Some(DerivedFrom { expression: text.into() }),
        ..Attribute::new(name, 0.0)
    };
    let slash =
        Ability::new("GA_Slash").owned("State.Busy").task(wait(0.4)).task(mark("GE_Hit")).on_cancel(mark("GE_Hit"));
    let stacking = Stacking { limit: Some(5), ..Stacking::default() };
    Book {
        sets: vec![
            AttributeSet::new("Vitals")
                .with(Attribute::new("MaxHealth", 100.0).min(1.0))
                .with(Attribute::new("Health", 100.0).min(0.0).max("MaxHealth"))
                .with(Attribute::new("Power", 10.0))
                .with(derived("Might", "Power * 2 + MaxHealth / 10")),
            AttributeSet::new("Magic").with(Attribute::new("Mana", 40.0).min(0.0)).with(Attribute::new("Focus", 3.0)),
        ],
        tags: ["State.Busy", "State.Wet", "State.Hot.Burning", "Magic.Fire", "Magic.Ice", "Cue.Spark"]
            .map(String::from)
            .into(),
        curves: vec![Curve::new("C_Power", [(1.0, 1.0), (5.0, 9.0)])],
        calculations: vec![
            Calculation::new("Calc_Bonus").gives("source.Power * 0.5 + target.Focus"),
            Calculation::new("Calc_Burn").result(CalculationResult::add("Health", "-source.Power / 5")),
        ],
        effects: vec![
            Effect::instant("GE_Hit").add("Health", -7.0),
            Effect::lasting("GE_Oak", 4.0).add("MaxHealth", 20.0).grants("State.Wet"),
            Effect::infinite("GE_Live").add("Power", Magnitude::attribute("Focus").times(1.5)).tagged("Magic.Ice"),
            Effect::infinite("GE_Follow").add("MaxHealth", Magnitude::attribute("Might").times(0.5)).cue("Cue.Spark"),
            Effect::lasting("GE_Curve", 6.0).multiply("Power", Magnitude::curve("C_Power")),
            Effect::lasting("GE_Calc", 5.0).add("Focus", Magnitude::calculation("Calc_Bonus")),
            Effect::lasting("GE_Burn", 5.0)
                .every(0.5)
                .execute("Calc_Burn")
                .grants("State.Hot.Burning")
                .tagged("Magic.Fire"),
            Effect::infinite("GE_Stack").add("Power", 2.0).stacking(stacking),
            Effect {
                ongoing_blocked_tags: vec!["State.Wet".into()],
                granted_abilities: vec![GrantedAbilityEntry::new("GA_Slash")],
                ..Effect::infinite("GE_Glow").add("Mana", 5.0)
            },
            Effect::lasting("GE_Turn", 1.5).add("Mana", 1.0).policy(ExecutionPolicy::RunInSequence),
            Effect::infinite("GE_Filter")
                .modify(Modifier::new("Power", Operation::Multiply, 0.5).target_tag("State.Hot"))
                .modify(Modifier::new("Focus", Operation::Add, 1.0).source_tag("State.Wet")),
        ],
        abilities: vec![
            slash,
            Ability::new("GA_Rest").passively().blocked("State.Hot").task(wait(1.0)),
            Ability::new("GA_Roll").charges(3, 0.7),
        ],
        bags: vec![AbilitySet::new("AS_Bag").effect("GE_Live").ability(SetAbility::new("GA_Roll"))],
        turn: 0,
    }
}

impl Book {
    fn docs(&self) -> Vec<Doc> {
        let mut docs: Vec<Doc> = Vec::new();
        docs.extend(self.sets.iter().cloned().map(Doc::from));
        docs.push(TagRegistry::new(self.tags.iter().cloned()).into());
        docs.extend(self.curves.iter().cloned().map(Doc::from));
        docs.extend(self.calculations.iter().cloned().map(Doc::from));
        docs.extend(self.effects.iter().cloned().map(Doc::from));
        docs.extend(self.abilities.iter().cloned().map(Doc::from));
        docs.extend(self.bags.iter().cloned().map(Doc::from));
        let n = docs.len();
        docs.rotate_left(self.turn % n);
        docs
    }

    fn build(&self, after: Option<&Arc<Rules>>) -> Result<Arc<Rules>, LoadError> {
        let builder = after.map_or_else(Rules::builder, |old| Rules::builder().after(old.clone()));
        builder.add_all(self.docs()).build()
    }

    /// One edit, as a designer might make it; it may break the catalogue.
    fn edit(&mut self, rng: &mut Rng, n: u32) {
        let amount: f64 = [0.5, -3.0, 7.0, 12.5][rng.below(4)];
        let tag = rng.pick(&self.tags).clone();
        let e = rng.below(self.effects.len());
        match rng.below(26) {
            0..=2 => {
                let set = rng.below(self.sets.len());
                let list = &mut self.sets[set].attributes;
                let at = rng.below(list.len());
                if list[at].derived_from.is_none() {
                    list[at].default_base_value = list[at].default_base_value.map(|v| v + amount.abs());
                }
            }
            3 => self.sets[1].attributes.push(Attribute::new(format!("Extra{n}"), amount).max("MaxHealth")),
            4 => {
                self.sets[1].attributes.truncate(2);
            }
            5 => self.tags.insert(rng.below(self.tags.len()), format!("State.New{n}.Deep")),
            6 => self.tags.insert(0, format!("Aaa{n}")),
            7 => {
                // A rename: the build fails if a document refers to the old name.
                let at = rng.below(self.tags.len());
                self.tags[at] = format!("State.Renamed{n}");
            }
            8 => self.curves[0].points[1].y += amount,
            9 => self.calculations[0] = Calculation::new("Calc_Bonus").gives(format!("source.Power * 0.5 + {amount}")),
            10 => self.effects[e].granted_tags.push(tag),
            11 => self.effects[e].granted_tags.clear(),
            12 => {
                let attribute = *rng.pick(&["Power", "Focus", "MaxHealth", "Mana"]);
                let magnitude = match rng.below(3) {
                    0 => Magnitude::value(amount),
                    1 => Magnitude::attribute("Mana").times(0.25),
                    _ => Magnitude::curve("C_Power"),
                };
                self.effects[e].modifiers.push(Modifier::new(attribute, Operation::Add, magnitude));
            }
            13 => {
                self.effects[e].modifiers.pop();
            }
            14 | 15 => {
                for m in &mut self.effects[e].modifiers {
                    m.magnitude = Magnitude::value(amount);
                }
            }
            16 => {
                let was = self.effects[e].clone();
                self.effects[e] = match was.duration_policy {
                    DurationPolicy::Infinite => {
                        Effect { duration_policy: DurationPolicy::HasDuration, duration: Some(2.0.into()), ..was }
                    }
                    _ => Effect { duration_policy: DurationPolicy::Infinite, duration: None, ..was },
                };
            }
            17 => {
                let none = Effect::infinite("").period;
                self.effects[e].period =
                    if self.effects[e].period == none { Effect::infinite("").every(0.3).period } else { none };
            }
            18 => self.effects[e].ongoing_required_tags = if rng.below(2) == 0 { vec![tag] } else { Vec::new() },
            19 => self.effects[e].gameplay_cues.push("Cue.Spark".into()),
            20 => {
                let abilities =
                    [vec![], vec![GrantedAbilityEntry::new("GA_Roll")], vec![GrantedAbilityEntry::new("GA_Slash")]];
                self.effects[e].granted_abilities = rng.pick(&abilities).clone();
            }
            21 => {
                self.effects.remove(e);
            }
            22 => {
                let at = rng.below(self.abilities.len());
                self.abilities[at].tasks.push(wait(0.2));
            }
            23 => {
                if let Some(s) = &mut self.effects[e].stacking {
                    s.limit = Some(1 + rng.below(6) as u32);
                } else {
                    self.effects[e].stacking = Some(Stacking { limit: Some(3), ..Stacking::default() });
                }
            }
            24 => self.effects.insert(0, Effect::infinite(format!("GE_New{n}")).add("Power", amount).grants(tag)),
            _ => self.turn += 1,
        }
    }
}

/// A world of three controllers that run random ops under the current rules.
struct World {
    sim: Sim,
    who: Vec<ControllerId>,
    /// The values that an observer of the facts alone would know.
    observed: BTreeMap<(ControllerId, AttributeId), f64>,
    present: BTreeSet<(ControllerId, TagId)>,
}

impl World {
    fn new(rules: &Arc<Rules>, seed: u64) -> World {
        let mut sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
        let sets = vec![set(rules, "Vitals"), set(rules, "Magic")];
        let hot = tag(rules, "State.Hot.Burning");
        let who: Vec<ControllerId> = (0..3)
            .map(|i| {
                let tags = if i == 0 { vec![hot] } else { Vec::new() };
                sim.spawn(SpawnSpec { tags, ..SpawnSpec::sets(sets.clone()) }).unwrap()
            })
            .collect();
        for &who in &who {
            for (id, _) in rules.ability_list().collect::<Vec<_>>() {
                sim.grant(who, AbilityGrant::new(id)).unwrap();
            }
        }
        let mut world = World { sim, who, observed: BTreeMap::new(), present: BTreeSet::new() };
        world.present = world.who.iter().flat_map(|&w| world.tags_of(w)).collect();
        facts(&mut world.sim);
        world
    }

    fn act(&mut self, rng: &mut Rng) {
        let rules = self.sim.rules().clone();
        let (a, b) = (*rng.pick(&self.who), *rng.pick(&self.who));
        let effects: Vec<_> = rules.effect_list().map(|(id, _)| id).skip(1).collect();
        let abilities: Vec<_> = rules.ability_list().map(|(id, _)| id).collect();
        // A refusal is an answer like any other.
        match rng.below(10) {
            0..=5 => {
                let spec = Spec::new(*rng.pick(&effects), a).from(b).level(1 + rng.below(4) as u32);
                let _ = self.sim.apply(&spec.stacks(1 + rng.below(3) as u32));
            }
            6 | 7 => {
                let _ = self.sim.activate(a, *rng.pick(&abilities), Target::Controller(b));
            }
            8 => {
                if let Some(set) = rules.find_ability_set("AS_Bag") {
                    let _ = self.sim.grant_set(a, set);
                }
            }
            _ => {
                let keys: Vec<_> = self.sim.effects(a).unwrap().iter().map(|e| e.key).collect();
                if !keys.is_empty() {
                    let _ = self.sim.remove(*rng.pick(&keys));
                }
            }
        }
        let to = SimTime(self.sim.now().0 + SimTime::millis(rng.below(200) as i64).0);
        go_to(&mut self.sim, to);
    }

    fn tags_of(&self, who: ControllerId) -> Vec<(ControllerId, TagId)> {
        let all = self.sim.rules().tag_ids().filter(|&t| self.sim.has_tag(who, t).unwrap());
        all.map(|t| (who, t)).collect()
    }

    /// An observer of the facts alone knows all values and tags.
    fn listen(&mut self, about: &str) {
        for fact in facts(&mut self.sim) {
            match fact.kind {
                FactKind::AttributeChanged { attribute, old, new, .. } => {
                    let known = self.observed.insert((fact.who, attribute), new);
                    assert!(known.is_none_or(|k| k == old), "{about}: {fact:?}, observed {known:?}");
                }
                FactKind::TagChanged { tag, added: true, presence: true, .. } => {
                    self.present.insert((fact.who, tag));
                }
                FactKind::TagChanged { tag, presence: true, .. } => {
                    self.present.remove(&(fact.who, tag));
                }
                _ => {}
            }
        }
        let there: BTreeSet<_> = self.who.iter().flat_map(|&w| self.tags_of(w)).collect();
        assert_eq!(self.present, there, "{about}");
        // A reload emits no facts for added attributes, and removed ones no longer exist.
        self.observed.retain(|&(who, attribute), value| match self.sim.get(who, attribute) {
            Ok(now) => now == *value || panic!("{about}: {attribute:?} is {now}, observed {value}"),
            Err(_) => false,
        });
    }

    /// What must hold of any sim at rest.
    fn check(&mut self, about: &str) {
        self.listen(about);
        let reported = diagnostics(&mut self.sim);
        let wrong = |k: &DiagnosticKind| matches!(k, DiagnosticKind::TagUnderflow { .. });
        assert!(!reported.iter().any(|d| wrong(&d.kind)), "{about}: {reported:?}");
        let rules = self.sim.rules().clone();
        for &who in &self.who {
            // Explicit tags explain every answer about tags.
            let explicit = self.sim.tags(who).unwrap();
            for id in rules.tag_ids() {
                let below = explicit.iter().filter(|(t, _)| rules.tag_is_under(*t, id));
                let sum: u64 = below.map(|(_, n)| *n as u64).sum();
                assert_eq!(self.sim.tag_count_all(who, id), Ok(sum), "{about}");
                assert_eq!(self.sim.has_tag(who, id), Ok(sum > 0), "{about}");
            }
            // A portable is checked through and computed anew where it arrives.
            let mut away = self.sim.clone();
            let portable = away.extract(who).unwrap();
            away.insert(&portable).unwrap_or_else(|e| panic!("{about}: {e}"));
            for a in self.sim.attributes(who).unwrap() {
                let (here, there) = (self.sim.get(who, a).unwrap(), away.get(who, a).unwrap());
                assert_eq!(here, there, "{about}: {:?}", rules.attribute_name(a));
                let explained = self.sim.explain(who, a).unwrap();
                assert_eq!(explained.value, here, "{about}: {explained:?}");
            }
        }
        assert_eq!(self.sim.clone().hash(), self.sim.hash(), "{about}");
    }
}

/// Every name with its id, over all kinds that a host can cache.
fn ids(rules: &Rules) -> BTreeMap<(&'static str, String), u32> {
    let mut all = BTreeMap::new();
    for id in rules.tag_ids() {
        all.insert(("tag", rules.tag_name(id).unwrap().into()), id.0);
    }
    for n in 0.. {
        let found = [
            ("attribute", rules.attribute_name(AttributeId(n))),
            ("set", rules.set_name(ugas_core::SetId(n))),
            ("effect", rules.effect_name(ugas_core::EffectId(n))),
            ("ability", rules.ability_name(ugas_core::AbilityId(n))),
            ("ability set", rules.ability_set_name(ugas_core::AbilitySetId(n))),
            ("calculation", rules.calculator_name(ugas_core::CalcId(n))),
            ("task", rules.task_kind_name(ugas_core::TaskKindId(n))),
        ];
        if found.iter().all(|(_, name)| name.is_none()) {
            return all;
        }
        for (kind, name) in found {
            all.extend(name.map(|name| ((kind, name.to_owned()), n)));
        }
    }
    all
}

// covers: OWN-08, OWN-11
#[test]
fn after_any_edit_ids_stay_valid_and_the_state_is_consistent() {
    let (mut taken, mut broken, mut refused) = (0, 0, 0);
    for seed in 0..40 {
        let mut rng = Rng(seed);
        let mut now = book();
        let mut world = World::new(&now.build(None).unwrap(), seed);
        for round in 0..25 {
            for _ in 0..rng.below(8) {
                world.act(&mut rng);
            }
            let mut next = now.clone();
            for n in 0..1 + rng.below(4) as u32 {
                next.edit(&mut rng, round * 10 + n);
            }
            let about = format!("seed {seed}, round {round}");
            let hash = world.sim.hash();
            let Ok(rules) = next.build(Some(world.sim.rules())) else {
                broken += 1;
                assert_eq!(world.sim.hash(), hash);
                continue;
            };
            let before = ids(world.sim.rules());
            let mut twin = world.sim.clone();
            match world.sim.reload(rules.clone()) {
                Ok(migration) => {
                    taken += 1;
                    assert_eq!(twin.reload(rules).unwrap(), migration, "{about}");
                    assert_eq!(twin.hash(), world.sim.hash(), "{about}");
                    now = next;
                }
                Err(error) => {
                    refused += 1;
                    assert_eq!(world.sim.hash(), hash, "{about}: {error}");
                }
            }
            let after = ids(world.sim.rules());
            assert!(before.iter().all(|(name, id)| after.get(name) == Some(id)), "{about}");
            world.check(&about);
        }
    }
    assert!(taken > 400 && broken > 20, "{taken} taken, {broken} broken, {refused} refused");
}

/// The values of all controllers, by name.
fn values(sim: &Sim, who: &[ControllerId]) -> Vec<(String, f64, f64)> {
    let rules = sim.rules();
    let mut all = Vec::new();
    for &who in who {
        for a in sim.attributes(who).unwrap() {
            let name = format!("{} {}", who.0, rules.attribute_name(a).unwrap());
            all.push((name, sim.base(who, a).unwrap(), sim.get(who, a).unwrap()));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// The tags, cues, grants and effects of all controllers, by name.
fn shows(sim: &Sim, who: &[ControllerId]) -> Vec<String> {
    let rules = sim.rules();
    let mut all = Vec::new();
    for &who in who {
        all.extend(
            sim.tags(who).unwrap().iter().map(|(t, n)| format!("{} {} {n}", who.0, rules.tag_name(*t).unwrap())),
        );
        all.extend(sim.cues(who).unwrap().iter().map(|t| format!("{} cue {}", who.0, rules.tag_name(*t).unwrap())));
        let grants = sim.grants(who).unwrap();
        all.extend(grants.iter().map(|g| format!("{} grant {}", who.0, rules.ability_name(g.ability).unwrap())));
        for e in sim.effects(who).unwrap() {
            all.push(format!("{} effect {} {:?} {}", who.0, rules.effect_name(e.effect).unwrap(), e.key, e.stacks));
        }
    }
    all.sort();
    all
}

/// Applies every effect that lasts and needs no history, in one order, without letting time pass.
fn furnish(sim: &mut Sim, names: &[String]) -> Vec<ControllerId> {
    let rules = sim.rules().clone();
    let sets = vec![set(&rules, "Vitals"), set(&rules, "Magic")];
    let who: Vec<ControllerId> = (0..2).map(|_| sim.spawn(SpawnSpec::sets(sets.clone())).unwrap()).collect();
    for name in names {
        sim.apply(&Spec::new(effect(&rules, name), who[1]).from(who[0]).level(2)).unwrap();
    }
    who
}

#[test]
fn reloading_a_fresh_world_equals_a_new_world_and_can_be_reverted() {
    let mut compared = 0;
    for seed in 0..300 {
        let mut rng = Rng(1000 + seed);
        let old = book();
        let mut new = book();
        for n in 0..1 + rng.below(5) as u32 {
            new.edit(&mut rng, n);
        }
        let first = old.build(None).unwrap();
        let (Ok(second), Ok(fresh)) = (new.build(Some(&first)), new.build(None)) else { continue };
        // Effects that last in both and do nothing at application that a reload does not do again.
        let lasting = |b: &Book, name: &str| {
            let lasts = |e: &&Effect| e.duration_policy != DurationPolicy::Instant;
            let runs_at_once = |e: &&Effect| e.period.is_none() && !e.executions.is_empty();
            b.effects.iter().find(|e| e.name == name).filter(lasts).is_some_and(|e| !runs_at_once(&e))
        };
        let plain = ["GE_Oak", "GE_Live", "GE_Follow", "GE_Curve", "GE_Burn", "GE_Stack", "GE_Filter"];
        let plain = plain.into_iter().filter(|n| lasting(&old, n) && lasting(&new, n)).map(String::from);
        let mut names: Vec<String> = plain.collect();
        let mut reference = Sim::new(fresh.clone(), SimConfig::default());
        let sets = vec![set(&fresh, "Vitals"), set(&fresh, "Magic")];
        let probe = reference.spawn(SpawnSpec::sets(sets)).unwrap();
        names.retain(|n| reference.clone().apply(&Spec::new(effect(&fresh, n), probe).from(probe)).is_ok());
        let mut reference = Sim::new(fresh.clone(), SimConfig::default());
        let who = furnish(&mut reference, &names);

        let mut sim = Sim::new(first.clone(), SimConfig::default());
        let here = furnish(&mut sim, &names);
        assert_eq!(here, who);
        let was = (values(&sim, &who), shows(&sim, &who));
        if sim.reload(second.clone()).is_err() {
            continue;
        }
        assert_eq!(values(&sim, &who), values(&reference, &who), "seed {seed}");
        assert_eq!(shows(&sim, &who), shows(&reference, &who), "seed {seed}: {new:?}", new = new.effects);
        compared += 1;
        // And back: nothing of the way there is left.
        let third = old.build(Some(&second)).unwrap();
        sim.reload(third).unwrap();
        assert_eq!((values(&sim, &who), shows(&sim, &who)), was, "seed {seed}");
        assert_ne!(sim.apply(&Spec::new(effect(&first, "GE_Hit"), who[0])), Err(Refusal::StaleHandle));
    }
    assert!(compared > 150, "{compared}");
}
