//! A listener on loopback, callers for it, and a loop that lets both have their say until something holds.

use std::net::SocketAddr;
use std::time::Duration;

use ugas_transport::{
    Auth, ClientTransport, Connector, ConnectorConfig, Event, Gone, Key, Limits, Listener, ListenerConfig, PeerId,
    ServerTransport, State, Token, TransportKind,
};

pub(crate) const PROTOCOL: u64 = 0x75_67_61_73;
pub(crate) const NOW: Duration = Duration::from_secs(1_800_000_000);
pub(crate) const CALL: ConnectorConfig = ConnectorConfig { now: NOW, patience: Duration::from_secs(10) };
/// Rounds until a test gives up: twenty seconds of pauses.
const ROUNDS: usize = 20_000;
const PAUSE: Duration = Duration::from_millis(1);

pub(crate) fn key() -> Key {
    Key::from_bytes([7; 32])
}

pub(crate) fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

pub(crate) fn listen(auth: Auth, limits: Limits) -> Listener {
    let config = ListenerConfig { protocol: PROTOCOL, auth, limits, now: NOW, token_lifetime: 60 };
    let builder = Listener::builder(config);
    let builder = builder.bind(TransportKind::Udp, loopback(), None).expect("a free port");
    let builder = builder.bind(TransportKind::WebSocket, loopback(), None).expect("a free port");
    builder.start().expect("two sockets")
}

pub(crate) fn call(token: Token) -> Connector {
    Connector::connect(token, CALL).expect("the server listens")
}

/// What a server heard, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Connected(PeerId, Vec<u8>),
    Disconnected(PeerId, Gone),
    Datagram(PeerId, Vec<u8>),
}

pub(crate) fn hear(server: &mut dyn ServerTransport, elapsed: Duration) -> Vec<Heard> {
    let mut heard = Vec::new();
    let polled = server.poll(elapsed, &mut |event| {
        heard.push(match event {
            Event::Connected(peer, user_data) => Heard::Connected(peer, user_data.to_vec()),
            Event::Disconnected(peer, gone) => Heard::Disconnected(peer, gone),
            Event::Datagram(peer, bytes) => Heard::Datagram(peer, bytes.to_vec()),
        });
    });
    polled.expect("the sockets work");
    heard
}

pub(crate) fn read(client: &mut dyn ClientTransport, elapsed: Duration) -> Vec<Vec<u8>> {
    let mut read = Vec::new();
    client.poll(elapsed, &mut |datagram| read.push(datagram.to_vec())).expect("the socket works");
    read
}

/// Polls everybody with little pauses until it is done; fails the test if that never happens.
pub(crate) fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    for _ in 0..ROUNDS {
        if is_done() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("{what}: not in {ROUNDS} rounds");
}

/// Connects and tells the peer's number.
pub(crate) fn join(server: &mut Listener, client: &mut Connector) -> PeerId {
    let mut found = None;
    until("joining", || {
        let heard = hear(server, PAUSE);
        found = found.or(heard.into_iter().find_map(|heard| match heard {
            Heard::Connected(peer, _) => Some(peer),
            Heard::Disconnected(..) | Heard::Datagram(..) => None,
        }));
        read(client, PAUSE);
        client.state() == State::Connected && found.is_some()
    });
    found.expect("the loop ends with it")
}
