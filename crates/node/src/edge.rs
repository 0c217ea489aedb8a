//! The threads that listen: connections in, each served by the thread that took it.
//!
//! Tokio stands here and nowhere below: each thread has a current-thread runtime for sockets and time limits. What is asked of
//! services is handed to the host's dispatcher, and its answer awaited here.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::Duration;

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
use crate::log::Level;
use crate::renewed::News;
use crate::settings::{Limits, Rate, Settings};
use crate::taking::Pressed;
use crate::tls::{Tls, names};
use crate::tokio_thread::TokioThread;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// The DNS names of the certificate that it has shown, if it had to.
    pub(crate) names: Option<Arc<[String]>>,
}

/// How many addresses are counted at once; the fullest buckets are forgotten first.
const ADDRESSES: usize = 10_000;

/// How often an answer is looked for, by a thread that has nothing else to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks {
    /// With a pause of some tens of nanoseconds before each.
    pub(crate) spinning: usize,
    /// After that, each time that the system gives the core back.
    pub(crate) yielding: usize,
}

impl Looks {
    /// As this machine has it: on one core nobody answers while this thread spins.
    fn here() -> Self {
        let cores = lehr_sync::thread::available();
        Self { spinning: if cores > 1 { 40 } else { 0 }, yielding: 4 }
    }
}

/// What all threads of an edge share.
pub(crate) struct Edge {
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    connections: Arc<Semaphore>,
    requests: Arc<Semaphore>,
    subscriptions: Arc<Semaphore>,
    /// How often an answer is looked for before an edge thread sleeps.
    pub(crate) looks: Looks,
    /// Requests left to each address, and when that was so.
    buckets: Mutex<HashMap<IpAddr, (f64, Duration)>>,
}

impl Edge {
    pub(crate) fn new(host: Host, settings: Settings, address: SocketAddr) -> Self {
        let places = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        let limits = &settings.limits;
        Self {
            connections: places(limits.connections),
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

    /// A place for a request.
    pub(crate) fn request(&self) -> Result<OwnedSemaphorePermit, Fault> {
        place(&self.requests, "requests")
    }

    /// Whether no request but the caller's is being served.
    pub(crate) fn has_one_request(&self) -> bool {
        self.requests.available_permits() + 1 >= self.limits().requests.min(Semaphore::MAX_PERMITS)
    }

    /// A place for a subscription.
    pub(crate) fn subscription(&self) -> Result<OwnedSemaphorePermit, Fault> {
        place(&self.subscriptions, "subscriptions")
    }

    /// Counts a request from an address.
    ///
    /// # Errors
    /// [`Code::QueuingLimitExceeded`] with the time after which there is one more.
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
/// If a thread or its runtime cannot be had.
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

/// Takes connections until the node stops, then waits for those that are being served.
async fn accept(edge: Arc<Edge>, listener: TcpListener, mut stopping: watch::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut served = tokio::task::JoinSet::new();
    // Who connects before the directory answers waits for it, and is not turned away.
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
                // Too many: closed at once, which is the least that can be done.
                let Ok(place) = edge.connections.clone().try_acquire_owned() else { continue };
                let _ = stream.set_nodelay(true);
                let (edge, stopping) = (edge.clone(), stopping.clone());
                served.spawn(async move {
                    begin(edge, stream, address, stopping).await;
                    drop(place);
                });
            }
            // Out of descriptors, most likely: others are closed meanwhile.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    drop(listener);
    while served.join_next().await.is_some() {}
}

/// Serves a connection, behind TLS if the node speaks that.
async fn begin(edge: Arc<Edge>, stream: TcpStream, address: SocketAddr, mut stopping: watch::Receiver<bool>) {
    let Some(tls) = &edge.settings.tls else {
        let stream = Pressed::new(stream, edge.limits().take_time);
        return serve(edge, stream, Peer { address, names: None }, stopping).await;
    };
    let accepted = tokio::select! {
        accepted = timeout(edge.limits().header_time, secured(&edge, tls, stream)) => accepted,
        _ = stopping.changed() => return,
    };
    let why = match accepted {
        Ok(Ok(stream)) => {
            let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
            let names = shown.map(|certificate| Arc::from(names(certificate)));
            return serve(edge, stream, Peer { address, names }, stopping).await;
        }
        Ok(Err(why)) => why,
        Err(_) => "it takes too long to begin".to_owned(),
    };
    say(&edge, Level::Warn, || {
        vec![("event", "handshake".to_owned()), ("address", address.to_string()), ("reason", why)]
    });
}

/// Writes a line of the log that is about no service.
fn say(edge: &Edge, level: Level, fields: impl FnOnce() -> Vec<(&'static str, String)>) {
    if let Some(log) = &edge.settings.log {
        log.line(level, "", "", || {
            fields().into_iter().map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
        });
    }
}

/// What is said to a client that does not speak TLS.
const NOT_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 51\r\nconnection: close\r\n\r\n\
    This node speaks TLS: ask for https://, not http://";

/// The first byte of whoever speaks TLS.
const HANDSHAKE: u8 = 22;

async fn secured(edge: &Edge, tls: &Tls, mut stream: TcpStream) -> Result<TlsStream<Pressed>, String> {
    let mut first = [0];
    let count = stream.peek(&mut first).await.map_err(|error| error.to_string())?;
    if count == 1 && first[0] != HANDSHAKE {
        let _ = stream.write_all(NOT_TLS).await;
        linger(stream).await;
        return Err("it does not speak TLS".to_owned());
    }
    let (acceptor, news) = tls.acceptor();
    let event = |reason: String| vec![("event", "certificate".to_owned()), ("reason", reason)];
    match news {
        News::Same => {}
        News::Renewed => say(edge, Level::Info, || event("connections are shown the new one from now on".to_owned())),
        News::Refused(fault) => {
            say(edge, Level::Error, || event(format!("the one before is still shown, since {}", fault.reason())));
        }
    }
    // Below TLS: what that keeps to itself is not taken by anybody.
    match acceptor.accept(Pressed::new(stream, edge.limits().take_time)).into_fallible().await {
        Ok(stream) => Ok(stream),
        Err((error, stream)) => {
            linger(stream).await;
            Err(reason_within(&error).unwrap_or_else(|| error.to_string()))
        }
    }
}

/// How much more is read of a client that has been refused.
const LINGER_BYTES: usize = 64 << 10;

/// Reads what a client has sent already: a connection that is closed with something unread is cut off before its last words are heard.
async fn linger(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let _ = stream.shutdown().await;
    let mut unread = [0; 4096];
    let mut left = LINGER_BYTES;
    // The time limit of the handshake is that of this too.
    while let Ok(count @ 1..) = stream.read(&mut unread).await {
        left = left.saturating_sub(count);
        if left == 0 {
            return;
        }
    }
}
