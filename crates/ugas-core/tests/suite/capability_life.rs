//! The life of a capability: which steps happen on which machine, in which order; and blocks.

use crate::kit::apply;
use crate::kit::capability::*;
use crate::kit::life::{Cell, Event, expected_steps};
use ugas_core::{
    ActorId, BlockSource, CapabilityCall, CapabilityCx, CapabilityState, ControllerId, DiagnosticKind, Home, Op, Role,
    RulesBuilder, Sim, SimTime, SpawnSpec,
};
use ugas_doc::{CapabilitySet, Effect, SetCapability, Side};

// The table -----------------------------------------------------------------------------------------------------

/// A machine that a sim can be without a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    Standalone,
    Authority,
    AuthorityWithScreen,
}

/// Which sides run in the row of an authoritative sim, with or without a screen, and in a standalone sim.
fn runs(side: Side, machine: Machine) -> bool {
    match (side, machine) {
        (Side::Always | Side::AuthorityOnly | Side::AuthorityAndLocalControlled, _) => true,
        (Side::LocalControlledOnly | Side::OwnerLocalControlledOnly | Side::AllClients, machine) => {
            machine == Machine::Standalone
        }
    }
}

/// The expected facts of an event for a set with the capabilities A and B.
fn expected(event: Event, side: Side, machine: Machine) -> Vec<&'static str> {
    let runs = runs(side, machine);
    let follows_player = matches!(side, Side::LocalControlledOnly | Side::OwnerLocalControlledOnly);
    expected_steps(event, Cell { runs, follows_player, knows_blocks: true, removes_itself: runs })
}

/// The expected calls of an event. The event is followed by three frames, in which an active capability ticks.
fn expected_calls(event: Event, side: Side, machine: Machine) -> Vec<&'static str> {
    if !runs(side, machine) {
        return vec![];
    }
    let follows_player = matches!(side, Side::LocalControlledOnly | Side::OwnerLocalControlledOnly);
    let ticks = ["A Tick", "B Tick", "A Tick", "B Tick", "A Tick", "B Tick"];
    let (starts, ends) =
        (["A Setup", "A Activated", "B Setup", "B Activated"], ["B Deactivated", "B End", "A Deactivated", "A End"]);
    match event {
        Event::Add => [&starts[..], &ticks].concat(),
        Event::Regain if follows_player => [&starts[..], &ticks].concat(),
        Event::Remove | Event::Despawn => ends.to_vec(),
        Event::RemovedByItself => [&ticks[..2], &ends].concat(),
        Event::Lose if follows_player => ends.to_vec(),
        Event::Possess | Event::Lose | Event::Regain | Event::Enable => ticks.to_vec(),
        Event::Block => vec!["A Deactivated", "B Deactivated"],
        Event::Unblock => [&["A Activated", "A Tick", "B Activated", "B Tick"], &ticks[..4]].concat(),
        Event::Disable => vec![],
        // Three frames of 100 ms with an interval of 200 ms.
        Event::Interval => vec!["A Tick", "B Tick"],
        Event::ReloadReordered => vec!["B Tick", "A Tick", "B Tick", "A Tick", "B Tick", "A Tick"],
        Event::ReloadShorter => vec!["B Deactivated", "B End", "A Tick", "A Tick", "A Tick"],
    }
}

/// A capability that removes its own set when its owner has the tag `State.Go`.
fn leaving(name: &'static str, log: &Log) -> Probe {
    Probe::new(name, log).doing(|_, call, cx| {
        let go = cx.rules().tag("State.Go").unwrap();
        if matches!(call, CapabilityCall::Tick { .. }) && cx.has(go) {
            cx.remove_set();
        }
    })
}

/// Runs what precedes an event, and the event itself. Returns the facts and calls of the event and three frames.
fn play(event: Event, side: Side, machine: Machine) -> (Vec<String>, Vec<String>) {
    let log = Log::default();
    let entry = |class: &&str| SetCapability::new(*class).side(side).tag("Capability.Move.Fly");
    let build = |builder: RulesBuilder, classes: &[&str]| {
        let set = classes.iter().map(entry).fold(CapabilitySet::new("CS_Robot"), CapabilitySet::capability);
        let code = builder.capability_code("A", leaving("A", &log)).capability_code("B", Probe::new("B", &log));
        code.add(set).build().unwrap()
    };
    let rules = build(base(), &["A", "B"]);
    let (role, screen) = match machine {
        Machine::Standalone => (Role::Standalone, true),
        Machine::Authority => (Role::Authority, false),
        Machine::AuthorityWithScreen => (Role::Authority, true),
    };
    let mut sim = Sim::new(rules.clone(), config(role, screen));
    let vitals = rules.set("Vitals").unwrap();
    let spec = SpawnSpec { avatar: Some(ActorId(3)), owner: Some(ActorId(3)), ..SpawnSpec::sets([vitals]) };
    let who = sim.spawn(spec).unwrap();
    sim.set_local(who, true).unwrap();
    let mut handle = 0;
    if event != Event::Add {
        handle = add(&mut sim, who, "CS_Robot");
        frames(&mut sim, 1);
    }
    let set_tick = |sim: &mut Sim, class: &str| set_interval(sim, who, class, 0.2);
    match event {
        Event::Regain => sim.set_local(who, false).unwrap(),
        Event::Unblock => block(&mut sim, who, "Capability.Move", "Host", true),
        Event::Enable => ["A", "B"].into_iter().for_each(|class| enable(&mut sim, who, class, false)),
        _ => {}
    }
    if matches!(event, Event::Regain | Event::Unblock | Event::Enable) {
        frames(&mut sim, 1);
    }
    take(&log);
    steps(&mut sim);
    match event {
        Event::Add => drop(add(&mut sim, who, "CS_Robot")),
        Event::Remove => sim.revoke_set(who, handle).unwrap(),
        Event::RemovedByItself => drop(apply(&mut sim, "GE_Go", who)),
        Event::Possess => drop(sim.run(Op::Possess { who, avatar: Some(ActorId(4)) }).unwrap()),
        Event::Lose => sim.set_local(who, false).unwrap(),
        Event::Regain => sim.set_local(who, true).unwrap(),
        Event::Block => block(&mut sim, who, "Capability.Move", "Host", true),
        Event::Unblock => block(&mut sim, who, "Capability.Move", "Host", false),
        Event::Disable => ["A", "B"].into_iter().for_each(|class| enable(&mut sim, who, class, false)),
        Event::Enable => ["A", "B"].into_iter().for_each(|class| enable(&mut sim, who, class, true)),
        Event::Interval => ["A", "B"].into_iter().for_each(|class| set_tick(&mut sim, class)),
        Event::Despawn => sim.despawn(who).unwrap(),
        Event::ReloadReordered => drop(sim.reload(build(base().after(rules), &["B", "A"])).unwrap()),
        Event::ReloadShorter => drop(sim.reload(build(base().after(rules), &["A"])).unwrap()),
    }
    frames(&mut sim, 3);
    (steps(&mut sim), calls(&log))
}

// covers: CAP-31, CAP-33
#[test]
fn every_event_causes_the_steps_of_the_life_table() {
    let mut cells = 0;
    for side in Side::ALL {
        for machine in [Machine::Standalone, Machine::Authority, Machine::AuthorityWithScreen] {
            for event in Event::ALL {
                let (facts, calls) = play(event, side, machine);
                assert_eq!(facts, expected(event, side, machine), "facts: {event:?}, {side:?}, {machine:?}");
                assert_eq!(calls, expected_calls(event, side, machine), "calls: {event:?}, {side:?}, {machine:?}");
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 6 * 3 * 14);
}

// covers: CAP-29
#[test]
fn a_removed_capability_is_deactivated_then_ended_then_its_life_ends() {
    let log = Log::default();
    let lazy = Probe::new("B", &log).deactivate_if(|_, _| true).activate_if(|_, _| false);
    let rules = base()
        .add(set_of("CS_Robot", &["A", "B"]))
        .capability_code("A", Probe::new("A", &log))
        .capability_code("B", lazy)
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    let handle = add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 1);
    take(&log);
    steps(&mut sim);
    sim.revoke_set(robot, handle).unwrap();
    assert_eq!(take(&log), ["B End", "A Deactivated", "A End"], "an inactive one is not deactivated");
    assert_eq!(steps(&mut sim), ["B EndCapability", "B EndLife", "A Deactivated", "A EndCapability", "A EndLife"]);
}

// Machines ------------------------------------------------------------------------------------------------------

/// A server and the sim of the owning client, with capabilities of all sides.
fn server_and_client() -> (Sim, Sim, ControllerId, [Log; 2]) {
    let logs = [Log::default(), Log::default()];
    let names = ["Always", "Authority", "Both", "Local", "Owner", "Clients"];
    let rules = |log: &Log| {
        let sides = [
            Side::Always,
            Side::AuthorityOnly,
            Side::AuthorityAndLocalControlled,
            Side::LocalControlledOnly,
            Side::OwnerLocalControlledOnly,
            Side::AllClients,
        ];
        let entries = names.iter().zip(sides).map(|(name, side)| SetCapability::new(*name).side(side));
        let set = entries.fold(CapabilitySet::new("CS_Robot"), CapabilitySet::capability);
        recording(log, &names, set)
    };
    let (mut server, who) = machine(&rules(&logs[0]), Role::Authority, false);
    add(&mut server, who, "CS_Robot");
    frames(&mut server, 1);
    let snapshot = server.remote().snapshot_without(who, &[], &|_, _| true).unwrap();
    let mut client = Sim::new(rules(&logs[1]), config(Role::Client, true));
    frames(&mut client, 1);
    client.insert(&snapshot).unwrap();
    (server, client, who, logs)
}

// covers: CAP-11, CAP-12, CAP-13
#[test]
fn the_owning_client_runs_only_what_runs_on_its_machine() {
    let (mut server, mut client, who, [on_server, on_client]) = server_and_client();
    let hashes = |server: &Sim, client: &Sim| {
        (server.remote().hash_without(who, &[]).unwrap(), client.remote().hash_without(who, &[]).unwrap())
    };
    let (ours, theirs) = hashes(&server, &client);
    assert_eq!(ours, theirs, "the redacted copy has the redacted hash");
    for (sim, log) in [(&mut server, &on_server), (&mut client, &on_client)] {
        take(log);
        steps(sim);
    }
    for _ in 0..5 {
        frames(&mut server, 1);
        frames(&mut client, 1);
        assert_eq!(calls(&on_server), ["Always Tick", "Authority Tick", "Both Tick"]);
        assert_eq!(calls(&on_client), ["Always Tick", "Both Tick"]);
        let (ours, theirs) = hashes(&server, &client);
        assert_eq!(ours, theirs, "the client predicts the shared capabilities");
    }
    assert_eq!(client.capability_state(who, class(&client, "Authority")), Ok(CapabilityState::Elsewhere));
    enable(&mut server, who, "Authority", false);
    enable(&mut server, who, "Authority", true);
    assert!(steps(&mut client).is_empty() && take(&on_client).is_empty());
    client.despawn(who).unwrap();
    let ended = steps(&mut client);
    let of = |name: &str| ended.iter().filter(|line| line.starts_with(name)).map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("Authority"), ["Authority EndLife"], "no setup, so no end of it");
    assert_eq!(of("Local"), ["Local EndLife"]);
    assert_eq!(of("Both"), ["Both Deactivated", "Both EndCapability", "Both EndLife"]);
    assert_eq!(calls(&on_client), ["Both Deactivated", "Both End", "Always Deactivated", "Always End"]);
}

#[test]
fn life_starts_and_ends_once_also_where_the_capability_does_not_run() {
    let log = Log::default();
    let set = CapabilitySet::new("CS_Robot").capability(SetCapability::new("A").side(Side::LocalControlledOnly));
    let rules = recording(&log, &["A"], set);
    let (mut server, who) = machine(&rules, Role::Authority, false);
    let handle = add(&mut server, who, "CS_Robot");
    frames(&mut server, 3);
    server.set_local(who, true).unwrap();
    server.set_local(who, false).unwrap();
    assert_eq!(steps(&mut server), ["A StartLife"]);
    server.revoke_set(who, handle).unwrap();
    assert_eq!(steps(&mut server), ["A EndLife"]);
    assert!(take(&log).is_empty());
}

#[test]
fn a_gadget_follows_the_player_who_owns_its_owner() {
    let log = Log::default();
    let set = CapabilitySet::new("CS_Scope").capability(SetCapability::new("A").side(Side::OwnerLocalControlledOnly));
    let rules = recording(&log, &["A"], set);
    let mut sim = Sim::new(rules.clone(), config(Role::Standalone, true));
    let mut spawn = |owner: u64, avatar: u64| {
        let (owner, avatar) = (Some(ActorId(owner as _)), Some(ActorId(avatar as _)));
        sim.spawn(SpawnSpec { owner, avatar, ..SpawnSpec::sets([rules.set("Vitals").unwrap()]) }).unwrap()
    };
    let (player, weapon, gadget) = (spawn(1, 2), spawn(2, 3), spawn(3, 4));
    add(&mut sim, gadget, "CS_Scope");
    assert_eq!(calls(&log), ["A Setup", "A Activated"]);
    sim.set_local(player, false).unwrap();
    assert_eq!(calls(&log), ["A Deactivated", "A End"]);
    sim.despawn(weapon).unwrap();
    assert_eq!(calls(&log), ["A Setup", "A Activated"], "without its owner it is its own outermost owner");
    let saved = sim.extract(gadget).unwrap();
    sim.insert(&saved).unwrap();
    assert!(take(&log).is_empty(), "a controller that returns to the same place continues");
    assert_eq!(sim.home_of(gadget, Side::OwnerLocalControlledOnly), Ok(Home::Row));
}

#[test]
fn a_saved_controller_that_returns_to_another_machine_runs_what_runs_there() {
    let log = Log::default();
    let set = CapabilitySet::new("CS_Robot")
        .capability(SetCapability::new("A").side(Side::LocalControlledOnly))
        .capability(SetCapability::new("B"));
    let rules = recording(&log, &["A", "B"], set);
    let (mut sim, who) = sim_of(&rules);
    add(&mut sim, who, "CS_Robot");
    let saved = sim.extract(who).unwrap();
    let mut server = Sim::new(rules.clone(), config(Role::Authority, false));
    server.insert(&saved).unwrap();
    assert_eq!(server.capability_state(who, class(&server, "A")), Ok(CapabilityState::Elsewhere));
    take(&log);
    frames(&mut server, 1);
    assert_eq!(calls(&log), ["B Tick"]);
    let back = server.extract(who).unwrap();
    sim.insert(&back).unwrap();
    assert_eq!(calls(&log), ["A Setup", "A Activated"]);
}

#[test]
fn a_local_capability_cannot_change_shared_state() {
    let log = Log::default();
    let local = Probe::new("Local", &log).doing(|_, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            let rules = cx.rules();
            let (mark, tag, shared) =
                (rules.effect("GE_Mark").unwrap(), rules.tag("State.Go").unwrap(), rules.capability("Shared").unwrap());
            let (block, other) = (rules.tag("Capability.Move").unwrap(), rules.capability("Other").unwrap());
            cx.apply_to_owner(mark);
            cx.send(tag, cx.who(), 1.0);
            cx.enable(shared, false);
            cx.block(block);
            cx.enable(other, false);
        }
    });
    let entry = |class: &str| SetCapability::new(class).tag("Capability.Move.Fly");
    let set = CapabilitySet::new("CS_Robot")
        .capability(SetCapability::new("Local").side(Side::AllClients))
        .capability(entry("Shared"))
        .capability(entry("Other").side(Side::AllClients))
        .capability(entry("Blocked").side(Side::LocalControlledOnly));
    let names = ["Shared", "Other", "Blocked"];
    let builder = names.iter().fold(base().add(set), |b, name| b.capability_code(*name, Probe::new(name, &log)));
    let rules = builder.capability_code("Local", local).build().unwrap();
    let (mut sim, who) = sim_of(&rules);
    add(&mut sim, who, "CS_Robot");
    calls(&log);
    crate::kit::diagnostics(&mut sim);
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["Local Tick", "Shared Tick", "Blocked Deactivated"]);
    let class = class(&sim, "Local");
    let refused: Vec<DiagnosticKind> = crate::kit::diagnostics(&mut sim).into_iter().map(|d| d.kind).collect();
    assert_eq!(refused, [DiagnosticKind::LocalCapabilityRefused { class }; 3], "effect, event and the shared switch");
    assert_eq!(crate::kit::get(&sim, who, "Health"), 100.0);
    let states: Vec<_> = sim.capabilities(who).unwrap().iter().map(|v| v.state).collect();
    use CapabilityState::{Active, Blocked, Disabled};
    assert_eq!(states, [Active, Active, Disabled, Blocked]);
}

#[test]
fn a_capability_that_removes_its_set_during_its_setup_is_removed_at_once() {
    let log = Log::default();
    let brief = |name: &'static str, at: CapabilityCall| {
        Probe::new(name, &log).doing(move |_, call, cx| {
            if call == at {
                cx.remove_set();
            }
        })
    };
    let rules = base()
        .add(set_of("CS_Setup", &["A", "C"]))
        .add(set_of("CS_Active", &["B"]))
        .capability_code("A", brief("A", CapabilityCall::Setup))
        .capability_code("B", brief("B", CapabilityCall::Activated))
        .capability_code("C", Probe::new("C", &log))
        .build()
        .unwrap();
    let (mut sim, who) = sim_of(&rules);
    add(&mut sim, who, "CS_Setup");
    let lives =
        ["A Setup", "A Activated", "C Setup", "C Activated", "C Deactivated", "C End", "A Deactivated", "A End"];
    assert_eq!(calls(&log), lives);
    add(&mut sim, who, "CS_Active");
    assert_eq!(calls(&log), ["B Setup", "B Activated", "B Deactivated", "B End"]);
    frames(&mut sim, 3);
    assert!(take(&log).is_empty() && sim.capabilities(who).unwrap().is_empty());
}

#[test]
fn effects_of_two_grants_of_a_set_have_different_keys() {
    let log = Log::default();
    let buff = Probe::new("A", &log).doing(|_, call, cx| {
        if call == CapabilityCall::Setup {
            cx.apply_to_owner(cx.rules().effect("GE_Haste").unwrap());
        }
    });
    let set = CapabilitySet::new("CS_Robot").capability(SetCapability::new("A"));
    let rules = base().add(set).capability_code("A", buff).build().unwrap();
    let (mut sim, who) = sim_of(&rules);
    let first = add(&mut sim, who, "CS_Robot");
    sim.revoke_set(who, first).unwrap();
    add(&mut sim, who, "CS_Robot");
    let keys: std::collections::BTreeSet<_> =
        sim.effects(who).unwrap().iter().map(|e| (e.key.origin_id, e.key.ordinal)).collect();
    assert_eq!((keys.len(), sim.effects(who).unwrap().len()), (2, 2));
}

// Blocks --------------------------------------------------------------------------------------------------------

fn movers(log: &Log) -> std::sync::Arc<ugas_core::Rules> {
    let set = CapabilitySet::new("CS_Robot")
        .capability(SetCapability::new("Move").tag("Capability.Move.Fly"))
        .capability(SetCapability::new("Look").tag("Capability.Look"));
    recording(log, &["Move", "Look"], set)
}

// covers: CAP-24, CAP-25, CAP-26
#[test]
fn a_blocked_capability_is_deactivated_once_and_not_asked_until_every_source_is_gone() {
    let log = Log::default();
    let (mut sim, robot) = sim_of(&movers(&log));
    add(&mut sim, robot, "CS_Robot");
    frames(&mut sim, 1);
    block(&mut sim, robot, "Capability.Move", "One", true);
    block(&mut sim, robot, "Capability.Move", "Two", true);
    block(&mut sim, robot, "Capability.Move", "Two", true);
    take(&log);
    frames(&mut sim, 5);
    let blocked: Vec<String> = take(&log).into_iter().filter(|line| line.starts_with("Move")).collect();
    assert_eq!(blocked, ["Move Deactivated"], "once, and no question");
    assert_eq!(sim.blocks(robot).unwrap().len(), 2);
    block(&mut sim, robot, "Capability.Move", "One", false);
    frames(&mut sim, 2);
    assert!(!take(&log).iter().any(|line| line.starts_with("Move")), "the other source still blocks");
    let fly = tag_of(&sim, "Capability.Move.Fly");
    assert_eq!(sim.is_blocked(robot, fly), Ok(true));
    block(&mut sim, robot, "Capability.Move", "Two", false);
    assert_eq!(sim.is_blocked(robot, fly), Ok(false));
    frames(&mut sim, 1);
    assert_eq!(take(&log)[..3], ["Move activate?", "Move Activated", "Move Tick"]);
}

// covers: CAP-27
#[test]
fn a_block_by_a_capability_counts_for_later_ones_at_once_and_for_earlier_ones_in_the_next_frame() {
    let log = Log::default();
    let blocker = Probe::new("Blocker", &log).doing(|_, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            cx.block(cx.rules().tag("Capability.Move").unwrap());
        }
    });
    let moves = |class: &str| SetCapability::new(class).tag("Capability.Move.Fly");
    let set = CapabilitySet::new("CS_Robot")
        .capability(moves("X"))
        .capability(SetCapability::new("Blocker"))
        .capability(moves("Y"));
    let rules = base()
        .add(set)
        .capability_code("X", Probe::new("X", &log))
        .capability_code("Blocker", blocker)
        .capability_code("Y", Probe::new("Y", &log))
        .build()
        .unwrap();
    let (mut sim, robot) = sim_of(&rules);
    let handle = add(&mut sim, robot, "CS_Robot");
    take(&log);
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["X Tick", "Blocker Tick", "Y Deactivated"]);
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["X Deactivated", "Blocker Tick"]);
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["Blocker Tick"]);
    let source = BlockSource::Capability { handle, position: 1 };
    assert_eq!(sim.blocks(robot), Ok(vec![(tag_of(&sim, "Capability.Move"), source)]));
    sim.revoke_set(robot, handle).unwrap();
    assert_eq!(sim.blocks(robot), Ok(vec![]), "the blocks of a capability end with it");
}

// covers: CAP-28
#[test]
fn an_unblocked_capability_is_asked_whether_it_should_be_active() {
    let log = Log::default();
    let go = |cx: &CapabilityCx<'_>| cx.has(cx.rules().tag("State.Go").unwrap());
    let probe = Probe::new("A", &log).activate_if(move |_, cx| go(cx));
    let set = CapabilitySet::new("CS_Robot").capability(SetCapability::new("A").tag("Capability.Look"));
    let rules = base().add(set).capability_code("A", probe).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    block(&mut sim, robot, "Capability.Look", "Host", true);
    frames(&mut sim, 1);
    block(&mut sim, robot, "Capability.Look", "Host", false);
    take(&log);
    frames(&mut sim, 1);
    assert_eq!(take(&log), ["A activate?"], "it stays inactive");
    apply(&mut sim, "GE_Go", robot);
    frames(&mut sim, 1);
    assert_eq!(take(&log), ["A activate?", "A Activated", "A Tick"]);
}

#[test]
fn a_capability_that_is_blocked_when_it_is_added_is_not_activated() {
    let log = Log::default();
    let (mut sim, robot) = sim_of(&movers(&log));
    block(&mut sim, robot, "Capability.Move", "Host", true);
    add(&mut sim, robot, "CS_Robot");
    assert_eq!(calls(&log), ["Move Setup", "Look Setup", "Look Activated"]);
}

#[test]
fn blocks_end_with_their_controller_and_their_effect() {
    let log = Log::default();
    let (mut sim, robot) = sim_of(&movers(&log));
    let jailer = spawn(&mut sim);
    add(&mut sim, robot, "CS_Robot");
    let (tag, look) = (tag_of(&sim, "Capability.Move"), tag_of(&sim, "Capability.Look"));
    let stun = apply(&mut sim, "GE_Stun", jailer);
    let curse = apply(&mut sim, "GE_Stop", robot);
    sim.run(Op::Block { who: robot, tag, source: BlockSource::Controller(jailer) }).unwrap();
    sim.run(Op::Block { who: robot, tag: look, source: BlockSource::Effect(stun) }).unwrap();
    sim.run(Op::Block { who: robot, tag, source: BlockSource::Effect(curse) }).unwrap();
    frames(&mut sim, 1);
    calls(&log);
    sim.remove(curse).unwrap();
    assert_eq!(sim.blocks(robot).unwrap().len(), 2);
    sim.despawn(jailer).unwrap();
    assert_eq!(sim.blocks(robot).unwrap().len(), 0, "its own block and that of its effect");
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["Move Activated", "Move Tick", "Look Activated", "Look Tick"]);
}

#[test]
fn the_query_of_an_entry_blocks_it() {
    let log = Log::default();
    let set = CapabilitySet::new("CS_Robot").capability(SetCapability::new("A").blocked_by("State.Stunned"));
    let rules = recording(&log, &["A"], set.clone());
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    let stun = apply(&mut sim, "GE_Stun", robot);
    calls(&log);
    frames(&mut sim, 3);
    assert_eq!(calls(&log), ["A Deactivated"]);
    assert_eq!(sim.capability_state(robot, class(&sim, "A")), Ok(CapabilityState::Blocked));
    sim.remove(stun).unwrap();
    frames(&mut sim, 1);
    assert_eq!(calls(&log), ["A Activated", "A Tick"]);
    let waking = Effect::lasting("GE_Nap", 0.5).grants("State.Stunned");
    let sleeper = ugas_doc::Capability::new("A").on_activated("GE_Mark");
    let rules = base().add(set).add(waking).add(sleeper).build().unwrap();
    let (mut sim, robot) = sim_of(&rules);
    add(&mut sim, robot, "CS_Robot");
    apply(&mut sim, "GE_Nap", robot);
    sim.advance_to(SimTime::seconds(2.0));
    assert_eq!(steps(&mut sim)[3..], ["A Deactivated", "A Activated"], "a sleeping document is woken by the query");
}
