//! Whatever a Parquet file holds: it is read alike by each way, or refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::readers::table(bytes));
