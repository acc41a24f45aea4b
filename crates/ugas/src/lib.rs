//! ugas
