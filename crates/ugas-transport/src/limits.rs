//! The limits of a server transport. The maximum length of a datagram is fixed: [`MAX_DATAGRAM`](crate::MAX_DATAGRAM).

/// The limits of a server transport.
///
/// ```
/// use ugas_transport::Limits;
/// let small = Limits { peers: 8, ..Limits::default() };
/// assert!(small.per_second > 60, "a client at 60 Hz is within the limit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of connected peers; at most 1,024.
    pub peers: usize,
    /// The average number of datagrams per second that a peer may send. Datagrams above this rate are dropped and
    /// counted.
    pub per_second: u32,
    /// The maximum number of datagrams that a peer may send in a burst, e.g. after a lag spike.
    pub burst: u32,
    /// The maximum number of packets per second that the server reads from all unknown addresses together. While this
    /// limit is exceeded, new peers have to wait; connected peers are not affected.
    pub unknown_packets_per_second: u32,
    /// The maximum number of packets that one poll reads from one socket; the rest waits for the next poll.
    pub reads_per_poll: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { peers: 64, per_second: 240, burst: 480, unknown_packets_per_second: 1_000, reads_per_poll: 8_192 }
    }
}
