//! The client side of the network edge: services of another node, as links for references.
//!
//! A client has one thread, and one HTTP/2 connection for each node. Requests are sent in the order of the calls, and
//! the network edge admits requests from one connection to one service in that order. Behind a proxy that speaks only
//! HTTP/1.1, each request has its own connection. The order of simultaneous requests is then undefined. If a connection
//! breaks, the next request opens a new connection. A request in progress is sent again only if that is harmless.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use lehr_services::{
    Action, Answered, Change, Code, End, Events, Fault, Format, Info, Link, LinkEvent, Message, Options, Pending,
    Subscribe, Verb,
};
use lehr_sync::{Arc, Mutex, OnceLock};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::certificate::reason_within;
use crate::conditions::read_tag;
use crate::encode::fault;
use crate::error_recording::{ErrorRecording, Noted};
use crate::headers::{CONTRACT, IF_VERSION, INCARNATION, KEY, TIMEOUT};
use crate::stream::Stream;
use crate::tokio_thread::TokioThread;
use crate::trust::Trust;

/// The time limit of a request that sets no limit.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// The client waits this much longer than the service may take, so that it still receives the service's timeout fault.
const MARGIN: Duration = Duration::from_secs(5);

/// The time limit for opening a connection.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The interval at which the client pings a node; the node may take twice as long to answer.
const SIGN_OF_LIFE: Duration = Duration::from_secs(30);

/// The maximum size of an answer, in bytes.
const ANSWER_BYTES: usize = 1 << 30;

/// The maximum size of an event, in bytes.
const EVENT_BYTES: usize = 256 << 20;

type Sender = http2::SendRequest<Full<Bytes>>;

/// A client, shared by the links of one program: a thread, and a connection for each node. Cheap to clone.
///
/// # Example
/// ```no_run
/// use lehr_node::Client;
/// # use lehr_services::*;
/// # async fn example() -> Result<(), Fault> {
/// let client = Client::new(None)?;
/// let directory = Reference::<Directory>::over(client.link("http://127.0.0.1:8420/directory")?);
/// println!("{:?}", directory.get().await?.services);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    nodes: Mutex<HashMap<Origin, mpsc::UnboundedSender<Job>>>,
    /// The token that the client sends; it may be replaced while requests are in progress.
    token: Mutex<Option<HeaderValue>>,
    trust: Arc<Trusting>,
    thread: TokioThread,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("nodes", &self.shared.nodes.lock().len()).finish_non_exhaustive()
    }
}

/// The authorities that the client trusts: the given authorities, or else the authorities that the machine trusts,
/// which are loaded at first use.
#[derive(Default)]
pub(crate) struct Trusting {
    told: Option<Trust>,
    machine: OnceLock<Result<Trust, Fault>>,
}

impl Trusting {
    pub(crate) fn new(told: Option<Trust>) -> Self {
        Self { told, ..Self::default() }
    }

    fn trust(&self) -> Result<&Trust, Fault> {
        match &self.told {
            Some(trust) => Ok(trust),
            None => self.machine.get_or_init(|| Trust::from_files(None, None)).as_ref().map_err(Fault::clone),
        }
    }
}

/// A node: its protocol, and its address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Origin {
    is_tls: bool,
    authority: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}", if self.is_tls { "https" } else { "http" }, self.authority)
    }
}

impl Origin {
    /// Returns the node of an address, if the address has a valid scheme and host.
    fn of(uri: &Uri) -> Option<Self> {
        let authority = uri.authority()?.as_str().to_ascii_lowercase();
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return None,
        };
        (!authority.contains('@')).then_some(Self { is_tls, authority })
    }

    /// Returns the host without its port.
    fn host(&self) -> &str {
        self.with_port().0
    }

    fn with_port(&self) -> (&str, Option<u16>) {
        match self.authority.rsplit_once(':') {
            Some((host, port)) => port.parse().map_or((self.authority.as_str(), None), |port| (host, Some(port))),
            None => (&self.authority, None),
        }
    }

    /// Returns the address to connect to.
    fn address(&self) -> String {
        match self.with_port() {
            (_, Some(_)) => self.authority.clone(),
            (host, None) => format!("{host}:{}", if self.is_tls { 443 } else { 80 }),
        }
    }
}

/// A request that is being sent.
struct Job {
    request: Request<Full<Bytes>>,
    within: Duration,
    is_repeatable: bool,
    answer: oneshot::Sender<Result<Response<Incoming>, Fault>>,
}

impl Client {
    /// Creates a client that sends this token to the nodes that it calls.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if the token cannot be sent; [`Code::InsufficientResources`] if no thread can be
    /// started.
    ///
    /// # Example
    /// See [`Client`].
    pub fn new(token: Option<&str>) -> Result<Self, Fault> {
        Self::with(token, None)
    }

    /// Creates a client for nodes that use TLS. The client trusts certificates that the authorities of `trust` signed,
    /// and presents its own certificate to nodes that require one.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new).
    ///
    /// # Example
    /// See [`Trust`].
    pub fn trusting(token: Option<&str>, trust: Trust) -> Result<Self, Fault> {
        Self::with(token, Some(trust))
    }

    fn with(token: Option<&str>, trust: Option<Trust>) -> Result<Self, Fault> {
        // The token is checked before the thread starts, so that a return here need not wait for the thread.
        let token = Mutex::new(token.map(bearer).transpose()?);
        let scarce =
            |error: std::io::Error| Fault::new(Code::InsufficientResources, format!("no thread for a client: {error}"));
        let thread = TokioThread::start("lehr-client").map_err(scarce)?;
        let shared = Shared { nodes: Mutex::default(), token, trust: Arc::new(Trusting::new(trust)), thread };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Replaces the token, from the next request on.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if the token cannot be sent; then the earlier token stays.
    ///
    /// # Example
    /// ```
    /// let client = lehr_node::Client::new(Some("correct-horse-battery")).unwrap();
    /// client.show("another-horse-battery").unwrap();
    /// assert!(client.show("two\nlines").is_err());
    /// ```
    pub fn show(&self, token: &str) -> Result<(), Fault> {
        *self.shared.token.lock() = Some(bearer(token)?);
        Ok(())
    }

    /// Creates a link to the service at an address, `http://node:port/path` or `https://…`. This call sends nothing.
    ///
    /// Pass this method to [`Host::reach_by`](lehr_services::Host::reach_by) if services of the host have partners on
    /// other nodes.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if the address is invalid.
    ///
    /// # Example
    /// ```
    /// let client = lehr_node::Client::new(None).unwrap();
    /// assert!(client.link("http://127.0.0.1:8420/counter").is_ok());
    /// assert_eq!(
    ///     client.link("ftp://127.0.0.1/counter").unwrap_err().reason(),
    ///     "expected an address such as http://127.0.0.1:8420/counter, found \"ftp://127.0.0.1/counter\""
    /// );
    /// ```
    pub fn link(&self, address: &str) -> Result<HttpLink, Fault> {
        let refuse = || {
            let reason = format!("expected an address such as http://127.0.0.1:8420/counter, found {address:?}");
            Fault::new(Code::InvalidValue, reason)
        };
        let uri: Uri = address.parse().map_err(|_| refuse())?;
        let node = Origin::of(&uri).filter(|_| uri.query().is_none()).ok_or_else(refuse)?;
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(HttpLink { client: self.clone(), node, path })
    }

    /// Passes a request to the connection of its node, in the order of the calls.
    fn hand_over(&self, origin: &Origin, job: Job) {
        let mut nodes = self.shared.nodes.lock();
        let node = nodes.entry(origin.clone()).or_insert_with(|| {
            let (sender, jobs) = mpsc::unbounded_channel();
            self.shared.thread.handle().spawn(serve_node(origin.clone(), self.shared.trust.clone(), jobs));
            sender
        });
        // The task ends only with the client; if the runtime is gone, the answer's sender is dropped, which ends the
        // wait for the answer.
        let _ = node.send(job);
    }
}

/// Returns the value of the `Authorization` header for a token.
fn bearer(token: &str) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| Fault::new(Code::InvalidValue, "a token is of visible ASCII characters"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A service of another node.
///
/// # Example
/// See [`Client`].
#[derive(Clone)]
pub struct HttpLink {
    client: Client,
    node: Origin,
    path: String,
}

impl fmt::Debug for HttpLink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.node, self.path)
    }
}

/// Returns the fault of a node that does not answer.
fn unreachable(node: &Origin, why: impl fmt::Display) -> Fault {
    Fault::new(Code::Unavailable, format!("{node} cannot be reached: {why}")).retry_after(Duration::from_secs(1))
}

/// Returns the fault of a request that the node may or may not have carried out.
fn unknown_fate(node: &Origin, why: impl fmt::Display) -> Fault {
    let reason =
        format!("the connection to {node} broke while it was asked, which may or may not have been done: {why}");
    Fault::new(Code::Unavailable, reason)
}

/// The protocol of a node: HTTP/2 on one connection for all requests, or HTTP/1.1 on one connection for each request.
enum Spoken {
    Http2(Connection),
    Http1(http1::SendRequest<Full<Bytes>>),
}

/// Connects to a node; `is_old` says that the node is known to speak only HTTP/1.1. With TLS, the handshake negotiates
/// the protocol.
async fn connect(node: &Origin, trust: &Trusting, is_old: bool) -> Result<Spoken, Fault> {
    let connected = async {
        let stream = TcpStream::connect(&node.address()).await.map_err(|error| unreachable(node, error))?;
        let _ = stream.set_nodelay(true);
        if !node.is_tls {
            let stream = Box::new(stream);
            return if is_old { speak_http1(node, stream).await } else { speak(node, stream).await };
        }
        let stream = trust.trust()?.connect(node.host(), stream, &["h2", "http/1.1"]).await;
        let stream = stream.map_err(|why| unreachable(node, why))?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream = Box::new(stream);
        if is_http2 { speak(node, stream).await } else { speak_http1(node, stream).await }
    };
    timeout(CONNECT_TIME, connected).await.unwrap_or_else(|_| Err(unreachable(node, "it takes too long to connect")))
}

/// Starts HTTP/2 on a stream.
async fn speak(node: &Origin, stream: Stream) -> Result<Spoken, Fault> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).keep_alive_interval(SIGN_OF_LIFE).keep_alive_timeout(2 * SIGN_OF_LIFE);
    builder.keep_alive_while_idle(true);
    let (stream, noted) = ErrorRecording::new(stream);
    let (sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(node, said(&error)))?;
    // The requests in progress notice when the connection ends.
    tokio::spawn(async move { drop(connection.await) });
    Ok(Spoken::Http2(Connection { sender, noted }))
}

/// Starts HTTP/1.1 on a stream.
async fn speak_http1(node: &Origin, stream: Stream) -> Result<Spoken, Fault> {
    let made = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = made.map_err(|error| unreachable(node, said(&error)))?;
    tokio::spawn(async move { drop(connection.await) });
    Ok(Spoken::Http1(sender))
}

/// Sends one request over HTTP/1.1.
async fn send_http1(
    node: &Origin,
    mut sender: http1::SendRequest<Full<Bytes>>,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Fault> {
    let host = HeaderValue::try_from(&node.authority);
    request.headers_mut().insert(header::HOST, host.map_err(|error| unreachable(node, error))?);
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).parse();
    *request.uri_mut() = target.map_err(|error| unreachable(node, error))?;
    sender.send_request(request).await.map_err(|error| match error.is_canceled() {
        true => unreachable(node, said(&error)),
        false => unknown_fate(node, said(&error)),
    })
}

/// Sends one request on its own connection, to a server that may not be a node. The request uses HTTP/1.1, unless TLS
/// negotiates HTTP/2.
pub(crate) async fn once(trust: &Trusting, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Fault> {
    let no_address = || Fault::new(Code::InvalidValue, format!("{} has no host", request.uri()));
    let node = Origin::of(request.uri()).ok_or_else(no_address)?;
    match connect(&node, trust, true).await? {
        Spoken::Http1(sender) => send_http1(&node, sender, request).await,
        Spoken::Http2(mut connection) => {
            connection.sender.send_request(request).await.map_err(|error| unknown_fate(&node, connection.why(&error)))
        }
    }
}

/// A connection to a node and, if it broke, the reason.
#[derive(Clone)]
struct Connection {
    sender: Sender,
    noted: Arc<Noted>,
}

impl Connection {
    /// Returns the reason why a request on this connection was not answered. A node rejects a certificate only after
    /// the client considers itself connected. The node reports the rejection to the connection, not to the request.
    fn why(&self, error: &hyper::Error) -> String {
        self.noted.why.get().cloned().unwrap_or_else(|| said(error))
    }
}

/// Describes an error: by the TLS reason inside it, if there is one.
fn said(error: &hyper::Error) -> String {
    reason_within(error).unwrap_or_else(|| error.to_string())
}

/// Sends the requests for one node in order, and awaits their answers concurrently.
async fn serve_node(node: Origin, trust: Arc<Trusting>, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let node = Arc::new(node);
    // Set once the node turns out to speak only HTTP/1.1.
    let is_old = Arc::<OnceLock<()>>::default();
    let mut connection: Option<Connection> = None;
    while let Some(job) = jobs.recv().await {
        let mut ready = None;
        if let Some(mut known) = connection.take()
            && known.sender.ready().await.is_ok()
        {
            ready = Some(known);
        }
        let (node, trust, is_old) = (node.clone(), trust.clone(), is_old.clone());
        let Job { request, within, is_repeatable, answer } = job;
        let current = match ready {
            Some(known) => Ok(Spoken::Http2(known)),
            None => connect(&node, &trust, is_old.get().is_some()).await,
        };
        let mut current = match current {
            Ok(Spoken::Http2(made)) => made,
            Ok(Spoken::Http1(sender)) => {
                tokio::spawn(answer_in_time(node.clone(), within, answer, async move {
                    send_http1(&node, sender, request).await
                }));
                continue;
            }
            Err(fault) => {
                let _ = answer.send(Err(fault));
                continue;
            }
        };
        connection = Some(current.clone());
        // The request is sent here, to keep the order; only its answer is awaited elsewhere.
        let again = request.clone();
        let sent = current.sender.send_request(request);
        tokio::spawn(answer_in_time(node.clone(), within, answer, async move {
            let first = match sent.await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            if current.noted.is_http1() {
                // The node understood nothing of the request, so it did nothing.
                let _ = is_old.set(());
            } else if !is_repeatable {
                let why = current.why(&first);
                return Err(if first.is_canceled() { unreachable(&node, why) } else { unknown_fate(&node, why) });
            }
            // The request is sent once more, on a new connection: requests that may be sent twice need no order.
            match connect(&node, &trust, is_old.get().is_some()).await? {
                Spoken::Http1(sender) => send_http1(&node, sender, again).await,
                Spoken::Http2(mut anew) => {
                    let sent = anew.sender.send_request(again).await;
                    sent.map_err(|error| unreachable(&node, anew.why(&error)))
                }
            }
        }));
    }
}

/// Passes on the answer of a request, or a fault if it takes too long.
async fn answer_in_time(
    node: Arc<Origin>,
    within: Duration,
    mut answer: oneshot::Sender<Result<Response<Incoming>, Fault>>,
    answered: impl Future<Output = Result<Response<Incoming>, Fault>>,
) {
    let late = || Err(Fault::new(Code::ResponseTimeout, format!("{node} has not answered in {within:?}")));
    tokio::select! {
        answered = timeout(within, answered) => {
            let _ = answer.send(answered.unwrap_or_else(|_| late()));
        }
        // No task waits for the answer any more; dropping the request cancels it on the node.
        () = answer.closed() => {}
    }
}

impl HttpLink {
    /// Returns the whole address, in canonical form.
    pub(crate) fn address(&self) -> String {
        format!("{}{}", self.node, self.path)
    }

    /// Makes the next requests use a new connection. Requests in progress keep their connection.
    pub(crate) fn reconnect(&self) {
        let before = self.client.shared.nodes.lock().remove(&self.node);
        drop(before);
    }

    fn request(
        &self,
        method: Method,
        action: &str,
        query: &str,
        body: Vec<u8>,
        options: &Options,
    ) -> Result<Request<Full<Bytes>>, Fault> {
        let question = if query.is_empty() { "" } else { "?" };
        let address = format!("{}{}{action}{question}{query}", self.node, self.path);
        let bad = |what: &dyn fmt::Display| Fault::new(Code::InvalidValue, format!("this cannot be sent: {what}"));
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = address.parse().map_err(|error: hyper::http::uri::InvalidUri| bad(&error))?;
        let headers = request.headers_mut();
        let value = |text: String| HeaderValue::try_from(text).map_err(|error| bad(&error));
        let within = options.within.unwrap_or(ANSWER_TIME);
        headers.insert(TIMEOUT, value(within.as_millis().max(1).to_string())?);
        if let Some(key) = &options.key {
            headers.insert(KEY, value(key.clone())?);
        }
        if let Some(incarnation) = options.incarnation {
            headers.insert(INCARNATION, HeaderValue::from(incarnation));
        }
        if let Some((name, version)) = &options.contract {
            headers.insert(CONTRACT, value(format!("{name} {version}"))?);
        }
        if let Some(version) = options.if_version {
            headers.insert(IF_VERSION, HeaderValue::from(version));
        }
        if let Some(trace) = options.trace {
            headers.insert("traceparent", value(trace.to_string())?);
        }
        if let Some(token) = self.client.shared.token.lock().clone() {
            headers.insert(header::AUTHORIZATION, token);
        }
        Ok(request)
    }

    /// Passes a request to the connection of its node; the future returns the head of the answer.
    fn ask(
        &self,
        request: Result<Request<Full<Bytes>>, Fault>,
        within: Duration,
        is_repeatable: bool,
    ) -> Pending<'static, Result<Response<Incoming>, Fault>> {
        let (answer, answered) = oneshot::channel();
        match request {
            Err(fault) => drop(answer.send(Err(fault))),
            Ok(request) => self.client.hand_over(&self.node, Job { request, within, is_repeatable, answer }),
        }
        let node = self.node.clone();
        Box::pin(async move { answered.await.unwrap_or_else(|_| Err(unreachable(&node, "the client has gone"))) })
    }

    /// Asks the node for the list of its services, each with path, contract, version and phase. A path in the link's
    /// address is either the prefix under which a proxy has put the node, or a service of the node.
    ///
    /// # Errors
    /// Fails if the node cannot be reached, answers with a fault, or sends a list that cannot be decoded.
    pub async fn index(&self) -> Result<Vec<Listed>, Fault> {
        let root = Self { path: String::new(), ..self.clone() };
        match self.list().await {
            Err(fault) if !self.path.is_empty() && fault.code() != Code::Unavailable => {
                root.list().await.map_err(|_| fault)
            }
            listed => listed,
        }
    }

    async fn list(&self) -> Result<Vec<Listed>, Fault> {
        let request = self.request(Method::GET, "/", "", Vec::new(), &Options::default());
        let (_, body) = collect(self.ask(request, ANSWER_TIME + MARGIN, true).await?).await?;
        #[derive(Deserialize)]
        struct Index {
            services: Vec<Listed>,
        }
        Format::Json.decode::<Index>(&body).map(|index| index.services)
    }

    /// Returns the description of the service.
    ///
    /// # Errors
    /// Returns the reason why the request failed.
    pub async fn lookup(&self) -> Result<Info, Fault> {
        let (action, format) = (Action::Lookup, Format::MessagePack);
        let message = Message {
            action,
            verb: Verb::Lookup,
            body: Vec::new(),
            format,
            accept: format,
            options: Options::default(),
        };
        format.decode(&self.send(message).await?.body)
    }
}

/// A service in the list of a node.
///
/// # Example
/// See [`HttpLink::index`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Listed {
    /// The path of the service.
    pub path: String,
    /// The name of the service's contract.
    pub contract: String,
    /// The version of the contract.
    pub version: String,
    /// The service's phase.
    pub phase: lehr_services::Phase,
    /// Problems that occurred when the service started. A service with such problems works, but needs attention.
    #[serde(default)]
    pub reports: Vec<String>,
}

/// Returns the whole body of an answer, or the fault that it contains.
async fn collect(response: Response<Incoming>) -> Result<(hyper::http::response::Parts, Bytes), Fault> {
    let (parts, body) = response.into_parts();
    let collected = Limited::new(body, ANSWER_BYTES).collect().await;
    let body = collected
        .map_err(|error| Fault::new(Code::Unavailable, format!("the answer ended too early: {error}")))?
        .to_bytes();
    if parts.status == StatusCode::OK { Ok((parts, body)) } else { Err(fault(parts.status, &body)) }
}

impl Link for HttpLink {
    fn send(&self, message: Message) -> Pending<'static, Result<Answered, Fault>> {
        let Message { action, verb, body, format, accept, options } = message;
        let (method, action) = match &action {
            Action::Get => (Method::GET, String::new()),
            Action::Lookup => (Method::GET, ":lookup".to_owned()),
            Action::Drop => (Method::DELETE, String::new()),
            Action::Operation(name) => (Method::POST, format!(":{name}")),
        };
        let request = self.request(method, &action, "", body, &options).map(|mut request| {
            let headers = request.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept.media_type()));
            request
        });
        let within = options.within.unwrap_or(ANSWER_TIME) + MARGIN;
        let is_repeatable = verb.is_idempotent() || options.key.is_some();
        let answered = self.ask(request, within, is_repeatable);
        Box::pin(async move {
            let (parts, body) = collect(answered.await?).await?;
            let number = |name: &str| parts.headers.get(name)?.to_str().ok()?.parse().ok();
            let tag = parts.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).and_then(read_tag);
            let incarnation = number(INCARNATION).unwrap_or_default();
            Ok(Answered { body: Arc::new(body.into()), version: tag.map(|(_, version)| version), incarnation })
        })
    }

    fn subscribe(
        &self,
        wishes: Subscribe,
        _accept: Format,
        options: Options,
    ) -> Pending<'static, Result<Box<dyn Events>, Fault>> {
        let within = options.within.unwrap_or(ANSWER_TIME) + MARGIN;
        let query = query(&wishes);
        let request = query.and_then(|query| self.request(Method::GET, ":events", &query, Vec::new(), &options));
        let answered = self.ask(request, within, false);
        Box::pin(async move {
            let response = answered.await?;
            if response.status() != StatusCode::OK {
                return Err(collect(response)
                    .await
                    .err()
                    .unwrap_or_else(|| Fault::new(Code::OperationFailed, "no events")));
            }
            Ok(Box::new(HttpEvents { body: response.into_body(), text: Vec::new(), end: None }) as Box<dyn Events>)
        })
    }
}

/// Encodes subscription options as the query string of a URL.
fn query(wishes: &Subscribe) -> Result<String, Fault> {
    let fields = serde_json::to_value(wishes)
        .map_err(|error| Fault::new(Code::InvalidValue, format!("the wishes cannot be sent: {error}")))?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::Array(entries) => {
                for entry in entries.iter().filter_map(Value::as_str) {
                    if entry.contains(',') {
                        let reason = format!("{name}: {entry:?} has a comma, which cannot be sent");
                        return Err(Fault::new(Code::InvalidValue, reason));
                    }
                    query.append_pair(name, entry);
                }
            }
            Value::String(text) => {
                query.append_pair(name, text);
            }
            other => {
                query.append_pair(name, &other.to_string());
            }
        }
    }
    Ok(query.finish())
}

/// Server-sent events, as they arrive.
struct HttpEvents {
    body: Incoming,
    text: Vec<u8>,
    end: Option<End>,
}

impl Events for HttpEvents {
    fn next(&mut self) -> Pending<'_, Result<LinkEvent, End>> {
        Box::pin(async move {
            if let Some(end) = &self.end {
                return Err(end.clone());
            }
            let told = self.read().await;
            if let Err(end) = &told {
                self.end = Some(end.clone());
            }
            told
        })
    }
}

impl HttpEvents {
    /// Returns the next event. Cancel-safe: the bytes read so far stay.
    async fn read(&mut self) -> Result<LinkEvent, End> {
        loop {
            if let Some(end) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..end + 2).collect();
                match told(&String::from_utf8_lossy(&block))? {
                    Some(told) => return Ok(told),
                    None => continue,
                }
            }
            let lost = |why: &dyn fmt::Display| {
                End::Lost(Fault::new(Code::Unavailable, format!("the connection broke: {why}")))
            };
            if self.text.len() > EVENT_BYTES {
                return Err(lost(&"an event is too long"));
            }
            match self.body.frame().await {
                None => return Err(lost(&"it was closed")),
                Some(Err(error)) => return Err(lost(&error)),
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.text.extend_from_slice(data);
                    }
                }
            }
        }
    }
}

/// Returns the content of one event; `None` if it is only a heartbeat.
fn told(block: &str) -> Result<Option<LinkEvent>, End> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    let (Some(kind), Some(data)) = (field("event: "), field("data: ")) else { return Ok(None) };
    let bad = |error: serde_json::Error| {
        End::Lost(Fault::new(Code::MessageNotSupported, format!("an event that cannot be read: {error}")))
    };
    #[derive(Deserialize)]
    struct Seed {
        incarnation: u64,
        version: u64,
        state: Value,
    }
    #[derive(Deserialize)]
    struct Changed {
        incarnation: u64,
        version: u64,
        operation: String,
        verb: Verb,
        key: Option<String>,
        body: Value,
    }
    #[derive(Deserialize)]
    struct Gap {
        missed: u64,
    }
    #[derive(Deserialize)]
    struct Ended {
        why: End,
    }
    Ok(Some(match kind {
        "seed" => {
            let Seed { incarnation, version, state } = serde_json::from_str(data).map_err(bad)?;
            LinkEvent::Seed {
                version,
                incarnation,
                format: Format::Json,
                body: Arc::new(state.to_string().into_bytes()),
            }
        }
        "change" => {
            let changed: Changed = serde_json::from_str(data).map_err(bad)?;
            let body = (Format::Json, changed.body.to_string().into_bytes());
            let at = (changed.incarnation, changed.version);
            LinkEvent::Change(Arc::new(Change::from_bytes(at, changed.operation, changed.verb, changed.key, body)))
        }
        "gap" => {
            let Gap { missed } = serde_json::from_str(data).map_err(bad)?;
            LinkEvent::Gap { missed }
        }
        "end" => {
            let Ended { why } = serde_json::from_str(data).map_err(bad)?;
            return Err(why);
        }
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_cannot_be_sent_is_refused() {
        assert_eq!(Client::new(Some("one line\nand another")).unwrap_err().code(), Code::InvalidValue);
    }

    #[test]
    fn an_event_is_read_back() {
        let block = "event: change\nid: 1-2\ndata: {\"incarnation\":1,\"version\":2,\"operation\":\"add\",\"verb\":\"update\",\"key\":null,\"body\":5}\n\n";
        let Ok(Some(LinkEvent::Change(change))) = told(block) else { panic!("a change") };
        assert_eq!(
            (change.version(), change.name(), &*change.body(Format::Json).unwrap()),
            (2, "add", b"5".as_slice())
        );
        assert!(matches!(told(": here\n\n"), Ok(None)));
        assert_eq!(told("event: end\ndata: {\"why\":\"stopped\"}\n\n").unwrap_err(), End::Stopped);
        assert!(matches!(told("event: seed\ndata: {\n\n"), Err(End::Lost(_))));
    }
}
