//! The counters of a server.

/// Counters since the start. They never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams of peers that were too long.
    pub too_long: u64,
    /// Datagrams of peers that exceeded their rate.
    pub too_fast: u64,
    /// Packets that are malformed, forged or replayed, or that have a wrong key, protocol or token.
    pub malformed: u64,
    /// Packets from unknown addresses that exceeded the limit for such packets.
    pub unknown: u64,
    /// Connection attempts with a valid token that were rejected: the server is full, or the token was used before.
    pub denied: u64,
    /// Datagrams that were not sent because the peer reads too slowly.
    pub dropped: u64,
}
