//! A node: a host behind an edge.

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use lehr_services::{Code, Fault, Host, HostReport};
use lehr_sync::Arc;
use tokio::sync::watch;

use crate::edge::{Edge, listen};
use crate::settings::Settings;
use crate::tokio_thread::TokioThread;

/// A host that can be reached over HTTP. Dropping it closes the edge and leaves the host as it is.
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
    /// Those of [`Settings::check`]; [`Code::Unavailable`] if the address cannot be had.
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
        Ok(Self { host, address, stop, threads })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host behind it.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Ends the services ([`Host::shutdown`]), then the edge.
    pub async fn shutdown(self, limit: Duration) -> HostReport {
        let report = self.host.shutdown(limit).await;
        drop(self);
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
