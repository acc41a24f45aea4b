//! A crowd: many clients with an own moving controller each, and many actors that move and change in every tick, of
//! which a client receives those near it. Packets have latency, some are lost, and actors are spawned and despawned.

use super::arena::{LENGTH, UDP, changes, rules};
use crate::{alloc, clock};
use std::sync::Arc;
use ugas_core::{Anchor, ControllerId, EffectId, Facts, KeyId, NoHost, Op, Rules, Sim, SimConfig, SpawnSpec, Spec};
use ugas_doc::ControllerReplication;
use ugas_net::client::{Client, ClientConfig};
use ugas_net::interest::{AllRelevant, DistanceRelevance, Priority, RateTable, Viewer};
use ugas_net::link::{Link, LinkProfile};
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::{PeerId, Tick};

/// The side of the square on which the actors move.
const SIDE: f64 = 2000.0;
/// The distances at which an actor becomes relevant and irrelevant.
const NEAR: (f64, f64) = (200.0, 220.0);
/// The share of lost datagrams.
pub(crate) const LOSS: f64 = 0.02;

/// What happens in each tick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    /// Whether every actor moves.
    pub(crate) moves: bool,
    /// Whether two values of every actor change.
    pub(crate) changes: bool,
    /// How many actors are despawned and as many spawned.
    pub(crate) churn: usize,
}

/// How often actors are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// At the default rates and with the default bandwidth.
    Default,
    /// Every change in its tick, as bevy_replicon does.
    EveryTick,
}

/// What the server's part of a tick costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CrowdCost {
    /// Milliseconds of sending: the minimum over all ticks.
    pub(crate) send: f64,
    /// Milliseconds of collecting the changes and sending: the minimum over all ticks.
    pub(crate) tick: f64,
    /// Milliseconds of collecting and sending in the slowest tick.
    pub(crate) worst: f64,
    /// The share of full packets' bytes that is used, in ticks in which a client gets more than one packet.
    pub(crate) full: f64,
    /// Kilobits per second to one client, with headers.
    pub(crate) kilobits: f64,
    /// The average number of allocations in a tick.
    pub(crate) allocations: f64,
}

struct Player {
    client: Client,
    up: Link,
    down: Link,
    own: ControllerId,
}

/// A server with its clients.
pub(crate) struct Crowd {
    rules: Arc<Rules>,
    server: Server,
    players: Vec<Player>,
    actors: Vec<ControllerId>,
    setters: Vec<EffectId>,
    value: KeyId,
    tick: usize,
    facts: Facts,
    /// The datagrams of the last tick: peer and length, and their bytes.
    sent: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

/// Returns where an actor is in a tick: on a square path of its own, at seven units per second, turning all the time.
fn place(actor: usize, tick: usize) -> Anchor {
    let center = |salt: usize| (actor.wrapping_mul(salt) % 10_007) as f64 / 10_007.0 * SIDE;
    let time = tick as f64 / 60.0 / 4.0 + actor as f64 * 0.37;
    let wave = |shift: f64| ((time + shift).rem_euclid(4.0) - 2.0).abs() - 1.0;
    let (x, z) = (wave(0.0), wave(1.0));
    let length = (x * x + z * z).sqrt();
    Anchor {
        facing: [x / length, 0.0, z / length],
        ..Anchor::at([center(7_919) + x * 20.0, 0.0, center(6_007) + z * 20.0])
    }
}

impl Crowd {
    /// Creates a server with actors and no clients.
    pub(crate) fn new(actors: usize, sending: Sending) -> Crowd {
        let rules = rules();
        let sim = Sim::new(rules.clone(), SimConfig::default());
        let mut config =
            ServerConfig { tick_length: LENGTH, replication: ControllerReplication::Full, ..ServerConfig::default() };
        if sending == Sending::EveryTick {
            config.bytes_per_second = 10_000_000;
        }
        let mut server = Server::new(sim, config, Secret::known(1));
        server.set_relevance(DistanceRelevance::new(NEAR.0, NEAR.1));
        if sending == Sending::EveryTick {
            server.set_rates(RateTable { state_divisor: 1, ..RateTable::default() });
            server.set_priority(Players);
        }
        let setters = (0..super::arena::VALUES).map(|i| rules.effect(&format!("Set_A{i}")).expect("it is there"));
        let (setters, value) = (setters.collect(), rules.key("V").expect("it is used"));
        let (players, actors_now, facts) = (Vec::new(), Vec::new(), Facts::default());
        let (sent, bytes) = (Vec::new(), Vec::new());
        let mut crowd =
            Crowd { rules, server, players, actors: actors_now, setters, value, tick: 0, facts, sent, bytes };
        for _ in 0..actors {
            let who = crowd.spawn(crowd.actors.len());
            crowd.actors.push(who);
        }
        crowd
    }

    fn spawn(&mut self, at: usize) -> ControllerId {
        let set = self.rules.set("Vitals").expect("it is there");
        let who = self.server.sim_mut().spawn(SpawnSpec::sets([set])).expect("it can be spawned");
        let anchor = Some(place(at, self.tick));
        self.server.sim_mut().run(Op::Move { who, anchor }).expect("it can be moved");
        who
    }

    /// Connects this many clients at once, over links that lose this share of datagrams.
    pub(crate) fn join(&mut self, clients: usize, loss: f64) {
        let profile = LinkProfile { loss, ..LinkProfile::round_trip(60, 0) };
        for at in 0..clients {
            let own = self.spawn(100_000 + at);
            self.server.connect(PeerId(at as u32), &[own]).expect("the number is new");
            let client = Client::new(self.rules.clone(), ClientConfig::default());
            let (up, down) = (Link::new(profile, 2 * at as u64), Link::new(profile, 2 * at as u64 + 1));
            self.players.push(Player { client, up, down, own });
        }
    }

    /// Changes the world as the load says.
    fn change(&mut self, load: Load) {
        self.tick += 1;
        let count = self.actors.len();
        for n in 0..load.churn {
            let at = (self.tick * load.churn + n) * 7 % count;
            self.server.sim_mut().despawn(self.actors[at]).expect("it is there");
            self.actors[at] = self.spawn(at);
        }
        for at in 0..count {
            let who = self.actors[at];
            if load.moves {
                let anchor = Some(place(at, self.tick));
                self.server.sim_mut().run(Op::Move { who, anchor }).expect("it can be moved");
            }
            for (value, to) in changes(at, self.tick).into_iter().filter(|_| load.changes) {
                let spec = Spec::new(self.setters[value], who).set(self.value, to as f64);
                self.server.sim_mut().apply(&spec).expect("it can be set");
            }
        }
    }

    /// Runs the server's part of a tick. Returns the milliseconds of the step and of sending.
    fn serve(&mut self) -> (f64, f64) {
        let begun = clock::nanoseconds();
        self.server.step(&mut NoHost);
        let stepped = clock::nanoseconds();
        let Crowd { server, sent, bytes, .. } = self;
        sent.clear();
        bytes.clear();
        server.send(&mut |peer, datagram| {
            sent.push((peer.0 as usize, datagram.len()));
            bytes.extend_from_slice(datagram);
        });
        let done = clock::nanoseconds();
        ((stepped - begun) as f64 / 1e6, (done - stepped) as f64 / 1e6)
    }

    /// Runs the clients' part of a tick. Every client moves its controller.
    fn answer(&mut self, moves: bool) {
        let Crowd { server, players, tick, facts, sent, bytes, .. } = self;
        let now = Tick(*tick as u32).time(LENGTH);
        let mut rest = bytes.as_slice();
        for &(to, length) in sent.iter() {
            let (datagram, later) = rest.split_at(length);
            players[to].down.send(now, datagram);
            rest = later;
        }
        for (at, player) in players.iter_mut().enumerate() {
            let Player { client, up, down, own } = player;
            down.receive(now, &mut |datagram| client.receive(datagram));
            if moves {
                // Refused until the client has joined.
                let _ = client.command(Request::Move { who: *own, anchor: place(100_000 + at, *tick) });
            }
            client.update(LENGTH);
            client.send(&mut |datagram| up.send(now, datagram));
            up.receive(now, &mut |datagram| server.receive(PeerId(at as u32), datagram));
        }
        server.take_facts(facts);
    }

    /// Measures ticks with this load, after the same number of ticks that are not measured.
    pub(crate) fn measure(&mut self, load: Load, ticks: usize) -> CrowdCost {
        for _ in 0..ticks {
            self.change(load);
            self.serve();
            self.answer(load.moves);
        }
        self.measure_now(load, ticks)
    }

    /// Measures ticks with this load.
    pub(crate) fn measure_now(&mut self, load: Load, ticks: usize) -> CrowdCost {
        let mut cost = CrowdCost { send: f64::MAX, tick: f64::MAX, ..CrowdCost::default() };
        let (mut bytes, mut datagrams, mut allocations, mut full) = (0, 0, 0, Vec::new());
        for _ in 0..ticks {
            self.change(load);
            let before = alloc::allocations();
            let (step, send) = self.serve();
            allocations += alloc::allocations() - before;
            (cost.send, cost.tick) = (cost.send.min(send), cost.tick.min(step + send));
            cost.worst = cost.worst.max(step + send);
            datagrams += self.sent.len();
            bytes += self.sent.iter().map(|(_, length)| length).sum::<usize>();
            // A packet that another one follows in the same tick had more to send.
            full.extend(self.sent.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].1 as f64));
            self.answer(load.moves);
        }
        let clients = self.players.len().max(1) as f64;
        let seconds = ticks as f64 / 60.0;
        cost.kilobits = (bytes + datagrams * UDP) as f64 * 8.0 / 1000.0 / seconds / clients;
        cost.full = full.iter().sum::<f64>() / full.len().max(1) as f64 / ugas_net::types::MAX_DATAGRAM as f64;
        cost.allocations = allocations as f64 / ticks as f64;
        cost
    }
}

/// All actors are sent at the rate of players' characters.
struct Players;

impl Priority for Players {
    fn weight(&self, _: &Viewer, _: ControllerId, _: Option<[f64; 3]>) -> u32 {
        1
    }
}

/// Returns the kilobits per second to one client that sees this many moving actors at 60 Hz and nothing else.
pub(crate) fn movers(actors: usize) -> f64 {
    let mut crowd = Crowd::new(actors, Sending::Default);
    crowd.server.set_relevance(AllRelevant);
    crowd.server.set_priority(Players);
    crowd.join(1, LOSS);
    crowd.measure(Load { moves: true, ..Load::default() }, 120).kilobits
}

/// The loads after all clients have joined: a name, a name in the output of the bevy_replicon benchmark, and the load.
const LOADS: [(&str, &str, Load); 5] = [
    ("nothing changes", "still", Load { moves: false, changes: false, churn: 0 }),
    ("1 spawned and 1 despawned", "churn_1", Load { moves: false, changes: false, churn: 1 }),
    ("50 spawned and 50 despawned", "churn_50", Load { moves: false, changes: false, churn: 50 }),
    ("everything moves and changes", "all", Load { moves: true, changes: true, churn: 0 }),
    (
        "everything moves and changes, 50 spawned and 50 despawned",
        "all_churn_50",
        Load { moves: true, changes: true, churn: 50 },
    ),
];

/// Measures a crowd with each load, first while all clients join at once.
pub(crate) fn costs(clients: usize, actors: usize, sending: Sending) -> Vec<(&'static str, &'static str, CrowdCost)> {
    let mut crowd = Crowd::new(actors, sending);
    for _ in 0..30 {
        crowd.serve();
    }
    crowd.join(clients, LOSS);
    let joining = crowd.measure_now(Load::default(), 120);
    let mut list = vec![("all clients join at once", "join", joining)];
    list.extend(LOADS.map(|(name, key, load)| (name, key, crowd.measure(load, 60))));
    list
}
