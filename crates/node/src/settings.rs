//! The settings of a node before it listens.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use lehr_services::{Code, Fault};

use crate::log::Log;
use crate::origin::Origins;
use crate::policy::Policy;
use crate::proxy::Network;
use crate::telemetry::Telemetry;
use crate::tls::Tls;
use crate::viewer::Viewer;

/// A node's address, callers and limits.
///
/// # Example
/// ```
/// use lehr_node::Settings;
/// let settings = Settings::new();
/// assert!(settings.address.ip().is_loopback() && settings.check().is_ok());
///
/// let open = Settings { address: ([0, 0, 0, 0], 8420).into(), ..Settings::new() };
/// assert!(open.check().unwrap_err().reason().contains("--insecure"));
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address that the node listens on; with port 0, the system chooses the port. Default: 127.0.0.1, port 8420.
    pub address: SocketAddr,
    /// The rights of callers. Default: none, which is allowed only on loopback; then every client may do everything.
    pub policy: Option<Policy>,
    /// Origins whose pages may call the node, in addition to the node's own origin. Default: none.
    pub origins: Origins,
    /// The reverse proxies in front of the node that are trusted to report a client's address. Default: none.
    pub proxies: Vec<Network>,
    /// Whether a node without a policy may listen beyond loopback, or require client certificates.
    pub is_insecure: bool,
    /// The certificates that the node presents and requires; connections then use only TLS. Default: none, and no TLS.
    pub tls: Option<Tls>,
    /// The log of requests. Default: none.
    pub log: Option<Log>,
    /// The collector that gets a span for each request. Default: none.
    pub telemetry: Option<Telemetry>,
    /// The pages that the node shows in a browser. Default: a list of its services.
    pub viewer: Viewer,
    /// The number of threads that serve connections. Default: 1.
    pub threads: usize,
    /// The limits for clients.
    pub limits: Limits,
}

/// The limits that a node sets for its clients. Requests beyond a limit are refused with a status that says so.
///
/// # Example
/// ```
/// use lehr_node::Limits;
/// assert_eq!(Limits::default().body_bytes, 16 << 20);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The maximum number of connections at once. Beyond this number, a new connection replaces an idle connection. If
    /// no connection is idle, the new connection is closed at once. Default: 4096.
    pub connections: usize,
    /// The maximum number of connections at once from one address that is not a proxy's. Default: 1024.
    pub connections_per_address: usize,
    /// The time after which a connection without an answer in progress is closed. The node may close the connection
    /// only after twice this time. Default: 2 minutes.
    pub idle_time: Duration,
    /// The age at which the node asks a connection's client to open another connection; answers in progress continue.
    /// Default: 1 day.
    pub connection_age: Duration,
    /// The maximum number of bytes of answers that are kept on one connection until the client reads them. One answer
    /// is always accepted; further answers beyond the limit are replaced by status 503. Default: 128 MiB.
    pub unsent_connection_bytes: usize,
    /// The maximum number of bytes of answers that are kept on all connections together. Bytes that several answers
    /// share are counted once. Default: 512 MiB.
    pub unsent_bytes: usize,
    /// The maximum length of a body, in bytes. Default: 16 MiB.
    pub body_bytes: usize,
    /// The maximum length of all headers together, at least 8 KiB. Default: 64 KiB.
    pub header_bytes: usize,
    /// The maximum number of headers. Default: 100.
    pub headers: usize,
    /// The time limit for a client to send its headers. Default: 10 s.
    pub header_time: Duration,
    /// The time limit for a client to send a body. Default: 60 s.
    pub body_time: Duration,
    /// The time after which a connection is closed if its client reads none of the bytes sent to it. The node may close
    /// the connection only after twice this time. On HTTP/2, where a single answer may be stuck, the limit also applies
    /// to each answer. Default: 60 s.
    pub take_time: Duration,
    /// The time limit of a request that sets no limit. Default: 30 s.
    pub answer_time: Duration,
    /// The maximum time limit of a request. A longer limit that a request sets is shortened to this one. Default: 1
    /// hour.
    pub answer_time_max: Duration,
    /// The maximum number of requests at once, over all connections; further requests are answered 503. Default:
    /// 16,384.
    pub requests: usize,
    /// The maximum number of subscriptions at once; further subscriptions are answered 503. Default: 4096.
    pub subscriptions: usize,
    /// A subscriber gets a heartbeat after this time without an event. The node ends a subscription whose client does
    /// not take an event or a heartbeat within this time. Default: 15 s.
    pub heartbeat: Duration,
    /// The maximum rate of requests from one address; requests beyond it are answered 429. Default: no limit.
    pub rate: Option<Rate>,
}

/// A rate of requests, with a burst after a pause.
///
/// # Example
/// ```
/// let rate = lehr_node::Rate { per_second: 100.0, burst: 20 };
/// assert!(rate.per_second > 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The number of requests per second.
    pub per_second: f64,
    /// The number of requests at once after a pause.
    pub burst: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_per_address: 1024,
            idle_time: Duration::from_secs(120),
            connection_age: Duration::from_secs(86_400),
            unsent_connection_bytes: 128 << 20,
            unsent_bytes: 512 << 20,
            body_bytes: 16 << 20,
            header_bytes: 64 << 10,
            headers: 100,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            take_time: Duration::from_secs(60),
            answer_time: Duration::from_secs(30),
            answer_time_max: Duration::from_secs(3600),
            requests: 16_384,
            subscriptions: 4096,
            heartbeat: Duration::from_secs(15),
            rate: None,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl Settings {
    /// Returns settings with loopback, port 8420, no policy and the default limits.
    ///
    /// # Example
    /// See [`Settings`].
    pub fn new() -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8420),
            policy: None,
            origins: Origins::default(),
            proxies: Vec::new(),
            is_insecure: false,
            tls: None,
            log: None,
            telemetry: None,
            viewer: Viewer::default(),
            threads: 1,
            limits: Limits::default(),
        }
    }

    /// Checks whether the settings are valid.
    ///
    /// # Errors
    /// Returns [`Code::PermissionDenied`] for an open address, or for client certificates, without a policy;
    /// [`Code::InvalidValue`] with every invalid number.
    ///
    /// # Example
    /// See [`Settings`].
    pub fn check(&self) -> Result<(), Fault> {
        if !self.address.ip().is_loopback() && self.policy.is_none() && !self.is_insecure {
            let reason = format!(
                "{} can be reached by others, and no policy says who may do what: give one, or --insecure to let everybody do everything",
                self.address
            );
            return Err(Fault::new(Code::PermissionDenied, reason));
        }
        if self.tls.as_ref().is_some_and(Tls::asks) && self.policy.is_none() && !self.is_insecure {
            let reason = "clients have to show certificates, and no policy says whose may do what: give one, or --insecure to let all who have \
                          one do everything";
            return Err(Fault::new(Code::PermissionDenied, reason));
        }
        let limits = &self.limits;
        let mut faults = Vec::new();
        let counts = [
            ("threads", self.threads),
            ("connections", limits.connections),
            ("connections_per_address", limits.connections_per_address),
            ("unsent_connection_bytes", limits.unsent_connection_bytes),
            ("unsent_bytes", limits.unsent_bytes),
            ("body_bytes", limits.body_bytes),
            ("headers", limits.headers),
            ("requests", limits.requests),
            ("subscriptions", limits.subscriptions),
        ];
        faults.extend(
            counts
                .iter()
                .filter(|(_, count)| *count == 0)
                .map(|(name, _)| format!("{name}: expected at least 1, found 0")),
        );
        if limits.header_bytes < 8192 {
            faults.push(format!("header_bytes: expected at least 8192, found {}", limits.header_bytes));
        }
        let times = [
            ("header_time", limits.header_time),
            ("body_time", limits.body_time),
            ("take_time", limits.take_time),
            ("answer_time", limits.answer_time),
            ("heartbeat", limits.heartbeat),
            ("idle_time", limits.idle_time),
            ("connection_age", limits.connection_age),
        ];
        faults.extend(
            times.iter().filter(|(_, time)| time.is_zero()).map(|(name, _)| format!("{name}: expected more than 0")),
        );
        if limits.rate.is_some_and(|rate| !(rate.per_second > 0.0 && rate.per_second.is_finite()) || rate.burst == 0) {
            faults.push("rate: expected a positive number a second, and at least 1 at once".to_owned());
        }
        if faults.is_empty() { Ok(()) } else { Err(Fault::new(Code::InvalidValue, faults.join("; "))) }
    }
}
