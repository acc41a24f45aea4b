//! ugas-core
