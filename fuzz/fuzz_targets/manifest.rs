//! Fuzzes manifests: each is read and planned, or refused with positions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::manifest(bytes));
