//! The lifecycle of a task: its states in the trace, cancellation in each state, work on another thread, the intervals
//! of its category, and validation requests.

use crate::kit::tasks::*;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use ugas_core::{
    AbilityState, Answer, CustomTask, FactKind, Facts, Op, ParamValue, Progression, Refusal, SimConfig, SimTime, Spec,
    TaskCategory, TaskCx, TaskKey, TaskResult, TaskState, TraceKind, WakeEvent, WakeKind, Which,
};
use ugas_doc::{Ability, AbilityTask};

fn traced(ga: Ability) -> Stage {
    Stage::with(&rules_with(ga), "GA", SimConfig { trace: true, ..SimConfig::default() })
}

/// The task states in the trace since the last call.
fn states(s: &mut Stage) -> Vec<(String, TaskState)> {
    let mut trace = Vec::new();
    s.sim.take_trace(&mut trace);
    let rules = s.sim.rules().clone();
    let seen = trace.iter().filter_map(|t| match t.kind {
        TraceKind::Task { task, to, .. } => Some((rules.task_kind_name(task).unwrap().to_owned(), to)),
        _ => None,
    });
    seen.collect()
}

fn of(task: &str, list: &[TaskState]) -> Vec<(String, TaskState)> {
    list.iter().map(|s| (task.to_owned(), *s)).collect()
}

// covers: UGAS-10.2-01
#[test]
fn a_task_is_ready_active_and_then_completed_or_cancelled() {
    use TaskState::{Active, Cancelled, Completed, Ready};
    let mut s = traced(Ability::new("GA").task(wait(1.0)).task(mark("GE_Mark")));
    s.activate();
    assert_eq!(states(&mut s), of("WaitDelay", &[Ready, Active]), "the second is inactive until its turn");
    go(&mut s.sim, 1.0);
    let mut want = of("WaitDelay", &[Completed]);
    want.extend(of("ApplyEffectToOwner", &[Ready, Active, Completed]));
    assert_eq!(states(&mut s), want);

    s.activate();
    s.sim.cancel(s.hero, Which::Ability(s.ability)).unwrap();
    assert_eq!(states(&mut s), of("WaitDelay", &[Ready, Active, Cancelled]));
    // Only active tasks tick or trigger: the cancelled one and the one that never began do nothing.
    go(&mut s.sim, 5.0);
    assert_eq!((states(&mut s), s.get("AttackPower")), (Vec::new(), 11.0));

    let race = AbilityTask::race([wait(1.0), task("WaitGameplayEvent").param("EventTag", "Event.Hit")]);
    let mut s = traced(Ability::new("GA").task(race));
    s.activate();
    states(&mut s);
    go(&mut s.sim, 1.0);
    let mut want = of("WaitDelay", &[Completed]);
    want.extend(of("WaitGameplayEvent", &[Cancelled]));
    assert_eq!(states(&mut s), want);
}

#[derive(Default)]
struct Calls(Mutex<Vec<&'static str>>);

/// Completes with the first gameplay event.
struct Listen(Arc<Calls>);
impl CustomTask for Listen {
    type State = u32;
    fn activate(&self, _: &mut u32, _: &TaskCx<'_>) -> Progression {
        self.0.0.lock().unwrap().push("activate");
        Progression::Wait
    }
    fn wake(&self, _: &mut u32, _: WakeEvent<'_>, _: &TaskCx<'_>) -> Progression {
        self.0.0.lock().unwrap().push("wake");
        Progression::Complete(1.0)
    }
    fn end(&self, _: &mut u32, completed: bool, _: &TaskCx<'_>) {
        self.0.0.lock().unwrap().push(if completed { "completed" } else { "cancelled" });
    }
    fn wakes_on(&self) -> &[WakeKind] {
        &[WakeKind::Events]
    }
}

fn listening(before: AbilityTask) -> (Stage, Arc<Calls>) {
    let calls = Arc::new(Calls::default());
    let both = AbilityTask::parallel([before, task("Listen")]);
    let rules = base().add(Ability::new("GA").task(both).task(mark("GE_Mark")));
    let rules = rules.task("Listen", Listen(calls.clone())).build().unwrap();
    (Stage::new(&rules, "GA"), calls)
}

fn output(s: &mut Stage) -> Vec<(String, TaskResult, f64)> {
    s.task_results().into_iter().filter(|(_, how, _)| *how != TaskResult::Cancelled).collect()
}

// covers: UGAS-10.4-05
#[test]
fn a_custom_task_can_be_cancelled_in_any_state() {
    // Ready: its ability ends in the tick in which the task would have started.
    let (mut s, calls) = listening(task("EndAbility").param("Cancelled", true));
    s.activate();
    s.event("Event.Hit", 1.0);
    assert!(calls.0.lock().unwrap().is_empty());
    assert_eq!((s.waiting(), output(&mut s), s.get("AttackPower")), (0, Vec::new(), 10.0));

    // Active, by every way there is: cancel, revoke, death.
    type Stop = fn(&mut Stage);
    let ways: [Stop; 3] = [
        |s| s.sim.cancel(s.hero, Which::Ability(s.ability)).unwrap(),
        |s| s.sim.revoke(s.hero, Which::Grant(s.grant)).unwrap(),
        |s| (0..10).for_each(|_| assert_eq!(apply(&mut s.sim, "GE_Hurt", s.hero).target, s.hero)),
    ];
    for stop in ways {
        let (mut s, calls) = listening(wait(9.0));
        s.activate();
        assert_eq!(s.waiting(), 2);
        stop(&mut s);
        assert_eq!((s.waiting(), s.is_active(), output(&mut s)), (0, false, Vec::new()));
        // Nothing listens any longer: an event wakes nothing, and no work is due.
        s.event("Event.Hit", 1.0);
        assert_eq!(s.sim.advance_to(SimTime::seconds(20.0)).due, 0);
        assert_eq!(*calls.0.lock().unwrap(), ["activate", "cancelled"]);
        assert_eq!((output(&mut s), s.get("AttackPower")), (Vec::new(), 10.0));
    }
}

/// Computes on another thread and reads the result at its third tick.
struct Worker(Mutex<Option<Receiver<f64>>>);
impl CustomTask for Worker {
    type State = u32;
    fn activate(&self, _: &mut u32, cx: &TaskCx<'_>) -> Progression {
        let (send, receive) = channel();
        let health = cx.rules().find_attribute("Health").and_then(|a| cx.get(a)).unwrap_or(0.0);
        std::thread::spawn(move || send.send((1..=100).map(f64::from).sum::<f64>() + health));
        *self.0.lock().unwrap() = Some(receive);
        Progression::Wait
    }
    fn tick(&self, ticks: &mut u32, _: SimTime, _: &TaskCx<'_>) -> Progression {
        *ticks += 1;
        let result = self.0.lock().unwrap();
        match result.as_ref() {
            Some(result) if *ticks == 3 => result.recv().map_or(Progression::Fail, Progression::Complete),
            _ => Progression::Wait,
        }
    }
    fn interval(&self) -> Option<SimTime> {
        Some(SimTime::ZERO)
    }
}

// covers: UGAS-3.4-02
#[test]
fn a_custom_task_completes_with_a_value_computed_on_another_thread() {
    let rules = base().add(Ability::new("GA").task(task("Worker")).task(mark("GE_Mark")));
    let rules = rules.task("Worker", Worker(Mutex::new(None))).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    s.sim.advance_to(SimTime::frames(2, 60));
    assert_eq!((s.task_results(), s.is_active()), (Vec::new(), true));
    s.sim.advance_to(SimTime::frames(3, 60));
    assert_eq!(s.task_results(), [("Worker".to_owned(), TaskResult::Completed, 5150.0)]);
    assert_eq!((s.get("AttackPower"), s.is_active()), (11.0, false));
}

// covers: UGAS-10.6-05
#[test]
fn each_task_category_has_its_tick_interval() {
    use TaskCategory::{Animation, Event, Input, Spatial, State, Temporal};
    let zero = Some(SimTime::ZERO);
    assert_eq!((Spatial.interval(true), Temporal.interval(false), Animation.interval(false)), (zero, zero, zero));
    let ambient = Spatial.interval(false).unwrap();
    assert!(ambient >= SimTime::millis(50) && ambient <= SimTime::millis(100));
    for category in [Event, State, Input] {
        assert_eq!((category.interval(true), category.interval(false)), (None, None));
    }
    // The built-in tasks: one tick per frame, one per ambient interval, and none.
    let ticks = |kind: &str| {
        let mut s = Stage::new(&rules_with(Ability::new("GA").task(task(kind).param("TimeOut", 9.0))), "GA");
        s.activate();
        s.sim.advance_to(SimTime::seconds(1.0));
        s.sim.task_figures().first().map_or(0, |f| f.ticks)
    };
    assert_eq!((ticks("WaitForTarget"), ticks("WaitOverlap"), ticks("WaitInputPressed")), (60, 10, 0));
}

// covers: UGAS-PACK.0-03
#[test]
fn the_pack_tasks_run_with_the_parameters_of_the_packs() {
    let names = [
        ("ApplyEffectToOwner", TaskCategory::Action),
        ("RemoveEffectFromOwner", TaskCategory::Action),
        ("ApplyEffectToTarget", TaskCategory::Action),
        ("ApplyEffectToActorsInRadius", TaskCategory::Action),
        ("WaitTargetData", TaskCategory::Spatial),
    ];
    let blast = task("ApplyEffectToActorsInRadius")
        .param("Radius", 500.0)
        .param("EffectClass", "GE_Hurt")
        .param("IgnoreTargetsWithTag", "Status.Frozen");
    let ga = Ability::new("GA")
        .task(task("WaitTargetData").param("TargetingMethod", "HitscanTrace").param("MaxRange", 200.0))
        .task(task("ApplyEffectToTarget").param("EffectClass", "GE_Hurt"))
        .task(task("ApplyEffectToOwner").param("EffectClass", "GE_Burn"))
        .task(blast)
        .task(wait(1.0))
        .task(task("RemoveEffectFromOwner").param("EffectClass", "GE_Burn"));
    let mut s = Stage::new(&rules_with(ga), "GA");
    for (name, category) in names {
        assert_eq!(s.sim.rules().task_category(name), Some(category), "{name}");
    }
    let foe = spawn(&mut s.sim);
    for (who, x) in [(s.hero, 0.0), (foe, 100.0)] {
        let anchor = Some(ugas_core::Anchor::at([x, 0.0, 0.0]));
        s.sim.run(Op::Move { who, anchor }).unwrap();
    }
    s.activate();
    let key = s.sim.tasks(s.hero).unwrap()[0].key;
    s.sim.complete(key, Answer { targets: vec![foe], ..Answer::default() }).unwrap();
    assert_eq!(get(&s.sim, foe, "Health"), 80.0, "once as the target, once in the radius");
    let burning = tag(s.sim.rules(), "Status.Burning");
    assert!(s.sim.has_tag(s.hero, burning).unwrap());
    go(&mut s.sim, 1.0);
    assert!(!s.sim.has_tag(s.hero, burning).unwrap() && !s.is_active());
}

/// The validation request since the last call, with its parameters.
fn question(s: &mut Stage) -> (TaskKey, Vec<(String, String)>) {
    let mut all = Facts::default();
    s.sim.take_facts(&mut all);
    let kind = s.sim.rules().task_kind("Validate").unwrap();
    let (fact, key) = all
        .list
        .iter()
        .find_map(|f| match f.kind {
            FactKind::TaskRequest { task, task_key, .. } if task == kind => Some((f, task_key)),
            _ => None,
        })
        .expect("a request");
    let word = |v: ParamValue<'_>| match v {
        ParamValue::Text(t) => t.to_owned(),
        ParamValue::Number(n) => n.to_string(),
        other => format!("{other:?}"),
    };
    (key, all.params(fact).map(|(n, v)| (n.to_owned(), word(v))).collect())
}

#[test]
fn a_validation_is_a_request_that_the_host_answers_like_any_other() {
    let rules = rules_with(Ability::new("GA").validated("Server", Some(500)).owned("State.Buff").task(wait(1.0)));
    let state = |s: &Stage| s.sim.ability_state(s.hero, s.grant).unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let (key, params) = question(&mut s);
    assert_eq!(params, [("Kind".to_owned(), "Server".to_owned()), ("Timeout".to_owned(), "0.5".to_owned())]);
    assert_eq!(state(&s), AbilityState::PendingConfirmation);
    s.sim.complete(key, Answer::default()).unwrap();
    assert_eq!(state(&s), AbilityState::Active);
    assert_eq!(s.sim.complete(key, Answer::default()), Err(Refusal::StaleHandle), "once");

    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let (key, _) = question(&mut s);
    s.sim.complete(key, Answer { fail: true, ..Answer::default() }).unwrap();
    assert_eq!(state(&s), AbilityState::Granted);
    s.activate();
    let (late, _) = question(&mut s);
    assert_ne!(late, key);
    go(&mut s.sim, 0.5);
    assert_eq!(state(&s), AbilityState::Granted);
    assert_eq!(s.sim.complete(late, Answer::default()), Err(Refusal::StaleHandle));
    assert!(base().add(Ability::new("GA").task(task("Validate"))).build().is_err(), "no task of a list");
}

#[test]
fn an_inactive_controllers_tasks_pause() {
    let rules = rules_with(
        Ability::new("GA").task(task("WaitGameplayEvent").param("EventTag", "Event.Hit")).task(mark("GE_Mark")),
    );
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
    s.event("Event.Hit", 1.0);
    assert_eq!(s.get("AttackPower"), 10.0, "a paused task continued");
    s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
    assert_eq!(s.get("AttackPower"), 10.0, "the event is over");
    s.event("Event.Hit", 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
}

// A wait for a state that was reached while the controller was inactive ends when it is active again.
#[test]
fn state_waits_are_tested_again_after_a_pause() {
    let waits = [
        task("WaitTagAdded").param("Tag", "Status.Burning"),
        task("WaitAttributeThreshold")
            .param("Attribute", "Health")
            .param("Comparison", "LessThan")
            .param("Value", 95.0),
    ];
    for wait in waits {
        let name = wait.kind.clone();
        let mut s = Stage::new(&rules_with(Ability::new("GA").task(wait).task(mark("GE_Mark"))), "GA");
        s.activate();
        s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
        for effect in ["GE_Burn", "GE_Hurt"] {
            let effect = s.sim.rules().effect(effect).unwrap();
            s.sim.apply(&Spec::new(effect, s.hero)).unwrap();
        }
        assert_eq!(s.get("AttackPower"), 10.0, "{name}");
        s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
        assert_eq!(s.get("AttackPower"), 11.0, "{name}");
    }
}

#[test]
fn an_answer_refused_while_inactive_can_be_sent_again() {
    let mut s = Stage::new(
        &rules_with(
            Ability::new("GA").task(task("WaitTargetData").param("TargetingMethod", "Trace")).task(mark("GE_Mark")),
        ),
        "GA",
    );
    s.activate();
    let asked = facts(&mut s.sim).into_iter().find_map(|f| match f.kind {
        FactKind::TaskRequest { task_key, .. } => Some(task_key),
        _ => None,
    });
    let key = asked.unwrap();
    s.sim.run(Op::SetActive { who: s.hero, active: false }).unwrap();
    let answer = || Op::Complete { key, answer: Answer::default() };
    assert_eq!(s.sim.run(answer()).unwrap_err(), Refusal::Inactive);
    s.sim.run(Op::SetActive { who: s.hero, active: true }).unwrap();
    s.sim.run(answer()).unwrap();
    assert_eq!(s.get("AttackPower"), 11.0);
}
