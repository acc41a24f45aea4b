//! Ability events for observers: they contain the target only if the observer receives the target, and they never displace
//! messages that must arrive.

use crate::kit::{self, LENGTH};
use ugas_core::{
    AbilityGrant, ControllerId, NoHost, Op, Sim, SimConfig, SimTime, Simulated, SimulatedStep, SpawnSpec, Target, Which,
};
use ugas_doc::{Ability, AbilityTask, Cast, ControllerReplication};
use ugas_net::client::{Client, ClientConfig};
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::message::{PROTOCOL, Request, ToClient, ToServer};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

const ANA: PeerId = PeerId(1);
const EVE: PeerId = PeerId(2);

fn seen(mut ability: Ability) -> Ability {
    ability.on_simulated_tick.push(AbilityTask::new("SendEvent").param("EventTag", "Event.Seen"));
    ability.on_simulated_cancel.push(AbilityTask::new("SendEvent").param("EventTag", "Event.Seen"));
    ability
}

/// Ana plays; Eve is an observer without controllers and records what the server sends.
struct Scene {
    server: Server,
    ana: Client,
    eve: Carrier,
    hero: ControllerId,
    foe: ControllerId,
    /// An actor that is not replicated.
    hidden: [ControllerId; 2],
    /// Every datagram to Eve.
    bytes: Vec<Vec<u8>>,
    /// The ability events that she received.
    events: Vec<(ControllerId, Simulated)>,
    /// The removed actors.
    removed: Vec<ControllerId>,
    now: SimTime,
}

impl Scene {
    fn new() -> Scene {
        let wait = || AbilityTask::new("WaitDelay").param("Duration", 0.3);
        let cast = Cast { length: 0.1, ticks: Some(1), ..Cast::default() };
        let rules = kit::builder()
            .add(seen(Ability::new("GA_Flash")))
            .add(seen(Ability::new("GA_Beam").task(wait())))
            .add(seen(Ability::new("GA_Chant").cast_as(cast)))
            .build()
            .unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let vitals = rules.set("Vitals").unwrap();
        let [hero, foe, a, b] = [(); 4].map(|()| sim.spawn(SpawnSpec::sets([vitals])).unwrap());
        for name in ["GA_Flash", "GA_Beam", "GA_Chant"] {
            let grant = AbilityGrant::new(rules.ability(name).unwrap());
            sim.run(Op::Grant { who: hero, grant }).unwrap();
        }
        let hidden = [a, b];
        let config =
            ServerConfig { tick_length: LENGTH, replication: ControllerReplication::Full, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        hidden.iter().for_each(|&who| server.set_replication(who, ControllerReplication::None));
        server.connect(ANA, &[hero]).unwrap();
        server.connect(EVE, &[]).unwrap();
        let mut eve = Carrier::new(ConnectionConfig::default());
        let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules.fingerprint(), padding: vec![0; 256] };
        eve.push(&hello.to_bytes()).unwrap();
        let ana = Client::new(rules.clone(), ClientConfig::default());
        let now = SimTime::ZERO;
        let (bytes, events, removed) = (Vec::new(), Vec::new(), Vec::new());
        let mut scene = Scene { server, ana, eve, hero, foe, hidden, bytes, events, removed, now };
        scene.run(60);
        assert_eq!(scene.server.playing().count(), 2);
        scene.bytes.clear();
        scene
    }

    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let Scene { server, ana, eve, bytes, now, .. } = self;
            *now += LENGTH;
            ana.send(&mut |datagram| server.receive(ANA, datagram));
            let mut out = Vec::new();
            if eve.write(*now, server.tick(), &mut out, &mut |_, _| ()).is_some() {
                server.receive(EVE, &out);
            }
            server.step(&mut NoHost);
            server.send(&mut |peer, datagram| match peer {
                ANA => ana.receive(datagram),
                _ => {
                    bytes.push(datagram.to_vec());
                    eve.read(*now, datagram).unwrap();
                }
            });
            ana.update(LENGTH);
            while let Some(message) = self.eve.next_message() {
                match ToClient::from_bytes(&message) {
                    Some(ToClient::Simulated { who, what }) => self.events.push((who, what)),
                    Some(ToClient::Removed { actors }) => self.removed.extend(actors.iter().map(|g| g.0)),
                    _ => {}
                }
            }
        }
    }

    /// The host activates an ability of the hero.
    fn activate(&mut self, name: &str, target: Target) {
        let which = Which::Ability(self.server.sim().rules().ability(name).unwrap());
        self.server.sim_mut().run(Op::Activate { who: self.hero, which, target }).unwrap();
    }

    /// Takes the ability events of the hero that Eve received.
    fn events(&mut self) -> Vec<(SimulatedStep, Target)> {
        self.events.drain(..).map(|(_, what)| (what.step, what.target)).collect()
    }
}

#[test]
fn an_event_does_not_reveal_a_target_that_the_observer_does_not_receive() {
    for name in ["GA_Beam", "GA_Chant"] {
        let run = |at: usize| {
            let mut scene = Scene::new();
            let target = Target::Controller(scene.hidden[at]);
            scene.activate(name, target);
            scene.run(60);
            let events = scene.events();
            assert!(!events.is_empty() && events.iter().all(|h| h.1 == Target::None), "{name}: {events:?}");
            scene.bytes
        };
        assert!(run(0) == run(1), "{name}: no byte depends on the hidden target");
    }
}

#[test]
fn an_observer_of_both_receives_the_target_of_active_and_ended_abilities() {
    let mut scene = Scene::new();
    let (who, target) = (scene.hero, Target::Controller(scene.foe));
    let first = (SimulatedStep::Tick(0), target);
    scene.activate("GA_Beam", target);
    scene.run(10);
    assert_eq!(scene.events(), [first]);
    let ability = scene.server.sim().rules().ability("GA_Beam").unwrap();
    scene.server.sim_mut().run(Op::Cancel { who, which: Which::Ability(ability) }).unwrap();
    scene.run(10);
    assert_eq!(scene.events(), [(SimulatedStep::Cancel, target)], "its target is removed when the event is sent");
    let point = Target::Point([1.0, 2.0, 3.0]);
    scene.activate("GA_Chant", point);
    scene.run(20);
    assert_eq!(scene.events(), [(SimulatedStep::Tick(1), point)], "its only tick is its last");
    // An ability that starts and ends within its command.
    let ability = scene.server.sim().rules().ability("GA_Flash").unwrap();
    scene.ana.command(Request::Activate { who, ability, target }).unwrap();
    scene.run(20);
    assert_eq!(scene.events(), [first]);
    // The next activation has no target and does not inherit this one.
    scene.activate("GA_Beam", Target::None);
    scene.run(10);
    assert_eq!(scene.events(), [(SimulatedStep::Tick(0), Target::None)]);
}

#[test]
fn events_for_a_slow_observer_are_dropped_and_leave_half_of_the_stream() {
    let mut scene = Scene::new();
    let max_unacked_bytes = ConnectionConfig::default().max_unacked_bytes;
    // Eve receives nothing for a while.
    for _ in 0..4_000 {
        scene.activate("GA_Flash", Target::None);
        scene.activate("GA_Flash", Target::None);
        scene.server.step(&mut NoHost);
    }
    assert_eq!(scene.server.counts().iter().collect::<Vec<_>>(), [], "nothing is counted as rejected");
    let foe = scene.foe;
    scene.server.sim_mut().despawn(foe).unwrap();
    scene.run(600);
    assert!(scene.removed.contains(&foe), "the removal still fits");
    let (who, what) = scene.events[0];
    let cost = ToClient::Simulated { who, what }.to_bytes().len() + 32;
    assert_eq!(scene.events.len(), (max_unacked_bytes / 2).div_ceil(cost), "as many as fit into half of the stream");
}
