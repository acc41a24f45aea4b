//! The counters of a server transport.

/// The counters of a server transport since its start. They never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Received datagrams that were dropped because they were too long.
    pub too_long: u64,
    /// Received datagrams that were dropped because their sender exceeded its rate limit.
    pub too_fast: u64,
    /// Packets that were malformed, forged or replayed, or had a wrong key, protocol or token.
    pub malformed: u64,
    /// Packets from unknown addresses that were dropped because all unknown addresses together exceeded their limit.
    pub unknown: u64,
    /// Cookies that were sent to unknown addresses.
    pub cookies: u64,
    /// Connections and requests that were dropped because their address started too many per second.
    pub too_many: u64,
    /// Connections that were closed before they became peers, to make room for newer ones.
    pub evicted: u64,
    /// Connections that did not become peers in time.
    pub too_slow: u64,
    /// Connection attempts with a valid token that were rejected: the server is full, the player is already connected,
    /// or the token was used before.
    pub denied: u64,
    /// Datagrams that were not sent because the send buffer was full.
    pub dropped: u64,
}
