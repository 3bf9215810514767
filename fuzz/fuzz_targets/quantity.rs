//! Fuzzes `nodeproof::untrusted::quantity`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nodeproof::untrusted::quantity(bytes));
