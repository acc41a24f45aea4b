//! A connection whose reliable stream is always busy: removals arrive, and all other data has its share of each packet.

use std::sync::Arc;
use ugas_core::{ControllerId, Rules, Sim, SimConfig, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication, Effect};
use ugas_net::client::ClientState;
use ugas_net::harness::Harness;
use ugas_net::internals::carrier::ConnectionConfig;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

/// The attributes of the middle and the large set: sections that fit into a packet, and sections for the reliable stream.
const SETS: [(&str, usize); 3] = [("Small", 1), ("Middle", 40), ("Large", 100)];

fn rules() -> Arc<Rules> {
    SETS.iter()
        .fold(Rules::builder(), |rules, (name, count)| {
            let names: Vec<String> = (0..*count).map(|n| format!("{name}{n}")).collect();
            let set = names.iter().fold(AttributeSet::new(*name), |set, n| set.with(Attribute::new(n, 100.1)));
            let hit = Effect::instant(format!("GE_{name}"));
            rules.add(set).add(names.iter().fold(hit, |hit, n| hit.add(n, 1.7)))
        })
        .build()
        .unwrap()
}

struct Busy {
    net: Harness,
    rules: Arc<Rules>,
    hero: ControllerId,
    others: Vec<ControllerId>,
    made: usize,
}

impl Busy {
    fn new(others: &[&str], max_unacked_bytes: usize) -> Busy {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let mut spawn = |set: &str| sim.spawn(SpawnSpec::sets([rules.set(set).unwrap()])).unwrap();
        let hero = spawn("Small");
        let others = others.iter().map(|set| spawn(set)).collect();
        let carrier = ConnectionConfig { max_unacked_bytes, ..ConnectionConfig::default() };
        let config =
            ServerConfig { replication: ControllerReplication::Full, connection: carrier, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 3);
        net.join("Ana", LinkProfile::round_trip(100, 0), &[hero]).unwrap();
        Busy { net, rules, hero, others, made: 0 }
    }

    /// Adds a run-time definition: about a thousand bytes in the reliable stream.
    fn define(&mut self) {
        self.made += 1;
        let name = format!("GE_Made{}_{}", self.made, "d".repeat(900));
        let effect = Effect::instant(name).add("Small0", 1.0);
        self.net.server_mut().sim_mut().define(effect).unwrap();
    }

    /// Runs ticks with more data than the stream can send.
    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            (0..4).for_each(|_| self.define());
            self.net.step();
        }
    }

    fn seen(&self, who: ControllerId, name: &str) -> Option<f64> {
        self.net.client("Ana").proxies().get(who)?.value(self.rules.find_attribute(name)?)
    }
}

#[test]
fn removals_are_sent_while_the_stream_is_full() {
    let mut busy = Busy::new(&["Small"; 3], 4096);
    busy.net.run(60);
    assert_eq!(busy.net.client("Ana").proxies().len(), 3);
    busy.run(20);
    let (removed, stays) = (busy.others[1], [busy.others[0], busy.others[2]]);
    busy.net.server_mut().sim_mut().despawn(removed).unwrap();
    busy.run(120);
    let ana = busy.net.client("Ana");
    assert!(ana.proxies().get(removed).is_none() && !ana.sim().exists(removed), "removed while the stream is busy");
    assert!(stays.iter().all(|&who| ana.sim().exists(who)));
    let all = busy.net.run_until(6000, |net| net.client("Ana").sim().remote().definitions().count() == busy.made);
    assert!(all.is_some(), "and every definition arrives");
    assert_eq!(busy.net.client("Ana").counts().malformed, 0);
}

#[test]
fn the_removal_of_many_actors_is_sent() {
    let mut busy = Busy::new(&["Small"; 3000], 4096);
    let all = busy.net.run_until(1200, |net| net.client("Ana").proxies().len() == 3000);
    assert!(all.is_some(), "{} are seen", busy.net.client("Ana").proxies().len());
    let (removed, stays) = busy.others.split_at(2990);
    for &who in removed {
        busy.net.server_mut().sim_mut().despawn(who).unwrap();
    }
    let (stays, hit) = (stays.to_vec(), busy.rules.effect("GE_Small").unwrap());
    busy.run(30);
    for &who in &stays {
        busy.net.server_mut().sim_mut().apply(&Spec::new(hit, who)).unwrap();
    }
    busy.run(120);
    let ana = busy.net.client("Ana");
    assert_eq!(ana.proxies().len(), stays.len());
    assert_eq!(ana.sim().controllers().count(), stays.len() + 1);
    assert!(stays.iter().all(|&who| busy.seen(who, "Small0") == Some(101.8)));
    assert_eq!(ana.owned(), [busy.hero]);
}

#[test]
fn sections_of_any_length_are_sent_next_to_a_busy_stream() {
    for (name, _) in SETS {
        for bandwidth in [128 * 1024, 24 * 1024] {
            let mut busy = Busy::new(&[name], 256 * 1024);
            busy.net.run(60);
            let peer = busy.net.player("Ana").peer().unwrap();
            busy.net.server_mut().set_bandwidth(peer, bandwidth);
            let (foe, hit, last) = (busy.others[0], format!("GE_{name}"), format!("{name}0"));
            let hit = busy.rules.effect(&hit).unwrap();
            busy.run(30);
            for n in 1..=4 {
                busy.net.server_mut().sim_mut().apply(&Spec::new(hit, foe)).unwrap();
                let truth = busy.net.server().sim().get(foe, busy.rules.attribute(&last).unwrap()).unwrap();
                let seen = (0..90).find(|_| {
                    busy.run(1);
                    busy.seen(foe, &last).is_some_and(|seen| (seen - truth).abs() < 0.1)
                });
                assert!(seen.is_some(), "{name} at {bandwidth} B/s: change {n} is not seen");
            }
        }
    }
}

#[test]
fn a_client_joins_while_the_stream_is_busy() {
    let mut busy = Busy::new(&["Small"], 256 * 1024);
    busy.run(2);
    let playing = (0..120).find(|_| {
        busy.run(1);
        let ana = busy.net.client("Ana");
        *ana.state() == ClientState::Playing && ana.confirmed_tick(busy.hero).is_some()
    });
    assert!(playing.is_some());
}

#[test]
fn a_state_waits_for_the_definitions_it_needs() {
    let mut busy = Busy::new(&["Small"], 256 * 1024);
    (0..40).for_each(|_| busy.define());
    let last = Effect::infinite("GE_Last").add("Small0", 5.0);
    let sim = busy.net.server_mut().sim_mut();
    let ugas_core::DefId::Effect(last) = sim.define(last).unwrap() else { panic!("an effect") };
    sim.apply(&Spec::new(last, busy.hero)).unwrap();
    busy.net.run(120);
    let ana = busy.net.client("Ana");
    assert_eq!((ana.confirmed_tick(busy.hero).is_some(), ana.counts().malformed), (true, 0));
    let small = busy.rules.attribute("Small0").unwrap();
    assert_eq!(ana.sim().get(busy.hero, small), busy.net.server().sim().get(busy.hero, small));
}
