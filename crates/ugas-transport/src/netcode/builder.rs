//! Builds a listener: binds its sockets and configures netcode.

use std::net::SocketAddr;
use std::time::Duration;

use renetcode2::{NetcodeServer, ServerAuthentication, ServerConfig, ServerSocketConfig};

use super::admission::Admission;
use super::listener::{Auth, Endpoint, Listener, ListenerConfig};
use crate::error::TransportError;
use crate::limits::Limits;
use crate::socket::ServerSocket;
use crate::token::{Key, TransportKind};

/// The maximum number of clients that netcode supports.
const MAX_PEERS: usize = 1_024;

/// Builds a [`Listener`].
pub struct ListenerBuilder {
    config: ListenerConfig,
    sockets: [Option<Endpoint>; 3],
}

impl ListenerBuilder {
    pub(super) fn new(config: ListenerConfig) -> ListenerBuilder {
        ListenerBuilder { config, sockets: [None, None, None] }
    }

    /// Binds a transport to an address; port 0 selects a free port. `public` is the address that players use. It is
    /// needed only if it differs from the bound address: behind a router, or when the server listens on all interfaces.
    /// A second address for the same transport replaces the first.
    pub fn bind(
        mut self,
        kind: TransportKind,
        address: SocketAddr,
        public: Option<SocketAddr>,
    ) -> Result<ListenerBuilder, TransportError> {
        let (socket, bound, certificate) = open(kind, address, &self.config.limits)?;
        let public = public.unwrap_or(bound);
        if public.ip().is_unspecified() && matches!(self.config.auth, Auth::Key(_)) {
            return Err(TransportError::NoPublicAddress { kind, address });
        }
        self.sockets[kind as usize] = Some(Endpoint { socket, public, certificate });
        Ok(self)
    }

    /// Starts the listener.
    pub fn start(self) -> Result<Listener, TransportError> {
        let ListenerBuilder { config, sockets } = self;
        if sockets.iter().all(Option::is_none) {
            return Err(TransportError::NoSocket);
        }
        if config.limits.peers > MAX_PEERS {
            return Err(TransportError::TooManyPeers { wanted: config.limits.peers, most: MAX_PEERS });
        }
        // One socket per transport, even if unused: a token contains the number of the transport as the socket id.
        let socket_config = |endpoint: &Option<Endpoint>| ServerSocketConfig {
            needs_encryption: endpoint.as_ref().is_none_or(|endpoint| !endpoint.socket.is_sealed()),
            public_addresses: endpoint.iter().map(|endpoint| endpoint.public).collect(),
        };
        let (authentication, max_token_lifetime, key) = match &config.auth {
            Auth::Key(key) => {
                (ServerAuthentication::Secure { private_key: *key.bytes() }, config.token_lifetime, key.clone())
            }
            // Clients create tokens with their own clock.
            Auth::Open => (ServerAuthentication::Unsecure, 0, Key::public()),
        };
        let earliest = config.now.saturating_add(Duration::from_secs(max_token_lifetime.into()));
        let is_open = matches!(config.auth, Auth::Open);
        let admission = Admission::new(config.protocol, *key.bytes(), is_open, earliest, &config.limits);
        let netcode = NetcodeServer::new(ServerConfig {
            current_time: config.now,
            max_token_lifetime,
            max_clients: config.limits.peers,
            protocol_id: config.protocol,
            sockets: sockets.iter().map(socket_config).collect(),
            authentication,
        });
        Ok(Listener::new(config, netcode, admission, sockets))
    }
}

type Opened = (Box<dyn ServerSocket>, SocketAddr, Option<[u8; 32]>);

fn open(kind: TransportKind, address: SocketAddr, limits: &Limits) -> Result<Opened, TransportError> {
    let cannot = |cause| TransportError::Bind { kind, address, cause };
    match kind {
        #[cfg(feature = "udp")]
        TransportKind::Udp => {
            let (socket, bound) = crate::socket::udp::Udp::bind(address).map_err(cannot)?;
            Ok((Box::new(socket), bound, None))
        }
        #[cfg(feature = "websocket")]
        TransportKind::WebSocket => {
            let (socket, bound) = crate::socket::websocket::WebSocketServer::bind(address, limits).map_err(cannot)?;
            Ok((Box::new(socket), bound, None))
        }
        #[cfg(feature = "webtransport")]
        TransportKind::WebTransport => {
            let (socket, bound, certificate) = crate::socket::webtransport::WebTransport::bind(address, limits)?;
            Ok((Box::new(socket), bound, Some(certificate)))
        }
        #[allow(unreachable_patterns, reason = "the cargo features decide which transports are built")]
        _ => {
            let _ = (cannot, limits);
            Err(TransportError::NotBuilt { kind })
        }
    }
}
