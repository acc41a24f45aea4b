#![no_main]
//! Runs `net::delta` with each input and checks the limits.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ugas_fuzz::limit::hold(ugas_fuzz::net::delta, bytes));
