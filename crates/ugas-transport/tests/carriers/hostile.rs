//! What must not come in does not, what comes in too fast or too long is dropped and counted, and nobody else notices.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use crate::rig::{CALL, Heard, NOW, PROTOCOL, call, hear, join, key, listen, read, until};
use renetcode2::{ClientAuthentication, ConnectToken, NetcodeClient};
use ugas_transport::memory::MemoryServer;
use ugas_transport::{
    Auth, ClientTransport, Connector, Gone, Identity, Key, Limits, Listener, MAX_DATAGRAM, MAX_USER_DATA, SendError,
    ServerTransport, State, Token, TransportKind,
};

const STEP: Duration = Duration::from_millis(1);
const LIFETIME: Duration = Duration::from_secs(61);

fn identity(server: &Listener, carrier: TransportKind) -> Identity<'static> {
    let address = server.address(carrier).expect("it listens");
    Identity { client: 1, user_data: b"Mallory", carrier, address }
}

/// Lets a client try until it gives up; nobody may have come in.
fn refused(server: &mut Listener, mut client: Connector) -> Gone {
    let mut gone = None;
    until("the refusal", || {
        assert_eq!(hear(server, STEP), [], "nobody comes in");
        // Time flies for the client, so that the test does not wait for its patience to end.
        read(&mut client, Duration::from_millis(300));
        if let State::Disconnected(why) = client.state() {
            gone = Some(why);
        }
        gone.is_some()
    });
    gone.expect("the loop ends with it")
}

#[test]
fn a_token_of_another_key_is_refused() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    for (carrier, expected) in [(TransportKind::Udp, Gone::NoAnswer), (TransportKind::WebSocket, Gone::Refused)] {
        let who = identity(&server, carrier);
        let token = Token::issue(&Key::random(), PROTOCOL, who, NOW, LIFETIME).expect("a token");
        assert_eq!(refused(&mut server, call(token)), expected);
    }
    assert!(server.counts().malformed >= 2);
}

#[test]
fn a_token_of_another_protocol_is_refused() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    for (carrier, expected) in [(TransportKind::Udp, Gone::NoAnswer), (TransportKind::WebSocket, Gone::Refused)] {
        let who = identity(&server, carrier);
        let token = Token::issue(&key(), PROTOCOL + 1, who, NOW, LIFETIME).expect("a token");
        assert_eq!(refused(&mut server, call(token)), expected);
    }
}

#[test]
fn who_comes_without_a_token_is_refused_where_one_is_needed() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let who = identity(&server, TransportKind::Udp);
    let client = Connector::connect_open(PROTOCOL, who, CALL).expect("the server listens");
    assert_eq!(refused(&mut server, client), Gone::NoAnswer);
}

#[test]
fn a_token_for_another_carrier_or_of_yesterday_is_refused() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let address = server.address(TransportKind::WebSocket).expect("it listens");
    let crossed = Identity { address, ..identity(&server, TransportKind::Udp) };
    let token = Token::issue(&key(), PROTOCOL, crossed, NOW, LIFETIME).expect("a token");
    // UDP packets to a port of TCP: nobody is there, and not every system says so.
    let why = refused(&mut server, call(token));
    assert!(why == Gone::Nobody || why == Gone::NoAnswer && !cfg!(target_os = "linux"), "{why:?}");
    let yesterday = NOW - Duration::from_secs(86_400);
    let token =
        Token::issue(&key(), PROTOCOL, identity(&server, TransportKind::Udp), yesterday, LIFETIME).expect("a token");
    assert_eq!(refused(&mut server, call(token)), Gone::NoAnswer);
}

#[test]
fn a_token_works_once() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let token = server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token");
    let mut ana = call(token.clone());
    join(&mut server, &mut ana);
    assert_eq!(refused(&mut server, call(token)), Gone::Refused);
    assert!(server.counts().denied > 0);
    assert_eq!(ana.state(), State::Connected);
}

#[test]
fn a_full_server_says_so() {
    let mut server = listen(Auth::Key(key()), Limits { peers: 1, ..Limits::default() });
    let mut ana = call(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    join(&mut server, &mut ana);
    for carrier in [TransportKind::Udp, TransportKind::WebSocket] {
        let ben = call(server.issue(carrier, 2, b"Ben").expect("a token"));
        assert_eq!(refused(&mut server, ben), Gone::Refused);
    }
}

#[test]
fn a_flood_is_cut_to_the_burst_and_nobody_else_suffers() {
    const BURST: u32 = 40;
    let limits = Limits { per_second: 10, burst: BURST, ..Limits::default() };
    for carrier in [TransportKind::Udp, TransportKind::WebSocket] {
        let mut server = listen(Auth::Key(key()), limits);
        let mut flood = call(server.issue(carrier, 1, b"Mallory").expect("a token"));
        let mut quiet = call(server.issue(carrier, 2, b"Ana").expect("a token"));
        let (flood_is, quiet_is) = (join(&mut server, &mut flood), join(&mut server, &mut quiet));
        let (mut flooded, mut heard_quiet) = (0, false);
        until("the flood and a quiet word", || {
            for _ in 0..50 {
                let _ = flood.send(&[0; 100]);
            }
            // Once in a while, so that the quiet client stays below its own limit.
            if flooded >= BURST && !heard_quiet {
                let _ = quiet.send(b"still here");
            }
            // No time goes by for the server, so that nothing flows back into the bucket.
            for heard in hear(&mut server, Duration::ZERO) {
                match heard {
                    Heard::Datagram(peer, _) if peer == flood_is => flooded += 1,
                    Heard::Datagram(peer, bytes) if peer == quiet_is => heard_quiet |= bytes == b"still here",
                    other => panic!("{other:?}"),
                }
            }
            heard_quiet && server.counts().too_fast > 100
        });
        assert!(flooded <= BURST, "{flooded} of a flood passed");
        assert_eq!(quiet.state(), State::Connected);
    }
}

#[test]
fn an_in_process_flood_is_cut_too() {
    let mut server = MemoryServer::new(Limits { per_second: 10, burst: 5, ..Limits::default() });
    let mut client = server.connect(b"Mallory").expect("a place");
    for _ in 0..20 {
        client.send(b"again").expect("it fits");
    }
    let passed = |heard: Vec<Heard>| heard.iter().filter(|heard| matches!(heard, Heard::Datagram(..))).count();
    assert_eq!(passed(hear(&mut server, Duration::ZERO)), 5);
    assert_eq!(server.counts().too_fast, 15);
    for _ in 0..10_000 {
        let _ = client.send(b"again");
    }
    assert_eq!(client.send(b"again"), Err(SendError::Full), "what waits is bounded");
    assert_eq!(passed(hear(&mut server, Duration::from_millis(200))), 2);
}

#[test]
fn datagrams_have_a_length_both_ways() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut ana = call(server.issue(TransportKind::Udp, 1, &[b'A'; MAX_USER_DATA]).expect("a token"));
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

/// A client without our caller around it: it can send what a caller would not.
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
            hear(server, STEP);
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
        assert_eq!(hear(&mut server, STEP), []);
        server.counts().too_long == 1
    });
    raw.send(&[5; 20_000]);
    until("it is no packet at all", || {
        assert_eq!(hear(&mut server, STEP), []);
        server.counts().malformed > 0
    });
}

/// Cut, changed, replayed and invented packets with the sender of a player: the player stays, the server too.
#[test]
fn damaged_packets_of_a_players_address_do_no_harm() {
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
        let mut packet = raw.payload(b"an honest word");
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
            for heard in hear(&mut server, STEP) {
                assert!(matches!(&heard, Heard::Datagram(_, bytes) if bytes == b"an honest word"), "{heard:?}");
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
fn strangers_who_hold_lines_or_flood_do_not_keep_players_out() {
    let mut server = listen(Auth::Key(key()), Limits { strangers_per_second: 50, ..Limits::default() });
    let mut ana = call(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    let ana_is = join(&mut server, &mut ana);

    // Silent lines of TCP, more than the server holds, and packets of nobody.
    let websocket = server.address(TransportKind::WebSocket).expect("it listens");
    let mut silent = Vec::new();
    for _ in 0..20 {
        // Few at a time: the system's own queue is short.
        silent.extend((0..10).filter_map(|_| TcpStream::connect(websocket).ok()));
        hear(&mut server, Duration::ZERO);
    }
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let udp = server.address(TransportKind::Udp).expect("it listens");
    until("the flood is cut", || {
        for _ in 0..50 {
            let _ = stranger.send_to(&[0; 1_078], udp);
        }
        assert_eq!(hear(&mut server, Duration::ZERO), []);
        server.counts().strangers > 200
    });
    // A player does not notice.
    let mut is_heard = false;
    until("Ana is heard", || {
        let _ = ana.send(b"still here");
        is_heard |= hear(&mut server, Duration::ZERO).contains(&Heard::Datagram(ana_is, b"still here".to_vec()));
        is_heard
    });
    // After a while the silent ones are gone and a newcomer finds a place.
    for _ in 0..8 {
        hear(&mut server, Duration::from_secs(2));
        read(&mut ana, Duration::from_secs(1));
        hear(&mut server, Duration::ZERO);
    }
    let mut ben = call(server.issue(TransportKind::WebSocket, 2, b"Ben").expect("a token"));
    join(&mut server, &mut ben);
}

#[test]
fn a_damaged_token_is_refused_with_a_reason() {
    let server = listen(Auth::Key(key()), Limits::default());
    let text = server.issue(TransportKind::Udp, 1, b"Ana").expect("a token").to_string();
    assert_eq!(text.parse::<Token>().expect("it is whole").to_string(), text);
    let read = |text: &str| text.parse::<Token>().map(|_| ()).map_err(|error| error.to_string());
    assert!(read("").is_err_and(|why| why.contains("expected the line `ugas connect token 1`")));
    assert!(read("ugas connect token 1\nxyz0").is_err_and(|why| why.contains("hexadecimal")));
    assert!(read("ugas connect token 1\n00").is_err_and(|why| why.contains("malformed")));
    assert!(read(&text[..text.len() / 2 * 2 - 9]).is_err());
    let long = format!("ugas connect token 1\n{}", "0".repeat(1_000_000));
    assert!(read(&long).is_err_and(|why| why.contains("1000000 characters")));
    // Any single change is read as a token or refused; nothing else happens, not even on use.
    for at in (21..text.len() - 1).step_by(3) {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'f' { b'0' } else { b'f' };
        let changed = String::from_utf8(changed).expect("digits");
        if let Ok(token) = changed.parse::<Token>()
            && token.carrier() == TransportKind::Udp
        {
            let mut client = call(token);
            for _ in 0..3 {
                let _ = client.poll(Duration::from_secs(4), &mut |_| {});
            }
        }
    }
}
