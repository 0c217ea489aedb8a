//! Messages to a web address.

use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{Code, Fault, Host};
use lehr_sources::{PostJson, WEBHOOK, Webhook};
use serde_json::json;

use crate::stand_in::{StandIn, answer};

/// Posts a value to an address, by a service of a host.
fn post(url: &str, value: serde_json::Value) -> Result<(), Fault> {
    let dispatcher = Dispatcher::new(2).unwrap();
    let host = Host::new(dispatcher.handle());
    let webhook = Webhook::new(url)?;
    block_on(async {
        let webhook = host.start(WEBHOOK, move || webhook.clone()).await?;
        webhook.call(PostJson(value)).await
    })
}

#[test]
fn a_value_is_posted_as_json() {
    let stand_in = StandIn::new(|_, _| answer("204 No Content", "", b""));
    let value = json!({ "text": "done: 3 clusters, 0.5 ‰" });
    post(&stand_in.url("/hooks/3f9?room=1"), value.clone()).unwrap();
    let asked = stand_in.requests();
    assert_eq!((asked.len(), asked[0].line.as_str()), (1, "POST /hooks/3f9?room=1"));
    assert_eq!(asked[0].header("content-type"), Some("application/json"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&asked[0].body).unwrap(), value);
}

#[test]
fn a_refusal_says_which_host_and_why_and_never_the_secret_path() {
    let long = "x".repeat(200);
    for (status, body, code) in [
        ("404 Not Found", "nothing there", Code::OperationFailed),
        ("429 Too Many Requests", "later", Code::Unavailable),
        ("503 Service Unavailable", long.as_str(), Code::Unavailable),
    ] {
        let told = body.to_owned();
        let stand_in = StandIn::new(move |_, _| answer(status, "", told.as_bytes()));
        let fault = post(&stand_in.url("/secret"), json!(1)).unwrap_err();
        assert_eq!(fault.code(), code);
        let (number, shown) = (&status[..3], &body[..body.len().min(80)]);
        assert_eq!(fault.reason(), format!("{} answers {number}: {shown:?}", stand_in.address));
    }
    // A server that repeats the path.
    for body in ["Cannot POST /secret", "{\"path\": \"secret\"}"] {
        let stand_in = StandIn::new(move |_, _| answer("404 Not Found", "", body.as_bytes()));
        let fault = post(&stand_in.url("/secret"), json!(1)).unwrap_err();
        assert_eq!(fault.reason(), format!("{} answers 404", stand_in.address));
    }
    let other = StandIn::new(|_, _| answer("204 No Content", "", b""));
    let location = format!("location: {}\r\n", other.url("/"));
    let stand_in = StandIn::new(move |_, _| answer("302 Found", &location, b""));
    assert_eq!(post(&stand_in.url("/secret"), json!(1)).unwrap_err().code(), Code::PermissionDenied);
    assert!(other.requests().is_empty(), "a message goes to no other host");
}

#[test]
fn what_is_no_address_is_refused_before_anything_is_sent() {
    for url in ["", "chat", "file:///etc/secret", "/secret", "ftp://chat.example.org/secret"] {
        let fault = Webhook::new(url).unwrap_err();
        assert_eq!(fault.code(), Code::InvalidValue, "{url:?}");
        assert!(!fault.reason().contains("secret"), "{}", fault.reason());
    }
}
