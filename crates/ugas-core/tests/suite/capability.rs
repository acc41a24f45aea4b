//! Capabilities: sets, and the queries about them.

use crate::kit::capability::*;
use crate::kit::diagnostics;
use ugas_core::{
    ActorId, CapabilityCall, CapabilityState, ControllerId, DiagnosticKind, Refusal, Role, Sim, SpawnSpec,
};
use ugas_doc::{AbilitySet, CapabilitySet, Controller, Effect, SetCapability, Side};

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
