//! ugas-cli
