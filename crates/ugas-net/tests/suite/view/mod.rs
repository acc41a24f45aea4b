//! The data sent to observers, byte for byte, and the proxies made from it.

mod figures;
mod hidden;
mod holdings;
mod hostile;
mod model;
mod modes;
mod reading;
pub(crate) mod rig;
mod schedule;
