//! Sockets that send and receive the packets of netcode. The servers of WebSocket and WebTransport also report
//! connections that ended.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::counts::Counts;

#[cfg(any(feature = "websocket", feature = "webtransport"))]
mod handshakes;
#[cfg(any(feature = "websocket", feature = "webtransport"))]
mod query;
#[cfg(feature = "udp")]
pub(crate) mod udp;
#[cfg(feature = "websocket")]
pub(crate) mod websocket;
#[cfg(feature = "webtransport")]
pub(crate) mod webtransport;

/// The socket of a server.
pub(crate) trait ServerSocket: Send {
    /// Returns whether the transport itself encrypts packets; if not, netcode encrypts them.
    fn is_sealed(&self) -> bool {
        false
    }

    /// Advances the time: accepts or rejects new connections, and appends the addresses of connections that ended.
    fn update(&mut self, elapsed: Duration, lost: &mut Vec<SocketAddr>, counts: &mut Counts);

    /// Reads the next packet, if one has arrived.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>>;

    /// Sends a packet. `WouldBlock` means that the packet was dropped because the send buffer is full.
    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()>;

    /// Records that a player connected from this address.
    fn joined(&mut self, _who: SocketAddr) {}

    /// Records that the peer at this address was confirmed ([`Listener::confirm`](crate::Listener::confirm)): its
    /// connection no longer counts toward the rate limit of the address.
    fn trusted(&mut self, _who: SocketAddr) {}

    /// Closes the connection to this address.
    fn close(&mut self, who: SocketAddr);
}

/// The socket of a client.
pub(crate) trait ClientSocket: Send {
    /// Reads the next packet with its sender, if one has arrived. After an error the socket cannot be used.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>>;

    /// Sends a packet. `WouldBlock` means that the packet was dropped because the send buffer is full.
    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()>;

    /// Returns whether the operating system reported that the server's port is closed. The report may be wrong or
    /// missing, so use it in messages only.
    fn is_port_closed(&self) -> bool {
        false
    }
}

/// Copies a packet into a buffer. `None` if it does not fit.
#[cfg(any(feature = "websocket", feature = "webtransport"))]
pub(crate) fn put(packet: &[u8], buffer: &mut [u8]) -> Option<usize> {
    buffer.get_mut(..packet.len())?.copy_from_slice(packet);
    Some(packet.len())
}
