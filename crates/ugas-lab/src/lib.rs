//! ugas-lab
