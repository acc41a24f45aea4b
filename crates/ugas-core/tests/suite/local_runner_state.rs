//! The local runner: how it explains its capabilities, what it keeps when the sim takes an older state, and what it
//! leaves alone.

use crate::kit::capability::*;
use ugas_core::{
    BlockSource, CapabilityReason, CapabilityState, DiagnosticKind, LocalRunner, Op, Role, Sim, SimTime, Spec,
};
use ugas_doc::{Capability, CapabilitySet, SetCapability, Side};

// Explanations ------------------------------------------------------------------------------------------------------

#[test]
fn the_runner_explains_why_a_capability_is_not_active() {
    let entry = |class: &str, tag: &str| SetCapability::new(class).side(Side::AllClients).tag(tag);
    let rules = base()
        .add(Capability::new("Menu").query("State.Go").blocks("Capability.Look"))
        .add(Capability::new("Map"))
        .add(Capability::new("Dust"))
        .add(
            CapabilitySet::new("CS_Hud")
                .capability(entry("Menu", "Capability.Move.Fly"))
                .capability(entry("Map", "Capability.Look").interval(1.0))
                .capability(SetCapability::new("Dust").side(Side::LocalControlledOnly)),
        )
        .add(CapabilitySet::new("CS_Data").data("Data").capability(entry("Map", "Capability.Look")))
        .build()
        .unwrap();
    let (mut sim, who) = machine(&rules, Role::Authority, true);
    let [menu, map, dust] = ["Menu", "Map", "Dust"].map(|name| class(&sim, name));
    let mut runner = LocalRunner::default();
    let why = |runner: &LocalRunner, sim: &Sim, class| runner.why_not_capability(sim, who, class).unwrap();
    assert_eq!(why(&runner, &sim, map), [CapabilityReason::NotHeld]);

    // A set of this machine that waits for its data components. The sim does not have it.
    let own = runner.add_set(&sim, who, cap_set(&sim, "CS_Data")).unwrap();
    let data = rules.set("Data").unwrap();
    assert_eq!(why(&runner, &sim, map), [CapabilityReason::WaitsFor { set: data }]);
    assert_eq!(sim.why_not_capability(who, map).unwrap(), [CapabilityReason::NotHeld]);
    runner.remove_set(&sim, who, own).unwrap();

    let handle = add(&mut sim, who, "CS_Hud");
    let go = sim.apply(&Spec::new(rules.effect("GE_Go").unwrap(), who)).unwrap();
    let frame = |runner: &mut LocalRunner, sim: &mut Sim| {
        frames(sim, 1);
        runner.run(sim);
    };
    runner.follow(&sim);
    // The runner has them, so the sim can only tell that they are elsewhere.
    assert_eq!(
        (why(&runner, &sim, menu), why(&runner, &sim, map)),
        (vec![], [local_block(&sim, handle, 1.0)].concat())
    );
    let elsewhere = CapabilityReason::Elsewhere { side: Side::AllClients };
    assert_eq!(sim.why_not_capability(who, menu).unwrap(), [elsewhere]);
    // A capability whose side does not run here is explained by the sim.
    assert_eq!(why(&runner, &sim, dust), [CapabilityReason::Elsewhere { side: Side::LocalControlledOnly }]);
    frame(&mut runner, &mut sim);
    assert_eq!(why(&runner, &sim, map), local_block(&sim, handle, 0.9));

    sim.remove(go).unwrap();
    frame(&mut runner, &mut sim);
    let lacks = vec![tag_of(&sim, "State.Go")];
    assert_eq!(why(&runner, &sim, menu), [CapabilityReason::Query { has: vec![], lacks }]);
    let remaining = SimTime::seconds(0.8);
    assert_eq!(why(&runner, &sim, map), [CapabilityReason::Interval { remaining }], "the block ended");
    enable(&mut sim, who, "Map", false);
    runner.follow(&sim);
    assert_eq!(why(&runner, &sim, map), [CapabilityReason::Disabled]);
    enable(&mut sim, who, "Map", true);

    // A block of the sim, and not a second time one of the runner.
    let (tag, source) = (tag_of(&sim, "Capability.Look"), BlockSource::host("Test"));
    sim.run(Op::Block { who, tag, source }).unwrap();
    sim.apply(&Spec::new(rules.effect("GE_Go").unwrap(), who)).unwrap();
    frame(&mut runner, &mut sim);
    let reasons = why(&runner, &sim, map);
    let blocks = reasons.iter().filter(|reason| matches!(reason, CapabilityReason::Blocked { .. }));
    assert_eq!(blocks.collect::<Vec<_>>(), [&CapabilityReason::Blocked { tag, source }]);
}

/// The reasons of the capability `Map` while `Menu` blocks it.
fn local_block(sim: &Sim, handle: u64, remaining: f64) -> Vec<CapabilityReason> {
    let source = BlockSource::Capability { handle, position: 0 };
    let interval = CapabilityReason::Interval { remaining: SimTime::seconds(remaining) };
    vec![interval, CapabilityReason::Blocked { tag: tag_of(sim, "Capability.Look"), source }]
}

// Older states ------------------------------------------------------------------------------------------------------

#[test]
fn a_handle_that_comes_back_with_another_set_restarts_the_capabilities() {
    let log = Log::default();
    let set =
        |name: &str, class: &str| CapabilitySet::new(name).capability(SetCapability::new(class).side(Side::AllClients));
    let rules = base()
        .add(set("CS_One", "A"))
        .add(set("CS_Two", "B"))
        .add(set("CS_Same", "A"))
        .capability_code("A", Probe::new("A", &log))
        .capability_code("B", Probe::new("B", &log))
        .build()
        .unwrap();
    let (start, who) = machine(&rules, Role::Authority, true);
    let mut runner = LocalRunner::default();
    let mut replaced = None;
    let ends = ["A Deactivated", "A End"];
    for (name, expected) in [
        ("CS_One", vec!["A Setup", "A Activated"]),
        ("CS_Two", [&ends[..], &["B Setup", "B Activated"]].concat()),
        ("CS_One", vec!["B Deactivated", "B End", "A Setup", "A Activated"]),
        ("CS_Same", [&ends[..], &["A Setup", "A Activated"]].concat()),
        ("CS_Same", vec![]),
    ] {
        // The host restores the state from before the set, and adds another one, which gets the same handle.
        let mut sim = start.clone();
        let handle = add(&mut sim, who, name);
        assert_eq!(*replaced.get_or_insert(handle), handle);
        runner.follow(&sim);
        assert_eq!(calls(&log), expected, "{name}");
        let set = cap_set(&sim, name);
        assert_eq!(runner.capabilities(&sim, who).iter().map(|view| view.set).collect::<Vec<_>>(), [set]);
    }
}

// Limits ------------------------------------------------------------------------------------------------------------

#[test]
fn a_host_that_takes_no_diagnostics_keeps_a_limited_number() {
    let rules = base().announce_capability("Ghost").add(set_of("CS_Own", &["Ghost"])).build().unwrap();
    let (mut sim, _) = machine(&rules, Role::Authority, true);
    let set = cap_set(&sim, "CS_Own");
    let mut runner = LocalRunner::default();
    // Each actor is reported once, and nothing is kept about it after it has left.
    let visitors = |sim: &mut Sim, runner: &mut LocalRunner, count: usize| {
        for _ in 0..count {
            let who = spawn(sim);
            runner.add_set(sim, who, set).unwrap();
            sim.despawn(who).unwrap();
            runner.follow(sim);
        }
    };
    visitors(&mut sim, &mut runner, 300);
    assert_eq!(runner.take_diagnostics().len(), 256);
    visitors(&mut sim, &mut runner, 3);
    let kind = DiagnosticKind::CapabilityWithoutCode { set, class: class(&sim, "Ghost") };
    assert!(runner.take_diagnostics().iter().map(|diagnostic| diagnostic.kind).eq([kind; 3]));
}

// Classes without code ----------------------------------------------------------------------------------------------

#[test]
fn a_client_does_not_decide_about_a_class_without_code() {
    let log = Log::default();
    let rules = |is_server: bool| {
        let rules = base().add(set_of("CS_Robot", &["Ghost"]));
        let ghost = Probe::new("Ghost", &log).activate_if(|_, _| false).deactivate_if(|_, _| true);
        let rules = if is_server { rules.capability_code("Ghost", ghost) } else { rules.announce_capability("Ghost") };
        rules.build().unwrap()
    };
    let (mut server, who) = machine(&rules(true), Role::Authority, false);
    add(&mut server, who, "CS_Robot");
    frames(&mut server, 1);
    let mut client = Sim::new(rules(false), config(Role::Client, true));
    client.insert(&server.remote().snapshot(who).unwrap()).unwrap();
    client.set_local(who, true).unwrap();
    let ghost = class(&client, "Ghost");
    assert_eq!(client.capability_state(who, ghost), Ok(CapabilityState::Inactive));
    // An empty document would be active.
    frames(&mut client, 3);
    frames(&mut server, 3);
    assert_eq!(steps(&mut client), [""; 0]);
    assert_eq!(client.capability_state(who, ghost), server.capability_state(who, ghost));
}
