//! Arbitrary datagrams of a client that has joined. The datagrams may change only the client's own controller.

use super::game::{PEER, datagram, rules, section, session};
use super::{Done, records};
use ugas_core::NoHost;
use ugas_net::message::{PROTOCOL, ToServer};

/// Receives the datagrams and continues the session.
pub fn server(bytes: &[u8], done: Done<'_>) {
    let (mut server, _, other) = session();
    let hello = ToServer::Hello { protocol: PROTOCOL, rules: rules().fingerprint(), padding: vec![0; 256] };
    server.receive(PEER, &datagram(0, 0, true, &section(0, &hello.to_bytes())));
    server.step(&mut NoHost);
    server.send(&mut |_, _| ());
    assert_eq!(server.playing().count(), 1);
    let before = server.sim().row_hash(other);
    done("join");
    let mut sequence = 1;
    for (turn, (kind, record)) in records(bytes).into_iter().enumerate() {
        let (number, tick) = (1 + turn as u64, server.tick().0);
        match kind % 4 {
            0 => server.receive(PEER, record),
            1 => server.receive(PEER, &datagram(number, tick, false, record)),
            2 => {
                server.receive(PEER, &datagram(number, tick, true, &section(sequence, record)));
                sequence += 1;
            }
            _ => server.receive(PEER, &datagram(number, tick, true, record)),
        }
        done("receive");
        if kind & 4 != 0 {
            server.step(&mut NoHost);
            server.send(&mut |_, datagram| assert!(datagram.len() <= 1200));
            done("step");
        }
        assert!(server.retained() < 256 * 1024, "{} held", server.retained());
    }
    for _ in 0..4 {
        server.step(&mut NoHost);
        server.send(&mut |_, _| ());
    }
    assert_eq!(server.sim().row_hash(other), before, "the controller without an owner is unchanged");
    done("play on");
}
