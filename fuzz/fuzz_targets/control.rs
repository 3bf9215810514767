//! Fuzzes `nodeproof::untrusted::control`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::control(bytes));
