//! Transports for the datagrams of `ugas-net`.
//!
//! A session of `ugas-net` produces and consumes datagrams. This crate sends and receives them:
//!
//! - within one process ([`memory`]);
//! - over UDP and WebSocket, with connect tokens and encryption ([`Listener`], [`Connector`]);
//! - over WebTransport, for browsers (feature `webtransport`).
//!
//! One listener serves UDP, WebSocket and WebTransport at the same time. All transports have the same interface
//! ([`ServerTransport`], [`ClientTransport`]) and send unreliable datagrams of at most [`MAX_DATAGRAM`] bytes.
//!
//! Authentication follows the netcode standard as implemented by `renetcode2`. A server or login service with the
//! secret [`Key`] issues one [`Token`] per player and connection, and the server answers only peers with a valid token.
//! This crate does not use the channels of `renet2`, because `ugas-net` has its own reliable stream.
//!
//! ```
//! use std::time::Duration;
//! use ugas_transport::{ClientTransport, Event, Limits, ServerTransport, memory};
//!
//! let mut server = memory::MemoryServer::new(Limits::default());
//! let mut client = server.connect(b"Ana")?;
//! client.send(b"hello")?;
//! let mut received = Vec::new();
//! server.poll(Duration::ZERO, &mut |event| {
//!     if let Event::Datagram(_, bytes) = event {
//!         received.push(bytes.to_vec());
//!     }
//! })?;
//! assert_eq!(received, [b"hello"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Datagrams may be lost, duplicated or reordered; `ugas-net` handles all three. This crate reads no clock: the host
//! passes the elapsed time to [`ServerTransport::poll`] and [`ClientTransport::poll`]. No call blocks, except that
//! [`Connector::connect`] and [`Connector::connect_open`] wait for the TCP connection of a WebSocket.

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod addresses;
mod bucket;
mod counts;
mod error;
mod limits;
pub mod memory;
mod netcode;
mod socket;
mod token;
mod transport;

pub use counts::Counts;
pub use error::{SendError, TransportError};
pub use limits::Limits;
pub use netcode::builder::ListenerBuilder;
pub use netcode::connector::{Connector, ConnectorConfig};
pub use netcode::listener::{Auth, Listener, ListenerConfig};
pub use token::{Identity, Key, MAX_USER_DATA, Token, TokenError, TransportKind, random_bytes};
pub use transport::{ClientTransport, CloseReason, Event, ServerTransport, State};
pub use ugas_net::types::{MAX_DATAGRAM, PeerId};

// Compiles the Rust examples of the book as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/transports.md")]
mod book_transports {}
