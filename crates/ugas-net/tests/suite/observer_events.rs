//! What bystanders are told of somebody else's abilities: at whom they aim, as far as the bystander may know that one, and
//! never so much that it takes the place of what must arrive.

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

/// Ana plays, and Eve looks on: she owns nobody, and reads what the server says.
struct Scene {
    server: Server,
    ana: Client,
    eve: Carrier,
    hero: ControllerId,
    foe: ControllerId,
    /// Whom nobody is told of.
    hidden: [ControllerId; 2],
    /// Every datagram to Eve.
    bytes: Vec<Vec<u8>>,
    /// What she heard of abilities.
    heard: Vec<(ControllerId, Simulated)>,
    /// Who went.
    gone: Vec<ControllerId>,
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
        let (bytes, heard, gone) = (Vec::new(), Vec::new(), Vec::new());
        let mut scene = Scene { server, ana, eve, hero, foe, hidden, bytes, heard, gone, now };
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
                    Some(ToClient::Simulated { who, what }) => self.heard.push((who, what)),
                    Some(ToClient::Removed { gone }) => self.gone.extend(gone.iter().map(|g| g.0)),
                    _ => {}
                }
            }
        }
    }

    /// The host lets the hero use an ability.
    fn use_it(&mut self, name: &str, target: Target) {
        let which = Which::Ability(self.server.sim().rules().ability(name).unwrap());
        self.server.sim_mut().run(Op::Activate { who: self.hero, which, target }).unwrap();
    }

    /// What Eve heard of the hero's abilities since.
    fn heard(&mut self) -> Vec<(SimulatedStep, Target)> {
        self.heard.drain(..).map(|(_, what)| (what.step, what.target)).collect()
    }
}

#[test]
fn nobody_hears_of_whom_he_is_not_told_of_by_what_aims_at_him() {
    for name in ["GA_Beam", "GA_Chant"] {
        let run = |at: usize| {
            let mut scene = Scene::new();
            let target = Target::Controller(scene.hidden[at]);
            scene.use_it(name, target);
            scene.run(60);
            let heard = scene.heard();
            assert!(!heard.is_empty() && heard.iter().all(|h| h.1 == Target::None), "{name}: {heard:?}");
            scene.bytes
        };
        assert!(run(0) == run(1), "{name}: no byte says which of two hidden ones it was");
    }
}

#[test]
fn who_sees_both_hears_at_whom_it_aims_whether_it_runs_or_is_over() {
    let mut scene = Scene::new();
    let (who, target) = (scene.hero, Target::Controller(scene.foe));
    let first = (SimulatedStep::Tick(0), target);
    scene.use_it("GA_Beam", target);
    scene.run(10);
    assert_eq!(scene.heard(), [first]);
    let ability = scene.server.sim().rules().ability("GA_Beam").unwrap();
    scene.server.sim_mut().run(Op::Cancel { who, which: Which::Ability(ability) }).unwrap();
    scene.run(10);
    assert_eq!(scene.heard(), [(SimulatedStep::Cancel, target)], "it is gone when this is told");
    let point = Target::Point([1.0, 2.0, 3.0]);
    scene.use_it("GA_Chant", point);
    scene.run(20);
    assert_eq!(scene.heard(), [(SimulatedStep::Tick(1), point)], "its only tick is its last");
    // One that begins and ends within the command that asks for it.
    let ability = scene.server.sim().rules().ability("GA_Flash").unwrap();
    scene.ana.command(Request::Activate { who, ability, target }).unwrap();
    scene.run(20);
    assert_eq!(scene.heard(), [first]);
    // And as the next one has no target, it does not have this one's.
    scene.use_it("GA_Beam", Target::None);
    scene.run(10);
    assert_eq!(scene.heard(), [(SimulatedStep::Tick(0), Target::None)]);
}

#[test]
fn what_a_bystander_misses_is_nobodys_fault_and_leaves_half_of_the_stream() {
    let mut scene = Scene::new();
    let max_unacked_bytes = ConnectionConfig::default().max_unacked_bytes;
    // Eve hears nothing for a while.
    for _ in 0..4_000 {
        scene.use_it("GA_Flash", Target::None);
        scene.use_it("GA_Flash", Target::None);
        scene.server.step(&mut NoHost);
    }
    assert_eq!(scene.server.counts().iter().collect::<Vec<_>>(), [], "she has done no wrong");
    let foe = scene.foe;
    scene.server.sim_mut().despawn(foe).unwrap();
    scene.run(600);
    assert!(scene.gone.contains(&foe), "what must arrive found room");
    let (who, what) = scene.heard[0];
    let cost = ToClient::Simulated { who, what }.to_bytes().len() + 32;
    assert_eq!(scene.heard.len(), (max_unacked_bytes / 2).div_ceil(cost), "as many as fill a half");
}
