//! Functions that read source text without compiling it.

pub(crate) mod rust;
