//! The threads that listen; each thread serves the connections that it accepts.
//!
//! This crate uses Tokio, and the crates below it do not: each thread has a current-thread runtime for sockets and time
//! limits. Requests to services go to the host's dispatcher, and the threads here await their answers.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::Duration;

use hyper::body::Bytes;
use lehr_services::{Code, Fault, Host};
use lehr_sync::{Arc, Mutex};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

use crate::certificate::reason_within;
use crate::connection::serve;
use crate::connections::{Connections, Place};
use crate::log::Level;
use crate::metrics::Traffic;
use crate::policy::Policy;
use crate::renewed::News;
use crate::settings::{Limits, Rate, Settings};
use crate::tls::{Tls, names};
use crate::tokio_thread::TokioThread;
use crate::unsent::{Shared, Sizes, Unsent, counted};
use crate::write_timeout::WriteTimeout;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// The DNS names of the client certificate, if the node requires one.
    pub(crate) names: Option<Arc<[String]>>,
    /// The place that the connection holds among all connections.
    pub(crate) place: Arc<Place>,
}

/// From this number of addresses on, buckets that are full again are removed before another address is added. The
/// number of addresses may still grow beyond it.
const ADDRESSES: usize = 10_000;

/// The number of times that an otherwise idle thread looks for an answer before it sleeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks {
    /// The number of looks with a pause of some tens of nanoseconds before each look.
    pub(crate) spinning: usize,
    /// The number of further looks, each after the thread has yielded its core.
    pub(crate) yielding: usize,
}

impl Looks {
    /// Returns how often a thread of this machine looks for an answer before it sleeps. With one core the thread does
    /// not spin, because no answer can arrive meanwhile.
    fn here() -> Self {
        let cores = lehr_sync::thread::available();
        Self { spinning: if cores > 1 { 40 } else { 0 }, yielding: 4 }
    }
}

/// The state that all threads of the network edge share.
pub(crate) struct Edge {
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    /// The address that the node listens on.
    pub(crate) address: SocketAddr,
    /// The rights of clients, which can change while the node runs.
    policy: watch::Sender<Option<Arc<Policy>>>,
    /// Whether the services are shutting down.
    closing: watch::Sender<bool>,
    pub(crate) connections: Arc<Connections>,
    /// The bytes of all answers that are being sent.
    pub(crate) unsent: Arc<Unsent>,
    /// The sizes of earlier answers, for answers that are being computed.
    pub(crate) sizes: Sizes,
    pub(crate) traffic: Traffic,
    requests: Arc<Semaphore>,
    subscriptions: Arc<Semaphore>,
    /// The number of times that a thread looks for an answer before it sleeps.
    pub(crate) looks: Looks,
    /// For each address, the number of requests left, and the time at which this number was computed.
    buckets: Mutex<HashMap<IpAddr, (f64, Duration)>>,
}

impl Edge {
    pub(crate) fn new(host: Host, settings: Settings, address: SocketAddr) -> Self {
        let places = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        let limits = &settings.limits;
        Self {
            policy: watch::Sender::new(settings.policy.clone().map(Arc::new)),
            closing: watch::Sender::new(false),
            connections: Connections::new(
                limits.connections,
                limits.connections_per_address,
                limits.unsent_connection_bytes,
            ),
            unsent: Unsent::new(limits.unsent_bytes),
            sizes: Sizes::default(),
            traffic: Traffic::default(),
            requests: places(limits.requests),
            subscriptions: places(limits.subscriptions),
            looks: Looks::here(),
            buckets: Mutex::default(),
            host,
            settings,
            address,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// Returns the current policy.
    pub(crate) fn policy(&self) -> Option<Arc<Policy>> {
        self.policy.borrow().clone()
    }

    /// Sets the rights of clients from now on.
    pub(crate) fn replace_policy(&self, policy: Policy) {
        self.policy.send_replace(Some(Arc::new(policy)));
    }

    /// Returns a receiver of each new policy.
    pub(crate) fn policies(&self) -> watch::Receiver<Option<Arc<Policy>>> {
        self.policy.subscribe()
    }

    /// Refuses requests to services from now on, and ends requests that only wait.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Waits until the services are shutting down.
    pub(crate) async fn closed(&self) {
        // The sender is in this struct, so this does not fail.
        let _ = self.closing.subscribe().wait_for(|is_closing| *is_closing).await;
    }

    /// Returns the bytes of an answer, which are counted until they are sent.
    ///
    /// # Errors
    /// Returns [`Code::Unavailable`] if too many bytes are being sent, to this client or to all clients.
    pub(crate) fn counted(&self, peer: &Peer, body: impl Into<Shared>) -> Result<Bytes, Fault> {
        counted([&self.unsent, &peer.place.unsent], Some(peer.place.answering()), body.into())
    }

    /// Returns whether an address belongs to a trusted proxy.
    fn is_proxy(&self, address: IpAddr) -> bool {
        self.settings.proxies.iter().any(|network| network.contains(address))
    }

    /// Returns a permit for a request.
    pub(crate) fn request(&self) -> Result<OwnedSemaphorePermit, Fault> {
        place(&self.requests, "requests")
    }

    /// Returns whether the calling task's request is the only request that is being served.
    pub(crate) fn has_one_request(&self) -> bool {
        self.requests.available_permits() + 1 >= self.limits().requests.min(Semaphore::MAX_PERMITS)
    }

    /// Returns the numbers of requests and of subscriptions in progress.
    pub(crate) fn in_flight(&self) -> (usize, usize) {
        let taken = |places: &Semaphore, most: usize| most.min(Semaphore::MAX_PERMITS) - places.available_permits();
        (taken(&self.requests, self.limits().requests), taken(&self.subscriptions, self.limits().subscriptions))
    }

    /// Returns a permit for a subscription.
    pub(crate) fn subscription(&self) -> Result<OwnedSemaphorePermit, Fault> {
        place(&self.subscriptions, "subscriptions")
    }

    /// Counts a request from an address against the rate limit.
    ///
    /// # Errors
    /// Returns [`Code::QueuingLimitExceeded`] if the address exceeds the limit, with the time until the next request is
    /// allowed.
    pub(crate) fn count(&self, address: IpAddr) -> Result<(), Fault> {
        let Some(rate) = self.limits().rate else { return Ok(()) };
        let now = self.host.clock().now();
        let mut buckets = self.buckets.lock();
        if buckets.len() >= ADDRESSES && !buckets.contains_key(&address) {
            buckets
                .retain(|_, (left, since)| refilled(rate, *left, now.saturating_sub(*since)) < f64::from(rate.burst));
        }
        let (left, since) = buckets.entry(address).or_insert((f64::from(rate.burst), now));
        *left = refilled(rate, *left, now.saturating_sub(*since));
        *since = now;
        if *left >= 1.0 {
            *left -= 1.0;
            return Ok(());
        }
        let wait = Duration::from_secs_f64((1.0 - *left) / rate.per_second);
        let reason = format!("more than {} requests a second from one address", rate.per_second);
        Err(Fault::new(Code::QueuingLimitExceeded, reason).retry_after(wait))
    }
}

fn refilled(rate: Rate, left: f64, after: Duration) -> f64 {
    (left + after.as_secs_f64() * rate.per_second).min(f64::from(rate.burst))
}

fn place(places: &Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, Fault> {
    places.clone().try_acquire_owned().map_err(|_| {
        let reason = format!("the node serves as many {what} as it may");
        Fault::new(Code::Unavailable, reason).retry_after(Duration::from_secs(1))
    })
}

/// Starts the threads that listen.
///
/// # Errors
/// Fails if a thread or its runtime cannot be started.
pub(crate) fn listen(
    edge: &Arc<Edge>,
    listener: &TcpListener,
    stopping: &watch::Receiver<bool>,
) -> std::io::Result<Vec<TokioThread>> {
    listener.set_nonblocking(true)?;
    let mut threads = Vec::new();
    for number in 0..edge.settings.threads {
        let (edge, listener, stopping) = (edge.clone(), listener.try_clone()?, stopping.clone());
        threads.push(TokioThread::run(&format!("lehr-edge-{number}"), accept(edge, listener, stopping))?);
    }
    Ok(threads)
}

/// Accepts connections until the node stops, then waits until the connections that are being served have ended.
async fn accept(edge: Arc<Edge>, listener: TcpListener, mut stopping: watch::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut served = tokio::task::JoinSet::new();
    let mut refusals = Refusals::default();
    // A client that connects before the directory answers waits for it, instead of being refused.
    tokio::select! {
        () = edge.host.ready() => {}
        _ = stopping.changed() => return,
    }
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.changed() => break,
        };
        while served.try_join_next().is_some() {}
        match accepted {
            Ok((stream, address)) => {
                let canonical = address.ip().to_canonical();
                // There are too many connections, so this one is closed at once, which costs the least.
                let Some(place) = edge.connections.enter(canonical, edge.is_proxy(canonical)) else {
                    refusals.tell(&edge, || format!("no place for a connection from {canonical}: all are in use"));
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let (edge, stopping) = (edge.clone(), stopping.clone());
                served.spawn(async move {
                    let idle_time = edge.limits().idle_time;
                    tokio::select! {
                        () = begin(edge, stream, address, place.clone(), stopping) => {}
                        () = place.ends(idle_time) => {}
                    }
                });
            }
            // Most likely there are no descriptors left: this closes an idle connection, and other connections may
            // close in the meantime.
            Err(error) => {
                let is_spared = edge.connections.spare_one();
                refusals.tell(&edge, || {
                    let remedy = if is_spared { ", so an idle one was closed" } else { "" };
                    format!("a connection cannot be taken: {error}{remedy}")
                });
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
    drop(listener);
    while served.join_next().await.is_some() {}
}

/// Logs refused connections, at most once a second, because there may be thousands.
#[derive(Default)]
struct Refusals {
    /// The time of the last logged refusal.
    told: Option<Duration>,
    /// The number of refusals since that time.
    silent: u64,
}

impl Refusals {
    fn tell(&mut self, edge: &Edge, reason: impl FnOnce() -> String) {
        let now = edge.host.clock().now();
        if self.told.is_some_and(|told| now.saturating_sub(told) < Duration::from_secs(1)) {
            self.silent += 1;
            return;
        }
        let more = std::mem::take(&mut self.silent);
        self.told = Some(now);
        say(edge, Level::Warn, || {
            let more = if more > 0 { format!("; {more} more since the line before") } else { String::new() };
            vec![("event", "connection".to_owned()), ("reason", reason() + &more)]
        });
    }
}

/// Serves a connection, with TLS if the node uses it.
async fn begin(
    edge: Arc<Edge>,
    stream: TcpStream,
    address: SocketAddr,
    place: Arc<Place>,
    mut stopping: watch::Receiver<bool>,
) {
    let Some(tls) = &edge.settings.tls else {
        let stream = WriteTimeout::new(stream, edge.limits().take_time);
        return serve(edge, Box::new(stream), Peer { address, names: None, place }, stopping).await;
    };
    let accepted = tokio::select! {
        accepted = timeout(edge.limits().header_time, secured(&edge, tls, stream)) => accepted,
        _ = stopping.changed() => return,
    };
    let why = match accepted {
        Ok(Ok(stream)) => {
            let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
            let names = shown.map(|certificate| Arc::from(names(certificate)));
            return serve(edge, Box::new(stream), Peer { address, names, place }, stopping).await;
        }
        Ok(Err(why)) => why,
        Err(_) => "it takes too long to begin".to_owned(),
    };
    say(&edge, Level::Warn, || {
        vec![("event", "handshake".to_owned()), ("address", address.to_string()), ("reason", why)]
    });
}

/// Writes a line of the log that concerns no service.
fn say(edge: &Edge, level: Level, fields: impl FnOnce() -> Vec<(&'static str, String)>) {
    if let Some(log) = &edge.settings.log {
        log.line(level, "", "", || {
            fields().into_iter().map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
        });
    }
}

/// The answer to a client that does not use TLS.
const NOT_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 51\r\nconnection: close\r\n\r\n\
    This node speaks TLS: ask for https://, not http://";

/// The first byte from a client that uses TLS.
const HANDSHAKE: u8 = 22;

/// Logs how the certificate files changed.
pub(crate) fn tell_of_certificates(edge: &Edge, news: News) {
    let event = |reason: String| vec![("event", "certificate".to_owned()), ("reason", reason)];
    match news {
        News::Same => {}
        News::Renewed => say(edge, Level::Info, || event("connections are shown the new one from now on".to_owned())),
        News::Refused(fault) => {
            say(edge, Level::Error, || event(format!("the one before is still shown, since {}", fault.reason())));
        }
    }
}

async fn secured(edge: &Edge, tls: &Tls, mut stream: TcpStream) -> Result<TlsStream<WriteTimeout>, String> {
    let mut first = [0];
    let count = stream.peek(&mut first).await.map_err(|error| error.to_string())?;
    if count == 1 && first[0] != HANDSHAKE {
        let _ = stream.write_all(NOT_TLS).await;
        linger(stream).await;
        return Err("it does not speak TLS".to_owned());
    }
    let (acceptor, news) = tls.acceptor();
    tell_of_certificates(edge, news);
    // The time limit is below TLS, because the client has not received bytes that TLS still buffers.
    match acceptor.accept(WriteTimeout::new(stream, edge.limits().take_time)).into_fallible().await {
        Ok(stream) => Ok(stream),
        Err((error, stream)) => {
            linger(stream).await;
            Err(reason_within(&error).unwrap_or_else(|| error.to_string()))
        }
    }
}

/// The maximum number of bytes that are still read from a refused client.
const LINGER_BYTES: usize = 64 << 10;

/// Reads everything that a client has already sent: if a connection closes with unread data, the client may not receive
/// the last answer.
async fn linger(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let _ = stream.shutdown().await;
    let mut unread = [0; 4096];
    let mut left = LINGER_BYTES;
    // The time limit of the handshake covers this too.
    while let Ok(count @ 1..) = stream.read(&mut unread).await {
        left = left.saturating_sub(count);
        if left == 0 {
            return;
        }
    }
}
