//! Replication and prediction for `ugas` sims: an authoritative server, predicting clients, and the datagrams between
//! them.
//!
//! The server owns the state. A client predicts its own controllers with the same code as the server. When the server's
//! state arrives, the client compares it with the prediction. If they differ, the client rolls back and resimulates in
//! the same tick.
//!
//! - [`server::Server`] and [`client::Client`]: the sessions of the server and of a client;
//! - [`client::Client::command`]: sends a [`message::Request`] of the player;
//! - [`client::NetFacts`]: the facts of a client, each with its certainty;
//! - [`harness::Harness`]: a server and its clients over simulated links ([`link::Link`]) in virtual time, for tests of
//!   games;
//! - [`authority::TargetPolicy`], [`interest::Relevance`]: traits with which a host extends target checks and interest
//!   management.
//!
//! The crate opens no socket, reads no clock and starts no thread: the host passes datagrams and elapsed time to the
//! sessions. A test can therefore run a complete session in virtual time ([`link`], [`harness`]), and any transport can
//! be used to send the datagrams.

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod authority;
pub mod client;
mod confirm;
mod frames;
pub mod harness;
pub mod interest;
#[doc(hidden)]
pub mod internals;
pub mod link;
pub mod mask;
pub mod message;
mod op_ids;
mod policy;
mod reload;
mod rolls;
pub mod server;
pub mod types;

// The modules of `internals` under their short names.
pub use internals::carrier::ConnectionConfig;
use internals::{carrier, view, wire};

#[cfg(doctest)]
#[doc = include_str!("../../../book/src/network.md")]
mod book {}
