//! The guarantees of the network edge for HTTP clients.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use lehr_node::{CONSTRUCTOR, Constructor, Limits, Node, Policy, Rate, Settings};
use lehr_runtime::Clock;
use lehr_services::{Code, Host};
use serde_json::json;

use crate::behaviours::samples::*;
use crate::raw::{ask, poke, send};
use crate::{on_node, settings};

const JSON: &str = "content-type: application/json\r\n";

// Catalogue: 103
#[test]
fn the_state_comes_in_each_form_with_a_tag_that_writers_can_ask_for() {
    on_node(settings(), async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        books.call(put("ada", 1)).await.unwrap();
        let at = node.address();
        let json_form = ask(at, "GET /books", "", "");
        assert_eq!((json_form.status, json_form.header("content-type")), (200, Some("application/json")));
        assert_eq!(json_form.json(), json!({ "entries": { "ada": 1 }, "log": ["put ada"] }));
        let packed = ask(at, "GET /books", "accept: application/msgpack\r\n", "");
        let ledger: Ledger = lehr_services::Format::MessagePack.decode(&packed.body).unwrap();
        assert_eq!(ledger, **books.get().await.as_ref().unwrap());
        let tag = json_form.header("etag").unwrap().to_owned();
        assert_eq!(packed.header("etag"), Some(tag.as_str()));

        let known = ask(at, "GET /books", &format!("if-none-match: {tag}\r\n"), "");
        assert_eq!((known.status, known.body.len()), (304, 0));
        let body = r#"{"key":"ada","value":2}"#;
        let matching = format!("{JSON}if-match: {tag}\r\n");
        assert_eq!(ask(at, "POST /books:correct", &matching, body).json(), json!(1));
        let late = ask(at, "POST /books:correct", &matching, body);
        assert_eq!((late.status, late.text("code").as_str()), (412, "precondition_failed"));
        let foreign = ask(at, "POST /books:correct", &format!("{JSON}if-match: \"nonsense\"\r\n"), body);
        assert_eq!(foreign.status, 412);

        let replaced = ask(at, "PUT /books", JSON, r#"{"entries":{"bob":5},"log":[]}"#);
        assert_eq!((replaced.status, replaced.json()), (200, json!(null)));
        assert_eq!(ask(at, "GET /books:sum", "", "").json(), json!(5));
        assert_eq!(ask(at, "HEAD /books", "", "").body.len(), 0);
        let image = ask(at, "GET /books", "accept: image/png\r\n", "");
        assert_eq!((image.status, image.text("code").as_str()), (406, "message_not_supported"));
        assert_eq!(ask(at, "DELETE /books", "", "").status, 200);
        assert_eq!(ask(at, "GET /books", "", "").status, 404);
    });
}

// Catalogue: 104
#[test]
fn an_unknown_path_is_answered_with_what_there_is() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let answer = ask(node.address(), "GET /bucks", "", "");
        assert_eq!((answer.status, answer.header("content-type")), (404, Some("application/problem+json")));
        assert_eq!(answer.json()["services"], json!(["/books", "/directory"]));
        let index = ask(node.address(), "GET /", "", "").json();
        assert_eq!(index["services"][0]["contract"], "test/ledger");
    });
}

// Catalogue: 119
#[test]
fn what_cannot_be_meant_is_refused_with_its_reason_and_the_node_goes_on() {
    let limits = Limits { body_bytes: 1000, headers: 20, ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let put = "POST /books:put";
        let cases: [(&str, &str, &str, u16, &str); 13] = [
            (put, JSON, "{", 400, "message_not_supported"),
            (put, JSON, "{\"key\":\"a\"}", 400, "message_not_supported"),
            (put, "content-type: application/msgpack\r\n", "\u{1}xx", 400, "message_not_supported"),
            (put, "content-type: text/xml\r\n", "<a/>", 415, "message_not_supported"),
            (put, "content-type: application/json\r\ncontent-encoding: gzip\r\n", "x", 415, "message_not_supported"),
            ("POST /books:fly", JSON, "{}", 405, "action_not_supported"),
            ("PATCH /books", JSON, "{}", 405, "action_not_supported"),
            ("GET /books:put?key=a", "", "", 405, "action_not_supported"),
            ("GET /../../etc/passwd", "", "", 404, "unknown_service"),
            ("GET /books/%2e%2e/x", "", "", 404, "unknown_service"),
            (put, "lehr-timeout-ms: soon\r\n", "{}", 400, "invalid_value"),
            (put, "lehr-contract: other/thing 1.0\r\n", "{\"key\":\"a\",\"value\":1}", 409, "contract_mismatch"),
            (put, "lehr-incarnation: 1\r\n", "{\"key\":\"a\",\"value\":1}", 410, "stale_reference"),
        ];
        for (line, headers, body, status, code) in cases {
            let answer = ask(at, line, headers, body);
            assert_eq!((answer.status, answer.text("code").as_str()), (status, code), "{line} {headers:?} {body:?}");
            assert!(!answer.text("detail").is_empty());
        }
        let large = format!("{{\"key\":\"{}\",\"value\":1}}", "x".repeat(2000));
        let answer = ask(at, put, JSON, &large);
        assert_eq!((answer.status, answer.text("code").as_str()), (413, "too_large"));
        // The node counts a body without a stated length as it arrives.
        let chunks = format!(
            "{put} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
            large.len()
        );
        assert_eq!(send(at, chunks.as_bytes()).status, 413);
        let many: String = (0..100).map(|number| format!("x-{number}: y\r\n")).collect();
        assert_eq!(ask(at, "GET /books", &many, "").status, 431);
        let long = format!("x: {}\r\n", "y".repeat(200_000));
        assert_eq!(ask(at, "GET /books", &long, "").status, 431);
        for nonsense in [
            "\r\n\r\n\r\n",
            "GET\r\n\r\n",
            "\0\0\0\0\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense that is no frame at all",
        ] {
            poke(at, nonsense.as_bytes());
        }
        assert_eq!(ask(at, "GET /books", "", "").json()["log"], json!([]));
    });
}

#[test]
fn who_is_slow_with_its_headers_or_its_body_is_not_waited_for() {
    // The limits are short and the client sends nothing more, so the test ends on a machine of any speed.
    let short = std::time::Duration::from_millis(20);
    let limits = Limits { header_time: short, body_time: short, ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        for beginning in ["", "G", "GET /books HTTP/1.1\r\nhost: x\r\n"] {
            // The node closes the connection, with or without an answer.
            assert!([0, 408].contains(&send(at, beginning.as_bytes()).status), "{beginning:?}");
        }
        let body =
            format!("POST /books:put HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\ncontent-length: 30\r\n\r\n{{");
        let answer = send(at, body.as_bytes());
        // On a slow machine, even the head may have taken too long.
        assert!([0, 408].contains(&answer.status), "{answer:?}");
    });
}

#[test]
fn beyond_its_rate_and_its_places_a_client_is_told_when_to_come_again() {
    let (dispatcher, clock) = crate::dispatcher(2);
    let limits = Limits { rate: Some(Rate { per_second: 0.5, burst: 2 }), ..settings().limits };
    let node = Node::start(Host::new(dispatcher.handle()), Settings { limits, ..settings() }).unwrap();
    let health = || ask(node.address(), "GET /health", "", "");
    assert_eq!([health().status, health().status], [200, 200]);
    let refused = health();
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("2")));
    clock.advance(std::time::Duration::from_secs(2));
    assert_eq!([health().status, health().status], [200, 429]);
    drop(node);

    let limits = Limits { subscriptions: 1, ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        node.host().ready().await;
        let mut first = TcpStream::connect(node.address()).unwrap();
        write!(first, "GET /directory:events HTTP/1.1\r\nhost: {}\r\n\r\n", node.address()).unwrap();
        let mut line = String::new();
        BufReader::new(&first).read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
        let second = ask(node.address(), "GET /directory:events", "", "");
        assert_eq!((second.status, second.header("retry-after")), (503, Some("1")));
    });
}

#[test]
fn changes_are_server_sent_events() {
    on_node(settings(), async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let mut stream = TcpStream::connect(at).unwrap();
        write!(
            stream,
            "GET /books:events?operations=put&keys=ada,bob&count=1 HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        let mut next = |prefix: &str| lines.find(|line| line.starts_with(prefix)).unwrap();
        assert!(next("content-type").ends_with("text/event-stream"));
        assert_eq!(next("event: "), "event: seed");
        assert!(next("data: ").ends_with(r#""version":0,"state":{"entries":{},"log":[]}}"#));
        books.call(put("cleo", 1)).await.unwrap();
        books.call(put("bob", 2)).await.unwrap();
        assert_eq!(next("event: "), "event: change");
        let data = next("data: ");
        assert!(
            data.ends_with(
                r#""version":2,"operation":"put","verb":"upsert","key":"bob","body":{"key":"bob","value":2}}"#
            ),
            "{data}"
        );
        assert_eq!(next("event: "), "event: end");
        assert!(next("data: ").contains("\"why\":\"completed\""));
        let refused = ask(at, "GET /books:events?slow=perhaps", "", "");
        assert_eq!((refused.status, refused.text("code").as_str()), (422, "invalid_value"));
    });
}

// Catalogue: 121
#[test]
fn a_listener_for_others_needs_a_policy_or_an_explicit_word() {
    let (dispatcher, _): (_, Clock) = crate::dispatcher(1);
    let open = Settings { address: ([0, 0, 0, 0], 0).into(), ..settings() };
    let start = |settings| Node::start(Host::new(dispatcher.handle()), settings);
    assert_eq!(start(open.clone()).unwrap_err().code(), Code::PermissionDenied);
    assert!(start(Settings { is_insecure: true, ..open.clone() }).is_ok());
    assert!(start(Settings { policy: Some(Policy::default()), ..open }).is_ok());
}

// Catalogue: 112, 122
#[test]
fn what_is_denied_is_denied_whatever_else_is_allowed() {
    let policy = Policy::from_json(
        r#"{
            "callers": { "ada": { "token": "ada-has-this-token" }, "bob": { "token": "bob-has-another-one" } },
            "rules": [
                { "callers": ["ada", "bob"], "verbs": ["lookup", "get", "query"], "paths": ["/books"] },
                { "callers": ["ada"], "paths": ["/books"] },
                { "effect": "deny", "callers": ["ada"], "verbs": ["drop", "replace"] }
            ]
        }"#,
    );
    on_node(Settings { policy: Some(policy.unwrap()), ..settings() }, async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let (ada, bob) =
            ("authorization: Bearer ada-has-this-token\r\n", "authorization: bearer bob-has-another-one\r\n");
        let put = r#"{"key":"ada","value":2}"#;
        let status = |line: &str, who: &str, body: &str| ask(at, line, who, body).status;
        assert_eq!(
            [status("GET /books", ada, ""), status("GET /books", bob, ""), status("GET /books", "", "")],
            [200, 200, 401]
        );
        assert_eq!([status("POST /books:put", ada, put), status("POST /books:put", bob, put)], [200, 403]);
        assert_eq!([status("DELETE /books", ada, ""), status("PUT /books", ada, "{}")], [403, 403]);
        // A subscription to changes needs its own right.
        assert_eq!([status("GET /books:events?count=1", bob, ""), status("GET /books:sum", bob, "")], [403, 200]);
        // Rights on one path give no rights on other paths, no matter whether these exist.
        assert_eq!(
            [status("GET /directory", ada, ""), status("GET /nothing", ada, ""), status("GET /books2", ada, "")],
            [403; 3]
        );
        // A method without a meaning also does not show which paths exist.
        let allow = |line: &str| ask(at, line, ada, "").header("allow").map(str::to_owned);
        assert_eq!(allow("PATCH /directory"), allow("PATCH /nothing"));
        assert_eq!(allow("PATCH /books").as_deref(), Some("GET, HEAD, PUT, DELETE, OPTIONS"));
        assert_eq!(status("GET /books", "authorization: Bearer guessed-by-somebody\r\n", ""), 401);
        assert_eq!(status("GET /books", "authorization: Basic YTpi\r\n", ""), 401);
        assert_eq!(ask(at, "GET /books:who", ada, "").json(), json!("ada"));
        assert_eq!(ask(at, "GET /", bob, "").json()["services"].as_array().unwrap().len(), 1);
        node.host().start(CONSTRUCTOR, Constructor::default).await.unwrap();
        assert_eq!(status("POST /constructor:make", ada, r#"{"contract":"test/ledger","path":"/more"}"#), 403);
        assert!(ask(at, "GET /books", "", "").header("www-authenticate").unwrap().starts_with("Bearer"));
    });
}

#[test]
fn pages_of_other_sites_cannot_reach_a_node_on_loopback() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let evil = ask(at, "DELETE /books", "origin: http://evil.example\r\n", "");
        assert_eq!((evil.status, evil.text("code").as_str()), (403, "permission_denied"));
        let rebound = format!("GET /books HTTP/1.1\r\nhost: evil.example:{}\r\nconnection: close\r\n\r\n", at.port());
        assert_eq!(send(at, rebound.as_bytes()).status, 403);
        assert_eq!(ask(at, "GET /books", &format!("origin: http://{at}\r\n"), "").status, 200);
        for name in ["LOCALHOST", "Localhost."] {
            let named = format!("GET /books HTTP/1.1\r\nhost: {name}:{}\r\nconnection: close\r\n\r\n", at.port());
            assert_eq!(send(at, named.as_bytes()).status, 200, "{name}");
        }
        let named = format!("GET /books HTTP/1.1\r\nhost: localhost:{}\r\nconnection: close\r\n\r\n", at.port());
        assert_eq!(send(at, named.as_bytes()).status, 200);
        // Only the node itself writes to its directory.
        let withdraw = ask(at, "POST /directory:withdraw", JSON, r#"{"path":"/books","fault":null}"#);
        assert_eq!(withdraw.status, 403);
    });
}

#[test]
fn a_node_says_how_it_is() {
    on_node(settings(), async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        books.call(put("ada", 1)).await.unwrap();
        books.call(Break {}).await.unwrap_err();
        let at = node.address();
        assert_eq!(ask(at, "GET /health", "", "").json(), json!({ "status": "up" }));
        assert_eq!(ask(at, "GET /ready", "", "").status, 200);
        let metrics = String::from_utf8(ask(at, "GET /metrics", "", "").body).unwrap();
        for line in ["lehr_requests_total{service=\"/books\"} 2", "lehr_panics_total{service=\"/books\"} 1"] {
            assert!(metrics.contains(line), "{metrics}");
        }
        let options = ask(at, "OPTIONS /books", "", "");
        assert_eq!((options.status, options.header("allow")), (204, Some("GET, HEAD, PUT, DELETE, OPTIONS")));
    });
}

#[test]
fn openapi_describes_every_service() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let document = ask(node.address(), "GET /openapi.json", "", "").json();
        let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
        expect_test::expect_file!["golden/openapi.json"].assert_eq(&text);
    });
}

#[test]
fn what_would_overwrite_is_refused_and_a_list_of_tags_is_read_whole() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let tag = ask(at, "GET /books", "", "").header("etag").unwrap().to_owned();
        let put =
            |headers: &str| ask(at, "POST /books:put", &format!("{JSON}{headers}"), r#"{"key":"a","value":1}"#).status;
        assert_eq!(put("if-none-match: *\r\n"), 412);
        assert_eq!(put(&format!("if-none-match: {tag}\r\n")), 412);
        assert_eq!(put("if-match: \"x\"\r\n"), 412);
        assert_eq!(put(&format!("if-match: W/{tag}\r\n")), 412);
        assert_eq!(ask(at, "GET /books", "", "").header("etag"), Some(&*tag), "nothing was written");
        assert_eq!(ask(at, "GET /books", &format!("if-none-match: \"y\", W/{tag}\r\n"), "").status, 304);
        assert_eq!(put(&format!("if-match: \"x\", \"0-0\"\r\nif-match: {tag}\r\n")), 200);
        assert_eq!(put(&format!("if-match: \"x\", \"0-0\", {tag}\r\n")), 412, "it has another tag by now");
        assert_eq!(ask(at, "POST /books:put", JSON, r#"["b", 2]"#).status, 400);
        assert_eq!(ask(at, "GET /books/", "", "").status, 200);
    });
}

#[test]
fn a_request_is_for_one_host() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let get = |head: String| send(at, format!("{head}connection: close\r\n\r\n").as_bytes()).status;
        assert_eq!(get(format!("GET /books HTTP/1.1\r\nhost: {at}\r\n")), 200);
        assert_eq!(get(format!("GET /books HTTP/1.1\r\nhost: {at}\r\nhost: {at}\r\n")), 400);
        for wrong in [format!("{at},evil.example"), format!("{at}/x"), format!("{at} b"), format!("u@{at}")] {
            assert_eq!(get(format!("GET /books HTTP/1.1\r\nhost: {wrong}\r\n")), 400, "{wrong}");
        }
        for port in ["abc", "99999999", "-1", "8o"] {
            assert_eq!(get(format!("GET /books HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n")), 400, "{port}");
        }
        assert_eq!(get("GET /books HTTP/1.1\r\nhost: [::1]\r\n".to_owned()), 200);
        assert_eq!(get("GET /books HTTP/1.1\r\n".to_owned()), 400);
        // If the request line has a full URL, the node ignores the host header.
        assert_eq!(get(format!("GET http://{at}/books HTTP/1.1\r\nhost: elsewhere.example\r\n")), 200);
        assert_eq!(get(format!("GET http://elsewhere.example/books HTTP/1.1\r\nhost: {at}\r\n")), 403);
    });
}

#[test]
fn allow_says_what_there_is() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let allow = |line: &str| ask(at, line, "", "").header("allow").map(str::to_owned);
        assert_eq!(allow("OPTIONS /health").as_deref(), Some("GET, HEAD, OPTIONS"));
        assert_eq!(allow("OPTIONS /books:put").as_deref(), Some("POST, OPTIONS"));
        assert_eq!(allow("OPTIONS /books:sum").as_deref(), Some("GET, HEAD, POST, OPTIONS"));
        assert_eq!(allow("GET /books:put").as_deref(), Some("POST, OPTIONS"));
        assert_eq!(allow("OPTIONS /directory").as_deref(), Some("GET, HEAD, OPTIONS"));
        assert_eq!(allow("PUT /directory").as_deref(), Some("GET, HEAD, OPTIONS"));
        assert_eq!(ask(at, "HEAD /books:sum", "", "").status, 200);
    });
}
