//! Capabilities: when they are asked, what they decide, and what their code may do.

use crate::kit::capability::*;
use crate::kit::{apply, diagnostics};
use std::sync::Arc;
use ugas_core::{CapabilityCall, CapabilityState, DiagnosticKind, Op, Rules, Sim, SimTime};
use ugas_doc::{Capability, CapabilitySet, Effect, SetCapability};

// covers: CAP-14, CAP-23
#[test]
fn an_empty_capability_is_active_after_its_setup_and_ticks_in_every_frame() {
    let log = Log::default();
    let rules = recording(&log, &["A"], set_of("CS_Robot", &["A"]));
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    assert_eq!(take(&log), ["A Setup", "A deactivate?", "A Activated"], "should_activate is not asked");
    assert_eq!(steps(&mut sim), ["A StartLife", "A Setup", "A Activated"]);
    assert_eq!(state(&sim, robot, "A"), CapabilityState::Active);
    let view = sim.capabilities(robot).unwrap()[0];
    assert_eq!((view.ticks, view.interval, view.enabled), (true, SimTime::ZERO, true));
    frames(&mut sim, 10);
    assert_eq!(count(&take(&log), "A Tick"), 10);
}

// covers: CAP-15, CAP-18
#[test]
fn a_capability_that_does_not_want_to_run_stays_inactive_without_any_step() {
    let log = Log::default();
    let lazy = Probe::new("A", &log).activate_if(|_, _| false).deactivate_if(|_, _| true);
    let rules = base().add(set_of("CS_Robot", &["A"])).capability_code("A", lazy).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    assert_eq!(take(&log), ["A Setup", "A deactivate?"]);
    assert_eq!(state(&sim, robot, "A"), CapabilityState::Inactive);
    frames(&mut sim, 100);
    let log = take(&log);
    assert_eq!((log.len(), count(&log, "A activate?")), (100, 100), "asked, but no step and no tick");
    assert_eq!(steps(&mut sim), ["A StartLife", "A Setup"]);
}

// covers: CAP-16, CAP-17
#[test]
fn a_change_of_state_takes_effect_in_the_frame_of_its_check() {
    let log = Log::default();
    // Frame n is at n * 100 ms: deactivated in frame 5, activated again in frame 8.
    let probe = Probe::new("A", &log)
        .deactivate_if(|_, cx| cx.now() == SimTime::millis(500))
        .activate_if(|_, cx| cx.now() >= SimTime::millis(800));
    let rules = base().add(set_of("CS_Robot", &["A"])).capability_code("A", probe).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    take(&log);
    for frame in 1..=10 {
        frames(&mut sim, 1);
        let expected: &[&str] = match frame {
            5 => &["A deactivate?", "A Deactivated"],
            6 | 7 => &["A activate?"],
            8 => &["A activate?", "A Activated", "A Tick"],
            _ => &["A deactivate?", "A Tick"],
        };
        assert_eq!(take(&log), expected, "frame {frame}");
    }
}

/// Returns rules with one class that notes the elapsed time of its ticks.
fn timed(log: &Log, entry: SetCapability) -> Arc<Rules> {
    let times = log.clone();
    let probe = Probe::new("A", log).doing(move |_, call, _| {
        if let CapabilityCall::Tick { elapsed } = call {
            times.lock().unwrap().push(format!("elapsed {}", elapsed.as_seconds()));
        }
    });
    base().add(CapabilitySet::new("CS_Robot").capability(entry)).capability_code("A", probe).build().unwrap()
}

// covers: CAP-19
#[test]
fn an_interval_sets_the_cadence_of_checks_and_ticks() {
    let log = Log::default();
    let rules = timed(&log, SetCapability::new("A").interval(0.5));
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    take(&log);
    frames(&mut sim, 20);
    let calls = take(&log);
    assert_eq!((count(&calls, "A deactivate?"), count(&calls, "A Tick")), (4, 4), "two seconds");
    assert_eq!(count(&calls, "elapsed 0.5"), 4);
    let rules = timed(&log, SetCapability::new("A"));
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    take(&log);
    frames(&mut sim, 20);
    assert_eq!(count(&take(&log), "elapsed 0.1"), 20, "zero means every frame");
}

#[test]
fn the_interval_runs_on_the_clock_of_the_owner() {
    let log = Log::default();
    let rules = timed(&log, SetCapability::new("A").interval(0.5));
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    sim.run(Op::SetRate { who: robot, rate: ugas_core::Rate(2 << 16) }).unwrap();
    take(&log);
    frames(&mut sim, 6);
    assert_eq!(count(&take(&log), "elapsed 0.6"), 2, "every third frame at twice the speed");
    sim.run(Op::SetActive { who: robot, active: false }).unwrap();
    frames(&mut sim, 10);
    assert!(take(&log).is_empty(), "an inactive clock asks nobody");
    sim.run(Op::SetActive { who: robot, active: true }).unwrap();
    sim.run(Op::SetRate { who: robot, rate: ugas_core::Rate(0) }).unwrap();
    frames(&mut sim, 10);
    assert!(take(&log).is_empty(), "a stopped clock asks nobody");
    sim.run(Op::SetRate { who: robot, rate: ugas_core::Rate::ONE }).unwrap();
    frames(&mut sim, 5);
    assert_eq!(count(&take(&log), "elapsed 0.5"), 1);
}

// covers: CAP-20
#[test]
fn a_capability_that_never_ticks_is_decided_once() {
    let log = Log::default();
    let set = CapabilitySet::new("CS_Robot")
        .capability(SetCapability::new("A").never_ticks().tag("Capability.Look"))
        .capability(SetCapability::new("B"));
    let rules = recording(&log, &["A", "B"], set);
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    assert_eq!(take(&log)[..3], ["A Setup", "A deactivate?", "A Activated"]);
    block(&mut sim, robot, "Capability.Look", "Host", true);
    frames(&mut sim, 20);
    assert!(take(&log).iter().all(|line| line.starts_with('B')));
    assert_eq!(state(&sim, robot, "A"), CapabilityState::Active, "a block is looked at only where it ticks");
}

// covers: CAP-21
#[test]
fn a_disabled_capability_is_not_asked_and_returns_to_its_place() {
    let log = Log::default();
    let rules = recording(&log, &["A", "B", "C"], set_of("CS_Robot", &["A", "B", "C"]));
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    enable(&mut sim, robot, "B", false);
    take(&log);
    frames(&mut sim, 2);
    assert!(!take(&log).iter().any(|line| line.starts_with('B')));
    assert_eq!(state(&sim, robot, "B"), CapabilityState::Disabled);
    enable(&mut sim, robot, "B", true);
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["A Tick", "B Tick", "C Tick"]);
    assert_eq!(steps(&mut sim).len(), 9, "no step in between");
}

#[test]
fn an_entry_that_is_disabled_waits_inactive_until_it_is_enabled() {
    let log = Log::default();
    let set = CapabilitySet::new("CS_Robot").capability(SetCapability::new("A").disabled());
    let rules = recording(&log, &["A"], set);
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 3);
    assert_eq!(take(&log), ["A Setup"]);
    enable(&mut sim, robot, "A", true);
    frames(&mut sim, 1);
    assert_eq!(take(&log), ["A activate?", "A Activated", "A Tick"]);
}

// covers: CAP-22
#[test]
fn the_cadence_changes_at_run_time() {
    let log = Log::default();
    let rules = recording(&log, &["A"], set_of("CS_Robot", &["A"]));
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 5);
    assert_eq!(count(&take(&log), "A Tick"), 5);
    set_interval(&mut sim, robot, "A", 1.0);
    for second in 0..3 {
        frames(&mut sim, 9);
        assert!(take(&log).is_empty(), "second {second}");
        frames(&mut sim, 1);
        assert_eq!(take(&log), ["A deactivate?", "A Tick"], "second {second}");
    }
    let capability = class(&sim, "A");
    let ticking = |sim: &mut Sim, on| {
        sim.run(Op::SetTick { who: robot, capability, ticks: Some(on), interval: Some(SimTime::ZERO) }).unwrap();
    };
    ticking(&mut sim, false);
    frames(&mut sim, 30);
    assert!(take(&log).is_empty());
    ticking(&mut sim, true);
    frames(&mut sim, 2);
    assert_eq!(count(&take(&log), "A Tick"), 2);
}

#[test]
fn a_capability_can_switch_its_neighbours() {
    let log = Log::default();
    let boss = Probe::new("Boss", &log).doing(|ticks, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            *ticks += 1;
            let class = cx.rules().capability("A").unwrap();
            match *ticks {
                1 => cx.enable(class, false),
                2 => cx.enable(class, true),
                3 => cx.set_interval(class, SimTime::millis(300)),
                8 => cx.set_ticking(class, false),
                _ => {}
            }
        }
    });
    let rules = base()
        .add(set_of("CS_Robot", &["Boss", "A"]))
        .capability_code("Boss", boss)
        .capability_code("A", Probe::new("A", &log))
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    calls(&log);
    let mut ticks = Vec::new();
    for frame in 1..=12 {
        frames(&mut sim, 1);
        if calls(&log).contains(&"A Tick".to_owned()) {
            ticks.push(frame);
        }
    }
    assert_eq!(ticks, [2, 6], "disabled in 1, an interval of three frames from 3 on, not ticking from 8 on");
}

#[test]
fn what_a_step_requests_happens_before_the_next_capability_is_asked() {
    let log = Log::default();
    let first = Probe::new("First", &log).doing(|_, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) && cx.now() == SimTime::millis(300) {
            cx.apply_to_owner(cx.rules().effect("GE_Go").unwrap());
        }
    });
    let go = |cx: &ugas_core::CapabilityCx<'_>| cx.has(cx.rules().tag("State.Go").unwrap());
    let second = Probe::new("Second", &log).activate_if(move |_, cx| go(cx)).deactivate_if(move |_, cx| !go(cx));
    let rules = base()
        .add(set_of("CS_Robot", &["First", "Second"]))
        .capability_code("First", first)
        .capability_code("Second", second)
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 2);
    take(&log);
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["First Tick", "Second Activated", "Second Tick"], "in the same frame");
}

#[test]
fn code_reads_other_controllers_and_draws_the_same_numbers_again() {
    let (log, draws) = (Log::default(), Log::default());
    let kept = draws.clone();
    let probe = Probe::new("Watch", &log).doing(move |_, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            let (health, go) = (cx.rules().attribute("Health").unwrap(), cx.rules().tag("State.Go").unwrap());
            let near = cx.within(5.0);
            let seen: Vec<_> = near.iter().map(|&who| (who.0, cx.get_of(who, health), cx.has_of(who, go))).collect();
            kept.lock().unwrap().push(format!("{seen:?} {}", cx.random()));
        }
    });
    let rules = base().add(set_of("CS_Robot", &["Watch"])).capability_code("Watch", probe).build().unwrap();
    let (mut sim, who) = sim_of(&rules);
    let [near, far] = [0, 1].map(|_| spawn(&mut sim));
    for (who, x) in [(who, 0.0), (near, 3.0), (far, 9.0)] {
        sim.run(Op::Move { who, anchor: Some(ugas_core::Anchor::at([x, 0.0, 0.0])) }).unwrap();
    }
    sim.apply(&ugas_core::Spec::new(sim.rules().effect("GE_Go").unwrap(), near)).unwrap();
    add(&mut sim, who, "CS_Robot");
    let mut again = sim.clone();
    frames(&mut sim, 3);
    let first = take(&draws);
    frames(&mut again, 3);
    assert_eq!(take(&draws), first, "a copy draws the same numbers");
    assert!(first.iter().all(|line| line.starts_with(&format!("[({}, Some(100.0), true)]", near.0))), "{first:?}");
    let numbers: std::collections::BTreeSet<&str> = first.iter().filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(numbers.len(), 3, "each call has its own number");
}

#[test]
fn a_document_is_not_activated_while_its_until_holds() {
    let own = Capability::new("Own").when("Health > 10").until("Health > 20");
    let rules = base().add(own).add(set_of("CS_Robot", &["Own"])).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 1);
    assert_eq!(steps(&mut sim), ["Own StartLife", "Own Setup"], "Until holds directly after the setup");
    frames(&mut sim, 4);
    assert!(steps(&mut sim).is_empty(), "otherwise it would change in every frame");
}

#[test]
fn the_state_of_a_capability_is_limited_to_64_bytes() {
    struct Greedy;
    impl ugas_core::CodedCapability for Greedy {
        type State = [u64; 16];
        fn step(&self, state: &mut [u64; 16], _: CapabilityCall, cx: &mut ugas_core::CapabilityCx<'_>) {
            *state = [u64::MAX; 16];
            cx.apply_to_owner(cx.rules().effect("GE_Mark").unwrap());
        }
    }
    let rules = base().add(set_of("CS_Robot", &["A"])).capability_code("A", Greedy).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 1);
    let class = class(&sim, "A");
    assert!(diagnostics(&mut sim).iter().all(|d| d.kind == DiagnosticKind::CapabilityState { class }));
    assert_eq!(crate::kit::get(&sim, robot, "Health"), 100.0, "its requests are not executed");
}

#[test]
fn a_document_is_active_while_its_conditions_hold() {
    let regen = Capability::new("Regen")
        .query("!State.Stunned")
        .when("Health < 98")
        .until("Health > 110")
        .effect("GE_Haste")
        .on_activated("GE_Mark")
        .on_deactivated("GE_Mark")
        .blocks("Capability.Look");
    let rules = base()
        .add(regen)
        .add(Effect::instant("GE_Heal").add("Health", 20.0))
        .add(set_of("CS_Robot", &["Regen"]))
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    let look = tag_of(&sim, "Capability.Look");
    assert_eq!(state(&sim, robot, "Regen"), CapabilityState::Inactive);
    for _ in 0..3 {
        apply(&mut sim, "GE_Mark", robot);
    }
    frames(&mut sim, 1);
    assert_eq!(state(&sim, robot, "Regen"), CapabilityState::Active);
    assert_eq!(crate::kit::get(&sim, robot, "Health"), 101.0, "97 + 5 - 1");
    assert_eq!(sim.is_blocked(robot, look), Ok(true));
    apply(&mut sim, "GE_Stun", robot);
    frames(&mut sim, 3);
    assert_eq!(state(&sim, robot, "Regen"), CapabilityState::Active, "only Until ends it");
    apply(&mut sim, "GE_Heal", robot);
    frames(&mut sim, 1);
    assert_eq!(state(&sim, robot, "Regen"), CapabilityState::Inactive);
    assert_eq!(crate::kit::get(&sim, robot, "Health"), 115.0, "121 - 5 - 1");
    assert_eq!((sim.is_blocked(robot, look), sim.effects(robot).unwrap().len()), (Ok(false), 1));
}
