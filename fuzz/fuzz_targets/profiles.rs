#![no_main]
//! Runs `profiles::profiles` with each input and checks the limits.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ugas_fuzz::limit::hold(ugas_fuzz::profiles::profiles, bytes));
