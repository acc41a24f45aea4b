//! Single bits, written and read.
