//! The crowd of `benches/src/net/crowd.rs`: 200 clients × 2,000 actors that move and change, loss, churn, and clients
//! that join at once.
//!
//! What is the same: the numbers of clients and actors, the paths of the actors, the plan of changes, the distances at
//! which an actor becomes visible and invisible, the latency of 30 ms in each direction (two ticks), the share of lost
//! datagrams, the order of the loads, and the ticks before and during each measurement. Positions are rounded to the
//! same integers. The time is that of the server without receiving: the choice of what each client sees, and the
//! collection and writing of all messages.
//!
//! What differs, because the crate has no counterpart or leaves it to a backend:
//! - bevy_replicon has no distance filter. A system of this program compares the distances and sets
//!   `ClientVisibility`, as the documentation of `ClientVisibility::set` shows. Its time is part of the tick.
//! - A client does not own an actor and does not predict it. Its actor is moved by the server and sent to it as to all.
//! - Only mutations are lost. The channel of spawns, despawns and acknowledgements is reliable; a backend would resend
//!   lost datagrams, which costs bytes and time that are not counted here.
//! - A message is counted with the IP and UDP headers of the datagrams it needs, but without the header of a backend.
//! - Every change is sent in its tick, without a limit of the bandwidth. `ugas-bench crowd` measures this too.

use crate::{All, Received, UDP, VALUES, Value, app, changes, count};
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_replicon::bytes::Bytes;
use bevy_replicon::prelude::*;
use bevy_replicon::server::visibility::client_visibility::ClientVisibility;
use bevy_replicon::server::visibility::filters_mask::FilterBit;
use bevy_replicon::server::visibility::registry::FilterRegistry;
use bevy_replicon::shared::backend::channels::ServerChannel;
use bevy_replicon::shared::replication::registry::ReplicationRegistry;
use bevy_state::prelude::NextState;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

const SIDE: f64 = 2000.0;
const NEAR: (f64, f64) = (200.0, 220.0);
const LOSS: f64 = 0.02;
const CLIENTS: usize = 200;
const ACTORS: usize = 2000;
/// The number of the first client's own actor in the plan of paths.
const OWN: usize = 100_000;
/// The ticks from sending to receiving.
const LATENCY: usize = 2;
const DATAGRAM: usize = 1200;

/// A position in steps of 1/64, and a facing in steps of 1/127.
#[derive(Component, Serialize, Deserialize, Clone, Copy)]
pub struct Pose {
    position: [i32; 3],
    facing: [i8; 3],
}

/// Returns where an actor is in a tick, as `benches/src/net/crowd.rs` does: the position, and the rounded pose.
fn place(actor: usize, tick: usize) -> ([f64; 3], Pose) {
    let center = |salt: usize| (actor.wrapping_mul(salt) % 10_007) as f64 / 10_007.0 * SIDE;
    let time = tick as f64 / 60.0 / 4.0 + actor as f64 * 0.37;
    let wave = |shift: f64| ((time + shift).rem_euclid(4.0) - 2.0).abs() - 1.0;
    let (x, z) = (wave(0.0), wave(1.0));
    let length = (x * x + z * z).sqrt();
    let position = [center(7_919) + x * 20.0, 0.0, center(6_007) + z * 20.0];
    let facing = [x / length, 0.0, z / length].map(|v| (v * 127.0).round_ties_even() as i8);
    (position, Pose { position: position.map(|v| (v * 64.0).round_ties_even() as i32), facing })
}

/// What happens in each tick.
#[derive(Clone, Copy, Default)]
struct Load {
    moves: bool,
    changes: bool,
    churn: usize,
}

/// What the visibility depends on.
#[derive(Resource)]
struct Near {
    bit: FilterBit,
    /// The actors, then the own actors of the clients.
    actors: Vec<(Entity, [f64; 3])>,
    /// Actors that were spawned in this tick.
    new: Vec<usize>,
    clients: Vec<Viewer>,
}

struct Viewer {
    entity: Entity,
    /// The index of its own actor.
    own: usize,
    /// Which actors it sees; empty until it has joined.
    seen: Vec<bool>,
}

/// Shows each client the actors that are near its own.
fn update_visibility(mut near: ResMut<Near>, mut clients: Query<&mut ClientVisibility>) {
    let Near { bit, actors, new, clients: viewers } = &mut *near;
    for viewer in viewers {
        let Ok(mut visibility) = clients.get_mut(viewer.entity) else { continue };
        // Everything is visible to a client by default.
        let is_new = viewer.seen.is_empty();
        viewer.seen.resize(actors.len(), false);
        let from = actors[viewer.own].1;
        let is_near = |to: [f64; 3], seen: bool| {
            let [x, y, z] = [from[0] - to[0], from[1] - to[1], from[2] - to[2]];
            let limit = if seen { NEAR.1 } else { NEAR.0 };
            x * x + y * y + z * z <= limit * limit
        };
        for &at in new.iter() {
            viewer.seen[at] = is_near(actors[at].1, false);
            visibility.set(actors[at].0, *bit, viewer.seen[at]);
        }
        for (&(entity, to), seen) in actors.iter().zip(&mut viewer.seen) {
            let now = is_near(to, *seen);
            if now != *seen || is_new {
                *seen = now;
                visibility.set(entity, *bit, now);
            }
        }
    }
    new.clear();
}

/// What a load costs.
struct Cost {
    tick: f64,
    worst: f64,
    full: f64,
    kilobits: f64,
    allocations: f64,
}

/// The messages in flight in one direction: the tick of arrival, the channel and the message.
type Queue = VecDeque<(usize, usize, Bytes)>;

struct Player {
    app: App,
    entity: Entity,
    up: Queue,
    down: Queue,
}

struct Crowd {
    server: App,
    players: Vec<Player>,
    /// The index of the player of each client.
    numbers: HashMap<Entity, usize>,
    one: bool,
    tick: usize,
    random: u64,
    /// The messages of the last tick: the client, the channel and the length.
    sent: Vec<(Entity, usize, usize)>,
}

impl Crowd {
    fn new(one: bool) -> Crowd {
        let mut server = app();
        let world = server.world_mut();
        world.resource_mut::<NextState<ServerState>>().as_mut().set_if_neq(ServerState::Running);
        let bit = world.resource_scope(|world, mut filters: Mut<FilterRegistry>| {
            world.resource_scope(|world, mut registry: Mut<ReplicationRegistry>| {
                filters.register_scope::<Entity>(world, &mut registry, ScopeLifetime::WhileVisible)
            })
        });
        world.insert_resource(Near { bit, actors: Vec::new(), new: Vec::new(), clients: Vec::new() });
        server.add_systems(Update, update_visibility);
        let (players, numbers, sent) = (Vec::new(), HashMap::new(), Vec::new());
        let mut crowd = Crowd { server, players, numbers, one, tick: 0, random: 1, sent };
        for at in 0..ACTORS {
            let actor = crowd.spawn(at);
            crowd.server.world_mut().resource_mut::<Near>().actors.push(actor);
        }
        for _ in 0..30 {
            crowd.server.update();
        }
        crowd
    }

    fn spawn(&mut self, at: usize) -> (Entity, [f64; 3]) {
        let (position, pose) = place(at, self.tick);
        let world = self.server.world_mut();
        if self.one {
            return (world.spawn((Replicated, pose, All([100; VALUES]))).id(), position);
        }
        let first = (Value::<0>(100), Value::<1>(100), Value::<2>(100), Value::<3>(100));
        let second = (Value::<4>(100), Value::<5>(100), Value::<6>(100), Value::<7>(100));
        (world.spawn((Replicated, pose, first, second)).id(), position)
    }

    /// Connects all clients at once. They are authorized when their first message arrives.
    fn join(&mut self) {
        for at in 0..CLIENTS {
            let own = self.spawn(OWN + at);
            let entity = self.server.world_mut().spawn(ConnectedClient { max_size: DATAGRAM }).id();
            let mut client = app();
            client.world_mut().resource_mut::<NextState<ClientState>>().as_mut().set_if_neq(ClientState::Connected);
            let mut near = self.server.world_mut().resource_mut::<Near>();
            near.actors.push(own);
            let own = near.actors.len() - 1;
            near.clients.push(Viewer { entity, own, seen: Vec::new() });
            self.numbers.insert(entity, at);
            self.players.push(Player { app: client, entity, up: Queue::new(), down: Queue::new() });
        }
    }

    fn change(&mut self, load: Load) {
        self.tick += 1;
        for n in 0..load.churn {
            let at = (self.tick * load.churn + n) * 7 % ACTORS;
            let new = self.spawn(at);
            let world = self.server.world_mut();
            let mut near = world.resource_mut::<Near>();
            let old = std::mem::replace(&mut near.actors[at], new);
            near.new.push(at);
            world.despawn(old.0);
        }
        let count = if load.moves { ACTORS + self.players.len() } else { ACTORS };
        for at in 0..count {
            let world = self.server.world_mut();
            let who = world.resource::<Near>().actors[at].0;
            if load.moves {
                let (position, pose) = place(if at < ACTORS { at } else { OWN + at - ACTORS }, self.tick);
                world.resource_mut::<Near>().actors[at].1 = position;
                *world.entity_mut(who).get_mut::<Pose>().expect("spawned with it") = pose;
            }
            if load.changes && at < ACTORS {
                let changed = changes(at, self.tick);
                changed.into_iter().for_each(|(value, to)| crate::set(world, who, self.one, value, to));
            }
        }
    }

    /// Runs the server. Returns the milliseconds after receiving.
    fn serve(&mut self) -> f64 {
        self.server.update();
        let done = count::nanoseconds();
        (done - self.server.world().resource::<Received>().at) as f64 / 1e6
    }

    /// Delivers the messages and runs the clients.
    fn answer(&mut self) {
        let (due, now) = (self.tick + LATENCY, self.tick);
        self.sent.clear();
        let sent: Vec<_> = self.server.world_mut().resource_mut::<ServerMessages>().drain_sent().collect();
        for (to, channel, message) in sent {
            self.sent.push((to, channel, message.len()));
            if channel != usize::from(ServerChannel::Mutations) || !self.loses() {
                self.players[self.numbers[&to]].down.push_back((due, channel, message));
            }
        }
        for Player { app, entity, up, down } in &mut self.players {
            let mut messages = app.world_mut().resource_mut::<ClientMessages>();
            while let Some((_, channel, message)) = down.pop_front_if(|message| message.0 <= now) {
                messages.insert_received(channel, message);
            }
            app.update();
            let mut messages = app.world_mut().resource_mut::<ClientMessages>();
            up.extend(messages.drain_sent().map(|(channel, message)| (due, channel, message)));
            let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
            while let Some((_, channel, message)) = up.pop_front_if(|message| message.0 <= now) {
                messages.insert_received(*entity, channel, message);
            }
        }
    }

    /// Returns whether a datagram is lost.
    fn loses(&mut self) -> bool {
        // SplitMix64, as in the simulated link.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64) < LOSS
    }

    /// Measures ticks with this load, after the same number of ticks that are not measured.
    fn measure(&mut self, load: Load, ticks: usize) -> Cost {
        for _ in 0..ticks {
            self.change(load);
            self.serve();
            self.answer();
        }
        self.measure_now(load, ticks)
    }

    fn measure_now(&mut self, load: Load, ticks: usize) -> Cost {
        let (mut least, mut worst, mut allocations, mut bytes) = (f64::MAX, 0f64, 0, 0);
        let mut full = Vec::new();
        for _ in 0..ticks {
            self.change(load);
            let time = self.serve();
            allocations += count::allocations() - self.server.world().resource::<Received>().allocations;
            (least, worst) = (least.min(time), worst.max(time));
            self.answer();
            bytes += self.sent.iter().map(|(.., length)| length + length.div_ceil(DATAGRAM) * UDP).sum::<usize>();
            let mutations = self.sent.iter().filter(|sent| sent.1 == usize::from(ServerChannel::Mutations));
            let pairs = mutations.clone().zip(mutations.skip(1)).filter(|(a, b)| a.0 == b.0);
            full.extend(pairs.map(|(a, _)| a.2 as f64 / DATAGRAM as f64));
        }
        Cost {
            tick: least,
            worst,
            full: full.iter().fold(0.0, |sum, full| sum + full) / full.len().max(1) as f64,
            kilobits: bytes as f64 * 8.0 / 1000.0 / (ticks as f64 / 60.0) / CLIENTS as f64,
            allocations: allocations as f64 / ticks as f64,
        }
    }
}

/// Prints the figures of both forms.
pub fn run() {
    for (form, one) in [("one", true), ("eight", false)] {
        let print = |load: &str, cost: Cost| {
            println!("{form}_{load}_crowd_tick {}", cost.tick);
            println!("{form}_{load}_crowd_worst {}", cost.worst);
            println!("{form}_{load}_crowd_full {}", cost.full);
            println!("{form}_{load}_crowd_kilobits {}", cost.kilobits);
            println!("{form}_{load}_crowd_allocations {}", cost.allocations);
        };
        let mut crowd = Crowd::new(one);
        crowd.join();
        let still = Load::default();
        let all = Load { moves: true, changes: true, churn: 0 };
        print("join", crowd.measure_now(still, 120));
        print("still", crowd.measure(still, 60));
        print("churn_1", crowd.measure(Load { churn: 1, ..still }, 60));
        print("churn_50", crowd.measure(Load { churn: 50, ..still }, 60));
        print("all", crowd.measure(all, 60));
        print("all_churn_50", crowd.measure(Load { churn: 50, ..all }, 60));
    }
}
