//! The interface of every transport: one trait for servers, one for clients.

use std::fmt;
use std::time::Duration;

use ugas_net::types::PeerId;

use crate::counts::Counts;
use crate::error::{SendError, TransportError};

/// An event of a server transport.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A peer connected, with the user data of its token (a name, an account; at most 255 bytes).
    Connected(PeerId, &'a [u8]),
    /// A peer disconnected; its number is not reused.
    Disconnected(PeerId, Gone),
    /// A datagram of a peer, complete and unchanged. Datagrams may be lost, duplicated or reordered.
    Datagram(PeerId, &'a [u8]),
}

/// Why a connection ended or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The client disconnected.
    ByClient,
    /// The server disconnected the client.
    ByServer,
    /// No packet arrived for too long.
    TimedOut,
    /// The underlying connection was closed.
    Lost,
    /// The server rejected the connection: it is full, or the token was used before.
    Refused,
    /// The server did not answer: it is not running, or does not accept this token, key or protocol.
    NoAnswer,
    /// The server did not answer, and its machine reports that the port is closed. Only some systems report that (UDP);
    /// otherwise it is [`Gone::NoAnswer`].
    Nobody,
    /// The token expired before the server answered.
    Expired,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Gone::ByClient => "the client left",
            Gone::ByServer => "the server ended the connection",
            Gone::TimedOut => "the other side has been silent for too long",
            Gone::Lost => "the connection broke",
            Gone::Refused => "the server refused: it is full, or the token does not fit or is in use",
            Gone::NoAnswer => {
                "the server did not answer: nobody listens there, or the token, the key or the protocol does not fit"
            }
            Gone::Nobody => "nobody listens there: is the server running, and is this its port?",
            Gone::Expired => "the token has expired: ask for a new one",
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
    Disconnected(Gone),
}

/// The server side of a transport.
pub trait ServerTransport {
    /// Advances by `elapsed`, then reads what has arrived. Does not block, and reads a bounded amount, so that a flood cannot
    /// delay the host.
    fn poll(&mut self, elapsed: Duration, events: &mut dyn FnMut(Event<'_>)) -> Result<(), TransportError>;

    /// Sends a datagram. Without an error it may still be lost.
    fn send(&mut self, peer: PeerId, datagram: &[u8]) -> Result<(), SendError>;

    /// Disconnects a peer; the next [`poll`](Self::poll) reports [`Event::Disconnected`].
    fn disconnect(&mut self, peer: PeerId);

    /// Returns the counters since the start.
    fn counts(&self) -> Counts;
}

/// The client side of a transport.
pub trait ClientTransport {
    /// Advances by `elapsed`, then reads what has arrived. Does not block.
    fn poll(&mut self, elapsed: Duration, datagrams: &mut dyn FnMut(&[u8])) -> Result<(), TransportError>;

    /// Sends a datagram. Without an error it may still be lost.
    fn send(&mut self, datagram: &[u8]) -> Result<(), SendError>;

    /// Disconnects and notifies the server.
    fn disconnect(&mut self);

    /// Returns the state of the connection.
    fn state(&self) -> State;
}
