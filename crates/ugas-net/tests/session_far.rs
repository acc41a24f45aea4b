//! Many actors with numbers far apart and places far away: packets stay within their bounds.

use ugas_core::{Anchor, ControllerId, Rules, Sim, SimConfig, SpawnSpec};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::server::{ConnectError, Server, ServerConfig};
use ugas_net::types::PeerId;

#[test]
fn everybody_is_seen_however_far_apart_numbers_and_places_are() {
    let rules =
        Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let vitals = rules.set("Vitals").unwrap();
    let hero = sim.spawn(SpawnSpec::sets(vec![vitals])).unwrap();
    for n in 1..400u32 {
        let far = 1e9 - n as f64 * 1000.3;
        let anchor = Some(Anchor { position: [far, -far, far], facing: [0.6, -0.64, 0.48] });
        let id = Some(ControllerId(n * 9001));
        sim.spawn(SpawnSpec { id, anchor, ..SpawnSpec::sets(vec![vitals]) }).unwrap();
    }
    let config = ServerConfig { mode: ControllerReplication::Full, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config), 5);
    net.join("Ana", LinkProfile::GOOD, &[hero]).unwrap();
    let all = net.run_until(600, |net| net.client("Ana").proxies().len() == 399);
    assert!(all.is_some(), "{} of 399 are seen", net.client("Ana").proxies().len());
    assert_eq!(net.client("Ana").counts().damaged, 0);
}

#[test]
fn one_player_has_no_army() {
    let rules =
        Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let vitals = rules.set("Vitals").unwrap();
    let army: Vec<_> = (0..17).map(|_| sim.spawn(SpawnSpec::sets(vec![vitals])).unwrap()).collect();
    let mut server = Server::new(sim, ServerConfig::default());
    assert_eq!(server.connect(PeerId(1), &army), Err(ConnectError::Many(17)));
    assert!(server.connect(PeerId(1), &army[..16]).is_ok());
}
