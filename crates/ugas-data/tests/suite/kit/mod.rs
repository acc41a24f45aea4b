//! Shared by the tests of this crate.

pub(crate) mod folder;
pub(crate) mod style;
