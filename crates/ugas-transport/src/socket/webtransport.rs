//! WebTransport for browsers, with the implementation of `renet2`: QUIC with a self-signed certificate, on its own
//! `tokio` runtime. The certificate is valid for two weeks; a browser accepts it by its hash.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use renet2_netcode::{NetcodeTransportError, ServerSocket as _, WebTransportServer as Inner, WebTransportServerConfig};
use tokio::runtime::{Builder, Runtime};

use super::ServerSocket;
use crate::error::TransportError;
use crate::token::TransportKind;

pub(crate) struct WebTransport {
    inner: Inner,
    /// The runtime, whose threads end with the server.
    _runtime: Runtime,
}

impl WebTransport {
    /// Binds a socket. Returns it with its address and the hash of its certificate.
    pub(crate) fn bind(
        address: SocketAddr,
        players: usize,
    ) -> Result<(WebTransport, SocketAddr, [u8; 32]), TransportError> {
        let kind = TransportKind::WebTransport;
        let no_runtime = |cause: io::Error| TransportError::Runtime { kind, cause: cause.to_string() };
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(no_runtime)?;
        let cannot = |cause: String| TransportError::Bind { kind, address, cause: io::Error::other(cause) };
        let (config, certificate) = WebTransportServerConfig::new_selfsigned(address, players.max(1))
            .map_err(|error| cannot(error.to_string()))?;
        let inner = Inner::new(config, runtime.handle().clone()).map_err(|error| cannot(error.to_string()))?;
        let bound = inner.addr().map_err(|error| cannot(error.to_string()))?;
        Ok((WebTransport { inner, _runtime: runtime }, bound, certificate.hash))
    }
}

impl ServerSocket for WebTransport {
    fn is_sealed(&self) -> bool {
        self.inner.is_encrypted()
    }

    fn update(&mut self, _elapsed: Duration, _lost: &mut Vec<SocketAddr>) {
        self.inner.postupdate();
        self.inner.preupdate();
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        match self.inner.try_recv(buffer) {
            Ok(packet) => Ok(Some(packet)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        self.inner.send(to, packet).map_err(|error| match error {
            NetcodeTransportError::IO(error) => error,
            other => io::Error::other(other.to_string()),
        })
    }

    fn accepted(&mut self, client: u64, who: SocketAddr) {
        self.inner.connection_accepted(client, who);
    }

    fn close(&mut self, who: SocketAddr) {
        self.inner.disconnect(who);
    }
}
