//! The errors of a transport. A malformed packet from a peer does not cause an error; the transport drops and counts
//! it.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;
use ugas_net::types::{MAX_DATAGRAM, PeerId};

use crate::token::{TokenError, TransportKind};

/// Why a transport could not be opened, or why it failed.
#[derive(Debug, Error)]
pub enum TransportError {
    /// The address cannot be bound.
    #[error("cannot bind {kind} to {address}: {cause}; {}", bind_help(.cause))]
    Bind {
        /// The transport.
        kind: TransportKind,
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The server cannot be reached.
    #[error("cannot reach {address} over {kind}: {cause}; check that the server is running and the port is correct")]
    Reach {
        /// The transport.
        kind: TransportKind,
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A socket failed.
    #[error("the {kind} socket failed: {cause}")]
    Socket {
        /// The transport.
        kind: TransportKind,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The listener has no socket, or none for the requested transport.
    #[error("the listener has no socket; bind udp, websocket or webtransport before starting it")]
    NoSocket,
    /// The listener is bound to all interfaces (an unspecified address) and has no public address to write into its
    /// tokens.
    #[error("{kind} listens on all interfaces ({address}); set the public address that tokens contain")]
    NoPublicAddress {
        /// The transport.
        kind: TransportKind,
        /// The unspecified address.
        address: SocketAddr,
    },
    /// This build does not include the transport.
    #[error("this build does not include {kind}; enable its cargo feature (WebTransport clients run only in browsers)")]
    NotBuilt {
        /// The transport.
        kind: TransportKind,
    },
    /// The configured number of peers exceeds the limit of the protocol.
    #[error("a listener serves at most {most} peers, but {wanted} are configured; configure fewer")]
    TooManyPeers {
        /// The requested number of peers.
        wanted: usize,
        /// The limit.
        most: usize,
    },
    /// The server is full.
    #[error("the server is full: {peers} peers are connected; wait until one disconnects")]
    Full {
        /// The number of connected peers.
        peers: usize,
    },
    /// A token could not be created or used.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The background threads of a transport could not be started.
    #[error("cannot start the background threads of {kind}: {cause}")]
    Runtime {
        /// The transport.
        kind: TransportKind,
        /// The error of the operating system.
        cause: String,
    },
}

/// Why a datagram was not sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// The datagram is too long.
    #[error("a datagram of {length} bytes exceeds the limit of {MAX_DATAGRAM}; send fewer bytes")]
    TooLong {
        /// Its length.
        length: usize,
    },
    /// The peer is not connected.
    #[error("peer {} is not connected", .0.0)]
    NoPeer(PeerId),
    /// The client is not connected.
    #[error("the client is not connected")]
    NotConnected,
    /// The send buffer is full; the datagram was dropped.
    #[error("the send buffer is full; the datagram was dropped")]
    Full,
    /// The operating system reported an error.
    #[error("cannot send: {0}")]
    System(String),
}

/// Checks the length of a datagram.
pub(crate) fn check_length(datagram: &[u8]) -> Result<(), SendError> {
    match datagram.len() {
        length if length > MAX_DATAGRAM => Err(SendError::TooLong { length }),
        _ => Ok(()),
    }
}

/// Returns what to do about an address that cannot be bound.
fn bind_help(cause: &io::Error) -> &'static str {
    let kind = cause.kind();
    if kind == io::ErrorKind::AddrNotAvailable {
        "this machine does not have the address; use one of its own, 127.0.0.1 for local clients or 0.0.0.0 for all"
    } else if kind == io::ErrorKind::PermissionDenied {
        "choose a port from 1024 (0 selects a free one)"
    } else {
        "choose another port (0 selects a free one)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_for_an_address_depends_on_the_cause() {
        let text = |cause: io::ErrorKind| {
            let address = "192.0.2.1:400".parse().expect("an address");
            TransportError::Bind { kind: TransportKind::Udp, address, cause: cause.into() }.to_string()
        };
        assert!(text(io::ErrorKind::AddrInUse).ends_with("choose another port (0 selects a free one)"));
        assert!(text(io::ErrorKind::AddrNotAvailable).contains("this machine does not have the address"));
        assert!(text(io::ErrorKind::PermissionDenied).contains("choose a port from 1024"));
    }
}
