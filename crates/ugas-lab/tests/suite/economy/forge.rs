//! The cheater's connection: it joins like a client and then sends forged commands. The encoding of commands in packets
//! is known only here.

use super::dice::Dice;
use ugas_core::{NoHost, SimTime};
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::internals::wire::bits::BitWriter;
use ugas_net::internals::wire::number::put_uint;
use ugas_net::link::{Link, LinkProfile};
use ugas_net::message::{Command, PROTOCOL, ToServer};
use ugas_net::server::Server;
use ugas_net::types::PeerId;

pub(crate) const CHEATER: PeerId = PeerId(7);
/// The most commands in one packet: a packet has 1200 bytes.
const PER_PACKET: usize = 12;

#[derive(Clone)]
pub(crate) struct Connection {
    carrier: Carrier,
    /// The link to the server; without a link, packets arrive at once.
    link: Option<Link>,
    owned: usize,
    out: Vec<u8>,
}

impl Connection {
    /// Connects to a server and waits until the server accepted the client.
    pub(crate) fn join(server: &mut Server, owned: usize) -> Connection {
        let mut carrier = Carrier::new(ConnectionConfig::default());
        let rules = server.sim().rules().fingerprint();
        carrier.push(&ToServer::Hello { protocol: PROTOCOL, rules, padding: vec![0; 256] }.to_bytes()).unwrap();
        let mut connection = Connection { carrier, link: None, owned, out: Vec::new() };
        connection.send(server, &[]);
        server.step(&mut NoHost);
        connection.receive(server);
        assert_eq!(server.playing().count(), 1, "the cheater has joined");
        connection
    }

    /// Puts a bad link between the cheater and the server.
    pub(crate) fn degrade(&mut self, dice: &mut Dice) {
        let profile = dice.pick(&LinkProfile::ALL).1;
        self.link = Some(Link::new(profile, dice.roll(1 << 30) as u64));
    }

    /// Returns a copy whose packets arrive at once, for a copy of the server.
    pub(crate) fn copy_without_link(&self) -> Connection {
        Connection { link: None, ..self.clone() }
    }

    fn now(server: &Server) -> SimTime {
        server.tick().time(server.tick_length())
    }

    /// Sends commands in as many packets as they need.
    pub(crate) fn send(&mut self, server: &mut Server, commands: &[Command]) {
        let now = Connection::now(server);
        if commands.is_empty() {
            self.packet(server, now, &[]);
        }
        for some in commands.chunks(PER_PACKET) {
            let bytes: Vec<Vec<u8>> = some.iter().map(Command::to_bytes).collect();
            let payload = payload(self.owned, &bytes);
            self.packet(server, now, &payload);
        }
        if let Some(link) = &mut self.link {
            link.receive(now, &mut |datagram| server.receive(CHEATER, datagram));
        }
    }

    fn packet(&mut self, server: &mut Server, now: SimTime, payload: &[u8]) {
        let mut write = |bytes: &mut Vec<u8>, room: usize| {
            assert!(payload.len() <= room, "the commands fit into a packet");
            bytes.extend_from_slice(payload);
        };
        self.carrier.write(now, server.tick(), &mut self.out, &mut write);
        match &mut self.link {
            _ if self.out.is_empty() => {}
            Some(link) => link.send(now, &self.out),
            None => server.receive(CHEATER, &self.out),
        }
    }

    /// Reads what the server sends, so that packets are acknowledged.
    pub(crate) fn receive(&mut self, server: &mut Server) {
        let (now, carrier) = (Connection::now(server), &mut self.carrier);
        server.send(&mut |_, datagram| {
            // A rejected packet changes nothing.
            let _ = carrier.read(now, datagram);
            while carrier.next_message().is_some() {}
        });
    }
}

/// The payload of a client that claims nothing about the states of its controllers.
fn payload(owned: usize, commands: &[Vec<u8>]) -> Vec<u8> {
    let mut out = BitWriter::new();
    for row in 0..owned {
        // No baseline; from the second row on, the same as before. Then no hash.
        out.bit(row > 0);
        out.bit(false);
    }
    put_uint(&mut out, commands.len() as u64);
    for command in commands {
        put_uint(&mut out, command.len() as u64);
        out.bytes(command);
    }
    out.finish().to_vec()
}
