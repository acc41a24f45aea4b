//! The local runner: capabilities that exist on one machine only.

use crate::kit::Rng;
use crate::kit::capability::*;
use ugas_core::{
    BlockSource, CapabilityState, ControllerId, DiagnosticKind, FactKind, Holding, JournalPosition, LocalRunner, Op,
    ProxyRow, Refusal, ResimulationStop, Role, Rules, Sim, SimTime, Spec, insert_local_facts,
};
use ugas_doc::{Capability, CapabilitySet, SetCapability, Side};

/// Returns the steps of the sim and of the runner since the last call, in order.
fn all_steps(sim: &mut Sim, runner: &mut LocalRunner) -> Vec<String> {
    let mut facts = ugas_core::Facts::default();
    sim.take_facts(&mut facts);
    insert_local_facts(&runner.take_facts(), &mut facts.list, 0, |_| {});
    let step = |fact: &ugas_core::Fact| match fact.kind {
        FactKind::Capability { class, step, .. } => {
            Some(format!("{} {step:?}", sim.rules().capability_name(class).unwrap_or("?")))
        }
        _ => None,
    };
    facts.list.iter().filter_map(step).collect()
}

/// Replaces the row of a remote actor.
fn put_proxy(client: &mut Sim, who: ControllerId, sets: &[&str], holdings: &[Holding]) -> Result<(), Refusal> {
    let sets: Vec<_> = sets.iter().map(|set| client.rules().set(set).unwrap()).collect();
    let at = client.now();
    let row = ProxyRow { who, at, sets: &sets, values: &[], tags: &[], anchor: None, holdings };
    let image = client.remote_mut().import_proxy(&row, JournalPosition::default())?;
    client.resimulate(&image, None, &mut [ResimulationStop::at(at)])?;
    client.keep_journal(who)
}

// covers: CAP-46
#[test]
fn a_capability_of_a_remote_actor_waits_for_its_data_components() {
    let log = Log::default();
    let entry = |class: &str| SetCapability::new(class).side(Side::AllClients);
    let set = CapabilitySet::new("CS_Robot").data("Data").capability(entry("A")).capability(entry("B"));
    let rules = recording(&log, &["A", "B"], set);
    let mut client = Sim::new(rules.clone(), config(Role::Client, true));
    let (who, mut runner) = (ControllerId(40), LocalRunner::default());
    let held = [Holding::Set { handle: 7, set: rules.ability_set("CS_Robot").unwrap() }];
    put_proxy(&mut client, who, &["Vitals"], &held).unwrap();
    for _ in 0..3 {
        frames(&mut client, 1);
        runner.run(&client);
        let states: Vec<_> = runner.capabilities(&client, who).iter().map(|view| view.state).collect();
        assert_eq!(states, [CapabilityState::Waiting; 2]);
        assert_eq!(calls(&log), [""; 0], "nothing is called before both are present");
    }
    put_proxy(&mut client, who, &["Vitals", "Data"], &held).unwrap();
    frames(&mut client, 1);
    runner.run(&client);
    assert_eq!(calls(&log), ["A Setup", "A Activated", "B Setup", "B Activated"]);
    frames(&mut client, 1);
    runner.run(&client);
    assert_eq!(calls(&log), ["A Tick", "B Tick"]);
    put_proxy(&mut client, who, &["Vitals", "Data"], &[]).unwrap();
    runner.follow(&client);
    assert_eq!(calls(&log), ["B Deactivated", "B End", "A Deactivated", "A End"]);
}

#[test]
fn a_remote_actor_with_impossible_sets_is_refused() {
    let rules = recording(&Log::default(), &["A"], set_of("CS_Robot", &["A"]));
    let mut client = Sim::new(rules.clone(), config(Role::Client, true));
    let set = rules.ability_set("CS_Robot").unwrap();
    let unknown = Holding::Set { handle: 1, set: ugas_core::AbilitySetId(99) };
    let refused = put_proxy(&mut client, ControllerId(4), &["Vitals"], &[unknown]);
    assert!(matches!(refused, Err(Refusal::UnknownName { .. })), "{refused:?}");
    let max = client.config().limits.capabilities_per_controller;
    let many: Vec<_> = (0..=max as u64).map(|handle| Holding::Set { handle, set }).collect();
    let refused = put_proxy(&mut client, ControllerId(4), &["Vitals"], &many);
    assert!(matches!(refused, Err(Refusal::Limit { .. })), "{refused:?}");
    assert!(!client.exists(ControllerId(4)));
}

#[test]
fn switches_and_shared_blocks_reach_the_capabilities_of_the_runner() {
    let log = Log::default();
    let entry = SetCapability::new("A").side(Side::AllClients).tag("Capability.Move.Fly");
    let rules = recording(&log, &["A"], CapabilitySet::new("CS_Robot").capability(entry));
    let (mut sim, who) = machine(&rules, Role::Authority, true);
    let mut runner = LocalRunner::default();
    add(&mut sim, who, "CS_Robot");
    let mut frame = |sim: &mut Sim| {
        frames(sim, 1);
        runner.run(sim);
        (runner.capabilities(sim, who)[0].state, calls(&log))
    };
    assert_eq!(
        frame(&mut sim),
        (CapabilityState::Active, ["A Setup", "A Activated", "A Tick"].map(str::to_owned).into())
    );
    enable(&mut sim, who, "A", false);
    assert_eq!(frame(&mut sim), (CapabilityState::Disabled, vec![]));
    enable(&mut sim, who, "A", true);
    assert_eq!(frame(&mut sim).1, ["A Tick"]);
    let (tag, source) = (tag_of(&sim, "Capability.Move"), BlockSource::host("Test"));
    sim.run(Op::Block { who, tag, source }).unwrap();
    assert_eq!(frame(&mut sim), (CapabilityState::Blocked, vec!["A Deactivated".into()]));
    sim.run(Op::Unblock { who, tag, source }).unwrap();
    assert_eq!(frame(&mut sim).1, ["A Activated", "A Tick"]);
    let (capability, interval) = (class(&sim, "A"), Some(SimTime(FRAME.0 * 2)));
    sim.run(Op::SetTick { who, capability, ticks: None, interval }).unwrap();
    assert_eq!([0; 4].map(|_| frame(&mut sim).1.len()), [0, 0, 1, 0], "the new interval begins with the next frame");
}

// covers: CAP-50
#[test]
fn a_client_reports_a_class_without_code_once_and_runs_the_others() {
    let log = Log::default();
    let entry = |class: &str| SetCapability::new(class).side(Side::AllClients);
    let set = |name: &str| CapabilitySet::new(name).capability(entry("Ghost")).capability(entry("A"));
    let rules = base().announce_capability("Ghost").add(set("CS_Robot")).add(set("CS_Own"));
    let rules = rules.capability_code("A", Probe::new("A", &log)).build().unwrap();
    let mut client = Sim::new(rules.clone(), config(Role::Client, true));
    let (who, mut runner) = (ControllerId(40), LocalRunner::default());
    let held = [Holding::Set { handle: 7, set: rules.ability_set("CS_Robot").unwrap() }];
    put_proxy(&mut client, who, &["Vitals"], &held).unwrap();
    let reported = |runner: &mut LocalRunner| runner.take_diagnostics().into_iter().map(|d| d.kind).collect::<Vec<_>>();
    let missing = |set: &str| {
        let (set, class) = (rules.ability_set(set).unwrap(), rules.capability("Ghost").unwrap());
        DiagnosticKind::CapabilityWithoutCode { set, class }
    };
    runner.run(&client);
    assert_eq!(reported(&mut runner), [missing("CS_Robot")]);
    assert_eq!(calls(&log)[..2], ["A Setup", "A Activated"]);
    // The set arrives again, as after an interruption of the connection.
    put_proxy(&mut client, who, &["Vitals"], &[]).unwrap();
    runner.follow(&client);
    put_proxy(&mut client, who, &["Vitals"], &held).unwrap();
    runner.add_set(&client, who, rules.ability_set("CS_Own").unwrap()).unwrap();
    assert!(reported(&mut runner).contains(&missing("CS_Own")));
    frames(&mut client, 1);
    runner.run(&client);
    assert!(reported(&mut runner).is_empty());
}

#[test]
fn own_sets_live_on_every_machine_and_run_where_their_side_does() {
    let log = Log::default();
    let entry = SetCapability::new("A").side(Side::LocalControlledOnly);
    let rules = recording(&log, &["A"], CapabilitySet::new("CS_Own").capability(entry));
    let (mut sim, who) = machine(&rules, Role::Authority, true);
    let mut runner = LocalRunner::default();
    let set = rules.ability_set("CS_Own").unwrap();
    let handle = runner.add_set(&sim, who, set).unwrap();
    let state = |runner: &LocalRunner, sim: &Sim| runner.capabilities(sim, who)[0].state;
    assert_eq!(state(&runner, &sim), CapabilityState::Elsewhere);
    assert_eq!(all_steps(&mut sim, &mut runner), ["A StartLife"]);
    sim.set_local(who, true).unwrap();
    runner.follow(&sim);
    assert_eq!(state(&runner, &sim), CapabilityState::Active);
    sim.set_local(who, false).unwrap();
    runner.follow(&sim);
    sim.set_local(who, true).unwrap();
    runner.follow(&sim);
    runner.remove_set(&sim, who, handle).unwrap();
    let (here, gone) = (["A Setup", "A Activated"], ["A Deactivated", "A EndCapability"]);
    let all: Vec<&str> = [&here[..], &gone, &here, &gone, &["A EndLife"]].concat();
    assert_eq!(all_steps(&mut sim, &mut runner), all, "one life");
    assert_eq!(calls(&log).len(), 8);
}

#[test]
fn own_sets_follow_a_reload() {
    let log = Log::default();
    let rules = |past: Option<&std::sync::Arc<Rules>>, classes: &[&'static str], has_set: bool| {
        let entry = |class: &&str| SetCapability::new(*class).side(Side::AllClients);
        let set = classes.iter().map(entry).fold(CapabilitySet::new("CS_Own"), CapabilitySet::capability);
        let builder = past.cloned().map_or_else(base, |past| base().after(past));
        let builder = if has_set { builder.add(set) } else { builder };
        let add = |b: ugas_core::RulesBuilder, name: &&'static str| b.capability_code(*name, Probe::new(name, &log));
        ["A", "B", "C"].iter().fold(builder, add).build().unwrap()
    };
    let (mut sim, who) = machine(&rules(None, &["A", "B"], true), Role::Authority, true);
    let mut runner = LocalRunner::default();
    let set = sim.rules().ability_set("CS_Own").unwrap();
    runner.add_set(&sim, who, set).unwrap();
    all_steps(&mut sim, &mut runner);
    let mut reload = |classes: &[&'static str], has_set: bool| {
        sim.reload(rules(Some(sim.rules()), classes, has_set)).unwrap();
        runner.follow(&sim);
        let order: Vec<_> = runner.capabilities(&sim, who).iter().map(|view| view.class).collect();
        let names = order.iter().map(|&class| sim.rules().capability_name(class).unwrap().to_owned());
        (names.collect::<Vec<_>>().join(" "), all_steps(&mut sim, &mut runner))
    };
    assert_eq!(reload(&["B", "A"], true), ("B A".to_owned(), vec![]), "a new order ends nothing");
    let (order, steps) = reload(&["A"], true);
    assert_eq!(
        (order.as_str(), steps),
        ("A", vec!["B Deactivated".into(), "B EndCapability".into(), "B EndLife".into()])
    );
    assert_eq!(reload(&["B", "A"], true).1, ["B StartLife", "B Setup", "B Activated"]);
    let (order, steps) = reload(&["C", "A"], true);
    assert_eq!(order, "C A");
    assert_eq!(steps, ["B Deactivated", "B EndCapability", "B EndLife", "C StartLife", "C Setup", "C Activated"]);
    let (order, steps) = reload(&[], false);
    assert_eq!((order.as_str(), steps.len()), ("", 6), "{steps:?}");
    assert!(runner.sets(who).is_empty());
}

#[test]
fn blocks_of_local_documents_follow_a_reload() {
    let rules = |past: Option<&std::sync::Arc<Rules>>, classes: &[&str]| {
        let tag = |class: &str| if class == "Map" { "Capability.Look" } else { "Capability.Move.Fly" };
        let entry = |class: &&str| SetCapability::new(*class).side(Side::AllClients).tag(tag(class));
        let set = classes.iter().map(entry).fold(CapabilitySet::new("CS_Hud"), CapabilitySet::capability);
        let builder = past.cloned().map_or_else(base, |past| base().after(past)).add(set);
        let builder = builder.add(Capability::new("Menu").query("State.Go").blocks("Capability.Look"));
        builder.add(Capability::new("Other")).add(Capability::new("Map")).build().unwrap()
    };
    let (mut sim, who) = machine(&rules(None, &["Menu", "Map"]), Role::Authority, true);
    let mut runner = LocalRunner::default();
    add(&mut sim, who, "CS_Hud");
    let go = sim.apply(&Spec::new(sim.rules().effect("GE_Go").unwrap(), who)).unwrap();
    let mut frame = |sim: &mut Sim| {
        frames(sim, 1);
        runner.run(sim);
        runner.capabilities(sim, who).iter().map(|view| view.state).collect::<Vec<_>>()
    };
    use CapabilityState::{Active, Blocked, Inactive};
    assert_eq!(frame(&mut sim), [Active, Blocked]);
    let next = rules(Some(sim.rules()), &["Other", "Menu", "Map"]);
    sim.reload(next).unwrap();
    assert_eq!(frame(&mut sim), [Active, Active, Blocked], "the menu moved with its block");
    sim.remove(go).unwrap();
    assert_eq!(frame(&mut sim), [Active, Inactive, Active], "the block ended with the menu");
}

#[test]
fn observers_run_the_capabilities_of_ability_sets() {
    let entry = |side: Side| SetCapability::new("Bar").side(side);
    let rules = base()
        .add(Capability::new("Bar"))
        .add(ugas_doc::AbilitySet::new("AS_Open").capability(entry(Side::Always)))
        .add(ugas_doc::AbilitySet::new("AS_Closed").capability(entry(Side::AuthorityOnly)))
        .add(ugas_doc::AbilitySet::new("AS_Plain").effect("GE_Go"));
    let rules = rules.build().unwrap();
    let (mut server, who) = machine(&rules, Role::Authority, false);
    for set in ["AS_Open", "AS_Closed", "AS_Plain"] {
        add(&mut server, who, set);
    }
    let mut holdings = Vec::new();
    server.remote().holdings(who, &mut holdings);
    let open = rules.ability_set("AS_Open").unwrap();
    assert!(matches!(holdings[..], [Holding::Set { set, .. }] if set == open), "{holdings:?}");
    let mut client = Sim::new(rules.clone(), config(Role::Client, true));
    put_proxy(&mut client, who, &["Vitals"], &holdings).unwrap();
    let mut runner = LocalRunner::default();
    runner.run(&client);
    assert_eq!(runner.capabilities(&client, who)[0].state, CapabilityState::Active);
    let plain = Holding::Set { handle: 9, set: rules.ability_set("AS_Plain").unwrap() };
    let refused = put_proxy(&mut client, who, &["Vitals"], &[plain]);
    assert!(matches!(refused, Err(Refusal::UnknownName { .. })), "{refused:?}");
}

#[test]
fn no_client_runs_a_set_that_is_not_replicated() {
    let mut set = CapabilitySet::new("CS_Plan");
    set.replication_mode = ugas_doc::ReplicationMode::None;
    for side in [Side::Always, Side::AuthorityAndLocalControlled, Side::AllClients] {
        set = set.capability(SetCapability::new("Bar").side(side));
    }
    let all = CapabilitySet::new("CS_All").set("CS_Plan");
    let rules = base().add(Capability::new("Bar")).add(set).add(all).build().unwrap();
    let (mut server, who) = machine(&rules, Role::Authority, false);
    add(&mut server, who, "CS_Plan");
    let states = |views: Vec<ugas_core::CapabilityView>| views.iter().map(|view| view.state).collect::<Vec<_>>();
    use CapabilityState::{Active, Elsewhere};
    assert_eq!(states(server.capabilities(who).unwrap()), [Active, Active, Elsewhere]);
    let sides: Vec<_> = server.capabilities(who).unwrap().iter().map(|view| view.side).collect();
    assert_eq!(sides, [Side::AuthorityOnly, Side::AuthorityOnly, Side::AllClients]);
    // An observer learns about the collection, and runs nothing of the set in it.
    let mut client = Sim::new(rules.clone(), config(Role::Client, true));
    let held = [Holding::Set { handle: 7, set: rules.ability_set("CS_All").unwrap() }];
    put_proxy(&mut client, who, &["Vitals"], &held).unwrap();
    let mut runner = LocalRunner::default();
    runner.run(&client);
    assert_eq!(states(runner.capabilities(&client, who)), [Elsewhere; 3]);
}

/// A change of the game.
#[derive(Clone, Debug)]
enum Change {
    Add(usize),
    Remove(usize),
    Effect(usize),
    Clear(usize),
    Block(usize),
    Unblock(usize),
    Enable(usize, bool),
    Damage,
    Reset,
}

const SETS: [&str; 2] = ["CS_One", "CS_Two"];
const EFFECTS: [&str; 3] = ["GE_Go", "GE_Stop", "GE_Stun"];
const TAGS: [&str; 3] = ["Capability", "Capability.Move", "Capability.Look"];
const CLASSES: [&str; 4] = ["Wander", "Alert", "Bar", "Code"];

fn change(rng: &mut Rng) -> Change {
    match rng.below(18) {
        0..3 => Change::Add(rng.below(2)),
        3 => Change::Remove(rng.below(2)),
        4..7 => Change::Effect(rng.below(3)),
        7..9 => Change::Clear(rng.below(3)),
        9..11 => Change::Block(rng.below(3)),
        11..13 => Change::Unblock(rng.below(3)),
        13..15 => Change::Enable(rng.below(4), rng.below(2) == 0),
        15..17 => Change::Damage,
        _ => Change::Reset,
    }
}

fn game_rules() -> std::sync::Arc<Rules> {
    let log = Log::default();
    let entry = |class: &str, tag: &str| SetCapability::new(class).side(Side::AllClients).tag(tag);
    let code = Probe::new("Code", &log)
        .activate_if(|_, cx| cx.has(cx.rules().tag("State.Go").unwrap()))
        .deactivate_if(|ticks, _| *ticks > 3)
        .doing(|ticks, call, _| match call {
            ugas_core::CapabilityCall::Tick { .. } => *ticks += 1,
            ugas_core::CapabilityCall::Deactivated => *ticks = 0,
            _ => {}
        });
    base()
        .add(ugas_doc::Effect::instant("GE_Heal").set("Health", 100.0))
        .add(Capability::new("Wander").query("State.Go").blocks("Capability.Look"))
        .add(Capability::new("Alert").when("Health < 98").until("Health < 95"))
        .add(Capability::new("Bar"))
        .add(
            CapabilitySet::new("CS_One")
                .capability(entry("Wander", "Capability.Move"))
                .capability(entry("Alert", "Capability.Look")),
        )
        .add(
            CapabilitySet::new("CS_Two")
                .capability(entry("Bar", "Capability.Look").interval(0.25))
                .capability(entry("Code", "Capability.Move.Fly").blocked_by("State.Stunned")),
        )
        .capability_code("Code", code)
        .build()
        .unwrap()
}

fn make(sim: &mut Sim, who: ControllerId, change: &Change, handles: &mut [Option<u64>; 2]) {
    let (source, effect) = (BlockSource::host("Test"), |sim: &Sim, name: &str| sim.rules().effect(name).unwrap());
    match *change {
        Change::Add(set) => {
            let granted = sim.grant_set(who, cap_set(sim, SETS[set]));
            handles[set] = granted.ok().or(handles[set]);
        }
        Change::Remove(set) => {
            if let Some(handle) = handles[set].take() {
                sim.run(Op::RevokeSet { who, handle }).unwrap();
            }
        }
        Change::Effect(at) => {
            sim.apply(&Spec::new(effect(sim, EFFECTS[at]), who)).unwrap();
        }
        Change::Clear(at) => {
            let filter = ugas_core::EffectFilter { effect: Some(effect(sim, EFFECTS[at])), ..Default::default() };
            sim.run(Op::RemoveMatching { who, filter }).unwrap();
        }
        Change::Block(tag) => drop(sim.run(Op::Block { who, tag: tag_of(sim, TAGS[tag]), source })),
        Change::Unblock(tag) => drop(sim.run(Op::Unblock { who, tag: tag_of(sim, TAGS[tag]), source })),
        Change::Enable(at, on) => drop(sim.run(Op::Enable { who, capability: class(sim, CLASSES[at]), on })),
        Change::Damage => drop(sim.apply(&Spec::new(effect(sim, "GE_Mark"), who))),
        Change::Reset => drop(sim.apply(&Spec::new(effect(sim, "GE_Heal"), who))),
    }
}

#[test]
fn the_runner_of_a_listen_server_does_what_a_standalone_sim_does() {
    let rules = game_rules();
    let mut steps_seen = 0;
    for seed in 0..200 {
        let rng = &mut Rng(seed);
        let (mut alone, who) = machine(&rules, Role::Standalone, true);
        let (mut server, _) = machine(&rules, Role::Authority, true);
        let mut runner = LocalRunner::default();
        let (mut of_alone, mut of_server) = ([None; 2], [None; 2]);
        for moment in 0..40 {
            for _ in 0..rng.below(4) {
                let change = change(rng);
                make(&mut alone, who, &change, &mut of_alone);
                make(&mut server, who, &change, &mut of_server);
                runner.follow(&server);
            }
            // Several frames at once, as in a tick that is longer than a frame.
            let count = 1 + rng.below(3) as i64;
            frames(&mut alone, count);
            let end = server.now() + SimTime(FRAME.0 * count);
            while let Some(frame) = runner.next_frame(&server, end) {
                server.advance_to(frame);
                runner.run(&server);
            }
            server.advance_to(end);
            runner.run(&server);
            let expected = steps(&mut alone);
            steps_seen += expected.len();
            assert_eq!(all_steps(&mut server, &mut runner), expected, "seed {seed}, moment {moment}");
            let states = |views: Vec<ugas_core::CapabilityView>| {
                views.iter().map(|view| (view.class, view.state)).collect::<Vec<_>>()
            };
            let expected = states(alone.capabilities(who).unwrap());
            assert_eq!(states(runner.capabilities(&server, who)), expected, "seed {seed}, moment {moment}");
        }
        assert!(runner.take_diagnostics().is_empty());
    }
    assert!(steps_seen > 5000, "{steps_seen}");
}
