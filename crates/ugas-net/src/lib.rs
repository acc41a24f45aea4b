//! Replication and prediction for `ugas` sims: world changes become datagrams, datagrams become world changes.
//!
//! A game with a server needs the same rules on two machines that never agree on the time. This crate makes the one
//! the authority and lets the other act at once: a client runs its own controller ahead with the same code, the server
//! says what really happened, and what differs is rolled back and replayed within the tick it is heard of.
//!
//! - [`server::Server`] and [`client::Client`]: the two sessions; [`client::Client::command`] takes a [`message::Request`];
//! - [`client::NetFacts`]: what a client hears, each fact with how sure it is;
//! - [`harness::Harness`]: both over a [`link::LinkProfile`] in virtual time, for tests of games;
//! - [`authority::Reach`], [`interest::Relevance`]: what a host adds to what may be reached and who is told of whom.
//!
//! Nothing here opens a socket, reads a clock or starts a thread: a host passes datagrams and ticks in and out, so that
//! a test can run a whole session in virtual time ([`link`], [`harness`]) and any transport can carry it.

pub mod authority;
pub mod carrier;
pub mod client;
mod echo;
pub mod harness;
pub mod interest;
pub mod link;
pub mod mask;
pub mod message;
mod policy;
pub mod server;
pub mod types;
pub mod view;
pub mod wire;

#[cfg(doctest)]
#[doc = include_str!("../../../book/src/network.md")]
mod book {}
