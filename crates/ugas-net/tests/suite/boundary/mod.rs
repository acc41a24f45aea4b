//! The boundary of the server: one test per entry of the list of attacks. An attack is counted by reason and changes nothing
//! else.

mod anomaly;
mod answers;
mod clock;
mod effects;
mod identity;
mod keys;
mod movement;
mod mutated;
mod packets;
mod policy;
mod refusals;
mod requests;
mod rig;

pub(crate) use rig::payload;
