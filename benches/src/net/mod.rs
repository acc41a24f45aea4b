//! The network measurements in one table: the measured value, the limit, and bevy_replicon with the same changes.
//! WireBytes and counts are exact. Times are also given as ratios to bevy_replicon, which runs on the same machine directly
//! before.

pub(crate) mod arena;
mod bytes;
mod cost;
mod crowd;
pub(crate) mod crowd_table;
mod play;
pub(crate) mod still;

use crate::table::{Table, figure};

/// The output of the bevy_replicon benchmark: a name and a number on each line.
pub(crate) struct Peer(Vec<(String, f64)>);

impl Peer {
    /// Parses the output of the benchmark; other lines are skipped.
    pub(crate) fn read(text: &str) -> Peer {
        let line = |line: &str| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        };
        Peer(text.lines().filter_map(line).collect())
    }

    fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Returns the value of a measurement with one component of eight values and with eight components.
    fn both(&self, name: &str) -> String {
        let form = |form: &str| self.get(&format!("{form}_{name}")).map_or_else(|| "-".to_owned(), figure);
        match (form("one"), form("eight")) {
            (one, eight) if one == "-" && eight == "-" => "-".to_owned(),
            (one, eight) => format!("{one} · {eight}"),
        }
    }

    /// Returns the ratio of our value to the value with one component and with eight components.
    fn ratios(&self, name: &str, ours: f64) -> String {
        let form = |form: &str| self.get(&format!("{form}_{name}")).filter(|&n| n > 0.0).map(|theirs| ours / theirs);
        match (form("one"), form("eight")) {
            (Some(one), Some(eight)) => format!("{one:.2} · {eight:.2}"),
            _ => "-".to_owned(),
        }
    }
}

struct Figures {
    table: Table,
    passed: bool,
}

impl Figures {
    /// Adds an exact measurement, which passes or fails.
    fn exact(&mut self, what: &str, found: (f64, &str), most: f64, peer: (&Peer, &str)) {
        self.passed &= found.0 <= most;
        self.time(what, found, Some(most), peer);
    }

    /// Adds a time, which depends on the machine and cannot fail. The target is optional.
    fn time(&mut self, what: &str, (found, unit): (f64, &str), most: Option<f64>, (peer, name): (&Peer, &str)) {
        let verdict = most.map_or("-", |most| if found <= most { "met" } else { "missed" });
        let aim = most.map_or_else(|| "-".to_owned(), |most| format!("≤ {most} {unit}"));
        let cells = [what, &format!("{} {unit}", figure(found)), &aim, verdict];
        self.row(cells, &peer.both(name), &peer.ratios(name, found));
    }

    fn words(&mut self, what: &str, found: String, aim: &str, holds: bool) {
        self.passed &= holds;
        self.row([what, &found, aim, if holds { "met" } else { "MISSED" }], "-", "-");
    }

    fn row(&mut self, cells: [&str; 4], peer: &str, ratio: &str) {
        self.table.row(cells.into_iter().chain([peer, ratio]).map(str::to_owned).collect());
    }
}

/// Runs all measurements. Returns the table, and whether every exact measurement is within its limit.
pub(crate) fn table(peer: &Peer) -> (Table, bool) {
    let columns = ["measurement", "result", "limit", "", "bevy_replicon: one · eight components", "ratio"];
    let mut f = Figures { table: Table::new("Network", &columns), passed: true };
    let none = (peer, "");
    let b = bytes::count();
    f.exact("observer update, 8 values of 10 bits, 2 changed", (b.observer, "B"), 5.0, (peer, "bytes"));
    f.exact("owner update, exact values, 2 changed", (b.owner, "B"), 12.0, none);
    f.exact("owner update, hashes match", (b.matched, "B"), 0.0, none);
    f.exact("observer update, one tag changed", (b.tag, "B"), 3.0, none);
    f.exact("update of 1,000 unchanged actors", (b.unchanged, "B"), 0.0, (peer, "unchanged"));
    f.exact("100 actors × 2 changes, 60 Hz, with headers", (b.kilobits, "kbit/s"), 256.0, none);
    f.time("100 actors × 2 changes, 60 Hz, no headers", (b.payload_kilobits, "kbit/s"), None, (peer, "kilobits"));
    let small = cost::of(32, 32, true, false);
    f.time("send per client, 32 changed actors", (small.send, "µs"), Some(5.0), none);
    // bevy_replicon has no separate call for sending, so its update is compared with the whole tick.
    f.time("whole tick per client, 32 changed actors", (small.tick * 1e3 / 32.0, "µs"), None, (peer, "send"));
    let large = cost::of(100, 100, true, false);
    f.time("whole tick, 100 clients × 100 actors", (large.tick, "ms"), Some(4.0), (peer, "tick"));
    let owned = cost::of(0, 100, false, true);
    f.time("whole tick, 100 clients, owned actors changed by the server", (owned.tick, "ms"), None, none);
    let idle = cost::of(1000, 32, false, false);
    let still = cost::of(0, 32, false, false);
    // A thousand more actors, so that microseconds in total are nanoseconds per actor.
    f.time("send per client and unchanged actor", ((idle.send - still.send).max(0.0), "ns"), None, none);
    if let Ok((none, many)) = still::instructions(1000) {
        let found = format!("{:.0} of {none:.0} instructions", many - none);
        f.words("added by 1,000 unchanged actors, 8 clients", found, "≤ 2 %", many <= none * 1.02);
    }
    let (replay, ticks) = play::replay();
    f.time(&format!("resimulation of 24 ticks, average length {ticks:.0}"), (replay / 1e3, "ms"), Some(0.5), none);
    let (wrong, all, runs) = play::blips();
    let found = format!("{wrong} of {all} ({runs} of 30 runs; rejected in the others)");
    f.words("ticks that show a modifier 0 or 2 times", found, "0", wrong == 0 && all > 0);
    for round_trip in [0, 50, 100, 200] {
        let (ahead, asking) = (play::fire(round_trip, false), play::fire(round_trip, true));
        let what = format!("ticks between shots, cooldown 30 ticks, round trip {round_trip} ms");
        f.words(&what, format!("{ahead:.1} (without prediction: {asking:.1})"), "≤ 31", ahead <= 31.0);
    }
    let (wrong, commands) = play::mispredictions();
    f.words("corrections, good link, no interference", format!("{wrong} of {commands} commands"), "0", wrong == 0);
    let took = play::convergence();
    // At this round trip changes are sent in every fourth tick.
    let bound = 1.5 + 2.0 * (4.0 / 60.0) / 0.25;
    let within = took.iter().filter(|&&time| time <= bound).count();
    let found = format!("{:.2} median, {:.2} at 90 %, {:.2} maximum", took[50], took[90], took[99]);
    let found = format!("{found}; {within} of {} runs", took.len());
    let aim = format!("≤ {bound:.2}");
    f.words("arrival of a burst of changes, bad link, in round trips", found, &aim, within == took.len());
    let (agree, server, client) = play::torture();
    let found = format!("{} (server retains {server}, client {client})", if agree { "equal" } else { "DIFFERENT" });
    f.words("60 % packet loss: states converge", found, "equal", agree && server < 2000 && client < 2000);
    f.exact("allocations per tick, 32 clients, 32 changed actors", (small.allocations, ""), 0.0, (peer, "allocations"));
    f.exact("allocations per tick, 32 clients, no changes", (still.allocations, ""), 0.0, none);
    (f.table, f.passed)
}
