#![no_main]
//! What `body::yaml` says, under the limits.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ugas_fuzz::limit::hold(ugas_fuzz::body::yaml, bytes));
