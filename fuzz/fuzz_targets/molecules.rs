//! Fuzzes files of molecules: each is read, or refused with a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::molecules(bytes));
