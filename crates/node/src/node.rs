//! A node: a host behind a network edge.

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use lehr_services::{Code, Fault, Host, HostReport};
use lehr_sync::{Arc, Moment};
use tokio::sync::watch;

use crate::edge::{Edge, listen, tell_of_certificates};
use crate::policy::Policy;
use crate::settings::Settings;
use crate::tokio_thread::TokioThread;

/// The time for sending the last spans to a collector, if the services used the whole time in which they must end.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// A host that can be reached over HTTP. Dropping a `Node` closes the network edge and does not affect the host.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_node::{Node, Settings};
/// use lehr_services::Host;
///
/// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
/// let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
/// let node = Node::start(Host::new(dispatcher.handle()), settings).unwrap();
/// assert!(node.address().port() > 0);
/// let report = lehr_runtime::block_on(node.shutdown(Duration::from_secs(60)));
/// assert!(report.cut_off.is_empty());
/// ```
pub struct Node {
    host: Host,
    address: SocketAddr,
    edge: Arc<Edge>,
    stop: watch::Sender<bool>,
    threads: Vec<TokioThread>,
}

impl fmt::Debug for Node {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Node").field("address", &self.address).field("host", &self.host).finish_non_exhaustive()
    }
}

impl Node {
    /// Listens for requests to the services of a host.
    ///
    /// # Errors
    /// Returns the errors of [`Settings::check`]; [`Code::Unavailable`] if the address is not available.
    pub fn start(host: Host, settings: Settings) -> Result<Self, Fault> {
        settings.check()?;
        let wanted = settings.address;
        let scarce =
            |error: std::io::Error| Fault::new(Code::Unavailable, format!("cannot listen at {wanted}: {error}"));
        let listener = TcpListener::bind(wanted).map_err(scarce)?;
        let address = listener.local_addr().map_err(scarce)?;
        let (stop, stopping) = watch::channel(false);
        let edge = Arc::new(Edge::new(host.clone(), settings, address));
        let threads = listen(&edge, &listener, &stopping).map_err(scarce)?;
        Ok(Self { host, address, edge, stop, threads })
    }

    /// Returns the address that the node listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the rights of clients from now on, also for open connections and subscriptions.
    ///
    /// # Example
    /// ```
    /// use lehr_node::{Node, Policy, Settings};
    /// use lehr_services::Host;
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let address = ([127, 0, 0, 1], 0).into();
    /// let node = Node::start(Host::new(dispatcher.handle()), Settings { address, ..Settings::new() }).unwrap();
    /// let text = r#"{ "callers": { "ada": { "token": "correct-horse-battery" } }, "rules": [{ "callers": ["ada"] }] }"#;
    /// node.replace_policy(Policy::from_json(text).unwrap()); // who shows no token is refused from now on
    /// ```
    pub fn replace_policy(&self, policy: Policy) {
        self.edge.replace_policy(policy);
    }

    /// Checks the certificate files, as each new connection does, and logs how they changed.
    pub fn look_at_certificates(&self) {
        if let Some(tls) = &self.edge.settings.tls {
            tell_of_certificates(&self.edge, tls.acceptor().1);
        }
    }

    /// Returns the host of the node.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Ends the services ([`Host::shutdown`]), then the network edge. Meanwhile requests are answered 503, including
    /// requests that only wait, such as for a job's end. Spans that wait for a collector are sent last, within the rest
    /// of the limit, but for at least one second.
    pub async fn shutdown(self, limit: Duration) -> HostReport {
        let began = Moment::now();
        self.edge.close();
        let report = self.host.shutdown(limit).await;
        let telemetry = self.edge.settings.telemetry.clone();
        drop(self);
        if let Some(telemetry) = telemetry {
            telemetry.flush(limit.saturating_sub(began.elapsed()).max(FLUSH_TIME)).await;
        }
        report
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        // The threads are joined, so that the address is free when this returns.
        self.threads.clear();
    }
}
