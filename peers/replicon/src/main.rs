//! bevy_replicon on the change schedule of the network figures: so many actors with eight values of which two change in
//! every tick, so many clients that all see all of them. It does so in its two forms: one component that holds all eight
//! values, and eight components with one each. Prints a name and a number on each line, for `ugas-bench net --peer`.
//!
//! The plan of changes is that of `benches/src/net/arena.rs`. Values are integers of ten bits, in the encoding the crate
//! gives them. Time is CPU time of the server's update without receiving, in which it gathers and writes messages; least
//! tenth of the ticks. With the argument `crowd`, the program measures the crowd of `benches/src/net/crowd.rs` instead,
//! for `ugas-bench crowd --peer`.

mod count;
mod crowd;

use bevy_app::{App, PluginGroup, PostUpdate, PreUpdate, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_replicon::{prelude::*, test_app::ServerTestAppExt};
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use serde::{Deserialize, Serialize};

const VALUES: usize = 8;
const UDP: usize = 28;

#[derive(Component, Serialize, Deserialize, Clone, Copy)]
struct All([u16; VALUES]);

#[derive(Component, Serialize, Deserialize, Clone, Copy)]
struct Value<const N: usize>(u16);

/// Which two values of an actor change in a tick, and to what.
fn changes(actor: usize, tick: usize) -> [(usize, u16); 2] {
    let value = |salt: usize| ((actor * 7 + tick * 13 + salt * 401) % 1000) as u16;
    [((actor + tick) % VALUES, value(1)), ((actor + tick + 3) % VALUES, value(2))]
}

/// When the server had received everything in this update, and the allocations until then. Receiving is not measured.
#[derive(Resource, Default)]
struct Received {
    at: u64,
    allocations: usize,
}

fn note_received(mut received: ResMut<Received>) {
    *received = Received { at: count::nanoseconds(), allocations: count::allocations() };
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, StatesPlugin));
    app.add_plugins(RepliconPlugins.set(ServerPlugin::new(PostUpdate)));
    app.replicate::<All>();
    app.replicate::<Value<0>>().replicate::<Value<1>>().replicate::<Value<2>>().replicate::<Value<3>>();
    app.replicate::<Value<4>>().replicate::<Value<5>>().replicate::<Value<6>>().replicate::<Value<7>>();
    app.replicate::<crowd::Pose>();
    app.init_resource::<Received>().add_systems(PreUpdate, note_received.after(ServerSystems::Receive));
    app.finish();
    app
}

/// Sets a value of an actor.
fn set(world: &mut World, who: Entity, one: bool, value: usize, to: u16) {
    let mut entity = world.entity_mut(who);
    if one {
        entity.get_mut::<All>().expect("spawned with it").0[value] = to;
        return;
    }
    match value {
        0 => entity.get_mut::<Value<0>>().expect("spawned with it").0 = to,
        1 => entity.get_mut::<Value<1>>().expect("spawned with it").0 = to,
        2 => entity.get_mut::<Value<2>>().expect("spawned with it").0 = to,
        3 => entity.get_mut::<Value<3>>().expect("spawned with it").0 = to,
        4 => entity.get_mut::<Value<4>>().expect("spawned with it").0 = to,
        5 => entity.get_mut::<Value<5>>().expect("spawned with it").0 = to,
        6 => entity.get_mut::<Value<6>>().expect("spawned with it").0 = to,
        _ => entity.get_mut::<Value<7>>().expect("spawned with it").0 = to,
    }
}

#[derive(Default)]
struct Found {
    datagrams: usize,
    bytes: usize,
    allocations: usize,
    updates: Vec<u64>,
}

struct Arena {
    server: App,
    clients: Vec<App>,
    actors: Vec<Entity>,
    one: bool,
    tick: usize,
}

impl Arena {
    fn new(actors: usize, clients: usize, one: bool) -> Arena {
        let mut server = app();
        let mut clients: Vec<App> = (0..clients).map(|_| app()).collect();
        for client in &mut clients {
            server.connect_client(client);
        }
        let world = server.world_mut();
        let spawn = |_| match one {
            true => world.spawn((Replicated, All([100; VALUES]))).id(),
            false => {
                let first = (Value::<0>(100), Value::<1>(100), Value::<2>(100), Value::<3>(100));
                let second = (Value::<4>(100), Value::<5>(100), Value::<6>(100), Value::<7>(100));
                world.spawn((Replicated, first, second)).id()
            }
        };
        let actors = (0..actors).map(spawn).collect();
        let mut arena = Arena { server, clients, actors, one, tick: 0 };
        for _ in 0..30 {
            arena.tick(true, &mut Found::default());
        }
        arena
    }

    fn change(&mut self) {
        self.tick += 1;
        let world = self.server.world_mut();
        for (at, &who) in self.actors.iter().enumerate() {
            changes(at, self.tick).into_iter().for_each(|(value, to)| set(world, who, self.one, value, to));
        }
    }

    fn tick(&mut self, dirty: bool, found: &mut Found) {
        if dirty {
            self.change();
        }
        self.server.update();
        let done = count::nanoseconds();
        let received = self.server.world().resource::<Received>();
        found.updates.push(done - received.at);
        found.allocations += count::allocations() - received.allocations;
        let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
        messages.retain_sent(|(_, _, message)| {
            found.datagrams += 1;
            found.bytes += message.len();
            true
        });
        for client in &mut self.clients {
            self.server.exchange_with_client(client);
            client.update();
            self.server.exchange_with_client(client);
        }
    }
}

/// Sixty ticks.
fn measure(actors: usize, clients: usize, one: bool, dirty: bool) -> (Found, f64) {
    let mut arena = Arena::new(actors, clients, one);
    if !dirty {
        (0..30).for_each(|_| arena.tick(false, &mut Found::default()));
    }
    let mut found = Found::default();
    (0..60).for_each(|_| arena.tick(dirty, &mut found));
    found.updates.sort();
    let least = found.updates[6] as f64;
    (found, least)
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("crowd") {
        return crowd::run();
    }
    for (form, one) in [("one", true), ("eight", false)] {
        let (found, _) = measure(100, 1, one, true);
        println!("{form}_bytes {}", found.bytes as f64 / 60.0 / 100.0);
        println!("{form}_kilobits {}", found.bytes as f64 * 8.0 / 1000.0);
        println!("{form}_kilobits_with_headers {}", (found.bytes + found.datagrams * UDP) as f64 * 8.0 / 1000.0);
        let (found, _) = measure(1000, 1, one, false);
        println!("{form}_unchanged {}", found.bytes as f64 / 60.0);
        let (found, least) = measure(32, 32, one, true);
        println!("{form}_send {}", least / 1e3 / 32.0);
        println!("{form}_allocations {}", found.allocations as f64 / 60.0);
        let (_, least) = measure(100, 100, one, true);
        println!("{form}_tick {}", least / 1e6);
    }
}
