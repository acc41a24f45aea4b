//! What every carrier offers to a host: one trait for the side with many peers, one for the side with one.

use std::fmt;
use std::time::Duration;

use ugas_net::types::PeerId;

use crate::counts::Counts;
use crate::error::{SendError, TransportError};

/// Something that happened to a server.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A peer is there, with what its token says about it (a name, an account; at most 255 bytes).
    Connected(PeerId, &'a [u8]),
    /// A peer is gone; its number is never used again.
    Disconnected(PeerId, Gone),
    /// A peer sent this, whole and unchanged. Datagrams may be lost, doubled or out of order.
    Datagram(PeerId, &'a [u8]),
}

/// Why a connection ended, or never came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The client ended it.
    ByClient,
    /// The server ended it.
    ByServer,
    /// Nothing was heard for too long.
    TimedOut,
    /// The carrier broke: the other side closed its connection without a word.
    Lost,
    /// The server answered with a no: it is full, or the token was used before or by somebody else.
    Refused,
    /// The server never answered: nobody is there, or it does not take this token, key or protocol.
    NoAnswer,
    /// The server never answered, and the machine it should be on says that nobody listens at the port. Only some machines
    /// say so (UDP); others leave it at [`Gone::NoAnswer`].
    Nobody,
    /// The token ran out before the server answered.
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

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not let in yet.
    Connecting,
    /// Datagrams go both ways.
    Connected,
    /// Over; a new connection needs a new transport.
    Disconnected(Gone),
}

/// The side with many peers.
pub trait ServerTransport {
    /// Lets `elapsed` go by, then reads what has arrived. Never blocks and reads only so much at a time, so that a flood
    /// cannot keep the host from its tick.
    fn poll(&mut self, elapsed: Duration, events: &mut dyn FnMut(Event<'_>)) -> Result<(), TransportError>;

    /// Sends one datagram. An error says why it cannot be on its way; without one it may still be lost.
    fn send(&mut self, peer: PeerId, datagram: &[u8]) -> Result<(), SendError>;

    /// Ends a connection; the next [`poll`](Self::poll) tells it as [`Event::Disconnected`] like any other end.
    fn disconnect(&mut self, peer: PeerId);

    /// What was carried and what was turned away since the start.
    fn counts(&self) -> Counts;
}

/// The side with one server.
pub trait ClientTransport {
    /// Lets `elapsed` go by, then reads what has arrived. Never blocks.
    fn poll(&mut self, elapsed: Duration, datagrams: &mut dyn FnMut(&[u8])) -> Result<(), TransportError>;

    /// Sends one datagram. An error says why it cannot be on its way; without one it may still be lost.
    fn send(&mut self, datagram: &[u8]) -> Result<(), SendError>;

    /// Leaves, and tells the server so.
    fn disconnect(&mut self);

    /// Whether datagrams go through.
    fn state(&self) -> State;
}
