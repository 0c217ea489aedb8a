//! Clients that request more data than they read.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lehr_node::{Limits, Node, Settings, Tls};
use rcgen::{CertificateParams, KeyPair};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::behaviours::samples::*;
use crate::{on_node, settings};

/// A number of bytes that is larger than all buffers of a connection.
const LARGE: usize = 20 << 20;

fn hurried(connections: usize) -> Settings {
    let limits = Limits { take_time: Duration::from_millis(50), connections, ..settings().limits };
    Settings { limits, ..settings() }
}

async fn with_large_state(node: &Node, bytes: usize) {
    let books = node.host().start("/books", Bookkeeper::new).await.unwrap();
    books.call(put(&"x".repeat(bytes), 1)).await.unwrap();
}

/// Requests the state, and reads `bytes` bytes of the answer.
fn ask(node: &Node, bytes: usize) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(node.address())?;
    write!(stream, "GET /books HTTP/1.1\r\nhost: {}\r\n\r\n", node.address())?;
    stream.read_exact(&mut vec![0; bytes])?;
    Ok(stream)
}

#[test]
fn a_client_that_does_not_read_its_answer_loses_its_connection_and_its_place() {
    on_node(hurried(1), async |node| {
        with_large_state(node, LARGE).await;
        let mut deaf = ask(node, 12).unwrap();
        // The node allows one connection. It refuses other clients until it has closed the connection that does not
        // read.
        while ask(node, 12).is_err() {
            std::thread::yield_now();
        }
        let mut rest = Vec::new();
        let _ = deaf.read_to_end(&mut rest);
        assert!(rest.len() < LARGE, "the answer was cut");
    });
}

#[test]
fn a_client_that_reads_gets_all_of_a_long_answer() {
    // The limit is long enough for a busy machine.
    let limits = Limits { take_time: Duration::from_secs(60), ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        with_large_state(node, LARGE).await;
        let mut stream = TcpStream::connect(node.address()).unwrap();
        write!(stream, "GET /books HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", node.address()).unwrap();
        // The client reads small pieces, so the node has to wait for it many times.
        let (mut answer, mut piece) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            match stream.read(&mut piece).unwrap() {
                0 => break,
                count => answer.extend_from_slice(&piece[..count]),
            }
            std::thread::yield_now();
        }
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        assert_eq!(length.parse(), Ok(answer.len() - end));
        assert!(answer.len() > LARGE);
    });
}

/// Requests a long answer and reads half a megabyte per second for 4 seconds, which is twice the limit for a client
/// that reads nothing. Then it reads the rest. The node learns of free space only after a third of its buffer is read,
/// and this takes longer than the limit.
fn take_slowly(node: &Node, mut stream: impl Read + Write) {
    write!(stream, "GET /books HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", node.address()).unwrap();
    let mut piece = vec![0; 50_000];
    for _ in 0..40 {
        stream.read_exact(&mut piece).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut rest = Vec::new();
    let read = stream.read_to_end(&mut rest);
    assert!(40 * piece.len() + rest.len() > LARGE, "2 MB slowly, then {}, {read:?}", rest.len());
}

fn two_seconds() -> Settings {
    let limits = Limits { take_time: Duration::from_secs(2), ..settings().limits };
    Settings { limits, ..settings() }
}

#[test]
fn a_client_that_reads_slowly_keeps_its_connection() {
    on_node(two_seconds(), async |node| {
        with_large_state(node, LARGE).await;
        take_slowly(node, TcpStream::connect(node.address()).unwrap());
    });
}

/// Returns a certificate for this machine, and the configuration for its clients.
fn certified() -> (Tls, std::sync::Arc<ClientConfig>) {
    let (folder, key) = (tempfile::tempdir().unwrap(), KeyPair::generate().unwrap());
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let (public, private) = (folder.path().join("node.pem"), folder.path().join("node.key"));
    std::fs::write(&public, certificate.pem()).unwrap();
    std::fs::write(&private, key.serialize_pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    (Tls::from_files(&public, &private, None).unwrap(), config.into())
}

fn connect(node: &Node, config: &std::sync::Arc<ClientConfig>) -> StreamOwned<ClientConnection, TcpStream> {
    let connection = ClientConnection::new(config.clone(), "localhost".try_into().unwrap()).unwrap();
    StreamOwned::new(connection, TcpStream::connect(node.address()).unwrap())
}

#[test]
fn behind_tls_a_client_that_reads_slowly_keeps_its_connection() {
    let (tls, config) = certified();
    on_node(Settings { tls: Some(tls), ..two_seconds() }, async |node| {
        with_large_state(node, LARGE).await;
        take_slowly(node, connect(node, &config));
    });
}

#[test]
fn behind_tls_a_client_that_does_not_read_its_answer_loses_its_connection_and_its_place() {
    let (tls, config) = certified();
    on_node(Settings { tls: Some(tls), ..hurried(1) }, async |node| {
        with_large_state(node, LARGE).await;
        let ask = || -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
            let mut stream = connect(node, &config);
            write!(stream, "GET /books HTTP/1.1\r\nhost: {}\r\n\r\n", node.address())?;
            stream.read_exact(&mut [0; 12])?;
            Ok(stream)
        };
        let mut deaf = ask().unwrap();
        while ask().is_err() {
            std::thread::yield_now();
        }
        let mut rest = Vec::new();
        let _ = deaf.read_to_end(&mut rest);
        assert!(rest.len() < LARGE, "the answer was cut");
    });
}

/// Requests the state over HTTP/2 with windows of `window` bytes, and reads the answer if `takes` is true. Returns how
/// many bytes came, and whether the connection has ended.
fn over_http2(node: &Node, window: u32, takes: bool) -> (usize, bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(node.address()).await.unwrap();
        let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window);
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let uri = format!("http://{}/books", node.address());
        let request = hyper::Request::builder().uri(uri).body(Empty::<Bytes>::new()).unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        if takes {
            return (answer.into_body().collect().await.unwrap().to_bytes().len(), connection.is_finished());
        }
        // The client reads the connection, but its window never grows.
        let _ = connection.await.unwrap();
        drop(answer);
        (0, true)
    })
}

#[test]
fn on_http2_an_answer_that_is_not_taken_ends_the_connection_though_it_is_read() {
    on_node(hurried(8), async |node| {
        with_large_state(node, 200_000).await;
        assert_eq!(over_http2(node, 1 << 10, false), (0, true));
    });
}

#[test]
fn on_http2_a_small_window_is_no_fault_if_it_is_opened() {
    let limits = Limits { take_time: Duration::from_secs(60), ..settings().limits };
    on_node(Settings { limits, ..settings() }, async |node| {
        with_large_state(node, 200_000).await;
        for window in [1 << 20, 1 << 10] {
            let (length, has_ended) = over_http2(node, window, true);
            assert!(length > 400_000 && !has_ended, "{length} bytes");
        }
    });
}

#[test]
fn on_http2_a_client_that_takes_its_answer_slowly_gets_all_of_it() {
    on_node(two_seconds(), async |node| {
        with_large_state(node, 200_000).await;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stream = tokio::net::TcpStream::connect(node.address()).await.unwrap();
            let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
            // With this small window, the answer has to wait many times.
            builder.initial_stream_window_size(16 << 10);
            let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            let uri = format!("http://{}/books", node.address());
            let request = hyper::Request::builder().uri(uri).body(Empty::<Bytes>::new()).unwrap();
            let mut body = sender.send_request(request).await.unwrap().into_body();
            let (mut length, mut frames) = (0, 0);
            while let Some(frame) = body.frame().await {
                length += frame.unwrap().data_ref().map_or(0, Bytes::len);
                frames += 1;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            // At least 20 frames take at least 4 seconds, twice the limit for a client that reads nothing.
            assert!(length > 400_000 && frames >= 20, "{length} bytes in {frames} frames");
        });
    });
}
