//! A node: a host behind an edge.

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

/// The time that a collector has for the last spans, if services took all of theirs to end.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// A host that can be reached over HTTP. Dropping it closes the edge and leaves the host unchanged.
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
    /// The errors of [`Settings::check`]; [`Code::Unavailable`] if the address is not available.
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

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the rights of clients from now on, also on connections and subscriptions that have begun.
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

    /// Looks at the files of certificates, which is done for each new connection anyway, and says in the log how they
    /// changed.
    pub fn look_at_certificates(&self) {
        if let Some(tls) = &self.edge.settings.tls {
            tell_of_certificates(&self.edge, tls.acceptor().1);
        }
    }

    /// The host behind it.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Ends the services ([`Host::shutdown`]), then the edge. Meanwhile requests are answered 503, also those that only
    /// wait, such as for a job's end. Spans that wait for a collector are sent last, within what is left of the limit
    /// and at least a second.
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
        // Joined: when this returns, the address is free.
        self.threads.clear();
    }
}
