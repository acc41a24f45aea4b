//! The countable limits of the network figures: bytes, and no allocation in a steady tick of the server.
//! This program counts allocations, and holds this one test alone.

#[path = "../src/alloc.rs"]
#[allow(dead_code)]
mod alloc;
#[path = "../src/net/arena.rs"]
#[allow(dead_code)]
mod arena;
#[path = "../src/clock.rs"]
mod clock;
#[path = "../src/net/crowd.rs"]
#[allow(dead_code)]
mod crowd;

use arena::{Arena, UDP};
use crowd::{Crowd, Load, Sending};
use ugas_core::NoHost;

/// The ticks after which an actor of the crowd is where it was.
const PATH_TICKS: usize = 960;

/// Datagrams, bytes and allocations of the server in a second in which two values of each of these change.
fn second(arena: &mut Arena, whom: &[ugas_core::ControllerId]) -> (usize, usize, usize) {
    (0..60).for_each(|_| arena.tick(whom));
    let (mut datagrams, mut bytes, mut allocations) = (0, 0, 0);
    for _ in 0..60 {
        arena.change(whom);
        let before = alloc::allocations();
        arena.server.step(&mut NoHost);
        arena.send();
        allocations += alloc::allocations() - before;
        arena.answer();
        datagrams += arena.sent.0;
        bytes += arena.sent.1;
    }
    (datagrams, bytes, allocations)
}

#[test]
fn a_hundred_actors_stay_below_the_bandwidth_limit_and_a_steady_tick_does_not_allocate() {
    let mut crowd = Arena::new(100, 1);
    let whom = crowd.actors.clone();
    let (datagrams, bytes, _) = second(&mut crowd, &whom);
    let kilobits = (bytes + datagrams * UDP) as f64 * 8.0 / 1000.0;
    assert!(kilobits <= 256.0, "{kilobits} kbit/s for a hundred actors with two changes at 60 Hz");

    let (_, with, _) = second(&mut Arena::new(1000, 1), &[]);
    let (_, without, _) = second(&mut Arena::new(0, 1), &[]);
    assert_eq!(with, without, "an unchanged actor takes no byte");

    let (_, bare, _) = second(&mut Arena::with_owners(0, 1, false), &[]);
    assert_eq!(without, bare, "an owner that played right takes no byte more than a client that owns nothing");

    let mut own = Arena::new(0, 1);
    let whom = own.own.clone();
    let (_, changed, _) = second(&mut own, &whom);
    let each = (changed as f64 - without as f64) / 60.0;
    assert!(each <= 12.0, "{each} bytes for two exact values of an owner");

    let mut still = Arena::new(32, 8);
    let (_, _, allocations) = second(&mut still, &[]);
    assert_eq!(allocations, 0, "in a second in which nothing changes");
    let whom = still.actors.clone();
    let (_, _, allocations) = second(&mut still, &whom);
    assert_eq!(allocations, 0, "in a second in which everything changes");

    let kilobits = crowd::movers(100);
    assert!(kilobits <= 300.0, "{kilobits} kbit/s for a hundred actors that move at 60 Hz");

    // The memory of a list grows when it is longer than ever before, so the actors first walk their whole path once.
    let mut crowd = Crowd::new(200, Sending::Default);
    crowd.join(4, 0.0);
    let all = Load { moves: true, changes: true, churn: 0 };
    let moving = crowd.measure(all, PATH_TICKS);
    assert_eq!(moving.allocations, 0.0, "while everything moves and changes");
    crowd.measure(Load { churn: 5, ..all }, PATH_TICKS);
    let churn = crowd.measure(Load { churn: 5, ..all }, PATH_TICKS);
    assert_eq!(churn.allocations, 0.0, "while actors are spawned and despawned too");
}
