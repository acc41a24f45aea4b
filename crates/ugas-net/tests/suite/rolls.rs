//! Rolls: a client predicts its rolls but cannot choose them. The cheating client of these tests tries each variation of
//! its packets, each tick and each target on a copy of the server before it sends the best one. So it knows more than any
//! client knows.

use crate::kit::{Game, Setup, builder};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, Anchor, Answer, ControllerId, EffectId, Fact, FactKind, Facts, InputId, NoHost, Op, OpId,
    Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target, UsedAbility,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, TagRegistry, Trigger, Value};
use ugas_net::client::Certainty;
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::internals::wire::number::{get_int, get_uint, put_uint};
use ugas_net::link::LinkProfile;
use ugas_net::message::{Command, PROTOCOL, Request, ToServer};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::{PeerId, Tick};

const LENGTH: SimTime = SimTime::frames(1, 60);
const CHEAT: PeerId = PeerId(1);
/// The ticks of a block of seeds.
const BLOCK: i64 = 8;
const STRIKE: InputId = InputId(3);
const HELD: InputId = InputId(4);
const CHANCE: f64 = 0.05;

fn apply(task: &str, effect: &str) -> AbilityTask {
    AbilityTask::new(task).param("EffectClass", effect)
}

fn budget(effect: &str, total: f64) -> BTreeMap<String, Value> {
    let number = |name: &str| (name.to_owned(), Value::from(total));
    BTreeMap::from([("EffectClass".into(), effect.into()), number("Total"), number("PerTarget")])
}

fn rules() -> Arc<Rules> {
    let mut proc = Effect::instant("GE_Proc").add("Health", -1.0);
    proc.application_chance = Some(CHANCE.into());
    let mut echo = Effect::instant("GE_Echo").add("Mana", -1.0);
    echo.application_chance = Some(CHANCE.into());
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 1e9)).with(Attribute::new("Mana", 1e9)))
        .add(proc)
        .add(echo)
        .add(Effect::lasting("GE_Glow", 0.1).grants("State.Glow"))
        .add(
            Ability::new("GA_Strike")
                .task(apply("ApplyEffectToTarget", "GE_Proc"))
                .task(AbilityTask::new("SendEvent").param("EventTag", "Event.Struck")),
        )
        // A strike with a wind-up, during which the client may cancel it.
        .add(
            Ability::new("GA_Heavy")
                .task(AbilityTask::new("WaitDelay").param("Duration", 0.1))
                .task(apply("ApplyEffectToTarget", "GE_Proc")),
        )
        // A strike that repeats while its input is held.
        .add(Effect::lasting("GE_Pause", 0.2).grants("Cooldown.Pause"))
        .add(
            Ability { held_activation: true, ..Ability::new("GA_Held") }
                .cooldown("GE_Pause")
                .task(apply("ApplyEffectToOwner", "GE_Echo")),
        )
        // A strike at the targets that the client reports.
        .add(
            Ability::new("GA_Sweep")
                .task(AbilityTask::new("WaitTargetData").param("TargetingMethod", "Cone").param("MaxTargets", 3.0))
                .task(apply("ApplyEffectToTarget", "GE_Proc")),
        )
        // Hits that the client reports, at most two for each activation.
        .add(
            Ability::new("GA_Volley").task(
                AbilityTask::new("WaitDelay")
                    .param("Duration", 1.0)
                    .param("ClientEffects", vec![Value::Map(budget("GE_Proc", 2.0))]),
            ),
        )
        // A passive that rolls when the owner strikes.
        .add(
            Ability::new("GA_Echo")
                .trigger(Trigger::event("Event.Struck"))
                .task(apply("ApplyEffectToOwner", "GE_Echo")),
        )
        .add(Ability::new("GA_Emote").task(apply("ApplyEffectToOwner", "GE_Glow")))
        .add(Ability::new("GA_Never"))
        .build()
        .unwrap()
}

/// A server and a client that sends what it likes.
#[derive(Clone)]
struct Cheat {
    server: Server,
    rules: Arc<Rules>,
    carrier: Carrier,
    hero: ControllerId,
    foe: ControllerId,
    /// Another controller like the foe.
    twin: ControllerId,
    base: u32,
    /// The seeds that the last packets revealed: the block, and its seed.
    seeds: Vec<(i64, u64)>,
    /// Whether the client acknowledges packets.
    acks: bool,
}

impl Cheat {
    fn new(seed: u64) -> Cheat {
        Cheat::with_sim_seed(seed, 0)
    }

    fn with_sim_seed(seed: u64, sim_seed: u64) -> Cheat {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig { seed: sim_seed, ..SimConfig::default() });
        let mut spawn = || sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        let (hero, foe, twin) = (spawn(), spawn(), spawn());
        for name in ["GA_Strike", "GA_Heavy", "GA_Held", "GA_Sweep", "GA_Volley", "GA_Echo", "GA_Emote"] {
            let grant = AbilityGrant::new(rules.ability(name).unwrap());
            let grant = match name {
                "GA_Strike" => grant.input(STRIKE),
                "GA_Held" => grant.input(HELD),
                _ => grant,
            };
            sim.run(Op::Grant { who: hero, grant }).unwrap();
        }
        let config = ServerConfig { tick_length: LENGTH, commands_per_tick: 64, ..ServerConfig::default() };
        let server = Server::new(sim, config, Secret::known(seed));
        let carrier = Carrier::new(ConnectionConfig::default());
        let mut cheat = Cheat { server, rules, carrier, hero, foe, twin, base: 0, seeds: Vec::new(), acks: true };
        cheat.join();
        cheat
    }

    /// Connects and joins.
    fn join(&mut self) {
        self.server.connect(CHEAT, &[self.hero]).unwrap();
        (self.carrier, self.base) = (Carrier::new(ConnectionConfig::default()), 0);
        let rules = self.rules.fingerprint();
        let hello = ToServer::Hello { protocol: PROTOCOL, rules, padding: vec![0; 256] };
        self.carrier.push(&hello.to_bytes()).unwrap();
        (0..20).for_each(|_| {
            self.give(&[]);
            self.step();
        });
        assert_eq!(self.server.playing().count(), 1);
    }

    fn now(&self) -> SimTime {
        self.server.tick().time(LENGTH)
    }

    /// Sends commands as they are.
    fn give(&mut self, commands: &[Command]) {
        let mut payload = BitWriter::new();
        payload.bits(0, 2);
        put_uint(&mut payload, commands.len() as u64);
        for command in commands {
            let bytes = command.to_bytes();
            put_uint(&mut payload, bytes.len() as u64);
            payload.bytes(&bytes);
        }
        let (now, tick, mut out) = (self.now(), self.server.tick(), Vec::new());
        let is_joined = self.server.playing().count() == 1;
        self.carrier.write(now, tick, &mut out, &mut |bytes, _| {
            if is_joined {
                bytes.extend_from_slice(payload.finish());
            }
        });
        self.server.receive(CHEAT, &out);
    }

    /// Runs a tick and reads the seeds of the server's packets.
    fn step(&mut self) {
        self.server.step(&mut NoHost);
        let (now, acks) = (self.now(), self.acks);
        self.seeds.clear();
        let Cheat { server, carrier, seeds, .. } = self;
        server.send(&mut |_, datagram| {
            // A carrier that is not kept acknowledges nothing.
            let mut reader = carrier.clone();
            let read = reader.read(now, datagram).map(|opened| (opened.tick, opened.payload.to_vec()));
            let Ok((tick, payload)) = read else { return };
            if !payload.is_empty() {
                seeds.extend(revealed(tick, &payload));
            }
            if acks {
                *carrier = reader;
            }
        });
    }

    fn command(&mut self, request: Request) -> Command {
        self.base += 1;
        Command { tick: self.server.tick().plus(1), base: self.base, sub: 0, request, aim: None }
    }

    fn activate(&self, name: &str) -> Request {
        let (who, ability) = (self.hero, self.rules.ability(name).unwrap());
        Request::Activate { who, ability, target: Target::Controller(self.foe) }
    }

    /// Returns how often the strike and the passive succeeded so far, and how often the hero struck.
    fn outcome(&self) -> (f64, f64) {
        let value = |who, name| 1e9 - self.server.sim().get(who, self.rules.attribute(name).unwrap()).unwrap();
        (value(self.foe, "Health") + value(self.twin, "Health"), value(self.hero, "Mana"))
    }

    /// Waits, uses an ability on a target, and lets its wind-up end. With `cancels`, the client cancels the ability and
    /// uses it again first.
    fn use_after(&mut self, wait: u32, name: &str, on_twin: bool, cancels: bool) {
        (0..wait).for_each(|_| {
            self.give(&[]);
            self.step();
        });
        let (who, ability) = (self.hero, self.rules.ability(name).unwrap());
        let target = Target::Controller(if on_twin { self.twin } else { self.foe });
        let start = Request::Activate { who, ability, target };
        if cancels {
            let commands = [start.clone(), Request::Cancel { who, ability }].map(|request| self.command(request));
            self.give(&commands);
            self.step();
        }
        let command = self.command(start);
        self.give(&[command]);
        let ticks = if name == "GA_Heavy" { 8 } else { 1 };
        (0..ticks).for_each(|_| self.step());
    }
}

/// Returns the seeds in a packet of a tick.
fn revealed(tick: Tick, payload: &[u8]) -> Vec<(i64, u64)> {
    let mut from = BitReader::new(payload);
    let is_first = from.bit().unwrap();
    if !is_first {
        return Vec::new();
    }
    get_int(&mut from).unwrap();
    if !from.bit().unwrap() {
        return Vec::new();
    }
    let first = i64::from(tick.0) / BLOCK + get_int(&mut from).unwrap();
    let count = get_uint(&mut from).unwrap() as i64;
    (first..first + count).map(|block| (block, from.bits(32).unwrap())).collect()
}

/// The number of variations of the packets with which a client sends one strike. Higher numbers are plain strikes with
/// other keys.
const WAYS: usize = 14;
/// The number of keys that the client searches.
const KEYS: usize = 60;

/// Sends one strike for the next tick, together with other packets that might change its roll.
fn strike(cheat: &mut Cheat, way: usize) {
    let (who, foe) = (cheat.hero, cheat.foe);
    let target = Target::Controller(foe);
    let plain = cheat.activate("GA_Strike");
    let press = |input| Request::Press { who, input, target };
    let release = |input| Request::Release { who, input };
    let before: Vec<Request> = match way {
        // Junk before the strike: inputs without abilities, rejected activations, moves, another ability.
        3 => vec![press(InputId(70)), release(InputId(70)), press(InputId(71))],
        4 => vec![cheat.activate("GA_Never"), cheat.activate("GA_Never")],
        5 => (0..5).map(|n| Request::Move { who, anchor: Anchor::at([f64::from(n), 0.0, 0.0]) }).collect(),
        6 => vec![cheat.activate("GA_Emote")],
        7 => (0..7).map(|_| cheat.activate("GA_Emote")).collect(),
        8 => vec![release(STRIKE), Request::Cancel { who, ability: cheat.rules.ability("GA_Strike").unwrap() }],
        _ => Vec::new(),
    };
    let mut commands: Vec<Command> = before.into_iter().map(|request| cheat.command(request)).collect();
    let used = if way == 9 { press(STRIKE) } else { plain };
    let mut command = cheat.command(used);
    match way {
        // Other keys.
        1 => (command.base, cheat.base) = (command.base + 37, cheat.base + 37),
        2 => command.sub = 4711,
        WAYS.. => command.sub = (way - WAYS) as u16 * 7 + 1,
        _ => {}
    }
    commands.push(command.clone());
    match way {
        // The same command twice, a different one under the same key, a command of an earlier tick, the reverse order.
        10 => commands.push(command),
        11 => commands.push(Command { request: cheat.activate("GA_Emote"), ..command }),
        12 => {
            let old = cheat.command(cheat.activate("GA_Emote"));
            commands.insert(0, Command { tick: Tick(old.tick.0 - 9), ..old });
        }
        13 => {
            let other = cheat.command(cheat.activate("GA_Emote"));
            commands.insert(0, other);
        }
        _ => {}
    }
    cheat.give(&commands);
}

#[test]
fn no_key_no_order_and_no_other_request_changes_a_roll() {
    let mut cheat = Cheat::new(9);
    let (mut procs, mut echoes) = (0, 0);
    for at in 0..250 {
        let before = cheat.outcome();
        let outcome = |way| {
            let mut copy = cheat.clone();
            strike(&mut copy, way);
            copy.step();
            let after = copy.outcome();
            (after.0 - before.0, after.1 - before.1)
        };
        let expected = outcome(0);
        for way in 1..WAYS {
            assert_eq!(outcome(way), expected, "strike {at}: way {way}");
        }
        procs += (expected.0 > 0.0) as u32;
        echoes += (expected.1 > 0.0) as u32;
        strike(&mut cheat, at % WAYS);
        cheat.step();
    }
    assert!(procs > 2 && echoes > 2, "both happen: {procs}, {echoes}");
}

/// The other ways to use an ability: the ticks to wait, whether the target is the twin, whether the client cancels first.
fn other_uses() -> impl Iterator<Item = (u32, bool, bool)> {
    let waits = (0..40).map(|wait| (wait, wait % 2 == 1, false));
    waits.chain([(0, true, false), (0, false, true), (3, true, true)])
}

#[test]
fn neither_the_time_nor_the_target_of_a_use_nor_a_cancel_changes_its_roll() {
    let mut cheat = Cheat::new(9);
    for ability in ["GA_Strike", "GA_Heavy"] {
        let mut procs = 0;
        for at in 0..80 {
            let before = cheat.outcome().0;
            let outcome = |(wait, on_twin, cancels)| {
                let mut copy = cheat.clone();
                copy.use_after(wait, ability, on_twin, cancels && ability == "GA_Heavy");
                copy.outcome().0 - before
            };
            let expected = outcome((0, false, false));
            let step = if at % 8 == 0 { 1 } else { 7 };
            for way in other_uses().step_by(step) {
                assert_eq!(outcome(way), expected, "{ability} {at}: {way:?}");
            }
            procs += (expected > 0.0) as u32;
            cheat.use_after(at % 3, ability, at % 2 == 0, false);
        }
        assert!(procs > 0, "{ability}");
    }
}

/// A client that knows all its future rolls chooses when and on whom it uses an ability.
#[test]
fn a_client_that_chooses_the_tick_and_the_target_does_not_succeed_more_often() {
    let (mut cheat, uses) = (Cheat::new(3), 700);
    for at in 0..uses {
        let before = cheat.outcome().0;
        let ability = ["GA_Strike", "GA_Heavy"][at % 2];
        let succeeds = |&(wait, on_twin, cancels): &(u32, bool, bool)| {
            let mut copy = cheat.clone();
            copy.use_after(wait, ability, on_twin, cancels && at % 2 == 1);
            copy.outcome().0 > before
        };
        let (wait, on_twin, cancels) = other_uses().step_by(5).find(succeeds).unwrap_or((0, false, false));
        cheat.use_after(wait, ability, on_twin, cancels);
        cheat.server.take_facts(&mut Facts::default());
    }
    let (count, all) = (cheat.outcome().0, uses as f64);
    let (mean, sigma) = (all * CHANCE, (all * CHANCE * (1.0 - CHANCE)).sqrt());
    println!("{count} of {all}, expected {mean}, sigma {sigma:.1}");
    assert!((count - mean).abs() <= 3.0 * sigma, "{count} of {all}, expected {mean}, sigma {sigma:.1}");
}

#[test]
fn a_held_input_rolls_like_other_uses_whenever_it_is_retried() {
    // Holding the input from different ticks on, and each use with its own press.
    let play = |delay: u32, presses: bool| {
        let mut cheat = Cheat::new(9);
        let (who, target) = (cheat.hero, Target::None);
        let mut procs = Vec::new();
        (0..delay).for_each(|_| cheat.step());
        for at in 0..3000 {
            let before = cheat.outcome().1;
            let ability = cheat.rules.ability("GA_Held").unwrap();
            let used = UsedAbility { who, ability };
            let next = cheat.server.sim().remote().next_use(used);
            let request = match presses && at % 2 == 1 {
                true => Request::Release { who, input: HELD },
                false => Request::Press { who, input: HELD, target },
            };
            let command = cheat.command(request);
            cheat.give(&[command]);
            cheat.step();
            if cheat.server.sim().remote().next_use(used) != next {
                procs.push(cheat.outcome().1 > before);
            }
        }
        assert!(procs.len() >= 120, "{}", procs.len());
        procs.truncate(120);
        procs
    };
    let held = play(0, false);
    assert!(held.iter().any(|p| *p));
    assert_eq!(held, play(5, false));
    assert_eq!(held, play(0, true));
}

/// A client that reports several targets could otherwise choose, by their order, which of them gets a known roll.
#[test]
fn rolls_of_several_targets_use_the_seed_of_the_sim() {
    let play = |sim_seed: u64, several: bool| {
        let mut cheat = Cheat::with_sim_seed(9, sim_seed);
        let (who, ability) = (cheat.hero, cheat.rules.ability("GA_Sweep").unwrap());
        let mut results = Vec::new();
        for _ in 0..60 {
            let before = cheat.outcome().0;
            let start = cheat.command(Request::Activate { who, ability, target: Target::None });
            cheat.give(&[start]);
            cheat.step();
            let key = cheat.server.sim().tasks(who).unwrap()[0].key;
            let mut targets = vec![cheat.foe];
            if several {
                targets.extend([cheat.twin, cheat.hero]);
            }
            let answer = Answer { targets, ..Answer::default() };
            let answer = cheat.command(Request::Complete { key, answer });
            cheat.give(&[answer]);
            cheat.step();
            results.push(cheat.outcome().0 - before);
        }
        results
    };
    assert_eq!(play(1, false), play(2, false), "one target draws from the use");
    assert_ne!(play(1, true), play(2, true));
    assert_eq!(play(1, true), play(1, true));
}

#[test]
fn a_failed_chance_counts_towards_the_budget_of_an_effect() {
    let mut cheat = Cheat::new(9);
    let (who, ability) = (cheat.hero, cheat.rules.ability("GA_Volley").unwrap());
    let (effect, target) = (cheat.rules.effect("GE_Proc").unwrap(), cheat.foe);
    let used = UsedAbility { who, ability };
    let mut procs = 0.0;
    for _ in 0..40 {
        let before = (cheat.outcome().0, cheat.server.sim().remote().next_use(used).unwrap());
        let start = cheat.command(Request::Activate { who, ability, target: Target::None });
        cheat.give(&[start]);
        cheat.step();
        for _ in 0..70 {
            let hit = cheat.command(Request::Apply { who, ability, effect, target });
            cheat.give(&[hit]);
            cheat.step();
        }
        let drawn = cheat.server.sim().remote().next_use(used).unwrap() - before.1;
        assert_eq!(drawn, 2, "two rolls for each activation");
        procs += cheat.outcome().0 - before.0;
    }
    assert!(procs > 0.0 && procs < 20.0, "{procs}");
}

#[test]
fn a_client_reports_at_most_as_many_targets_as_the_data_allow() {
    let mut cheat = Cheat::new(9);
    let (who, ability) = (cheat.hero, cheat.rules.ability("GA_Sweep").unwrap());
    let start = cheat.command(Request::Activate { who, ability, target: Target::None });
    cheat.give(&[start]);
    cheat.step();
    let key = cheat.server.sim().tasks(who).unwrap()[0].key;
    let check = |count| cheat.server.sim().remote().check_client_answer(key, count, cheat.server.sim().now());
    assert_eq!((check(3), check(4).is_err()), (Ok(()), true));
}

/// An honest client whose predicted hit fails its chance goes on with the next roll.
#[test]
fn a_failed_chance_of_a_reported_hit_is_predicted_and_sent() {
    let volley = Ability::new("GA_Volley").task(
        AbilityTask::new("WaitDelay")
            .param("Duration", 20.0)
            .param("ClientEffects", vec![Value::Map(budget("GE_Chance", 40.0))]),
    );
    let mut chance = Effect::instant("GE_Chance").add("Mana", -0.01);
    chance.application_chance = Some(0.5.into());
    let builder = builder().add(chance).add(volley);
    let mut g = Game::new(Setup { builder, profile: LinkProfile::GOOD, ..Setup::default() });
    g.net.run(60);
    g.cast("GA_Volley", Target::None).unwrap();
    g.net.run(30);
    let (who, effect) = (g.hero, g.effect("GE_Chance"));
    let ability = g.net.server().sim().rules().ability("GA_Volley").unwrap();
    let corrections = g.ana().counts().corrections;
    let mana = g.seen(who, "Mana");
    for _ in 0..40 {
        let hit = Request::Apply { who, ability, effect, target: who };
        g.net.client_mut("Ana").command(hit).unwrap();
        g.net.run(5);
    }
    g.net.run(60);
    let hits = ((mana - g.seen(who, "Mana")) / 0.01).round();
    assert!((8.0..32.0).contains(&hits), "{hits} of 40");
    assert_eq!(g.ana().counts().corrections, corrections);
}

#[test]
fn a_new_connection_does_not_change_the_next_rolls() {
    let mut cheat = Cheat::new(9);
    let mut procs = 0;
    for _ in 0..60 {
        let before = cheat.outcome().0;
        let mut stays = cheat.clone();
        stays.use_after(0, "GA_Strike", false, false);
        cheat.server.disconnect(CHEAT);
        cheat.join();
        cheat.use_after(0, "GA_Strike", false, false);
        assert_eq!(cheat.outcome().0, stays.outcome().0);
        procs += (cheat.outcome().0 > before) as u32;
    }
    assert!(procs > 0);
}

#[test]
fn a_client_creates_no_numbers_for_controllers_of_others() {
    let mut cheat = Cheat::new(9);
    let others = [cheat.foe, cheat.twin, ControllerId(77_000)];
    for who in others {
        let ability = cheat.rules.ability("GA_Strike").unwrap();
        let command = cheat.command(Request::Activate { who, ability, target: Target::None });
        cheat.give(&[command]);
        cheat.step();
    }
    let sim = cheat.server.sim();
    let has_uses =
        |who| (0..50).map(AbilityId).any(|ability| sim.remote().next_use(UsedAbility { who, ability }).is_some());
    assert!(has_uses(cheat.hero) && !others.into_iter().any(has_uses));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Before each use, the client searches among variations of its packets and among keys for one that succeeds. It sends
/// that one, or the plain command if there is none. `UGAS_SOAK=1` uses the ability 100,000 times for each seed.
#[test]
fn a_client_that_searches_keys_does_not_succeed_more_often() {
    let soak = number("UGAS_SOAK") == Some(1);
    let from = number("UGAS_SOAK_FROM").filter(|_| soak).unwrap_or(0);
    let (seeds, uses) = if soak { (number("UGAS_SOAK_SEEDS").unwrap_or(1), 100_000) } else { (1, 1_000) };
    // The long form searches fewer keys for each of its many uses.
    let keys = if soak { KEYS / 6 } else { KEYS };
    let (mut procs, mut echoes) = (0.0, 0.0);
    for seed in from..from + seeds {
        let mut cheat = Cheat::new(seed);
        for at in 0..uses {
            let before = cheat.outcome();
            let succeeds = |way: &usize| {
                let mut copy = cheat.clone();
                strike(&mut copy, *way);
                copy.step();
                copy.outcome().0 > before.0
            };
            // With every variation for each use the test would take too long; each has its turn.
            let ways = [at % WAYS, (at / WAYS) % WAYS].into_iter().chain(WAYS..WAYS + keys);
            let best = ways.into_iter().find(succeeds).unwrap_or(0);
            strike(&mut cheat, best);
            cheat.step();
            cheat.server.take_facts(&mut Facts::default());
        }
        procs += cheat.outcome().0;
        echoes += cheat.outcome().1;
    }
    let all = uses as f64 * seeds as f64;
    let (mean, sigma) = (all * CHANCE, (all * CHANCE * (1.0 - CHANCE)).sqrt());
    for (what, count) in [("strikes", procs), ("echoes", echoes)] {
        println!("{what}: {count} of {all}, expected {mean}, sigma {sigma:.1}");
        assert!((count - mean).abs() <= 3.0 * sigma, "{what}: {count} of {all}, expected {mean}, sigma {sigma:.1}");
    }
    if soak {
        let (name, to) = ("a_client_that_searches_keys_does_not_succeed_more_often", from + seeds);
        println!("soak: name={name} seeds={from}..{to} cases={all}");
    }
}

#[test]
fn a_late_command_rolls_as_if_it_had_arrived_in_time() {
    let mut cheat = Cheat::new(9);
    let (mut procs, mut late_by) = (0, 0);
    for _ in 0..300 {
        let before = cheat.outcome();
        let command = cheat.command(cheat.activate("GA_Strike"));
        let mut in_time = cheat.clone();
        in_time.give(std::slice::from_ref(&command));
        in_time.step();
        late_by = late_by % 12 + 1;
        (0..late_by).for_each(|_| cheat.step());
        cheat.give(std::slice::from_ref(&command));
        cheat.step();
        assert_eq!(cheat.outcome(), in_time.outcome(), "{late_by} ticks late");
        procs += (cheat.outcome() != before) as u32;
    }
    assert!(procs > 5, "{procs}");
}

#[test]
fn seeds_are_revealed_at_most_half_a_second_and_a_block_ahead() {
    let most_ahead = |acks: bool, least: i64, most: i64| {
        let mut cheat = Cheat::new(9);
        cheat.acks = acks;
        let mut known = BTreeMap::new();
        for at in 0..200 {
            cheat.give(&[]);
            cheat.step();
            let tick = i64::from(cheat.server.tick().0);
            for &(block, seed) in &cheat.seeds {
                let last = block * BLOCK + BLOCK - 1;
                assert!(last <= tick + most, "tick {tick}: a seed up to tick {last}");
                assert_eq!(*known.entry(block).or_insert(seed), seed, "a block has one seed");
            }
            let newest = known.keys().next_back().map_or(0, |b: &i64| b * BLOCK + BLOCK - 1);
            assert!(at < 20 || newest >= tick + least, "tick {tick}: seeds up to tick {newest}");
        }
        let mut seeds: Vec<u64> = known.into_values().collect();
        seeds.sort();
        seeds.dedup();
        assert!(seeds.len() >= 24, "{}", seeds.len());
    };
    // Half a second is 30 ticks; a block that has begun by then is revealed.
    most_ahead(true, 30, 37);
    // A client that acknowledges nothing seems to have a longer round trip: at most a second.
    most_ahead(false, 30, 67);
}

/// Rules with abilities and an effect that roll.
fn fair(chance: f64) -> RulesBuilder {
    builder()
        .add(TagRegistry::new(["Hit.Critical"]))
        .add(Effect::instant("GE_Gamble").execute("ExecCalc_Gamble"))
        .add(Effect::lasting("GE_Fever", 30.0).every(0.25).execute("ExecCalc_Gamble"))
        .calc_fn("ExecCalc_Gamble", [], move |cx| {
            let critical = cx.roll(chance);
            cx.add("Mana", if critical { -0.02 } else { -0.01 });
            if critical {
                cx.tag_context("Hit.Critical");
            }
        })
        .add(Ability::new("GA_Gamble").task(apply("ApplyEffectToOwner", "GE_Gamble")))
        .add(
            Ability::new("GA_Slow")
                .task(AbilityTask::new("WaitDelay").param("Duration", 0.2))
                .task(apply("ApplyEffectToOwner", "GE_Gamble")),
        )
}

/// Records the rolls of ops: whether each was critical.
fn record<'f>(rolls: &mut BTreeMap<OpId, bool>, effect: EffectId, facts: impl Iterator<Item = &'f Fact>) {
    for fact in facts.filter(|f| f.effect == effect) {
        let is_critical = matches!(fact.kind, FactKind::ContextTag { .. });
        *rolls.entry(fact.root).or_default() |= is_critical;
    }
}

/// The result of a session in which Ana uses an ability that rolls.
#[derive(Default)]
struct Gamble {
    corrections: u64,
    undone: usize,
    predicted: BTreeMap<OpId, bool>,
    rolled: BTreeMap<OpId, bool>,
}

fn gamble(profile: LinkProfile, ability: &str) -> Gamble {
    let mut g = Game::new(Setup { builder: fair(0.5), profile, ..Setup::default() });
    g.net.run(120);
    let (effect, mut facts, mut result) = (g.effect("GE_Gamble"), Facts::default(), Gamble::default());
    let before = g.ana().counts().corrections;
    g.facts();
    for at in 0..500 {
        if at % 9 == 0 {
            // The window may be closed.
            let _ = g.cast(ability, Target::None);
        }
        g.net.step();
        g.net.server_mut().take_facts(&mut facts);
        record(&mut result.rolled, effect, facts.list.iter());
        let seen = g.facts();
        result.undone += seen.iter().filter(|(_, certainty)| *certainty == Certainty::Undone).count();
        let is_predicted = |(fact, certainty)| (certainty == Certainty::Predicted).then_some(fact);
        record(&mut result.predicted, effect, seen.iter().map(|(f, c)| (f, *c)).filter_map(is_predicted));
    }
    result.corrections = g.ana().counts().corrections - before;
    result
}

#[test]
fn predicted_rolls_equal_those_of_the_server_on_every_link() {
    for (name, profile) in LinkProfile::ALL {
        let Gamble { corrections, undone, predicted, rolled } = gamble(profile, "GA_Gamble");
        let both: Vec<(bool, bool)> =
            predicted.iter().filter_map(|(op, critical)| Some((*critical, *rolled.get(op)?))).collect();
        println!("{name}: {} rolls, {corrections} corrections, {undone} undone", both.len());
        assert!(both.iter().all(|(predicted, rolled)| predicted == rolled), "{name}: {both:?}");
        let critical = both.iter().filter(|(_, critical)| *critical).count();
        assert!(both.len() >= 8 && critical > 0 && critical < both.len(), "{name}: {critical} of {}", both.len());
        if ["lan", "good"].contains(&name) {
            assert_eq!((corrections, undone, both.len() >= 50), (0, 0, true), "{name}");
            // The roll of an ability after a delay belongs to the use of the ability.
            let slow = gamble(profile, "GA_Slow");
            assert_eq!((slow.corrections, slow.undone, slow.rolled.len() >= 20), (0, 0, true), "{name}");
        }
    }
}

#[test]
fn rolls_of_server_effects_on_an_own_controller_are_predicted() {
    let mut g = Game::new(Setup { builder: fair(0.5), profile: LinkProfile::GOOD, ..Setup::default() });
    let (hero, fever) = (g.hero, g.effect("GE_Fever"));
    g.net.server_mut().sim_mut().apply(&Spec::new(fever, hero)).unwrap();
    g.net.run(90);
    let before = g.ana().counts();
    let mana = g.seen(hero, "Mana");
    g.facts();
    g.net.run(600);
    let after = g.ana().counts();
    assert_eq!((after.corrections - before.corrections, after.resimulated - before.resimulated), (0, 0));
    assert!(g.facts().iter().all(|(_, certainty)| *certainty != Certainty::Undone));
    let spent = mana - g.seen(hero, "Mana");
    assert!((0.45..0.75).contains(&spent), "40 executions of 0.01 or 0.02: {spent}");
}
