//! What a running ability lets its client do: budgets of effects, and answers to tasks.

use crate::kit::world::load::{assert_issue, base as load_base, error};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, ControllerId, EffectId, Op, OpId, Outcome, Refusal, ResimulationStop, Role, RowImage,
    Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Target,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, NetExecution, Timeline, Value};

fn task(kind: &str) -> AbilityTask {
    AbilityTask::new(kind)
}

fn wait(seconds: f64) -> AbilityTask {
    task("WaitDelay").param("Duration", seconds)
}

fn builder() -> RulesBuilder {
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)).with(Attribute::new("Mana", 1.0)))
        .add(Effect::instant("GE_Hit").add("Health", -10.0))
        .add(Effect::instant("GE_Other").add("Health", -1.0))
        .add(Effect::instant("GE_Cost").add("Mana", -1.0))
}

/// A sim with a hero, who has the ability GA at level 3, and two foes.
struct Stage {
    sim: Sim,
    hero: ControllerId,
    foes: [ControllerId; 2],
    ability: AbilityId,
    hit: EffectId,
    ops: u32,
}

impl Stage {
    fn new(rules: &Arc<Rules>, config: SimConfig) -> Stage {
        let mut sim = Sim::new(rules.clone(), config);
        let [hero, one, two] =
            std::array::from_fn(|_| sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap());
        let (ability, hit) = (rules.ability("GA").unwrap(), rules.effect("GE_Hit").unwrap());
        sim.grant(hero, AbilityGrant::new(ability).level(3)).unwrap();
        Stage { sim, hero, foes: [one, two], ability, hit, ops: 0 }
    }

    fn of(ability: Ability) -> Stage {
        Stage::new(&builder().add(ability).build().unwrap(), SimConfig::default())
    }

    fn activate(&mut self) {
        self.sim.activate(self.hero, self.ability, Target::Controller(self.foes[0])).unwrap();
    }

    fn apply(&mut self, effect: EffectId, target: ControllerId) -> Result<Outcome, Refusal> {
        self.ops += 1;
        let (who, ability) = (self.hero, self.ability);
        self.sim.run_as(OpId::new(2, self.ops, 0), &Op::ApplyFromAbility { who, ability, effect, target })
    }

    fn health(&self, who: ControllerId) -> f64 {
        self.sim.get(who, self.sim.rules().attribute("Health").unwrap()).unwrap()
    }
}

#[test]
fn a_client_applies_nothing_that_no_waiting_task_names() {
    let strike = task("ApplyEffectToTarget").param("EffectClass", "GE_Hit");
    let mut s = Stage::of(Ability::new("GA").task(wait(3.0)).task(strike));
    assert_eq!(s.apply(s.hit, s.foes[0]), Err(Refusal::StaleHandle), "inactive");
    s.activate();
    for _ in 0..10 {
        assert_eq!(s.apply(s.hit, s.foes[0]), Err(Refusal::Authority));
    }
    assert_eq!(s.health(s.foes[0]), 100.0);
}

#[test]
fn the_budget_counts_per_activation_effect_and_target() {
    let mut s = Stage::of(Ability::new("GA").task(wait(3.0).client_effect("GE_Hit", 3, 2)).task(wait(3.0)));
    s.activate();
    let [one, two] = s.foes;
    let key = |outcome| matches!(outcome, Ok(Outcome::Applied(_)));
    assert!(key(s.apply(s.hit, one)) && key(s.apply(s.hit, one)));
    assert_eq!(s.apply(s.hit, one), Err(Refusal::EffectBudget { max: 2 }), "two per target");
    assert!(key(s.apply(s.hit, two)));
    assert_eq!(s.apply(s.hit, two), Err(Refusal::EffectBudget { max: 3 }), "three in total");
    let other = s.sim.rules().effect("GE_Other").unwrap();
    assert_eq!(s.apply(other, one), Err(Refusal::Authority));
    assert_eq!((s.health(one), s.health(two)), (80.0, 90.0));
    // The next task does not name the effect.
    s.sim.advance_to(SimTime::seconds(3.0));
    assert_eq!(s.apply(s.hit, two), Err(Refusal::Authority));
}

#[test]
fn an_application_needs_a_committed_activation_and_does_not_count_if_refused() {
    let manual = Ability { commit_policy: ugas_doc::CommitPolicy::Manual, ..Ability::new("GA") };
    let mut s = Stage::of(manual.cost("GE_Cost").task(wait(3.0).client_effect("GE_Hit", 1, 1)));
    s.activate();
    assert_eq!(s.apply(s.hit, s.foes[0]), Err(Refusal::StaleHandle), "not committed");
    s.sim.run(Op::Commit { who: s.hero, which: ugas_core::Which::Ability(s.ability) }).unwrap();
    assert_eq!(s.apply(s.hit, ControllerId(999)), Err(Refusal::StaleHandle), "a target that does not exist");
    let mut facts = ugas_core::Facts::default();
    s.sim.take_facts(&mut facts);
    assert!(s.apply(s.hit, s.foes[0]).is_ok());
    s.sim.take_facts(&mut facts);
    let level = facts.list.iter().find_map(|f| match f.kind {
        ugas_core::FactKind::EffectApplied { level, .. } => Some(level),
        _ => None,
    });
    assert_eq!(level, Some(3), "the level of the activation");
}

#[test]
fn a_rollback_restores_the_count_and_a_resimulation_counts_again() {
    let rules = builder().add(Ability::new("GA").task(wait(3.0).client_effect("GE_Hit", 2, 1))).build().unwrap();
    let mut s = Stage::new(&rules, SimConfig { role: Role::Client, ..SimConfig::default() });
    s.activate();
    s.sim.keep_journal(s.hero).unwrap();
    let mut image = RowImage::default();
    s.sim.capture(s.hero, &mut image).unwrap();
    let before = s.sim.row_hash(s.hero).unwrap();
    s.apply(s.hit, s.foes[0]).unwrap();
    let counted = s.sim.row_hash(s.hero).unwrap();
    assert_ne!(counted, before, "the hash covers the count");
    let op = OpId::new(2, s.ops, 0);
    s.sim.advance_to(SimTime::seconds(1.0));
    let resimulate = |s: &mut Stage| {
        s.sim.resimulate(&image, None, &mut [ResimulationStop::at(s.sim.now())]).unwrap();
    };
    resimulate(&mut s);
    assert_eq!(s.apply(s.hit, s.foes[0]), Err(Refusal::EffectBudget { max: 1 }), "counted again");
    let hit = Op::ApplyFromAbility { who: s.hero, ability: s.ability, effect: s.hit, target: s.foes[0] };
    s.sim.remote_mut().discard_op(OpId::new(2, s.ops, 0), &hit);
    assert_eq!(s.health(s.foes[0]), 90.0, "the foe is hit once");
    s.sim.remote_mut().discard_op(op, &hit);
    resimulate(&mut s);
    assert!(s.apply(s.hit, s.foes[0]).is_ok(), "the rejected application does not count");
}

#[test]
fn a_snapshot_contains_the_count() {
    let rules = builder().add(Ability::new("GA").task(wait(3.0).client_effect("GE_Hit", 2, 1))).build().unwrap();
    let mut s = Stage::new(&rules, SimConfig::default());
    s.activate();
    s.apply(s.hit, s.foes[0]).unwrap();
    let snapshot = s.sim.remote().snapshot(s.hero).unwrap();
    let mut copy = Stage::new(&rules, SimConfig::default());
    let image = copy.sim.remote_mut().import(&snapshot, Default::default()).unwrap();
    copy.sim.resimulate(&image, None, &mut [ResimulationStop::at(copy.sim.now())]).unwrap();
    assert_eq!(copy.sim.row_hash(s.hero), s.sim.row_hash(s.hero));
    assert_eq!(copy.apply(s.hit, s.foes[0]), Err(Refusal::EffectBudget { max: 1 }));
}

fn answer_at(s: &Stage, seconds: f64) -> Result<(), Refusal> {
    let key = s.sim.tasks(s.hero).unwrap()[0].key;
    s.sim.remote().check_client_answer(key, 1, SimTime::seconds(seconds))
}

#[test]
fn a_client_answers_target_data_and_what_the_data_opens() {
    let data = || task("WaitTargetData").param("TargetingMethod", "Trace");
    let montage = || task("WaitMontageEnded").param("Montage", "AM");
    let opened = |task: AbilityTask| task.param("ClientAnswers", true);
    let closed = |task: AbilityTask| task.param("ClientAnswers", false);
    let later = |task: AbilityTask| task.param("ClientAnswersAfter", 0.5);
    let check = |task: AbilityTask, at: f64| {
        let mut s = Stage::of(Ability::new("GA").task(task));
        s.activate();
        answer_at(&s, at)
    };
    assert_eq!(check(data(), 0.0), Ok(()));
    assert_eq!(check(closed(data()), 9.0), Err(Refusal::Authority));
    assert_eq!(check(later(data()), 0.25), Err(Refusal::TooEarly { left: SimTime::seconds(0.25) }));
    assert_eq!(check(later(data()), 0.5), Ok(()));
    assert_eq!(check(montage(), 9.0), Err(Refusal::Authority));
    assert_eq!(check(opened(montage()), 0.0), Ok(()));
    assert_eq!(check(wait(1.0), 9.0), Err(Refusal::Authority), "a delay");
}

#[test]
fn a_timeline_that_the_sim_plays_answers_instead_of_the_client() {
    let data = task("WaitTargetData").param("TargetingMethod", "Trace");
    let line = Timeline::new("TL", 2.0).ability("GA").answer("WaitTargetData", 1.0, ugas_doc::AnswerTarget::Activation);
    let rules = builder().add(Ability::new("GA").task(data)).add(line).build().unwrap();
    let mut s = Stage::new(&rules, SimConfig::default());
    s.activate();
    assert_eq!(answer_at(&s, 1.5), Err(Refusal::Authority));
    // The engine plays animations itself: the timeline says when its answer could be true.
    let mut s = Stage::new(&rules, SimConfig { timelines: false, ..SimConfig::default() });
    s.activate();
    assert_eq!(answer_at(&s, 0.75), Err(Refusal::TooEarly { left: SimTime::seconds(0.25) }));
    assert_eq!(answer_at(&s, 1.0), Ok(()));

    let montage = Ability::new("GA")
        .task(task("PlayMontage").param("MontageToPlay", "AM"))
        .task(task("WaitAnimationEvent").param("EventName", "Bite").param("ClientAnswers", true));
    for (timelines, notify, expected) in
        [(true, "Bite", Err(Refusal::Authority)), (true, "Other", Ok(())), (false, "Bite", Ok(()))]
    {
        let line = Timeline::new("TL", 2.0).montage("AM").notify(1.0, notify);
        let rules = builder().add(montage.clone()).add(line).build().unwrap();
        let mut s = Stage::new(&rules, SimConfig { timelines, ..SimConfig::default() });
        s.activate();
        assert_eq!(answer_at(&s, 0.0), expected, "{timelines} {notify}");
    }
}

#[test]
fn parameters_that_can_never_have_an_effect_are_errors() {
    let mut secret = Effect::instant("GE_Secret").add("Health", -1.0);
    secret.effect_tags.push("Gameplay.Effect.AuthoritativeOnly".into());
    let rules = |net: NetExecution, task: AbilityTask| {
        load_base()
            .add(Effect::instant("GE_Hit").add("Health", -1.0))
            .add(secret.clone())
            .add(Ability::new("GA").net(net).task(task))
    };
    let refused = |net: NetExecution, task: AbilityTask, words: &[&str]| {
        assert_issue(&error(rules(net, task), "bad-param"), "GA", words);
    };
    let local = NetExecution::LocalPredicted;
    let place = "Tasks[0].Params.ClientEffects";
    refused(local, wait(1.0).client_effect("GE_Secret", 1, 1), &[place, "only the server may apply GE_Secret"]);
    refused(local, wait(1.0).client_effect("GE_Hit", 1, 2), &["PerTarget", "2 is above the Total of 1"]);
    refused(local, wait(1.0).client_effect("GE_Hit", 0, 1), &["expected a whole number from 1 to 1000, found 0"]);
    let twice = wait(1.0).client_effect("GE_Hit", 1, 1).client_effect("GE_Hit", 1, 1);
    refused(local, twice, &["ClientEffects[1].EffectClass", "GE_Hit is in the list twice"]);
    refused(NetExecution::ServerOnly, wait(1.0).client_effect("GE_Hit", 1, 1), &[place, "ServerOnly"]);
    refused(local, wait(1.0).param("ClientEffects", "GE_Hit"), &[place, "expected a list"]);
    let unnamed = wait(1.0).param("ClientEffects", vec![Value::Map(Default::default())]);
    refused(local, unnamed, &["ClientEffects[0].EffectClass", "missing"]);
    refused(local, wait(1.0).param("ClientAnswers", true), &["ClientAnswers", "the engine does not answer this task"]);
    refused(local, wait(1.0).param("ClientAnswersAfter", 1.0), &["ClientAnswersAfter", "does not answer this task"]);
    let montage = task("WaitMontageEnded").param("ClientAnswersAfter", 1.0);
    refused(local, montage, &["ClientAnswersAfter", "write ClientAnswers: true"]);
    let overlap = task("WaitOverlap").param("ClientAnswers", true).param("ClientAnswersAfter", 1.0);
    refused(local, overlap, &["ClientAnswersAfter", "the task ticks"]);
    let unknown = rules(local, wait(1.0).client_effect("GE_Hti", 1, 1));
    assert_issue(&error(unknown, "unknown-effect"), "GA", &["ClientEffects[0].EffectClass", "did you mean GE_Hit?"]);
}
