//! A hidden attribute's change alters no byte sent to anybody it is hidden from: two servers play alike but for values
//! that some may not see, over every mode of controllers and attributes, and every datagram is compared.

use proptest::prelude::*;
use std::sync::Arc;
use ugas_core::{ControllerId, NoHost, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication, Effect, Magnitude, ReplicationMode};
use ugas_net::client::{Client, ClientConfig, ClientState};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

const LENGTH: SimTime = SimTime::frames(1, 60);
const MODES: [ControllerReplication; 4] = [
    ControllerReplication::None,
    ControllerReplication::Minimal,
    ControllerReplication::Mixed,
    ControllerReplication::Full,
];
/// One attribute in each mode.
const ATTRIBUTES: [(&str, ReplicationMode); 3] =
    [("Open", ReplicationMode::All), ("Own", ReplicationMode::OwnerOnly), ("Secret", ReplicationMode::None)];

fn rules() -> Arc<Rules> {
    let mut set = AttributeSet::new("Vitals");
    let mut builder = Rules::builder();
    for (name, mode) in ATTRIBUTES {
        let mut attribute = Attribute::new(name, 100.0);
        attribute.replication_mode = mode;
        set = set.with(attribute);
        let value = Magnitude::set_by_caller("V");
        builder = builder.add(Effect::instant(format!("Set_{name}")).set(name, value));
    }
    builder.add(set).add(Effect::lasting("GE_Slow", 0.3).add("Open", -5.0).grants("State.Slow")).build().unwrap()
}

/// A server, the owner of each controller in each mode, and somebody who owns none of them.
struct Session {
    server: Server,
    rules: Arc<Rules>,
    actors: [ControllerId; 4],
    clients: Vec<Client>,
    /// What each was sent in the last tick.
    told: Vec<Vec<Vec<u8>>>,
}

/// The number of the one who only looks on.
const OBSERVER: usize = MODES.len();

impl Session {
    fn new(rules: &Arc<Rules>) -> Session {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let vitals = rules.set("Vitals").unwrap();
        let actors = MODES.map(|_| sim.spawn(SpawnSpec::sets(vec![vitals])).unwrap());
        let own = sim.spawn(SpawnSpec::sets(vec![vitals])).unwrap();
        let mut server = Server::new(sim, ServerConfig { length: LENGTH, ..ServerConfig::default() }, Secret::known(1));
        for (who, mode) in actors.into_iter().zip(MODES) {
            server.set_mode(who, mode);
        }
        for (at, who) in actors.into_iter().chain([own]).enumerate() {
            server.connect(PeerId(at as u32), &[who]).unwrap();
        }
        let clients: Vec<Client> =
            (0..=OBSERVER).map(|_| Client::new(rules.clone(), ClientConfig::default())).collect();
        let told = vec![Vec::new(); clients.len()];
        Session { server, rules: rules.clone(), actors, clients, told }
    }

    fn step(&mut self) {
        let Session { server, clients, told, .. } = self;
        told.iter_mut().for_each(Vec::clear);
        server.step(&mut NoHost);
        server.send(&mut |peer, datagram| told[peer.0 as usize].push(datagram.to_vec()));
        for (at, client) in clients.iter_mut().enumerate() {
            told[at].iter().for_each(|datagram| client.receive(datagram));
            client.update(LENGTH);
            client.send(&mut |datagram| server.receive(PeerId(at as u32), datagram));
        }
    }

    fn set(&mut self, actor: usize, attribute: usize, value: f64) {
        let effect = self.rules.effect(&format!("Set_{}", ATTRIBUTES[attribute].0)).unwrap();
        let spec = Spec::new(effect, self.actors[actor]).set(self.rules.key("V").unwrap(), value);
        self.server.sim_mut().apply(&spec).unwrap();
    }
}

/// Whether somebody who does not own the controller may see the attribute.
fn is_open(mode: ControllerReplication, attribute: ReplicationMode) -> bool {
    mode == ControllerReplication::Full && attribute == ReplicationMode::All
}

/// One thing that happens on both servers; what is hidden is another value on the second.
#[derive(Clone, Debug)]
enum Deed {
    Set { actor: usize, attribute: usize, values: [u16; 2] },
    Slow { actor: usize },
    Step(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    let actor = 0..MODES.len();
    prop_oneof![
        4 => (actor.clone(), 0..ATTRIBUTES.len(), [0..1000u16, 0..1000u16])
            .prop_map(|(actor, attribute, values)| Deed::Set { actor, attribute, values }),
        1 => actor.prop_map(|actor| Deed::Slow { actor }),
        2 => (1..6u8).prop_map(Deed::Step),
    ]
}

/// Plays on two servers; `hides` says what is another value on the second. `same` are compared after each tick.
fn play(deeds: &[Deed], hides: impl Fn(usize, usize) -> bool, same: &[usize]) -> Result<usize, TestCaseError> {
    let rules = rules();
    let mut pair = [Session::new(&rules), Session::new(&rules)];
    let mut bytes = 0;
    let mut step = |pair: &mut [Session; 2]| {
        pair.iter_mut().for_each(Session::step);
        for &at in same {
            prop_assert_eq!(&pair[0].told[at], &pair[1].told[at], "client {} at {:?}", at, pair[0].server.tick());
            bytes += pair[0].told[at].iter().map(Vec::len).sum::<usize>();
        }
        Ok(())
    };
    for _ in 0..30 {
        step(&mut pair)?;
    }
    prop_assert!(pair.iter().all(|s| s.clients.iter().all(|c| *c.state() == ClientState::Playing)));
    for deed in deeds.iter().chain([&Deed::Step(20)]) {
        match *deed {
            Deed::Set { actor, attribute, values } => {
                let second = values[usize::from(hides(actor, attribute))];
                pair[0].set(actor, attribute, f64::from(values[0]));
                pair[1].set(actor, attribute, f64::from(second));
            }
            Deed::Slow { actor } => {
                for session in &mut pair {
                    let spec = Spec::new(session.rules.effect("GE_Slow").unwrap(), session.actors[actor]);
                    session.server.sim_mut().apply(&spec).unwrap();
                }
            }
            Deed::Step(ticks) => (0..ticks).try_for_each(|_| step(&mut pair))?,
        }
    }
    Ok(bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_hidden_change_alters_no_byte_to_a_non_owner(deeds in prop::collection::vec(deed(), 1..40)) {
        let hides = |actor: usize, attribute: usize| !is_open(MODES[actor], ATTRIBUTES[attribute].1);
        let bytes = play(&deeds, hides, &[OBSERVER])?;
        prop_assert!(bytes > 0, "the observer hears something");
    }

    #[test]
    fn what_is_nobodys_alters_no_byte_to_anybody(deeds in prop::collection::vec(deed(), 1..40)) {
        let hides = |_: usize, attribute: usize| ATTRIBUTES[attribute].1 == ReplicationMode::None;
        play(&deeds, hides, &[0, 1, 2, 3, OBSERVER])?;
    }
}

/// The comparison sees what it should: an open value is told.
#[test]
fn an_open_change_alters_bytes() {
    let set = Deed::Set { actor: 3, attribute: 0, values: [1, 2] };
    assert!(play(&[set], |_, _| true, &[OBSERVER]).is_err());
    let own = Deed::Set { actor: 2, attribute: 1, values: [1, 2] };
    assert!(play(std::slice::from_ref(&own), |_, _| true, &[2]).is_err(), "its owner sees it");
    assert!(play(&[own], |_, _| true, &[OBSERVER]).is_ok(), "nobody else does");
}
