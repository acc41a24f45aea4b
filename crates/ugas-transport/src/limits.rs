//! How much of everything a server takes. The length of a datagram is no choice: both sides of `ugas-net` count on
//! [`MAX_DATAGRAM`](crate::MAX_DATAGRAM).

/// The limits of a server transport.
///
/// ```
/// use ugas_transport::Limits;
/// let small = Limits { peers: 8, ..Limits::default() };
/// assert!(small.per_second > 60, "a client at 60 Hz is no flood");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many peers may be connected at a time; at most 1,024.
    pub peers: usize,
    /// How many datagrams a second a peer may send in the long run. What comes faster is dropped before anybody reads
    /// it, and counted.
    pub per_second: u32,
    /// How many may come at once after a silence: a lag spike delivers what was held back.
    pub burst: u32,
    /// How many packets a second of addresses that nobody has vouched for are looked at, all together. Beyond it
    /// newcomers wait; who is in does not notice.
    pub strangers_per_second: u32,
    /// How many packets one poll takes from one socket; the rest waits for the next.
    pub reads_per_poll: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { peers: 64, per_second: 240, burst: 480, strangers_per_second: 1_000, reads_per_poll: 8_192 }
    }
}
