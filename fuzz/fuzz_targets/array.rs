//! Fuzzes arrays: each is read as rows of numbers or of bits, or refused with a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::array(bytes));
