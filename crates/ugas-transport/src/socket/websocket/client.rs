//! The WebSocket client. It opens the TCP connection when it is created, and starts the WebSocket handshake with the
//! first packet of netcode.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tungstenite::WebSocket;
use tungstenite::client::{IntoClientRequest, client_with_config};
use tungstenite::handshake::client::ClientHandshake;
use tungstenite::handshake::{HandshakeError, MidHandshake};

use super::super::ClientSocket;
use super::{config, flush, read, to_query, write};

pub(crate) struct WebSocketClient {
    server: SocketAddr,
    stage: Stage,
}

enum Stage {
    Connected(TcpStream),
    Handshake(MidHandshake<ClientHandshake<TcpStream>>),
    Open(Box<WebSocket<TcpStream>>),
    Closed,
}

impl WebSocketClient {
    /// Connects, with a timeout.
    pub(crate) fn connect(server: SocketAddr, connect_timeout: Duration) -> io::Result<WebSocketClient> {
        let stream = TcpStream::connect_timeout(&server, connect_timeout)?;
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(WebSocketClient { server, stage: Stage::Connected(stream) })
    }

    /// Starts the handshake with the connection request in the URL.
    fn start_handshake(server: SocketAddr, stream: TcpStream, request: &[u8]) -> Stage {
        let address = format!("ws://{server}/?{}", to_query(request));
        let Ok(request) = address.into_client_request() else { return Stage::Closed };
        match client_with_config(request, stream, Some(config())) {
            Ok((socket, _)) => Stage::Open(Box::new(socket)),
            Err(HandshakeError::Interrupted(handshake)) => Stage::Handshake(handshake),
            Err(HandshakeError::Failure(_)) => Stage::Closed,
        }
    }

    /// Continues the handshake, or flushes the open connection.
    fn advance(&mut self) {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Closed) {
            Stage::Handshake(handshake) => match handshake.handshake() {
                Ok((socket, _)) => Stage::Open(Box::new(socket)),
                Err(HandshakeError::Interrupted(handshake)) => Stage::Handshake(handshake),
                Err(HandshakeError::Failure(_)) => Stage::Closed,
            },
            Stage::Open(mut socket) => match flush(&mut socket) {
                true => Stage::Open(socket),
                false => Stage::Closed,
            },
            stage @ (Stage::Connected(_) | Stage::Closed) => stage,
        };
    }
}

impl ClientSocket for WebSocketClient {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        self.advance();
        let read = match &mut self.stage {
            Stage::Connected(_) | Stage::Handshake(_) => Ok(None),
            Stage::Open(socket) => read(socket, buffer),
            Stage::Closed => Err(ErrorKind::ConnectionAborted.into()),
        };
        if read.is_err() {
            self.stage = Stage::Closed;
        }
        read.map(|length| length.map(|length| (length, self.server)))
    }

    fn send(&mut self, _to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        match std::mem::replace(&mut self.stage, Stage::Closed) {
            Stage::Connected(stream) => self.stage = WebSocketClient::start_handshake(self.server, stream, packet),
            // Netcode repeats its request until it is answered; the first one is in flight.
            Stage::Handshake(handshake) => self.stage = Stage::Handshake(handshake),
            Stage::Open(mut socket) => {
                let sent = write(&mut socket, packet);
                if sent.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::WouldBlock) {
                    self.stage = Stage::Open(socket);
                }
                return sent;
            }
            Stage::Closed => return Err(ErrorKind::ConnectionAborted.into()),
        }
        Ok(())
    }
}
