#![no_main]
//! What `net::delta` says, under the limits.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ugas_fuzz::limit::hold(ugas_fuzz::net::delta, bytes));
