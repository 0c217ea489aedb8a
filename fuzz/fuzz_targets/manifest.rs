//! Whatever a manifest holds: it is read and planned, or refused with places.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::manifest(bytes));
