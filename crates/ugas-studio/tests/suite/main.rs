//! The integration tests of `ugas-studio`, one module per subject, in one program: each program is linked on its own, and
//! linking many of them took most of the time that building the tests took.

mod attach;
mod backend;
mod data;
mod figures;
mod firing_range;
#[cfg(feature = "serve")]
mod kit;
mod knowledge;
mod preview;
mod readme;
mod recording;
mod scene;
mod serve;
mod timeline;
mod traced;
