//! The side that calls. The connection is made when the transport is; the handshake waits for netcode's first packet.

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
    /// Waits for the connection at most so long.
    pub(crate) fn connect(server: SocketAddr, patience: Duration) -> io::Result<WebSocketClient> {
        let stream = TcpStream::connect_timeout(&server, patience)?;
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(WebSocketClient { server, stage: Stage::Connected(stream) })
    }

    fn ask(server: SocketAddr, stream: TcpStream, request: &[u8]) -> Stage {
        let address = format!("ws://{server}/?{}", to_query(request));
        let Ok(request) = address.into_client_request() else { return Stage::Closed };
        match client_with_config(request, stream, Some(config())) {
            Ok((line, _)) => Stage::Open(Box::new(line)),
            Err(HandshakeError::Interrupted(handshake)) => Stage::Handshake(handshake),
            Err(HandshakeError::Failure(_)) => Stage::Closed,
        }
    }

    fn go_on(&mut self) {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Closed) {
            Stage::Handshake(handshake) => match handshake.handshake() {
                Ok((line, _)) => Stage::Open(Box::new(line)),
                Err(HandshakeError::Interrupted(handshake)) => Stage::Handshake(handshake),
                Err(HandshakeError::Failure(_)) => Stage::Closed,
            },
            Stage::Open(mut line) => match flush(&mut line) {
                true => Stage::Open(line),
                false => Stage::Closed,
            },
            stage @ (Stage::Connected(_) | Stage::Closed) => stage,
        };
    }
}

impl ClientSocket for WebSocketClient {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        self.go_on();
        let read = match &mut self.stage {
            Stage::Connected(_) | Stage::Handshake(_) => Ok(None),
            Stage::Open(line) => read(line, buffer),
            Stage::Closed => Err(ErrorKind::ConnectionAborted.into()),
        };
        if read.is_err() {
            self.stage = Stage::Closed;
        }
        read.map(|length| length.map(|length| (length, self.server)))
    }

    fn send(&mut self, _to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        match std::mem::replace(&mut self.stage, Stage::Closed) {
            Stage::Connected(stream) => self.stage = WebSocketClient::ask(self.server, stream, packet),
            // Netcode asks again until it is answered; the first request is on its way.
            Stage::Handshake(handshake) => self.stage = Stage::Handshake(handshake),
            Stage::Open(mut line) => {
                let sent = write(&mut line, packet);
                if sent.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::WouldBlock) {
                    self.stage = Stage::Open(line);
                }
                return sent;
            }
            Stage::Closed => return Err(ErrorKind::ConnectionAborted.into()),
        }
        Ok(())
    }
}
