//! The counters of a server.

/// Counters since the start; they only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams of peers that were too long.
    pub too_long: u64,
    /// Datagrams of peers above their rate.
    pub too_fast: u64,
    /// Packets that are malformed, forged, replayed, or have a wrong key, protocol or token.
    pub malformed: u64,
    /// Packets from unknown addresses above the limit.
    pub strangers: u64,
    /// Valid tokens that were rejected: the server is full, or the token was used.
    pub denied: u64,
    /// Datagrams that were not sent because the peer reads too slowly.
    pub dropped: u64,
}
