//! Fuzzes workbooks: each is read, or refused with a message.
#![no_main]

libfuzzer_sys::fuzz_target!(
    // The library for workbooks may panic, and the reader catches the panic. libFuzzer's hook would end the process
    // before that. A panic that no code catches still ends the process.
    init: std::panic::set_hook(Box::new(|_| ())),
    |bytes: &[u8]| lehr_fuzz::readers::table(bytes)
);
