//! Limits on what clients can make a node keep: unread answers, idle connections, frames without requests. Also the end
//! of a node.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use lehr_node::{Limits, Node, Policy, Settings};
use lehr_runtime::block_on;
use lehr_services::{Host, Verb};
use serde_json::json;

use crate::behaviours::samples::*;
use crate::behaviours::{Any, begin};
use crate::raw::ask;
use crate::{FOR_EVER, dispatcher, on_node, settings};

const LARGE: usize = 2 << 20;

/// Returns the value of one metric from the page of metrics.
fn metric(at: SocketAddr, name: &str) -> usize {
    let page = String::from_utf8(ask(at, "GET /metrics", "", "").body).unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
    line.unwrap_or_else(|| panic!("{name} in {page}")).parse().unwrap()
}

/// Requests a path `count` times on one HTTP/2 connection whose windows have 0 bytes. Returns the answers, whose bodies
/// are not read.
async fn shut(at: SocketAddr, path: &str, count: usize) -> Vec<Response<Incoming>> {
    let stream = tokio::net::TcpStream::connect(at).await.unwrap();
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut answers = Vec::new();
    for _ in 0..count {
        let request = Request::builder().uri(format!("http://{at}{path}")).body(Empty::<Bytes>::new()).unwrap();
        answers.push(sender.send_request(request).await.unwrap());
    }
    answers
}

fn with_tokio<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn slow_readers_share_one_copy_of_the_state_and_it_goes_with_the_last_of_them() {
    on_node(settings(), async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        books.call(put(&"x".repeat(LARGE / 2), 1)).await.unwrap();
        let at = node.address();
        with_tokio(async {
            let mut held = Vec::new();
            for _ in 0..2 {
                held.push(shut(at, "/books", 50).await);
                // A subscriber's first event shares its copy of the state with the other answers.
                held.push(shut(at, "/books:events", 10).await);
            }
            assert!(held.iter().flatten().all(|answer| answer.status() == 200));
            let unsent = metric(at, "lehr_unsent_bytes");
            assert!((LARGE..LARGE + (1 << 20)).contains(&unsent), "{unsent} bytes for {} answers", 120);
        });
        // All connections are closed here, so the node drops the unsent answers.
        while metric(at, "lehr_unsent_bytes") > LARGE / 2 {
            std::thread::yield_now();
        }
    });
}

#[test]
fn beyond_what_is_kept_unsent_requests_are_answered_503_and_other_clients_go_on() {
    let limits = Limits { unsent_connection_bytes: 5 * LARGE, unsent_bytes: 8 * LARGE, ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        books.call(put(&"x".repeat(LARGE / 2), 1)).await.unwrap();
        let at = node.address();
        with_tokio(async {
            let mut held = Vec::new();
            let statuses = async |held: &mut Vec<_>, connections: usize| {
                let mut statuses = Vec::new();
                for _ in 0..connections {
                    let stream = tokio::net::TcpStream::connect(at).await.unwrap();
                    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
                    builder.initial_stream_window_size(0);
                    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
                    tokio::spawn(connection);
                    for _ in 0..6 {
                        // Each answer has another version of the state, so the answers share no copy.
                        books.call(correct(&"x".repeat(LARGE / 2), 2)).await.unwrap();
                        let uri = format!("http://{at}/books");
                        let request = Request::builder().uri(uri).body(Empty::<Bytes>::new()).unwrap();
                        let answer = sender.send_request(request).await.unwrap();
                        statuses.push(answer.status().as_u16());
                        if answer.status() == 503 {
                            assert_eq!(answer.headers()["retry-after"], "1");
                        }
                        held.push(answer);
                    }
                }
                statuses
            };
            // The log of the ledger grows with each change, so fewer than five answers fit.
            let one = statuses(&mut held, 1).await;
            assert!(one.starts_with(&[200, 200]) && one.ends_with(&[503, 503]), "{one:?}");
            statuses(&mut held, 4).await;
            assert!(metric(at, "lehr_unsent_bytes") <= 8 * LARGE);
        });
        while metric(at, "lehr_unsent_bytes") > LARGE / 2 {
            std::thread::yield_now();
        }
        assert_eq!(ask(at, "GET /books", "", "").status, 200);
    });
}

#[test]
fn idle_connections_make_room_for_who_comes() {
    let limits = Limits { connections: 8, connections_per_address: 8, ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        let at = node.address();
        let mut idle: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(at).unwrap()).collect();
        for _ in 0..20 {
            assert_eq!(ask(at, "GET /health", "", "").status, 200);
        }
        // The connection that was idle for the longest time was closed first.
        assert_eq!(idle[0].read(&mut [0; 1]).unwrap_or(0), 0);
    });
}

#[test]
fn an_idle_connection_ends_after_a_while_and_one_in_use_does_not() {
    let limits = Limits { idle_time: std::time::Duration::from_millis(20), ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let mut idle = TcpStream::connect(at).unwrap();
        let mut listening = TcpStream::connect(at).unwrap();
        write!(listening, "GET /books:events HTTP/1.1\r\nhost: {at}\r\n\r\n").unwrap();
        assert_eq!(idle.read(&mut [0; 1]).unwrap_or(0), 0);
        std::thread::sleep(std::time::Duration::from_millis(100));
        books.call(put("ada", 1)).await.unwrap();
        let mut heard = Vec::new();
        while !heard.windows(13).any(|window| window == b"event: change") {
            let mut piece = [0; 1024];
            let count = listening.read(&mut piece).unwrap();
            assert!(count > 0, "it is in use");
            heard.extend_from_slice(&piece[..count]);
        }
    });
}

#[test]
fn frames_without_requests_end_a_connection_when_they_are_too_many() {
    on_node(settings(), async |node| {
        // The frames are SETTINGS, WINDOW_UPDATE of the connection, PRIORITY, and a frame of an unknown type.
        let frames: [&[u8]; 4] = [
            &[0, 0, 0, 4, 0, 0, 0, 0, 0],
            &[0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            &[0, 0, 5, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 16],
            &[0, 0, 0, 0xfa, 0, 0, 0, 0, 0],
        ];
        for frame in frames {
            let mut stream = TcpStream::connect(node.address()).unwrap();
            stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
            let mut reading = stream.try_clone().unwrap();
            let (ended, end) = std::sync::mpsc::channel();
            std::thread::Builder::new()
                .spawn(move || {
                    let _ = reading.read_to_end(&mut Vec::new());
                    let _ = ended.send(());
                })
                .unwrap();
            let many = frame.repeat(1000);
            // The node's clock stands still, so the number of allowed frames does not grow with time.
            let taken = (0..1000).take_while(|_| stream.write_all(&many).is_ok()).count();
            assert!(taken < 1000, "a million of {frame:?} were taken");
            end.recv().unwrap();
        }
        assert_eq!(ask(node.address(), "GET /health", "", "").status, 200);
    });
}

#[test]
fn a_request_that_waits_is_answered_when_the_node_stops() {
    let (workers, _) = dispatcher(2);
    let node = Node::start(Host::new(workers.handle()), settings()).unwrap();
    let at = node.address();
    block_on(async {
        let keeper = Bookkeeper::new();
        let (gate, begun) = (keeper.gate.clone(), keeper.begun.clone());
        let books = node.host().start("/books", move || keeper.clone()).await.unwrap();
        let mut holding: Any<'_, _> = Box::pin(books.call(hold_alone("first")));
        begin(&mut holding).await;
        assert_eq!(begun.receive().await.unwrap(), "first");
        let waiting = std::thread::Builder::new().spawn(move || ask(at, "GET /books:sum", "", "")).unwrap();
        let endpoint = node.host().endpoint("/books").unwrap();
        let is_waiting =
            || endpoint.info().waiting.iter().any(|waiting| waiting.verb == Verb::Query && waiting.requests > 0);
        while !is_waiting() {
            std::thread::yield_now();
        }
        let mut stopping: Any<'_, _> = Box::pin(node.shutdown(FOR_EVER));
        begin(&mut stopping).await;
        // The waiting request is a query, so the node does not wait for it, no matter whether its handler has begun.
        let answer = waiting.join().unwrap();
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
        assert_eq!(answer.text("code"), "service_stopping");
        assert_eq!(ask(at, "GET /nothing", "", "").status, 503);
        assert_eq!([ask(at, "GET /ready", "", "").status, ask(at, "GET /health", "", "").status], [503, 200]);
        // The node waits for requests that change a state.
        gate.post(()).unwrap();
        assert_eq!(holding.await.unwrap(), "first");
        let report = stopping.await;
        assert_eq!(report.cut_off, Vec::<String>::new());
    });
}

#[test]
fn another_policy_counts_at_once_for_connections_and_subscriptions_that_are_there() {
    let policy = |callers: &str| {
        let text = format!(r#"{{ "callers": {{ {callers} }}, "rules": [{{ "paths": ["/books"] }}] }}"#);
        Policy::from_json(&text).unwrap()
    };
    // The hash of Bob's token, as `printf %s bob-has-another-one | sha256sum` prints it.
    let hash = sha256(b"bob-has-another-one");
    let ada = r#""ada": { "token": "ada-has-this-token" }"#;
    let bob = format!(r#""bob": {{ "token_sha256": "{hash}" }}"#);
    on_node(Settings { policy: Some(policy(&format!("{ada}, {bob}"))), ..settings() }, async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let who = |token: &str| ask(at, "GET /books:who", &format!("authorization: Bearer {token}\r\n"), "");
        assert_eq!(who("ada-has-this-token").json(), json!("ada"));
        assert_eq!(who("bob-has-another-one").json(), json!("bob"));
        assert_eq!(who(&hash).status, 401, "the hash is no token");
        let mut listening = TcpStream::connect(at).unwrap();
        write!(listening, "GET /books:events HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\nauthorization: Bearer ada-has-this-token\r\n\r\n").unwrap();
        listening.read_exact(&mut [0; 12]).unwrap();
        node.replace_policy(policy(&bob));
        let mut rest = String::new();
        listening.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("event: end") && rest.contains("unauthenticated"), "{rest}");
        assert_eq!(who("ada-has-this-token").status, 401);
        assert_eq!(who("bob-has-another-one").json(), json!("bob"));
    });
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
