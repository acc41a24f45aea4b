//! Tasks that the host answers, timelines that answer in its place, and distances.

use crate::kit::tasks::*;
use ugas_core::{
    Anchor, Answer, CauseWhat, ControllerId, DiagnosticKind, FactKind, Facts, Hit, Op, ParamValue, Refusal, SimConfig,
    SimTime, Target, TaskKey, TaskResult,
};
use ugas_doc::{Ability, AnswerTarget, Effect, Timeline};

/// The requests since the last time, by type, with their keys.
fn requests(s: &mut Stage) -> Vec<(String, TaskKey)> {
    let rules = s.sim.rules().clone();
    let all = facts(&mut s.sim);
    let asked = all.into_iter().filter_map(|f| match f.kind {
        FactKind::TaskRequest { task, task_key, .. } => {
            Some((rules.task_kind_name(task).unwrap().to_owned(), task_key))
        }
        _ => None,
    });
    asked.collect()
}

fn place(s: &mut Stage, who: ControllerId, x: f64) {
    s.sim.run(Op::Move { who, anchor: Some(Anchor::at([x, 0.0, 0.0])) }).unwrap();
}

// covers: UGAS-10.3-02 UGAS-10.3-12
#[test]
fn a_timeline_sends_notifies_and_ends_montages_without_an_engine() {
    let ga = Ability::new("GA")
        .task(task("PlayMontage").param("MontageToPlay", "AM_Swing"))
        .task(task("WaitAnimationEvent").param("EventName", "Event.Hit.Hard"))
        .task(mark("GE_Mark"))
        .task(task("WaitMontageEnded").param("Montage", "AM_Swing"))
        .task(mark("GE_Mark10"));
    let line =
        Timeline::new("TL_Swing", 1.0).montage("AM_Swing").notify(0.2, "Event.Other").notify(0.5, "Event.Hit.Hard");
    let rules = base().add(ga).add(line).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    go(&mut s.sim, 0.49);
    assert_eq!(s.get("AttackPower"), 10.0);
    go(&mut s.sim, 0.5);
    assert_eq!(s.get("AttackPower"), 11.0);
    go(&mut s.sim, 0.99);
    assert!(s.is_active());
    go(&mut s.sim, 1.0);
    assert_eq!(s.get("AttackPower"), 21.0);
    assert!(!s.is_active());

    // An engine that plays animations itself answers by op.
    let config = SimConfig { timelines: false, ..SimConfig::default() };
    let mut s = Stage::with(&rules, "GA", config);
    s.activate();
    go(&mut s.sim, 3.0);
    let asked = requests(&mut s);
    assert_eq!(asked[0], ("PlayMontage".to_owned(), TaskKey::NONE));
    let (name, key) = asked[1].clone();
    assert_eq!(name, "WaitAnimationEvent");
    s.sim.complete(key, Answer::default()).unwrap();
    assert_eq!(s.get("AttackPower"), 11.0);
    assert_eq!(s.sim.complete(key, Answer::default()), Err(Refusal::StaleHandle));
    let key = requests(&mut s)[0].1;
    s.sim.complete(key, Answer { fail: true, ..Answer::default() }).unwrap();
    assert_eq!(s.get("AttackPower"), 21.0);
}

// covers: UGAS-PACK.0-05
#[test]
fn target_data_hits_only_targets_in_range() {
    let shot = || {
        let wait = task("WaitTargetData").param("TargetingMethod", "HitscanTrace").param("MaxRange", 200.0);
        Ability::new("GA").cost("GE_Cost").task(wait).task(task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt"))
    };
    let rules = base().add(Effect::instant("GE_Cost").add("Mana", -10.0)).add(shot()).build().unwrap();
    for (at, found, health) in [(150.0, true, 90.0), (250.0, true, 100.0), (150.0, false, 100.0)] {
        let mut s = Stage::new(&rules, "GA");
        let foe = spawn(&mut s.sim);
        let hero = s.hero;
        place(&mut s, hero, 0.0);
        place(&mut s, foe, at);
        s.activate();
        let key = requests(&mut s)[0].1;
        let targets = if found { vec![foe] } else { Vec::new() };
        s.sim.complete(key, Answer { targets, ..Answer::default() }).unwrap();
        assert_eq!(get(&s.sim, foe, "Health"), health);
        assert_eq!(s.get("Mana"), 40.0);
        assert!(!s.is_active());
    }
    // The data answers where no engine does.
    let line = Timeline::new("TL", 1.0).ability("GA").answer("WaitTargetData", 0.1, AnswerTarget::Nearest);
    let rules = base().add(Effect::instant("GE_Cost").add("Mana", -10.0)).add(shot()).add(line).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    let (far, near, hero) = (spawn(&mut s.sim), spawn(&mut s.sim), s.hero);
    for (who, x) in [(hero, 0.0), (far, 100.0), (near, 50.0)] {
        place(&mut s, who, x);
    }
    s.activate();
    go(&mut s.sim, 0.1);
    assert_eq!((get(&s.sim, near, "Health"), get(&s.sim, far, "Health")), (90.0, 100.0));
}

#[test]
fn a_failed_search_for_targets_leaves_no_target() {
    // The second search fails by an answer or by its timeout.
    for is_answered in [true, false] {
        let wait =
            task("WaitTargetData").param("TargetingMethod", "Trace").param("MaxRange", 200.0).param("TimeOut", 1.0);
        let hurt = task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt");
        let rules = rules_with(Ability::new("GA").task(wait.clone()).task(hurt.clone()).task(wait).task(hurt));
        let mut s = Stage::new(&rules, "GA");
        let foe = spawn(&mut s.sim);
        s.sim.activate(s.hero, s.ability, Target::Controller(foe)).unwrap();
        let hit = Some(Hit { distance: Some(10.0), ..Hit::default() });
        let key = requests(&mut s)[0].1;
        s.sim.complete(key, Answer { targets: vec![foe], hit, ..Answer::default() }).unwrap();
        assert_eq!(get(&s.sim, foe, "Health"), 90.0, "the first search found the target");
        let key = requests(&mut s)[0].1;
        if is_answered {
            s.sim.complete(key, Answer { fail: true, ..Answer::default() }).unwrap();
        } else {
            go(&mut s.sim, 2.0);
        }
        assert!(!s.is_active());
        assert_eq!(get(&s.sim, foe, "Health"), 90.0, "the second one failed: answered {is_answered}");
    }
}

// covers: UGAS-PACK.0-04
#[test]
fn an_area_effect_hits_all_in_its_radius_except_the_caster_and_immune_targets() {
    let blast = task("ApplyEffectToActorsInRadius")
        .param("Radius", 200.0)
        .param("EffectClass", "GE_Hurt")
        .param("IgnoreTargetsWithTag", "Status.Burning");
    let rules = rules_with(Ability::new("GA").task(blast));
    let mut s = Stage::new(&rules, "GA");
    let all: Vec<_> = (0..4).map(|_| spawn(&mut s.sim)).collect();
    s.activate();
    assert!(diagnostics(&mut s.sim).iter().any(|d| d.kind == DiagnosticKind::MissingTarget));
    let hero = s.hero;
    place(&mut s, hero, 0.0);
    for (who, x) in all.iter().zip([100.0, 199.0, 201.0, 50.0]) {
        place(&mut s, *who, x);
    }
    apply(&mut s.sim, "GE_Burn", all[3]);
    s.activate();
    let health: Vec<f64> = all.iter().map(|who| get(&s.sim, *who, "Health")).collect();
    assert_eq!(health, [90.0, 90.0, 100.0, 100.0]);
    assert_eq!(s.get("Health"), 100.0);
    assert!(facts(&mut s.sim).iter().any(|f| f.who == all[3] && matches!(f.kind, FactKind::Immune { .. })));
}

#[test]
fn an_ability_can_change_its_target() {
    let at = |target: &str| task("SetTarget").param("Target", target);
    let near = at("Nearest").param("Radius", 80.0).param("IgnoreTargetsWithTag", "Status.Burning");
    for (turn, wanted) in [(at("Nearest"), 2), (near.clone(), 3), (near.param("Radius", 60.0), 0), (at("Owner"), 1)] {
        let rules = rules_with(Ability::new("GA").task(turn.clone()).task(wait(1.0)));
        let mut s = Stage::new(&rules, "GA");
        let (burning, other, hero) = (spawn(&mut s.sim), spawn(&mut s.sim), s.hero);
        for (who, x) in [(hero, 0.0), (burning, 50.0), (other, 70.0)] {
            place(&mut s, who, x);
        }
        apply(&mut s.sim, "GE_Burn", burning);
        s.activate();
        let wanted = [None, Some(hero), Some(burning), Some(other)][wanted];
        let aim = |s: &Stage| s.sim.activations(s.hero).unwrap().next().unwrap();
        assert_eq!(aim(&s).target, wanted.map_or(Target::None, Target::Controller), "{turn:?}");
        // And from outside.
        let key = aim(&s).key;
        s.sim.run(Op::Aim { key, target: Target::Controller(other), tick: None }).unwrap();
        assert_eq!(aim(&s).target, Target::Controller(other));
        let bad = Op::Aim { key, target: Target::Point([f64::NAN; 3]), tick: None };
        assert!(matches!(s.sim.run(bad), Err(Refusal::BadValue { .. })));
        go(&mut s.sim, 2.0);
        assert_eq!(s.sim.run(Op::Aim { key, target: Target::None, tick: None }), Err(Refusal::StaleHandle));
    }
}

// covers: UGAS-PACK.0-06
#[test]
fn removing_an_absent_effect_is_not_an_error() {
    let remove = task("RemoveEffectFromOwner").param("EffectClass", "GE_Burn");
    let rules = rules_with(Ability::new("GA").task(remove).task(mark("GE_Mark")));
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    assert_eq!(s.get("AttackPower"), 11.0);
    apply(&mut s.sim, "GE_Burn", s.hero);
    s.activate();
    assert!(!s.sim.has_tag(s.hero, tag(s.sim.rules(), "Status.Burning")).unwrap());
    assert_eq!(s.get("AttackPower"), 12.0);
    assert!(diagnostics(&mut s.sim).is_empty());
}

#[test]
fn a_request_carries_its_parameters() {
    let arrow = task("SpawnProjectile").param("ProjectileClass", "BP_Arrow").param("Speed", 30.0);
    let rules = rules_with(Ability::new("GA").task(arrow));
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let mut all = Facts::default();
    s.sim.take_facts(&mut all);
    let asked = all.list.iter().find(|f| matches!(f.kind, FactKind::TaskRequest { .. })).unwrap();
    let params: Vec<_> = all.params(asked).collect();
    assert_eq!(params, [("ProjectileClass", ParamValue::Text("BP_Arrow")), ("Speed", ParamValue::Number(30.0))]);
}

#[test]
fn a_task_completes_with_the_answer_of_a_worker_thread() {
    let wait = task("WaitTargetData").param("TargetingMethod", "Worker");
    let mut s = Stage::new(&rules_with(Ability::new("GA").task(wait)), "GA");
    s.activate();
    let key = requests(&mut s)[0].1;
    let (send, receive) = std::sync::mpsc::channel();
    let hero = s.hero;
    let worker = std::thread::spawn(move || send.send(vec![hero]).unwrap());
    worker.join().unwrap();
    for frame in 1..=3 {
        s.sim.advance_to(SimTime::frames(frame, 60));
    }
    s.sim.complete(key, Answer { targets: receive.recv().unwrap(), ..Answer::default() }).unwrap();
    assert_eq!(s.task_results(), [("WaitTargetData".to_owned(), TaskResult::Completed, 1.0)]);
    assert_eq!(s.sim.now(), SimTime::frames(3, 60));
}

#[test]
fn the_causes_of_an_effect_include_its_ability_and_the_effect_that_triggered_it() {
    let ga = Ability::new("GA").trigger(ugas_doc::Trigger::effect_applied("GE_Burn")).task(mark("GE_Mark"));
    let mut s = Stage::new(&rules_with(ga), "GA");
    apply(&mut s.sim, "GE_Burn", s.hero);
    let mark = effect(s.sim.rules(), "GE_Mark");
    let burn = effect(s.sim.rules(), "GE_Burn");
    let ga = ability(s.sim.rules(), "GA");
    let applied = facts(&mut s.sim).into_iter().find(|f| f.effect == mark).unwrap();
    assert_eq!(applied.who, s.hero);
    let chain = s.sim.chain(applied.link);
    let place = |what| chain.iter().position(|l| l.what == what && l.who == s.hero);
    let activated = place(CauseWhat::Activated(ga)).expect("the chain contains the ability");
    let triggered = place(CauseWhat::Applied(burn)).expect("the chain contains the effect that triggered the ability");
    assert_ne!(activated, triggered, "{chain:?}");
}
