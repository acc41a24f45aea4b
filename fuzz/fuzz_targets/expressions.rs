#![no_main]
//! What `body::expressions` says, under the limits.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ugas_fuzz::limit::hold(ugas_fuzz::body::expressions, bytes));
