//! Invalid connections are rejected; datagrams that are too fast or too long are dropped and counted; other peers are not
//! affected.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use crate::rig::{CONNECT, NOW, PROTOCOL, ServerEvent, connect_to, join, key, listen, poll_events, read, until};
use renetcode2::{ClientAuthentication, ConnectToken, NetcodeClient};
use ugas_transport::memory::MemoryServer;
use ugas_transport::{
    Auth, ClientTransport, CloseReason, Connector, Identity, Key, Limits, Listener, MAX_DATAGRAM, MAX_USER_DATA,
    SendError, ServerTransport, State, Token, TransportKind,
};

const STEP: Duration = Duration::from_millis(1);
const LIFETIME: Duration = Duration::from_secs(61);

fn identity(server: &Listener, kind: TransportKind) -> Identity<'static> {
    let address = server.address(kind).expect("it listens");
    Identity { client: 1, user_data: b"Mallory", kind, address }
}

/// Polls until a client gives up, and checks that it never connected.
fn rejection_of(server: &mut Listener, mut client: Connector) -> CloseReason {
    let mut closed = None;
    until("the refusal", || {
        assert_eq!(poll_events(server, STEP), [], "no peer connects");
        // Time passes faster for the client, so that the test does not wait for its timeout.
        read(&mut client, Duration::from_millis(300));
        if let State::Disconnected(why) = client.state() {
            closed = Some(why);
        }
        closed.is_some()
    });
    closed.expect("the loop ends with it")
}

#[test]
fn a_token_of_another_key_is_rejected() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    for (kind, expected) in
        [(TransportKind::Udp, CloseReason::NoAnswer), (TransportKind::WebSocket, CloseReason::Rejected)]
    {
        let who = identity(&server, kind);
        let token = Token::issue(&Key::random(), PROTOCOL, who, NOW, LIFETIME).expect("a token");
        assert_eq!(rejection_of(&mut server, connect_to(token)), expected);
    }
    assert!(server.counts().malformed >= 2);
}

#[test]
fn a_token_of_another_protocol_is_rejected() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    for (kind, expected) in
        [(TransportKind::Udp, CloseReason::NoAnswer), (TransportKind::WebSocket, CloseReason::Rejected)]
    {
        let who = identity(&server, kind);
        let token = Token::issue(&key(), PROTOCOL + 1, who, NOW, LIFETIME).expect("a token");
        assert_eq!(rejection_of(&mut server, connect_to(token)), expected);
    }
}

#[test]
fn a_client_without_a_token_is_rejected_by_a_server_with_a_key() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let who = identity(&server, TransportKind::Udp);
    let client = Connector::connect_open(PROTOCOL, who, CONNECT).expect("the server listens");
    assert_eq!(rejection_of(&mut server, client), CloseReason::NoAnswer);
}

#[test]
fn a_token_for_another_transport_or_an_expired_one_is_rejected() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let address = server.address(TransportKind::WebSocket).expect("it listens");
    let crossed = Identity { address, ..identity(&server, TransportKind::Udp) };
    let token = Token::issue(&key(), PROTOCOL, crossed, NOW, LIFETIME).expect("a token");
    // UDP packets to a TCP port: the port is closed, which not every system reports.
    let why = rejection_of(&mut server, connect_to(token));
    assert!(why == CloseReason::PortClosed || why == CloseReason::NoAnswer && !cfg!(target_os = "linux"), "{why:?}");
    let yesterday = NOW - Duration::from_secs(86_400);
    let token =
        Token::issue(&key(), PROTOCOL, identity(&server, TransportKind::Udp), yesterday, LIFETIME).expect("a token");
    assert_eq!(rejection_of(&mut server, connect_to(token)), CloseReason::NoAnswer);
}

#[test]
fn a_token_works_once() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let token = server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token");
    let mut ana = connect_to(token.clone());
    join(&mut server, &mut ana);
    assert_eq!(rejection_of(&mut server, connect_to(token)), CloseReason::Rejected);
    assert!(server.counts().denied > 0);
    assert_eq!(ana.state(), State::Connected);
}

#[test]
fn a_full_server_rejects_with_a_reason() {
    let mut server = listen(Auth::Key(key()), Limits { peers: 1, ..Limits::default() });
    let mut ana = connect_to(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    join(&mut server, &mut ana);
    for kind in [TransportKind::Udp, TransportKind::WebSocket] {
        let ben = connect_to(server.issue(kind, 2, b"Ben").expect("a token"));
        assert_eq!(rejection_of(&mut server, ben), CloseReason::Rejected);
    }
}

#[test]
fn a_connection_lost_during_the_handshake_is_not_a_rejection() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let kind = TransportKind::WebSocket;
    let who = Identity { client: 1, user_data: b"Ana", kind, address: server.local_addr().expect("an address") };
    let token = Token::issue(&key(), PROTOCOL, who, NOW, LIFETIME).expect("a token");
    let mut client = connect_to(token);
    drop(server.accept().expect("a connection"));
    until("the loss", || {
        read(&mut client, STEP);
        client.state() != State::Connecting
    });
    assert_eq!(client.state(), State::Disconnected(CloseReason::ConnectionLost));
}

#[test]
fn a_flood_is_limited_to_the_burst_and_other_peers_are_not_affected() {
    const BURST: u32 = 40;
    let limits = Limits { per_second: 10, burst: BURST, ..Limits::default() };
    for kind in [TransportKind::Udp, TransportKind::WebSocket] {
        let mut server = listen(Auth::Key(key()), limits);
        let mut flood = connect_to(server.issue(kind, 1, b"Mallory").expect("a token"));
        let mut quiet = connect_to(server.issue(kind, 2, b"Ana").expect("a token"));
        let (flood_is, quiet_is) = (join(&mut server, &mut flood), join(&mut server, &mut quiet));
        let (mut flooded, mut got_quiet) = (0, false);
        until("the flood and one datagram of another client", || {
            for _ in 0..50 {
                let _ = flood.send(&[0; 100]);
            }
            // Once in a while, so that the quiet client stays below its own limit.
            if flooded >= BURST && !got_quiet {
                let _ = quiet.send(b"still here");
            }
            // No time passes for the server, so that the bucket is not refilled.
            for event in poll_events(&mut server, Duration::ZERO) {
                match event {
                    ServerEvent::Datagram(peer, _) if peer == flood_is => flooded += 1,
                    ServerEvent::Datagram(peer, bytes) if peer == quiet_is => got_quiet |= bytes == b"still here",
                    other => panic!("{other:?}"),
                }
            }
            got_quiet && server.counts().too_fast > 100
        });
        assert!(flooded <= BURST, "{flooded} of a flood passed");
        assert_eq!(quiet.state(), State::Connected);
    }
}

#[test]
fn an_in_process_flood_is_limited_too() {
    let mut server = MemoryServer::new(Limits { per_second: 10, burst: 5, ..Limits::default() });
    let mut client = server.connect(b"Mallory").expect("a place");
    for _ in 0..20 {
        client.send(b"again").expect("it fits");
    }
    let passed =
        |events: Vec<ServerEvent>| events.iter().filter(|events| matches!(events, ServerEvent::Datagram(..))).count();
    assert_eq!(passed(poll_events(&mut server, Duration::ZERO)), 5);
    assert_eq!(server.counts().too_fast, 15);
    for _ in 0..10_000 {
        let _ = client.send(b"again");
    }
    assert_eq!(client.send(b"again"), Err(SendError::Full), "the queue is bounded");
    assert_eq!(passed(poll_events(&mut server, Duration::from_millis(200))), 2);
}

#[test]
fn the_length_of_datagrams_is_limited_in_both_directions() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut ana = connect_to(server.issue(TransportKind::Udp, 1, &[b'A'; MAX_USER_DATA]).expect("a token"));
    let peer = join(&mut server, &mut ana);
    let long = [0; MAX_DATAGRAM + 1];
    let refusal = Err(SendError::TooLong { length: MAX_DATAGRAM + 1 });
    assert_eq!(server.send(peer, &long), refusal);
    assert_eq!(ana.send(&long), refusal);
    assert!(server.issue(TransportKind::Udp, 2, &[b'A'; MAX_USER_DATA + 1]).is_err());
    let mut memory = MemoryServer::new(Limits::default());
    let mut client = memory.connect(b"").expect("a place");
    assert_eq!(client.send(&long), refusal);
}

/// A netcode client without [`Connector`], which can send invalid packets.
struct Raw {
    netcode: NetcodeClient,
    socket: UdpSocket,
    server: SocketAddr,
}

impl Raw {
    fn join(server: &mut Listener, limits_client: u64) -> Raw {
        let address = server.address(TransportKind::Udp).expect("it listens");
        let user_data = [0; 256];
        let token =
            ConnectToken::generate(NOW, PROTOCOL, 61, limits_client, 10, 0, vec![address], Some(&user_data), &[7; 32]);
        let connect_token = token.expect("a token");
        let netcode = NetcodeClient::new(NOW, ClientAuthentication::Secure { connect_token }).expect("a client");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_nonblocking(true).expect("the system can");
        let mut raw = Raw { netcode, socket, server: address };
        until("the raw client joins", || {
            poll_events(server, STEP);
            raw.update();
            raw.netcode.is_connected()
        });
        raw
    }

    fn update(&mut self) {
        let mut buffer = [0; 1_400];
        while let Ok((length, _)) = self.socket.recv_from(&mut buffer) {
            self.netcode.process_packet(&mut buffer[..length]);
        }
        self.netcode.update(Duration::from_millis(20));
        if let Some((packet, to)) = self.netcode.generate_ping() {
            self.socket.send_to(packet, to).expect("loopback");
        }
    }

    fn payload(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.netcode.generate_payload_packet(bytes).expect("it is connected").1.to_vec()
    }

    fn send(&self, packet: &[u8]) {
        self.socket.send_to(packet, self.server).expect("loopback");
    }
}

#[test]
fn a_longer_datagram_than_allowed_is_dropped_and_counted() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut raw = Raw::join(&mut server, 9);
    let packet = raw.payload(&[1; MAX_DATAGRAM + 50]);
    raw.send(&packet);
    until("it is counted", || {
        assert_eq!(poll_events(&mut server, STEP), []);
        server.counts().too_long == 1
    });
    raw.send(&[5; 20_000]);
    until("it is not a packet", || {
        assert_eq!(poll_events(&mut server, STEP), []);
        server.counts().malformed > 0
    });
}

/// Truncated, changed, replayed and invented packets with the address of a player: the player stays connected.
#[test]
fn damaged_packets_from_a_players_address_do_not_disconnect_it() {
    let limits = Limits { per_second: 1_000_000, burst: 1_000_000, ..Limits::default() };
    let mut server = listen(Auth::Key(key()), limits);
    let mut raw = Raw::join(&mut server, 9);
    let mut seed = 1u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let (mut honest, mut sent) = (0u64, 0u64);
    for round in 0..20_000 {
        let mut packet = raw.payload(b"a valid datagram");
        match random() % 4 {
            0 => packet.truncate(random() % packet.len()),
            1 => {
                let at = random() % packet.len();
                packet[at] ^= 1 << (random() % 8);
            }
            2 => packet = (0..random() % 120).map(|_| random() as u8).collect(),
            _ => {
                raw.send(&packet);
                sent += 1;
            }
        }
        raw.send(&packet);
        if round % 16 == 0 {
            for event in poll_events(&mut server, STEP) {
                assert!(matches!(&event, ServerEvent::Datagram(_, bytes) if bytes == b"a valid datagram"), "{event:?}");
                honest += 1;
            }
            raw.update();
        }
    }
    assert!(honest > 0 && honest <= sent, "{honest} of {sent}");
    assert!(server.counts().malformed > 1_000);
    assert!(raw.netcode.is_connected());
}

#[test]
fn idle_connections_and_floods_of_unknown_peers_do_not_block_players() {
    let mut server = listen(
        Auth::Key(key()),
        Limits { unknown_packets_per_second: 50, cookies_per_second: 50, ..Limits::default() },
    );
    let mut ana = connect_to(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    let ana_is = join(&mut server, &mut ana);

    // Idle TCP connections, more than the server accepts, and packets from unknown addresses.
    let websocket = server.address(TransportKind::WebSocket).expect("it listens");
    let mut silent = Vec::new();
    for _ in 0..20 {
        // A few at a time: the queue of the system is short.
        silent.extend((0..10).filter_map(|_| TcpStream::connect(websocket).ok()));
        poll_events(&mut server, Duration::ZERO);
    }
    let unknown = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let udp = server.address(TransportKind::Udp).expect("it listens");
    until("the flood is limited", || {
        for _ in 0..50 {
            let _ = unknown.send_to(&[0; 1_078], udp);
        }
        assert_eq!(poll_events(&mut server, Duration::ZERO), []);
        server.counts().unknown > 200
    });
    // A player is not affected.
    let mut is_received = false;
    until("Ana is events", || {
        let _ = ana.send(b"still here");
        is_received |=
            poll_events(&mut server, Duration::ZERO).contains(&ServerEvent::Datagram(ana_is, b"still here".to_vec()));
        is_received
    });
    // After the timeout the idle connections are closed and a new client can connect.
    for _ in 0..8 {
        poll_events(&mut server, Duration::from_secs(2));
        read(&mut ana, Duration::from_secs(1));
        poll_events(&mut server, Duration::ZERO);
    }
    let mut ben = connect_to(server.issue(TransportKind::WebSocket, 2, b"Ben").expect("a token"));
    join(&mut server, &mut ben);
}

#[test]
fn a_damaged_token_is_rejected_with_a_reason() {
    let server = listen(Auth::Key(key()), Limits::default());
    let text = server.issue(TransportKind::Udp, 1, b"Ana").expect("a token").to_string();
    assert_eq!(text.parse::<Token>().expect("it is valid").to_string(), text);
    let read = |text: &str| text.parse::<Token>().map(|_| ()).map_err(|error| error.to_string());
    assert!(read("").is_err_and(|why| why.contains("expected the line `ugas connect token 1`")));
    assert!(read("ugas connect token 1\nxyz0").is_err_and(|why| why.contains("hexadecimal")));
    assert!(read("ugas connect token 1\n00").is_err_and(|why| why.contains("malformed")));
    assert!(read(&text[..text.len() / 2 * 2 - 9]).is_err());
    let long = format!("ugas connect token 1\n{}", "0".repeat(1_000_000));
    assert!(read(&long).is_err_and(|why| why.contains("1000000 characters")));
    // A token with any single change is read or rejected without a panic, also when it is used.
    for at in (21..text.len() - 1).step_by(3) {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'f' { b'0' } else { b'f' };
        let changed = String::from_utf8(changed).expect("digits");
        if let Ok(token) = changed.parse::<Token>()
            && token.kind() == TransportKind::Udp
        {
            let mut client = connect_to(token);
            for _ in 0..3 {
                let _ = client.poll(Duration::from_secs(4), &mut |_| {});
            }
        }
    }
}
