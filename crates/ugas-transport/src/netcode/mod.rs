//! The netcode standard over any socket: tokens, a challenge, then encrypted packets with replay protection.

mod admission;
pub(crate) mod builder;
pub(crate) mod connector;
mod cookie;
pub(crate) mod listener;
mod packet;
mod request;
mod ticket;

pub(crate) use request::rejoin_key;

/// The longest packet: a payload with its prefix, sequence and authentication tag, or a connection request.
const MAX_PACKET: usize = 1_400;
