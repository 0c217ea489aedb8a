//! Whatever an array holds: it is read as rows of numbers or of bits, or refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::array(bytes));
