//! A WebTransport server on loopback that returns every datagram to its sender. The browser tests drive it with a real
//! browser (`tests/browser/webtransport.test.mjs`).
//!
//! The first line of its output is the certificate hash, the second the URL, and the next lines are tokens for players 1
//! to 4. Then each event is one line. The server runs until its input ends, at most for two minutes, and prints its
//! counters at the end.

#![expect(clippy::disallowed_methods, reason = "this program is a host")]

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ugas_transport::{Auth, Event, Key, Limits, Listener, ListenerConfig, PeerId, ServerTransport, TransportKind};

const PLAYERS: u64 = 4;
const LIFETIME: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kind = TransportKind::WebTransport;
    let limits = Limits { handshakes_per_address: 8, handshake_timeout: Duration::from_secs(1), ..Limits::default() };
    let config = ListenerConfig {
        protocol: 0x7567_6173,
        auth: Auth::Key(Key::random()),
        limits,
        now: SystemTime::now().duration_since(UNIX_EPOCH)?,
        token_lifetime: 60,
    };
    let mut listener = Listener::builder(config).bind(kind, "127.0.0.1:0".parse()?, None)?.start()?;
    let hash = listener.certificate(kind).ok_or("no certificate")?;
    println!("{}", hash.map(|byte| format!("{byte:02x}")).concat());
    println!("https://{}/", listener.address(kind).ok_or("no address")?);
    for player in 1..=PLAYERS {
        let token = listener.issue(kind, player, format!("player {player}").as_bytes())?.to_string();
        println!("{}", token.lines().nth(1).unwrap_or_default());
    }

    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        over.store(true, Ordering::Relaxed);
    });
    let start = Instant::now();
    let mut last = start;
    while !is_over.load(Ordering::Relaxed) && start.elapsed() < LIFETIME {
        let now = Instant::now();
        let mut received: Vec<(PeerId, Vec<u8>)> = Vec::new();
        listener.poll(now - last, &mut |event| match event {
            Event::Connected(peer, name) => println!("connected {} {}", peer.0, String::from_utf8_lossy(name)),
            Event::Disconnected(peer, why) => println!("disconnected {} {why}", peer.0),
            Event::Datagram(peer, bytes) => received.push((peer, bytes.to_vec())),
        })?;
        last = now;
        for (peer, bytes) in received {
            if let Err(error) = listener.send(peer, &bytes) {
                println!("not sent: {} bytes: {error}", bytes.len());
            }
        }
        std::io::stdout().flush()?;
        std::thread::sleep(PAUSE);
    }
    println!("{:?}", listener.counts());
    Ok(())
}
