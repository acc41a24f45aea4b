//! ugas-data
