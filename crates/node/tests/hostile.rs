//! Malicious and faulty clients: the node refuses each of them and continues to serve all other clients.

use std::io::{BufWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use lehr_node::{Limits, Node, Settings};
use lehr_runtime::block_on;
use lehr_services::{Host, Replace};
use serde_json::json;

use crate::behaviours::samples::*;
use crate::raw::{ask, send};
use crate::{FOR_EVER, dispatcher, on_node, settings};

const JSON: &str = "content-type: application/json\r\n";

/// Runs a behaviour on a node with books, and checks that the books did not change.
fn unharmed(limits: Limits, behaviour: impl AsyncFn(SocketAddr)) {
    let is_patient = limits.header_time == FOR_EVER;
    on_node(Settings { limits, ..settings() }, async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        books.call(put("ada", 1)).await.unwrap();
        behaviour(node.address()).await;
        let state = books.get().await.unwrap();
        assert_eq!((state.entries.get("ada"), state.log.as_slice()), (Some(&1), &["put ada".to_owned()][..]));
        // With a short limit, a slow machine could make this client too slow as well, so it asks only if the limit is
        // long.
        if is_patient {
            assert_eq!(ask(node.address(), "GET /books", "", "").json()["entries"], json!({ "ada": 1 }));
        }
    });
}

fn patient() -> Limits {
    settings().limits
}

#[test]
fn malformed_bodies_are_refused_with_the_place_of_the_fault() {
    unharmed(patient(), async |at| {
        for body in [
            "",
            "{",
            "{\"key\":",
            "null",
            "{\"key\":\"a\",\"value\":1}}",
            "{\"key\":\"a\",\"value\":1e999}",
            "\u{feff}{}",
        ] {
            let answer = ask(at, "POST /books:put", JSON, body);
            assert_eq!((answer.status, answer.text("code").as_str()), (400, "message_not_supported"), "{body:?}");
            assert!(answer.text("detail").contains("column"), "{body:?}: {}", answer.text("detail"));
        }
        let list = ask(at, "POST /books:put", JSON, "[]");
        assert_eq!((list.status, list.text("code").as_str()), (400, "message_not_supported"));
        assert_eq!(list.text("detail"), "expected an object, found a list");
        let not_text = b"POST /books:put HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 4\r\n\r\n\"\xff\xfe\"";
        assert_eq!(send(at, not_text).status, 400);
    });
}

#[test]
fn bodies_of_another_schema_are_refused_with_the_field() {
    unharmed(patient(), async |at| {
        let cases = [
            (r#"{"key":7,"value":1}"#, "expected a string"),
            (r#"{"key":"a"}"#, "missing field `value`"),
            (r#"{"key":"a","value":1.5}"#, "expected a whole number"),
            (r#"{"key":"a","value":99999999999999999999}"#, "expected a whole number"),
        ];
        for (body, reason) in cases {
            let answer = ask(at, "POST /books:put", JSON, body);
            assert_eq!(answer.status, 400, "{body}");
            assert!(answer.text("detail").contains(reason), "{}", answer.text("detail"));
        }
    });
}

#[test]
fn another_content_type_is_refused_before_the_body_is_read() {
    unharmed(patient(), async |at| {
        for kind in ["text/xml", "multipart/form-data; boundary=x", "text/plain", "\u{e9}"] {
            let headers = format!("content-type: {kind}\r\n");
            assert_eq!(ask(at, "POST /books:put", &headers, "{}").status, 415, "{kind:?}");
        }
    });
}

#[test]
fn unknown_verbs_and_methods_are_refused_with_what_there_is() {
    unharmed(patient(), async |at| {
        for line in [
            "POST /books:fly",
            "PATCH /books",
            "TRACE /books",
            "CONNECT /books",
            "BREW /books",
            "DELETE /books:put",
            "POST /books",
        ] {
            let answer = ask(at, line, JSON, "{}");
            assert_eq!(answer.status, 405, "{line}");
            assert!(answer.header("allow").is_some(), "{line}");
        }
    });
}

#[test]
fn no_path_climbs_however_it_is_written() {
    unharmed(patient(), async |at| {
        for path in [
            "/../../etc/passwd",
            "/books/../../etc/passwd",
            "/books/%2e%2e/%2e%2e/etc/passwd",
            "/books/..%2f..%2fetc%2fpasswd",
            "/books/..%5c..%5cwindows",
            "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
            "//etc/passwd",
            "/books/./x",
            "/books%00.json",
            "/books;/../x",
            "/..;/books",
            "/etc/passwd",
        ] {
            let answer = ask(at, &format!("GET {path}"), "", "");
            assert_eq!((answer.status, answer.text("code").as_str()), (404, "unknown_service"), "{path}");
        }
    });
}

#[test]
fn oversized_bodies_are_refused_whether_they_say_so_or_not() {
    unharmed(Limits { body_bytes: 1000, ..patient() }, async |at| {
        let large = format!("{{\"key\":\"{}\",\"value\":1}}", "x".repeat(5000));
        assert_eq!(ask(at, "POST /books:put", JSON, &large).status, 413);
        // A body that is longer than its stated length ends at that length.
        let short =
            format!("POST /books:put HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\ncontent-length: 10\r\n\r\n{large}");
        assert_eq!(send(at, short.as_bytes()).status, 400);
        // A body without an end is cut off when the client has sent too much.
        let mut stream = TcpStream::connect(at).unwrap();
        write!(stream, "POST /books:put HTTP/1.1\r\nhost: {at}\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
        while stream.write_all(b"10\r\n0123456789abcdef\r\n").is_ok() {}
    });
}

#[test]
fn two_lengths_or_two_ways_to_say_one_are_refused() {
    unharmed(patient(), async |at| {
        let smuggled = "GET /books:sum HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
        for headers in [
            "content-length: 2\r\ncontent-length: 60\r\n",
            "content-length: +2\r\n",
            "content-length: 2, 60\r\n",
            "transfer-encoding: chunked, identity\r\n",
        ] {
            let text =
                format!("POST /books:put HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n{headers}\r\n{{}}{smuggled}");
            let answer = send(at, text.as_bytes());
            assert!([0, 400, 415].contains(&answer.status), "{headers:?}: {answer:?}");
        }
    });
}

#[test]
fn a_million_headers_are_refused_before_they_are_all_there() {
    unharmed(patient(), async |at| {
        let mut stream = BufWriter::new(TcpStream::connect(at).unwrap());
        write!(stream, "GET /books HTTP/1.1\r\nhost: {at}\r\n").unwrap();
        let sent = (0..1_000_000).take_while(|number| write!(stream, "x-{number}: y\r\n").is_ok()).count();
        assert!(sent < 1_000_000, "the node has taken them all");
    });
}

#[test]
fn a_packed_body_is_refused_unopened() {
    // The header of a gzip file. The node refuses the encoding and never unpacks the body.
    let bomb = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    unharmed(patient(), async |at| {
        for coding in ["gzip", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip"] {
            let head = format!(
                "POST /books:put HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n{JSON}content-encoding: {coding}\r\ncontent-length: {}\r\n\r\n",
                bomb.len()
            );
            let answer = send(at, &[head.as_bytes(), &bomb].concat());
            assert_eq!(answer.status, 415, "{coding}");
        }
    });
}

#[test]
fn documents_that_are_too_deep_are_refused() {
    unharmed(patient(), async |at| {
        let deep = "[".repeat(100_000);
        assert_eq!(ask(at, "POST /books:put", JSON, &deep).status, 400);
        let deep = format!("{{\"key\":{deep}");
        assert_eq!(ask(at, "POST /books:put", JSON, &deep).status, 400);
        let pack = |body: &[u8]| {
            let head = format!(
                "POST /books:put HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\ncontent-type: application/msgpack\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            send(at, &[head.as_bytes(), body].concat()).status
        };
        assert_eq!(pack(&vec![0x91; 100_000]), 400);
        // An array, a text and a map that each claim about 4.3 billion entries.
        for lying in
            [&[0xdd, 0xff, 0xff, 0xff, 0xff][..], &[0xdb, 0xff, 0xff, 0xff, 0xff], &[0xdf, 0xff, 0xff, 0xff, 0xff]]
        {
            assert_eq!(pack(lying), 400);
        }
    });
}

#[test]
fn who_sends_a_byte_at_a_time_is_cut_off_and_holds_nobody_up() {
    // The limit is short. Even if it takes effect late, every slow client is cut off and the other clients are served.
    unharmed(Limits { header_time: Duration::from_millis(50), ..patient() }, async |at| {
        let slow: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(at).unwrap()).collect();
        for stream in &slow {
            let mut stream: &TcpStream = stream;
            // A connection that wrote this too late was already cut off.
            let _ = stream.write_all(b"GET /books HTTP/1.1\r\nx: ");
        }
        // A byte now and then does not extend the time.
        for stream in &slow {
            stream.set_nonblocking(true).unwrap();
        }
        let mut waiting: Vec<&TcpStream> = slow.iter().collect();
        while !waiting.is_empty() {
            waiting.retain_mut(|stream| {
                let is_written = stream.write(b"y").is_ok_and(|count| count == 1);
                let heard = stream.read(&mut [0; 512]);
                let is_ended =
                    matches!(heard, Ok(0)) || heard.is_err_and(|error| error.kind() != std::io::ErrorKind::WouldBlock);
                is_written && !is_ended
            });
            std::thread::yield_now();
        }
    });
}

/// Pseudo-random numbers, which are the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Returns a request with a few random changes to its bytes: changed, doubled, cut out, or taken from another request.
fn mangled(chance: &mut Chance, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = seeds[chance.below(seeds.len())].clone();
    for _ in 0..=chance.below(6) {
        let at = chance.below(text.len().max(1));
        match chance.below(5) {
            0 if !text.is_empty() => text[at] = chance.next() as u8,
            1 => text.insert(at, chance.next() as u8),
            2 => drop(text.drain(at..(at + chance.below(40)).min(text.len()))),
            3 => {
                let other = &seeds[chance.below(seeds.len())];
                let from = chance.below(other.len());
                text.splice(at..at, other[from..].iter().copied());
            }
            _ => text.truncate(at),
        }
    }
    text
}

#[test]
fn whatever_bytes_come_the_node_goes_on() {
    let at_first = [
        "GET /books HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nif-none-match: \"1-2\"\r\n\r\n",
        "POST /books:put HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 21\r\n\r\n{\"key\":\"a\",\"value\":1}",
        "POST /books:put HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n15\r\n{\"key\":\"a\",\"value\":1}\r\n0\r\n\r\n",
        "GET /books:events?operations=put&count=1&capacity=4 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "PUT /books HTTP/1.1\r\nhost: localhost\r\nlehr-timeout-ms: 5\r\nlehr-incarnation: 7\r\nidempotency-key: k\r\ncontent-length: 2\r\n\r\n{}",
        "OPTIONS * HTTP/1.0\r\n\r\nHEAD /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\nGET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x04\x08\0\0\0\0\0\0\x0f\0\x01\0\0\x05\x01\x05\0\0\0\x01\u{2}\u{4}\u{1}/",
    ];
    let seeds: Vec<Vec<u8>> = at_first.iter().map(|text| text.as_bytes().to_vec()).collect();
    let (workers, _) = dispatcher(2);
    let node = Node::start(Host::new(workers.handle()), settings()).unwrap();
    block_on(async {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
        for round in 0..1500 {
            let text = if round % 10 == 0 {
                (0..chance.below(300)).map(|_| chance.next() as u8).collect()
            } else {
                mangled(&mut chance, &seeds)
            };
            let mut stream = TcpStream::connect(node.address()).unwrap();
            let _ = stream.write_all(&text);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            // An internal error of the server would be a bug.
            assert!(!answer.contains("HTTP/1.1 500"), "round {round}: {text:?} was answered {answer}");
        }
        books.call(Replace(Ledger::default())).await.unwrap();
        assert_eq!(node.host().counts("/books").unwrap().panics, 0);
        assert_eq!(ask(node.address(), "GET /health", "", "").status, 200);
    });
    block_on(node.shutdown(FOR_EVER));
}
