//! What a server carried and what it turned away, so that an operator sees a flood before the players do.

/// Counters since the start; they only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams given to the host.
    pub received: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams of peers that were longer than allowed.
    pub too_long: u64,
    /// Datagrams of peers that came faster than allowed.
    pub too_fast: u64,
    /// Packets that are no packets, are forged, replayed, or come with a wrong key, protocol or token.
    pub malformed: u64,
    /// Packets of unknown addresses beyond what is looked at.
    pub strangers: u64,
    /// Valid tokens that were turned away: full, or used before.
    pub denied: u64,
    /// Datagrams that were not sent because the other side does not keep up.
    pub dropped: u64,
}
