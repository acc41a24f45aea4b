//! Players can join while others try to keep them out: 1,000 silent connections, and a flood of junk.
//!
//! A separate program, because it waits in real time and opens more connections than one process may have: the attackers
//! are processes of this same program. Everything happens on loopback addresses, for a limited time and with a limited
//! number of packets and connections.

#![expect(clippy::disallowed_methods, reason = "the test measures how long players wait")]

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use renetcode2::{ConnectToken, Packet};
use socket2::{Domain, Socket, Type};
use ugas_transport::{
    Auth, ClientTransport, Connector, ConnectorConfig, Counts, Key, Limits, Listener, ListenerConfig, ServerTransport,
    State, Token, TransportKind,
};

const PROTOCOL: u64 = 0x75_67_61_73;
/// Attackers run for at most this long, whatever happens to the test.
const ATTACK: Duration = Duration::from_secs(60);
const ATTACKERS: u64 = 2;
const LINES: usize = 500;
/// Each attacker uses this many addresses.
const ADDRESSES: usize = 50;
const ROUND: Duration = Duration::from_millis(10);
/// Per round: 10,000 packets and up to 400 new connections per second and attacker.
const PACKETS_PER_ROUND: usize = 100;
const REOPENED_PER_ROUND: usize = 4;
const JOINS: usize = 100;
const LIMIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attack {
    /// Silent connections from many addresses, reopened when they are closed; junk over TCP; requests and junk over UDP.
    Flood,
    /// Silent connections from the address of the players, opened once.
    SameAddress,
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set")
}

fn listen(auth: Auth) -> Listener {
    let config =
        ListenerConfig { protocol: PROTOCOL, auth, limits: Limits::default(), now: since_epoch(), token_lifetime: 120 };
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    let builder = Listener::builder(config);
    let builder = builder.bind(TransportKind::Udp, loopback, None).expect("a free port");
    builder.bind(TransportKind::WebSocket, loopback, None).expect("a free port").start().expect("two sockets")
}

/// Polls a server in real time until it is told to stop.
fn serve(mut server: Listener, is_over: &AtomicBool) -> Counts {
    let mut last = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let now = Instant::now();
        server.poll(now - last, &mut |_| {}).expect("the sockets work");
        last = now;
        std::thread::sleep(Duration::from_millis(2));
    }
    server.counts()
}

/// Joins once. Returns the time it took, at most [`LIMIT`].
fn join(connect: impl FnOnce() -> Option<Connector>) -> Duration {
    let start = Instant::now();
    let mut last = start;
    let Some(mut client) = connect() else { return LIMIT };
    while client.state() == State::Connecting && start.elapsed() < LIMIT {
        let now = Instant::now();
        if client.poll(now - last, &mut |_| {}).is_err() {
            return LIMIT;
        }
        last = now;
        std::thread::sleep(Duration::from_millis(1));
    }
    if client.state() == State::Connected { start.elapsed() } else { LIMIT }
}

fn start_attackers(server: &Listener, attack: Attack, is_open: bool) -> Vec<Child> {
    let [udp, websocket] = [TransportKind::Udp, TransportKind::WebSocket]
        .map(|kind| server.address(kind).expect("it listens").port().to_string());
    (0..ATTACKERS)
        .map(|number| {
            Command::new(std::env::current_exe().expect("this program"))
                .args(["attacker", "--exact", "--nocapture"])
                .env("UGAS_LOCKOUT_UDP", &udp)
                .env("UGAS_LOCKOUT_WEBSOCKET", &websocket)
                .env("UGAS_LOCKOUT_NUMBER", number.to_string())
                .env("UGAS_LOCKOUT_FLOOD", u8::from(attack == Attack::Flood).to_string())
                .env("UGAS_LOCKOUT_OPEN", u8::from(is_open).to_string())
                .stdout(Stdio::null())
                .spawn()
                .expect("the attacker starts")
        })
        .collect()
}

/// Starts a server and the attackers, then joins a hundred times.
fn check(what: &str, auth: Auth, attack: Attack) {
    let is_open = matches!(auth, Auth::Open);
    let server = listen(auth);
    let tokens: Vec<(TransportKind, Token)> = (0..JOINS as u64)
        .map(|number| {
            let kind = [TransportKind::Udp, TransportKind::WebSocket][number as usize % 2];
            (kind, server.issue(kind, number, b"Ana").expect("a token"))
        })
        .collect();
    let mut attackers = start_attackers(&server, attack, is_open);
    let is_over = AtomicBool::new(false);
    let (mut times, counts) = std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(server, &is_over));
        std::thread::sleep(Duration::from_secs(2));
        let joined = tokens.into_iter().map(|(kind, token)| {
            let config = ConnectorConfig { now: since_epoch(), connect_timeout: LIMIT };
            let time = join(|| Connector::connect(token, config).ok());
            std::thread::sleep(ROUND);
            (time, kind)
        });
        let times: Vec<(Duration, TransportKind)> = joined.collect();
        is_over.store(true, Ordering::Relaxed);
        (times, server.join().expect("the server runs"))
    });
    for attacker in &mut attackers {
        let _ = attacker.kill();
        let _ = attacker.wait();
    }
    times.sort();
    let in_time = times.iter().filter(|(time, _)| *time < LIMIT).count();
    println!(
        "{what}: {in_time} of {JOINS} joins within {LIMIT:?}, median {:?}, 99th {:?}",
        times[JOINS / 2].0,
        times[JOINS - 2].0
    );
    println!("    {counts:?}");
    assert!(in_time >= JOINS - JOINS / 100, "{what}: {in_time} of {JOINS} joins; {times:?}");
    assert!(counts.evicted + counts.too_many > 0, "the attack did not reach the server: {counts:?}");
}

#[test]
fn players_join_during_attacks() {
    check("flood, tokens", Auth::Key(Key::random()), Attack::Flood);
    check("flood, no tokens", Auth::Open, Attack::Flood);
    check("silent connections of the same address", Auth::Key(Key::random()), Attack::SameAddress);
}

/// One attacker. Does nothing unless [`start_attackers`] started it.
#[test]
fn attacker() {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (Some(udp), Some(websocket)) = (read("UGAS_LOCKOUT_UDP"), read("UGAS_LOCKOUT_WEBSOCKET")) else { return };
    let at = |port: u64| SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).expect("a port")));
    let number = read("UGAS_LOCKOUT_NUMBER").unwrap_or(0);
    let is_flood = read("UGAS_LOCKOUT_FLOOD") == Some(1);
    let source = |index: usize| match is_flood {
        true => Ipv4Addr::new(127, 0, 1 + number as u8, 1 + (index % ADDRESSES) as u8),
        false => Ipv4Addr::LOCALHOST,
    };
    let mut lines: Vec<Option<TcpStream>> = (0..LINES).map(|index| open_line(source(index), at(websocket))).collect();
    let sockets: Vec<UdpSocket> = (0..ADDRESSES).filter_map(|index| UdpSocket::bind((source(index), 0)).ok()).collect();
    let requests = requests(at(udp), read("UGAS_LOCKOUT_OPEN") == Some(1));
    let (start, mut round) = (Instant::now(), 0usize);
    while start.elapsed() < ATTACK {
        round += 1;
        if is_flood {
            send_junk(&sockets, &requests, at(udp), round);
            for offset in 0..REOPENED_PER_ROUND {
                let index = (round * REOPENED_PER_ROUND + offset) % LINES;
                // Every fourth connection sends something that is not a handshake.
                if index.is_multiple_of(4)
                    && let Some(line) = &mut lines[index]
                {
                    let _ = line.write_all(b"\x16\x03\x01junk\r\n\r\n");
                }
                lines[index] = open_line(source(index), at(websocket));
            }
        }
        std::thread::sleep(ROUND);
    }
}

/// Opens a connection from a loopback address to a loopback address.
fn open_line(source: Ipv4Addr, server: SocketAddr) -> Option<TcpStream> {
    assert!(source.is_loopback() && server.ip().is_loopback());
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
    socket.bind(&SocketAddr::new(IpAddr::V4(source), 0).into()).ok()?;
    socket.set_nonblocking(true).ok()?;
    // The connection completes in the background.
    let _ = socket.connect(&server.into());
    Some(socket.into())
}

/// Requests that were never issued: with the public key, which a server without a key accepts, or with a wrong key.
fn requests(server: SocketAddr, is_open: bool) -> Vec<Vec<u8>> {
    let key = if is_open { [0; 32] } else { [9; 32] };
    (0..200u64)
        .map(|number| {
            let client = 1_000_000 + number;
            let token = ConnectToken::generate(since_epoch(), PROTOCOL, 3_600, client, -1, 0, vec![server], None, &key);
            let mut buffer = [0; 1_400];
            let request = token.expect("a token");
            let length = Packet::connection_request_from_token(&request).encode(&mut buffer, PROTOCOL, None, true);
            buffer[..length.expect("it fits")].to_vec()
        })
        .collect()
}

fn send_junk(sockets: &[UdpSocket], requests: &[Vec<u8>], server: SocketAddr, round: usize) {
    for offset in 0..PACKETS_PER_ROUND {
        let number = round * PACKETS_PER_ROUND + offset;
        let socket = &sockets[number % sockets.len()];
        let packet = &requests[number % requests.len()];
        // Half requests, half bytes without meaning.
        let _ = match number % 2 {
            0 => socket.send_to(packet, server),
            _ => socket.send_to(&packet[54..54 + number % 800], server),
        };
    }
}
