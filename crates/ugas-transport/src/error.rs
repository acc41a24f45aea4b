//! Errors of a transport. A malformed packet of a peer is not an error: it is dropped and counted.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;
use ugas_net::types::{MAX_DATAGRAM, PeerId};

use crate::token::{TokenError, TransportKind};

/// Why a transport cannot be opened or failed.
#[derive(Debug, Error)]
pub enum TransportError {
    /// The address cannot be bound.
    #[error("cannot bind {carrier} to {address}: {cause}; choose another port (0 selects a free one)")]
    Bind {
        /// On what.
        carrier: TransportKind,
        /// Where.
        address: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// The server cannot be reached.
    #[error("cannot reach {address} over {carrier}: {cause}; check that the server runs and its port")]
    Reach {
        /// On what.
        carrier: TransportKind,
        /// Where.
        address: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// A socket failed.
    #[error("the {carrier} socket failed: {cause}")]
    Socket {
        /// Which.
        carrier: TransportKind,
        /// What the system says.
        cause: io::Error,
    },
    /// The listener has no socket.
    #[error("the listener has no socket; bind udp, websocket or webtransport before starting it")]
    NoSocket,
    /// A listener on all addresses needs a public address for its tokens.
    #[error("{carrier} listens on all addresses ({address}); set the public address for tokens")]
    NoPublicAddress {
        /// On what.
        carrier: TransportKind,
        /// The address that means all of them.
        address: SocketAddr,
    },
    /// The transport is not part of this build.
    #[error(
        "this build has no {carrier} here: turn on the feature of that name (for clients, WebTransport is the browsers')"
    )]
    NotBuilt {
        /// Which.
        carrier: TransportKind,
    },
    /// More peers than the protocol supports.
    #[error("a listener serves at most {most} peers, found {wanted}")]
    TooManyPeers {
        /// What was asked for.
        wanted: usize,
        /// What there is.
        most: usize,
    },
    /// The server is full.
    #[error("the server is full: {peers} peers are connected")]
    Full {
        /// How many there are.
        peers: usize,
    },
    /// A token cannot be created or used.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The background threads of a transport cannot start.
    #[error("cannot start the background threads of {carrier}: {cause}")]
    Runtime {
        /// Which.
        carrier: TransportKind,
        /// What the system says.
        cause: String,
    },
}

/// Why a datagram was not sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// The datagram is too long.
    #[error("a datagram of {length} bytes is longer than {MAX_DATAGRAM}")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// The peer is not connected.
    #[error("peer {} is not connected", .0.0)]
    NoPeer(PeerId),
    /// The client is not connected.
    #[error("not connected")]
    NotConnected,
    /// The peer reads too slowly; the datagram is dropped.
    #[error("the peer reads too slowly; the datagram is dropped")]
    Full,
    /// The system reported an error.
    #[error("cannot send: {0}")]
    System(String),
}

/// A datagram that may be sent.
pub(crate) fn fits(datagram: &[u8]) -> Result<(), SendError> {
    match datagram.len() {
        length if length > MAX_DATAGRAM => Err(SendError::TooLong { length }),
        _ => Ok(()),
    }
}
