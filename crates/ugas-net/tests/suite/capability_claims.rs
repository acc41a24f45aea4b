//! A client that claims sides, locality or capability sets: the server and the other clients are unchanged, byte by
//! byte.

use crate::boundary::payload;
use crate::kit::{LENGTH, builder};
use std::sync::Arc;
use ugas_core::{
    BlockSource, CapabilityCall, CapabilityCx, CodedCapability, ControllerId, NoHost, Op, Refusal, Rules, Sim,
    SimConfig, SimTime, SpawnSpec,
};
use ugas_doc::{CapabilitySet, ControllerReplication, Effect, SetCapability, Side};
use ugas_net::client::{Client, ClientConfig};
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::message::{PROTOCOL, ToServer};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

/// Restores mana in each tick.
struct Regen;
impl CodedCapability for Regen {
    type State = u32;
    fn step(&self, ticks: &mut u32, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        *ticks += 1;
        if matches!(call, CapabilityCall::Tick { .. }) {
            cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
        }
    }
}

fn rules() -> Arc<Rules> {
    let entry = |side: Side| SetCapability::new("Regen").side(side).interval(0.1).tag("Capability.Regen");
    let all = Side::ALL.into_iter().map(entry);
    builder()
        .add(Effect::instant("GE_Drip").add("Speed", 1.0))
        .add(all.clone().fold(CapabilitySet::new("CS_Held"), CapabilitySet::capability))
        .add(all.fold(CapabilitySet::new("CS_Other"), CapabilitySet::capability))
        .capability_code("Regen", Regen)
        .build()
        .unwrap()
}

/// Two clients and a third one, Mallory, who sends any message. Each has a controller with a capability set.
struct Party {
    rules: Arc<Rules>,
    server: Server,
    clients: [Client; 2],
    mallory: Carrier,
    own: [ControllerId; 3],
    /// The datagrams to the second client.
    received: Vec<Vec<u8>>,
}

impl Party {
    fn new() -> Party {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig { screen: false, ..SimConfig::default() });
        let held = rules.ability_set("CS_Held").unwrap();
        let own = [(); 3].map(|()| {
            let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
            sim.grant_set(who, held).unwrap();
            who
        });
        let (tick_length, replication) = (LENGTH, ControllerReplication::Full);
        let config = ServerConfig { tick_length, replication, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        for (peer, who) in (1..).zip(own) {
            server.connect(PeerId(peer), &[who]).unwrap();
        }
        let clients = [(); 2].map(|()| Client::new(rules.clone(), ClientConfig::default()));
        let mut mallory = Carrier::new(ConnectionConfig::default());
        let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules.fingerprint(), padding: vec![0; 256] };
        mallory.push(&hello.to_bytes()).unwrap();
        let mut party = Party { rules, server, clients, mallory, own, received: Vec::new() };
        party.run(40, &[]);
        assert_eq!(party.server.playing().count(), 3);
        party
    }

    /// Runs ticks; Mallory sends the commands in each of them.
    fn run(&mut self, ticks: u32, commands: &[Vec<u8>]) {
        let Party { server, clients, mallory, received, .. } = self;
        for _ in 0..ticks {
            let now = server.tick().time(LENGTH);
            server.step(&mut NoHost);
            server.send(&mut |peer, datagram| match peer.0 {
                3 => {
                    let _ = mallory.read(now, datagram);
                }
                at => {
                    received.extend((at == 2).then(|| datagram.to_vec()));
                    clients[at as usize - 1].receive(datagram);
                }
            });
            for (peer, client) in (1..).zip(&mut *clients) {
                client.update(LENGTH);
                client.send(&mut |datagram| server.receive(PeerId(peer), datagram));
            }
            let (mut datagram, tick) = (Vec::new(), server.tick());
            let bytes = payload(commands);
            mallory.write(now, tick, &mut datagram, &mut |to, _| to.extend_from_slice(&bytes));
            server.receive(PeerId(3), &datagram);
        }
    }

    /// Returns the ops that only a host may run, about a controller.
    fn host_ops(&self, who: ControllerId) -> Vec<Op> {
        let [held, other] = ["CS_Held", "CS_Other"].map(|name| self.rules.ability_set(name).unwrap());
        let (tag, source) = (self.rules.tag("Capability.Regen").unwrap(), BlockSource::host("Claim"));
        let capability = self.rules.capability("Regen").unwrap();
        let handle = self.server.sim().capabilities(who).unwrap()[0].handle;
        let (attribute, tags) = (self.rules.attribute("Mana").unwrap(), Vec::new());
        vec![
            Op::GrantSet { who, set: held },
            Op::GrantSet { who, set: other },
            Op::RevokeSet { who, handle },
            Op::Block { who, tag, source },
            Op::Unblock { who, tag, source },
            Op::Enable { who, capability, on: false },
            Op::SetTick { who, capability, ticks: Some(false), interval: Some(SimTime::ZERO) },
            Op::ModifyResource { who, attribute, by: 50.0, source: None, tags, plain: true },
        ]
    }

    /// Checks that a party plays as one in which nobody claims anything.
    fn assert_same(mut self, mut calm: Party) {
        assert_eq!(self.server.sim_mut().hash(), calm.server.sim_mut().hash(), "the state of the server");
        assert_eq!(self.clients[1].counts(), calm.clients[1].counts());
        for who in self.own {
            assert_eq!(self.server.capabilities(who), calm.server.capabilities(who));
            assert_eq!(
                self.clients[1].capabilities(who),
                calm.clients[1].capabilities(who),
                "as the other client runs"
            );
        }
        assert!(self.received == calm.received, "not a byte to the other client differs");
        assert!(!self.received.is_empty());
    }
}

#[test]
fn a_client_that_claims_locality_and_sets_changes_nothing_for_others() {
    let (mut calm, mut party) = (Party::new(), Party::new());
    let [own, ben, _] = party.own;
    let [held, other] = ["CS_Held", "CS_Other"].map(|name| party.rules.ability_set(name).unwrap());
    let ana = &mut party.clients[0];
    assert_eq!(ana.set_local(ben, true), Err(Refusal::Authority), "a remote actor");
    assert_eq!(ana.set_local(ControllerId(77), true), Err(Refusal::StaleHandle));
    assert_eq!(ana.sim().is_local(ben), Ok(false));
    for who in [own, ben] {
        assert!(matches!(ana.add_local_set(who, held), Err(Refusal::SetHeld { .. })), "a shared set");
    }
    // These are for this client only.
    for who in [own, ben] {
        ana.add_local_set(who, other).unwrap();
    }
    ana.set_local(own, false).unwrap();
    party.run(30, &[]);
    let ana = &mut party.clients[0];
    ana.set_local(own, true).unwrap();
    ana.set_local(ben, false).unwrap();
    let shared = ana.sim().capabilities(own).unwrap()[0].handle;
    assert_eq!(ana.remove_local_set(own, shared), Err(Refusal::StaleHandle), "a shared set");
    let mut sim = ana.sim().clone();
    for op in party.host_ops(own) {
        assert_eq!(sim.run(op.clone()).err(), Some(Refusal::Authority), "{op:?}");
    }
    party.run(30, &[]);
    calm.run(60, &[]);
    party.assert_same(calm);
}

#[test]
fn no_message_of_a_client_grants_revokes_blocks_or_switches() {
    let (mut calm, mut party) = (Party::new(), Party::new());
    for who in party.own {
        for (base, op) in (1_u32..).zip(party.host_ops(who)) {
            // As a command with a number and a tick, as a bare command, and as a message.
            let (tick, nothing) = (party.server.tick().0 + 1, None::<u8>);
            let command = postcard::to_allocvec(&(tick, base, 0_u16, op.clone(), nothing)).unwrap();
            let bare = postcard::to_allocvec(&op).unwrap();
            let _ = party.mallory.push(&bare);
            party.run(1, &[command]);
            party.run(1, &[bare]);
            calm.run(2, &[]);
        }
    }
    let refused: u64 = party.server.counts().iter().map(|(_, count)| count).sum();
    assert!(refused >= 8, "{refused} rejected messages");
    party.run(20, &[]);
    calm.run(20, &[]);
    party.assert_same(calm);
}
