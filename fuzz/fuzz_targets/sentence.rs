//! Fuzzes `nodeproof::untrusted::sentence`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::sentence(bytes));
