//! Carriers for the datagrams of `ugas-net`.
//!
//! A session of `ugas-net` takes and gives datagrams and never asks how they travel. Here is how: in one process
//! ([`memory`]), over UDP and WebSocket with connect tokens and encryption ([`Listener`], [`Caller`]), and, with the
//! feature `webtransport`, for browsers over WebTransport. One listener serves all of them at once. All carriers look
//! the same to a host ([`ServerTransport`], [`ClientTransport`]): unreliable datagrams of at most
//! [`MAX_DATAGRAM`] bytes between peers that have shown who they are.
//!
//! Security is the netcode standard of `renetcode2`: whoever holds the [`Key`] issues a [`Token`] for one player, and
//! only who has a token is answered. The channels of `renet2` are not used: `ugas-net` has its own acknowledgements, and
//! a second layer would only cost bytes and read foreign bytes once more.
//!
//! ```
//! use std::time::Duration;
//! use ugas_transport::{ClientTransport, Event, Limits, ServerTransport, memory};
//!
//! let mut server = memory::MemoryServer::new(Limits::default());
//! let mut client = server.connect(b"Ana")?;
//! client.send(b"hello")?;
//! let mut heard = Vec::new();
//! server.poll(Duration::ZERO, &mut |event| {
//!     if let Event::Datagram(_, bytes) = event {
//!         heard.push(bytes.to_vec());
//!     }
//! })?;
//! assert_eq!(heard, [b"hello"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: reliability, order, clocks. Time goes by as the host says ([`ServerTransport::poll`]); only a
//! WebSocket client waits, once, for its connection to be made.

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
pub use netcode::caller::{Caller, CallerConfig};
pub use netcode::listener::{Auth, Listener, ListenerBuilder, ListenerConfig};
pub use token::{Carrier, Identity, Key, MAX_USER_DATA, Token, TokenError, random_bytes};
pub use transport::{ClientTransport, Event, Gone, ServerTransport, State};
pub use ugas_net::types::{MAX_DATAGRAM, PeerId};

// What the book shows in Rust is compiled with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/transports.md")]
mod book_transports {}
