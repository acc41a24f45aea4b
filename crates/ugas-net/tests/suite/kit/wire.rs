//! A session without a harness, which records every datagram.

use super::LENGTH;
use std::sync::Arc;
use ugas_core::{ControllerId, NoHost, Rules, Sim, SimConfig, SpawnSpec};
use ugas_doc::ControllerReplication;
use ugas_net::client::{Client, ClientConfig};
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

/// A server and a client that owns the first of two controllers, with every datagram of both directions.
pub(crate) struct Wire {
    pub(crate) server: Server,
    pub(crate) client: Client,
    pub(crate) sent: Vec<Vec<u8>>,
    pub(crate) own: ControllerId,
    pub(crate) foe: ControllerId,
}

impl Wire {
    pub(crate) fn new(rules: &Arc<Rules>) -> Wire {
        Wire::with(rules, ServerConfig::default().replication)
    }

    pub(crate) fn with(rules: &Arc<Rules>, replication: ControllerReplication) -> Wire {
        Wire::on(rules, replication, false)
    }

    /// A session on a listen server: a server with a screen.
    pub(crate) fn listen(rules: &Arc<Rules>) -> Wire {
        Wire::on(rules, ServerConfig::default().replication, true)
    }

    fn on(rules: &Arc<Rules>, replication: ControllerReplication, screen: bool) -> Wire {
        let mut sim = Sim::new(rules.clone(), SimConfig { screen, ..SimConfig::default() });
        let spec = SpawnSpec::sets([rules.set("Vitals").unwrap()]);
        let (own, foe) = (sim.spawn(spec.clone()).unwrap(), sim.spawn(spec).unwrap());
        let config = ServerConfig { tick_length: LENGTH, replication, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.connect(PeerId(1), &[own]).unwrap();
        let client = Client::new(rules.clone(), ClientConfig::default());
        let mut wire = Wire { server, client, sent: Vec::new(), own, foe };
        wire.run(30);
        wire
    }

    pub(crate) fn run(&mut self, ticks: u32) {
        let Wire { server, client, sent, .. } = self;
        for _ in 0..ticks {
            server.step(&mut NoHost);
            server.send(&mut |_, datagram| {
                sent.push(datagram.to_vec());
                client.receive(datagram);
            });
            client.update(LENGTH);
            client.send(&mut |datagram| {
                sent.push(datagram.to_vec());
                server.receive(PeerId(1), datagram);
            });
        }
    }
}
