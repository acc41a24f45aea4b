//! What carries packets of netcode. A socket knows nothing of keys, players or sizes of datagrams; it moves sealed
//! packets and says when a connection of its own (if it has such) is over.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

#[cfg(feature = "udp")]
pub(crate) mod udp;
#[cfg(feature = "websocket")]
pub(crate) mod websocket;
#[cfg(feature = "webtransport")]
pub(crate) mod webtransport;

/// Packets of many addresses.
pub(crate) trait ServerSocket: Send {
    /// Whether the carrier encrypts by itself; if not, netcode does.
    fn is_sealed(&self) -> bool {
        false
    }

    /// Time goes by: newcomers of a carrier with connections are let in or turned away. What ended by itself since the
    /// last call is told.
    fn update(&mut self, elapsed: Duration, lost: &mut Vec<SocketAddr>);

    /// The next packet; nothing if there is none now.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>>;

    /// An error of the kind `WouldBlock` means that the packet is dropped because the other side does not keep up.
    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()>;

    /// Netcode takes the token of this address and asks for proof that it is really there.
    fn accepted(&mut self, _client: u64, _who: SocketAddr) {}

    /// A player is at this address now.
    fn joined(&mut self, _who: SocketAddr) {}

    /// Nothing more comes from or goes to this address.
    fn close(&mut self, who: SocketAddr);
}

/// Packets of one server.
pub(crate) trait ClientSocket: Send {
    /// The next packet and where it comes from; nothing if there is none now. An error means that the socket is done for.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>>;

    /// An error of the kind `WouldBlock` means that the packet is dropped because the other side does not keep up.
    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()>;

    /// Whether the system said that nobody listens at the server's port. It may be wrong, and it may say nothing: good for
    /// a message, not for a decision.
    fn is_shut(&self) -> bool {
        false
    }
}

/// Copies a packet out; what does not fit is no packet.
#[cfg(feature = "websocket")]
pub(crate) fn put(packet: &[u8], buffer: &mut [u8]) -> Option<usize> {
    buffer.get_mut(..packet.len())?.copy_from_slice(packet);
    Some(packet.len())
}
