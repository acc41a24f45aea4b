//! The netcode standard over any socket: tokens, a challenge, then sealed packets that cannot be replayed.

pub(crate) mod connector;
pub(crate) mod listener;
mod packet;

/// The longest packet: a payload with its prefix, sequence and seal, or a request to connect.
const MAX_PACKET: usize = 1_400;
