//! Two carriers over each of the simulated profiles: messages keep arriving, and the round trip is the link's.

use ugas_core::SimTime;
use ugas_net::internals::carrier::{Carrier, ConnectionConfig};
use ugas_net::link::{Link, LinkProfile};
use ugas_net::types::Tick;

const TICKS: u32 = 60 * 60;

struct Figures {
    round_trip: SimTime,
    /// The latencies of messages, sorted.
    delays: Vec<SimTime>,
    /// The packets reported as arrived and as lost.
    results: [u64; 2],
    rejected: u64,
}

/// One side sends a numbered message every six ticks, and both a payload every tick, at 60 ticks per second.
fn talk(profile: LinkProfile) -> Figures {
    let mut carriers = [0, 1].map(|_| Carrier::new(ConnectionConfig::default()));
    let mut links = [1, 2].map(|seed| Link::new(profile, seed));
    let mut sent_at = Vec::new();
    let mut delays = Vec::new();
    let mut results = [0; 2];
    let mut verdicts = Vec::new();
    let mut out = Vec::new();
    // Virtual time is four times as fine as ticks: arrivals and ticks do not fall together.
    for quarter in 0..(TICKS + 600) * 4 {
        let now = SimTime::frames(i64::from(quarter), 240);
        let tick = quarter / 4;
        if quarter % 24 == 0 && tick < TICKS {
            carriers[0].push(&(sent_at.len() as u32).to_le_bytes()).unwrap();
            sent_at.push(now);
        }
        for (side, carrier) in carriers.iter_mut().enumerate() {
            links[1 - side].receive(now, &mut |datagram| {
                // Late packets and duplicates are rejected here and count as lost there.
                let _ = carrier.read(now, datagram);
            });
            if quarter % 4 == side as u32 * 2 {
                carrier.write(now, Tick(tick), &mut out, &mut |out, _| out.extend_from_slice(&[7; 60])).unwrap();
                links[side].send(now, &out);
            }
        }
        while let Some(message) = carriers[1].next_message() {
            assert_eq!(message, (delays.len() as u32).to_le_bytes());
            delays.push(now - sent_at[delays.len()]);
        }
        carriers[0].take_packet_results(&mut verdicts);
        for (_, arrived) in verdicts.drain(..) {
            results[usize::from(!arrived)] += 1;
        }
    }
    assert_eq!(delays.len(), sent_at.len());
    assert!(carriers[0].is_idle());
    delays.sort();
    Figures {
        round_trip: carriers[0].round_trip().unwrap(),
        delays,
        results,
        rejected: carriers[1].counts().rejected(),
    }
}

#[test]
fn messages_arrive_over_every_profile() {
    for (name, profile) in LinkProfile::ALL {
        let Figures { round_trip, delays, results, rejected } = talk(profile);
        let [arrived, lost] = results.map(|count| count as f64);
        let loss = lost / (arrived + lost);
        let median = delays[delays.len() / 2];
        let worst = delays[delays.len() - 1];
        // The answer waits for the peer's tick, and for another one whenever it is lost.
        let bare = SimTime(profile.latency.0 * 2);
        assert!(round_trip >= bare - SimTime(profile.jitter.0 * 2), "{name}: {round_trip:?}");
        assert!(round_trip <= bare + SimTime(profile.jitter.0 * 2) + SimTime::millis(60), "{name}: {round_trip:?}");
        // Overtaken packets and late duplicates count as lost too.
        assert!((loss - profile.loss).abs() < 0.02 + profile.reorder, "{name}: {loss}, {rejected} rejected");
        // A loss is known one round trip later, and at 60 % a message needs two or three tries.
        let tries = 1.0 / (1.0 - profile.loss);
        let within = |trips: f64| SimTime::millis(40) + SimTime((bare.0 as f64 * trips * tries) as i64);
        assert!(median <= within(1.5), "{name}: {median:?}");
        assert!(worst <= within(6.0), "{name}: {worst:?}");
    }
}
