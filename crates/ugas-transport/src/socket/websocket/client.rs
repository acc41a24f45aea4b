//! The WebSocket client. It opens the TCP connection when it is created, and starts the WebSocket handshake with the
//! first packet of netcode.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tungstenite::client::{IntoClientRequest, client_with_config};
use tungstenite::handshake::client::ClientHandshake;
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::{Error, WebSocket};

use super::super::ClientSocket;
use super::super::query::to_query;
use super::{config, flush, read, write};

pub(crate) struct WebSocketClient {
    server: SocketAddr,
    stage: ClientStage,
}

enum ClientStage {
    Connected(TcpStream),
    Handshake(MidHandshake<ClientHandshake<TcpStream>>),
    Open(Box<WebSocket<TcpStream>>),
    /// The connection ended: [`ErrorKind::ConnectionAborted`] if the server closed it, another kind if it was lost.
    Closed(ErrorKind),
}

impl ClientStage {
    const LOST: ClientStage = ClientStage::Closed(ErrorKind::ConnectionReset);

    /// Returns the stage after a failed handshake. A server that answers with an HTTP error closes the connection.
    fn failed(error: &Error) -> ClientStage {
        if let Error::Http(_) = error { ClientStage::Closed(ErrorKind::ConnectionAborted) } else { ClientStage::LOST }
    }
}

impl WebSocketClient {
    /// Connects, with a timeout.
    pub(crate) fn connect(server: SocketAddr, connect_timeout: Duration) -> io::Result<WebSocketClient> {
        let stream = TcpStream::connect_timeout(&server, connect_timeout)?;
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(WebSocketClient { server, stage: ClientStage::Connected(stream) })
    }

    /// Starts the handshake with the connection request in the URL.
    fn start_handshake(server: SocketAddr, stream: TcpStream, request: &[u8]) -> ClientStage {
        let address = format!("ws://{server}/?{}", to_query(request));
        let Ok(request) = address.into_client_request() else { return ClientStage::LOST };
        match client_with_config(request, stream, Some(config())) {
            Ok((socket, _)) => ClientStage::Open(Box::new(socket)),
            Err(HandshakeError::Interrupted(handshake)) => ClientStage::Handshake(handshake),
            Err(HandshakeError::Failure(error)) => ClientStage::failed(&error),
        }
    }

    /// Continues the handshake, or flushes the open connection.
    fn advance(&mut self) {
        self.stage = match std::mem::replace(&mut self.stage, ClientStage::LOST) {
            ClientStage::Handshake(handshake) => match handshake.handshake() {
                Ok((socket, _)) => ClientStage::Open(Box::new(socket)),
                Err(HandshakeError::Interrupted(handshake)) => ClientStage::Handshake(handshake),
                Err(HandshakeError::Failure(error)) => ClientStage::failed(&error),
            },
            ClientStage::Open(mut socket) => match flush(&mut socket) {
                true => ClientStage::Open(socket),
                false => ClientStage::LOST,
            },
            stage @ (ClientStage::Connected(_) | ClientStage::Closed(_)) => stage,
        };
    }
}

impl ClientSocket for WebSocketClient {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        self.advance();
        let read = match &mut self.stage {
            ClientStage::Connected(_) | ClientStage::Handshake(_) => Ok(None),
            ClientStage::Open(socket) => read(socket, buffer),
            ClientStage::Closed(kind) => Err((*kind).into()),
        };
        if let Err(error) = &read {
            self.stage = ClientStage::Closed(error.kind());
        }
        read.map(|length| length.map(|length| (length, self.server)))
    }

    fn send(&mut self, _to: SocketAddr, packet: &[u8]) -> io::Result<()> {
        match std::mem::replace(&mut self.stage, ClientStage::LOST) {
            ClientStage::Connected(stream) => {
                self.stage = WebSocketClient::start_handshake(self.server, stream, packet)
            }
            // Netcode repeats its request until it is answered; the first one is in flight.
            ClientStage::Handshake(handshake) => self.stage = ClientStage::Handshake(handshake),
            ClientStage::Open(mut socket) => {
                let sent = write(&mut socket, packet);
                if sent.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::WouldBlock) {
                    self.stage = ClientStage::Open(socket);
                }
                return sent;
            }
            ClientStage::Closed(kind) => {
                self.stage = ClientStage::Closed(kind);
                return Err(kind.into());
            }
        }
        Ok(())
    }
}
