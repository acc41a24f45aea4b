//! A simulated link has the configured properties. Everything is seeded, so bounds can be narrow.

use ugas_core::SimTime;
use ugas_net::link::{Link, LinkCounts, LinkProfile};

const COUNT: u32 = 100_000;

/// Sends numbered datagrams at this interval; gives for each when it arrived, again and again if twice.
fn run(profile: LinkProfile, seed: u64, every: SimTime) -> (Vec<Vec<SimTime>>, Vec<u32>, LinkCounts) {
    let mut link = Link::new(profile, seed);
    let mut arrivals = vec![Vec::new(); COUNT as usize];
    let mut order = Vec::new();
    let mut now = SimTime::ZERO;
    let step = SimTime::millis(1);
    let mut sent = 0;
    while sent < COUNT || link.in_flight() > 0 {
        if sent < COUNT && now.0 >= every.0 * i64::from(sent) {
            link.send(now, &sent.to_le_bytes());
            sent += 1;
        }
        link.receive(now, &mut |datagram| {
            let number = u32::from_le_bytes(datagram.try_into().unwrap());
            arrivals[number as usize].push(now - SimTime(every.0 * i64::from(number)));
            order.push(number);
        });
        now += step;
    }
    (arrivals, order, *link.counts())
}

#[test]
fn the_five_profiles_have_their_stated_loss_delay_and_duplication() {
    for (name, profile) in LinkProfile::ALL {
        let (arrivals, order, counts) = run(profile, 5, SimTime::millis(16));
        let share = |count: usize| count as f64 / f64::from(COUNT);
        let lost = arrivals.iter().filter(|a| a.is_empty()).count();
        let twice = arrivals.iter().filter(|a| a.len() == 2).count();
        assert!((share(lost) - profile.loss).abs() < 0.005, "{name} loses {}", share(lost));
        assert!((share(twice) - profile.duplicate * (1.0 - profile.loss)).abs() < 0.002, "{name}: {}", share(twice));
        assert_eq!(
            counts,
            LinkCounts {
                sent: u64::from(COUNT),
                bytes: 4 * u64::from(COUNT),
                delivered: order.len() as u64,
                lost: lost as u64,
                duplicated: twice as u64,
                reordered: counts.reordered,
                ..LinkCounts::default()
            }
        );
        // No datagram is early, and only delayed or duplicated ones are late; virtual time moves by milliseconds.
        let latest = profile.latency + profile.jitter + SimTime::millis(1);
        let held = SimTime(profile.latency.0 / 2);
        for delay in arrivals.iter().flatten() {
            assert!(*delay >= profile.latency - profile.jitter, "{name}: {delay:?}");
            assert!(*delay <= if profile.reorder > 0.0 { latest + held } else { latest }, "{name}: {delay:?}");
        }
        let overtaken = order.windows(2).filter(|pair| pair[1] < pair[0]).count();
        let expected = profile.reorder * (1.0 - profile.loss);
        assert!(share(overtaken) <= expected + 0.002, "{name}: {}", share(overtaken));
        assert!(share(overtaken) >= expected * 0.5, "{name}: {}", share(overtaken));
    }
}

#[test]
fn the_mean_delay_of_sparse_traffic_is_the_latency() {
    let profile = LinkProfile::round_trip(300, 100);
    let (arrivals, _, _) = run(profile, 1, SimTime::millis(120));
    let sum: f64 = arrivals.iter().flatten().map(|delay| delay.as_seconds()).sum();
    let mean = sum / f64::from(COUNT);
    // Half a millisecond more, since virtual time moves by one.
    assert!((mean - 0.1505).abs() < 0.0005, "{mean}");
}

fn mean_burst(arrivals: &[Vec<SimTime>]) -> f64 {
    let lost = arrivals.iter().filter(|a| a.is_empty()).count();
    let runs = arrivals.windows(2).filter(|pair| !pair[0].is_empty() && pair[1].is_empty()).count();
    lost as f64 / runs as f64
}

#[test]
fn losses_come_in_bursts_of_the_configured_length() {
    for burst in [2.0, 4.0, 12.0] {
        let profile = LinkProfile { loss: 0.1, burst, ..LinkProfile::LAN };
        let (arrivals, ..) = run(profile, 11, SimTime::millis(16));
        let found = mean_burst(&arrivals);
        assert!((found - burst).abs() < burst * 0.05, "{burst} became {found}");
    }
    let (arrivals, ..) = run(LinkProfile::TORTURE, 11, SimTime::millis(16));
    assert!((mean_burst(&arrivals) - 2.5).abs() < 0.1, "chance alone: 1 / (1 - 0.6)");
}

#[test]
fn the_same_seed_gives_the_same_link_and_another_another() {
    let order = |seed| run(LinkProfile::BAD, seed, SimTime::millis(16)).1;
    assert_eq!(order(3), order(3));
    assert_ne!(order(3), order(4));
}

#[test]
fn a_datagram_above_the_mtu_is_dropped() {
    let mut link = Link::new(LinkProfile { mtu: 100, ..LinkProfile::PERFECT }, 0);
    link.send(SimTime::ZERO, &[1; 101]);
    link.send(SimTime::ZERO, &[2; 100]);
    let mut got = Vec::new();
    link.receive(SimTime::ZERO, &mut |datagram| got.push(datagram.to_vec()));
    assert_eq!(got, [[2; 100].to_vec()]);
    assert_eq!((link.counts().too_long, link.counts().delivered), (1, 1));
}

#[test]
fn bandwidth_queues_and_a_full_queue_drops() {
    let profile = LinkProfile { bandwidth: Some(1000), queue: 350, ..LinkProfile::LAN };
    let mut link = Link::new(profile, 0);
    for n in 0..5u8 {
        link.send(SimTime::ZERO, &[n; 100]);
    }
    assert_eq!(link.counts().overflowed, 2, "three hundred bytes wait, the fourth hundred finds no room");
    for (millis, expected) in [(100, 0), (101, 1), (200, 0), (201, 1), (301, 1), (900, 0)] {
        let mut got = 0;
        link.receive(SimTime::millis(millis), &mut |_| got += 1);
        assert_eq!(got, expected, "at {millis} ms");
    }
    link.send(SimTime::millis(1000), &[9; 100]);
    link.receive(SimTime::millis(1100), &mut |_| panic!("the queue is empty again, but bytes still take their time"));
    let mut got = 0;
    link.receive(SimTime::millis(1101), &mut |_| got += 1);
    assert_eq!(got, 1);
}

#[test]
fn a_cut_link_loses_and_a_cleared_one_forgets() {
    let mut link = Link::new(LinkProfile::LAN, 0);
    link.send(SimTime::ZERO, b"under way");
    link.cut(SimTime::millis(10));
    link.send(SimTime::millis(9), b"lost");
    link.send(SimTime::millis(10), b"after");
    let mut got = Vec::new();
    link.receive(SimTime::millis(11), &mut |datagram| got.push(datagram.to_vec()));
    assert_eq!(got, [b"under way".to_vec(), b"after".to_vec()]);
    link.send(SimTime::millis(20), b"gone");
    link.clear();
    link.receive(SimTime::millis(90), &mut |_| panic!("nothing is under way"));
    assert_eq!(link.counts().lost, 2);
}
