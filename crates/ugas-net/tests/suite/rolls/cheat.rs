//! A cheating client with its server. The client sends arbitrary commands.

use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Anchor, ControllerId, InputId, NoHost, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Target,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect, Trigger, Value};
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::internals::wire::number::{get_int, get_uint, put_uint};
use ugas_net::message::{Command, PROTOCOL, Request, ToServer};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::{PeerId, Tick};

pub(crate) const LENGTH: SimTime = SimTime::frames(1, 60);
pub(crate) const CHEAT: PeerId = PeerId(1);
/// The ticks of a block of seeds.
pub(crate) const BLOCK: i64 = 8;
pub(crate) const STRIKE: InputId = InputId(3);
pub(crate) const HELD: InputId = InputId(4);
pub(crate) const CHANCE: f64 = 0.05;

pub(crate) fn apply(task: &str, effect: &str) -> AbilityTask {
    AbilityTask::new(task).param("EffectClass", effect)
}

pub(crate) fn budget(effect: &str, total: f64) -> BTreeMap<String, Value> {
    let number = |name: &str| (name.to_owned(), Value::from(total));
    BTreeMap::from([("EffectClass".into(), effect.into()), number("Total"), number("PerTarget")])
}

pub(crate) fn rules() -> Arc<Rules> {
    let mut proc = Effect::instant("GE_Proc").add("Health", -1.0);
    proc.application_chance = Some(CHANCE.into());
    let mut echo = Effect::instant("GE_Echo").add("Mana", -1.0);
    echo.application_chance = Some(CHANCE.into());
    // The server always rejects it, and its list for this case rolls.
    let mut sorry = Ability { target_required_tags: vec!["State.Glow".into()], ..Ability::new("GA_Sorry") };
    sorry.on_mispredicted.push(apply("ApplyEffectToOwner", "GE_Echo"));
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
        .add(sorry)
        // The server applies it: it rolls from the blocks of ticks.
        .add(Effect::infinite("GE_Fever").every(0.1).execute("ExecCalc_Fever"))
        .calc_fn("ExecCalc_Fever", [], |cx| {
            let amount = if cx.roll(0.5) { -1.0 } else { 0.0 };
            cx.add("Mana", amount);
        })
        .build()
        .unwrap()
}

/// A server and a client that sends what it likes.
#[derive(Clone)]
pub(crate) struct Cheat {
    pub(crate) server: Server,
    pub(crate) rules: Arc<Rules>,
    carrier: Carrier,
    pub(crate) hero: ControllerId,
    pub(crate) foe: ControllerId,
    /// Another controller like the foe.
    pub(crate) twin: ControllerId,
    pub(crate) base: u32,
    /// The seeds that the last packets revealed: the block, and its seed.
    pub(crate) seeds: Vec<(i64, u64)>,
    /// Whether the client acknowledges packets.
    pub(crate) acks: bool,
}

impl Cheat {
    pub(crate) fn new(seed: u64) -> Cheat {
        Cheat::with_sim_seed(seed, 0)
    }

    pub(crate) fn with_sim_seed(seed: u64, sim_seed: u64) -> Cheat {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig { seed: sim_seed, ..SimConfig::default() });
        let mut spawn = || sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
        let (hero, foe, twin) = (spawn(), spawn(), spawn());
        for name in ["GA_Strike", "GA_Heavy", "GA_Held", "GA_Sweep", "GA_Volley", "GA_Echo", "GA_Emote", "GA_Sorry"] {
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
    pub(crate) fn join(&mut self) {
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

    pub(crate) fn now(&self) -> SimTime {
        self.server.tick().time(LENGTH)
    }

    /// Sends commands as they are.
    pub(crate) fn give(&mut self, commands: &[Command]) {
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
    pub(crate) fn step(&mut self) {
        self.server.step(&mut NoHost);
        let (now, acks) = (self.now(), self.acks);
        self.seeds.clear();
        let Cheat { server, carrier, seeds, .. } = self;
        server.send(&mut |_, datagram| {
            // A carrier that is not kept acknowledges nothing.
            let mut reader = carrier.clone();
            let read = reader.read(now, datagram).map(|opened| (opened.tick, opened.payload.to_vec()));
            let Ok((tick, payload)) = read else { return };
            // A client that does not take its messages stops reading packets when too many have piled up.
            while reader.next_message().is_some() {}
            if !payload.is_empty() {
                seeds.extend(revealed(tick, &payload));
            }
            if acks {
                *carrier = reader;
            }
        });
    }

    pub(crate) fn command(&mut self, request: Request) -> Command {
        self.base += 1;
        Command { tick: self.server.tick().plus(1), base: self.base, sub: 0, request, aim: None }
    }

    pub(crate) fn activate(&self, name: &str) -> Request {
        let (who, ability) = (self.hero, self.rules.ability(name).unwrap());
        Request::Activate { who, ability, target: Target::Controller(self.foe) }
    }

    /// Returns how often the strike and the passive succeeded so far, and how often the hero struck.
    pub(crate) fn outcome(&self) -> (f64, f64) {
        let value = |who, name| 1e9 - self.server.sim().get(who, self.rules.attribute(name).unwrap()).unwrap();
        (value(self.foe, "Health") + value(self.twin, "Health"), value(self.hero, "Mana"))
    }

    /// Waits, uses an ability on a target, and lets its wind-up end. With `cancels`, the client cancels the ability and
    /// uses it again first.
    pub(crate) fn use_after(&mut self, wait: u32, name: &str, on_twin: bool, cancels: bool) {
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
pub(crate) fn revealed(tick: Tick, payload: &[u8]) -> Vec<(i64, u64)> {
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
pub(crate) const WAYS: usize = 14;
/// The number of keys that the client searches.
pub(crate) const KEYS: usize = 60;

/// Sends one strike for the next tick, together with other packets that might change its roll.
pub(crate) fn strike(cheat: &mut Cheat, way: usize) {
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
