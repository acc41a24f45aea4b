//! Which machine of a session controls a controller locally, and what follows from it.

use crate::kit::{Game, Setup, builder};
use ugas_core::{FactKind, Facts, Op, Target, Which};
use ugas_doc::{Ability, AbilityTask, Cast};
use ugas_net::link::LinkProfile;

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
