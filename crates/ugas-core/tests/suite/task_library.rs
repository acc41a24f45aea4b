//! The task library: every waiting type completes, is cancelled, and continues after a save and a load; every instant
//! type does its work.

use crate::kit::tasks::*;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Answer, ControllerId, CueType, FactKind, Op, Portable, Rules, Sim, SimTime, Target, TaskResult, Which,
};
use ugas_doc::{Ability, AbilityTask, Effect};

/// What makes a waiting task complete.
type Do = fn(&mut Sim, ControllerId);

fn named(sim: &Sim, name: &str) -> ugas_core::AbilityId {
    sim.rules().ability(name).unwrap()
}

/// The host answers, if anything waits for it.
fn answer(sim: &mut Sim, who: ControllerId) {
    if let Some(key) = sim.tasks(who).unwrap().first().map(|t| t.key) {
        sim.complete(key, Answer { targets: vec![who], ..Answer::default() }).unwrap();
    }
}

fn later(sim: &mut Sim, _: ControllerId) {
    let then = SimTime(sim.now().0 + SimTime::seconds(3.0).0);
    sim.advance_to(then);
}

/// One row per type that waits: the task, and what completes it.
fn waits() -> Vec<(AbilityTask, Do)> {
    let press: Do = |sim, who| {
        let fire = sim.rules().input("Fire").unwrap();
        sim.press(who, fire, Target::None).unwrap();
    };
    let hit: Do = |sim, who| {
        let tag = tag(sim.rules(), "Event.Hit.Hard");
        sim.event(ugas_core::EventData::new(tag, who)).unwrap();
    };
    let other: Do = |sim, who| {
        let other = named(sim, "GA_Other");
        sim.activate(who, other, Target::None).unwrap();
    };
    vec![
        (wait(2.0), later),
        (task("WaitGameTime").param("Time", 2.0), later),
        (task("WaitGameplayEvent").param("EventTag", "Event.Hit"), hit),
        (task("WaitTagAdded").param("Tag", "Status.Burning"), |sim, who| _ = apply(sim, "GE_Burn", who)),
        (task("WaitTagRemoved").param("Tag", "Status.Frozen"), |sim, who| {
            let filter = ugas_core::EffectFilter { effect: sim.rules().find_effect("GE_Frost"), ..Default::default() };
            sim.run(Op::RemoveMatching { who, filter }).unwrap();
        }),
        (task("WaitTagChanged").param("Tag", "Status.Burning"), |sim, who| _ = apply(sim, "GE_Burn", who)),
        (task("WaitTagQuery").param("Query", "Status.Burning & Status.Frozen"), |sim, who| {
            apply(sim, "GE_Burn", who);
        }),
        (task("WaitAttributeChange").param("Attribute", "Health"), |sim, who| _ = apply(sim, "GE_Hurt", who)),
        (
            task("WaitAttributeThreshold")
                .param("Attribute", "Health")
                .param("Comparison", "LessThan")
                .param("Value", 95.0),
            |sim, who| _ = apply(sim, "GE_Hurt", who),
        ),
        (task("WaitEffectApplied").param("EffectClass", "GE_Burn"), |sim, who| _ = apply(sim, "GE_Burn", who)),
        (task("WaitEffectRemoved").param("EffectClass", "GE_Frost"), |sim, who| {
            let filter = ugas_core::EffectFilter { effect: sim.rules().find_effect("GE_Frost"), ..Default::default() };
            sim.run(Op::RemoveMatching { who, filter }).unwrap();
        }),
        (task("WaitAbilityActivated").param("Ability", "GA_Other"), other),
        (task("WaitAbilityCommitted").param("Ability", "GA_Other"), other),
        (task("WaitAbilityEnded").param("Ability", "GA_Other"), other),
        (task("WaitInputPressed").param("InputID", "Fire"), press),
        (task("WaitInputRelease").param("InputID", "Held"), |sim, who| {
            let held = sim.rules().input("Held").unwrap();
            sim.release(who, held).unwrap();
        }),
        (task("WaitOverlap").param("Radius", 5.0), answer),
        (task("WaitForTarget"), answer),
        (task("WaitTargetData").param("TargetingMethod", "Trace"), answer),
        (task("WaitMontageEnded").param("Montage", "AM_Swing"), answer),
        (task("WaitAnimationEvent").param("EventName", "Event.Hit"), answer),
        (AbilityTask::parallel([wait(1.0), wait(2.0)]), later),
        (AbilityTask::race([wait(2.0), wait(900.0)]), later),
        (AbilityTask::sequence([wait(1.0), wait(1.0)]), later),
        (AbilityTask::repeat(2, [wait(1.0)]), later),
        (AbilityTask::when("has_tag(self, Status.Frozen)").then(wait(2.0)).otherwise(mark("GE_Mark10")), later),
    ]
}

fn rules_of(first: AbilityTask) -> Arc<Rules> {
    base()
        .add(Effect::infinite("GE_Frost").grants("Status.Frozen"))
        .add(Ability::new("GA").task(first).task(mark("GE_Mark")))
        .add(Ability::new("GA_Other"))
        .add(Ability::new("GA_Input").task(task("WaitInputPressed").param("InputID", "Held")))
        .build()
        .unwrap()
}

/// A hero whose ability waits.
fn waiting(rules: &Arc<Rules>) -> Stage {
    let mut s = Stage::new(rules, "GA");
    s.sim.grant(s.hero, AbilityGrant::new(named(&s.sim, "GA_Other"))).unwrap();
    apply(&mut s.sim, "GE_Frost", s.hero);
    let held = rules.input("Held").unwrap();
    s.sim.press(s.hero, held, Target::None).unwrap();
    s.activate();
    s
}

// covers: PEER-11
#[test]
fn every_wait_completes_is_cancelled_and_survives_a_save() {
    for (first, complete) in waits() {
        let kind = first.kind.clone();
        let rules = rules_of(first);

        let mut s = waiting(&rules);
        assert!(s.is_active() && s.waiting() > 0, "{kind} waits");
        assert_eq!(s.get("AttackPower"), 10.0, "{kind}");
        s.task_results();
        complete(&mut s.sim, s.hero);
        assert_eq!((s.get("AttackPower"), s.waiting()), (11.0, 0), "{kind} completes and the list continues");
        let results = s.task_results();
        assert!(results.iter().any(|t| t.1 == TaskResult::Completed), "{kind}: {results:?}");

        let mut s = waiting(&rules);
        s.task_results();
        s.sim.cancel(s.hero, Which::Ability(s.ability)).unwrap();
        let results = s.task_results();
        assert!(!results.is_empty() && results.iter().all(|t| t.1 == TaskResult::Cancelled), "{kind}: {results:?}");
        assert_eq!(s.waiting(), 0, "{kind}");
        complete(&mut s.sim, s.hero);
        assert_eq!(s.get("AttackPower"), 10.0, "{kind} is cancelled for good");

        // Saved as text in the middle, loaded into a world of its own, completed there.
        let mut s = waiting(&rules);
        let saved = serde_json::to_string(&s.sim.extract(s.hero).unwrap()).unwrap();
        let portable: Portable = serde_json::from_str(&saved).unwrap();
        let mut loaded = Sim::new(rules.clone(), Default::default());
        let hero = loaded.insert(&portable).unwrap();
        assert!(!loaded.tasks(hero).unwrap().is_empty(), "{kind} still waits");
        complete(&mut loaded, hero);
        assert_eq!(get(&loaded, hero, "AttackPower"), 11.0, "{kind} continues after a load");
    }
}

// covers: PEER-11
#[test]
fn every_task_that_does_not_wait_does_its_work() {
    let list = [
        task("ApplyEffectToOwner").param("EffectClass", "GE_Burn"),
        task("SetTarget").param("Target", "Nearest"),
        task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt"),
        task("ApplyEffectToActorsInRadius").param("Radius", 50.0).param("EffectClass", "GE_Hurt"),
        task("RemoveEffectFromOwner").param("EffectClass", "GE_Frost"),
        task("RemoveEffectFromTarget").param("EffectClass", "GE_Frost"),
        task("CommitAbility"),
        task("SendEvent").param("EventTag", "Event.Other").param("Magnitude", 7.0),
        task("SetParam").param("Name", "Charge").param("Value", 0.5),
        task("SetRestriction").param("Name", "Once").param("Active", true),
        task("ExecuteCue").param("Cue", "Cue.Spark"),
        task("AddCue").param("Cue", "Cue.Spark"),
        task("RemoveCue").param("Cue", "Cue.Spark"),
        task("PlayMontage").param("MontageToPlay", "AM_Swing"),
        task("SpawnProjectile").param("ProjectileClass", "BP_Arrow"),
        task("Request").param("Name", "Shake"),
        task("CancelAbility").param("Ability", "GA_Other"),
        task("EndAbility"),
        mark("GE_Mark10"),
    ];
    let kinds: Vec<String> = list.iter().map(|t| t.kind.clone()).collect();
    let ga = list.into_iter().fold(Ability::new("GA").manual().cost("GE_Cost"), Ability::task);
    let rules = base()
        .add(Effect::infinite("GE_Frost").grants("Status.Frozen"))
        .add(Effect::instant("GE_Cost").add("Mana", -10.0))
        .add(Ability::new("GA_Other").task(wait(9.0)))
        .add(ga)
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    let foe = spawn(&mut s.sim);
    for (who, x) in [(s.hero, 0.0), (foe, 10.0)] {
        s.sim.run(Op::Move { who, anchor: Some(ugas_core::Anchor::at([x, 0.0, 0.0])) }).unwrap();
        apply(&mut s.sim, "GE_Frost", who);
    }
    let other = named(&s.sim, "GA_Other");
    s.sim.grant(s.hero, AbilityGrant::new(other)).unwrap();
    s.sim.activate(s.hero, other, Target::None).unwrap();
    facts(&mut s.sim);
    s.sim.activate(s.hero, s.ability, Target::None).unwrap();
    let has = |s: &Stage, who, name: &str| s.sim.has_tag(who, tag(s.sim.rules(), name)).unwrap();
    assert!(has(&s, s.hero, "Status.Burning"));
    assert_eq!((get(&s.sim, foe, "Health"), s.get("Mana"), s.get("AttackPower")), (80.0, 40.0, 10.0));
    assert!(!has(&s, s.hero, "Status.Frozen") && !has(&s, foe, "Status.Frozen"));
    assert_eq!(s.sim.param(s.hero, s.grant, ugas_core::ParamId::named("Charge")).unwrap(), Some(0.5));
    assert_eq!(s.sim.castable(s.hero, s.grant).unwrap().reason.map(|r| r.kind()), Some("Restricted"));
    assert!(!s.is_active(), "the other is cancelled, this one ended before its last task");
    let all = facts(&mut s.sim);
    let cues: Vec<CueType> = all
        .iter()
        .filter_map(|f| match f.kind {
            FactKind::Cue { cue, .. } => Some(cue),
            _ => None,
        })
        .collect();
    assert_eq!(cues, [CueType::Execute, CueType::Add, CueType::Remove]);
    let asked = all.iter().filter(|f| matches!(f.kind, FactKind::TaskRequest { .. })).count();
    let sent = all.iter().filter(|f| matches!(f.kind, FactKind::GameplayEvent { magnitude: 7.0, .. })).count();
    assert_eq!((asked, sent), (3, 1));

    // Together both tests know every type there is.
    let waits: Vec<String> = waits().into_iter().map(|w| w.0.kind).collect();
    let missing: Vec<&str> = rules
        .task_kinds()
        .map(|(_, name, _)| name)
        .filter(|name| *name != "Validate" && !kinds.iter().chain(&waits).any(|k| k == name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
