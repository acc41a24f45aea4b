//! WebSocket without threads: each packet is one binary message. The first packet of a client, its request to connect,
//! stands in the address it asks for (`/?creq=…`), so that a server knows whom it talks to before the line is open; this
//! is what the browser client of `renet2` does too.
//!
//! `renet2` has a server of its own on an asynchronous runtime. This one takes its place because it bounds what a
//! stranger can hold: lines that are not open yet, their age, and the length of a message.

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
/// What may wait for a reader that is slow; then datagrams are dropped.
const MAX_WAITING: usize = 256 * 1_024;
/// How many messages that are no packets one read passes over.
const PASSED_OVER: usize = 16;
const REQUEST_KEY: &str = "creq=";

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(4 * 1_024)
        .write_buffer_size(0)
        .max_write_buffer_size(MAX_WAITING)
        .max_message_size(Some(MAX_PACKET))
        .max_frame_size(Some(MAX_PACKET))
}

/// The next packet on an open line; an error ends it.
fn read(line: &mut WebSocket<TcpStream>, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    for _ in 0..PASSED_OVER {
        match line.read() {
            Ok(Message::Binary(packet)) => {
                if let Some(length) = put(&packet, buffer) {
                    return Ok(Some(length));
                }
            }
            Ok(Message::Close(_)) => return Err(ErrorKind::ConnectionAborted.into()),
            Ok(_) => {}
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(Error::Io(error)) => return Err(error),
            Err(_) => return Err(ErrorKind::ConnectionAborted.into()),
        }
    }
    Ok(None)
}

fn write(line: &mut WebSocket<TcpStream>, packet: &[u8]) -> io::Result<()> {
    match line.send(Message::binary(packet.to_vec())) {
        Ok(()) => Ok(()),
        // It is in the buffer and goes with the next write or flush.
        Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        Err(Error::WriteBufferFull(_)) => Err(ErrorKind::WouldBlock.into()),
        Err(Error::Io(error)) => Err(error),
        Err(_) => Err(ErrorKind::ConnectionAborted.into()),
    }
}

/// Whether the line still stands after writing what waits.
fn flush(line: &mut WebSocket<TcpStream>) -> bool {
    match line.flush() {
        Ok(()) => true,
        Err(Error::Io(error)) => error.kind() == ErrorKind::WouldBlock,
        Err(_) => false,
    }
}

/// A packet in the query of an address: letters, digits and `-_.~` as they are, the rest as `%XX`.
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

/// The packet in the query of an address, if there is one of possible length.
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
        fn a_packet_survives_the_query(packet in prop::collection::vec(any::<u8>(), 0..MAX_PACKET)) {
            let query = to_query(&packet);
            prop_assert!(query.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(from_query(&query), Some(packet));
        }

        #[test]
        fn any_query_is_read_without_harm(query in ".{0,200}") {
            let _ = from_query(&query);
            let _ = from_query(&format!("creq={query}"));
        }
    }

    #[test]
    fn a_query_too_long_or_cut_is_none() {
        assert_eq!(from_query(&to_query(&[7; MAX_PACKET + 1])), None);
        assert_eq!(from_query("creq=%4"), None);
        assert_eq!(from_query("a=b"), None);
        assert_eq!(from_query("a=b&creq=%41bc&d=e"), Some(b"Abc".to_vec()));
    }
}
