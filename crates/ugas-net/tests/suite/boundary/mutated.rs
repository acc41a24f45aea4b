//! Recorded packets, mutated in many ways, against a running server with another client.
//!
//! The attacker owns a pebble: a controller without abilities that no other client receives. It may change the pebble; every
//! other controller is compared with a server without the attacker.

use super::rig::{LENGTH, payload, rules};
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Anchor, Answer, ControllerId, Hit, InputId, NoHost, Op, Rules, Sim, SimConfig, SpawnSpec, Spec,
    TagId, Target, TaskKey,
};
use ugas_doc::ControllerReplication;
use ugas_net::authority::RejectReason;
use ugas_net::client::{Client, ClientConfig};
use ugas_net::message::{Command, PROTOCOL, Request, ToServer};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::{PeerId, Tick};

/// Packets of one seed.
const PACKETS: u64 = 100_000;
/// Packets between two comparisons.
const COMPARED: u64 = 10_000;
/// Packets in one tick; the server's limits are put so that it reads them all.
const A_TICK: u64 = 32;
/// The packets after which the attacker reconnects, since a rejected connection does not test what follows.
const A_LIFE: u64 = 128;
const ANN: PeerId = PeerId(1);

struct Session {
    server: Server,
    ann: Client,
    rules: Arc<Rules>,
    hero: ControllerId,
    foe: ControllerId,
    pebble: ControllerId,
}

impl Session {
    fn new() -> Session {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let vitals = rules.set("Vitals").unwrap();
        let [hero, foe, pebble] = [0.0, 10.0, 20.0].map(|x| {
            let anchor = Some(Anchor::at([x, 0.0, 0.0]));
            sim.spawn(SpawnSpec { anchor, ..SpawnSpec::sets([vitals]) }).unwrap()
        });
        for (ability, _) in rules.ability_list() {
            sim.run(Op::Grant { who: hero, grant: AbilityGrant::new(ability) }).unwrap();
        }
        let (packets, commands) = (A_TICK as u32, 256);
        let mode = ControllerReplication::Full;
        let mut server = Server::new(
            sim,
            ServerConfig {
                replication: mode,
                tick_length: LENGTH,
                packets_per_tick: packets,
                commands_per_tick: commands,
                ..ServerConfig::default()
            },
            Secret::known(1),
        );
        server.connect(ANN, &[hero]).unwrap();
        let ann = Client::new(rules.clone(), ClientConfig::default());
        Session { server, ann, rules, hero, foe, pebble }
    }

    /// Runs a tick: Ann plays, the host runs ops, the attacker receives nothing.
    fn step(&mut self, mut on_datagram: impl FnMut(PeerId, &[u8])) {
        let Session { server, ann, rules, hero, foe, .. } = self;
        if server.tick().0 % 50 == 7 {
            let hit = Spec::new(rules.effect("GE_Beam").unwrap(), *hero).from(*foe);
            server.sim_mut().apply(&hit).unwrap();
        }
        server.step(&mut NoHost);
        server.send(&mut |peer, datagram| match peer {
            ANN => ann.receive(datagram),
            other => on_datagram(other, datagram),
        });
        ann.update(LENGTH);
        let name = ["GA_Jab", "GA_Dash"][server.tick().0 as usize / 20 % 2];
        if server.tick().0 % 20 == 5 {
            let ability = rules.ability(name).unwrap();
            // Fails before she has joined.
            let _ = ann.command(Request::Activate { who: *hero, ability, target: Target::Controller(*foe) });
        }
        ann.send(&mut |datagram| server.receive(ANN, datagram));
    }

    /// The state that must not depend on the attacker.
    fn others(&self) -> (u64, u64, Option<u64>, ugas_net::client::ClientCounts) {
        let row = |who| self.server.sim().row_hash(who).unwrap();
        (row(self.hero), row(self.foe), self.ann.confirmed_hash(self.hero), self.ann.counts())
    }
}

/// Records the packets of a valid client that owns the pebble.
fn record() -> Vec<Vec<u8>> {
    let mut session = Session::new();
    let (eve, who) = (PeerId(2), session.pebble);
    session.server.connect(eve, &[who]).unwrap();
    let mut client = Client::new(session.rules.clone(), ClientConfig::default());
    let mut recorded = Vec::new();
    for tick in 0..160u32 {
        let mut down = Vec::new();
        session.step(|_, datagram| down.push(datagram.to_vec()));
        down.iter().for_each(|datagram| client.receive(datagram));
        client.update(LENGTH);
        let asks = [
            Request::Press { who, input: InputId(tick % 3), target: Target::Controller(session.foe) },
            Request::Release { who, input: InputId(tick % 3) },
            Request::Move { who, anchor: Anchor::at([f64::from(tick), 1.5, -3.0]) },
        ];
        for ask in asks.into_iter().take(tick as usize % 4) {
            // Fails before it has joined.
            let _ = client.command(ask);
        }
        client.send(&mut |datagram| {
            recorded.push(datagram.to_vec());
            session.server.receive(eve, datagram);
        });
    }
    assert!(session.server.playing().count() == 2 && recorded.len() > 150);
    recorded
}

/// Steps of SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn number(&mut self) -> f64 {
        let some = [0.0, 1.0, -1.0, 1e9, 1e300, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 2.0];
        if self.below(3) == 0 { f64::from_bits(self.next()) } else { *self.of(&some) }
    }
}

/// Returns a random request for a random controller.
fn random_request(chance: &mut Chance, session: &Session) -> Request {
    let all = [session.pebble, session.pebble, session.hero, session.foe, ControllerId(99), ControllerId::NONE];
    let (who, target) = (*chance.of(&all), *chance.of(&all));
    let ability = ugas_core::AbilityId(chance.below(14) as u32);
    let effect = ugas_core::EffectId(chance.below(8) as u32);
    let point = [chance.number(), chance.number(), chance.number()];
    let aim = *chance.of(&[Target::None, Target::Controller(target), Target::Point(point)]);
    let input = InputId(chance.below(4) as u32);
    match chance.below(9) {
        0 => Request::Press { who, input, target: aim },
        1 => Request::Release { who, input },
        2 => Request::Activate { who, ability, target: aim },
        3 => Request::Cancel { who, ability },
        4 => Request::End { who, ability },
        5 => Request::Commit { who, ability },
        6 => Request::Apply { who, ability, effect, target },
        7 => {
            let hit = Hit { position: Some(point), distance: Some(chance.number()), tags: vec![TagId(input.0)] };
            let targets = vec![target; chance.below(80)];
            let answer = Answer { fail: chance.below(2) == 0, targets, hit: Some(hit), value: chance.number() };
            Request::Complete { key: TaskKey { seq: chance.below(50) as u64, who }, answer }
        }
        _ => Request::Move { who, anchor: Anchor { position: point, facing: [chance.number(), 0.0, 1.0] } },
    }
}

fn mutate(chance: &mut Chance, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len());
        match chance.below(8) {
            0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << chance.below(8),
            2 if !bytes.is_empty() => bytes[at] = *chance.of(&[0, 1, 127, 128, 254, 255]),
            3 => bytes.insert(at.min(bytes.len()), chance.next() as u8),
            4 if !bytes.is_empty() => drop(bytes.remove(at)),
            5 => bytes.truncate(at),
            6 => {
                let other = chance.of(others);
                let (from, to) = (chance.below(other.len()), chance.below(other.len()));
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from.min(to)..from.max(to)]);
            }
            _ => bytes.extend((0..chance.below(40)).map(|n| (n * 37) as u8)),
        }
    }
}

/// Returns a datagram with a valid header and this content.
fn fresh(number: u64, tick: Tick, is_reliable: bool, rest: &[u8]) -> Vec<u8> {
    let mut out = vec![1 << 6 | u8::from(is_reliable) << 1];
    out.extend_from_slice(&number.to_le_bytes()[..6]);
    out.extend_from_slice(&tick.0.to_le_bytes());
    out.extend_from_slice(rest);
    out
}

/// The attacker, across its connections.
struct Attacker {
    peer: PeerId,
    number: u64,
    base: u32,
    sequence: u16,
    hello: Vec<u8>,
}

impl Attacker {
    fn new(peer: PeerId, rules: &Rules) -> Attacker {
        let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules.fingerprint(), padding: vec![0; 256] };
        Attacker { peer, number: 0, base: 0, sequence: 1, hello: hello.to_bytes() }
    }

    fn datagram(&mut self, chance: &mut Chance, session: &Session, recorded: &[Vec<u8>]) -> Vec<u8> {
        self.number += 1;
        let tick = session.server.tick();
        match chance.below(8) {
            // As it was recorded, header and all.
            0 => {
                let mut bytes = chance.of(recorded).clone();
                mutate(chance, &mut bytes, recorded);
                bytes
            }
            // The content of a recorded packet after a valid header.
            1 => {
                let old = chance.of(recorded);
                let mut rest = old.get(9..).unwrap_or_default().to_vec();
                mutate(chance, &mut rest, recorded);
                fresh(self.number, tick, chance.below(8) == 0, &rest)
            }
            // A reliable message: a hello, or a part of it.
            2 => {
                let mut message = self.hello.clone();
                if chance.below(2) == 0 {
                    mutate(chance, &mut message, recorded);
                }
                message.truncate(480);
                let mut section = vec![1];
                section.extend_from_slice(&self.sequence.to_le_bytes());
                section.extend_from_slice(&((message.len() as u16) << 1 | 1).to_le_bytes());
                section.extend_from_slice(&message);
                self.sequence = self.sequence.wrapping_add(1);
                fresh(self.number, tick, true, &section)
            }
            // Random commands, mutated or not.
            _ => {
                let count = 1 + chance.below(3);
                let commands: Vec<Vec<u8>> = (0..count)
                    .map(|_| {
                        self.base += 1;
                        let any = tick.plus(chance.below(80) as u32).minus(10);
                        let tick = if chance.below(32) == 0 { any } else { tick.plus(1) };
                        let request = random_request(chance, session);
                        let command = Command { tick, base: self.base, sub: 0, request, aim: None };
                        let mut bytes = command.to_bytes();
                        if chance.below(3) == 0 {
                            mutate(chance, &mut bytes, recorded);
                        }
                        bytes
                    })
                    .collect();
                let mut rest = payload(&commands);
                if chance.below(3) == 0 {
                    mutate(chance, &mut rest, recorded);
                }
                fresh(self.number, tick, false, &rest)
            }
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// `UGAS_SOAK=1` sends as many packets as there are seeds, a hundred thousand for each, to one server.
#[test]
fn mutated_packets_change_nothing_but_the_counts() {
    let soak = number("UGAS_SOAK") == Some(1);
    let from = number("UGAS_SOAK_FROM").filter(|_| soak).unwrap_or(0);
    let seeds = if soak { number("UGAS_SOAK_SEEDS").unwrap_or(10) } else { 1 };
    let recorded = record();
    let (mut calm, mut hit) = (Session::new(), Session::new());
    for _ in 0..120 {
        calm.step(|_, _| ());
        hit.step(|_, _| ());
    }
    let (mut attacker, mut most_held) = (Attacker::new(ANN, &hit.rules), 0);
    for seed in from..from + seeds {
        let mut chance = Chance(seed);
        for packet in 1..=PACKETS {
            if packet % A_LIFE == 1 {
                if attacker.peer != ANN {
                    hit.server.disconnect(attacker.peer);
                }
                attacker = Attacker::new(PeerId(attacker.peer.0 + 1), &hit.rules);
                hit.server.connect(attacker.peer, &[hit.pebble]).unwrap();
                // One connection in eight starts with a mutated hello.
                if chance.below(8) > 0 {
                    hit.server.receive(attacker.peer, &recorded[0]);
                }
            }
            let datagram = attacker.datagram(&mut chance, &hit, &recorded);
            hit.server.receive(attacker.peer, &datagram);
            if packet % A_TICK == 0 {
                calm.step(|_, _| ());
                hit.step(|_, _| ());
                most_held = most_held.max(hit.server.retained());
            }
            if packet % COMPARED == 0 {
                assert_eq!(hit.others(), calm.others(), "seed {seed}, packet {packet}");
            }
        }
    }
    assert!(most_held < super::rig::MOST_HELD, "{most_held} held");
    let counts = hit.server.counts();
    let deep = [
        RejectReason::Authority,
        RejectReason::Ability,
        RejectReason::Number,
        RejectReason::Task,
        RejectReason::Payload,
        RejectReason::Packet,
    ];
    for reason in deep.into_iter().chain([
        RejectReason::Future,
        RejectReason::Past,
        RejectReason::Key,
        RejectReason::Message,
        RejectReason::Target,
    ]) {
        assert!(counts.of(reason) >= 30, "too few packets are rejected as {reason:?}: {counts:?}");
    }
    assert!(hit.server.sim().get(hit.foe, hit.rules.attribute("Health").unwrap()).unwrap() < 1000.0, "Ann does play");
    if soak {
        let to = from + seeds;
        let cases = seeds * PACKETS;
        println!("soak: name=mutated_packets_change_nothing_but_the_counts seeds={from}..{to} cases={cases}");
    }
}
