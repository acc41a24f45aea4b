//! What can go wrong with a carrier itself. What a peer does wrong is no error: it is counted and dropped.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;
use ugas_net::types::{MAX_DATAGRAM, PeerId};

use crate::token::{Carrier, TokenError};

/// Why a transport cannot be opened or cannot go on.
#[derive(Debug, Error)]
pub enum TransportError {
    /// The operating system does not give the address.
    #[error("cannot open {carrier} on {address}: {cause}; another program may have the port (port 0 takes a free one)")]
    Bind {
        /// On what.
        carrier: Carrier,
        /// Where.
        address: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// The server's address is out of reach.
    #[error("cannot reach {address} over {carrier}: {cause}; is the server running, and is this its port?")]
    Reach {
        /// On what.
        carrier: Carrier,
        /// Where.
        address: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// A socket that worked does not any more.
    #[error("the {carrier} socket failed: {cause}")]
    Socket {
        /// Which.
        carrier: Carrier,
        /// What the system says.
        cause: io::Error,
    },
    /// Nothing to listen on.
    #[error("the listener has no socket: add udp, websocket or webtransport before it starts")]
    NoSocket,
    /// A listener that is reached at any address has to say which one its tokens name.
    #[error("{carrier} listens on every address ({address}): say which one its players use, or tokens would name none")]
    NoPublicAddress {
        /// On what.
        carrier: Carrier,
        /// The address that means all of them.
        address: SocketAddr,
    },
    /// The carrier is not part of this build.
    #[error(
        "this build has no {carrier} here: turn on the feature of that name (for clients, WebTransport is the browsers')"
    )]
    NotBuilt {
        /// Which.
        carrier: Carrier,
    },
    /// More peers than the protocol can count.
    #[error("{wanted} peers are more than the {most} that one listener can serve")]
    TooManyPeers {
        /// What was asked for.
        wanted: usize,
        /// What there is.
        most: usize,
    },
    /// The server is full.
    #[error("the server is full: all {peers} places are taken")]
    Full {
        /// How many there are.
        peers: usize,
    },
    /// A token cannot be made or used.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The runtime that a carrier needs does not start.
    #[error("the background threads of {carrier} do not start: {cause}")]
    Runtime {
        /// Which.
        carrier: Carrier,
        /// What the system says.
        cause: String,
    },
}

/// Why a datagram was not sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// It is too long; the carrier does not cut.
    #[error("a datagram of {length} bytes is longer than {MAX_DATAGRAM}")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// There is no such peer, or not any more.
    #[error("peer {} is not connected", .0.0)]
    NoPeer(PeerId),
    /// The client is not let in yet, or is out again.
    #[error("not connected")]
    NotConnected,
    /// The other side does not read fast enough; the datagram is lost like any other.
    #[error("the other side does not keep up; the datagram is dropped")]
    Full,
    /// The system refused.
    #[error("the system refused to send: {0}")]
    System(String),
}

/// A datagram that may be sent.
pub(crate) fn fits(datagram: &[u8]) -> Result<(), SendError> {
    match datagram.len() {
        length if length > MAX_DATAGRAM => Err(SendError::TooLong { length }),
        _ => Ok(()),
    }
}
