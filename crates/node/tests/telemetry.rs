//! Spans of requests, as a collector gets them: one that takes them, one that is down, and some that are slow or unwilling.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use lehr_node::{Client, Log, Node, Settings, Telemetry};
use lehr_runtime::block_on;
use lehr_services::{Host, Reference};
use lehr_sync::thread::Joined;
use lehr_sync::{Arc, Moment, Mutex};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use prost::Message;
use serde_json::Value;

use crate::behaviours::samples::*;
use crate::nodes::{Teller, Tracer};
use crate::raw::{Answer, ask};
use crate::{FOR_EVER, dispatcher, on_node, settings};

/// How a collector treats a batch.
#[derive(Clone, Copy)]
enum Manner {
    Takes,
    /// Accepts the connection, but sends no answer.
    Hangs,
    Answers(u16),
    /// Accepts the batch except for this number of spans.
    Rejects(i64),
}

/// The data that reached a collector: the header `authorization`, and the batch.
type Received = Arc<Mutex<Vec<(String, ExportTraceServiceRequest)>>>;

/// A substitute for a collector, which ends with the test.
struct Collector {
    address: SocketAddr,
    received: Received,
    is_over: Arc<Mutex<bool>>,
    _thread: Joined,
}

impl Collector {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (received, is_over) = (Received::default(), Arc::<Mutex<bool>>::default());
        let (to, over) = (received.clone(), is_over.clone());
        let thread = Joined::start("collector", move || {
            let mut open = Vec::new();
            for stream in listener.incoming().flatten() {
                if *over.lock() {
                    return;
                }
                match manner {
                    Manner::Hangs => open.push(stream),
                    _ => answer(stream, manner, &to),
                }
            }
        });
        Self { address, received, is_over, _thread: thread.unwrap() }
    }

    fn settings(&self) -> Settings {
        collected(self.address, None)
    }

    fn spans(&self) -> Vec<Span> {
        let received = self.received.lock();
        let resources = received.iter().flat_map(|(_, batch)| &batch.resource_spans);
        resources.flat_map(|of| &of.scope_spans).flat_map(|of| of.spans.clone()).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        *self.is_over.lock() = true;
        // This connection wakes the thread. The fields are dropped afterwards, which joins the thread.
        drop(TcpStream::connect(self.address));
    }
}

/// Reads one batch, and answers it in the given manner.
fn answer(mut stream: TcpStream, manner: Manner, to: &Received) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        head.push_str(&line);
        line.clear();
    }
    let head = Answer { status: 0, head, body: Vec::new() };
    let Some(length) = head.header("content-length").and_then(|text| text.parse().ok()) else { return };
    assert!(head.head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head:?}");
    assert_eq!(head.header("content-type"), Some("application/x-protobuf"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let batch = ExportTraceServiceRequest::decode(&*body).unwrap();
    to.lock().push((head.header("authorization").unwrap_or_default().to_owned(), batch));
    let (status, partial_success) = match manner {
        Manner::Answers(status) => (status, None),
        Manner::Rejects(rejected_spans) => {
            (200, Some(ExportTracePartialSuccess { rejected_spans, error_message: "too old".to_owned() }))
        }
        Manner::Takes | Manner::Hangs => (200, None),
    };
    let body = ExportTraceServiceResponse { partial_success }.encode_to_vec();
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} x\r\ncontent-type: application/x-protobuf\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
}

fn collected(address: SocketAddr, log: Option<Log>) -> Settings {
    let telemetry = Telemetry::new(&format!("http://{address}/v1/traces"), None, log.clone()).unwrap();
    Settings { telemetry: Some(telemetry), log, ..settings() }
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    Some(match found.value.clone()?.value? {
        Any::StringValue(text) => text,
        Any::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const SENDER: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";

#[test]
fn each_request_is_a_span_with_the_ids_of_its_line_in_the_log() {
    let collector = Collector::start(Manner::Takes);
    let lines = Arc::<Mutex<Vec<Value>>>::default();
    let to = lines.clone();
    let log = Log::new("debug", move |line| to.lock().push(serde_json::from_str(line).unwrap())).unwrap();
    let settings = collected(collector.address, Some(log));
    on_node(settings, async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        ask(at, "GET /health?secret=1", "", "");
        ask(at, "GET /books:sum?secret=1", SENDER, "");
        ask(at, "POST /books:fly", "content-type: application/json\r\n", "{}");
        ask(at, "GET /bucks", "", "");
        ask(at, "BREW /books", "", "");
        // The sender does not record this trace, so the node does not record it either.
        ask(at, "GET /books", "traceparent: 00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n", "");
    });
    let spans = collector.spans();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["GET /health", "GET /books:sum", "POST /books", "GET", "HTTP"]);
    let statuses: Vec<_> = spans.iter().map(|span| attribute(span, "http.response.status_code").unwrap()).collect();
    assert_eq!(statuses, ["200", "200", "405", "404", "405"]);
    assert!(spans.iter().all(|span| span.kind == SpanKind::Server as i32));
    let logged = lines.lock();
    assert_eq!(logged.len(), 6);
    for (span, line) in spans.iter().zip(&*logged) {
        assert_eq!(
            (line["trace_id"].as_str(), line["span_id"].as_str()),
            (Some(&*hex(&span.trace_id)), Some(&*hex(&span.span_id)))
        );
    }
    let of_sum = &spans[1];
    assert_eq!(hex(&of_sum.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&of_sum.parent_span_id), "b7ad6b7169203331");
    assert_eq!(logged[1]["trace"], SENDER.trim().split_once(": ").unwrap().1);
    assert!(spans[0].parent_span_id.is_empty());
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/books:sum"),
        ("url.path", "/books:sum"),
        ("url.scheme", "http"),
        ("client.address", "127.0.0.1"),
        ("lehr.contract", "test/ledger"),
    ] {
        assert_eq!(attribute(of_sum, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(attribute(&spans[2], "lehr.code").as_deref(), Some("action_not_supported"));
    assert_eq!(attribute(&spans[4], "http.request.method_original").as_deref(), Some("BREW"));
    assert!(!format!("{spans:?}").contains("secret"));
    let resource = collector.received.lock()[0].1.resource_spans[0].resource.clone().unwrap();
    let service = resource.attributes.iter().find(|attribute| attribute.key == "service.name").unwrap();
    assert!(format!("{service:?}").contains("lehr"), "{service:?}");
}

#[test]
fn a_fault_of_the_node_is_an_error_and_one_of_the_client_is_none() {
    let collector = Collector::start(Manner::Takes);
    on_node(collector.settings(), async |node| {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let json = "content-type: application/json\r\n";
        assert_eq!(ask(node.address(), "POST /books:break", json, "{}").status, 500);
        assert_eq!(ask(node.address(), "POST /books:put", json, "{").status, 400);
    });
    let spans = collector.spans();
    let codes: Vec<i32> = spans.iter().map(|span| span.status.as_ref().map_or(0, |status| status.code)).collect();
    assert_eq!(codes, [StatusCode::Error as i32, StatusCode::Unset as i32]);
    assert!(attribute(&spans[0], "error.type").is_some() && attribute(&spans[1], "error.type").is_none());
}

#[test]
fn spans_of_two_nodes_join() {
    let collector = Collector::start(Manner::Takes);
    let (here, there) = (dispatcher(2), dispatcher(2));
    let start = |dispatcher: &lehr_runtime::Dispatcher| {
        Node::start(Host::new(dispatcher.handle()), collector.settings()).unwrap()
    };
    let (near, far) = (start(&here.0), start(&there.0));
    block_on(async {
        far.host().start("/books", Bookkeeper::new).await.unwrap();
        far.host().start("/tracer", Tracer::default).await.unwrap();
        let books = Client::new(None).unwrap().link(&format!("http://{}/books", far.address())).unwrap();
        let books = Reference::over(books).within(FOR_EVER);
        near.host().start("/teller", move || Teller::new(books.clone())).await.unwrap();
        let json = format!("{SENDER}content-type: application/json\r\n");
        assert_eq!(ask(near.address(), "POST /teller:trace", &json, "{}").status, 200);
        near.shutdown(FOR_EVER).await;
        far.shutdown(FOR_EVER).await;
    });
    let spans = collector.spans();
    let of = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (teller, tracer) = (of("POST /teller:trace"), of("POST /tracer:trace"));
    assert_eq!(hex(&teller.parent_span_id), "b7ad6b7169203331");
    assert_eq!((&tracer.parent_span_id, &tracer.trace_id), (&teller.span_id, &teller.trace_id));
}

/// Returns the number of spans with an outcome, from the page of metrics.
fn counted(at: SocketAddr, outcome: &str) -> u64 {
    let page = String::from_utf8(ask(at, "GET /metrics", "", "").body).unwrap();
    let name = format!("lehr_telemetry_spans_total{{outcome=\"{outcome}\"}} ");
    page.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
}

/// Reads the metrics until `is_there` holds for the number. If this never happens, the test hangs and the test run
/// reports its name.
fn wait_for(at: SocketAddr, outcome: &str, is_there: impl Fn(u64) -> bool) {
    while !is_there(counted(at, outcome)) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn without_a_collector_requests_are_answered_and_the_loss_is_counted_and_logged_once() {
    // No process listens at this address.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let lines = Arc::<Mutex<Vec<Value>>>::default();
    let to = lines.clone();
    let log = Log::new("warn", move |line| to.lock().push(serde_json::from_str(line).unwrap())).unwrap();
    on_node(collected(address, Some(log)), async |node| {
        let at = node.address();
        // These are more spans than one batch, so the first batch is sent at once.
        for _ in 0..600 {
            assert_eq!(ask(at, "GET /health", "", "").status, 200);
        }
        wait_for(at, "failed", |count| count >= 512);
        for _ in 0..600 {
            assert_eq!(ask(at, "GET /health", "", "").status, 200);
        }
        wait_for(at, "failed", |count| count >= 1024);
        assert_eq!(counted(at, "sent"), 0);
    });
    let lines = lines.lock();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0]["event"] == "telemetry" && lines[0]["reason"].as_str().unwrap().contains("spans are lost"),
        "{lines:?}"
    );
}

#[test]
fn a_collector_that_hangs_holds_up_neither_requests_nor_the_end() {
    let collector = Collector::start(Manner::Hangs);
    let (dispatcher, _clock) = dispatcher(2);
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let to = lines.clone();
    let log = Log::new("warn", move |line| to.lock().push(line.to_owned())).unwrap();
    let node = Node::start(Host::new(dispatcher.handle()), collected(collector.address, Some(log))).unwrap();
    let at = node.address();
    // After these requests, one batch is being sent and the queue is full.
    for _ in 0..3000 {
        assert_eq!(ask(at, "GET /health", "", "").status, 200);
    }
    wait_for(at, "dropped", |count| count > 0);
    let began = Moment::now();
    block_on(node.shutdown(Duration::from_millis(50)));
    // The node waits one second for the last spans, although the collector has ten seconds for each batch.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(lines.lock().iter().any(|line| line.contains("spans were not sent before the end")), "{:?}", lines.lock());
}

#[test]
fn what_a_collector_refuses_or_rejects_is_counted_as_failed() {
    for (manner, is_some_sent) in [(Manner::Answers(400), false), (Manner::Rejects(2), true)] {
        let collector = Collector::start(manner);
        on_node(collector.settings(), async |node| {
            let at = node.address();
            for _ in 0..512 {
                ask(at, "GET /health", "", "");
            }
            wait_for(at, "failed", |count| count > 0);
            assert_eq!(counted(at, "sent") > 0, is_some_sent);
            assert!(!is_some_sent || counted(at, "failed").is_multiple_of(2), "two of each batch");
        });
    }
}
