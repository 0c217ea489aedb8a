//! Whatever an operator writes: a policy, filters of the log, the address of a node. It is taken or refused, with a
//! reason.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::settings(bytes));
