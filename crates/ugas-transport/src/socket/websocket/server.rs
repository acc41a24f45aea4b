//! The WebSocket server. Each connection starts with a handshake that has a time limit, and stays open until netcode,
//! the peer or a timeout closes it.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tungstenite::WebSocket;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response, ServerHandshake};
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::http::StatusCode;

use super::super::{ServerSocket, put};
use super::{config, flush, from_query, read, write};

/// The longest handshake. A connection that takes longer is closed, so that idle peers do not occupy it.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time after which an open connection without a player is closed.
const JOIN_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of connections without a player, in addition to the connections of players.
const MAX_WITHOUT_PLAYER: usize = 64;
/// The maximum number of new connections per update; further connections wait in the queue of the operating system.
const MAX_ACCEPTS: usize = 64;

pub(crate) struct WebSocketServer {
    listener: TcpListener,
    max_connections: usize,
    connections: BTreeMap<SocketAddr, Connection>,
    /// The connection that was read last. Reading continues after it, so that one peer's flood does not delay the
    /// others.
    last_read: Option<SocketAddr>,
    lost: Vec<SocketAddr>,
}

struct Connection {
    stage: ConnectionStage,
    age: Duration,
    is_player: bool,
}

enum ConnectionStage {
    Handshake(Box<MidHandshake<ServerHandshake<TcpStream, ConnectRequest>>>, ConnectRequest),
    Open { socket: Box<WebSocket<TcpStream>>, request: Option<Vec<u8>> },
    Closed,
}

/// Reads the connection request from the URL of the handshake.
#[derive(Clone, Default)]
struct ConnectRequest(Arc<OnceLock<Vec<u8>>>);

impl Callback for ConnectRequest {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        match request.uri().query().and_then(from_query) {
            Some(packet) => {
                let _ = self.0.set(packet);
                Ok(response)
            }
            None => {
                let mut rejection = ErrorResponse::new(Some("expected a connection request in the query\n".into()));
                *rejection.status_mut() = StatusCode::BAD_REQUEST;
                Err(rejection)
            }
        }
    }
}

impl WebSocketServer {
    /// Binds a listener for this many players, and some connections without a player.
    pub(crate) fn bind(address: SocketAddr, players: usize) -> io::Result<(WebSocketServer, SocketAddr)> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let max_connections = players.saturating_add(MAX_WITHOUT_PLAYER);
        Ok((
            WebSocketServer {
                listener,
                max_connections,
                connections: BTreeMap::new(),
                last_read: None,
                lost: Vec::new(),
            },
            address,
        ))
    }

    fn accept(&mut self) {
        for _ in 0..MAX_ACCEPTS {
            // A connection that was reset before it was accepted, or a lack of resources; the next update tries again.
            let Ok((stream, who)) = self.listener.accept() else { return };
            let is_ready = stream.set_nonblocking(true).is_ok() && stream.set_nodelay(true).is_ok();
            if self.connections.len() >= self.max_connections || !is_ready {
                continue;
            }
            let connect_request = ConnectRequest::default();
            let handshake = ServerHandshake::start(stream, connect_request.clone(), Some(config()));
            let connection = Connection {
                stage: ConnectionStage::Handshake(Box::new(handshake), connect_request),
                age: Duration::ZERO,
                is_player: false,
            };
            self.connections.insert(who, connection);
        }
    }

    /// Reads a packet from the next connection that has one, after `start`.
    fn read_after(&mut self, start: Option<SocketAddr>, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let range = (start.map_or(Unbounded, Excluded), Unbounded);
        for (&who, connection) in self.connections.range_mut(range) {
            match connection.receive(buffer) {
                Ok(Some(length)) => return Some((length, who)),
                Ok(None) => {}
                Err(_) => connection.stage = ConnectionStage::Closed,
            }
        }
        None
    }
}

impl Connection {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.stage {
            ConnectionStage::Open { socket, request } => match request.take() {
                Some(packet) => Ok(put(&packet, buffer)),
                None => read(socket, buffer),
            },
            ConnectionStage::Handshake(..) | ConnectionStage::Closed => Ok(None),
        }
    }

    fn update(&mut self, elapsed: Duration) {
        self.age = self.age.saturating_add(elapsed);
        self.stage = match std::mem::replace(&mut self.stage, ConnectionStage::Closed) {
            ConnectionStage::Handshake(..) if self.age > HANDSHAKE_TIMEOUT => ConnectionStage::Closed,
            ConnectionStage::Handshake(handshake, connect_request) => match handshake.handshake() {
                Ok(socket) => {
                    self.age = Duration::ZERO;
                    ConnectionStage::Open { socket: Box::new(socket), request: connect_request.0.get().cloned() }
                }
                Err(HandshakeError::Interrupted(handshake)) => {
                    ConnectionStage::Handshake(Box::new(handshake), connect_request)
                }
                Err(HandshakeError::Failure(_)) => ConnectionStage::Closed,
            },
            ConnectionStage::Open { .. } if !self.is_player && self.age > JOIN_TIMEOUT => ConnectionStage::Closed,
            ConnectionStage::Open { mut socket, request } => match flush(&mut socket) {
                true => ConnectionStage::Open { socket, request },
                false => ConnectionStage::Closed,
            },
            ConnectionStage::Closed => ConnectionStage::Closed,
        };
    }
}

impl ServerSocket for WebSocketServer {
    fn update(&mut self, elapsed: Duration, lost: &mut Vec<SocketAddr>) {
        for connection in self.connections.values_mut() {
            connection.update(elapsed);
        }
        let ended = &mut self.lost;
        self.connections.retain(|&who, connection| {
            let is_open = !matches!(connection.stage, ConnectionStage::Closed);
            if !is_open {
                ended.push(who);
            }
            is_open
        });
        lost.append(&mut self.lost);
        self.accept();
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        let found = self.read_after(self.last_read, buffer);
        let found = match (found, self.last_read) {
            (None, Some(_)) => self.read_after(None, buffer),
            (found, _) => found,
        };
        self.last_read = found.map(|(_, who)| who);
        Ok(found)
    }

    fn send(&mut self, to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&to) else { return Err(ErrorKind::ConnectionAborted.into()) };
        let ConnectionStage::Open { socket: open, .. } = &mut connection.stage else {
            return Err(ErrorKind::ConnectionAborted.into());
        };
        let sent = write(open, packet);
        if sent.as_ref().is_err_and(|error| error.kind() != ErrorKind::WouldBlock) {
            connection.stage = ConnectionStage::Closed;
        }
        sent
    }

    fn joined(&mut self, who: SocketAddr) {
        if let Some(connection) = self.connections.get_mut(&who) {
            connection.is_player = true;
        }
    }

    fn close(&mut self, who: SocketAddr) {
        if let Some(mut connection) = self.connections.remove(&who)
            && let ConnectionStage::Open { socket, .. } = &mut connection.stage
        {
            let _ = socket.close(None);
            let _ = socket.flush();
        }
    }
}
