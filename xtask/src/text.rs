//! Reading source text without compiling it.

pub(crate) mod rust;
