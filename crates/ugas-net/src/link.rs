//! A simulated link with latency, jitter, loss in bursts, reordering, duplication and limited bandwidth. A seed
//! determines all random choices.
//!
//! A [`Link`] moves datagrams in one direction in virtual time. Its behaviour depends only on the profile, the seed and
//! the calls, so a failing test is reproducible. A connection consists of two links, which may differ.
//!
//! Jitter alone does not change the order of datagrams; [`LinkProfile::reorder`] does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ugas_core::{FLICKS_PER_SECOND, SimTime};

/// The properties of a link, in one direction.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::link::LinkProfile;
///
/// let mobile = LinkProfile::named("mobile").unwrap();
/// assert_eq!(mobile.latency, SimTime::millis(75), "half of the round trip");
/// let upload = LinkProfile { bandwidth: Some(16_000), ..mobile };
/// assert_eq!(upload.loss, 0.05);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkProfile {
    /// The mean latency.
    pub latency: SimTime,
    /// The largest deviation from the mean latency.
    pub jitter: SimTime,
    /// The fraction of datagrams that are lost, from 0 to 1.
    pub loss: f64,
    /// The mean number of consecutive losses (Gilbert–Elliott model). Independent losses have the mean 1 / (1 − loss).
    /// If the value is not above this mean, losses are independent.
    pub burst: f64,
    /// The fraction of datagrams that are duplicated.
    pub duplicate: f64,
    /// The fraction of datagrams that are delayed by up to half the latency, so that later datagrams may overtake them.
    pub reorder: f64,
    /// The bandwidth in bytes per second; `None` is unlimited.
    pub bandwidth: Option<u32>,
    /// The maximum number of bytes in the send queue; further datagrams are dropped.
    pub queue: usize,
    /// The maximum length of a datagram in bytes; longer datagrams are dropped.
    pub mtu: usize,
}

impl LinkProfile {
    /// A link without latency or loss.
    pub const PERFECT: LinkProfile = LinkProfile {
        latency: SimTime::ZERO,
        jitter: SimTime::ZERO,
        loss: 0.0,
        burst: 1.0,
        duplicate: 0.0,
        reorder: 0.0,
        bandwidth: None,
        queue: 64 * 1024,
        mtu: 1400,
    };

    /// A local network: 2 ms round trip, no loss.
    pub const LAN: LinkProfile = LinkProfile { latency: SimTime::millis(1), ..LinkProfile::PERFECT };

    /// A good connection: 50 ms ± 5 ms round trip, 0.5 % loss.
    pub const GOOD: LinkProfile = LinkProfile { loss: 0.005, ..LinkProfile::round_trip(50, 5) };

    /// A mobile connection: 150 ms ± 40 ms round trip, 5 % loss in bursts of four packets on average.
    pub const MOBILE: LinkProfile = LinkProfile { loss: 0.05, burst: 4.0, ..LinkProfile::round_trip(150, 40) };

    /// A bad connection: 250 ms ± 60 ms round trip, 20 % of packets lost, 2 % duplicated, 5 % reordered.
    pub const BAD: LinkProfile =
        LinkProfile { loss: 0.2, duplicate: 0.02, reorder: 0.05, ..LinkProfile::round_trip(250, 60) };

    /// A link for stress tests: 300 ms ± 100 ms round trip, 60 % loss.
    pub const TORTURE: LinkProfile = LinkProfile { loss: 0.6, ..LinkProfile::round_trip(300, 100) };

    /// The five standard profiles, from best to worst.
    pub const ALL: [(&'static str, LinkProfile); 5] = [
        ("lan", LinkProfile::LAN),
        ("good", LinkProfile::GOOD),
        ("mobile", LinkProfile::MOBILE),
        ("bad", LinkProfile::BAD),
        ("torture", LinkProfile::TORTURE),
    ];

    /// Returns the profile with this name: a name in [`LinkProfile::ALL`], or `perfect`. Case is ignored.
    pub fn named(name: &str) -> Option<LinkProfile> {
        if name.eq_ignore_ascii_case("perfect") {
            return Some(LinkProfile::PERFECT);
        }
        LinkProfile::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, profile)| *profile)
    }

    /// Returns the profile of one direction of a symmetric connection with this round trip time and jitter in
    /// milliseconds.
    pub const fn round_trip(millis: i64, jitter: i64) -> LinkProfile {
        LinkProfile {
            latency: SimTime(SimTime::millis(millis).0 / 2),
            jitter: SimTime(SimTime::millis(jitter).0 / 2),
            ..LinkProfile::PERFECT
        }
    }
}

/// The counters of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Datagrams sent.
    pub sent: u64,
    /// Bytes in the sent datagrams.
    pub bytes: u64,
    /// Datagrams received, duplicates included.
    pub delivered: u64,
    /// Datagrams lost, or sent while the link was interrupted.
    pub lost: u64,
    /// Datagrams duplicated.
    pub duplicated: u64,
    /// Datagrams that were delayed so that later datagrams may overtake them.
    pub reordered: u64,
    /// Datagrams dropped because they were longer than the MTU.
    pub too_long: u64,
    /// Datagrams dropped because the queue was full.
    pub overflowed: u64,
}

/// One direction of a simulated connection.
///
/// ```
/// use ugas_core::SimTime;
/// use ugas_net::link::{Link, LinkProfile};
///
/// let mut link = Link::new(LinkProfile::LAN, 7);
/// link.send(SimTime::ZERO, b"hello");
/// let mut got = Vec::new();
/// link.receive(SimTime::millis(1), &mut |datagram| got.extend_from_slice(datagram));
/// assert_eq!(got, b"hello");
/// ```
#[derive(Clone, Debug)]
pub struct Link {
    profile: LinkProfile,
    chance: Chance,
    /// Whether the link is in a series of losses (Gilbert–Elliott).
    bad: bool,
    /// The time until which the sender's queue is busy.
    busy_until: SimTime,
    cut_until: SimTime,
    /// When the last datagram that was not delayed arrives.
    last_arrival: SimTime,
    order: u64,
    in_flight: BinaryHeap<Reverse<(SimTime, u64, Vec<u8>)>>,
    spare: Vec<Vec<u8>>,
    counts: LinkCounts,
}

impl Link {
    /// Creates a link with no datagrams in flight.
    pub fn new(profile: LinkProfile, seed: u64) -> Link {
        let mut chance = Chance(seed);
        let bad = chance.happens(profile.loss);
        Link {
            profile,
            chance,
            bad,
            busy_until: SimTime::ZERO,
            cut_until: SimTime::ZERO,
            last_arrival: SimTime::ZERO,
            order: 0,
            in_flight: BinaryHeap::new(),
            spare: Vec::new(),
            counts: LinkCounts::default(),
        }
    }

    /// Returns the profile.
    pub fn profile(&self) -> &LinkProfile {
        &self.profile
    }

    /// Sets the profile. Datagrams in flight keep their delay.
    pub fn set_profile(&mut self, profile: LinkProfile) {
        self.profile = profile;
        self.bad = self.chance.happens(profile.loss);
    }

    /// Drops every datagram that is sent before this time.
    pub fn cut(&mut self, until: SimTime) {
        self.cut_until = until;
    }

    /// Drops all datagrams in flight.
    pub fn clear(&mut self) {
        self.counts.lost += self.in_flight.len() as u64;
        self.in_flight.clear();
    }

    /// Returns the counters.
    pub fn counts(&self) -> &LinkCounts {
        &self.counts
    }

    /// Returns the number of datagrams in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Sends a datagram.
    pub fn send(&mut self, now: SimTime, datagram: &[u8]) {
        self.counts.sent += 1;
        self.counts.bytes += datagram.len() as u64;
        if datagram.len() > self.profile.mtu {
            self.counts.too_long += 1;
            return;
        }
        let Some(departs) = self.queued(now, datagram.len()) else {
            self.counts.overflowed += 1;
            return;
        };
        if self.loses() || now < self.cut_until {
            self.counts.lost += 1;
            return;
        }
        let arrival = departs + self.delay();
        if self.chance.happens(self.profile.reorder) {
            self.counts.reordered += 1;
            let held = SimTime((self.profile.latency.0 as f64 * 0.5 * self.chance.share()) as i64);
            self.deliver(arrival.max(self.last_arrival) + held, datagram);
        } else {
            self.last_arrival = self.last_arrival.max(arrival);
            self.deliver(self.last_arrival, datagram);
        }
        if self.chance.happens(self.profile.duplicate) {
            self.counts.duplicated += 1;
            let again = departs + self.delay();
            self.deliver(again.max(self.last_arrival), datagram);
        }
    }

    /// Receives the datagrams that have arrived by `now`, in order of arrival.
    pub fn receive(&mut self, now: SimTime, take: &mut dyn FnMut(&[u8])) {
        while self.in_flight.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Some(Reverse((_, _, mut datagram))) = self.in_flight.pop() else { break };
            self.counts.delivered += 1;
            take(&datagram);
            datagram.clear();
            self.spare.push(datagram);
        }
    }

    /// Returns when the datagram leaves the sender's queue, or `None` if the queue is full.
    fn queued(&mut self, now: SimTime, length: usize) -> Option<SimTime> {
        let Some(bandwidth) = self.profile.bandwidth else { return Some(now) };
        let bandwidth = i64::from(bandwidth.max(1));
        let free = self.busy_until.max(now);
        let waiting = (free - now).0 as i128 * i128::from(bandwidth) / i128::from(FLICKS_PER_SECOND);
        if waiting + length as i128 > self.profile.queue as i128 {
            return None;
        }
        self.busy_until = free + SimTime(length as i64 * FLICKS_PER_SECOND / bandwidth);
        Some(self.busy_until)
    }

    fn loses(&mut self) -> bool {
        let LinkProfile { loss, burst, .. } = self.profile;
        if loss >= 1.0 {
            return true;
        }
        let lost = self.bad;
        let leave = (1.0 / burst.max(1.0)).min(1.0 - loss);
        let enter = loss * leave / (1.0 - loss);
        self.bad = if lost { !self.chance.happens(leave) } else { self.chance.happens(enter) };
        lost
    }

    fn delay(&mut self) -> SimTime {
        let jitter = self.profile.jitter.0 as f64 * (2.0 * self.chance.share() - 1.0);
        (self.profile.latency + SimTime(jitter as i64)).max(SimTime::ZERO)
    }

    fn deliver(&mut self, at: SimTime, datagram: &[u8]) {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.extend_from_slice(datagram);
        self.order += 1;
        self.in_flight.push(Reverse((at, self.order, copy)));
    }
}

/// A SplitMix64 random number generator, which produces the same numbers on every machine.
#[derive(Clone, Debug)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a random number in the range 0 (inclusive) to 1 (exclusive).
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }
}
