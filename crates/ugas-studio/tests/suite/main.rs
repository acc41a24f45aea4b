//! The integration tests of `ugas-studio`, one module per subject. They are one program, because each test program is
//! linked separately, and linking took most of the build time.

mod attach;
mod backend;
mod capability;
mod data;
mod demo;
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
