//! Fuzzes settings of an operator: a policy, filters of the log, and the address of a node. Each is accepted, or
//! refused with a reason.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lehr_fuzz::settings(bytes));
