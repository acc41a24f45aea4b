//! Carriers from outside: what goes through, what does not, and who notices.

mod echo;
mod hostile;
mod rig;
#[cfg(feature = "webtransport")]
mod webtransport;
