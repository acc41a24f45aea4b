//! An honest client is never flagged, on any link: it runs at its maximum speed with uneven frames, mashes a key on cooldown,
//! is slowed by others, blinks, answers target requests, cancels and releases, and it and the server hitch.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Anchor, Answer, ControllerId, Hit, InputId, NoHost, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec,
    Spec, Target,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect};
use ugas_net::authority::{AuthoredRange, PolicyDecision, TargetPolicy};
use ugas_net::client::{Client, ClientConfig, ClientState};
use ugas_net::link::{Link, LinkProfile};
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

const PEER: PeerId = PeerId(1);
const LENGTH: SimTime = SimTime::frames(1, 60);
const FIRE: InputId = InputId(0);
const BLINK: InputId = InputId(1);
/// How far a blink moves its hero.
const BLINK_LENGTH: f64 = 8.0;

fn rules() -> Arc<Rules> {
    let set = AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 1.0e6))
        .with(Attribute::new("Mana", 1.0e6).min(0.0))
        .with(Attribute::new("MoveSpeed", 6.0));
    let hit = || AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Bolt");
    let own = |effect: &str| AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect);
    let aim = AbilityTask::new("WaitTargetData").param("TargetingMethod", "Trace").param("MaxRange", 10_000.0);
    let mut blink = Ability::new("GA_Blink").cooldown("GE_BlinkCooldown").task(own("GE_Blink"));
    blink.tags.activation_blocked_tags.push("State.Stunned".into());
    Rules::builder()
        .add(set)
        .add(Effect::instant("GE_Bolt").add("Health", -25.0))
        .add(Effect::lasting("GE_Cooldown", 0.5).grants("Cooldown.Bolt"))
        .add(Effect::lasting("GE_BlinkCooldown", 6.0).grants("Cooldown.Blink"))
        .add(Effect::lasting("GE_Blink", 0.5).grants("State.Blinking"))
        .add(Effect::lasting("GE_Haste", 1.0).add("MoveSpeed", 3.0))
        .add(Effect::lasting("GE_Slow", 1.0).add("MoveSpeed", -4.0))
        .add(Effect::lasting("GE_Stun", 1.0).grants("State.Stunned"))
        .add(Ability::new("GA_Bolt").cooldown("GE_Cooldown").range(500.0).task(hit()))
        .add(Ability::new("GA_Haste").task(own("GE_Haste")))
        .add(Ability::new("GA_Aim").range(500.0).task(aim).task(hit()))
        .add(Ability::new("GA_Hold").task(AbilityTask::new("WaitDelay").param("Duration", 60.0)))
        .add(blink)
        .build()
        .unwrap()
}

/// Accepts one move of the length of a blink in the tick of the blink.
struct Blinks;

fn is_blinking(sim: &Sim, who: ControllerId) -> bool {
    let blink = sim.rules().find_effect("GE_Blink");
    sim.effects(who).unwrap_or_default().iter().any(|e| Some(e.effect) == blink && e.elapsed == SimTime::ZERO)
}

impl TargetPolicy for Blinks {
    fn can_target(&self, sim: &Sim, who: ControllerId, ability: ugas_core::AbilityId, target: ControllerId) -> bool {
        AuthoredRange.can_target(sim, who, ability, target)
    }

    fn can_move(&self, sim: &Sim, who: ControllerId, _: &Anchor) -> PolicyDecision {
        if is_blinking(sim, who) { PolicyDecision::Accept } else { PolicyDecision::BuiltIn }
    }
}

struct Play {
    rules: Arc<Rules>,
    server: Server,
    client: Client,
    up: Link,
    down: Link,
    now: SimTime,
    hero: ControllerId,
    foe: ControllerId,
    dice: u64,
    direction: f64,
    frames: u64,
    /// The length of the frames that the host saved up.
    rest: SimTime,
}

impl Play {
    fn new(profile: LinkProfile, seed: u64) -> Play {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let mut spawn = |x: f64| {
            let sets = SpawnSpec::sets([rules.set("Vitals").unwrap()]);
            sim.spawn(SpawnSpec { anchor: Some(Anchor::at([x, 0.0, 0.0])), ..sets }).unwrap()
        };
        let (hero, foe) = (spawn(0.0), spawn(30.0));
        for (ability, name) in rules.ability_list().collect::<Vec<_>>() {
            let grant = AbilityGrant::new(ability);
            let grant = match name {
                "GA_Bolt" => grant.input(FIRE),
                "GA_Blink" => grant.input(BLINK),
                _ => grant,
            };
            sim.run(Op::Grant { who: hero, grant }).unwrap();
        }
        let config = ServerConfig { replication: ControllerReplication::Full, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.set_target_policy(Blinks);
        server.connect(PEER, &[hero]).unwrap();
        let client = Client::new(rules.clone(), ClientConfig::default());
        let (up, down) = (Link::new(profile, seed), Link::new(profile, seed + 1000));
        let (now, rest) = (SimTime::ZERO, SimTime::ZERO);
        Play { rules, server, client, up, down, now, hero, foe, dice: seed, direction: 1.0, frames: 0, rest }
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % sides
    }

    fn server_step(&mut self) {
        let Play { server, up, down, now, .. } = self;
        up.receive(*now, &mut |datagram| server.receive(PEER, datagram));
        server.step(&mut NoHost);
        server.send(&mut |_, datagram| down.send(*now, datagram));
    }

    /// A frame of the client: packets, input, time, packets.
    fn frame(&mut self, elapsed: SimTime) {
        let midway = self.now + SimTime(LENGTH.0 / 2);
        let Play { client, down, .. } = self;
        down.receive(midway, &mut |datagram| client.receive(datagram));
        if *self.client.state() == ClientState::Playing && self.client.owned().contains(&self.hero) {
            self.act(elapsed);
        }
        let Play { client, up, .. } = self;
        client.update(elapsed);
        client.send(&mut |datagram| up.send(midway, datagram));
    }

    /// What an honest host does in a frame. The client may refuse or queue each of the requests.
    fn act(&mut self, elapsed: SimTime) {
        let (who, target) = (self.hero, Target::Controller(self.foe));
        self.frames += 1;
        let n = self.frames;
        let press = |input| Request::Press { who, input, target };
        self.ask(if n.is_multiple_of(2) { press(FIRE) } else { Request::Release { who, input: FIRE } });
        match n % 60 {
            10 => self.ask(self.activate("GA_Aim")),
            20 => self.ask(self.activate("GA_Hold")),
            26 => self.ask(Request::Cancel { who, ability: self.rules.ability("GA_Hold").unwrap() }),
            30 => self.ask(self.activate("GA_Haste")),
            _ => {}
        }
        if n % 60 == 14 {
            self.answer();
        }
        if n.is_multiple_of(3) {
            self.ask(press(BLINK));
            self.ask(Request::Release { who, input: BLINK });
        }
        if self.roll(40) == 0 {
            self.direction = -self.direction;
        }
        let sim = self.client.sim();
        let speed = sim.get(who, self.rules.attribute("MoveSpeed").unwrap()).unwrap().max(0.0);
        let from = sim.anchor(who).unwrap().unwrap().position;
        let jump = if is_blinking(sim, who) { BLINK_LENGTH } else { 0.0 };
        let x = from[0] + self.direction * (jump + speed * elapsed.as_seconds());
        self.ask(Request::Move { who, anchor: Anchor::at([x, 0.0, 0.0]) });
    }

    fn activate(&self, ability: &str) -> Request {
        let ability = self.rules.ability(ability).unwrap();
        Request::Activate { who: self.hero, ability, target: Target::Controller(self.foe) }
    }

    fn ask(&mut self, request: Request) {
        let _ = self.client.command(request);
    }

    /// Answers the task that waits for a target, with the hit that the client sees.
    fn answer(&mut self) {
        let sim = self.client.sim();
        let at = |who| Some(sim.anchor(who).ok()??.position[0]);
        // The foe may not have arrived yet.
        let (Some(hero), Some(foe)) = (at(self.hero), at(self.foe)) else { return };
        let distance = Some((hero - foe).abs());
        let aim = self.rules.ability("GA_Aim").unwrap();
        let Some(task) = sim.tasks(self.hero).unwrap().into_iter().find(|t| t.ability == aim) else { return };
        let hit = Some(Hit { position: None, distance, tags: Vec::new() });
        let answer = Answer { targets: vec![self.foe], hit, ..Answer::default() };
        self.ask(Request::Complete { key: task.key, answer });
    }

    /// What others do on the server.
    fn disturb(&mut self) {
        let (hero, foe) = (self.hero, self.foe);
        let effect = match self.roll(150) {
            0 => "GE_Slow",
            1 => "GE_Stun",
            2 => "GE_Bolt",
            _ => return,
        };
        let spec = Spec::new(self.rules.effect(effect).unwrap(), hero).from(foe);
        self.server.sim_mut().apply(&spec).unwrap();
        let x = self.server.sim().anchor(foe).unwrap().unwrap().position[0] + 1.0;
        self.server.sim_mut().run(Op::Move { who: foe, anchor: Some(Anchor::at([x, 0.0, 0.0])) }).unwrap();
    }

    /// Runs one tick of real time; what is suspended does not run. Frames are uneven: two of three ticks have one.
    fn step(&mut self, is_server_up: bool, is_client_up: bool) {
        if is_server_up {
            self.disturb();
            self.server_step();
        }
        self.rest += LENGTH;
        if is_client_up && self.roll(3) > 0 {
            let elapsed = std::mem::take(&mut self.rest);
            self.frame(elapsed);
        }
        self.now += LENGTH;
        let score = self.server.anomaly(PEER).unwrap().0;
        assert_eq!(score, 0.0, "{:?} at {:?}", self.server.counts(), self.server.tick());
    }
}

#[test]
fn an_honest_client_is_never_flagged_on_any_link() {
    for (name, profile) in LinkProfile::ALL {
        for seed in 1..=4 {
            let mut play = Play::new(profile, seed);
            for round in 0..8 {
                (0..240).for_each(|_| play.step(true, true));
                // A long frame, lost time, a suspended server, and a long interruption.
                match round % 4 {
                    0 => (0..20).for_each(|_| play.step(true, false)),
                    1 => {
                        (0..20).for_each(|_| play.step(true, false));
                        play.rest = SimTime::ZERO;
                    }
                    2 => (0..20).for_each(|_| play.step(false, true)),
                    _ => (0..60).for_each(|_| play.step(true, false)),
                }
            }
            let moved = play.server.sim().anchor(play.hero).unwrap().unwrap().position[0];
            assert!(moved != 0.0, "{name}, seed {seed}");
        }
    }
}
