#![no_main]
//! What `body::json` says, under the limits.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ugas_fuzz::limit::hold(ugas_fuzz::body::json, bytes));
