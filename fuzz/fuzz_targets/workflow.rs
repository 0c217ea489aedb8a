//! Whatever a workflow file holds: it is read, or refused with places.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::workflow(bytes));
