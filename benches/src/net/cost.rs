//! The time and the allocations of the server.

use super::arena::Arena;
use crate::{alloc, clock};
use ugas_core::{ControllerId, NoHost};

/// The cost of the server's part of a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Microseconds of sending per client, the minimum over all ticks.
    pub(crate) send: f64,
    /// Milliseconds of a whole tick without receiving: collecting the changes once and sending them.
    pub(crate) tick: f64,
    /// The average number of allocations in a tick, for collecting and sending.
    pub(crate) allocations: f64,
}

/// Sends this many actors to this many clients, all changing or all unchanged.
pub(crate) fn of(actors: usize, clients: usize, dirty: bool, owned: bool) -> Cost {
    let mut arena = Arena::new(actors, clients);
    let mut whom: Vec<ControllerId> = if dirty { arena.actors.clone() } else { Vec::new() };
    if owned {
        whom.extend(&arena.own);
    }
    (0..30).for_each(|_| arena.tick(&whom));
    let (mut sends, mut ticks, mut allocations) = (Vec::new(), Vec::new(), 0);
    for _ in 0..60 {
        arena.change(&whom);
        let (counted, begun) = (alloc::allocations(), clock::nanoseconds());
        arena.server.step(&mut NoHost);
        let stepped = clock::nanoseconds();
        arena.send();
        let sent = clock::nanoseconds();
        allocations += alloc::allocations() - counted;
        sends.push((sent - stepped) as f64);
        ticks.push((sent - begun) as f64);
        arena.answer();
    }
    let least = |mut list: Vec<f64>| {
        list.sort_by(f64::total_cmp);
        // The tenth percentile, because a busy machine disturbs the slower ticks.
        list[list.len() / 10]
    };
    Cost { send: least(sends) / 1e3 / clients as f64, tick: least(ticks) / 1e6, allocations: allocations as f64 / 60.0 }
}
