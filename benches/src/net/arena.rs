//! The measured session: actors with eight values, and clients over perfect links. In every tick some values change by
//! a fixed plan. The bevy_replicon benchmark uses the same plan.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, ControllerId, EffectId, Facts, KeyId, NoHost, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect, Magnitude, Quantize};
use ugas_net::client::{Client, ClientConfig};
use ugas_net::interest::RateTable;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

/// The length of a tick: a sixtieth of a second.
pub(crate) const LENGTH: SimTime = SimTime::frames(1, 60);
/// The number of values of an actor.
pub(crate) const VALUES: usize = 8;
/// The bytes of the IP and UDP headers.
pub(crate) const UDP: usize = 28;

/// Returns which two values of an actor change in a tick, and to what.
pub(crate) fn changes(actor: usize, tick: usize) -> [(usize, u32); 2] {
    let value = |salt: usize| ((actor * 7 + tick * 13 + salt * 401) % 1000) as u32;
    [((actor + tick) % VALUES, value(1)), ((actor + tick + 3) % VALUES, value(2))]
}

/// Returns rules with eight values of ten bits, an effect for each value that sets it, a tag to grant, and abilities to
/// predict.
pub(crate) fn rules() -> Arc<Rules> {
    let quantize = Some(Quantize { min: 0.0, max: 1023.0, bits: 10 });
    let mut set = AttributeSet::new("Vitals");
    let mut builder = Rules::builder();
    for name in (0..VALUES).map(|i| format!("A{i}")) {
        set = set.with(Attribute { quantize, ..Attribute::new(&name, 100.0) });
        builder = builder.add(Effect::instant(format!("Set_{name}")).set(name, Magnitude::set_by_caller("V")));
    }
    let on_owner = |effect: &str| AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect);
    builder
        .add(set)
        .add(Effect::infinite("GE_Mark").grants("State.Marked"))
        .add(Effect::instant("GE_Nudge").add("A7", -1.0))
        .add(Effect::lasting("GE_Cooldown", 0.5).grants("Cooldown.Shot"))
        .add(Effect::lasting("GE_Rage", 0.75).add("A0", 5.0))
        .add(Effect::instant("GE_Shot").add("A1", 1.0))
        .add(Ability::new("GA_Rage").task(on_owner("GE_Rage")))
        .add(Ability::new("GA_Shot").cooldown("GE_Cooldown").task(on_owner("GE_Shot")))
        .build()
        .expect("the rules of the figures are right")
}

/// A server, its clients and the datagrams in flight.
pub(crate) struct Arena {
    pub(crate) rules: Arc<Rules>,
    pub(crate) server: Server,
    pub(crate) clients: Vec<Client>,
    /// The actors that change.
    pub(crate) actors: Vec<ControllerId>,
    /// The controllers of the clients, one each.
    pub(crate) own: Vec<ControllerId>,
    setters: Vec<EffectId>,
    value: KeyId,
    tick: usize,
    /// Datagrams and bytes the server sent in the last tick.
    pub(crate) sent: (usize, usize),
    down: Vec<(usize, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
    facts: Facts,
}

impl Arena {
    /// Creates a session with this many actors and clients, each of which owns one more controller.
    pub(crate) fn new(actors: usize, clients: usize) -> Arena {
        Arena::with_owners(actors, clients, true)
    }

    /// Creates a session; `owned` says whether each client owns a controller.
    pub(crate) fn with_owners(actors: usize, clients: usize, owned: bool) -> Arena {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let sets = vec![rules.set("Vitals").expect("it is there")];
        let mut spawn = |count: usize| -> Vec<ControllerId> {
            let one = |_| sim.spawn(SpawnSpec::sets(sets.clone())).expect("it can be spawned");
            (0..count).map(one).collect()
        };
        let (actors, own) = (spawn(actors), spawn(if owned { clients } else { 0 }));
        for &who in &own {
            for (ability, _) in rules.ability_list().collect::<Vec<_>>() {
                sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).expect("it can be granted");
            }
        }
        let config = ServerConfig {
            tick_length: LENGTH,
            replication: ControllerReplication::Full,
            bytes_per_second: 10_000_000,
            ..ServerConfig::default()
        };
        let mut server = Server::new(sim, config, Secret::known(1));
        // Every change is sent in the same tick, as in the bevy_replicon benchmark.
        server.set_rates(RateTable { state_divisor: 1, ..RateTable::default() });
        for at in 0..clients {
            let owns = own.get(at..at + 1).unwrap_or_default();
            server.connect(PeerId(at as u32), owns).expect("the number is new");
        }
        let client = |_| Client::new(rules.clone(), ClientConfig::default());
        let setters = (0..VALUES).map(|i| rules.effect(&format!("Set_A{i}")).expect("it is there")).collect();
        let value = rules.key("V").expect("it is used");
        let clients = (0..clients).map(client).collect();
        let (down, spare, facts) = (Vec::new(), Vec::new(), Facts::default());
        let sent = (0, 0);
        let mut arena =
            Arena { rules, server, clients, actors, own, setters, value, tick: 0, sent, down, spare, facts };
        for _ in 0..90 {
            arena.tick(&[]);
        }
        arena
    }

    /// Changes two values of each of these actors.
    pub(crate) fn change(&mut self, whom: &[ControllerId]) {
        self.tick += 1;
        for (at, &who) in whom.iter().enumerate() {
            for (value, to) in changes(at, self.tick) {
                let spec = Spec::new(self.setters[value], who).set(self.value, to as f64);
                self.server.sim_mut().apply(&spec).expect("it can be set");
            }
        }
    }

    /// Runs the server's part of a tick: receive, step, send.
    pub(crate) fn serve(&mut self) {
        self.server.step(&mut NoHost);
        self.send();
    }

    /// Sends the datagrams of a tick.
    pub(crate) fn send(&mut self) {
        let Arena { server, down, spare, sent, .. } = self;
        *sent = (0, 0);
        server.send(&mut |peer, datagram| {
            sent.0 += 1;
            sent.1 += datagram.len();
            let mut kept = spare.pop().unwrap_or_default();
            kept.clear();
            kept.extend_from_slice(datagram);
            down.push((peer.0 as usize, kept));
        });
    }

    /// Runs the clients' part of a tick: all datagrams arrive, in both directions.
    pub(crate) fn answer(&mut self) {
        let Arena { server, clients, down, spare, facts, .. } = self;
        for (to, datagram) in down.drain(..) {
            clients[to].receive(&datagram);
            spare.push(datagram);
        }
        for (at, client) in clients.iter_mut().enumerate() {
            client.update(LENGTH);
            client.send(&mut |datagram| server.receive(PeerId(at as u32), datagram));
        }
        server.take_facts(facts);
    }

    /// Runs a tick in which two values of each of these actors change.
    pub(crate) fn tick(&mut self, whom: &[ControllerId]) {
        self.change(whom);
        self.serve();
        self.answer();
    }
}
