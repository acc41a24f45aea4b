//! The interface of every transport: one trait for servers, one for clients.

use std::fmt;
use std::time::Duration;

use ugas_net::types::PeerId;

use crate::counts::Counts;
use crate::error::{SendError, TransportError};

/// An event of a server transport.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A peer connected. The bytes are the user data in the token of the peer, for example a name or an account; at
    /// most 255 bytes.
    Connected(PeerId, &'a [u8]),
    /// A peer disconnected; its number is not reused.
    Disconnected(PeerId, CloseReason),
    /// A datagram of a peer arrived complete and unchanged. Datagrams may be lost, duplicated or reordered.
    Datagram(PeerId, &'a [u8]),
}

/// Why a connection ended or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The client disconnected.
    ByClient,
    /// The server disconnected the client.
    ByServer,
    /// No packet arrived within the timeout ([`Token::TIMEOUT`](crate::Token::TIMEOUT)).
    TimedOut,
    /// The player connected again, and the new connection replaced this one.
    Replaced,
    /// The host did not confirm the peer in time ([`Limits::confirm_timeout`](crate::Limits::confirm_timeout)).
    Unconfirmed,
    /// The underlying connection was closed or failed.
    ConnectionLost,
    /// The server rejected the connection: it is full, or the token is invalid or was used before. Over UDP a server
    /// reports only that it is full; an invalid or used token gives [`CloseReason::NoAnswer`].
    Rejected,
    /// The server did not answer: it is not running, or it does not accept this token, key or protocol.
    NoAnswer,
    /// The server did not answer, and its machine reports that the port is closed. Only some systems report a closed
    /// port, and only for UDP; otherwise the reason is [`CloseReason::NoAnswer`].
    PortClosed,
    /// The token expired before the server answered.
    Expired,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CloseReason::ByClient => "the client disconnected",
            CloseReason::ByServer => "the server ended the connection",
            CloseReason::TimedOut => "the connection timed out",
            CloseReason::Replaced => "a newer connection of the same player replaced this one",
            CloseReason::Unconfirmed => "the server did not confirm the connection in time",
            CloseReason::ConnectionLost => "the connection was lost",
            CloseReason::Rejected => {
                "the server rejected the connection: it is full, or the token is invalid or was used before"
            }
            CloseReason::NoAnswer => {
                "the server did not answer: it is not running, or does not accept the token, the key or the protocol"
            }
            CloseReason::PortClosed => "no server listens on that port; check the port and that the server is running",
            CloseReason::Expired => "the token has expired; request a new one",
        })
    }
}

/// The state of a client transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The handshake is not complete.
    Connecting,
    /// Datagrams can be sent and received.
    Connected,
    /// The connection ended; create a new transport to connect again.
    Disconnected(CloseReason),
}

/// The server side of a transport.
pub trait ServerTransport {
    /// Advances by `elapsed`, then reads the packets that have arrived. The call does not block and reads a bounded
    /// number of packets, so that a flood cannot delay the host.
    fn poll(&mut self, elapsed: Duration, events: &mut dyn FnMut(Event<'_>)) -> Result<(), TransportError>;

    /// Sends a datagram. A datagram that was sent without an error may still be lost.
    fn send(&mut self, peer: PeerId, datagram: &[u8]) -> Result<(), SendError>;

    /// Disconnects a peer; the next [`poll`](Self::poll) reports [`Event::Disconnected`].
    fn disconnect(&mut self, peer: PeerId);

    /// Returns the counters since the start.
    fn counts(&self) -> Counts;
}

/// The client side of a transport.
pub trait ClientTransport {
    /// Advances by `elapsed`, then reads the packets that have arrived. The call does not block.
    fn poll(&mut self, elapsed: Duration, datagrams: &mut dyn FnMut(&[u8])) -> Result<(), TransportError>;

    /// Sends a datagram. A datagram that was sent without an error may still be lost.
    fn send(&mut self, datagram: &[u8]) -> Result<(), SendError>;

    /// Disconnects and notifies the server.
    fn disconnect(&mut self);

    /// Returns the state of the connection.
    fn state(&self) -> State;
}
