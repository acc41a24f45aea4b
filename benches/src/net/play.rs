//! Measurements that players notice: corrections, missing modifiers, the rate of fire, the delay of updates.

use super::arena::{LENGTH, rules};
use crate::clock;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, AttributeId, ControllerId, NoHost, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec,
    Target,
};
use ugas_doc::ControllerReplication;
use ugas_net::client::ProxySnapshot;
use ugas_net::client::{Client, ClientConfig, ClientCounts, CommandStatus};
use ugas_net::harness::Harness;
use ugas_net::link::{Link, LinkProfile};
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

/// One client, a foe without an owner, and a link.
struct NetDuel {
    rules: Arc<Rules>,
    net: Harness,
    hero: ControllerId,
    foe: ControllerId,
}

impl NetDuel {
    fn new(profile: LinkProfile, seed: u64) -> NetDuel {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let sets = vec![rules.set("Vitals").expect("it is there")];
        let mut spawn = || sim.spawn(SpawnSpec::sets(sets.clone())).expect("it can be spawned");
        let (hero, foe) = (spawn(), spawn());
        for (ability, _) in rules.ability_list().collect::<Vec<_>>() {
            sim.run(Op::Grant { who: hero, grant: AbilityGrant::new(ability) }).expect("it can be granted");
        }
        let config =
            ServerConfig { tick_length: LENGTH, replication: ControllerReplication::Full, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), seed);
        let client = ClientConfig { prediction_window: SimTime::millis(500), ..ClientConfig::default() };
        net.join_over("Ana", client, [profile; 2], &[hero]).expect("the name is new");
        net.run(240);
        NetDuel { rules, net, hero, foe }
    }

    fn ability(&self, name: &str) -> AbilityId {
        self.rules.ability(name).expect("it is there")
    }

    fn attribute(&self, name: &str) -> AttributeId {
        self.rules.attribute(name).expect("it is there")
    }

    fn cast(&mut self, name: &str) -> bool {
        let request = Request::Activate { who: self.hero, ability: self.ability(name), target: Target::None };
        matches!(self.net.client_mut("Ana").command(request), Ok(CommandStatus::Predicted(..)))
    }

    fn nudge(&mut self, who: ControllerId) {
        let nudge = self.rules.effect("GE_Nudge").expect("it is there");
        self.net.server_mut().sim_mut().apply(&Spec::new(nudge, who)).expect("it can be applied");
    }

    fn value(&self, name: &str) -> f64 {
        self.net.client("Ana").sim().get(self.hero, self.attribute(name)).expect("it is there")
    }
}

/// Returns the microseconds that resimulating 24 ticks takes, and the average length of a resimulation. In every tick
/// the server changes the client's controller, over a round trip of a third of a second.
pub(crate) fn replay() -> (f64, f64) {
    let rules = rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").expect("it is there")])).expect("it can be spawned");
    let (rage, nudge) = (rules.ability("GA_Rage").expect("there"), rules.effect("GE_Nudge").expect("there"));
    sim.run(Op::Grant { who, grant: AbilityGrant::new(rage) }).expect("it can be granted");
    let mut server =
        Server::new(sim, ServerConfig { tick_length: LENGTH, ..ServerConfig::default() }, Secret::known(1));
    server.connect(PeerId(1), &[who]).expect("the number is new");
    let window = ClientConfig { prediction_window: SimTime::millis(500), ..ClientConfig::default() };
    let mut client = Client::new(rules.clone(), window);
    let profile = LinkProfile::round_trip(330, 0);
    let (mut up, mut down) = (Link::new(profile, 1), Link::new(profile, 2));
    let (mut spent, mut begun, mut now) = (0, None, SimTime::ZERO);
    for i in 0..900 {
        if i >= 240 {
            server.sim_mut().apply(&Spec::new(nudge, who)).expect("it can be applied");
        }
        if i % 60 == 0 {
            // The command is refused until the client is connected.
            let _ = client.command(Request::Activate { who, ability: rage, target: Target::None });
        }
        up.receive(now, &mut |datagram| server.receive(PeerId(1), datagram));
        server.step(&mut NoHost);
        server.send(&mut |_, datagram| down.send(now, datagram));
        let counts = client.counts();
        down.receive(now, &mut |datagram| {
            let before = clock::nanoseconds();
            client.receive(datagram);
            let took = clock::nanoseconds() - before;
            spent += if i >= 300 { took } else { 0 };
        });
        if i == 300 {
            begun = Some(counts);
        }
        client.update(LENGTH);
        client.send(&mut |datagram| up.send(now, datagram));
        now += LENGTH;
    }
    let (begun, counts) = (begun.unwrap_or_default(), client.counts());
    // The server's own changes are no corrections, but the client resimulates for them.
    let states = |c: ClientCounts| c.corrections + c.external_changes;
    let (rerun, times) = ((counts.resimulated - begun.resimulated) as f64, (states(counts) - states(begun)) as f64);
    (spent as f64 / 1e3 / rerun.max(1.0) * 24.0, rerun / times.max(1.0))
}

/// Counts, over lossy links, the ticks in which an accepted modifier was not present exactly once, and all ticks. Also
/// counts in how many of thirty runs the command was accepted.
pub(crate) fn blips() -> (u32, u32, u32) {
    let (mut wrong, mut all, mut runs) = (0, 0, 0);
    for profile in [LinkProfile::GOOD, LinkProfile::MOBILE, LinkProfile::BAD] {
        for seed in 0..10 {
            let mut duel = NetDuel::new(profile, seed);
            let bare = duel.value("A0");
            if !duel.cast("GA_Rage") {
                continue;
            }
            let from = duel.net.client("Ana").tick().0;
            let (mut missing, mut shown) = (0, 0);
            for step in 0..40 {
                if step < 10 {
                    let hero = duel.hero;
                    duel.nudge(hero);
                }
                duel.net.step();
                let is_due = duel.net.client("Ana").tick().0 < from + 44;
                shown += is_due as u32;
                missing += (is_due && duel.value("A0") != bare + 5.0) as u32;
            }
            duel.net.restore_links();
            duel.net.run(60);
            if duel.net.client("Ana").counts().rejected == 0 {
                (wrong, all, runs) = (wrong + missing, all + shown, runs + 1);
            }
        }
    }
    (wrong, all, runs)
}

/// Returns the ticks between shots of a weapon with a cooldown of thirty ticks, predicted or decided by the server.
pub(crate) fn fire(round_trip: i64, asks: bool) -> f64 {
    let mut duel = NetDuel::new(LinkProfile::round_trip(round_trip, 0), 1);
    let (mut first, mut last, mut shots) = (None, None, 0u32);
    for _ in 0..600 {
        let known = duel.net.client("Ana").confirmed_tick(duel.hero).unwrap_or_default();
        let is_over = last.is_none_or(|tick: u32| known.0 >= tick + 30);
        if (!asks || is_over) && duel.cast("GA_Shot") {
            let tick = duel.net.client("Ana").tick().0 + 1;
            first.get_or_insert(tick);
            (last, shots) = (Some(tick), shots + 1);
        }
        duel.net.step();
    }
    match (first, last) {
        (Some(first), Some(last)) if shots > 1 => (last - first) as f64 / (shots - 1) as f64,
        _ => f64::NAN,
    }
}

/// Counts the corrections and commands in a minute of undisturbed play over a good link.
pub(crate) fn mispredictions() -> (u64, u32) {
    let mut duel = NetDuel::new(LinkProfile::GOOD, 7);
    let mut commands = 0;
    for i in 0..3600 {
        if i % 7 == 0 {
            commands += duel.cast(if i % 2 == 0 { "GA_Rage" } else { "GA_Shot" }) as u32;
        }
        duel.net.step();
    }
    let counts = duel.net.client("Ana").counts();
    (counts.corrections + counts.rejected, commands)
}

/// Returns the number of round trips until a client over a bad link has received ten simultaneous changes, for a
/// hundred runs in ascending order.
pub(crate) fn convergence() -> Vec<f64> {
    let mut took: Vec<f64> = Vec::new();
    for seed in 0..100 {
        let mut duel = NetDuel::new(LinkProfile::BAD, seed);
        let (foe, changed) = (duel.foe, duel.attribute("A7"));
        (0..10).for_each(|_| duel.nudge(foe));
        let truth = duel.net.server().sim().get(foe, changed);
        let ticks = duel.net.run_until(600, |net| net.client("Ana").sim().get(foe, changed) == truth);
        let time = ticks.unwrap_or(600) as f64 / 60.0;
        took.push(time / 0.25);
    }
    took.sort_by(f64::total_cmp);
    took
}

/// Runs ten seconds over a link that loses six of ten packets. Returns whether client and server agree after the link
/// is restored, and the maximum retained memory.
pub(crate) fn torture() -> (bool, usize, usize) {
    let mut duel = NetDuel::new(LinkProfile::TORTURE, 3);
    let (mut server, mut client) = (0, 0);
    for i in 0..600 {
        if i % 20 == 0 {
            duel.cast("GA_Rage");
        }
        let foe = duel.foe;
        duel.nudge(foe);
        duel.net.step();
        server = server.max(duel.net.server().retained());
        client = client.max(duel.net.client("Ana").retained());
    }
    duel.net.restore_links();
    duel.net.run(120);
    let (truth, seen, hero) = (duel.net.server().sim(), duel.net.client("Ana"), duel.hero);
    let is_own = truth.row_hash(hero).ok() == seen.confirmed_hash(hero);
    let told = seen.proxies().get(duel.foe).map(|proxy| proxy.snapshot());
    let is_other = told == ProxySnapshot::of(truth, duel.foe, ControllerReplication::Full).ok();
    (is_own && is_other, server, client)
}
