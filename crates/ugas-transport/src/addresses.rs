//! Limits the rate at which each address starts connections. Connections of confirmed peers do not count, and one
//! address does not affect the limit of another.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::bucket::Bucket;

/// The maximum number of addresses that are tracked. If there are more, the address that was used least recently is
/// dropped, so its next connection starts with a full bucket.
const MAX_ADDRESSES: usize = 4_096;
/// The interval at which full buckets are removed.
const CLEAN_INTERVAL: Duration = Duration::from_secs(1);
/// The part of an IPv6 address that names a network. One host can use every address of its network.
const NETWORK_MASK: u128 = !0 << 64;

/// Returns the address that limits are counted for: an IPv4 address, or the network of an IPv6 address.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) & NETWORK_MASK)),
    }
}

/// One token bucket for each address.
pub(crate) struct AddressRates {
    per_second: u32,
    burst: u32,
    now: Duration,
    cleaned: Duration,
    entries: BTreeMap<IpAddr, Entry>,
}

struct Entry {
    bucket: Bucket,
    refilled: Duration,
}

impl AddressRates {
    pub(crate) fn new(per_second: u32, burst: u32) -> AddressRates {
        AddressRates { per_second, burst, now: Duration::ZERO, cleaned: Duration::ZERO, entries: BTreeMap::new() }
    }

    pub(crate) fn advance(&mut self, elapsed: Duration) {
        self.now = self.now.saturating_add(elapsed);
        if self.now - self.cleaned >= CLEAN_INTERVAL {
            self.cleaned = self.now;
            let now = self.now;
            self.entries.retain(|_, entry| {
                entry.refill(now);
                !entry.bucket.is_full()
            });
        }
    }

    /// Counts a connection of this address. Returns `false` if the address has started too many.
    pub(crate) fn take(&mut self, address: IpAddr) -> bool {
        let (now, network) = (self.now, network_of(address));
        if self.entries.len() >= MAX_ADDRESSES && !self.entries.contains_key(&network) {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.refilled).map(|(&network, _)| network);
            self.entries.remove(&oldest.unwrap_or(network));
        }
        let new = || Entry { bucket: Bucket::new(self.per_second, self.burst), refilled: now };
        let entry = self.entries.entry(network).or_insert_with(new);
        entry.refill(now);
        entry.bucket.take()
    }

    /// Records that the peer of a connection was confirmed, so that the connection no longer counts toward the limit.
    pub(crate) fn give_back(&mut self, address: IpAddr) {
        if let Some(entry) = self.entries.get_mut(&network_of(address)) {
            entry.bucket.give_back();
        }
    }
}

impl Entry {
    fn refill(&mut self, now: Duration) {
        self.bucket.refill(now - self.refilled);
        self.refilled = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn each_address_has_its_own_rate_and_successful_connections_do_not_count() {
        let mut rates = AddressRates::new(2, 3);
        assert_eq!((0..9).filter(|_| rates.take(v4(1))).count(), 3);
        assert!(rates.take(v4(2)), "another address is not affected");
        rates.give_back(v4(1));
        assert_eq!((0..9).filter(|_| rates.take(v4(1))).count(), 1);
        rates.advance(Duration::from_secs(1));
        assert_eq!((0..9).filter(|_| rates.take(v4(1))).count(), 2);
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
        let mut rates = AddressRates::new(1, 2);
        let in_network = |host: u16| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, host));
        assert_eq!((0..9).filter(|&host| rates.take(in_network(host))).count(), 2);
        assert!(rates.take(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 2, 0, 0, 0, 1))));
        let mapped = std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped();
        assert_eq!(network_of(IpAddr::V6(mapped)), IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
    }

    #[test]
    fn the_table_is_bounded_and_empties_itself() {
        let mut rates = AddressRates::new(1, 1);
        for number in 0..MAX_ADDRESSES as u32 * 2 {
            rates.advance(Duration::from_micros(1));
            assert!(rates.take(v4(number)));
        }
        assert_eq!(rates.entries.len(), MAX_ADDRESSES);
        assert!(!rates.take(v4(MAX_ADDRESSES as u32 * 2 - 1)), "recent addresses are kept");
        rates.advance(Duration::from_secs(2));
        assert_eq!(rates.entries.len(), 0);
    }
}
