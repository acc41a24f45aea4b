//! Replication and prediction for `ugas` sims: an authoritative server, predicting clients, and the datagrams between them.
//!
//! The server owns the state. A client predicts its own controllers with the same code, compares with the server's state
//! when it arrives, and rolls back and resimulates where they differ, within the tick it receives it.
//!
//! - [`server::Server`] and [`client::Client`]: the two sessions; [`client::Client::command`] takes a [`message::Request`];
//! - [`client::NetFacts`]: the facts of a client, each with its certainty;
//! - [`harness::Harness`]: both over a [`link::LinkProfile`] in virtual time, for tests of games;
//! - [`authority::TargetPolicy`], [`interest::Relevance`]: what a host adds to target checks and to interest management.
//!
//! The crate opens no socket, reads no clock and starts no thread: a host passes datagrams and ticks in and out. A test can
//! run a complete session in virtual time ([`link`], [`harness`]), and any transport can move the datagrams.

pub mod authority;
pub mod client;
mod confirm;
pub mod harness;
pub mod interest;
#[doc(hidden)]
pub mod internals;
pub mod link;
pub mod mask;
pub mod message;
mod policy;
pub mod server;
pub mod types;

// The modules of `internals` under their short names.
pub use internals::carrier::ConnectionConfig;
use internals::{carrier, view, wire};

#[cfg(doctest)]
#[doc = include_str!("../../../book/src/network.md")]
mod book {}
