//! What observers are sent, byte for byte, and what becomes of it on the other side.

mod figures;
mod hidden;
mod hostile;
mod model;
mod modes;
mod reading;
mod rig;
mod schedule;
