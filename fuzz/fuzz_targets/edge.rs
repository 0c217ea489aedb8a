//! Whatever bytes come over a connection: the node answers or closes, and never with a fault of its own.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::edge(bytes));
