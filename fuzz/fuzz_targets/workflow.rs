//! Fuzzes workflow files: each is read, or refused with positions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::workflow(bytes));
