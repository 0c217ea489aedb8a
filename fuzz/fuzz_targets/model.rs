//! Fuzzes models: each labels rows, or is refused with a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::model(bytes));
