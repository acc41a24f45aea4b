//! Datagrams are echoed over every transport and over all of them at once.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::rig::{ServerEvent, connect_to, join, key, listen, poll_events, read, until};
use ugas_transport::memory::MemoryServer;
use ugas_transport::{
    Auth, ClientTransport, CloseReason, Limits, MAX_DATAGRAM, PeerId, SendError, ServerTransport, State, TransportKind,
};

const DATAGRAMS: u32 = 1_000;
const STEP: Duration = Duration::from_millis(50);

/// Numbers in datagrams of changing length, up to the longest.
fn numbered(number: u32) -> Vec<u8> {
    let length = 4 + number as usize * 37 % (MAX_DATAGRAM - 3);
    let mut datagram = number.to_le_bytes().to_vec();
    datagram.resize(length, number as u8);
    datagram
}

/// Sends a thousand datagrams, a few at a time. Returns those that came back unchanged, in order of arrival.
fn echo(server: &mut dyn ServerTransport, client: &mut dyn ClientTransport) -> Vec<u32> {
    let (mut sent, mut back, mut silence) = (0, Vec::new(), 0);
    until("the echo", || {
        for _ in 0..8 {
            if sent < DATAGRAMS && client.send(&numbered(sent)).is_ok() {
                sent += 1;
            }
        }
        for event in poll_events(server, STEP) {
            if let ServerEvent::Datagram(peer, bytes) = event {
                server.send(peer, &bytes).expect("the peer is connected");
            }
        }
        silence += 1;
        for datagram in read(client, Duration::from_millis(1)) {
            let number = u32::from_le_bytes(datagram[..4].try_into().expect("four bytes"));
            assert_eq!(datagram, numbered(number), "unchanged");
            back.push(number);
            silence = 0;
        }
        back.len() >= DATAGRAMS as usize || (sent == DATAGRAMS && silence > 500)
    });
    back
}

#[test]
fn a_thousand_datagrams_over_udp() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut client = connect_to(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    join(&mut server, &mut client);
    let back = echo(&mut server, &mut client);
    let distinct: BTreeSet<u32> = back.iter().copied().collect();
    assert_eq!(distinct.len(), back.len(), "netcode drops duplicates");
    assert!(back.len() > DATAGRAMS as usize * 9 / 10, "{} came back", back.len());
}

#[test]
fn a_thousand_datagrams_over_websocket() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut client = connect_to(server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token"));
    join(&mut server, &mut client);
    let all: Vec<u32> = (0..DATAGRAMS).collect();
    assert_eq!(echo(&mut server, &mut client), all, "a stream loses and reorders nothing");
}

#[test]
fn a_thousand_datagrams_in_process() {
    let mut server = MemoryServer::new(Limits::default());
    let mut client = server.connect(b"Ana").expect("a place");
    assert_eq!(client.state(), State::Connecting);
    assert_eq!(poll_events(&mut server, STEP), [ServerEvent::Connected(PeerId(0), b"Ana".to_vec())]);
    assert_eq!(client.state(), State::Connected);
    let all: Vec<u32> = (0..DATAGRAMS).collect();
    assert_eq!(echo(&mut server, &mut client), all);
}

#[test]
fn one_listener_serves_all_transports_and_identifies_each_peer() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let names = [(TransportKind::Udp, "Ana"), (TransportKind::WebSocket, "Ben"), (TransportKind::Udp, "Cem")];
    let mut clients: Vec<_> = names
        .iter()
        .zip(1..)
        .map(|(&(kind, name), number)| connect_to(server.issue(kind, number, name.as_bytes()).expect("a token")))
        .collect();
    let mut greeted = Vec::new();
    let mut answered = BTreeSet::new();
    until("every client receives its name", || {
        for event in poll_events(&mut server, STEP) {
            if let ServerEvent::Connected(peer, name) = event {
                greeted.push((peer, name));
            }
        }
        for (peer, name) in &greeted {
            let _ = server.send(*peer, name);
        }
        for (client, (_, name)) in clients.iter_mut().zip(names) {
            for datagram in read(client, Duration::from_millis(1)) {
                assert_eq!(datagram, name.as_bytes());
                answered.insert(name);
            }
        }
        answered.len() == names.len()
    });
    let peers: BTreeSet<PeerId> = greeted.iter().map(|(peer, _)| *peer).collect();
    assert_eq!(peers.len(), names.len());
}

#[test]
fn an_open_server_needs_no_token() {
    let mut server = listen(Auth::Open, Limits::default());
    for (kind, number) in [(TransportKind::Udp, 1), (TransportKind::WebSocket, 2)] {
        let address = server.address(kind).expect("it listens");
        let who = ugas_transport::Identity { client: number, user_data: b"Ana", kind, address };
        let mut client = ugas_transport::Connector::connect_open(crate::rig::PROTOCOL, who, crate::rig::CONNECT)
            .expect("the server listens");
        join(&mut server, &mut client);
    }
}

#[test]
fn both_sides_report_a_disconnect() {
    for kind in [TransportKind::Udp, TransportKind::WebSocket] {
        let mut server = listen(Auth::Key(key()), Limits::default());
        let mut ana = connect_to(server.issue(kind, 1, b"Ana").expect("a token"));
        let mut ben = connect_to(server.issue(kind, 2, b"Ben").expect("a token"));
        let (ana_is, ben_is) = (join(&mut server, &mut ana), join(&mut server, &mut ben));

        server.disconnect(ana_is);
        ben.disconnect();
        let mut closed = Vec::new();
        until("both are disconnected", || {
            closed.extend(poll_events(&mut server, STEP));
            read(&mut ana, Duration::from_millis(1));
            closed.len() >= 2 && ana.state() != State::Connected
        });
        assert_eq!(ana.state(), State::Disconnected(CloseReason::ByServer));
        assert_eq!(ben.state(), State::Disconnected(CloseReason::ByClient));
        assert!(closed.contains(&ServerEvent::Disconnected(ana_is, CloseReason::ByServer)), "{closed:?}");
        assert!(closed.contains(&ServerEvent::Disconnected(ben_is, CloseReason::ByClient)), "{closed:?}");
        assert_eq!(server.send(ana_is, b"?"), Err(SendError::NoPeer(ana_is)));
        assert_eq!(ben.send(b"?"), Err(SendError::NotConnected));

        let mut cem = connect_to(server.issue(kind, 3, b"Cem").expect("a token"));
        let cem_is = join(&mut server, &mut cem);
        assert!(cem_is > ben_is, "a number is never reused");
        drop(server);
        until("the server is closed", || {
            read(&mut cem, Duration::from_millis(1));
            cem.state() == State::Disconnected(CloseReason::ByServer)
        });
    }
}

#[test]
fn a_silent_peer_times_out() {
    for kind in [TransportKind::Udp, TransportKind::WebSocket] {
        let mut server = listen(Auth::Key(key()), Limits::default());
        let mut client = connect_to(server.issue(kind, 1, b"Ana").expect("a token"));
        let peer = join(&mut server, &mut client);
        let events = poll_events(&mut server, Duration::from_secs(11));
        let mut all = events;
        until("the server reports the timeout", || {
            all.extend(poll_events(&mut server, Duration::from_secs(11)));
            all.contains(&ServerEvent::Disconnected(peer, CloseReason::TimedOut))
        });
    }
}

#[test]
fn an_in_process_client_leaves_when_it_is_dropped() {
    let mut server = MemoryServer::new(Limits { peers: 1, ..Limits::default() });
    let client = server.connect(b"Ana").expect("a place");
    assert!(server.connect(b"Ben").is_err(), "the server is full");
    drop(client);
    let events = poll_events(&mut server, STEP);
    assert_eq!(events.last(), Some(&ServerEvent::Disconnected(PeerId(0), CloseReason::ByClient)));
    let mut ben = server.connect(b"Ben").expect("the first client left");
    poll_events(&mut server, STEP);
    server.disconnect(PeerId(1));
    assert_eq!(poll_events(&mut server, STEP), [ServerEvent::Disconnected(PeerId(1), CloseReason::ByServer)]);
    assert_eq!(ben.send(b"?"), Err(SendError::NotConnected));
    assert_eq!(ben.state(), State::Disconnected(CloseReason::ByServer));
}
