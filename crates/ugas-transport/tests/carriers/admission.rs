//! Requests from unknown addresses: what a server stores for them, and who replaces whom.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use crate::rig::{CONNECT, NOW, PROTOCOL, ServerEvent, connect_to, join, key, listen, poll_events, read, until};
use renetcode2::{ConnectToken, Packet};
use ugas_transport::{
    Auth, ClientTransport, CloseReason, Connector, ConnectorConfig, Identity, Limits, Listener, PeerId,
    ServerTransport, State, TransportKind,
};

const STEP: Duration = Duration::from_millis(1);

fn open_client(server: &Listener, client: u64) -> Connector {
    let address = server.address(TransportKind::Udp).expect("it listens");
    let who = Identity { client, user_data: b"Ana", kind: TransportKind::Udp, address };
    Connector::connect_open(PROTOCOL, who, CONNECT).expect("the server listens")
}

/// A request of a client that nobody knows, for a server without a key.
fn open_request(server: SocketAddr, client: u64) -> Vec<u8> {
    let token = ConnectToken::generate(NOW, PROTOCOL, 3_600, client, -1, 0, vec![server], None, &[0; 32]);
    let mut buffer = [0; 1_400];
    let request = token.expect("a token");
    let length = Packet::connection_request_from_token(&request).encode(&mut buffer, PROTOCOL, None, true);
    buffer[..length.expect("it fits")].to_vec()
}

/// Polls until a client is connected or gives up.
fn outcome(server: &mut Listener, client: &mut Connector, events: &mut Vec<ServerEvent>) -> State {
    until("the client connects or gives up", || {
        events.extend(poll_events(server, STEP));
        read(client, Duration::from_millis(50));
        client.state() != State::Connecting
    });
    client.state()
}

/// More forged requests than netcode has room for. Their senders never answer, and their tokens never expire.
#[test]
fn forged_requests_do_not_fill_a_server_without_a_key() {
    let mut server = listen(Auth::Open, Limits::default());
    let address = server.address(TransportKind::Udp).expect("it listens");
    for client in 0..6_000 {
        let socket = UdpSocket::bind("127.0.0.2:0").expect("a free port");
        socket.send_to(&open_request(address, client), address).expect("loopback");
        if client % 32 == 0 {
            assert_eq!(poll_events(&mut server, STEP), []);
        }
    }
    let mut ana = open_client(&server, 7);
    join(&mut server, &mut ana);
    assert!(server.counts().cookies > 1_000, "{:?}", server.counts());
}

/// A client that sends its own tokens cannot decide how long the server remembers it.
#[test]
fn a_server_without_a_key_replaces_the_expiry_and_the_timeout_of_a_client() {
    let mut server = listen(Auth::Open, Limits { peers: 1, ..Limits::default() });
    let address = server.address(TransportKind::Udp).expect("it listens");
    // A token that never times out, created by the client.
    let token = ConnectToken::generate(NOW, PROTOCOL, 1 << 40, 1, -1, 0, vec![address], Some(&[0; 256]), &[0; 32]);
    let mut text = Vec::new();
    token.expect("a token").write(&mut text).expect("it is written");
    let digits: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut silent = connect_to(format!("ugas connect token 1\n{digits}\n").parse().expect("a token"));
    let peer = join(&mut server, &mut silent);
    let mut events = Vec::new();
    until("the server reports the timeout", || {
        events.extend(poll_events(&mut server, Duration::from_secs(4)));
        !events.is_empty()
    });
    assert_eq!(events, [ServerEvent::Disconnected(peer, CloseReason::TimedOut)]);
}

#[test]
fn a_server_with_a_key_answers_with_cookies_when_it_receives_too_many_requests() {
    let limits = Limits { unknown_packets_per_second: 0, ..Limits::default() };
    let mut server = listen(Auth::Key(key()), limits);
    let mut ana = connect_to(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    join(&mut server, &mut ana);
    assert_eq!(server.counts().cookies, 1);
}

#[test]
fn a_new_websocket_connection_replaces_a_silent_one() {
    let limits = Limits { handshakes: 4, handshakes_per_address: 4, ..Limits::default() };
    let mut server = listen(Auth::Key(key()), limits);
    let websocket = server.address(TransportKind::WebSocket).expect("it listens");
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(websocket).expect("it listens")).collect();
    until("the server accepts them", || {
        poll_events(&mut server, Duration::ZERO);
        server.counts().evicted == 16
    });
    // No time passes for the server: the silent connections are within their time limit.
    let mut ana = connect_to(server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token"));
    until("Ana joins", || {
        poll_events(&mut server, Duration::ZERO);
        read(&mut ana, STEP);
        ana.state() == State::Connected
    });
    assert_eq!(server.counts().evicted, 17);
    drop(silent);
}

#[test]
fn an_address_that_opens_too_many_connections_is_limited() {
    let limits = Limits { connections_per_second: 1, connection_burst: 3, ..Limits::default() };
    let mut server = listen(Auth::Key(key()), limits);
    let websocket = server.address(TransportKind::WebSocket).expect("it listens");
    let lines: Vec<TcpStream> = (0..10).map(|_| TcpStream::connect(websocket).expect("it listens")).collect();
    until("the server refuses the rest", || {
        poll_events(&mut server, Duration::ZERO);
        server.counts().too_many == 7
    });
    drop(lines);
    // Players that join do not count.
    poll_events(&mut server, Duration::from_secs(1));
    for number in 0..10 {
        let mut ana = connect_to(server.issue(TransportKind::WebSocket, number, b"Ana").expect("a token"));
        until("Ana joins", || {
            poll_events(&mut server, Duration::ZERO);
            read(&mut ana, STEP);
            ana.state() == State::Connected
        });
    }
}

#[test]
fn an_address_that_sends_too_many_requests_is_limited() {
    let confirm_timeout = Some(Duration::from_secs(60));
    let limits = Limits { connections_per_second: 1, connection_burst: 3, confirm_timeout, ..Limits::default() };
    let mut server = listen(Auth::Open, limits);
    let mut events = Vec::new();
    // No time passes for the server, so that the rate of the address does not recover.
    let mut poll = |server: &mut Listener, client: &mut Connector| {
        events.extend(poll_events(server, Duration::ZERO));
        read(client, Duration::from_millis(10));
        client.state() == State::Connected
    };
    let mut clients: Vec<Connector> = (1..=3).map(|number| open_client(&server, number)).collect();
    clients.iter_mut().for_each(|client| until("a client joins", || poll(&mut server, client)));
    let mut last = open_client(&server, 4);
    until("a request is dropped", || poll(&mut server, &mut last) || server.counts().too_many > 0);
    assert_eq!(last.state(), State::Connecting, "three connections that the host did not confirm");
    let ServerEvent::Connected(first, _) = events[0] else { panic!("{events:?}") };
    server.confirm(first);
    let joined = || {
        poll_events(&mut server, Duration::ZERO);
        read(&mut last, Duration::from_millis(10));
        last.state() == State::Connected
    };
    until("a confirmed player does not count", joined);
}

/// The client process ends without a word; its token is used up, and its old connection is still open.
#[test]
fn a_ticket_replaces_the_old_connection_at_once() {
    for kind in [TransportKind::Udp, TransportKind::WebSocket] {
        for auth in [Auth::Key(key()), Auth::Open] {
            let mut server = listen(auth, Limits::default());
            let mut ana = connect_to(server.issue(kind, 1, b"Ana").expect("a token"));
            let old = join(&mut server, &mut ana);
            let ticket = ana.ticket().to_string().parse().expect("a token");
            let config = ConnectorConfig { now: NOW + Duration::from_secs(1), ..CONNECT };
            let mut again = Connector::rejoin(ticket, config).expect("the server listens");
            let mut events = Vec::new();
            until("Ana is connected again", || {
                events.extend(poll_events(&mut server, Duration::ZERO));
                read(&mut again, STEP);
                again.state() == State::Connected
            });
            assert_eq!(
                events[..2],
                [
                    ServerEvent::Disconnected(old, CloseReason::Replaced),
                    ServerEvent::Connected(PeerId(old.0 + 1), b"Ana".to_vec())
                ]
            );
            // And once more, with the same ticket, after the connection was lost.
            drop(ana);
            let mut events = Vec::new();
            let config = ConnectorConfig { now: NOW + Duration::from_secs(2), ..CONNECT };
            let mut third = Connector::rejoin(again.ticket().clone(), config).expect("the server listens");
            assert_eq!(outcome(&mut server, &mut third, &mut events), State::Connected);
        }
    }
}

#[test]
fn a_recorded_rejoin_is_rejected() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut ana = connect_to(server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token"));
    join(&mut server, &mut ana);
    let config = ConnectorConfig { now: NOW + Duration::from_secs(1), ..CONNECT };
    let mut again = Connector::rejoin(ana.ticket().clone(), config).expect("the server listens");
    let mut events = Vec::new();
    assert_eq!(outcome(&mut server, &mut again, &mut events), State::Connected);
    // The same time: a repetition, or a clock that was set back.
    let mut replay = Connector::rejoin(ana.ticket().clone(), config).expect("the server listens");
    let state = outcome(&mut server, &mut replay, &mut events);
    assert_eq!(state, State::Disconnected(CloseReason::Rejected));
    assert_eq!(again.state(), State::Connected);
}

#[test]
fn a_ticket_of_another_player_or_after_a_disconnect_is_rejected() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let token = server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token");
    let unused = server.issue(TransportKind::WebSocket, 1, b"Ana").expect("a token");
    let mut ana = connect_to(token.clone());
    let peer = join(&mut server, &mut ana);
    let config = ConnectorConfig { now: NOW + Duration::from_secs(1), ..CONNECT };
    let mut events = Vec::new();
    let mut thief = Connector::rejoin(unused, config).expect("the server listens");
    assert_eq!(outcome(&mut server, &mut thief, &mut events), State::Disconnected(CloseReason::Rejected));
    assert_eq!((ana.state(), events.len()), (State::Connected, 0));
    server.disconnect(peer);
    poll_events(&mut server, STEP);
    let mut kicked = Connector::rejoin(token, config).expect("the server listens");
    assert_eq!(outcome(&mut server, &mut kicked, &mut events), State::Disconnected(CloseReason::Rejected));
}

/// A player that logs in again gets a newer token. A player without one waits until its old connection is silent.
#[test]
fn a_newer_token_replaces_a_connection_and_an_equal_one_only_a_silent_connection() {
    let mut server = listen(Auth::Key(key()), Limits::default());
    let mut first = connect_to(server.issue(TransportKind::Udp, 1, b"Ana").expect("a token"));
    let equal = server.issue(TransportKind::Udp, 1, b"Ana").expect("a token");
    let old = join(&mut server, &mut first);
    let mut second = connect_to(equal);
    for _ in 0..40 {
        read(&mut first, Duration::from_millis(20));
        read(&mut second, Duration::from_millis(20));
        std::thread::sleep(STEP);
        assert_eq!(poll_events(&mut server, Duration::from_millis(20)), [], "the connection is in use");
    }
    let mut events = Vec::new();
    let mut waited = Duration::ZERO;
    until("the silent connection is replaced", || {
        let step = Duration::from_millis(20);
        waited += step;
        events.extend(poll_events(&mut server, step));
        read(&mut second, step);
        second.state() == State::Connected
    });
    assert_eq!(events[0], ServerEvent::Disconnected(old, CloseReason::Replaced));

    poll_events(&mut server, Duration::from_millis(1_001));
    read(&mut second, Duration::from_millis(500));
    let newer = server.issue(TransportKind::Udp, 1, b"Ana").expect("a token");
    let mut third = connect_to(newer);
    let mut events = Vec::new();
    until("the newer token replaces a connection in use", || {
        read(&mut second, Duration::from_millis(50));
        events.extend(poll_events(&mut server, STEP));
        read(&mut third, Duration::from_millis(50));
        third.state() == State::Connected
    });
    assert_eq!(events[0], ServerEvent::Disconnected(PeerId(old.0 + 1), CloseReason::Replaced));
}

#[test]
fn a_peer_that_the_host_does_not_confirm_makes_room() {
    let limits = Limits { peers: 1, confirm_timeout: Some(Duration::from_secs(3)), ..Limits::default() };
    let mut server = listen(Auth::Open, limits);
    let mut silent = open_client(&server, 1);
    let peer = join(&mut server, &mut silent);
    poll_events(&mut server, Duration::from_millis(1_001));
    // The server is full, and the first peer is not confirmed.
    let mut ana = open_client(&server, 2);
    let mut events = Vec::new();
    assert_eq!(outcome(&mut server, &mut ana, &mut events), State::Connected);
    assert_eq!(events[0], ServerEvent::Disconnected(peer, CloseReason::Unconfirmed));
    let ServerEvent::Connected(ana_is, _) = events[1] else { panic!("{events:?}") };
    server.confirm(ana_is);
    poll_events(&mut server, Duration::from_millis(1_001));
    let mut ben = open_client(&server, 3);
    assert_eq!(outcome(&mut server, &mut ben, &mut events), State::Disconnected(CloseReason::Rejected));
    for _ in 0..10 {
        read(&mut ana, Duration::from_millis(400));
        std::thread::sleep(STEP);
        assert_eq!(poll_events(&mut server, Duration::from_millis(400)), [], "a confirmed peer stays");
    }
    server.disconnect(ana_is);
    poll_events(&mut server, STEP);
    let mut late = open_client(&server, 4);
    let late_is = join(&mut server, &mut late);
    let mut events = Vec::new();
    until("the peer was not confirmed in time", || {
        read(&mut late, Duration::from_millis(100));
        events.extend(poll_events(&mut server, Duration::from_millis(100)));
        !events.is_empty()
    });
    assert_eq!(events, [ServerEvent::Disconnected(late_is, CloseReason::Unconfirmed)]);
}
