//! Tests of the transports through their public interface.

mod admission;
mod echo;
mod hostile;
mod rig;
#[cfg(feature = "webtransport")]
mod webtransport;
