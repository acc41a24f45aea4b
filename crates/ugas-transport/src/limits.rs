//! The limits of a server transport. The maximum length of a datagram is fixed: [`MAX_DATAGRAM`](crate::MAX_DATAGRAM).

use std::time::Duration;

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
    /// The maximum number of connection requests per second that the server decrypts for addresses that have not proved
    /// that they receive packets. Above this rate, the server answers a request with a cookie, and the client repeats
    /// the request with the cookie. Connected peers are not affected.
    pub unknown_packets_per_second: u32,
    /// The maximum number of cookies per second. Requests above this rate are dropped and counted.
    pub cookies_per_second: u32,
    /// The maximum number of packets that one poll reads from one socket; the rest waits for the next poll.
    pub reads_per_poll: u32,
    /// The average number of connections per second that one address may start: WebSocket and WebTransport connections,
    /// and UDP requests with a cookie. A connection no longer counts when it becomes a peer or, if
    /// [`confirm_timeout`](Self::confirm_timeout) is set, when the host confirms the peer. All addresses of an IPv6
    /// network with a prefix of 64 bits count as one.
    pub connections_per_second: u32,
    /// The number of connections that one address may start in a burst.
    pub connection_burst: u32,
    /// The maximum number of WebSocket connections that have not become peers; the same number of WebTransport
    /// connections is allowed. A new connection replaces one of the address with the most such connections: a
    /// connection that has sent no request, otherwise the oldest.
    pub handshakes: usize,
    /// The maximum number of connections of one address that have not become peers. A new connection replaces one of
    /// the same address.
    pub handshakes_per_address: usize,
    /// The time from the start of a connection until it must have become a peer.
    pub handshake_timeout: Duration,
    /// The time after which the server disconnects a peer that the host did not confirm with
    /// [`Listener::confirm`](crate::Listener::confirm). If the server is full, a new peer replaces the oldest peer that
    /// is not confirmed. `None` if the host confirms no peers.
    pub confirm_timeout: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            peers: 64,
            per_second: 240,
            burst: 480,
            unknown_packets_per_second: 1_000,
            cookies_per_second: 20_000,
            reads_per_poll: 8_192,
            connections_per_second: 20,
            connection_burst: 128,
            handshakes: 256,
            handshakes_per_address: 128,
            handshake_timeout: Duration::from_secs(5),
            confirm_timeout: None,
        }
    }
}
