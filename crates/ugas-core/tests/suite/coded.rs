//! Abilities in code.

use crate::kit::tasks::*;
use std::sync::{Arc, Mutex};
use ugas_core::{
    AbilityCx, Answer, CodedAbility, CustomTask, DiagnosticKind, Fact, FactKind, Next, ParamId, Progression, Refusal,
    Resume, Rules, SimTime, TagId, Target, TaskCx, TaskKey, TaskResult, Which,
};
use ugas_doc::{Ability, Effect};

/// Waits a second, marks, waits for an event, ends; notes how it is called.
struct Script(Arc<Mutex<Vec<String>>>);
impl CodedAbility for Script {
    type State = u32;
    fn resume(&self, calls: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        *calls += 1;
        let recorded = match why {
            Resume::Activated => "activated".to_owned(),
            Resume::Elapsed => "elapsed".to_owned(),
            Resume::Event(e) => format!("event {}", e.magnitude),
            Resume::End { cancelled } => format!("end {cancelled}"),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(format!("{calls} {recorded}"));
        match why {
            Resume::Activated => Next::After(SimTime::seconds(1.0)),
            Resume::Elapsed => {
                cx.apply_to_owner(cx.rules().effect("GE_Mark").unwrap());
                Next::Event(cx.rules().tag("Event.Hit").unwrap())
            }
            _ => Next::End,
        }
    }
}

fn stage() -> (Stage, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let rules = base().add(Ability::new("GA")).ability_code("GA", Script(log.clone())).build().unwrap();
    (Stage::new(&rules, "GA"), log)
}

// covers: UGAS-8.1-08
#[test]
fn code_is_called_once_at_the_start_and_once_at_the_end() {
    let (mut s, log) = stage();
    s.activate();
    go(&mut s.sim, 1.0);
    assert_eq!(s.get("AttackPower"), 11.0);
    s.event("Event.Other", 1.0);
    assert!(s.is_active());
    s.event("Event.Hit.Hard", 3.0);
    assert!(!s.is_active());
    assert_eq!(*log.lock().unwrap(), ["1 activated", "2 elapsed", "3 event 3", "4 end false"]);

    let (mut s, log) = stage();
    s.activate();
    go(&mut s.sim, 0.5);
    s.sim.cancel(s.hero, Which::Ability(s.ability)).unwrap();
    go(&mut s.sim, 2.0);
    assert_eq!(*log.lock().unwrap(), ["1 activated", "2 end true"]);
    assert_eq!(s.get("AttackPower"), 10.0);
}

/// Ability code made from a function.
struct FnAbility<F>(F);
impl<F: Fn(&mut u32, Resume<'_>, &mut AbilityCx<'_>) -> Next + Send + Sync + 'static> CodedAbility for FnAbility<F> {
    type State = u32;
    fn resume(&self, state: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        (self.0)(state, why, cx)
    }
}

type CallLog = Arc<Mutex<Vec<String>>>;

fn rules_with_code(
    ability: Ability,
    code: impl Fn(&mut u32, Resume<'_>, &mut AbilityCx<'_>) -> Next + Send + Sync + 'static,
) -> Arc<Rules> {
    base()
        .add(Effect::instant("GE_Price").add("Mana", -40.0))
        .add(ability)
        .ability_code("GA", FnAbility(code))
        .build()
        .unwrap()
}

#[test]
fn a_commit_returns_whether_it_succeeded() {
    let recorded: CallLog = Arc::default();
    let log = recorded.clone();
    let rules = rules_with_code(Ability::new("GA").manual().multiple().cost("GE_Price"), move |_, why, cx| {
        if why == Resume::Activated {
            let result = cx.commit();
            log.lock().unwrap().push(format!("{}", result.is_ok()));
            if let Err(Refusal::Cost { have, need, .. }) = result {
                log.lock().unwrap().push(format!("{have} of {need}"));
            }
            return Next::After(SimTime::seconds(1.0));
        }
        Next::End
    });
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    assert_eq!(s.get("Mana"), 10.0);
    // A manual ability pays when its code commits, but cannot be activated if it is unaffordable.
    assert!(matches!(s.sim.activate(s.hero, s.ability, Target::None), Err(Refusal::Cost { .. })));
    assert_eq!(*recorded.lock().unwrap(), ["true"]);
    go(&mut s.sim, 1.0);
    assert!(!s.is_active());
}

#[test]
fn a_refused_commit_leaves_the_ability_running() {
    let recorded: CallLog = Arc::default();
    let log = recorded.clone();
    let rules = rules_with_code(Ability::new("GA").manual().cost("GE_Price"), move |_, why, cx| match why {
        Resume::Activated => {
            cx.apply_to_owner(cx.rules().effect("GE_Price").unwrap());
            Next::After(SimTime::seconds(1.0))
        }
        Resume::Elapsed => {
            if let Err(Refusal::Cost { have, need, .. }) = cx.commit() {
                log.lock().unwrap().push(format!("{have} of {need}"));
            }
            Next::After(SimTime::seconds(5.0))
        }
        _ => Next::End,
    });
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    go(&mut s.sim, 1.0);
    assert_eq!(*recorded.lock().unwrap(), ["10 of 40"]);
    assert!(s.is_active(), "code decides what comes of it");
    assert_eq!(s.get("Mana"), 10.0);
}

#[test]
fn a_race_of_waits_wakes_the_code_once_with_the_first() {
    let recorded: CallLog = Arc::default();
    let log = recorded.clone();
    let rules = rules_with_code(Ability::new("GA"), move |calls, why, cx| {
        log.lock().unwrap().push(match why {
            Resume::Event(e) => format!("event {}", e.magnitude),
            Resume::Elapsed => "elapsed".into(),
            _ => return Next::After(SimTime::seconds(2.0)).or(Next::Event(cx.rules().tag("Event.Hit").unwrap())),
        });
        *calls += 1;
        let next = Next::After(SimTime::seconds(2.0)).or(Next::Event(cx.rules().tag("Event.Hit").unwrap()));
        if *calls < 2 { next } else { Next::End }
    });
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    go(&mut s.sim, 1.0);
    s.event("Event.Hit", 3.0);
    go(&mut s.sim, 2.5);
    assert_eq!(*recorded.lock().unwrap(), ["event 3"], "the old timer was cancelled");
    assert!(s.is_active());
    go(&mut s.sim, 3.0);
    assert_eq!(*recorded.lock().unwrap(), ["event 3", "elapsed"]);
    assert!(!s.is_active());
}

#[test]
fn the_host_answers_a_request_of_ability_code() {
    let recorded: CallLog = Arc::default();
    let log = recorded.clone();
    let rules = rules_with_code(Ability::new("GA"), move |_, why, cx| match why {
        Resume::Activated => {
            let asks = Next::Request(cx.rules().task_kind("WaitTargetData").unwrap());
            asks.or(Next::After(SimTime::seconds(9.0)))
        }
        Resume::Answer(a) => {
            log.lock().unwrap().push(format!("{} {:?}", a.value, a.targets));
            Next::End
        }
        _ => Next::End,
    });
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let asked = |f: &Fact| match f.kind {
        FactKind::TaskRequest { task_key, ability, .. } if ability == s.ability => Some(task_key),
        _ => None,
    };
    let key: TaskKey = s.sim.facts().list.iter().find_map(asked).unwrap();
    // A sleeping request travels with its owner.
    let portable = s.sim.extract(s.hero).unwrap();
    assert_eq!(s.sim.insert(&portable).unwrap(), s.hero);
    let answer = Answer { targets: vec![s.hero], value: 7.0, ..Answer::default() };
    s.sim.complete(key, answer.clone()).unwrap();
    assert_eq!(*recorded.lock().unwrap(), [format!("7 {:?}", [s.hero])]);
    assert!(!s.is_active());
    assert_eq!(s.sim.complete(key, answer), Err(Refusal::StaleHandle));
}

#[test]
fn random_numbers_differ_and_repeat_after_a_fork() {
    let recorded: Arc<Mutex<Vec<f64>>> = Arc::default();
    let log = recorded.clone();
    let rules = rules_with_code(Ability::new("GA"), move |calls, why, cx| {
        if matches!(why, Resume::End { .. }) {
            return Next::End;
        }
        *calls += 1;
        let drawn = [cx.random(), cx.random()];
        log.lock().unwrap().extend(drawn);
        if *calls < 3 { Next::After(SimTime::seconds(1.0)) } else { Next::End }
    });
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let mut fork = s.sim.clone();
    go(&mut s.sim, 2.0);
    let first = std::mem::take(&mut *recorded.lock().unwrap());
    assert!(first.len() == 6 && first.iter().all(|v| (0.0..1.0).contains(v)));
    assert!((1..6).all(|i| !first[..i].contains(&first[i])), "{first:?}");
    go(&mut fork, 2.0);
    assert_eq!(*recorded.lock().unwrap(), first[2..]);
}

#[test]
fn code_sets_a_parameter_of_its_grant() {
    let recorded: Arc<Mutex<Vec<Option<f64>>>> = Arc::default();
    let log = recorded.clone();
    let rules = rules_with_code(Ability::new("GA").condition("param.Charge < 5"), move |_, why, cx| {
        let charge = ParamId::named("Charge");
        log.lock().unwrap().push(cx.param(charge));
        if why == Resume::Activated {
            cx.set_param(charge, f64::NAN);
            cx.set_param(charge, cx.param(charge).unwrap_or(0.0) + 3.0);
        }
        Next::End
    });
    let mut s = Stage::new(&rules, "GA");
    let grant = s.sim.grants(s.hero).unwrap()[0].id;
    s.sim.set_param(s.hero, grant, ParamId::named("Charge"), 0.0).unwrap();
    s.activate();
    s.activate();
    assert_eq!(*recorded.lock().unwrap(), [Some(0.0), Some(3.0), Some(3.0), Some(6.0)]);
    assert_eq!(s.sim.activate(s.hero, s.ability, Target::None), Err(Refusal::Condition));
}

/// Makes its own commit impossible, then asks for more.
struct Spender;
impl CodedAbility for Spender {
    type State = u32;
    fn resume(&self, _: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        if why == Resume::Activated {
            let r = cx.rules();
            let (drain, other, spark, who) = (
                r.effect("GE_DrainAll").unwrap(),
                r.tag("Event.Other").unwrap(),
                r.tag("Cue.Spark").unwrap(),
                cx.who(),
            );
            cx.apply_to_owner(drain);
            cx.commit().unwrap();
            cx.send(other, who, 1.0);
            cx.cue(spark);
            return Next::After(SimTime::seconds(1.0));
        }
        Next::End
    }
}

#[test]
fn no_queued_action_of_ability_code_runs_after_a_failed_commit() {
    let rules = base()
        .add(Effect::instant("GE_DrainAll").add("Mana", -50.0))
        .add(Effect::instant("GE_Price").add("Mana", -20.0))
        .add(Ability::new("GA").manual().cost("GE_Price"))
        .ability_code("GA", Spender)
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    facts(&mut s.sim);
    s.activate();
    let names: Vec<&str> = facts(&mut s.sim).iter().map(|f| f.kind.name()).collect();
    assert!(!names.contains(&"GameplayEvent") && !names.contains(&"Cue"), "{names:?}");
}

/// Remembers a number that cannot be written as JSON.
struct Inf;
impl CodedAbility for Inf {
    type State = f64;
    fn resume(&self, best: &mut f64, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        if why == Resume::Activated {
            *best = f64::INFINITY;
            return Next::After(SimTime::seconds(1.0));
        }
        if *best == f64::INFINITY {
            cx.apply_to_owner(cx.rules().effect("GE_Mark").unwrap());
        }
        Next::End
    }
}

#[test]
fn a_code_state_that_cannot_be_saved_ends_the_ability_and_is_reported() {
    let rules = base().add(Ability::new("GA")).ability_code("GA", Inf).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    assert!(!s.is_active());
    let mut diagnostics = Vec::new();
    s.sim.take_diagnostics(&mut diagnostics);
    assert!(diagnostics.iter().any(|d| d.kind == DiagnosticKind::Limit && d.who == s.hero), "{diagnostics:?}");
}

impl CustomTask for Inf {
    type State = f64;
    fn activate(&self, best: &mut f64, _: &TaskCx<'_>) -> Progression {
        *best = f64::INFINITY;
        Progression::Wait
    }
}

#[test]
fn a_custom_task_whose_state_cannot_be_saved_fails() {
    let rules = base().add(Ability::new("GA").task(task("Endless")).task(mark("GE_Mark")));
    let rules = rules.task("Endless", Inf).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    let failed = |f: &Fact| matches!(f.kind, FactKind::TaskEnded { result: TaskResult::Failed, .. });
    assert!(facts(&mut s.sim).iter().any(failed));
}

/// Waits for what these rules do not have.
struct Odd;
impl CodedAbility for Odd {
    type State = u32;
    fn resume(&self, _: &mut u32, _: Resume<'_>, _: &mut AbilityCx<'_>) -> Next {
        Next::Event(TagId(60000))
    }
}

#[test]
fn code_that_waits_for_an_unknown_tag_ends() {
    let rules = base().add(Ability::new("GA")).ability_code("GA", Odd).build().unwrap();
    let mut s = Stage::new(&rules, "GA");
    s.activate();
    s.event("Event.Hit", 1.0);
    assert!(!s.is_active());
}
