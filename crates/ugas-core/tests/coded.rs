//! Abilities in code.

mod common3;
use common3::*;
use std::sync::{Arc, Mutex};
use ugas_core::{AbilityCx, CodedAbility, Next, Resume, SimTime, Which};
use ugas_doc::Ability;

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
