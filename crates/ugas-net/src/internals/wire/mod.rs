//! Bits, numbers and structural differences: how values become few bytes.

pub mod bits;
pub mod delta;
pub mod number;
pub mod token;
