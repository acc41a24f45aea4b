//! The grace before the end of a cooldown: the server keeps a command that comes slightly early and runs it at that end.

use crate::boundary::payload;
use std::collections::VecDeque;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, ControllerId, FactKind, Facts, NoHost, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target,
};
use ugas_doc::{Ability, Attribute, AttributeSet, Effect};
use ugas_net::authority::RejectReason;
use ugas_net::harness::Harness;
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::link::LinkProfile;
use ugas_net::message::{Command, PROTOCOL, Request, ToServer};
use ugas_net::server::{GraceReport, Secret, Server, ServerConfig};
use ugas_net::types::{PeerId, Tick};

const PEER: PeerId = PeerId(1);
const LENGTH: SimTime = SimTime::millis(10);

fn rules() -> Arc<Rules> {
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Mana", 100.0)))
        .add(Effect::lasting("GE_Cooldown", 1.5).grants("Cooldown.Bolt"))
        .add(Effect::lasting("GE_Jammed", 1.5).grants("Cooldown.Bolt"))
        .add(Ability::new("GA_Jab").gcd(1.5))
        .add(Ability::new("GA_Fast").gcd_of("Fast", 0.2))
        .add(Ability::new("GA_Bolt").cooldown("GE_Cooldown"))
        .add(Ability::new("GA_Dash").charges(2, 1.5))
        .build()
        .unwrap()
}

/// A server and a modified client that sends any command, over a link with a round trip of 100 ms and ticks of 10 ms.
struct Rig {
    rules: Arc<Rules>,
    server: Server,
    who: ControllerId,
    client: Carrier,
    base: u32,
    /// The commands of the next packet.
    commands: Vec<Vec<u8>>,
    /// Ticks of one way of the link.
    one_way: usize,
    down: VecDeque<Vec<Vec<u8>>>,
    up: VecDeque<Vec<u8>>,
    facts: Facts,
}

impl Rig {
    fn new(grace: f64) -> Rig {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        for (ability, _) in rules.ability_list().collect::<Vec<_>>() {
            sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        }
        let config = ServerConfig { tick_length: LENGTH, grace, max_early_ticks: 1000, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.connect(PEER, &[who]).unwrap();
        let mut client = Carrier::new(ConnectionConfig::default());
        let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules.fingerprint(), padding: vec![0; 256] };
        client.push(&hello.to_bytes()).unwrap();
        let (down, up) = (VecDeque::new(), VecDeque::new());
        let mut rig = Rig {
            rules,
            server,
            who,
            client,
            base: 0,
            commands: Vec::new(),
            one_way: 7,
            down,
            up,
            facts: Facts::default(),
        };
        // The smoothed round trip approaches 100 ms from above.
        (0..100).for_each(|_| rig.step());
        rig.one_way = 5;
        (0..400).for_each(|_| rig.step());
        let trip = rig.server.round_trip(PEER).unwrap();
        assert_eq!((trip.as_seconds() * 1000.0).round(), 100.0, "the measured round trip");
        rig
    }

    /// Runs a tick and both ways of the link.
    fn step(&mut self) {
        let now = self.server.tick().time(LENGTH);
        while self.up.len() > self.one_way {
            let datagram = self.up.pop_front().unwrap_or_default();
            self.server.receive(PEER, &datagram);
        }
        self.server.step(&mut NoHost);
        let mut sent = Vec::new();
        self.server.send(&mut |_, datagram| sent.push(datagram.to_vec()));
        self.down.push_back(sent);
        while self.down.len() > self.one_way {
            for datagram in self.down.pop_front().unwrap_or_default() {
                let _ = self.client.read(now, &datagram);
            }
        }
        let mut datagram = Vec::new();
        let tick = self.server.tick();
        let bytes = payload(&std::mem::take(&mut self.commands));
        self.client.write(now, tick, &mut datagram, &mut |to, _| to.extend_from_slice(&bytes));
        self.up.push_back(datagram);
        let mut facts = Facts::default();
        self.server.take_facts(&mut facts);
        self.facts.append(&facts);
    }

    /// Sends a command that takes effect at a tick.
    fn give(&mut self, name: &str, tick: Tick) {
        self.base += 1;
        let ability = self.rules.ability(name).unwrap();
        let request = Request::Activate { who: self.who, ability, target: Target::None };
        let command = Command { tick, base: self.base, sub: 0, request, aim: None };
        self.commands.push(command.to_bytes());
    }

    /// Uses abilities at times after the first use, in ticks, and returns the times at which they ran.
    fn play(&mut self, uses: &[(&str, u32)]) -> Vec<u32> {
        let first = self.server.tick().plus(10);
        uses.iter().for_each(|(name, at)| self.give(name, first.plus(*at)));
        self.run_from(first, 700)
    }

    /// Runs ticks and returns when abilities were activated, in ticks after the time at which `first` takes effect.
    fn run_from(&mut self, first: Tick, ticks: u32) -> Vec<u32> {
        self.facts = Facts::default();
        (0..ticks).for_each(|_| self.step());
        let start = first.minus(1).time(LENGTH);
        let is_use = |f: &&ugas_core::Fact| matches!(f.kind, FactKind::AbilityActivated { .. });
        self.facts.list.iter().filter(is_use).map(|f| ((f.at - start).0 / LENGTH.0) as u32).collect()
    }

    fn rejected(&self) -> u64 {
        self.server.counts().of(RejectReason::Rules) + self.server.counts().of(RejectReason::Early)
    }

    fn reports(&mut self) -> Vec<GraceReport> {
        let mut reports = Vec::new();
        self.server.take_reports(&mut reports);
        reports
    }
}

// covers: SAI-2.3-06
#[test]
fn a_command_inside_the_grace_is_accepted_and_runs_at_the_end_of_the_global_cooldown() {
    // 0.2 of 100 ms: accepted from 1.48 s on.
    for (at, ran) in
        [(147, vec![0]), (148, vec![0, 150]), (149, vec![0, 150]), (150, vec![0, 150]), (151, vec![0, 151])]
    {
        let mut rig = Rig::new(0.2);
        assert_eq!(rig.play(&[("GA_Jab", 0), ("GA_Jab", at)]), ran, "{at}");
        assert_eq!(rig.rejected(), u64::from(ran.len() < 2), "{at}");
        // The true length, from the end of the first cooldown.
        let starts = rig.facts.list.iter().filter_map(|f| match f.kind {
            FactKind::GlobalCooldown { running, length, .. } => Some((running, length, f.at)),
            _ => None,
        });
        assert!(starts.clone().all(|(_, length, _)| length == SimTime::seconds(1.5)));
        let ends: Vec<SimTime> = starts.filter(|s| !s.0).map(|s| s.2).collect();
        assert!(ends.windows(2).all(|w| w[1] - w[0] >= SimTime::seconds(1.5)), "{ends:?}");
    }
}

#[test]
fn without_a_grace_every_early_command_is_rejected() {
    assert_eq!(ServerConfig::default().grace, 0.0);
    for name in ["GA_Jab", "GA_Bolt"] {
        let mut rig = Rig::new(0.0);
        assert_eq!(rig.play(&[(name, 0), (name, 149)]), [0]);
        assert_eq!(rig.rejected(), 1);
        assert!(rig.reports().is_empty());
    }
    for share in [f64::NAN, -1.0, f64::NEG_INFINITY] {
        let config = ServerConfig { grace: share, ..ServerConfig::default() };
        assert_eq!(config.grace_of(SimTime::seconds(1.0)), SimTime::ZERO);
    }
    let config = ServerConfig { grace: f64::INFINITY, ..ServerConfig::default() };
    assert_eq!(config.grace_of(SimTime::millis(100)), SimTime::millis(100));
    assert_eq!(config.grace_of(SimTime::seconds(1e6)), SimTime::millis(250), "never more than a command may be late");
}

// covers: SAI-2.4-10
#[test]
fn the_grace_is_for_cooldowns_that_began_with_a_use_and_not_for_rolled_over_recharges() {
    // A cooldown effect.
    let mut rig = Rig::new(0.2);
    assert_eq!(rig.play(&[("GA_Bolt", 0), ("GA_Bolt", 147)]), [0]);
    let mut rig = Rig::new(0.2);
    assert_eq!(rig.play(&[("GA_Bolt", 0), ("GA_Bolt", 148), ("GA_Bolt", 298)]), [0, 150, 300]);
    // The first recharge began with a use: [0 s, 1.5 s]. The second followed it: [1.5 s, 3 s].
    let mut rig = Rig::new(0.2);
    assert_eq!(rig.play(&[("GA_Dash", 0), ("GA_Dash", 10), ("GA_Dash", 148)]), [0, 10, 150]);
    let mut rig = Rig::new(0.2);
    let uses = [("GA_Dash", 0), ("GA_Dash", 10), ("GA_Dash", 160), ("GA_Dash", 298), ("GA_Dash", 300)];
    assert_eq!(rig.play(&uses), [0, 10, 160, 300]);
    assert_eq!(rig.rejected(), 1, "inside the grace of a rolled-over recharge");
    // Another effect with the tag of the cooldown did not begin with a use.
    let mut rig = Rig::new(0.2);
    let (who, jammed) = (rig.who, rig.rules.effect("GE_Jammed").unwrap());
    rig.server.sim_mut().apply(&Spec::new(jammed, who)).unwrap();
    let first = rig.server.tick().plus(1);
    rig.give("GA_Bolt", first.plus(149));
    assert!(rig.run_from(first, 300).is_empty());
    assert_eq!(rig.rejected(), 1);
}

#[test]
fn the_rate_of_use_has_the_same_bound_with_a_grace() {
    // A request for every tick of four seconds, with a cooldown of 20 ticks.
    for (grace, share) in [(0.2, 2), (0.5, 5), (1.0, 10)] {
        let mut rig = Rig::new(grace);
        let mut ran = Vec::new();
        let first = rig.server.tick().plus(10);
        rig.facts = Facts::default();
        for at in 0..400 {
            rig.give("GA_Fast", first.plus(at));
            rig.step();
        }
        let start = first.minus(1).time(LENGTH);
        let is_use = |f: &&ugas_core::Fact| matches!(f.kind, FactKind::AbilityActivated { .. });
        ran.extend(rig.facts.list.iter().filter(is_use).map(|f| ((f.at - start).0 / LENGTH.0) as u32));
        for (at, from) in ran.iter().enumerate() {
            for (n, to) in ran[at..].iter().enumerate() {
                assert!(n as u32 <= (to - from) / 20, "grace {share}: {} uses in {}", n + 1, to - from);
            }
        }
        assert!(ran.len() >= 20 && ran.windows(2).all(|w| w[1] - w[0] == 20), "at every end: {ran:?}");
    }
}

#[test]
fn a_late_command_that_claims_a_time_inside_the_grace_counts_from_the_end() {
    for (claimed, ran) in [(147, 1), (149, 2)] {
        let mut rig = Rig::new(0.2);
        let first = rig.server.tick().plus(10);
        rig.give("GA_Jab", first);
        rig.facts = Facts::default();
        while rig.server.tick() < first.plus(152) {
            rig.step();
        }
        rig.give("GA_Jab", first.plus(claimed));
        (0..10).for_each(|_| rig.step());
        let (_, timer) =
            *rig.server.sim().global_cooldowns(rig.who).unwrap().first().unwrap_or(&(
                ugas_core::GroupId(0),
                ugas_core::Timer { remaining: SimTime::ZERO, total: SimTime::ZERO },
            ));
        let start = first.minus(1).time(LENGTH);
        let is_use = |f: &&ugas_core::Fact| matches!(f.kind, FactKind::AbilityActivated { .. });
        assert_eq!(rig.facts.list.iter().filter(is_use).count(), ran, "{claimed}");
        if ran == 2 {
            assert_eq!(rig.server.sim().now() + timer.remaining, start + SimTime::seconds(3.0), "exactly two lengths");
        } else {
            assert_eq!(rig.server.counts().of(RejectReason::Early), 1);
        }
    }
}

#[test]
fn later_commands_wait_for_a_kept_one() {
    let mut rig = Rig::new(0.2);
    assert_eq!(rig.play(&[("GA_Jab", 0), ("GA_Jab", 148), ("GA_Fast", 149)]), [0, 150, 150]);
    assert_eq!(rig.rejected(), 0);
    // A kept command that fails at the end gets its verdict then.
    let mut rig = Rig::new(0.2);
    let first = rig.server.tick().plus(10);
    rig.give("GA_Jab", first);
    rig.give("GA_Jab", first.plus(148));
    let who = rig.who;
    while rig.server.tick() < first.plus(148) {
        rig.step();
    }
    let which = ugas_core::Which::Ability(rig.rules.ability("GA_Jab").unwrap());
    rig.server.sim_mut().run(Op::Revoke { who, which }).unwrap();
    (0..10).for_each(|_| rig.step());
    assert_eq!(rig.server.counts().of(RejectReason::Ability), 1);
}

// covers: SAI-2.3-07
#[test]
fn a_client_that_always_acts_inside_the_grace_is_reported_once() {
    let mut rig = Rig::new(0.2);
    // 19 ticks after the previous use: one tick before the end of the cooldown.
    let first = rig.server.tick().plus(10);
    for n in 0..21 {
        rig.give("GA_Fast", first.plus(20 * n - u32::from(n > 0)));
        (0..20).for_each(|_| rig.step());
    }
    (0..30).for_each(|_| rig.step());
    let reports = rig.reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!((reports[0].peer, reports[0].inside, reports[0].uses), (PEER, 10, 11));
    assert!(rig.server.anomaly(PEER).unwrap().0 > 0.0 && rig.rejected() == 0);
    assert!(rig.reports().is_empty(), "taken");
    // Uses at the end of the cooldown are not suspicious.
    let mut rig = Rig::new(0.2);
    let first = rig.server.tick().plus(10);
    for n in 0..40 {
        rig.give("GA_Fast", first.plus(20 * n));
        (0..20).for_each(|_| rig.step());
    }
    assert!(rig.reports().is_empty());
    assert_eq!(rig.server.anomaly(PEER).unwrap().0, 0.0);
}

/// Uses an ability at the end of its cooldown, or one tick earlier where `uses` says so. Returns the numbers of uses
/// inside the grace and of all uses in each report.
fn reported(uses: &[bool]) -> Vec<(u32, u32)> {
    let mut rig = Rig::new(0.2);
    let first = rig.server.tick().plus(10);
    for (n, is_early) in (0..).zip(uses) {
        rig.give("GA_Fast", first.plus(20 * n - u32::from(*is_early)));
        (0..20).for_each(|_| rig.step());
    }
    (0..30).for_each(|_| rig.step());
    assert_eq!(rig.rejected(), 0);
    rig.reports().iter().map(|report| (report.inside, report.uses)).collect()
}

#[test]
fn nine_of_twenty_uses_inside_the_grace_are_not_reported_and_ten_are() {
    // The first use begins the first cooldown, so it cannot be early.
    let early = |n: usize| (0..20).map(|at| (1..=n).contains(&at)).collect::<Vec<_>>();
    assert_eq!(reported(&early(9)), []);
    assert_eq!(reported(&early(10)), [(10, 11)]);
    let last = (0..20).map(|at| at >= 10).collect::<Vec<_>>();
    assert_eq!(reported(&last), [(10, 20)], "the tenth is the last of the twenty");
}

#[test]
fn only_the_last_twenty_uses_count() {
    let uses = |length: usize, early: &[usize]| (0..length).map(|at| early.contains(&at)).collect::<Vec<_>>();
    let nine = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    let with = |last: usize| nine.iter().copied().chain([last]).collect::<Vec<_>>();
    assert_eq!(reported(&uses(21, &with(20))), [(10, 20)], "uses 1 to 20");
    assert_eq!(reported(&uses(22, &with(21))), [], "use 1 is no longer among the last twenty");
    // Nine of every twenty, for ever.
    let honest: Vec<bool> = (0..60).map(|at| at % 20 > 10).collect();
    assert_eq!(reported(&honest), []);
}

#[test]
fn an_honest_client_plays_the_same_with_a_grace() {
    let played = [0.0, 0.2].map(|grace| {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        let ability = rules.ability("GA_Fast").unwrap();
        sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        let config = ServerConfig { grace, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 5);
        net.join("Ana", LinkProfile::GOOD, &[who]).unwrap();
        net.run(90);
        for _ in 0..600 {
            let _ = net.client_mut("Ana").command(Request::Activate { who, ability, target: Target::None });
            net.step();
        }
        let mut reports = Vec::new();
        net.server_mut().take_reports(&mut reports);
        assert!(reports.is_empty());
        assert_eq!((net.client("Ana").counts().corrections, net.client("Ana").counts().rejected), (0, 0));
        net.server().sim().row_hash(who).unwrap()
    });
    assert_eq!(played[0], played[1]);
}
