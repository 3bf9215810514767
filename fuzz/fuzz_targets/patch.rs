//! Fuzzes `nodeproof::untrusted::patch`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::patch(bytes));
