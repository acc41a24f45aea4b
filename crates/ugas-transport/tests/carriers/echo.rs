//! Datagrams go there and come back, on every carrier and on all of them at once.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::rig::{Heard, call, hear, join, key, listen, read, until};
use ugas_transport::memory::MemoryServer;
use ugas_transport::{
    Auth, ClientTransport, Gone, Limits, MAX_DATAGRAM, PeerId, SendError, ServerTransport, State, TransportKind,
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

/// Sends a thousand datagrams, a few at a time, and tells which came back unchanged, in order of arrival.
fn echo(server: &mut dyn ServerTransport, client: &mut dyn ClientTransport) -> Vec<u32> {
    let (mut sent, mut back, mut silence) = (0, Vec::new(), 0);
    until("the echo", || {
        for _ in 0..8 {
            if sent < DATAGRAMS && client.send(&numbered(sent)).is_ok() {
                sent += 1;
            }
        }
        for heard in hear(server, STEP) {
            if let Heard::Datagram(peer, bytes) = heard {
                server.send(peer, &bytes).expect("the peer is there");
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
    let mut client = call(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    join(&mut server, &mut client);
    let back = echo(&mut server, &mut client);
    let distinct: BTreeSet<u32> = back.iter().copied().collect();
    assert_eq!(distinct.len(), back.len(), "netcode lets no packet pass twice");
    assert!(back.len() > DATAGRAMS as usize * 9 / 10, "{} came back", back.len());
}

#[test]
fn a_thousand_datagrams_over_websocket() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut client = call(server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token"));
    join(&mut server, &mut client);
    let all: Vec<u32> = (0..DATAGRAMS).collect();
    assert_eq!(echo(&mut server, &mut client), all, "nothing is lost and all is in order on a stream");
}

#[test]
fn a_thousand_datagrams_in_process() {
    let mut server = MemoryServer::new(Limits::default());
    let mut client = server.connect(b"Ana").expect("a place");
    assert_eq!(client.state(), State::Connecting);
    assert_eq!(hear(&mut server, STEP), [Heard::Connected(PeerId(0), b"Ana".to_vec())]);
    assert_eq!(client.state(), State::Connected);
    let all: Vec<u32> = (0..DATAGRAMS).collect();
    assert_eq!(echo(&mut server, &mut client), all);
}

#[test]
fn one_listener_serves_all_carriers_and_knows_who_is_who() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let names = [(TransportKind::Udp, "Ana"), (TransportKind::WebSocket, "Ben"), (TransportKind::Udp, "Cem")];
    let mut clients: Vec<_> = names
        .iter()
        .zip(1..)
        .map(|(&(carrier, name), number)| call(server.issue(carrier, number, name.as_bytes()).expect("a token")))
        .collect();
    let mut greeted = Vec::new();
    let mut answered = BTreeSet::new();
    until("everybody hears their name", || {
        for heard in hear(&mut server, STEP) {
            if let Heard::Connected(peer, name) = heard {
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
    for (carrier, number) in [(TransportKind::Udp, 1), (TransportKind::WebSocket, 2)] {
        let address = server.address(carrier).expect("it listens");
        let who = ugas_transport::Identity { client: number, user_data: b"Ana", carrier, address };
        let mut client = ugas_transport::Connector::connect_open(crate::rig::PROTOCOL, who, crate::rig::CALL)
            .expect("the server listens");
        join(&mut server, &mut client);
    }
}

#[test]
fn everybody_hears_of_an_end() {
    for carrier in [TransportKind::Udp, TransportKind::WebSocket] {
        let mut server = listen(Auth::Key(key()), Limits::default());
        let mut ana = call(server.issue(carrier, 1, b"Ana").expect("a token"));
        let mut ben = call(server.issue(carrier, 2, b"Ben").expect("a token"));
        let (ana_is, ben_is) = (join(&mut server, &mut ana), join(&mut server, &mut ben));

        server.disconnect(ana_is);
        ben.disconnect();
        let mut gone = Vec::new();
        until("both are gone", || {
            gone.extend(hear(&mut server, STEP));
            read(&mut ana, Duration::from_millis(1));
            gone.len() >= 2 && ana.state() != State::Connected
        });
        assert_eq!(ana.state(), State::Disconnected(Gone::ByServer));
        assert_eq!(ben.state(), State::Disconnected(Gone::ByClient));
        assert!(gone.contains(&Heard::Disconnected(ana_is, Gone::ByServer)), "{gone:?}");
        assert!(gone.contains(&Heard::Disconnected(ben_is, Gone::ByClient)), "{gone:?}");
        assert_eq!(server.send(ana_is, b"?"), Err(SendError::NoPeer(ana_is)));
        assert_eq!(ben.send(b"?"), Err(SendError::NotConnected));

        let mut cem = call(server.issue(carrier, 3, b"Cem").expect("a token"));
        let cem_is = join(&mut server, &mut cem);
        assert!(cem_is > ben_is, "a number is never used again");
        drop(server);
        until("the server is gone", || {
            read(&mut cem, Duration::from_millis(1));
            cem.state() == State::Disconnected(Gone::ByServer)
        });
    }
}

#[test]
fn silence_ends_a_connection() {
    for carrier in [TransportKind::Udp, TransportKind::WebSocket] {
        let mut server = listen(Auth::Key(key()), Limits::default());
        let mut client = call(server.issue(carrier, 1, b"Ana").expect("a token"));
        let peer = join(&mut server, &mut client);
        let heard = hear(&mut server, Duration::from_secs(11));
        let mut all = heard;
        until("the server gives up", || {
            all.extend(hear(&mut server, Duration::from_secs(11)));
            all.contains(&Heard::Disconnected(peer, Gone::TimedOut))
        });
    }
}

#[test]
fn an_in_process_client_leaves_when_it_is_dropped() {
    let mut server = MemoryServer::new(Limits { peers: 1, ..Limits::default() });
    let client = server.connect(b"Ana").expect("a place");
    assert!(server.connect(b"Ben").is_err(), "one place only");
    drop(client);
    let heard = hear(&mut server, STEP);
    assert_eq!(heard.last(), Some(&Heard::Disconnected(PeerId(0), Gone::ByClient)));
    let mut ben = server.connect(b"Ben").expect("the place is free");
    hear(&mut server, STEP);
    server.disconnect(PeerId(1));
    assert_eq!(hear(&mut server, STEP), [Heard::Disconnected(PeerId(1), Gone::ByServer)]);
    assert_eq!(ben.send(b"?"), Err(SendError::NotConnected));
    assert_eq!(ben.state(), State::Disconnected(Gone::ByServer));
}
