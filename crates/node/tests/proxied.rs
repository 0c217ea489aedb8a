//! Browsers, proxies and plain clients: the features of HTTP beyond requests and answers.

use std::io::{Read, Write};
use std::net::TcpStream;

use flate2::read::GzDecoder;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lehr_node::{Client, Limits, Origins, Policy, Rate, Settings};
use lehr_services::{Event, Reference, Subscribe};
use serde_json::json;

use crate::behaviours::samples::*;
use crate::raw::{ask, send};
use crate::{FOR_EVER, on_node, settings};

#[test]
fn a_page_of_an_allowed_origin_may_ask_and_is_told_so() {
    let origins = Origins::new(["https://lab.example.org"]).unwrap();
    on_node(Settings { origins, ..settings() }, async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let page = "origin: https://lab.example.org\r\n";
        let allowed = ask(at, "GET /books", page, "");
        assert_eq!(
            (allowed.status, allowed.header("access-control-allow-origin")),
            (200, Some("https://lab.example.org"))
        );
        assert!(allowed.header("access-control-expose-headers").unwrap().contains("etag"));
        let refused = ask(at, "GET /nothing", page, "");
        assert_eq!(
            (refused.status, refused.header("access-control-allow-origin")),
            (404, Some("https://lab.example.org"))
        );
        let preflight = ask(at, "OPTIONS /books:put", &format!("{page}access-control-request-method: POST\r\n"), "");
        assert_eq!(preflight.status, 204);
        assert!(preflight.header("access-control-allow-methods").unwrap().contains("POST"));
        assert!(preflight.head.to_lowercase().contains("access-control-allow-headers: authorization"));
        let other = ask(at, "GET /books", "origin: https://evil.example\r\n", "");
        assert_eq!((other.status, other.header("access-control-allow-origin")), (403, None));
        // The proxy passes on its public name in the host header.
        let named = |host: &str| {
            send(at, format!("GET /books HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").as_bytes()).status
        };
        assert_eq!((named("lab.example.org"), named("evil.example")), (200, 403));
    });
}

#[test]
fn a_preflight_shows_no_token_and_is_answered() {
    let policy = Policy::from_json(
        r#"{ "callers": { "ada": { "token": "ada-has-this-token" } }, "rules": [{ "callers": ["ada"] }] }"#,
    );
    let origins = Origins::new(["*"]).unwrap();
    on_node(Settings { origins, policy: Some(policy.unwrap()), ..settings() }, async |node| {
        let at = node.address();
        let headers = "origin: https://a.example\r\naccess-control-request-method: GET\r\n";
        assert_eq!(ask(at, "OPTIONS /directory", headers, "").status, 204);
        assert_eq!(ask(at, "GET /directory", "origin: https://a.example\r\n", "").status, 401);
        // An unknown caller gets 401, because an empty list would say that there are no services.
        for path in ["/", "/metrics", "/openapi.json"] {
            assert_eq!(ask(at, &format!("GET {path}"), "", "").status, 401, "{path}");
            let ada = ask(at, &format!("GET {path}"), "authorization: Bearer ada-has-this-token\r\n", "");
            assert_eq!(ada.status, 200, "{path}");
        }
    });
}

#[test]
fn the_rate_is_that_of_the_client_behind_a_named_proxy() {
    let rate = Some(Rate { per_second: 0.001, burst: 1 });
    let limits = Limits { rate, ..settings().limits };
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    on_node(Settings { limits: limits.clone(), proxies, ..settings() }, async |node| {
        let status =
            |client: &str| ask(node.address(), "GET /health", &format!("x-forwarded-for: {client}\r\n"), "").status;
        assert_eq!([status("192.0.2.1"), status("192.0.2.2"), status("192.0.2.1")], [200, 200, 429]);
        // The node ignores an address that the client itself wrote before the address from the proxy.
        assert_eq!(status("203.0.113.9, 192.0.2.2"), 429);
    });
    on_node(Settings { limits, ..settings() }, async |node| {
        let status =
            |client: &str| ask(node.address(), "GET /health", &format!("x-forwarded-for: {client}\r\n"), "").status;
        assert_eq!([status("192.0.2.1"), status("192.0.2.2")], [200, 429], "nobody is a proxy here");
    });
}

#[test]
fn answers_are_packed_for_who_takes_it_and_cut_for_who_has_the_beginning() {
    on_node(settings(), async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        books.call(put(&"x".repeat(50_000), 1)).await.unwrap();
        let at = node.address();
        let plain = ask(at, "GET /books", "", "");
        let packed = ask(at, "GET /books", "accept-encoding: br, gzip\r\n", "");
        assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
        assert!(packed.body.len() < plain.body.len() / 10);
        assert!(packed.head.to_lowercase().contains("vary: accept-encoding"), "{}", packed.head);
        let mut unpacked = Vec::new();
        GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain.body);
        // The compressed answer has another tag, and a client may send either tag for the version that it knows.
        let (tag, packed_tag) = (plain.header("etag").unwrap(), packed.header("etag").unwrap());
        assert_ne!(tag, packed_tag);
        for known in [tag, packed_tag] {
            assert_eq!(ask(at, "GET /books", &format!("if-none-match: {known}\r\n"), "").status, 304);
        }
        assert_eq!(
            ask(at, "GET /openapi.json", "accept-encoding: gzip\r\n", "").header("content-encoding"),
            Some("gzip")
        );
        assert_eq!(ask(at, "GET /health", "accept-encoding: gzip\r\n", "").header("content-encoding"), None);

        assert_eq!(plain.header("accept-ranges"), Some("bytes"));
        let length = plain.body.len();
        let part = ask(at, "GET /books", "range: bytes=10-19\r\n", "");
        let place = format!("bytes 10-19/{length}");
        assert_eq!((part.status, part.header("content-range")), (206, Some(&*place)));
        assert_eq!(part.body, plain.body[10..20]);
        let rest = ask(at, "GET /books", &format!("range: bytes=100-\r\nif-range: {tag}\r\n"), "");
        assert_eq!((rest.status, &rest.body[..]), (206, &plain.body[100..]));
        assert_eq!(ask(at, "GET /books", "range: bytes=100-\r\nif-range: \"0-0\"\r\n", "").status, 200);
        let beyond = ask(at, "GET /books", &format!("range: bytes={length}-\r\n"), "");
        assert_eq!((beyond.status, beyond.body.len()), (416, 0));
    });
}

#[test]
fn a_plain_curl_is_enough() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        // The content type that `curl -d` sends.
        let form = "content-type: application/x-www-form-urlencoded\r\n";
        assert_eq!(ask(at, "POST /books:put", form, r#"{"key":"a","value":1}"#).status, 200);
        assert_eq!(ask(at, "POST /books:put", "", r#"{"key":"b","value":1}"#).status, 200);
        assert_eq!(ask(at, "POST /books:put", form, "key=a&value=1").status, 400);
        let page = ask(at, "GET /", "accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n", "");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(String::from_utf8(page.body).unwrap().contains("<a href=\"books\">/books</a>"));
        assert_eq!(ask(at, "GET /", "accept: */*\r\n", "").header("content-type"), Some("application/json"));
        let unknown = ask(at, "GET /books:report", "", "");
        assert_eq!(unknown.status, 405);
        assert!(!unknown.text("detail").contains("POST"), "{}", unknown.text("detail"));
        assert!(ask(at, "GET /books:put", "", "").text("detail").contains("POST it"));
        for path in ["/health", "/healthz", "/livez", "/ready", "/readyz"] {
            assert_eq!(ask(at, &format!("GET {path}"), "", "").status, 200, "{path}");
        }
        let metrics = String::from_utf8(ask(at, "GET /metrics", "", "").body).unwrap();
        for name in [
            "lehr_http_request_duration_seconds_bucket{le=\"+Inf\"}",
            "lehr_http_responses_total{status=\"4xx\"} 3",
            "lehr_connections 1",
        ] {
            assert!(metrics.contains(name), "{name} in {metrics}");
        }
        let events = ask(at, "GET /books:events?count=0", "", "");
        assert!(events.status != 200 || events.header("x-accel-buffering") == Some("no"));
    });
}

/// Starts a proxy that speaks only HTTP/1.1 and serves the node below the path `/lehr`, as nginx may. Returns its
/// address.
fn proxy(node: std::net::SocketAddr) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let serve = move |mut client: TcpStream| -> std::io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        if head.starts_with(b"PRI") {
            client.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
            // The proxy reads the rest, as nginx does. If it closed the connection with unread bytes, the connection
            // would be reset and the answer lost.
            client.shutdown(std::net::Shutdown::Write)?;
            return std::io::copy(&mut client, &mut std::io::sink()).map(drop);
        }
        let head = String::from_utf8(head).unwrap().replacen(" /lehr/", " /", 1);
        let mut behind = TcpStream::connect(node)?;
        behind.write_all(head.as_bytes())?;
        let (mut from_client, mut to_node) = (client.try_clone()?, behind.try_clone()?);
        std::thread::Builder::new().spawn(move || {
            let _ = std::io::copy(&mut from_client, &mut to_node);
            let _ = to_node.shutdown(std::net::Shutdown::Both);
        })?;
        std::io::copy(&mut behind, &mut client).map(drop)
    };
    std::thread::Builder::new()
        .spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let _ = std::thread::Builder::new().spawn(move || serve(client));
            }
        })
        .unwrap();
    at
}

#[test]
fn services_are_asked_through_a_proxy_of_http1_below_a_path() {
    on_node(settings(), async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = proxy(node.address());
        let client = Client::new(None).unwrap();
        let link = client.link(&format!("http://{at}/lehr/books")).unwrap();
        let behind = Reference::<Ledger>::over(link).within(FOR_EVER);
        let mut heard = behind.subscribe(Subscribe::default()).await.unwrap();
        behind.call(put("ada", 1)).await.unwrap();
        assert_eq!(behind.call(Sum {}).await.unwrap(), 1);
        assert_eq!(books.get().await.unwrap().entries["ada"], 1);
        assert!(matches!(heard.next().await, Ok(Event::Seed(_))));
        assert!(matches!(heard.next().await, Ok(Event::Change(change)) if change.name() == "put"));
        for address in [format!("http://{at}/lehr"), format!("http://{at}/lehr/")] {
            let listed = client.link(&address).unwrap().index().await.unwrap();
            assert!(listed.iter().any(|service| service.path == "/books"), "{address}");
        }
        // The address of a service also gives the list of its node.
        let direct = client.link(&format!("http://{}/books", node.address())).unwrap();
        assert_eq!(direct.index().await.unwrap().len(), 2);
    });
}

#[test]
fn a_refused_body_is_read_before_it_is_answered() {
    on_node(settings(), async |node| {
        let at = node.address();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stream = tokio::net::TcpStream::connect(at).await.unwrap();
            let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
            let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            // The body is larger than the first windows of a stream and of a connection.
            let body = Full::new(Bytes::from(vec![b'x'; 5 << 20]));
            let counted = std::sync::Arc::new(std::sync::OnceLock::new());
            let end = counted.clone();
            let body = body.map_frame(move |frame| {
                let _ = end.set(());
                frame
            });
            let request = hyper::Request::post(format!("http://{at}/nothing:put")).body(body).unwrap();
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.status(), 404);
            let text = answer.into_body().collect().await.unwrap().to_bytes();
            let problem: serde_json::Value = serde_json::from_slice(&text).unwrap();
            assert_eq!((&problem["code"], counted.get()), (&json!("unknown_service"), Some(&())));
        });
    });
}
