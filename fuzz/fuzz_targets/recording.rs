//! Fuzzes `nodeproof::untrusted::recording`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::recording(bytes));
