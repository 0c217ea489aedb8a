//! Whatever a workbook holds: it is read, or refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::table(bytes));
