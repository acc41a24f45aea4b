//! UDP, as it is.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::{ClientSocket, ServerSocket};

/// How many errors about other packets are passed over before the read is left for the next poll.
const PASSED_OVER: usize = 64;

pub(crate) struct Udp(UdpSocket);

/// A client's socket. It is tied to its server, so that the system tells when a packet met a closed port.
pub(crate) struct UdpClient {
    socket: Udp,
    server: SocketAddr,
    is_shut: bool,
}

impl Udp {
    /// A server's socket.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<(Udp, SocketAddr)> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        Ok((Udp(socket), address))
    }

    /// The next packet. `is_shut` is set where the system says that one sent earlier met a closed port.
    fn next(&self, buffer: &mut [u8], is_shut: &mut bool) -> io::Result<Option<(usize, SocketAddr)>> {
        for _ in 0..PASSED_OVER {
            match self.0.recv_from(buffer) {
                Ok(packet) => return Ok(Some(packet)),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(None),
                    // The echo of a packet sent earlier to a port that is closed now, a packet longer than the buffer
                    // (on Windows), or a signal: nothing about this read.
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused => *is_shut = true,
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
    /// A socket for a server of this address.
    pub(crate) fn toward(server: SocketAddr) -> io::Result<UdpClient> {
        let any = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let (socket, _) = Udp::bind(any)?;
        socket.0.connect(server)?;
        Ok(UdpClient { socket, server, is_shut: false })
    }
}

const WINDOWS_MESSAGE_SIZE: i32 = 10_040;

/// Whether an error is about a packet sent earlier, to a port that is closed.
fn is_about_another(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

impl ServerSocket for Udp {
    fn update(&mut self, _elapsed: Duration, _lost: &mut Vec<SocketAddr>) {}

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        self.next(buffer, &mut false)
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        match self.0.send_to(packet, to) {
            Err(error) if is_about_another(&error) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    fn close(&mut self, _who: SocketAddr) {}
}

impl ClientSocket for UdpClient {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        // Some systems give a tied socket's packets without an address.
        let next = self.socket.next(buffer, &mut self.is_shut)?;
        Ok(next.map(|(length, _)| (length, self.server)))
    }

    fn send(&mut self, _to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        match self.socket.0.send(packet) {
            Err(error) if is_about_another(&error) => {
                self.is_shut = true;
                // The system told of an earlier packet instead of taking this one. If it does so again, this one is lost.
                let _ = self.socket.0.send(packet);
                Ok(())
            }
            other => other.map(|_| ()),
        }
    }

    fn is_shut(&self) -> bool {
        self.is_shut
    }
}
