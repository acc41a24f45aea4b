//! Decides which connection to close when too many connections have not become peers. A new connection of an address
//! that has many connections replaces one of the same address, and a connection that has sent a request stays longer
//! than a silent one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::addresses::network_of;
use crate::limits::Limits;

/// A connection that has not become a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) who: SocketAddr,
    pub(crate) has_request: bool,
    pub(crate) age: Duration,
}

/// Returns the connection to close before a connection from `newcomer` is added; `None` if there is room.
pub(crate) fn to_evict(waiting: &[Waiting], newcomer: IpAddr, limits: &Limits) -> Option<SocketAddr> {
    let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for connection in waiting {
        *counts.entry(network_of(connection.who.ip())).or_default() += 1;
    }
    let count_of = |address: IpAddr| counts.get(&network_of(address)).copied().unwrap_or(0);
    let is_candidate: &dyn Fn(&&Waiting) -> bool = if count_of(newcomer) >= limits.handshakes_per_address {
        &|connection| network_of(connection.who.ip()) == network_of(newcomer)
    } else if waiting.len() >= limits.handshakes {
        let most = counts.values().copied().max()?;
        &move |connection| count_of(connection.who.ip()) == most
    } else {
        return None;
    };
    // Among equal networks the choice must not depend on the address: an honest player would always be the one.
    let candidates = waiting.iter().filter(is_candidate);
    candidates
        .min_by_key(|connection| (connection.has_request, Reverse(connection.age)))
        .map(|connection| connection.who)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(address: u8, port: u16, has_request: bool, age: u64) -> Waiting {
        let who = SocketAddr::from(([127, 0, 0, address], port));
        Waiting { who, has_request, age: Duration::from_secs(age) }
    }

    fn limits(handshakes: usize, handshakes_per_address: usize) -> Limits {
        Limits { handshakes, handshakes_per_address, ..Limits::default() }
    }

    #[test]
    fn an_address_with_too_many_connections_loses_its_own() {
        let all = [waiting(1, 1, false, 9), waiting(2, 1, true, 3), waiting(2, 2, false, 1), waiting(2, 3, false, 2)];
        let evicted = to_evict(&all, all[1].who.ip(), &limits(100, 3));
        assert_eq!(evicted, Some(all[3].who), "the oldest without a request");
        assert_eq!(to_evict(&all, all[0].who.ip(), &limits(100, 3)), None);
    }

    #[test]
    fn a_full_table_evicts_from_the_address_with_the_most() {
        let all = [waiting(1, 1, false, 9), waiting(2, 1, true, 3), waiting(2, 2, true, 5), waiting(3, 1, false, 8)];
        let stranger = IpAddr::from([127, 0, 0, 9]);
        assert_eq!(to_evict(&all, stranger, &limits(4, 4)), Some(all[2].who));
        assert_eq!(to_evict(&all, stranger, &limits(5, 4)), None);
        // One connection of each address: a silent one, the oldest first, whatever its address.
        let equal = [waiting(1, 1, false, 2), waiting(2, 1, false, 4), waiting(3, 1, false, 3), waiting(4, 1, true, 9)];
        assert_eq!(to_evict(&equal, stranger, &limits(4, 4)), Some(equal[1].who));
    }
}
