//! The viewer in a browser: its files, their headers, and the changes of many services in one stream.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use lehr_node::{Policy, Settings, Viewer, ViewerFile};
use serde_json::Value;

use crate::behaviours::samples::*;
use crate::raw::ask;
use crate::{on_node, settings};

const BROWSER: &str = "accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";
const SCRIPT: &[u8] = &[b'x'; 4000];

fn shown() -> Settings {
    let viewer = Viewer::new([
        ViewerFile { name: "index.html", media_type: "text/html; charset=utf-8", bytes: b"<!doctype html>" },
        ViewerFile { name: "app.js", media_type: "text/javascript; charset=utf-8", bytes: SCRIPT },
    ]);
    Settings { viewer, ..settings() }
}

#[test]
fn a_browser_is_sent_on_to_the_viewer_and_programs_get_the_list() {
    on_node(shown(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        for line in ["GET /", "HEAD /"] {
            let sent_on = ask(at, line, BROWSER, "");
            assert_eq!(
                (sent_on.status, sent_on.header("location"), sent_on.body.len()),
                (303, Some("~/"), 0),
                "{line}"
            );
            assert_eq!(sent_on.header("vary"), Some("accept"));
        }
        assert_eq!(ask(at, "GET /~", "", "").header("location"), Some("~/"));
        for accept in ["", "accept: */*\r\n", "accept: application/json\r\n", "accept: application/json, text/html\r\n"]
        {
            let list = ask(at, "GET /", accept, "");
            assert_eq!((list.status, list.header("content-type")), (200, Some("application/json")), "{accept}");
            assert_eq!(list.json()["services"][0]["path"], "/books");
        }
        // A browser also gets a service as JSON.
        assert_eq!(ask(at, "GET /books", BROWSER, "").header("content-type"), Some("application/json"));
    });
}

#[test]
fn files_of_the_viewer_come_as_they_are_with_headers_that_hold_pages_to_their_own() {
    on_node(shown(), async |node| {
        let at = node.address();
        let page = ask(at, "GET /~/", BROWSER, "");
        assert_eq!((page.status, &*page.body), (200, &b"<!doctype html>"[..]));
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(ask(at, "GET /~/index.html", "", "").body, page.body);
        let script = ask(at, "GET /~/app.js", "", "");
        assert_eq!((script.header("content-type"), &*script.body), (Some("text/javascript; charset=utf-8"), SCRIPT));
        for answer in [&page, &script] {
            let policy = answer.header("content-security-policy").unwrap();
            for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types lehr"] {
                assert!(policy.split("; ").any(|one| one == rule), "{rule} in {policy}");
            }
            assert!(!policy.contains("unsafe"), "{policy}");
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("cross-origin-resource-policy", "same-origin"),
                ("referrer-policy", "no-referrer"),
                ("cache-control", "no-cache"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{name}");
            }
        }
        let head = ask(at, "HEAD /~/app.js", "", "");
        assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("4000"), 0));
    });
}

#[test]
fn a_file_that_a_browser_has_is_not_sent_again() {
    on_node(shown(), async |node| {
        let at = node.address();
        let plain = ask(at, "GET /~/app.js", "", "").header("etag").unwrap().to_owned();
        let packed = ask(at, "GET /~/app.js", "accept-encoding: gzip\r\n", "");
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert!(packed.body.len() < SCRIPT.len() / 10);
        let packed = packed.header("etag").unwrap().to_owned();
        assert_ne!(plain, packed);
        for tag in [&*plain, &*packed, &format!("\"other\", W/{plain}"), "*"] {
            let known = ask(at, "GET /~/app.js", &format!("if-none-match: {tag}\r\n"), "");
            assert_eq!((known.status, known.body.len()), (304, 0), "{tag}");
            assert!(known.header("content-security-policy").is_some());
        }
        assert_eq!(ask(at, "GET /~/app.js", "if-none-match: \"other\"\r\n", "").status, 200);
    });
}

#[test]
fn what_is_no_file_of_the_viewer_is_refused() {
    on_node(shown(), async |node| {
        let at = node.address();
        for path in ["/~/none.js", "/~/../app.js", "/~/app.js/", "/~/%61pp.js", "/~/~/app.js", "/~x"] {
            assert_eq!(ask(at, &format!("GET {path}"), "", "").status, 404, "{path}");
        }
        let posted = ask(at, "POST /~/app.js", "", "{}");
        assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
        assert_eq!(ask(at, "DELETE /~/", "", "").status, 405);
    });
    // Without a viewer, the node has a page of its services and nothing below `/~/`.
    on_node(settings(), async |node| {
        assert_eq!(ask(node.address(), "GET /", BROWSER, "").status, 200);
        assert_eq!(ask(node.address(), "GET /~/", BROWSER, "").status, 404);
    });
}

#[test]
fn the_viewer_shows_itself_to_everybody_and_nothing_else() {
    let policy = Policy::from_json(
        r#"{ "callers": { "ada": { "token": "correct-horse-battery" } }, "rules": [{ "callers": ["ada"], "paths": ["/books"] }] }"#,
    )
    .unwrap();
    on_node(Settings { policy: Some(policy), ..shown() }, async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        assert_eq!(ask(at, "GET /~/app.js", "", "").status, 200);
        assert_eq!(ask(at, "GET /", BROWSER, "").status, 303);
        assert_eq!(ask(at, "GET /", "", "").status, 401);
        assert_eq!(ask(at, "GET /~/events?services=/books", "", "").status, 401);
        let ada = "authorization: Bearer correct-horse-battery\r\n";
        node.host().start("/secret", Bookkeeper::new).await.unwrap();
        assert_eq!(ask(at, "GET /~/events?services=/secret", ada, "").status, 403);
        // A service that she may not read does not keep her from the other services.
        let mut stream = Stream::open(at, "/~/events?services=/books,/secret", ada);
        let mut told = vec![stream.next(), stream.next()];
        told.sort();
        assert_eq!(told, [("end".to_owned(), "/secret".to_owned()), ("seed".to_owned(), "/books".to_owned())]);
    });
}

#[test]
fn pages_of_other_sites_load_nothing_and_may_only_link() {
    on_node(shown(), async |node| {
        let at = node.address();
        let from = |site: &str, mode: &str| format!("sec-fetch-site: {site}\r\nsec-fetch-mode: {mode}\r\n");
        for path in ["/", "/~/app.js", "/metrics"] {
            assert_eq!(ask(at, &format!("GET {path}"), &from("cross-site", "no-cors"), "").status, 403, "{path}");
            assert_eq!(ask(at, &format!("GET {path}"), &from("same-origin", "cors"), "").status, 200, "{path}");
        }
        assert_eq!(ask(at, "GET /~/", &from("cross-site", "navigate"), "").status, 200);
        assert_eq!(ask(at, "GET /~/", &from("none", "navigate"), "").status, 200);
    });
}

/// A stream of events that is read event by event.
struct Stream {
    from: BufReader<TcpStream>,
    text: String,
}

impl Stream {
    fn open(at: SocketAddr, path: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(at).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {at}\r\n{headers}\r\n").as_bytes()).unwrap();
        let mut from = BufReader::new(stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            assert!(from.read_line(&mut line).unwrap() > 0, "no answer");
        }
        Self { from, text: String::new() }
    }

    /// Returns the kind and the service of the next event.
    fn next(&mut self) -> (String, String) {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let data: Value = serde_json::from_str(field("data: ").unwrap()).unwrap();
                let told =
                    (field("event: ").unwrap().to_owned(), data["service"].as_str().unwrap_or_default().to_owned());
                self.text = rest.to_owned();
                return told;
            }
            let mut length = String::new();
            self.from.read_line(&mut length).unwrap();
            let mut chunk = vec![0; usize::from_str_radix(length.trim(), 16).unwrap() + 2];
            self.from.read_exact(&mut chunk).unwrap();
            self.text += std::str::from_utf8(&chunk[..chunk.len() - 2]).unwrap();
        }
    }
}

#[test]
fn changes_of_several_services_come_in_one_stream_and_name_their_service() {
    on_node(settings(), async |node| {
        let first = node.host().start("/first", Bookkeeper::new).await.unwrap();
        let second = node.host().start("/second", Bookkeeper::new).await.unwrap();
        let mut stream = Stream::open(node.address(), "/~/events?services=/second,/first,/nowhere,/first", "");
        let mut begun = vec![stream.next(), stream.next(), stream.next()];
        begun.sort();
        let event = |kind: &str, service: &str| (kind.to_owned(), service.to_owned());
        assert_eq!(begun, [event("end", "/nowhere"), event("seed", "/first"), event("seed", "/second")]);
        first.call(put("a", 1)).await.unwrap();
        assert_eq!(stream.next(), event("change", "/first"));
        // A long event is sent in several parts, and no other event comes between them.
        let long = "x".repeat(200_000);
        second.call(put(&long, 1)).await.unwrap();
        first.call(put("b", 2)).await.unwrap();
        let mut after = vec![stream.next(), stream.next()];
        after.sort();
        assert_eq!(after, [event("change", "/first"), event("change", "/second")]);
        // The stream of a single service names no service in its events.
        let mut single = Stream::open(node.address(), "/first:events", "");
        assert_eq!(single.next(), event("seed", ""));
    });
}

#[test]
fn a_stream_of_no_service_is_refused() {
    on_node(settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let many = (0..65).map(|at| format!("/s{at}")).collect::<Vec<_>>().join(",");
        for query in ["", "?services=", &format!("?services={many}")] {
            assert_eq!(ask(at, &format!("GET /~/events{query}"), "", "").status, 422, "{query}");
        }
        assert_eq!(ask(at, "GET /~/events?services=/nowhere", "", "").status, 404);
        assert_eq!(ask(at, "GET /~/events?services=/books&slow=never", "", "").status, 422);
        assert_eq!(ask(at, "POST /~/events?services=/books", "", "{}").status, 405);
    });
}
