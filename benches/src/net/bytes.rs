//! Counts the bytes of packets. The counts are the same in every run.

use super::arena::{Arena, UDP};
use ugas_core::{ControllerId, Spec};
use ugas_doc::ControllerReplication;
use ugas_net::internals::view::{ActorList, ReplicationStore};
use ugas_net::internals::wire::bits::BitWriter;
use ugas_net::types::Tick;

/// The counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireBytes {
    /// WireBytes for one of a hundred actors, of which two of eight ten-bit values changed, including its id.
    pub(crate) observer: f64,
    /// WireBytes that two exact values for the owner add to a packet.
    pub(crate) owner: f64,
    /// WireBytes of the owner's part if the hashes match.
    pub(crate) matched: f64,
    /// WireBytes of an added tag, including the actor's id.
    pub(crate) tag: f64,
    /// WireBytes that a thousand unchanged actors add to a packet.
    pub(crate) unchanged: f64,
    /// Kilobits per second of a hundred actors with two changes each at 60 Hz, with all headers.
    pub(crate) kilobits: f64,
    /// The same kilobits per second without IP and UDP headers.
    pub(crate) payload_kilobits: f64,
}

pub(crate) fn count() -> WireBytes {
    let (kilobits, payload_kilobits) = stream(100);
    let idle = mean(&mut Arena::new(0, 1), |_| Vec::new());
    let owner = mean(&mut Arena::new(0, 1), |arena| arena.own.clone());
    let crowded = mean(&mut Arena::new(1000, 1), |_| Vec::new());
    let (observer, tag) = sections();
    let matched = idle - bare();
    WireBytes { observer, owner: owner - idle, matched, tag, unchanged: crowded - idle, kilobits, payload_kilobits }
}

/// Returns the average bytes of a client's packets over a second.
fn mean(arena: &mut Arena, whom: impl Fn(&Arena) -> Vec<ControllerId>) -> f64 {
    let whom = whom(arena);
    (0..30).for_each(|_| arena.tick(&whom));
    let mut bytes = 0;
    for _ in 0..60 {
        arena.tick(&whom);
        bytes += arena.sent.1;
    }
    bytes as f64 / 60.0
}

/// Returns the bytes of a packet to a client that owns no controller.
fn bare() -> f64 {
    let mut arena = Arena::with_owners(0, 1, false);
    mean(&mut arena, |_| Vec::new())
}

/// Returns the kilobits per second to one client, with and without IP and UDP headers.
fn stream(actors: usize) -> (f64, f64) {
    let mut arena = Arena::new(actors, 1);
    let whom = arena.actors.clone();
    (0..30).for_each(|_| arena.tick(&whom));
    let (mut datagrams, mut bytes) = (0, 0);
    for _ in 0..60 {
        arena.tick(&whom);
        datagrams += arena.sent.0;
        bytes += arena.sent.1;
    }
    let kilobits = |bytes: usize| bytes as f64 * 8.0 / 1000.0;
    (kilobits(bytes + datagrams * UDP), kilobits(bytes))
}

/// Returns the bytes of a section with two changed values and of a section with a tag, including ids.
fn sections() -> (f64, f64) {
    let mut arena = Arena::new(100, 0);
    let whom = arena.actors.clone();
    let mut board = ReplicationStore::new(arena.rules.clone(), super::arena::LENGTH);
    for &who in &whom {
        board.add(arena.server.sim(), who, ControllerReplication::Full, Tick(1)).expect("it exists");
    }
    let mut bits = 0;
    for tick in 2..62 {
        arena.change(&whom);
        board.update(arena.server.sim(), Tick(tick), &whom);
        bits += written(&mut board, &whom, Tick(tick - 1));
    }
    let observer = bits as f64 / 8.0 / 60.0 / whom.len() as f64;
    let mark = arena.rules.effect("GE_Mark").expect("it is there");
    let one = whom[50];
    arena.server.sim_mut().apply(&Spec::new(mark, one)).expect("it can be applied");
    // Only tags: in this mode observers do not receive effects.
    board.add(arena.server.sim(), one, ControllerReplication::Mixed, Tick(62)).expect("it exists");
    let key = arena.server.sim().effects(one).expect("it exists")[0].key;
    arena.server.sim_mut().remove(key).expect("it is there");
    board.update(arena.server.sim(), Tick(63), &[one]);
    (observer, written(&mut board, &[one], Tick(62)) as f64 / 8.0)
}

/// Returns the bits of the sections of these actors for a client that has received the tick `since`.
fn written(board: &mut ReplicationStore, whom: &[ControllerId], since: Tick) -> usize {
    let (mut out, mut list) = (BitWriter::new(), ActorList::default());
    for &who in whom {
        list.open(who, &mut out);
        board.write(who, since, &mut out);
    }
    out.bit_len()
}
