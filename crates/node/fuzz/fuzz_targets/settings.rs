//! Whatever an operator writes: a policy, filters of the log, the address of a node. It is taken or refused, with a reason.
#![no_main]

use lehr_node::{Client, Log, Policy};
use lehr_services::Verb;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Policy::from_json(text) {
        Err(fault) => assert!(!fault.reason().is_empty()),
        Ok(policy) => {
            let _ = policy.caller(Some(text));
            let _ = policy.check("anonymous", Verb::Get, text, text);
        }
    }
    if let Ok(log) = Log::new(text, |_| ()) {
        assert_eq!(log.filters(), text);
    }
    let _ = Client::new(Some(text)).map(|client| client.link(text).is_ok());
});
