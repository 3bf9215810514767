//! Fuzzes `nodeproof::untrusted::feature`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::feature(bytes));
