//! The WebSocket server. Each connection starts with a handshake that has a time limit, and stays open until netcode,
//! the peer or a timeout closes it. Connections without a player are limited for each address and in total, and a new
//! one replaces an older one, so that idle connections do not keep players out.

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

use super::super::handshakes::{Waiting, to_evict};
use super::super::query::from_query;
use super::super::{ServerSocket, put};
use super::{config, flush, read, write};
use crate::addresses::AddressRates;
use crate::counts::Counts;
use crate::limits::Limits;

/// The maximum number of new connections per update; further connections wait in the queue of the operating system.
const MAX_ACCEPTS: usize = 1_024;

pub(crate) struct WebSocketServer {
    listener: TcpListener,
    limits: Limits,
    rates: AddressRates,
    connections: BTreeMap<SocketAddr, Connection>,
    /// The connection that was read last. Reading continues after it, so that one peer's flood does not delay the
    /// others.
    last_read: Option<SocketAddr>,
    /// Connections that were closed since the last update.
    closed: Vec<SocketAddr>,
}

struct Connection {
    stage: ConnectionStage,
    age: Duration,
    is_player: bool,
    /// Whether a read found nothing since the last update. The connection is not read again before the next one, so
    /// that many packets of one connection do not cause many reads of the others.
    is_drained: bool,
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
    /// Binds a listener.
    pub(crate) fn bind(address: SocketAddr, limits: &Limits) -> io::Result<(WebSocketServer, SocketAddr)> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let server = WebSocketServer {
            listener,
            limits: *limits,
            rates: AddressRates::new(limits.connections_per_second, limits.connection_burst),
            connections: BTreeMap::new(),
            last_read: None,
            closed: Vec::new(),
        };
        Ok((server, address))
    }

    fn accept(&mut self, counts: &mut Counts) {
        let mut waiting: Vec<Waiting> =
            self.connections.iter().filter(|(_, connection)| !connection.is_player).map(Connection::waiting).collect();
        for _ in 0..MAX_ACCEPTS {
            // A connection that was reset before it was accepted, or a lack of resources; the next update tries again.
            let Ok((stream, who)) = self.listener.accept() else { return };
            if !self.rates.take(who.ip()) {
                counts.too_many += 1;
                continue;
            }
            if stream.set_nonblocking(true).is_err() || stream.set_nodelay(true).is_err() {
                continue;
            }
            if let Some(evicted) = to_evict(&waiting, who.ip(), &self.limits) {
                counts.evicted += 1;
                waiting.retain(|connection| connection.who != evicted);
                self.connections.remove(&evicted);
                self.closed.push(evicted);
            }
            let connect_request = ConnectRequest::default();
            let handshake = ServerHandshake::start(stream, connect_request.clone(), Some(config()));
            let connection = Connection {
                stage: ConnectionStage::Handshake(Box::new(handshake), connect_request),
                age: Duration::ZERO,
                is_player: false,
                is_drained: false,
            };
            waiting.push(Waiting { who, has_request: false, age: Duration::ZERO });
            self.connections.insert(who, connection);
        }
    }

    /// Reads a packet from the next connection that has one, after `start`.
    fn read_after(&mut self, start: Option<SocketAddr>, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let range = (start.map_or(Unbounded, Excluded), Unbounded);
        for (&who, connection) in self.connections.range_mut(range).filter(|(_, c)| !c.is_drained) {
            match connection.receive(buffer) {
                Ok(Some(length)) => return Some((length, who)),
                Ok(None) => connection.is_drained = true,
                Err(_) => connection.stage = ConnectionStage::Closed,
            }
        }
        None
    }
}

impl Connection {
    fn waiting((&who, connection): (&SocketAddr, &Connection)) -> Waiting {
        let has_request = matches!(connection.stage, ConnectionStage::Open { .. });
        Waiting { who, has_request, age: connection.age }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.stage {
            ConnectionStage::Open { socket, request } => match request.take() {
                Some(packet) => Ok(put(&packet, buffer)),
                None => read(socket, buffer),
            },
            ConnectionStage::Handshake(..) | ConnectionStage::Closed => Ok(None),
        }
    }

    /// Advances the handshake, or sends queued bytes.
    fn update(&mut self) {
        self.stage = match std::mem::replace(&mut self.stage, ConnectionStage::Closed) {
            ConnectionStage::Handshake(handshake, connect_request) => match handshake.handshake() {
                Ok(socket) => {
                    ConnectionStage::Open { socket: Box::new(socket), request: connect_request.0.get().cloned() }
                }
                Err(HandshakeError::Interrupted(handshake)) => {
                    ConnectionStage::Handshake(Box::new(handshake), connect_request)
                }
                Err(HandshakeError::Failure(_)) => ConnectionStage::Closed,
            },
            ConnectionStage::Open { mut socket, request } => match flush(&mut socket) {
                true => ConnectionStage::Open { socket, request },
                false => ConnectionStage::Closed,
            },
            ConnectionStage::Closed => ConnectionStage::Closed,
        };
    }
}

impl ServerSocket for WebSocketServer {
    fn update(&mut self, elapsed: Duration, lost: &mut Vec<SocketAddr>, counts: &mut Counts) {
        self.rates.advance(elapsed);
        let WebSocketServer { connections, closed, limits, .. } = self;
        connections.retain(|&who, connection| {
            connection.age = connection.age.saturating_add(elapsed);
            connection.is_drained = false;
            connection.update();
            let is_late = !connection.is_player && connection.age > limits.handshake_timeout;
            counts.too_slow += u64::from(is_late);
            let is_open = !is_late && !matches!(connection.stage, ConnectionStage::Closed);
            if !is_open {
                closed.push(who);
            }
            is_open
        });
        self.accept(counts);
        lost.append(&mut self.closed);
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

    fn trusted(&mut self, who: SocketAddr) {
        self.rates.give_back(who.ip());
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
