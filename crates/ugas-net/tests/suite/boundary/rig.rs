//! A running server, a valid client (Ann), and Mallory, who sends arbitrary datagrams.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, Anchor, ControllerId, EffectId, InputId, NoHost, Op, Rules, RulesBuilder, Sim, SimConfig,
    SimTime, SpawnSpec, Target,
};
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, Calculation, Cast, ControllerReplication, Effect, Magnitude,
    NetExecution, Timeline,
};
use ugas_net::authority::{MovementConfig, RejectReason};
use ugas_net::client::{Client, ClientConfig};
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::internals::wire::bits::BitWriter;
use ugas_net::internals::wire::number::put_uint;
use ugas_net::message::{Command, PROTOCOL, Request, ToServer};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::{PeerId, Tick};

pub(crate) const LENGTH: SimTime = SimTime::frames(1, 60);
pub(crate) const ANN: PeerId = PeerId(1);
pub(crate) const MALLORY: PeerId = PeerId(2);
/// The ticks of a session before the attack.
const WARM: u32 = 60;
/// The tick at which sessions are compared.
const END: u32 = 240;
/// The input that Mallory's bolt is bound to.
pub(crate) const FIRE: InputId = InputId(0);
/// The input of the ability that commits when it is released.
pub(crate) const DRAW: InputId = InputId(1);

fn task(name: &str) -> AbilityTask {
    AbilityTask::new(name)
}

fn strike(effect: &str) -> AbilityTask {
    task("ApplyEffectToTarget").param("EffectClass", effect)
}

fn cast() -> Cast {
    Cast { length: 1.0, ticks: Some(1), ..Cast::default() }
}

/// An ability whose client chooses the target of its tick among the marked actors.
fn seeker(name: &str, net: NetExecution) -> Ability {
    let mut seeker = Ability::new(name).cast_as(cast()).net(net).range(500.0);
    seeker.target_required_tags.push("State.Marked".into());
    seeker.on_predicted_tick.push(task("SetTarget").param("Target", "Nearest"));
    seeker.on_server_tick.push(strike("GE_Bolt"));
    seeker
}

pub(crate) fn rules() -> Arc<Rules> {
    let builder = with_strikes(Rules::builder());
    let builder = with_answers(builder);
    with_policies(builder).build().unwrap()
}

/// Adds the attributes and the abilities that strike at once or after a delay.
fn with_strikes(builder: RulesBuilder) -> RulesBuilder {
    let set = AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 1000.0).min(0.0))
        .with(Attribute::new("Mana", 1000.0).min(0.0));
    let mut death = Effect::instant("GE_InstantKill").add("Health", -5000.0);
    death.effect_tags.push("Gameplay.Effect.AuthoritativeOnly".into());
    builder
        .add(set)
        .add(Effect::instant("GE_Cost").add("Mana", -1.0))
        .add(Effect::lasting("GE_Cooldown", 0.5).grants("Cooldown.Bolt"))
        .add(Effect::instant("GE_Bolt").add("Health", -25.0))
        .add(Effect::instant("GE_Beam").add("Health", -2.0))
        .add(death)
        .add(Ability::new("GA_Bolt").cost("GE_Cost").cooldown("GE_Cooldown").range(500.0).task(strike("GE_Bolt")))
        .add(Ability::new("GA_Jab").gcd(0.5).task(strike("GE_Beam")))
        .add(Ability::new("GA_Kick").gcd(0.5).task(strike("GE_Beam")))
        .add(
            Ability::new("GA_Hold")
                .task(task("WaitDelay").param("Duration", 60.0).client_effect("GE_Bolt", 1, 1))
                .task(strike("GE_Bolt")),
        )
        .add(Effect::instant("GE_Slam").add("Health", -50.0))
        .add(Ability::new("GA_Slam").task(task("WaitDelay").param("Duration", 3.0)).task(strike("GE_Slam")))
        .add(
            Ability::new("GA_Volley")
                .range(500.0)
                .task(task("WaitDelay").param("Duration", 1.0).client_effect("GE_Beam", 3, 2))
                .task(task("WaitDelay").param("Duration", 60.0)),
        )
        .add(Ability::new("GA_Dash").charges(2, 0.5))
        .add(
            Ability::new("GA_Beam")
                .range(500.0)
                .task(task("WaitDelay").param("Duration", 60.0).client_effect("GE_Beam", 1, 1))
                .task(strike("GE_Beam"))
                .task(strike("GE_InstantKill")),
        )
}

/// Adds the abilities that wait for an answer of the client or of a timeline.
fn with_answers(builder: RulesBuilder) -> RulesBuilder {
    builder
        .add(
            Ability::new("GA_Aim")
                .range(500.0)
                .task(task("WaitTargetData").param("TargetingMethod", "Trace").param("MaxRange", 10_000.0))
                .task(strike("GE_Bolt")),
        )
        .add(
            Ability::new("GA_Snipe")
                .task(task("WaitTargetData").param("TargetingMethod", "Trace"))
                .task(strike("GE_Far")),
        )
        .add(
            Ability::new("GA_Draw")
                .manual()
                .cooldown("GE_DrawCooldown")
                .task(task("WaitInputRelease"))
                .task(task("CommitAbility"))
                .task(strike("GE_Bolt")),
        )
        .add(Effect::lasting("GE_DrawCooldown", 3.0).grants("Cooldown.Draw"))
        .add(
            Ability::new("GA_Probe")
                .task(task("WaitTargetData").param("TargetingMethod", "Trace").param("MaxRange", 500.0))
                .task(task("ApplyEffectToOwner").param("EffectClass", "GE_Far")),
        )
        .add(Effect::instant("GE_Far").add("Health", Magnitude::calculation("MMC_Far")))
        .add(Calculation::new("MMC_Far").gives("-hit.distance"))
        .add(Ability::new("GA_Parry").task(task("WaitOverlap").param("Radius", 50.0)).task(strike("GE_Bolt")))
        .add(
            Ability::new("GA_Reel")
                .task(
                    task("WaitAnimationEvent")
                        .param("EventName", "Bite")
                        .param("ClientAnswers", true)
                        .param("ClientAnswersAfter", 0.5),
                )
                .task(strike("GE_Bolt")),
        )
        .add(
            Ability::new("GA_Windup")
                .task(task("PlayMontage").param("MontageToPlay", "Windup"))
                .task(task("WaitMontageEnded").param("Montage", "Windup").param("ClientAnswers", true))
                .task(strike("GE_Bolt")),
        )
        .add(Timeline::new("TL_Windup", 1.0).montage("Windup"))
}

/// Adds the abilities that the server validates, that only one side runs, or that the client may not cancel.
fn with_policies(builder: RulesBuilder) -> RulesBuilder {
    builder
        .add(Ability::new("GA_Judged").validated("Server", Some(60_000)).task(strike("GE_Bolt")))
        .add(Ability::new("GA_Never").task(strike("GE_Bolt")))
        .add(seeker("GA_Seek", NetExecution::LocalPredicted))
        .add(seeker("GA_Led", NetExecution::ServerInitiated))
        .add({
            let mut hex = Ability::new("GA_Hex").cast_as(cast());
            hex.target_required_tags.push("State.Marked".into());
            hex.on_tick.push(strike("GE_Bolt"));
            hex
        })
        .add({
            let mut risky = Ability::new("GA_Risky");
            risky.on_mispredicted.push(task("ApplyEffectToOwner").param("EffectClass", "GE_Sorry"));
            risky
        })
        .add(Effect::instant("GE_Sorry").add("Mana", -1.0))
        .add(Effect::infinite("GE_Mark").grants("State.Marked"))
        .add(Effect::infinite("GE_Slow").add("Mana", -1000.0))
        .add(Ability::new("GA_Server").net(NetExecution::ServerOnly).task(strike("GE_Bolt")))
        .add(Ability::new("GA_Local").net(NetExecution::LocalOnly).task(strike("GE_Bolt")))
        .add({
            let mut kept = Ability::new("GA_Kept").task(task("WaitDelay").param("Duration", 60.0));
            kept.client_may_cancel = Some(false);
            kept
        })
}

/// A session that Mallory may attack.
pub(crate) struct Rig {
    pub(crate) server: Server,
    pub(crate) rules: Arc<Rules>,
    /// The controllers of Ann and Mallory, and two without an owner: near and far away.
    pub(crate) hero: ControllerId,
    pub(crate) rogue: ControllerId,
    pub(crate) foe: ControllerId,
    pub(crate) far: ControllerId,
    pub(crate) ann: Client,
    pub(crate) mallory: Carrier,
    base: u32,
    /// The most that the server retained for its peers.
    pub(crate) held: usize,
    /// Bytes the server sent to Mallory.
    pub(crate) sent_bytes: usize,
}

impl Rig {
    /// Ann and Mallory play.
    pub(crate) fn new() -> Rig {
        let mut rig = Rig::silent();
        rig.hello(PROTOCOL, rig.rules.fingerprint());
        rig.run_to(WARM);
        assert_eq!(rig.server.playing().count(), 2, "both have joined");
        rig
    }

    /// Ann and Mallory play under these speed limits.
    pub(crate) fn with(movement: MovementConfig) -> Rig {
        let mut rig = Rig::silent_with(movement);
        rig.hello(PROTOCOL, rig.rules.fingerprint());
        rig.run_to(WARM);
        rig
    }

    /// Mallory is connected and has sent nothing.
    pub(crate) fn silent() -> Rig {
        Rig::silent_with(MovementConfig { max_speed: 100.0, ..MovementConfig::default() })
    }

    fn silent_with(movement: MovementConfig) -> Rig {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let vitals = rules.set("Vitals").unwrap();
        let mut spawn = |x: f64| {
            let anchor = Some(Anchor::at([x, 0.0, 0.0]));
            sim.spawn(SpawnSpec { anchor, ..SpawnSpec::sets([vitals]) }).unwrap()
        };
        let (hero, rogue, foe, far) = (spawn(0.0), spawn(10.0), spawn(400.0), spawn(800.0));
        for who in [hero, rogue] {
            for (ability, name) in rules.ability_list().filter(|(_, name)| *name != "GA_Never") {
                let grant = AbilityGrant::new(ability).level(if name == "GA_Beam" { 3 } else { 1 });
                let grant = match name {
                    "GA_Bolt" => grant.input(FIRE),
                    "GA_Draw" => grant.input(DRAW),
                    _ => grant,
                };
                sim.run(Op::Grant { who, grant }).unwrap();
            }
        }
        let replication = ControllerReplication::Full;
        let config = ServerConfig { replication, tick_length: LENGTH, movement, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.connect(ANN, &[hero]).unwrap();
        server.connect(MALLORY, &[rogue]).unwrap();
        let ann = Client::new(rules.clone(), ClientConfig::default());
        let mallory = Carrier::new(ConnectionConfig::default());
        Rig { server, rules, hero, rogue, foe, far, ann, mallory, base: 0, held: 0, sent_bytes: 0 }
    }

    pub(crate) fn ability(&self, name: &str) -> AbilityId {
        self.rules.ability(name).unwrap()
    }

    pub(crate) fn effect(&self, name: &str) -> EffectId {
        self.rules.effect(name).unwrap()
    }

    pub(crate) fn health(&self, who: ControllerId) -> f64 {
        self.server.sim().get(who, self.rules.attribute("Health").unwrap()).unwrap()
    }

    pub(crate) fn now(&self) -> SimTime {
        self.server.tick().time(LENGTH)
    }

    /// Runs a tick; Ann activates an ability from time to time.
    pub(crate) fn step(&mut self) {
        self.step_with(|_, _| ());
    }

    /// Runs a tick and passes the datagrams to other peers to a function.
    pub(crate) fn step_with(&mut self, mut on_datagram: impl FnMut(PeerId, &[u8])) {
        let now = self.now();
        self.server.step(&mut NoHost);
        let Rig { server, ann, mallory, sent_bytes, .. } = self;
        server.send(&mut |peer, datagram| match peer {
            ANN => ann.receive(datagram),
            MALLORY => {
                *sent_bytes += datagram.len();
                let _ = mallory.read(now, datagram);
            }
            other => on_datagram(other, datagram),
        });
        ann.update(LENGTH);
        if server.tick().0 % 40 == 5 {
            let ability = self.rules.ability("GA_Jab").unwrap();
            // Fails before she has joined.
            let _ = ann.command(Request::Activate { who: self.hero, ability, target: Target::Controller(self.foe) });
        }
        ann.send(&mut |datagram| server.receive(ANN, datagram));
        self.held = self.held.max(self.server.retained());
    }

    pub(crate) fn run_to(&mut self, tick: u32) {
        while self.server.tick().0 < tick {
            self.step();
        }
    }

    /// Mallory's datagram with this payload.
    pub(crate) fn datagram(&mut self, tick: Tick, payload: &[u8]) -> Vec<u8> {
        let (now, mut out) = (self.now(), Vec::new());
        self.mallory.write(now, tick, &mut out, &mut |bytes, room| {
            bytes.extend_from_slice(&payload[..payload.len().min(room)]);
        });
        out
    }

    /// Mallory sends bytes.
    pub(crate) fn send(&mut self, datagram: &[u8]) {
        self.server.receive(MALLORY, datagram);
        self.held = self.held.max(self.server.retained());
    }

    /// Sends the hello of Mallory.
    pub(crate) fn hello(&mut self, protocol: u32, rules: u64) {
        let hello = ToServer::Hello { protocol, rules, padding: vec![0; 256] };
        self.push(&hello.to_bytes());
    }

    /// Mallory leaves and connects again at once.
    pub(crate) fn rejoin(&mut self) {
        self.server.disconnect(MALLORY);
        self.server.connect(MALLORY, &[self.rogue]).unwrap();
        (self.mallory, self.base) = (Carrier::new(ConnectionConfig::default()), 0);
        self.hello(PROTOCOL, self.rules.fingerprint());
        for _ in 0..3 {
            self.step();
        }
        assert_eq!(self.server.playing().count(), 2, "both have joined");
    }

    /// Mallory sends a reliable message.
    pub(crate) fn push(&mut self, message: &[u8]) {
        self.mallory.push(message).unwrap();
        let datagram = self.datagram(self.server.tick(), &[]);
        self.send(&datagram);
    }

    /// A command under the next key, for the next tick.
    pub(crate) fn command(&mut self, request: Request) -> Command {
        self.base += 1;
        Command { tick: self.server.tick().plus(1), base: self.base, sub: 0, request, aim: None }
    }

    /// Mallory sends commands as they are.
    pub(crate) fn give(&mut self, commands: &[Command]) {
        let bytes: Vec<Vec<u8>> = commands.iter().map(Command::to_bytes).collect();
        let payload = payload(&bytes);
        let datagram = self.datagram(self.server.tick(), &payload);
        self.send(&datagram);
    }

    /// Sends a request of Mallory and runs the tick.
    pub(crate) fn ask(&mut self, request: Request) {
        let command = self.command(request);
        self.give(&[command]);
        self.step();
    }

    pub(crate) fn activate(&self, name: &str, target: Target) -> Request {
        Request::Activate { who: self.rogue, ability: self.ability(name), target }
    }

    pub(crate) fn apply(&self, ability: &str, effect: &str, target: ControllerId) -> Request {
        Request::Apply { who: self.rogue, ability: self.ability(ability), effect: self.effect(effect), target }
    }

    pub(crate) fn count(&self, reason: RejectReason) -> u64 {
        self.server.counts().of(reason)
    }
}

/// The payload of a client with one controller that claims nothing about it.
pub(crate) fn payload(commands: &[Vec<u8>]) -> Vec<u8> {
    let mut out = BitWriter::new();
    out.bits(0, 2);
    put_uint(&mut out, commands.len() as u64);
    for command in commands {
        put_uint(&mut out, command.len() as u64);
        out.bytes(command);
    }
    out.finish().to_vec()
}

/// Plays two sessions that differ in one attack. The attack is counted under these reasons only, the server's state equals that
/// of the session without it, and the retained memory is bounded.
pub(crate) fn refused(reasons: &[(RejectReason, u64)], attack: impl Fn(&mut Rig)) {
    refused_in([Rig::new(), Rig::new()], reasons, attack);
}

pub(crate) fn refused_in([mut calm, mut hit]: [Rig; 2], reasons: &[(RejectReason, u64)], attack: impl Fn(&mut Rig)) {
    attack(&mut hit);
    calm.run_to(END);
    hit.run_to(END);
    let counts: Vec<(RejectReason, u64)> = hit.server.counts().iter().collect();
    let mut expected = reasons.to_vec();
    expected.sort();
    assert_eq!(counts, expected, "what was refused, by reason");
    assert!(calm.server.counts().iter().next().is_none(), "nothing is rejected without Mallory");
    assert_eq!(hit.server.sim_mut().hash(), calm.server.sim_mut().hash(), "the state is as without the attack");
    assert_eq!(hit.ann.counts(), calm.ann.counts(), "Ann plays as without the attack");
    assert!(hit.health(hit.foe) < 1000.0, "Ann plays");
    assert!(hit.held < calm.held + 2 * MOST_HELD, "{} held, {} without the attack", hit.held, calm.held);
}

/// The most that a server retains for one client: commands, verdicts, packets, a window of fragments and a message.
pub(crate) const MOST_HELD: usize = 256 * 480 + 64 * 1024 + 2048;
