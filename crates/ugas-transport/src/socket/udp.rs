//! UDP, as it is.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::{ClientSocket, ServerSocket};

/// How many errors about other packets are passed over before the read is left for the next poll.
const PASSED_OVER: usize = 64;

pub(crate) struct Udp(UdpSocket);

impl Udp {
    /// A server's socket.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<(Udp, SocketAddr)> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        Ok((Udp(socket), address))
    }

    /// A client's socket for a server of this address family.
    pub(crate) fn toward(server: SocketAddr) -> io::Result<Udp> {
        let any = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        Udp::bind(any).map(|(socket, _)| socket)
    }

    fn next(&self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        for _ in 0..PASSED_OVER {
            match self.0.recv_from(buffer) {
                Ok(packet) => return Ok(Some(packet)),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(None),
                    // The echo of a packet sent earlier to a port that is closed now, a packet longer than the buffer
                    // (on Windows), or a signal: nothing about this read.
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused | ErrorKind::Interrupted => {}
                    _ if error.raw_os_error() == Some(WINDOWS_MESSAGE_SIZE) => {}
                    _ => return Err(error),
                },
            }
        }
        Ok(None)
    }
}

const WINDOWS_MESSAGE_SIZE: i32 = 10_040;

fn send(socket: &UdpSocket, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
    match socket.send_to(packet, to) {
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused) => Ok(()),
        other => other.map(|_| ()),
    }
}

impl ServerSocket for Udp {
    fn update(&mut self, _elapsed: Duration, _lost: &mut Vec<SocketAddr>) {}

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        self.next(buffer)
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        send(&self.0, to, packet)
    }

    fn close(&mut self, _who: SocketAddr) {}
}

impl ClientSocket for Udp {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        self.next(buffer)
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        send(&self.0, to, packet)
    }
}
