//! A listener on loopback, clients for it, and a loop that polls both until a condition holds.

use std::net::SocketAddr;
use std::time::Duration;

use ugas_transport::{
    Auth, ClientTransport, CloseReason, Connector, ConnectorConfig, Event, Key, Limits, Listener, ListenerConfig,
    PeerId, ServerTransport, State, Token, TransportKind,
};

pub(crate) const PROTOCOL: u64 = 0x75_67_61_73;
pub(crate) const NOW: Duration = Duration::from_secs(1_800_000_000);
pub(crate) const CONNECT: ConnectorConfig = ConnectorConfig { now: NOW, connect_timeout: Duration::from_secs(10) };
/// The rounds until a test fails: twenty seconds of pauses.
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

pub(crate) fn connect_to(token: Token) -> Connector {
    Connector::connect(token, CONNECT).expect("the server listens")
}

/// An event of a server, owned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerEvent {
    Connected(PeerId, Vec<u8>),
    Disconnected(PeerId, CloseReason),
    Datagram(PeerId, Vec<u8>),
}

pub(crate) fn poll_events(server: &mut dyn ServerTransport, elapsed: Duration) -> Vec<ServerEvent> {
    let mut events = Vec::new();
    let polled = server.poll(elapsed, &mut |event| {
        events.push(match event {
            Event::Connected(peer, user_data) => ServerEvent::Connected(peer, user_data.to_vec()),
            Event::Disconnected(peer, closed) => ServerEvent::Disconnected(peer, closed),
            Event::Datagram(peer, bytes) => ServerEvent::Datagram(peer, bytes.to_vec()),
        });
    });
    polled.expect("the sockets work");
    events
}

pub(crate) fn read(client: &mut dyn ClientTransport, elapsed: Duration) -> Vec<Vec<u8>> {
    let mut read = Vec::new();
    client.poll(elapsed, &mut |datagram| read.push(datagram.to_vec())).expect("the socket works");
    read
}

/// Polls with short pauses until a condition holds; fails the test if it never does.
pub(crate) fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    for _ in 0..ROUNDS {
        if is_done() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("{what}: not in {ROUNDS} rounds");
}

/// Connects a client. Returns its peer number.
pub(crate) fn join(server: &mut Listener, client: &mut Connector) -> PeerId {
    let mut found = None;
    until("joining", || {
        let events = poll_events(server, PAUSE);
        found = found.or(events.into_iter().find_map(|event| match event {
            ServerEvent::Connected(peer, _) => Some(peer),
            ServerEvent::Disconnected(..) | ServerEvent::Datagram(..) => None,
        }));
        read(client, PAUSE);
        client.state() == State::Connected && found.is_some()
    });
    found.expect("the loop ends with it")
}
