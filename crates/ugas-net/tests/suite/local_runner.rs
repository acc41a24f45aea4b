//! Capabilities that run on one machine only, and capabilities of remote actors: what they may do, and which sets a
//! machine adds for itself. Which machine runs what, and in which order, is in `life_table`.

use crate::kit::capability::{probed, state_in};
use crate::kit::{Game, LENGTH, Setup, Wire, builder};
use ugas_core::{
    ActorId, CapabilityCall, CapabilityCx, CapabilityState, DiagnosticKind, FactKind, Op, Refusal, Role, Sim,
    SimConfig, SpawnSpec, Spec, Target,
};
use ugas_doc::{Capability, CapabilitySet, Effect, SetCapability, Side};
use ugas_net::client::{Certainty, ClientConfig, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

// Owners ----------------------------------------------------------------------------------------------------------

// covers: CAP-34
#[test]
fn a_gadget_on_a_weapon_runs_on_the_client_of_the_player_who_holds_it() {
    let rules = builder()
        .add(Capability::new("Crosshair"))
        .add(
            CapabilitySet::new("CS_Scope")
                .capability(SetCapability::new("Crosshair").side(Side::OwnerLocalControlledOnly)),
        )
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig { screen: false, ..SimConfig::default() });
    let [state, body, sword, scope, other] = [1, 2, 3, 4, 5].map(ActorId);
    let mut spawn = |owner, avatar| {
        let spec = SpawnSpec::sets([rules.set("Vitals").unwrap()]);
        sim.spawn(SpawnSpec { owner: Some(owner), avatar: Some(avatar), ..spec }).unwrap()
    };
    let (player, _, gadget, ben) = (spawn(state, body), spawn(body, sword), spawn(sword, scope), spawn(other, other));
    let config = ServerConfig { tick_length: LENGTH, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 3);
    for (name, own) in [("Ana", player), ("Ben", ben)] {
        net.join_over(name, ClientConfig::default(), [LinkProfile::round_trip(60, 0); 2], &[own]).unwrap();
    }
    net.run(60);
    let set = rules.ability_set("CS_Scope").unwrap();
    net.server_mut().sim_mut().grant_set(gadget, set).unwrap();
    net.run(40);
    let class = rules.capability("Crosshair").unwrap();
    let states = |net: &Harness| {
        let clients = ["Ana", "Ben"].map(|name| state_in(&net.client(name).capabilities(gadget), class));
        (clients, state_in(&net.server().capabilities(gadget), class))
    };
    use CapabilityState::{Active, Elsewhere};
    assert_eq!(states(&net), ([Active, Elsewhere], Elsewhere));
    // Ben takes the body over: the weapon and the gadget on it are his.
    net.server_mut().sim_mut().run(Op::Possess { who: player, avatar: None }).unwrap();
    net.server_mut().sim_mut().run(Op::Possess { who: ben, avatar: Some(body) }).unwrap();
    net.run(40);
    assert_eq!(states(&net), ([Elsewhere, Active], Elsewhere));
}

// What a local capability may do ------------------------------------------------------------------------------------

/// A game in which the hero and the other controller have a capability with this code and side.
fn with_probe(side: Side, run: impl Fn(CapabilityCall, &mut CapabilityCx<'_>) + Send + Sync + 'static) -> Game {
    let mut g = Game::new(Setup { builder: probed(side, run), ben: true, ..Setup::default() });
    let set = g.rules.ability_set("CS_Probe").unwrap();
    for who in [g.hero, g.other] {
        g.net.server_mut().sim_mut().grant_set(who, set).unwrap();
    }
    g.net.run(60);
    g
}

#[test]
fn a_local_capability_requests_abilities_like_a_player() {
    let bolt = |call, cx: &mut CapabilityCx<'_>| {
        let mana = cx.rules().attribute("Mana").unwrap();
        if matches!(call, CapabilityCall::Tick { .. }) && cx.get(mana) == Some(100.0) {
            cx.activate(cx.rules().ability("GA_Haste").unwrap(), Target::None);
        }
    };
    let mut g = with_probe(Side::LocalControlledOnly, bolt);
    g.net.run(30);
    assert_eq!((g.truth(g.hero, "Mana"), g.truth(g.hero, "Speed")), (80.0, 15.0), "the server ran the command");
    assert_eq!((g.seen(g.hero, "Mana"), g.ana().counts().rejected), (80.0, 0));
    assert_eq!(g.ana().counts().corrections, 1, "the grant of the set");
    assert_eq!(g.truth(g.other, "Mana"), 80.0, "Ben's client did the same for his hero");
    assert!(g.net.client_mut("Ana").take_local_diagnostics().is_empty());
}

#[test]
fn a_local_capability_changes_nothing_that_other_machines_share() {
    let change = |call, cx: &mut CapabilityCx<'_>| {
        if call == CapabilityCall::Activated {
            cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
            cx.send(cx.rules().tag("State.Flag").unwrap(), cx.who(), 1.0);
            cx.remove_set();
            cx.cue(cx.rules().tag("State.Flag").unwrap());
            cx.block(cx.rules().tag("Capability.Neighbor").unwrap());
        }
    };
    let mut g = with_probe(Side::AllClients, change);
    let facts = g.facts();
    let cues = |who| {
        let is_cue = |f: &ugas_core::Fact| f.who == who && matches!(f.kind, FactKind::Cue { .. });
        facts.iter().filter(|(f, _)| is_cue(f)).map(|(_, certainty)| *certainty).collect::<Vec<_>>()
    };
    assert_eq!((cues(g.hero), cues(g.other)), (vec![Certainty::Local], vec![Certainty::Local]), "on each actor, once");
    let diagnostics = g.net.client_mut("Ana").take_local_diagnostics();
    let class = g.rules.capability("Probe").unwrap();
    let refused = DiagnosticKind::LocalCapabilityRefused { class };
    let about: Vec<_> = diagnostics.iter().map(|d| (d.who, d.kind)).collect();
    assert_eq!(about, [(g.hero, refused), (g.other, refused)], "once for each actor");
    let neighbor = g.rules.capability("Neighbor").unwrap();
    assert_eq!(state_in(&g.ana().capabilities(g.hero), neighbor), CapabilityState::Blocked, "a local neighbor");
    assert_eq!([g.hero, g.other].map(|who| g.truth(who, "Mana")), [100.0; 2]);
    g.assert_equal();
    assert_eq!(g.ana().counts().corrections, 1, "the grant of the set");
}

// covers: CAP-52
#[test]
fn an_always_capability_of_a_remote_actor_follows_the_replicated_state_after_the_delay() {
    let alert = Capability::new("Alert").query("State.Flag");
    let set = CapabilitySet::new("CS_Alert").capability(SetCapability::new("Alert"));
    let builder = builder().add(Effect::infinite("GE_Flag").grants("State.Flag")).add(alert).add(set);
    let mut g = Game::new(Setup { builder, profile: LinkProfile::round_trip(200, 0), ..Setup::default() });
    let (foe, flag, alert) = (g.foe, g.effect("GE_Flag"), g.rules.capability("Alert").unwrap());
    let set = g.rules.ability_set("CS_Alert").unwrap();
    g.net.server_mut().sim_mut().grant_set(foe, set).unwrap();
    g.net.run(60);
    let on_server = |net: &Harness| state_in(&net.server().capabilities(foe), alert) == CapabilityState::Active;
    let on_client = |net: &Harness| state_in(&net.client("Ana").capabilities(foe), alert) == CapabilityState::Active;
    assert!(!on_server(&g.net) && !on_client(&g.net));
    g.net.server_mut().sim_mut().run(Op::Apply(Spec::new(flag, foe))).unwrap();
    assert_eq!(g.net.run_until(5, on_server), Some(1));
    // 100 ms in one direction are 6 ticks.
    let delay = g.net.run_until(30, on_client).unwrap();
    assert!((5..=8).contains(&delay), "{delay} ticks");
}

#[test]
fn an_always_capability_of_a_remote_actor_applies_no_effects() {
    let drip = |call, cx: &mut CapabilityCx<'_>| {
        if matches!(call, CapabilityCall::Tick { .. }) && cx.get(cx.rules().attribute("Mana").unwrap()) > Some(50.0) {
            cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
            cx.cue(cx.rules().tag("State.Flag").unwrap());
        }
    };
    let mut g = with_probe(Side::Always, drip);
    let is_cue = |f: &ugas_core::Fact, who| f.who == who && matches!(f.kind, FactKind::Cue { .. });
    let cues = g.facts().iter().filter(|(f, c)| is_cue(f, g.other) && *c == Certainty::Local).count();
    assert!(cues > 30, "{cues}: Ana runs the capability of Ben's hero too");
    g.net.run(60);
    assert_eq!([g.hero, g.other].map(|who| g.truth(who, "Mana")), [50.0; 2], "one server applied each effect once");
    assert_eq!([g.hero, g.other].map(|who| g.seen(who, "Mana")), [50.0; 2]);
    assert!(g.net.client_mut("Ana").take_local_diagnostics().is_empty(), "muted, not refused");
}

// Sets of one machine -----------------------------------------------------------------------------------------------

// covers: CAP-09
#[test]
fn a_client_adds_and_removes_local_sets_without_a_message() {
    let steps = CapabilitySet::new("CS_Steps").capability(SetCapability::new("Steps"));
    let rules = builder().add(Capability::new("Steps")).add(steps).build().unwrap();
    let (mut with, mut without) = (Wire::new(&rules), Wire::new(&rules));
    let (set, class) = (rules.ability_set("CS_Steps").unwrap(), rules.capability("Steps").unwrap());
    let (own, foe) = (with.own, with.foe);
    let handles = [own, foe].map(|who| with.client.add_local_set(who, set).unwrap());
    for who in [own, foe] {
        assert_eq!(state_in(&with.client.capabilities(who), class), CapabilityState::Active);
        assert_eq!(with.client.sim().capability_state(who, class), Ok(CapabilityState::NotHeld));
    }
    assert_eq!(with.client.add_local_set(own, set), Err(Refusal::SetHeld { handle: handles[0] }));
    with.run(30);
    with.client.remove_local_set(own, handles[0]).unwrap();
    assert_eq!(with.client.remove_local_set(own, handles[0]), Err(Refusal::StaleHandle));
    assert_eq!(state_in(&with.client.capabilities(own), class), CapabilityState::NotHeld);
    with.run(30);
    without.run(60);
    assert!(with.sent == without.sent, "not a byte differs in either direction");
    assert_eq!(with.server.capabilities(own), Vec::new());
    let mut facts = NetFacts::default();
    with.client.take_facts(&mut facts);
    let steps = facts.iter().filter(|(fact, _)| matches!(fact.kind, FactKind::Capability { .. }));
    let steps: Vec<Certainty> = steps.map(|(_, certainty)| certainty).collect();
    assert_eq!(steps, [Certainty::Local; 9], "start, setup and activation of two, and the end of one");
}

#[test]
fn every_machine_adds_the_local_sets_of_a_controllers_document() {
    let mut hero = ugas_doc::Controller::new("Hero").set("Vitals");
    hero.capabilities =
        Some(ugas_doc::ControllerCapabilities { mode: ugas_doc::CapabilityMode::Local, sets: vec!["CS_Steps".into()] });
    let steps = CapabilitySet::new("CS_Steps")
        .capability(SetCapability::new("Steps"))
        .capability(SetCapability::new("Dust").side(Side::AllClients));
    let rules =
        builder().add(Capability::new("Steps")).add(Capability::new("Dust")).add(steps).add(hero).build().unwrap();
    let config = SimConfig { role: Role::Authority, screen: false, ..SimConfig::default() };
    let mut sim = Sim::new(rules.clone(), config);
    let template = rules.template("Hero").unwrap();
    let [ana, ben] = [0, 1].map(|_| sim.spawn(SpawnSpec::template(template)).unwrap());
    let config = ServerConfig { tick_length: LENGTH, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 3);
    for (name, own) in [("Ana", ana), ("Ben", ben)] {
        net.join_over(name, ClientConfig::default(), [LinkProfile::round_trip(60, 0); 2], &[own]).unwrap();
    }
    net.run(60);
    let [steps, dust] = ["Steps", "Dust"].map(|class| rules.capability(class).unwrap());
    use CapabilityState::{Active, Elsewhere, NotHeld};
    for who in [ana, ben] {
        let server = net.server().capabilities(who);
        assert_eq!([steps, dust].map(|class| state_in(&server, class)), [Active, Elsewhere], "no screen");
        for name in ["Ana", "Ben"] {
            let client = net.client(name).capabilities(who);
            assert_eq!([steps, dust].map(|class| state_in(&client, class)), [Active; 2], "{name}");
            assert_eq!(net.client(name).sim().capabilities(who).unwrap(), [], "no record in any row");
        }
    }
    // Ana removes hers; nobody else does.
    let handle = net.client("Ana").capabilities(ana)[0].handle;
    net.client_mut("Ana").remove_local_set(ana, handle).unwrap();
    net.run(30);
    assert_eq!(state_in(&net.client("Ana").capabilities(ana), steps), NotHeld, "it does not come back");
    assert_eq!(state_in(&net.client("Ben").capabilities(ana), steps), Active);
}

// Hidden sets and data components -------------------------------------------------------------------------------------

#[test]
fn observers_learn_about_visible_sets_only() {
    use ugas_doc::ReplicationMode::{All, None, OwnerOnly};
    let mut rules = builder().add(Capability::new("Glow"));
    for (name, mode) in [("CS_All", All), ("CS_Own", OwnerOnly), ("CS_None", None)] {
        let mut set = CapabilitySet::new(name).capability(SetCapability::new("Glow").side(Side::AllClients));
        set.replication_mode = mode;
        rules = rules.add(set);
    }
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    for name in ["CS_All", "CS_Own", "CS_None"] {
        let set = g.rules.ability_set(name).unwrap();
        g.net.server_mut().sim_mut().grant_set(g.foe, set).unwrap();
    }
    g.net.run(30);
    let seen: Vec<_> = g.ana().capabilities(g.foe).iter().map(|view| (view.set, view.state)).collect();
    assert_eq!(seen, [(g.rules.ability_set("CS_All").unwrap(), CapabilityState::Active)]);
}
