//! A hostile server that tries to exhaust the memory or time of a client: the client keeps its limits, reports why it
//! disconnects, and continues where it can.

use crate::kit::{self, Game, LENGTH, Setup};
use ugas_core::{ControllerId, DefId, EffectId, NoHost, RUNTIME_BIT, Refusal, SimTime, SpawnSpec, Spec, Target};
use ugas_doc::Effect;
use ugas_net::client::{Client, ClientConfig, ClientState, DisconnectReason, NetFacts};
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::link::LinkProfile;
use ugas_net::message::{Request, ToClient};
use ugas_net::server::Server;
use ugas_net::types::{PeerId, Tick};

#[test]
fn the_number_of_proxies_is_limited() {
    let mut g = Game::new(Setup { window: SimTime::millis(500), ..Setup::default() });
    let vitals = g.rules.set("Vitals").unwrap();
    let spawn = |g: &mut Game| g.net.server_mut().sim_mut().spawn(SpawnSpec::sets([vitals])).unwrap();
    let crowd: Vec<ControllerId> = (0..300).map(|_| spawn(&mut g)).collect();
    let config = ClientConfig { max_proxies: 50, ..ClientConfig::default() };
    g.net.join_over("Cem", config, [LinkProfile::GOOD; 2], &[g.other]).unwrap();
    let hit = g.effect("GE_Other");
    for n in 0..400 {
        g.net.server_mut().sim_mut().apply(&Spec::new(hit, crowd[n % crowd.len()])).unwrap();
        g.net.step();
        let cem = g.net.client("Cem");
        assert!(cem.proxies().len() <= 50 && cem.sim().controllers().count() <= 51);
    }
    let cem = g.net.client("Cem");
    assert_eq!((cem.proxies().len(), cem.counts().malformed), (50, 0), "further actors are skipped");
    assert!(cem.counts().skipped_proxies >= 250);
    let ask = Request::Activate { who: g.other, ability: g.ability("GA_Haste"), target: Target::None };
    g.net.client_mut("Cem").command(ask).unwrap();
    for &who in &crowd[..290] {
        g.net.server_mut().sim_mut().despawn(who).unwrap();
    }
    g.net.run(120);
    let cem = g.net.client("Cem");
    assert_eq!(cem.proxies().len(), 12, "skipped actors are requested when there is room");
    assert_eq!(cem.sim().get(g.other, g.attribute("Speed")), Ok(15.0), "and it plays");
    let health = g.attribute("Health");
    let agrees = |who: &ControllerId| cem.proxies().get(*who).unwrap().value(health) == Some(g.truth(*who, "Health"));
    assert!(crowd[290..].iter().all(agrees));
}

/// A server and a client without latency.
struct Pair {
    server: Server,
    client: Client,
    hero: ControllerId,
}

impl Pair {
    fn new() -> Pair {
        let g = Game::new(Setup::default());
        let (hero, rules) = (g.other, g.rules.clone());
        let config = ugas_net::server::ServerConfig { tick_length: LENGTH, ..Default::default() };
        let mut server = Server::new(g.net.server().sim().clone(), config, ugas_net::server::Secret::known(1));
        server.connect(PeerId(1), &[hero]).unwrap();
        let mut pair = Pair { server, client: Client::new(rules, ClientConfig::default()), hero };
        (0..60).for_each(|_| pair.step());
        assert_eq!(pair.client.owned(), [hero]);
        pair
    }

    fn step(&mut self) {
        let Pair { server, client, .. } = self;
        client.send(&mut |datagram| server.receive(PeerId(1), datagram));
        server.step(&mut NoHost);
        server.send(&mut |_, datagram| client.receive(datagram));
        client.update(LENGTH);
    }

    /// Advances the server without sending.
    fn pass(&mut self, seconds: u32) {
        (0..seconds * 60).for_each(|_| self.server.step(&mut NoHost));
    }
}

#[test]
fn a_clock_jump_beyond_the_elapsed_time_ends_the_session() {
    let mut pair = Pair::new();
    pair.pass(9);
    pair.step();
    assert_eq!(*pair.client.state(), ClientState::Playing, "within the margin");
    let from = pair.client.tick();
    pair.pass(9);
    let to = pair.server.tick().plus(1);
    pair.step();
    let ClientState::Disconnected(loss) = pair.client.state().clone() else { panic!("{:?}", pair.client.state()) };
    let DisconnectReason::ClockJump { most, .. } = loss;
    assert_eq!(loss, DisconnectReason::ClockJump { from, to, most });
    assert!(most < 120, "{most} ticks were left");
    assert!(loss.to_string().contains("connect again"), "{loss}");
    assert_eq!(pair.client.tick(), from, "nothing was simulated");
    assert_eq!(pair.client.update(LENGTH), 0);
    pair.client.send(&mut |_| panic!("it sends nothing"));
    let ask = Request::Release { who: pair.hero, input: ugas_core::InputId(1) };
    assert_eq!(pair.client.command(ask), Err(Refusal::Authority));
}

#[test]
fn a_client_that_was_disconnected_jumps_to_the_servers_tick() {
    for (seconds, is_lost) in [(40, false), (90, true)] {
        let mut pair = Pair::new();
        for _ in 0..seconds {
            pair.pass(1);
            pair.client.update(SimTime::seconds(1.0));
        }
        (0..30).for_each(|_| pair.step());
        assert_eq!(matches!(pair.client.state(), ClientState::Disconnected(_)), is_lost, "{seconds} s");
        assert_eq!(pair.client.tick() > pair.server.tick(), !is_lost);
    }
}

#[test]
fn facts_that_are_not_taken_are_dropped() {
    let mut g = Game::new(Setup::default());
    let mut config = ClientConfig::default();
    config.sim.limits.facts = 10;
    g.net.join_over("Cem", config, [LinkProfile::PERFECT; 2], &[]).unwrap();
    g.net.run(30);
    let hit = g.effect("GE_Other");
    for _ in 0..95 {
        for who in [g.hero, g.other, g.foe] {
            g.net.server_mut().sim_mut().apply(&Spec::new(hit, who)).unwrap();
        }
        g.net.step();
    }
    let mut facts = NetFacts::default();
    g.net.client_mut("Cem").take_facts(&mut facts);
    assert!(facts.iter().count() <= 20, "{} facts", facts.iter().count());
}

/// A hostile server's end of a connection.
struct Forger {
    carrier: Carrier,
    client: Client,
    tick: u32,
}

impl Forger {
    fn new() -> Forger {
        let rules = kit::builder().build().unwrap();
        let config = ConnectionConfig { max_unacked_bytes: usize::MAX, ..ConnectionConfig::default() };
        Forger { carrier: Carrier::new(config), client: Client::new(rules, ClientConfig::default()), tick: 1 }
    }

    fn push(&mut self, message: &ToClient) {
        self.carrier.push(&message.to_bytes()).unwrap();
    }

    /// Runs until everything is acknowledged or the client has disconnected.
    fn run_until_acked(&mut self) {
        for _ in 0..100_000 {
            if self.carrier.is_idle() || matches!(self.client.state(), ClientState::Disconnected(_)) {
                return;
            }
            self.tick += 1;
            let now = Tick(self.tick).time(LENGTH);
            let mut out = Vec::new();
            self.carrier.write(now, Tick(self.tick), &mut out, &mut |_, _| ());
            self.client.receive(&out);
            self.client.update(LENGTH);
            let carrier = &mut self.carrier;
            self.client.send(&mut |datagram| {
                let _ = carrier.read(now, datagram);
            });
        }
        panic!("it is still not acknowledged");
    }
}

#[test]
fn definitions_have_a_limit_of_bytes() {
    let mut forger = Forger::new();
    for n in 0..300u32 {
        let name = format!("GE_{n}_{}", "x".repeat(60_000));
        let doc = serde_json::to_string(&ugas_doc::Doc::from(Effect::instant(name).add("Health", 1.0))).unwrap();
        forger.push(&ToClient::Define { id: DefId::Effect(EffectId(RUNTIME_BIT | n)), doc });
    }
    forger.run_until_acked();
    let held = forger.client.sim().remote().definitions().count();
    assert!((200..290).contains(&held), "{held} of 300, each of 60 KB");
    assert_eq!(forger.client.counts().malformed, 300 - held as u64);
}

#[test]
fn invalid_tick_lengths_are_rejected() {
    let welcome = |length| ToClient::Welcome { client: 1, base: 0, length, owned: vec![ControllerId(7)] };
    let mut forger = Forger::new();
    let least = SimTime::millis(1);
    let bad = [SimTime(1), SimTime::ZERO, SimTime(-5), SimTime(least.0 - 1), SimTime::millis(1001), SimTime(i64::MAX)];
    for length in bad {
        forger.push(&welcome(length));
    }
    forger.run_until_acked();
    assert_eq!((forger.client.state(), forger.client.counts().malformed), (&ClientState::Connecting, 6));
    forger.push(&welcome(least));
    forger.run_until_acked();
    assert_eq!(*forger.client.state(), ClientState::Playing, "the shortest valid length");
    for _ in 0..60 {
        forger.client.update(LENGTH);
    }
    let (window, held) = (forger.client.prediction_window(), forger.client.retained());
    assert!(window <= 500 && held <= 500, "a window of {window} ticks, {held} held");
}

#[test]
fn removals_of_unknown_actors_are_ignored() {
    let mut forger = Forger::new();
    let owned = vec![ControllerId(7)];
    forger.push(&ToClient::Welcome { client: 1, base: u32::MAX, length: LENGTH, owned });
    for n in 0..200u32 {
        let removed = (0..40).map(|k| (ControllerId(n * 40 + k), Tick(u32::MAX - k))).collect();
        forger.push(&ToClient::Removed { actors: removed });
        forger.push(&ToClient::AllRemoved { tick: Tick(u32::MAX) });
    }
    forger.push(&ToClient::OwnerState { who: ControllerId(7), tick: Tick(0), state: vec![0; 100] });
    forger.push(&ToClient::OwnerState { who: ControllerId(7), tick: Tick(u32::MAX), state: vec![0; 100] });
    forger.run_until_acked();
    assert_eq!((forger.client.sim().controllers().count(), forger.client.retained()), (0, 0));
    let ask = Request::Release { who: ControllerId(7), input: ugas_core::InputId(1) };
    assert_eq!(forger.client.command(ask), Err(Refusal::Authority));
}
