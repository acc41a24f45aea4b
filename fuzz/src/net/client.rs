//! Arbitrary datagrams of a server, to a client that has joined and to a new client.

use super::game::{LENGTH, datagram, fresh_client, section, warm_client};
use super::{Done, records};
use ugas_net::client::{ClientConfig, ClientState};

/// Receives the datagrams and continues the session.
pub fn client(bytes: &[u8], done: Done<'_>) {
    let list = records(bytes);
    let is_fresh = list.first().is_some_and(|(kind, _)| kind & 8 != 0);
    let mut client = if is_fresh { fresh_client() } else { warm_client() };
    // More packets and messages than the recorded session had.
    let (first, mut sequence) = if is_fresh { (0, 0) } else { (100, 1) };
    done("join");
    for (turn, (kind, record)) in list.into_iter().enumerate() {
        let (number, tick) = (first + turn as u64, (client.tick().0 + u32::from(kind >> 4)).saturating_sub(6));
        match kind % 4 {
            0 => client.receive(record),
            1 => client.receive(&datagram(number, tick, false, record)),
            2 => {
                client.receive(&datagram(number, tick, true, &section(sequence, record)));
                sequence += 1;
            }
            _ => client.receive(&datagram(number, tick, true, record)),
        }
        done("receive");
        if kind & 4 != 0 {
            client.update(LENGTH);
            let is_lost = matches!(client.state(), ClientState::Disconnected(_));
            client.send(&mut |datagram| assert!(datagram.len() <= 1200 && !is_lost));
            done("play");
        }
        assert!(client.retained() < 64 * 1024, "{} held", client.retained());
        assert!(client.proxies().len() <= ClientConfig::default().max_proxies);
    }
    done("");
}
