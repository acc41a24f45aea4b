//! WebSocket without threads. The first packet of a client, its connection request, is in the URL (`/?creq=…`), so that
//! the server can check it before the WebSocket is open. Each other packet is one binary message. The browser client of
//! `renet2` does the same.
//!
//! `renet2` has a WebSocket server on an asynchronous runtime. This module has its own server, because it must limit
//! the resources that an unknown peer can occupy: the number and age of connections without a player, and the length of
//! a message.

mod client;
mod server;

pub(crate) use client::WebSocketClient;
pub(crate) use server::WebSocketServer;

use std::io::{self, ErrorKind};
use std::net::TcpStream;

use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

use super::put;
use super::query::MAX_PACKET;

/// The maximum number of bytes queued for a slow reader; further datagrams are dropped.
const MAX_QUEUED_BYTES: usize = 256 * 1_024;
/// The maximum number of messages without a packet that one read skips.
const MAX_SKIPPED_MESSAGES: usize = 16;

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(4 * 1_024)
        .write_buffer_size(0)
        .max_write_buffer_size(MAX_QUEUED_BYTES)
        .max_message_size(Some(MAX_PACKET))
        .max_frame_size(Some(MAX_PACKET))
}

/// Reads the next packet. An error ends the connection: [`ErrorKind::ConnectionAborted`] if the peer closed it with a
/// close message, another kind if it was lost.
fn read(socket: &mut WebSocket<TcpStream>, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    for _ in 0..MAX_SKIPPED_MESSAGES {
        match socket.read() {
            Ok(Message::Binary(packet)) => {
                if let Some(length) = put(&packet, buffer) {
                    return Ok(Some(length));
                }
            }
            Ok(Message::Close(_)) | Err(Error::ConnectionClosed) => return Err(ErrorKind::ConnectionAborted.into()),
            Ok(_) => {}
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(Error::Io(error)) => return Err(error),
            Err(_) => return Err(ErrorKind::ConnectionReset.into()),
        }
    }
    Ok(None)
}

fn write(socket: &mut WebSocket<TcpStream>, packet: &[u8]) -> io::Result<()> {
    match socket.send(Message::binary(packet.to_vec())) {
        Ok(()) => Ok(()),
        // It is in the buffer and is sent with the next write or flush.
        Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        Err(Error::WriteBufferFull(_)) => Err(ErrorKind::WouldBlock.into()),
        Err(Error::Io(error)) => Err(error),
        Err(_) => Err(ErrorKind::ConnectionAborted.into()),
    }
}

/// Sends queued bytes. Returns whether the connection is still open.
fn flush(socket: &mut WebSocket<TcpStream>) -> bool {
    match socket.flush() {
        Ok(()) => true,
        Err(Error::Io(error)) => error.kind() == ErrorKind::WouldBlock,
        Err(_) => false,
    }
}
