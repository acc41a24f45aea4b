//! The difference of two token lists, in bits.
