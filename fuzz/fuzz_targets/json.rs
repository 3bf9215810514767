//! Fuzzes `nodeproof::untrusted::json`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::json(bytes));
