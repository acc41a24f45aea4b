//! The compact encoding of values: bits, numbers, tokens and deltas.

pub mod bits;
pub mod delta;
pub mod moves;
pub mod number;
pub mod token;
