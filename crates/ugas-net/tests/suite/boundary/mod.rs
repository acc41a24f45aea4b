//! The boundary of the server: every line of the list of what a client could try, as a test of its own. An attack is
//! counted by reason and changes nothing else.

mod clock;
mod identity;
mod keys;
mod mutated;
mod packets;
mod policy;
mod refusals;
mod requests;
mod rig;
