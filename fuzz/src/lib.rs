//! Fuzz targets: untrusted files and packets must be read or rejected, within limits of time and memory.
//!
//! The bodies of the targets are separate from the fuzzer, so that tests of the workspace replay every corpus through the same
//! code without a fuzzer and without a nightly compiler.

pub mod body;
pub mod giants;
pub mod limit;
pub mod net;
pub mod profiles;
