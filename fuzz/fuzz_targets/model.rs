//! Whatever a model holds: it labels rows, or is refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::model(bytes));
