//! Fuzzes `nodeproof::untrusted::yaml`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::yaml(bytes));
