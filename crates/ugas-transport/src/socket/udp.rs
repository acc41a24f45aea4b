//! The UDP sockets.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::{ClientSocket, ServerSocket};
use crate::counts::Counts;

/// The maximum number of errors about earlier packets that one read skips.
const MAX_SKIPPED_ERRORS: usize = 64;

pub(crate) struct Udp(UdpSocket);

/// The socket of a client. It is connected to its server, so that the operating system reports a closed port.
pub(crate) struct UdpClient {
    socket: Udp,
    server: SocketAddr,
    is_port_closed: bool,
}

impl Udp {
    /// Binds a server socket.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<(Udp, SocketAddr)> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        Ok((Udp(socket), address))
    }

    /// Reads the next packet. Sets `is_port_closed` if the system reports that an earlier packet was sent to a closed
    /// port.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other error kinds are handled alike")]
    fn next(&self, buffer: &mut [u8], is_port_closed: &mut bool) -> io::Result<Option<(usize, SocketAddr)>> {
        for _ in 0..MAX_SKIPPED_ERRORS {
            match self.0.recv_from(buffer) {
                Ok(packet) => return Ok(Some(packet)),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(None),
                    // A report about an earlier packet to a closed port, a packet longer than the buffer (on Windows),
                    // or a signal: none of them is about this read.
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused => *is_port_closed = true,
                    ErrorKind::Interrupted => {}
                    _ if error.raw_os_error() == Some(WINDOWS_MESSAGE_SIZE) => {}
                    _ => return Err(error),
                },
            }
        }
        Ok(None)
    }
}

impl UdpClient {
    /// Creates a socket for a server at this address.
    pub(crate) fn connect(server: SocketAddr) -> io::Result<UdpClient> {
        let any = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let (socket, _) = Udp::bind(any)?;
        socket.0.connect(server)?;
        Ok(UdpClient { socket, server, is_port_closed: false })
    }
}

const WINDOWS_MESSAGE_SIZE: i32 = 10_040;

/// Returns whether an error is about an earlier packet to a closed port.
fn is_about_earlier_packet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

impl ServerSocket for Udp {
    fn update(&mut self, _elapsed: Duration, _lost: &mut Vec<SocketAddr>, _counts: &mut Counts) {}

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        self.next(buffer, &mut false)
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        match self.0.send_to(packet, to) {
            Err(error) if is_about_earlier_packet(&error) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    fn close(&mut self, _who: SocketAddr) {}
}

impl ClientSocket for UdpClient {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        // Some systems return packets of a connected socket without an address.
        let next = self.socket.next(buffer, &mut self.is_port_closed)?;
        Ok(next.map(|(length, _)| (length, self.server)))
    }

    fn send(&mut self, _to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        match self.socket.0.send(packet) {
            Err(error) if is_about_earlier_packet(&error) => {
                self.is_port_closed = true;
                // The system reported an error of an earlier packet instead of sending this one. If it does so again,
                // this one is lost.
                let _ = self.socket.0.send(packet);
                Ok(())
            }
            other => other.map(|_| ()),
        }
    }

    fn is_port_closed(&self) -> bool {
        self.is_port_closed
    }
}
