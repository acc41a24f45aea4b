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

/// The longest packet of netcode.
const MAX_PACKET: usize = 1_400;
/// The maximum number of bytes queued for a slow reader; further datagrams are dropped.
const MAX_QUEUED_BYTES: usize = 256 * 1_024;
/// The maximum number of messages without a packet that one read skips.
const MAX_SKIPPED_MESSAGES: usize = 16;
const REQUEST_KEY: &str = "creq=";

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

/// Encodes a packet as the query of a URL: letters, digits and `-_.~` unchanged, the rest as `%XX`.
fn to_query(packet: &[u8]) -> String {
    let mut text = String::with_capacity(REQUEST_KEY.len() + packet.len() * 3);
    text.push_str(REQUEST_KEY);
    for &byte in packet {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => text.push(byte.into()),
            _ => {
                let digit = |value: u8| char::from_digit(value as u32, 16).unwrap_or('0').to_ascii_uppercase();
                text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    text
}

/// Decodes the packet in the query of a URL. Returns `None` if the query has no packet or the packet is too long.
fn from_query(query: &str) -> Option<Vec<u8>> {
    let (_, text) = query.split_once(REQUEST_KEY)?;
    let mut packet = Vec::with_capacity(text.len().min(MAX_PACKET));
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |byte: Option<u8>| char::from(byte?).to_digit(16).map(|value| value as u8);
        packet.push(match byte {
            b'&' => break,
            b'%' => hex(bytes.next())? << 4 | hex(bytes.next())?,
            plain => plain,
        });
        if packet.len() > MAX_PACKET {
            return None;
        }
    }
    Some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_round_trips_through_the_query(packet in prop::collection::vec(any::<u8>(), 0..MAX_PACKET)) {
            let query = to_query(&packet);
            prop_assert!(query.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(from_query(&query), Some(packet));
        }

        #[test]
        fn arbitrary_queries_do_not_panic(query in ".{0,200}") {
            let _ = from_query(&query);
            let _ = from_query(&format!("creq={query}"));
        }
    }

    #[test]
    fn a_query_that_is_too_long_or_truncated_is_rejected() {
        assert_eq!(from_query(&to_query(&[7; MAX_PACKET + 1])), None);
        assert_eq!(from_query("creq=%4"), None);
        assert_eq!(from_query("a=b"), None);
        assert_eq!(from_query("a=b&creq=%41bc&d=e"), Some(b"Abc".to_vec()));
    }
}
