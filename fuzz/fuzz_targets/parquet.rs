//! Fuzzes Parquet files: all ways to read a file give the same result, or refuse it with a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::table(bytes));
