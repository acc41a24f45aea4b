//! Abilities in code.

use crate::kit::tasks::*;
use std::sync::{Arc, Mutex};
use ugas_core::{
    AbilityCx, Answer, CodedAbility, FactKind, Next, ParamId, Refusal, Resume, Rules, SimTime, Target, TaskKey, Which,
};
use ugas_doc::{Ability, Effect};

/// Waits a second, marks, waits for an event, ends; notes how it is called.
struct Script(Arc<Mutex<Vec<String>>>);
impl CodedAbility for Script {
    type State = u32;
    fn resume(&self, calls: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        *calls += 1;
        let said = match why {
            Resume::Activated => "activated".to_owned(),
            Resume::Elapsed => "elapsed".to_owned(),
            Resume::Event(e) => format!("event {}", e.magnitude),
            Resume::End { cancelled } => format!("end {cancelled}"),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(format!("{calls} {said}"));
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

/// Code made of a function.
struct Does<F>(F);
impl<F: Fn(&mut u32, Resume<'_>, &mut AbilityCx<'_>) -> Next + Send + Sync + 'static> CodedAbility for Does<F> {
    type State = u32;
    fn resume(&self, state: &mut u32, why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        (self.0)(state, why, cx)
    }
}

type Said = Arc<Mutex<Vec<String>>>;

fn doing(
    ability: Ability,
    code: impl Fn(&mut u32, Resume<'_>, &mut AbilityCx<'_>) -> Next + Send + Sync + 'static,
) -> Arc<Rules> {
    base()
        .add(Effect::instant("GE_Price").add("Mana", -40.0))
        .add(ability)
        .ability_code("GA", Does(code))
        .build()
        .unwrap()
}

#[test]
fn a_commit_says_whether_it_happened() {
    let said: Said = Arc::default();
    let log = said.clone();
    let rules = doing(Ability::new("GA").manual().multiple().cost("GE_Price"), move |_, why, cx| {
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
    // A manual ability pays when its code says so, but is not started by who could not pay at all.
    assert!(matches!(s.sim.activate(s.hero, s.ability, Target::None), Err(Refusal::Cost { .. })));
    assert_eq!(*said.lock().unwrap(), ["true"]);
    go(&mut s.sim, 1.0);
    assert!(!s.is_active());
}

#[test]
fn a_refused_commit_leaves_the_ability_running() {
    let said: Said = Arc::default();
    let log = said.clone();
    let rules = doing(Ability::new("GA").manual().cost("GE_Price"), move |_, why, cx| match why {
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
    assert_eq!(*said.lock().unwrap(), ["10 of 40"]);
    assert!(s.is_active(), "code decides what comes of it");
    assert_eq!(s.get("Mana"), 10.0);
}

#[test]
fn whatever_comes_first_wakes_it_once() {
    let said: Said = Arc::default();
    let log = said.clone();
    let rules = doing(Ability::new("GA"), move |calls, why, cx| {
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
    assert_eq!(*said.lock().unwrap(), ["event 3"], "the old timer is gone");
    assert!(s.is_active());
    go(&mut s.sim, 3.0);
    assert_eq!(*said.lock().unwrap(), ["event 3", "elapsed"]);
    assert!(!s.is_active());
}

#[test]
fn the_host_answers_what_code_asks() {
    let said: Said = Arc::default();
    let log = said.clone();
    let rules = doing(Ability::new("GA"), move |_, why, cx| match why {
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
    let asked = |f: &ugas_core::Fact| match f.kind {
        FactKind::TaskRequest { task_key, ability, .. } if ability == s.ability => Some(task_key),
        _ => None,
    };
    let key: TaskKey = s.sim.facts().list.iter().find_map(asked).unwrap();
    // A sleeping request travels with its owner.
    let portable = s.sim.extract(s.hero).unwrap();
    assert_eq!(s.sim.insert(&portable).unwrap(), s.hero);
    let answer = Answer { targets: vec![s.hero], value: 7.0, ..Answer::default() };
    s.sim.complete(key, answer.clone()).unwrap();
    assert_eq!(*said.lock().unwrap(), [format!("7 {:?}", [s.hero])]);
    assert!(!s.is_active());
    assert_eq!(s.sim.complete(key, answer), Err(Refusal::StaleHandle));
}

#[test]
fn numbers_are_random_and_the_same_again() {
    let said: Arc<Mutex<Vec<f64>>> = Arc::default();
    let log = said.clone();
    let rules = doing(Ability::new("GA"), move |calls, why, cx| {
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
    let first = std::mem::take(&mut *said.lock().unwrap());
    assert!(first.len() == 6 && first.iter().all(|v| (0.0..1.0).contains(v)));
    assert!((1..6).all(|i| !first[..i].contains(&first[i])), "{first:?}");
    go(&mut fork, 2.0);
    assert_eq!(*said.lock().unwrap(), first[2..]);
}

#[test]
fn code_sets_a_parameter_of_its_grant() {
    let said: Arc<Mutex<Vec<Option<f64>>>> = Arc::default();
    let log = said.clone();
    let rules = doing(Ability::new("GA").condition("param.Charge < 5"), move |_, why, cx| {
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
    assert_eq!(*said.lock().unwrap(), [Some(0.0), Some(3.0), Some(3.0), Some(6.0)]);
    assert_eq!(s.sim.activate(s.hero, s.ability, Target::None), Err(Refusal::Condition));
}
