//! Which machine of a session controls a controller locally, and what follows from it.

use crate::kit::{Game, LENGTH, Setup, builder};
use ugas_core::{CapabilityState, CapabilityStep, FactKind, Facts, Op, Role, Sim, SimConfig, SpawnSpec, Target, Which};
use ugas_doc::{Ability, AbilityTask, Capability, CapabilitySet, Cast, SetCapability, Side};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

fn game() -> Game {
    let event = |tag: &str| AbilityTask::new("SendEvent").param("EventTag", tag);
    let cast = Cast { length: 0.4, ticks: Some(2), initial_tick: true, ..Cast::default() };
    let mut beam = Ability::new("GA_Beam").cast_as(cast);
    beam.on_predicted_tick.push(event("Event.Predicted"));
    beam.on_server_tick.push(event("Event.Server"));
    Game::new(Setup { builder: builder().add(beam), ..Setup::default() })
}

/// Takes the events that the server emitted since the last call.
fn server_events(g: &mut Game) -> Vec<String> {
    let mut facts = Facts::default();
    g.net.server_mut().take_facts(&mut facts);
    let tag = |f: &ugas_core::Fact| match f.kind {
        FactKind::GameplayEvent { tag, .. } => g.rules.tag_name(tag).map(str::to_owned),
        _ => None,
    };
    facts.list.iter().filter_map(tag).collect()
}

/// Activates the ability of the controller that the host plays.
fn host_casts(g: &mut Game) {
    let (who, which) = (g.other, Which::Ability(g.ability("GA_Beam")));
    g.net.server_mut().sim_mut().run(Op::Activate { who, which, target: Target::None }).unwrap();
    g.net.run(60);
}

// covers: SAI-2.7-01, SAI-2.7-02
#[test]
fn the_player_who_hosts_runs_the_predicted_tick_before_the_servers() {
    let mut g = game();
    g.net.server_mut().sim_mut().set_local(g.other, true).unwrap();
    server_events(&mut g);
    host_casts(&mut g);
    let both = ["Event.Predicted", "Event.Server"];
    assert_eq!(server_events(&mut g), [both, both, both].concat(), "an initial tick and two others");
    // The controller of a client is not local to the server: the client runs its predicted ticks.
    g.cast("GA_Beam", Target::None).unwrap();
    g.net.run(60);
    assert_eq!(server_events(&mut g), ["Event.Server"; 3]);
    assert_eq!(g.ana().counts().corrections, 0);
}

#[test]
fn a_machine_controls_the_controllers_of_its_player() {
    let g = game();
    let client = g.ana().sim();
    assert_eq!([g.hero, g.other, g.foe].map(|who| client.is_local(who)), [Ok(true), Ok(false), Ok(false)]);
    let server = g.net.server().sim();
    assert_eq!([g.hero, g.other, g.foe].map(|who| server.is_local(who)), [Ok(false); 3]);
}

#[test]
fn a_controller_that_changes_hands_is_local_where_it_is_played() {
    let mut g = game();
    let who = g.other;
    g.net.server_mut().sim_mut().set_local(who, true).unwrap();
    // The host leaves the controller to Ben.
    g.net.join("Ben", LinkProfile::GOOD, &[who]).unwrap();
    g.net.run(60);
    assert_eq!(g.net.server().sim().is_local(who), Ok(false));
    assert_eq!(g.net.client("Ben").sim().is_local(who), Ok(true));
    assert_eq!(g.net.client("Ben").sim().is_local(g.hero), Ok(false));
    server_events(&mut g);
    host_casts(&mut g);
    assert_eq!(server_events(&mut g), ["Event.Server"; 3]);
    // Ben leaves: nobody plays the controller until the host takes it again.
    g.net.disconnect("Ben");
    assert_eq!(g.net.server().sim().is_local(who), Ok(false));
    g.net.server_mut().sim_mut().set_local(who, true).unwrap();
    host_casts(&mut g);
    assert_eq!(server_events(&mut g), [["Event.Predicted", "Event.Server"]; 3].concat());
}

/// A game of one player becomes a server: capabilities that a server does not run in its rows end, and the machine of
/// the player runs them instead.
#[test]
fn a_standalone_sim_that_becomes_a_server_evaluates_its_sides_again() {
    let sides = [
        ("Shared", Side::Always),
        ("Brain", Side::AuthorityOnly),
        ("Camera", Side::LocalControlledOnly),
        ("Scope", Side::OwnerLocalControlledOnly),
        ("Dust", Side::AllClients),
    ];
    let set = |set: CapabilitySet, (class, side): (&str, Side)| set.capability(SetCapability::new(class).side(side));
    let add = |b: ugas_core::RulesBuilder, (class, _): (&str, Side)| b.add(Capability::new(class));
    let rules = sides.into_iter().fold(builder(), add);
    let rules = rules.add(sides.into_iter().fold(CapabilitySet::new("CS_All"), set)).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig { screen: true, ..SimConfig::default() });
    let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    sim.grant_set(who, rules.ability_set("CS_All").unwrap()).unwrap();
    let state = |sim: &Sim, class: &str| sim.capability_state(who, rules.capability(class).unwrap()).unwrap();
    let states = |sim: &Sim| sides.map(|(class, _)| state(sim, class));
    use CapabilityState::{Active, Elsewhere};
    assert_eq!(states(&sim), [Active; 5]);
    sim.take_facts(&mut Facts::default());

    let config = ServerConfig { tick_length: LENGTH, ..ServerConfig::default() };
    let server = Server::new(sim, config, Secret::known(1));
    assert_eq!(states(server.sim()), [Active, Active, Elsewhere, Elsewhere, Elsewhere]);
    let step = |f: &ugas_core::Fact| match f.kind {
        FactKind::Capability { class, step, .. } => Some((rules.capability_name(class).unwrap().to_owned(), step)),
        _ => None,
    };
    let steps: Vec<_> = server.sim().facts().list.iter().filter_map(step).collect();
    let ended = ["Dust", "Scope", "Camera"]
        .map(|class| [CapabilityStep::Deactivated, CapabilityStep::EndCapability].map(|step| (class.to_owned(), step)));
    assert_eq!(steps, ended.concat(), "from bottom to top");

    // The player's client runs them.
    let mut net = Harness::new(server, 3);
    net.join("Ana", LinkProfile::GOOD, &[who]).unwrap();
    net.run(60);
    let there = net.client("Ana").capabilities(who);
    let state_there = |class: &str| {
        let class = rules.capability(class).unwrap();
        there.iter().find(|view| view.class == class).map(|view| view.state)
    };
    assert_eq!(["Camera", "Scope", "Dust"].map(state_there), [Some(Active); 3]);

    // The session ends, and the game goes on alone: what is newly here is set up and checked at once.
    let mut sim = net.server().sim().clone();
    sim.remote_mut().set_role(Role::Standalone);
    assert_eq!(states(&sim), [Active; 5]);
}
