//! The netcode standard over any socket: tokens, a challenge, then encrypted packets with replay protection.

pub(crate) mod connector;
pub(crate) mod listener;
mod packet;

/// The longest packet: a payload with its prefix, sequence and authentication tag, or a connection request.
const MAX_PACKET: usize = 1_400;
