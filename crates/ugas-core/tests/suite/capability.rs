//! Capabilities: sets, order, decisions, intervals, switches and queries.

use crate::kit::capability::*;
use crate::kit::{apply, diagnostics};
use std::sync::Arc;
use ugas_core::{
    ActorId, CapabilityCall, CapabilityState, ControllerId, DiagnosticKind, FactKind, Facts, Op, Refusal, Role, Rules,
    Sim, SimTime, SpawnSpec, Watches,
};
use ugas_doc::{AbilitySet, Capability, CapabilitySet, Controller, Effect, SetCapability, Side};

fn classes(sim: &Sim, who: ControllerId) -> Vec<String> {
    let all = sim.capabilities(who).unwrap();
    all.iter().map(|view| sim.rules().capability_name(view.class).unwrap().to_owned()).collect()
}

fn state(sim: &Sim, who: ControllerId, name: &str) -> CapabilityState {
    sim.capability_state(who, class(sim, name)).unwrap()
}

/// Returns how often a line is in a log.
fn count(log: &[String], line: &str) -> usize {
    log.iter().filter(|other| *other == line).count()
}

// Sets ----------------------------------------------------------------------------------------------------------

// covers: CAP-01
#[test]
fn a_second_controller_of_the_same_avatar_gets_no_capabilities() {
    let log = Log::default();
    let rules = recording(&log, &["A", "B"], set_of("CS_One", &["A"]));
    let mut sim = Sim::new(rules.clone(), config(Role::Standalone, true));
    let spec = || SpawnSpec { avatar: Some(ActorId(5)), ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) };
    let (first, second) = (sim.spawn(spec()).unwrap(), sim.spawn(spec()).unwrap());
    let handle = add(&mut sim, first, "CS_One");
    let set = cap_set(&sim, "CS_One");
    let hashes = |sim: &Sim| [first, second].map(|who| sim.row_hash(who).unwrap());
    let before = hashes(&sim);
    assert_eq!(sim.grant_set(second, set), Err(Refusal::SetHeld { handle }));
    assert_eq!(sim.grant_set(first, set), Err(Refusal::SetHeld { handle }), "a controller has each set once");
    assert_eq!((hashes(&sim), classes(&sim, second).len()), (before, 0));
    sim.revoke_set(first, handle).unwrap();
    sim.grant_set(second, set).unwrap();
    assert_eq!(classes(&sim, second), ["A"]);
}

// covers: CAP-02, CAP-42
#[test]
fn the_data_components_of_a_set_exist_as_long_as_the_set() {
    let log = Log::default();
    let rules = recording(&log, &["Move", "Look"], set_of("CS_Robot", &["Move", "Look"]).data("Data"));
    let (mut sim, robot) = sim_of(&rules);
    let stamina = rules.attribute("Stamina").unwrap();
    assert!(sim.get(robot, stamina).is_err());
    let handle = add(&mut sim, robot, "CS_Robot");
    assert_eq!(classes(&sim, robot), ["Move", "Look"]);
    assert_eq!(sim.get(robot, stamina), Ok(50.0));
    sim.revoke_set(robot, handle).unwrap();
    assert_eq!(classes(&sim, robot).len(), 0);
    assert!(sim.get(robot, stamina).is_err(), "removed with the set");
}

#[test]
fn a_data_component_that_two_sets_share_stays_until_the_last_one_is_removed() {
    let log = Log::default();
    let rules = base()
        .add(set_of("CS_One", &["A"]).data("Data"))
        .add(set_of("CS_Two", &["B"]).data("Data"))
        .capability_code("A", Probe::new("A", &log))
        .capability_code("B", Probe::new("B", &log))
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    let stamina = rules.attribute("Stamina").unwrap();
    let (one, two) = (add(&mut sim, robot, "CS_One"), add(&mut sim, robot, "CS_Two"));
    sim.revoke_set(robot, one).unwrap();
    assert_eq!(sim.get(robot, stamina), Ok(50.0));
    sim.revoke_set(robot, two).unwrap();
    assert!(sim.get(robot, stamina).is_err());
}

// covers: CAP-03, CAP-07
#[test]
fn a_collection_adds_its_sets_in_order_and_each_grant_is_removed_alone() {
    let log = Log::default();
    let names = ["A", "B", "C", "D", "E"];
    let builder = names.iter().fold(base(), |b, name| b.capability_code(*name, Probe::new(name, &log)));
    let rules = builder
        .add(set_of("CS_Third", &["D"]))
        .add(set_of("CS_First", &["B", "A"]))
        .add(set_of("CS_Second", &["C"]))
        .add(CapabilitySet::new("CS_All").set("CS_First").set("CS_Second").set("CS_Third"))
        .add(set_of("CS_Other", &["E"]))
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    let all = add(&mut sim, robot, "CS_All");
    assert_eq!(classes(&sim, robot), ["B", "A", "C", "D"], "sets in order, then entries in order");
    let second = cap_set(&sim, "CS_Second");
    assert_eq!(sim.grant_set(robot, second), Err(Refusal::SetHeld { handle: all }), "held through the collection");
    add(&mut sim, robot, "CS_Other");
    frames(&mut sim, 1);
    calls(&log);
    steps(&mut sim);
    sim.revoke_set(robot, all).unwrap();
    assert_eq!(classes(&sim, robot), ["E"]);
    let ends = ["Deactivated", "EndCapability", "EndLife"];
    let expected: Vec<String> =
        ["D", "C", "A", "B"].iter().flat_map(|c| ends.iter().map(move |step| format!("{c} {step}"))).collect();
    assert_eq!(steps(&mut sim), expected);
    calls(&log);
    frames(&mut sim, 2);
    assert_eq!(calls(&log), ["E Tick", "E Tick"], "the other set keeps running");
}

// covers: CAP-04, CAP-05
#[test]
fn capabilities_run_in_the_order_of_their_entries_and_end_in_reverse() {
    for order in [["A", "B", "C"], ["C", "A", "B"], ["B", "C", "A"]] {
        let log = Log::default();
        let rules = recording(&log, &["A", "B", "C"], set_of("CS_Robot", &order));
        let (mut sim, robot) = sim_of(&rules);
        let handle = add(&mut sim, robot, "CS_Robot");
        let [x, y, z] = order;
        let all = |what: &[&str], order: [&str; 3]| -> Vec<String> {
            order.iter().flat_map(|c| what.iter().map(move |call| format!("{c} {call}"))).collect()
        };
        assert_eq!(calls(&log), all(&["Setup", "Activated"], order));
        frames(&mut sim, 1);
        assert_eq!(take(&log), all(&["deactivate?", "Tick"], order), "state check and tick, one after the other");
        frames(&mut sim, 1);
        assert_eq!(calls(&log), all(&["Tick"], order));
        sim.revoke_set(robot, handle).unwrap();
        assert_eq!(calls(&log), all(&["Deactivated", "End"], [z, y, x]));
        frames(&mut sim, 5);
        assert!(take(&log).is_empty());
    }
}

// covers: CAP-06
#[test]
fn the_sets_of_a_template_are_added_at_spawn() {
    let log = Log::default();
    let rules = base()
        .add(set_of("CS_Robot", &["A", "B"]))
        .add(Controller::new("Robot").set("Vitals").capability_set("CS_Robot"))
        .capability_code("A", Probe::new("A", &log))
        .capability_code("B", Probe::new("B", &log))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), config(Role::Authority, false));
    let robot = sim.spawn(SpawnSpec::template(rules.template("Robot").unwrap())).unwrap();
    assert_eq!(classes(&sim, robot), ["A", "B"]);
    assert_eq!(calls(&log), ["A Setup", "A Activated", "B Setup", "B Activated"]);
}

#[test]
fn every_controller_of_a_document_gets_its_capabilities() {
    let log = Log::default();
    let mut robot = Controller::new("Robot").set("Vitals");
    robot.capabilities = Some(ugas_doc::ControllerCapabilities { sets: vec!["CS_One".into()], ..Default::default() });
    let rules = base().add(robot).add(set_of("CS_One", &["A"])).capability_code("A", Probe::new("A", &log));
    let rules = rules.build().unwrap();
    let mut sim = Sim::new(rules.clone(), config(Role::Standalone, true));
    let template = rules.template("Robot").unwrap();
    let mut all: Vec<ControllerId> = (0..2).map(|_| sim.spawn(SpawnSpec::template(template)).unwrap()).collect();
    let first = sim.spawn_many(template, 3).unwrap();
    all.extend((first.0..first.0 + 3).map(ControllerId));
    assert!(all.len() == 5 && all.iter().all(|&who| classes(&sim, who) == ["A"]));
}

#[test]
fn an_ability_set_can_list_capabilities_too() {
    let log = Log::default();
    let sword = AbilitySet { capabilities: vec![SetCapability::new("A")], ..AbilitySet::new("AS_Sword") };
    let rules = base().add(sword).capability_code("A", Probe::new("A", &log)).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    let (one, two) = (add(&mut sim, robot, "AS_Sword"), add(&mut sim, robot, "AS_Sword"));
    frames(&mut sim, 1);
    assert_eq!(count(&take(&log), "A Tick"), 2, "ability sets may repeat");
    sim.revoke_set(robot, one).unwrap();
    frames(&mut sim, 1);
    assert_eq!(count(&take(&log), "A Tick"), 1);
    sim.revoke_set(robot, two).unwrap();
    assert_eq!(state(&sim, robot, "A"), CapabilityState::NotHeld);
}

// covers: CAP-44
#[test]
fn two_capabilities_share_a_value_through_a_data_component() {
    let log = Log::default();
    let spend = Probe::new("Spend", &log).doing(|_, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            cx.apply_to_owner(cx.rules().effect("GE_Spend").unwrap());
        }
    });
    let seen = Log::default();
    let reader = seen.clone();
    let watch = Probe::new("Watch", &log).doing(move |_, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            let stamina = cx.get(cx.rules().attribute("Stamina").unwrap());
            reader.lock().unwrap().push(format!("{}", stamina.unwrap()));
            if stamina < Some(25.0) {
                cx.apply_to_owner(cx.rules().effect("GE_Rest").unwrap());
            }
        }
    });
    let rules = base()
        .add(Effect::instant("GE_Rest").add("Stamina", 30.0))
        .add(set_of("CS_Robot", &["Spend", "Watch"]).data("Data"))
        .capability_code("Spend", spend)
        .capability_code("Watch", watch)
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 4);
    assert_eq!(take(&seen), ["40", "30", "20", "40"], "each sees the other's last write");
}

// Decisions -----------------------------------------------------------------------------------------------------

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
fn a_capability_that_watches_is_asked_only_after_a_change() {
    let log = Log::default();
    let go = |cx: &ugas_core::CapabilityCx<'_>| cx.has(cx.rules().tag("State.Go").unwrap());
    let watcher = Probe::new("A", &log)
        .activate_if(move |_, cx| go(cx))
        .deactivate_if(move |_, cx| !go(cx))
        .watching(Watches::new().tag("State.Go").attribute("Health"));
    let rules = base().add(set_of("CS_Robot", &["A"])).capability_code("A", watcher).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 2);
    take(&log);
    frames(&mut sim, 50);
    assert!(take(&log).is_empty(), "asleep");
    let key = apply(&mut sim, "GE_Go", robot);
    frames(&mut sim, 10);
    let first = take(&log);
    assert_eq!(first[..2], ["A activate?", "A Activated"]);
    assert!(first.len() <= 3 && count(&first, "A Tick") == 0, "{first:?}");
    apply(&mut sim, "GE_Stun", robot);
    frames(&mut sim, 5);
    assert!(take(&log).is_empty(), "it does not read this tag");
    sim.remove(key).unwrap();
    frames(&mut sim, 5);
    assert_eq!(calls(&log), ["A Deactivated"]);
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

// Queries -------------------------------------------------------------------------------------------------------

// covers: CAP-47, CAP-48, CAP-49
#[test]
fn queries_list_state_side_and_counts() {
    let log = Log::default();
    let robot = CapabilitySet::new("CS_Robot")
        .capability(SetCapability::new("A"))
        .capability(SetCapability::new("B").side(Side::AuthorityOnly).disabled())
        .capability(SetCapability::new("C").side(Side::LocalControlledOnly).tag("Capability.Move"));
    let extra = CapabilitySet::new("CS_Extra")
        .capability(SetCapability::new("D").never_ticks())
        .capability(SetCapability::new("E").never_ticks());
    let names = ["A", "B", "C", "D", "E"];
    let builder = names.iter().fold(base(), |b, name| b.capability_code(*name, Probe::new(name, &log)));
    let rules = builder.add(robot).add(extra).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    block(&mut sim, robot, "Capability", "Host", true);
    frames(&mut sim, 1);
    let seen: Vec<_> = sim.capabilities(robot).unwrap().iter().map(|v| (v.state, v.side)).collect();
    let expected = [
        (CapabilityState::Active, Side::Always),
        (CapabilityState::Disabled, Side::AuthorityOnly),
        (CapabilityState::Blocked, Side::LocalControlledOnly),
    ];
    assert_eq!(seen, expected);
    let blocked_by = sim.capabilities(robot).unwrap()[2].blocked_by;
    assert_eq!(blocked_by, Some((tag_of(&sim, "Capability"), ugas_core::BlockSource::host("Host"))));
    enable(&mut sim, robot, "B", true);
    add(&mut sim, robot, "CS_Extra");
    let counts = sim.capability_counts(robot).unwrap();
    assert_eq!((counts.total, counts.ticking), (5, 3));
    let text = sim.capability_tree(robot).unwrap();
    let expected = [
        "CS_Robot",
        "  A: Active (Always)",
        "  B: Inactive (AuthorityOnly)",
        "  C: Blocked (LocalControlledOnly)",
        "CS_Extra",
        "  D: Active (Always)",
        "  E: Active (Always)",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert_eq!(sim.capability_state(robot, ugas_core::CapabilityId(99)), Ok(CapabilityState::NotHeld));
    assert!(sim.capabilities(ControllerId(99)).is_err());
}

// covers: CAP-50
#[test]
fn a_class_without_code_is_reported_once_and_the_others_run() {
    let log = Log::default();
    let rules = base()
        .announce_capability("Missing")
        .add(set_of("CS_Robot", &["A", "Missing", "B", "Missing"]))
        .capability_code("A", Probe::new("A", &log))
        .capability_code("B", Probe::new("B", &log))
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    let handle = add(&mut sim, robot, "CS_Robot");
    let (set, missing) = (cap_set(&sim, "CS_Robot"), class(&sim, "Missing"));
    let kinds: Vec<DiagnosticKind> = diagnostics(&mut sim).into_iter().map(|d| d.kind).collect();
    assert_eq!(kinds, [DiagnosticKind::CapabilityWithoutCode { set, class: missing }]);
    frames(&mut sim, 1);
    assert_eq!(count(&take(&log), "A Tick") + 1, 2);
    assert_eq!(state(&sim, robot, "Missing"), CapabilityState::Elsewhere);
    assert_eq!(state(&sim, robot, "B"), CapabilityState::Active);
    sim.revoke_set(robot, handle).unwrap();
    assert_eq!(steps(&mut sim).iter().filter(|line| line.starts_with("Missing")).count(), 4, "StartLife and EndLife");
    assert!(base().add(set_of("CS_Robot", &["Nobody"])).build().is_err(), "a class that nobody announces");
}

// covers: CAP-51
#[test]
fn non_ticking_capabilities_are_never_visited() {
    let log = Log::default();
    let names = ["A", "B", "C", "D", "E"];
    let set =
        names.iter().fold(CapabilitySet::new("CS_Idle"), |s, n| s.capability(SetCapability::new(*n).never_ticks()));
    let rules = recording(&log, &names, set);
    let mut sim = Sim::new(rules, config(Role::Standalone, true));
    for _ in 0..1_000 {
        let who = spawn(&mut sim);
        add(&mut sim, who, "CS_Idle");
        let counts = sim.capability_counts(who).unwrap();
        assert_eq!((counts.total, counts.ticking), (5, 0));
    }
    take(&log);
    let progress = sim.advance_to(SimTime(60 * FRAME.0));
    assert_eq!((progress.finished, progress.capabilities), (true, 0), "no capability is visited");
    assert!(take(&log).is_empty(), "no question and no tick");
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let late = |fact: &ugas_core::Fact| fact.at > SimTime::ZERO && matches!(fact.kind, FactKind::Capability { .. });
    assert!(!facts.list.iter().any(late));
}
