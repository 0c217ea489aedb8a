//! Whatever a file of sequences or fingerprints holds: it is read, or refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::sequences(bytes));
