//! Many actors with distant ids and positions, and many clients: all limits hold.

use std::collections::BTreeSet;
use ugas_core::{AbilityGrant, Anchor, ControllerId, Op, Rules, Sim, SimConfig, SpawnSpec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{ConnectError, Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

#[test]
fn all_actors_are_replicated_whatever_their_ids_and_positions() {
    let rules =
        Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let vitals = rules.set("Vitals").unwrap();
    let hero = sim.spawn(SpawnSpec::sets([vitals])).unwrap();
    for n in 1..400u32 {
        let far = 1e9 - n as f64 * 1000.3;
        let anchor = Some(Anchor { position: [far, -far, far], facing: [0.6, -0.64, 0.48] });
        let id = Some(ControllerId(n * 9001));
        sim.spawn(SpawnSpec { id, anchor, ..SpawnSpec::sets([vitals]) }).unwrap();
    }
    let config = ServerConfig { replication: ControllerReplication::Full, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 5);
    net.join("Ana", LinkProfile::GOOD, &[hero]).unwrap();
    let all = net.run_until(600, |net| net.client("Ana").proxies().len() == 399);
    assert!(all.is_some(), "{} of 399 are seen", net.client("Ana").proxies().len());
    assert_eq!(net.client("Ana").counts().malformed, 0);
}

#[test]
fn large_ids_are_replicated() {
    let rules =
        Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let vitals = rules.set("Vitals").unwrap();
    let limit = sim.config().limits.controllers;
    // As in a world that ran for a long time: the actors with smaller ids were removed.
    let mut last = ControllerId(0);
    while last.0 < 40_000_000 {
        let id = Some(ControllerId(last.0 + limit));
        last = sim.spawn(SpawnSpec { id, ..SpawnSpec::sets([vitals]) }).unwrap();
        if last.0 < 36_000_000 {
            sim.despawn(last).unwrap();
        }
    }
    let hero = sim.spawn(SpawnSpec::sets([vitals])).unwrap();
    let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 5);
    net.join("Ana", LinkProfile::GOOD, &[hero]).unwrap();
    net.run(60);
    let ana = net.client("Ana");
    assert_eq!((ana.owned(), ana.counts().malformed), (&[hero][..], 0));
    assert_eq!(ana.proxies().len(), 2);
    assert!(ana.proxies().iter().all(|p| ana.sim().exists(p.who())));
}

#[test]
fn client_numbers_are_reused_and_no_key_is_used_twice() {
    let rules = Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
        .add(Effect::infinite("GE_Mark").grants("State.Marked"))
        .add(Ability::new("GA_Mark").task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Mark")))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let ability = rules.ability("GA_Mark").unwrap();
    sim.run(Op::Grant { who: hero, grant: AbilityGrant::new(ability) }).unwrap();
    let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 5);
    let mut keys = Vec::new();
    for round in 0..3u32 {
        // A client that joins, applies a permanent mark and leaves.
        let name = format!("Ana{round}");
        net.join(&name, LinkProfile::PERFECT, &[hero]).unwrap();
        net.run(30);
        net.client_mut(&name).command(Request::Activate { who: hero, ability, target: Target::None }).unwrap();
        net.run(30);
        let key = net.client(&name).predictions().next().unwrap().key;
        keys.push((key.client, key.base));
        net.disconnect(&name);
        // Then all other numbers.
        for n in 1..u32::from(u16::MAX) - 1 {
            let peer = PeerId(1_000_000 * (round + 1) + n);
            net.server_mut().connect(peer, &[]).unwrap();
            net.server_mut().disconnect(peer);
        }
    }
    assert_eq!(keys, [(1, 1), (1, 2), (1, 3)], "the number is reused, and its Bases continue");
    let marks: BTreeSet<_> = net.server().sim().effects(hero).unwrap().iter().map(|e| e.key).collect();
    assert_eq!(marks.len(), 3, "each mark has a key of its own: {marks:?}");
}

#[test]
fn a_full_server_rejects_further_clients() {
    let rules = Rules::builder().build().unwrap();
    let mut server = Server::new(Sim::new(rules, SimConfig::default()), ServerConfig::default(), Secret::known(1));
    for n in 1..u32::from(u16::MAX) {
        server.connect(PeerId(n), &[]).unwrap();
    }
    assert_eq!(server.connect(PeerId(70_000), &[]), Err(ConnectError::ServerFull));
    let message = "the server is full: no client number is available; start another server";
    assert_eq!(ConnectError::ServerFull.to_string(), message);
    server.disconnect(PeerId(7));
    assert_eq!(server.connect(PeerId(70_000), &[]), Ok(7));
}

#[test]
fn one_client_owns_a_limited_number_of_controllers() {
    let rules =
        Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let vitals = rules.set("Vitals").unwrap();
    let army: Vec<_> = (0..17).map(|_| sim.spawn(SpawnSpec::sets([vitals])).unwrap()).collect();
    let mut server = Server::new(sim, ServerConfig::default(), Secret::known(1));
    assert_eq!(server.connect(PeerId(1), &army), Err(ConnectError::TooManyControllers(17)));
    assert!(server.connect(PeerId(1), &army[..16]).is_ok());
}
