//! The tables of the crowd.

use super::Peer;
use super::crowd::{LOSS, Sending, costs, movers};
use crate::table::{Table, figure};

/// Measures a crowd of this size with the default rates and bandwidth.
pub(crate) fn table(clients: usize, actors: usize) -> Table {
    let columns = [
        "load",
        "sending, ms",
        "collecting and sending, ms",
        "worst tick, ms",
        "packets full",
        "kbit/s per client",
        "allocations per tick",
    ];
    let mut table =
        Table::new(format!("Crowd: {clients} clients × {actors} actors, {} % loss", LOSS * 100.0), &columns);
    for (name, _, cost) in costs(clients, actors, Sending::Default) {
        let full = if cost.full > 0.0 { format!("{:.0} %", cost.full * 100.0) } else { "-".to_owned() };
        let (send, tick, worst) = (figure(cost.send), figure(cost.tick), figure(cost.worst));
        table.row(vec![name.to_owned(), send, tick, worst, full, figure(cost.kilobits), figure(cost.allocations)]);
    }
    let none = || "-".to_owned();
    let mover = "100 actors move at 60 Hz, one client".to_owned();
    table.row(vec![mover, none(), none(), none(), none(), figure(movers(100)), none()]);
    table
}

/// Measures a crowd of this size that gets every change in its tick, beside bevy_replicon with the same loads.
pub(crate) fn compared(clients: usize, actors: usize, peer: &Peer) -> Table {
    let columns = [
        "load",
        "tick, ms",
        "bevy_replicon: one · eight components",
        "ratio",
        "worst tick, ms",
        "bevy_replicon",
        "kbit/s per client",
        "bevy_replicon",
        "allocations per tick",
        "bevy_replicon",
    ];
    let title = format!("Crowd: {clients} clients × {actors} actors, every change in its tick, beside bevy_replicon");
    let mut table = Table::new(title, &columns);
    for (name, key, cost) in costs(clients, actors, Sending::EveryTick) {
        let theirs = |what: &str| peer.both(&format!("{key}_crowd_{what}"));
        table.row(vec![
            name.to_owned(),
            figure(cost.tick),
            theirs("tick"),
            peer.ratios(&format!("{key}_crowd_tick"), cost.tick),
            figure(cost.worst),
            theirs("worst"),
            figure(cost.kilobits),
            theirs("kilobits"),
            figure(cost.allocations),
            theirs("allocations"),
        ]);
    }
    table
}
