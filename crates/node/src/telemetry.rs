//! Spans of requests for an OpenTelemetry collector: one per request, sent in batches by OTLP over HTTP.
//!
//! A request only puts its span into a queue. If the queue is full, the span is dropped and counted. A separate thread
//! sends the spans in the queue, so a collector that is slow or down does not delay requests. The headers for the
//! collector, the name of the service and its attributes come from the environment variables that OpenTelemetry's
//! library reads.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::pin::{Pin, pin};
use std::time::{Duration, SystemTime};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::{Request, Response, StatusCode, Uri};
use lehr_runtime::TraceParent;
use lehr_services::{Code, Fault};
use lehr_sync::{Arc, Count};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, Key, KeyValue};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};
use prost::Message;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::client::{Trusting, once};
use crate::log::{Level, Log};
use crate::tokio_thread::TokioThread;
use crate::trust::Trust;

/// The maximum number of spans in the queue: the default in OpenTelemetry's specification.
const QUEUE: usize = 2048;

/// The maximum number of spans in a batch: the default in OpenTelemetry's specification.
const BATCH: usize = 512;

/// The maximum time that a span waits for its batch to fill: the default in OpenTelemetry's specification.
const DELAY: Duration = Duration::from_secs(5);

/// The time limit for sending a batch, including retries.
const SEND_TIME: Duration = Duration::from_secs(10);

/// The maximum size of a collector's answer, in bytes.
const ANSWER_BYTES: usize = 1 << 20;

/// Sends a span for each request to a collector. Cheap to clone: clones share the queue.
///
/// # Example
/// ```
/// use lehr_node::{Settings, Telemetry};
/// let telemetry = Telemetry::new("http://127.0.0.1:4318/v1/traces", None, None).unwrap();
/// let settings = Settings { telemetry: Some(telemetry), ..Settings::new() };
/// assert!(settings.check().is_ok());
/// assert_eq!(
///     Telemetry::new("127.0.0.1:4318", None, None).unwrap_err().reason(),
///     "expected the address of a collector, such as http://127.0.0.1:4318/v1/traces, found \"127.0.0.1:4318\""
/// );
/// ```
#[derive(Clone)]
pub struct Telemetry {
    shared: Arc<Shared>,
}

struct Shared {
    spans: mpsc::Sender<SpanData>,
    /// Callers that wait until all spans are sent.
    flushes: mpsc::UnboundedSender<oneshot::Sender<()>>,
    counts: Arc<Counts>,
    scope: InstrumentationScope,
    log: Option<Log>,
    thread: TokioThread,
}

/// The number of spans by outcome.
#[derive(Debug, Default)]
struct Counts {
    taken: Count,
    sent: Count,
    dropped: Count,
    failed: Count,
    /// Spans of accepted batches that the collector rejected.
    rejected: Count,
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Telemetry").field("counts", &self.shared.counts).finish_non_exhaustive()
    }
}

/// An answered request, with the facts for its span.
pub(crate) struct Served<'r> {
    pub(crate) request: &'r Request<()>,
    /// The span of the request; the next field has the span of its sender.
    pub(crate) span: TraceParent,
    pub(crate) parent: Option<TraceParent>,
    pub(crate) began: SystemTime,
    pub(crate) took: Duration,
    /// The path of the service with the operation, or the path of the page.
    pub(crate) route: Option<&'r str>,
    pub(crate) contract: &'r str,
    pub(crate) client: String,
    pub(crate) scheme: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) fault: Option<&'r Fault>,
}

impl Telemetry {
    /// Creates a sender to the trace collector at an address. The collector's certificate must be signed by an
    /// authority that `trust` names, or else by one that the machine trusts. The sender logs when the collector stops
    /// accepting spans, and when the collector accepts them again.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if the address or an environment variable is invalid;
    /// [`Code::InsufficientResources`] if no thread can be started.
    ///
    /// # Example
    /// See [`Telemetry`].
    pub fn new(address: &str, trust: Option<Trust>, log: Option<Log>) -> Result<Self, Fault> {
        let refuse = || {
            let reason = format!(
                "expected the address of a collector, such as http://127.0.0.1:4318/v1/traces, found {address:?}"
            );
            Fault::new(Code::InvalidValue, reason)
        };
        let uri: Uri = address.parse().map_err(|_| refuse())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        if !is_http || uri.query().is_some() || uri.authority().is_none_or(|name| name.as_str().contains('@')) {
            return Err(refuse());
        }
        let counts = Arc::<Counts>::default();
        let collector = Collector { trust: Trusting::new(trust), counts: counts.clone() };
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_endpoint(address)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(SEND_TIME)
            .build()
            .map_err(|error| Fault::new(Code::InvalidValue, format!("telemetry: {error}")))?;
        exporter.set_resource(&resource());
        let (spans, queue) = mpsc::channel(QUEUE);
        let (flushes, asked) = mpsc::unbounded_channel();
        let scarce = |error: std::io::Error| {
            Fault::new(Code::InsufficientResources, format!("no thread for telemetry: {error}"))
        };
        let thread = TokioThread::start("lehr-telemetry").map_err(scarce)?;
        let sending = Sending { exporter, counts: counts.clone(), log: log.clone(), is_failing: false };
        thread.handle().spawn(sending.run(queue, asked));
        let scope = InstrumentationScope::builder("lehr").with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Self { shared: Arc::new(Shared { spans, flushes, counts, scope, log, thread }) })
    }

    /// Puts the span of a request into the queue, if the trace is sampled. Never waits.
    pub(crate) fn served(&self, served: &Served<'_>) {
        if !served.span.is_sampled() {
            return;
        }
        let counts = &self.shared.counts;
        match self.shared.spans.try_send(self.span(served)) {
            Ok(()) => counts.taken.add(1),
            Err(_) => counts.dropped.add(1),
        };
    }

    fn span(&self, served: &Served<'_>) -> SpanData {
        let Served { request, span, parent, began, took, route, contract, client, scheme, status, fault } = served;
        let method = request.method().as_str();
        let is_known =
            matches!(method, "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH" | "TRACE" | "CONNECT");
        let mut attributes = vec![
            KeyValue::new("http.request.method", if is_known { method.to_owned() } else { "_OTHER".to_owned() }),
            KeyValue::new("url.path", request.uri().path().to_owned()),
            KeyValue::new("url.scheme", *scheme),
            KeyValue::new("client.address", client.clone()),
            KeyValue::new("http.response.status_code", i64::from(status.as_u16())),
        ];
        if !is_known {
            attributes.push(KeyValue::new("http.request.method_original", method.to_owned()));
        }
        if let Some(route) = route {
            attributes.push(KeyValue::new("http.route", (*route).to_owned()));
        }
        if !contract.is_empty() {
            attributes.push(KeyValue::new("lehr.contract", (*contract).to_owned()));
        }
        if let Some(fault) = fault {
            attributes.push(KeyValue::new("lehr.code", fault.code().as_str()));
        }
        if status.is_server_error() {
            let kind = fault.map_or_else(|| status.as_str().to_owned(), |fault| fault.code().as_str().to_owned());
            attributes.push(KeyValue::new("error.type", kind));
        }
        let shown = if is_known { method } else { "HTTP" };
        // A client's error is not a failure of the service.
        let failed = || Status::error(fault.map_or("", |fault| fault.reason()).to_owned());
        SpanData {
            span_context: SpanContext::new(
                TraceId::from(span.trace),
                SpanId::from(span.span),
                TraceFlags::new(span.flags),
                false,
                TraceState::NONE,
            ),
            parent_span_id: parent.map_or(SpanId::INVALID, |parent| SpanId::from(parent.span)),
            parent_span_is_remote: parent.is_some(),
            span_kind: SpanKind::Server,
            name: route.map_or_else(|| shown.to_owned(), |route| format!("{shown} {route}")).into(),
            start_time: *began,
            end_time: *began + *took,
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: if status.is_server_error() { failed() } else { Status::Unset },
            instrumentation_scope: self.shared.scope.clone(),
        }
    }

    /// Returns the number of spans by outcome.
    pub(crate) fn counts(&self) -> [(&'static str, u64); 3] {
        let Counts { sent, dropped, failed, .. } = &*self.shared.counts;
        [("sent", sent.get()), ("dropped", dropped.get()), ("failed", failed.get())]
    }

    /// Waits until the spans of all requests that were already answered are sent, at most for `limit`.
    pub(crate) async fn flush(&self, limit: Duration) {
        let (answer, answered) = oneshot::channel();
        let (done, is_done) = oneshot::channel();
        if self.shared.flushes.send(answer).is_err() {
            return;
        }
        // The limit is enforced on the thread for telemetry, because that thread has timers.
        self.shared.thread.handle().spawn(async move {
            let _ = timeout(limit, answered).await;
            let _ = done.send(());
        });
        let _ = is_done.await;
        let Counts { taken, sent, failed, .. } = &*self.shared.counts;
        let left = taken.get().saturating_sub(sent.get() + failed.get());
        if left > 0 {
            tell(self.shared.log.as_ref(), Level::Warn, || format!("{left} spans were not sent before the end"));
        }
    }
}

/// Describes this node from the environment; the program's own values are the defaults.
fn resource() -> Resource {
    let of = || {
        Resource::builder()
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_attribute(KeyValue::new("service.instance.id", format!("{:032x}", random_trace())))
    };
    let detected = of().build();
    let name = detected.get(&Key::from_static_str("service.name")).map(|name| name.to_string());
    // The library gives a service without a name a name with this prefix.
    match name {
        Some(name) if !name.starts_with("unknown_service") => detected,
        _ => of().with_service_name("lehr").build(),
    }
}

/// Returns the span of a request and the span of its sender. The span belongs to the sender's trace. Without a sender's
/// trace, it starts a new trace if `is_recorded`; otherwise there is no span.
pub(crate) fn spans(headers: &HeaderMap, is_recorded: bool) -> (Option<TraceParent>, Option<TraceParent>) {
    // A trace header that cannot be read is ignored, because tracing must not break requests.
    let text = headers.get("traceparent").and_then(|value| value.to_str().ok());
    let parent = text.and_then(|text| text.parse::<TraceParent>().ok());
    let own = match parent {
        Some(parent) => Some(TraceParent { span: random(), ..parent }),
        None => is_recorded.then(|| TraceParent { trace: random_trace(), span: random(), flags: 1 }),
    };
    (own, parent)
}

/// Returns a number that is unlikely to be drawn elsewhere; never 0.
fn random() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}

fn random_trace() -> u128 {
    u128::from(random()) << 64 | u128::from(random())
}

fn tell(log: Option<&Log>, level: Level, reason: impl FnOnce() -> String) {
    if let Some(log) = log {
        log.line(level, "", "", || {
            let fields = [("event", Value::from("telemetry")), ("reason", Value::from(reason()))];
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        });
    }
}

/// The exporter, which runs on its own thread.
struct Sending {
    exporter: SpanExporter,
    counts: Arc<Counts>,
    log: Option<Log>,
    is_failing: bool,
}

impl Sending {
    async fn run(
        mut self,
        mut queue: mpsc::Receiver<SpanData>,
        mut asked: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    ) {
        let mut batch = Vec::new();
        loop {
            let mut asks = None;
            tokio::select! {
                count = queue.recv_many(&mut batch, BATCH) => if count == 0 { return },
                ask = asked.recv() => asks = ask,
            }
            let mut deadline = pin!(sleep(DELAY));
            while asks.is_none() && batch.len() < BATCH {
                let room = BATCH - batch.len();
                tokio::select! {
                    count = queue.recv_many(&mut batch, room) => if count == 0 { return },
                    () = &mut deadline => break,
                    ask = asked.recv() => asks = ask,
                }
            }
            loop {
                while asks.is_some()
                    && batch.len() < BATCH
                    && let Ok(span) = queue.try_recv()
                {
                    batch.push(span);
                }
                if batch.is_empty() {
                    break;
                }
                self.send(std::mem::take(&mut batch)).await;
            }
            if let Some(ask) = asks {
                let _ = ask.send(());
            }
        }
    }

    async fn send(&mut self, batch: Vec<SpanData>) {
        let (count, before) = (batch.len() as u64, self.counts.rejected.get());
        let failed = match timeout(SEND_TIME, self.exporter.export(batch)).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("the collector takes longer than {} s", SEND_TIME.as_secs())),
        };
        let log = self.log.as_ref();
        match &failed {
            None => {
                let rejected = (self.counts.rejected.get() - before).min(count);
                self.counts.sent.add(count - rejected);
                self.counts.failed.add(rejected);
                if rejected > 0 {
                    tell(log, Level::Warn, || format!("the collector rejects {rejected} of {count} spans"));
                }
                if self.is_failing {
                    tell(log, Level::Info, || "the collector takes spans again".to_owned());
                }
            }
            Some(error) => {
                self.counts.failed.add(count);
                // The failure is logged once, and not for each batch.
                if !self.is_failing {
                    tell(log, Level::Warn, || {
                        format!("spans are lost, since the collector does not take them: {error}")
                    });
                }
            }
        }
        self.is_failing = failed.is_some();
    }
}

/// The HTTP client that OpenTelemetry's library uses to reach the collector.
struct Collector {
    trust: Trusting,
    counts: Arc<Counts>,
}

impl fmt::Debug for Collector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Collector").finish_non_exhaustive()
    }
}

impl Collector {
    async fn asked(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = once(&self.trust, request.map(Full::new)).await?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, ANSWER_BYTES).collect().await?.to_bytes();
        let rejected = ExportTraceServiceResponse::decode(body.clone()).ok().and_then(|told| told.partial_success);
        if head.status.is_success()
            && let Some(count) = rejected.and_then(|partly| u64::try_from(partly.rejected_spans).ok())
        {
            self.counts.rejected.add(count);
        }
        Ok(Response::from_parts(head, body))
    }
}

impl HttpClient for Collector {
    // This is the signature that `async_trait` generates.
    fn send_bytes<'c, 'f>(
        &'c self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        'c: 'f,
        Self: 'f,
    {
        Box::pin(async move { timeout(SEND_TIME, self.asked(request)).await.unwrap_or_else(|late| Err(late.into())) })
    }
}
