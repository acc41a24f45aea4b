#![no_main]
//! What `net::carrier` says, under the limits.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ugas_fuzz::limit::hold(ugas_fuzz::net::carrier, bytes));
