//! Capabilities of a listen server, which is also the machine of a player: what its local ones may do, the sets that it
//! adds for itself, and the order of their facts.

use crate::kit::capability::{probed, state_in};
use crate::kit::{LENGTH, Wire, builder};
use std::sync::{Arc, Mutex};
use ugas_core::{
    AbilityGrant, CapabilityCall, CapabilityCx, CapabilityState, ControllerId, DiagnosticKind, FactKind, Facts, Op,
    Outcome, Refusal, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target,
};
use ugas_doc::{Capability, CapabilitySet, ControllerReplication, Effect, SetCapability, Side};
use ugas_net::client::NetFacts;
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

/// A session of a host and Ana, each with a hero.
struct Hosted {
    net: Harness,
    rules: Arc<Rules>,
    host: ControllerId,
    ana: ControllerId,
}

impl Hosted {
    fn new(rules: Arc<Rules>) -> Hosted {
        Hosted::with_ticks(rules, LENGTH)
    }

    fn with_ticks(rules: Arc<Rules>, tick_length: SimTime) -> Hosted {
        let mut sim = Sim::new(rules.clone(), SimConfig { screen: true, ..SimConfig::default() });
        let [host, ana] = [0; 2].map(|_| sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap());
        let grant = AbilityGrant::new(rules.ability("GA_Haste").unwrap());
        sim.run(Op::Grant { who: host, grant }).unwrap();
        let replication = ControllerReplication::Full;
        let config = ServerConfig { tick_length, replication, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 3);
        net.join("Ana", LinkProfile::round_trip(60, 0), &[ana]).unwrap();
        net.server_mut().sim_mut().set_local(host, true).unwrap();
        net.run(60);
        Hosted { net, rules, host, ana }
    }

    fn grant(&mut self, who: ControllerId, set: &str) -> u64 {
        let op = Op::GrantSet { who, set: self.rules.ability_set(set).unwrap() };
        let Outcome::GrantedSet(handle) = self.net.server_mut().sim_mut().run(op).unwrap() else { panic!("no handle") };
        handle
    }

    /// Returns a value on the server, and as Ana sees it.
    fn values(&self, who: ControllerId, attribute: &str) -> [f64; 2] {
        let attribute = self.rules.attribute(attribute).unwrap();
        let seen = self.net.client("Ana").sim().get(who, attribute).unwrap();
        [self.net.server().sim().get(who, attribute).unwrap(), seen]
    }
}

/// Returns the steps of a controller's capabilities, without the names of the classes.
fn steps<'f>(facts: impl Iterator<Item = &'f ugas_core::Fact>, who: ControllerId) -> Vec<String> {
    let step = |fact: &ugas_core::Fact| match fact.kind {
        FactKind::Capability { step, .. } if fact.who == who => Some(format!("{step:?}")),
        _ => None,
    };
    facts.filter_map(step).collect()
}

// What a local capability may do ------------------------------------------------------------------------------------

#[test]
fn a_local_capability_of_the_host_activates_abilities_of_the_controller_that_it_plays() {
    let haste = |call, cx: &mut CapabilityCx<'_>| {
        let mana = cx.rules().attribute("Mana").unwrap();
        if matches!(call, CapabilityCall::Tick { .. }) && cx.get(mana) == Some(100.0) {
            cx.activate(cx.rules().ability("GA_Haste").unwrap(), Target::None);
        }
    };
    // On the screen of the host, the capability of Ana's hero runs too. The host does not play that hero.
    let mut game = Hosted::new(probed(Side::AllClients, haste).build().unwrap());
    let (host, ana) = (game.host, game.ana);
    for who in [host, ana] {
        game.grant(who, "CS_Probe");
    }
    game.net.run(30);
    assert_eq!((game.values(host, "Mana"), game.values(host, "Speed")), ([80.0; 2], [15.0; 2]));
    assert_eq!(game.values(ana, "Mana"), [100.0; 2]);
    let class = game.rules.capability("Probe").unwrap();
    let diagnostics = game.net.server_mut().take_local_diagnostics();
    let about: Vec<_> = diagnostics.iter().map(|diagnostic| (diagnostic.who, diagnostic.kind)).collect();
    assert_eq!(about, [(ana, DiagnosticKind::LocalCapabilityRefused { class })], "once");
    assert!(game.net.server_mut().take_local_diagnostics().is_empty());
}

// Sets of the host --------------------------------------------------------------------------------------------------

// covers: CAP-09
#[test]
fn a_server_adds_and_removes_local_sets_without_a_message() {
    let steps_set = CapabilitySet::new("CS_Steps").capability(SetCapability::new("Steps").side(Side::AllClients));
    let rules = builder().add(Capability::new("Steps")).add(steps_set).build().unwrap();
    let (mut with, mut without) = (Wire::listen(&rules), Wire::listen(&rules));
    let (set, class) = (rules.ability_set("CS_Steps").unwrap(), rules.capability("Steps").unwrap());
    let (own, foe) = (with.own, with.foe);
    with.server.take_facts(&mut Facts::default());
    let handles = [own, foe].map(|who| with.server.add_local_set(who, set).unwrap());
    for who in [own, foe] {
        assert_eq!(state_in(&with.server.capabilities(who), class), CapabilityState::Active);
        assert_eq!(with.server.sim().capability_state(who, class), Ok(CapabilityState::NotHeld));
    }
    assert_eq!(with.server.add_local_set(own, set), Err(Refusal::SetHeld { handle: handles[0] }));
    with.run(30);
    with.server.remove_local_set(own, handles[0]).unwrap();
    assert_eq!(with.server.remove_local_set(own, handles[0]), Err(Refusal::StaleHandle));
    assert_eq!(state_in(&with.server.capabilities(own), class), CapabilityState::NotHeld);
    with.run(30);
    without.run(60);
    assert!(with.sent == without.sent, "not a byte differs in either direction");
    assert_eq!(with.client.capabilities(own), Vec::new());
    let mut facts = Facts::default();
    with.server.take_facts(&mut facts);
    let life = ["StartLife", "Setup", "Activated", "Deactivated", "EndCapability", "EndLife"];
    assert_eq!(steps(facts.list.iter(), own), life);
    assert_eq!(steps(facts.list.iter(), foe), life[..3]);
}

// Order -------------------------------------------------------------------------------------------------------------

#[test]
fn the_steps_of_a_set_that_is_added_again_are_in_order_although_nobody_takes_the_facts() {
    let bar = CapabilitySet::new("CS_Bar").capability(SetCapability::new("Bar").side(Side::AllClients));
    let mut game = Hosted::new(builder().add(Capability::new("Bar")).add(bar).build().unwrap());
    let who = game.host;
    game.net.server_mut().take_facts(&mut Facts::default());
    game.net.client_mut("Ana").take_facts(&mut NetFacts::default());
    for _ in 0..3 {
        let handle = game.grant(who, "CS_Bar");
        game.net.run(20);
        game.net.server_mut().sim_mut().run(Op::RevokeSet { who, handle }).unwrap();
        game.net.run(20);
    }
    let life = ["StartLife", "Setup", "Activated", "Deactivated", "EndCapability", "EndLife"];
    let expected = [life; 3].concat();
    let mut facts = Facts::default();
    game.net.server_mut().take_facts(&mut facts);
    assert_eq!(steps(facts.list.iter(), who), expected, "the server");
    let mut facts = NetFacts::default();
    game.net.client_mut("Ana").take_facts(&mut facts);
    assert_eq!(steps(facts.iter().map(|(fact, _)| fact), who), expected, "an observer");
}

// Frames ------------------------------------------------------------------------------------------------------------

#[test]
fn local_capabilities_run_every_frame_of_a_longer_tick_with_the_state_of_that_frame() {
    type Log = Arc<Mutex<Vec<(ControllerId, SimTime, f64)>>>;
    let log = Log::default();
    let record = {
        let log = log.clone();
        move |call, cx: &mut CapabilityCx<'_>| {
            if let CapabilityCall::Tick { elapsed } = call {
                let mana = cx.get(cx.rules().attribute("Mana").unwrap()).unwrap();
                log.lock().unwrap().push((cx.who(), elapsed, mana));
            }
        }
    };
    let rules =
        probed(Side::LocalControlledOnly, record).add(Effect::infinite("GE_Well").every(1.0 / 60.0).add("Mana", 1.0));
    let mut game = Hosted::with_ticks(rules.build().unwrap(), SimTime::frames(3, 60));
    let (host, ana) = (game.host, game.ana);
    for who in [host, ana] {
        let well = game.rules.effect("GE_Well").unwrap();
        game.net.server_mut().sim_mut().apply(&Spec::new(well, who)).unwrap();
        game.grant(who, "CS_Probe");
    }
    game.net.run(20);
    log.lock().unwrap().clear();
    game.net.run(20);
    let log = log.lock().unwrap();
    for who in [host, ana] {
        let own: Vec<_> = log.iter().filter(|(of, ..)| *of == who).collect();
        // The clock of the client may run slightly faster or slower than the server's.
        assert!((57..=63).contains(&own.len()), "{} frames in a second", own.len());
        assert!(own.iter().all(|(_, elapsed, _)| *elapsed == SimTime::frames(1, 60)));
        assert!(own.windows(2).all(|pair| pair[1].2 == pair[0].2 + 1.0), "{own:?}");
    }
}
