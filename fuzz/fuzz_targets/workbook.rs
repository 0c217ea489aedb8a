//! Whatever a workbook holds: it is read, or refused in words.
#![no_main]

libfuzzer_sys::fuzz_target!(
    // The library for workbooks may panic, which the reader catches. libFuzzer's hook would end the process before. A panic that
    // nobody catches ends it all the same.
    init: std::panic::set_hook(Box::new(|_| ())),
    |bytes: &[u8]| lehr_fuzz::readers::table(bytes)
);
