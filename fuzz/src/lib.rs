//! What files and packets from strangers may do: nothing but be read or refused, quickly and in little memory.
//!
//! The bodies of the targets stand apart from the machinery around them, so that a test of the workspace replays every
//! corpus through the same code without a fuzzer and without a nightly compiler.

pub mod body;
pub mod giants;
pub mod limit;
pub mod net;
