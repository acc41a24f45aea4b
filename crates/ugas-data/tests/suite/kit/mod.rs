//! What the tests of this crate share.

pub(crate) mod folder;
pub(crate) mod style;
