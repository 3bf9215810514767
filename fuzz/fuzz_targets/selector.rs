//! Fuzzes `nodeproof::untrusted::selector`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::selector(bytes));
