//! Fuzzes connections: the node answers or closes them, and never reports an internal error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::edge(bytes));
