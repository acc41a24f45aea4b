//! The clock of a client after a hitch of the client or of the server, and during play: it settles within 30 ticks and
//! does not oscillate.

use std::sync::Arc;
use ugas_core::{ControllerId, NoHost, Rules, Sim, SimConfig, SimTime, SpawnSpec};
use ugas_doc::{Attribute, AttributeSet};
use ugas_net::client::{Client, ClientConfig, ClientState};
use ugas_net::link::{Link, LinkProfile};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

const PEER: PeerId = PeerId(1);

/// A server and a client over links, each of which can be suspended.
struct Rig {
    server: Server,
    client: Client,
    up: Link,
    down: Link,
    now: SimTime,
    length: SimTime,
}

impl Rig {
    fn new(rate: i64, profile: LinkProfile, seed: u64) -> Rig {
        let set = AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0));
        let rules: Arc<Rules> = Rules::builder().add(set).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let hero: ControllerId = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        let length = SimTime::frames(1, rate);
        let config = ServerConfig { tick_length: length, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.connect(PEER, &[hero]).unwrap();
        let client = Client::new(rules, ClientConfig::default());
        let (up, down) = (Link::new(profile, seed), Link::new(profile, seed + 1000));
        Rig { server, client, up, down, now: SimTime::ZERO, length }
    }

    fn server_step(&mut self) {
        let Rig { server, up, down, now, .. } = self;
        up.receive(*now, &mut |datagram| server.receive(PEER, datagram));
        server.step(&mut NoHost);
        server.send(&mut |_, datagram| down.send(*now, datagram));
    }

    fn client_step(&mut self, elapsed: SimTime) {
        let Rig { client, up, down, now, length, .. } = self;
        let midway = *now + SimTime(length.0 / 2);
        down.receive(midway, &mut |datagram| client.receive(datagram));
        client.update(elapsed);
        client.send(&mut |datagram| up.send(midway, datagram));
    }

    /// Runs one tick. Returns by how many ticks the client is ahead of the server.
    fn step(&mut self) -> i64 {
        self.server_step();
        self.client_step(self.length);
        self.now += self.length;
        self.lead()
    }

    fn lead(&self) -> i64 {
        i64::from(self.client.tick().0) - i64::from(self.server.tick().0)
    }

    /// Runs ticks and returns the mean lead.
    fn mean_lead(&mut self, ticks: i64) -> f64 {
        (0..ticks).map(|_| self.step()).sum::<i64>() as f64 / ticks as f64
    }
}

/// What is suspended for 20 ticks.
#[derive(Clone, Copy, Debug)]
enum Hitch {
    /// The client; its next frame is one tick long, because the host limits the length of a frame.
    LostTime,
    /// The client; its next frame is 20 ticks long.
    LongFrame,
    /// The server; it does not catch up.
    Server,
}

/// The largest difference in ticks from the usual mean lead, after a hitch.
const TOLERANCE: f64 = 2.0;

/// Returns the tick from which on the clock is near the usual mean lead, and the largest overshoot.
fn settle(profile: LinkProfile, hitch: Hitch, seed: u64) -> (usize, f64) {
    let mut rig = Rig::new(60, profile, seed);
    rig.mean_lead(600);
    let usual = rig.mean_lead(600);
    for n in 0..20 {
        match hitch {
            Hitch::LostTime | Hitch::LongFrame => rig.server_step(),
            Hitch::Server => rig.client_step(rig.length),
        }
        if n < 19 {
            rig.now += rig.length;
        }
    }
    if matches!(hitch, Hitch::LongFrame) {
        rig.client_step(SimTime(rig.length.0 * 20));
    }
    rig.now += rig.length;
    let errors: Vec<f64> = (0..240).map(|_| rig.step() as f64 - usual).collect();
    let settled = errors.iter().rposition(|error| error.abs() > TOLERANCE).map_or(0, |at| at + 1);
    // A client that was suspended starts late, one whose server was suspended early.
    let sign = if matches!(hitch, Hitch::Server) { -1.0 } else { 1.0 };
    (settled, errors.iter().fold(0.0, |most: f64, error| most.max(error * sign)))
}

#[test]
fn a_hitch_of_20_ticks_settles_within_30_ticks_without_overshoot_on_all_links() {
    let mut faults = Vec::new();
    for (name, profile) in LinkProfile::ALL {
        for hitch in [Hitch::LostTime, Hitch::LongFrame, Hitch::Server] {
            for seed in 1..=20 {
                let (settled, overshoot) = settle(profile, hitch, seed);
                if settled > 30 || overshoot > TOLERANCE {
                    faults.push(format!(
                        "{name}, {hitch:?}, seed {seed}: settled after {settled}, overshoot {overshoot:.1}"
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_clock_does_not_oscillate_on_any_link_at_any_rate() {
    let mut faults = Vec::new();
    for rate in [10, 30, 60, 128] {
        for (name, profile) in LinkProfile::ALL {
            let mut rig = Rig::new(rate, profile, 3);
            rig.mean_lead(10 * rate);
            let usual = rig.mean_lead(4 * rate);
            let mut errors: Vec<f64> = (0..20 * rate).map(|_| (rig.step() as f64 - usual).abs()).collect();
            errors.sort_by(f64::total_cmp);
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            // A burst of losses that is longer than the prediction window stops the clock for a few ticks.
            let most = errors[errors.len() * 98 / 100];
            if mean > 1.0 || most > 3.0 {
                faults.push(format!("{rate} Hz, {name}: mean {mean:.2}, most {most:.1}, around {usual:.1}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_server_that_waits_before_its_first_packet_does_not_lengthen_the_round_trip() {
    for waits in [0, 60, 300] {
        let mut rig = Rig::new(60, LinkProfile::round_trip(100, 0), 1);
        let mut is_first = true;
        for _ in 0..waits {
            let Rig { server, up, now, length, .. } = &mut rig;
            // The server takes the hello and ignores the rest until the game starts.
            up.receive(*now, &mut |datagram| {
                if std::mem::take(&mut is_first) {
                    server.receive(PEER, datagram);
                }
            });
            server.idle(*length);
            rig.client_step(rig.length);
            rig.now += rig.length;
        }
        let joined = (0..60).find(|_| {
            rig.step();
            *rig.client.state() == ClientState::Playing
        });
        assert!(joined.is_some(), "the client joins after {waits} ticks");
        let round_trip = rig.client.round_trip().unwrap();
        assert!(round_trip <= SimTime::millis(140), "{} ms after {waits} ticks", round_trip.0 / SimTime::millis(1).0);
        let leads: Vec<i64> = (0..60).map(|_| rig.step()).collect();
        assert!(leads.iter().all(|lead| (4..=10).contains(lead)), "after {waits} ticks: {leads:?}");
    }
}
