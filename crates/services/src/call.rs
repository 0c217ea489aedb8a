//! A handler's view of the request that it handles.

use std::fmt;
use std::time::Duration;

use lehr_runtime::{Context, TraceParent};
use lehr_sync::Arc;

use crate::contract::Contract;
use crate::fault::{Code, Fault};
use crate::host::Host;
use crate::operation::Envelope;
use crate::reference::Reference;
use crate::shared::Shared;

/// The request that a handler handles: its caller, its deadline, and the service that it was sent to.
///
/// # Example
/// See [`Independent`](crate::Independent).
pub struct Call {
    shared: Arc<Shared>,
    envelope: Option<Box<Envelope>>,
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Call")
            .field("path", &self.path())
            .field("caller", &self.caller())
            .finish_non_exhaustive()
    }
}

impl Call {
    pub(crate) fn new(shared: Arc<Shared>, envelope: Option<Box<Envelope>>) -> Self {
        Self { shared, envelope }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn envelope(&self) -> Option<&Envelope> {
        self.envelope.as_deref()
    }

    /// Returns the path of the service.
    ///
    /// # Example
    /// See [`Independent`](crate::Independent).
    pub fn path(&self) -> &str {
        &self.shared.path
    }

    /// Returns the incarnation of the service: a number that is new after every start.
    pub fn incarnation(&self) -> u64 {
        self.shared.incarnation
    }

    /// Returns the caller, if a network edge has verified it; `None` for requests of this process.
    pub fn caller(&self) -> Option<&str> {
        self.envelope.as_ref()?.caller.as_deref()
    }

    /// Returns the key of the request, if it has one: a request that is sent again with the same key is carried out
    /// only once.
    pub fn key(&self) -> Option<&str> {
        self.envelope.as_ref()?.key.as_deref()
    }

    /// Returns the deadline of the request on the clock of the host; `None` if there is no limit. After the deadline,
    /// the handler's future is dropped.
    pub fn deadline(&self) -> Option<Duration> {
        Context::current()?.deadline()
    }

    /// Returns the time left until the deadline; `None` if there is no limit. Requests that the handler sends to other
    /// services, here or on other nodes, automatically get at most this time.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// use std::time::Duration;
    /// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    /// # struct Search {}
    /// # impl Contract for Search { const NAME: &'static str = "example.org/search"; const VERSION: Version = Version::new(1, 0); }
    /// # #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
    /// # #[operation(contract = Search, verb = Query, name = "look", reply = String)]
    /// # struct Look {}
    /// # impl Service for Search {
    /// #     type Document = Self;
    /// #     fn document(&self) -> &Self { self }
    /// #     fn document_mut(&mut self) -> &mut Self { self }
    /// #     fn handlers(on: &mut Handlers<Self>) { on.concurrent::<Look>(); }
    /// # }
    /// impl Concurrent<Look> for Search {
    ///     async fn handle(&self, _: Look, call: &Call) -> Result<String, Fault> {
    ///         let is_hurried = call.time_left().is_some_and(|left| left < Duration::from_secs(1));
    ///         Ok(if is_hurried { "the first that was found" } else { "the best of all" }.to_owned())
    ///     }
    /// }
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(async {
    /// let search = host.start("/search", Search::default).await?;
    /// assert_eq!(search.call(Look {}).await?, "the best of all");
    /// let hurried = search.within(Duration::from_millis(900));
    /// assert_eq!(hurried.call(Look {}).await?, "the first that was found");
    /// # Ok::<(), Fault>(())
    /// # }).unwrap();
    /// ```
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline()?;
        Some(deadline.saturating_sub(self.shared.host()?.clock().now()))
    }

    /// Returns the span of the distributed trace that the request belongs to.
    pub fn trace(&self) -> Option<TraceParent> {
        Context::current()?.traces().first().copied()
    }

    /// Returns a reference to the service itself, for tasks that outlive the handler.
    ///
    /// If a handler waits for an answer from its own service, the request may be refused with [`Code::WouldDeadlock`].
    ///
    /// # Errors
    /// Returns [`Code::ContractMismatch`] if `D` is not the service's document, and [`Code::UnknownService`] after the
    /// service has ended.
    pub fn own<D: Contract>(&self) -> Result<Reference<D>, Fault> {
        self.host()?.reference(&self.shared.path)
    }

    /// Returns the host that the service runs on, to find other services.
    ///
    /// # Errors
    /// Returns [`Code::ServiceStopping`] when the host has ended.
    pub fn host(&self) -> Result<Host, Fault> {
        self.shared.host().ok_or_else(|| Fault::new(Code::ServiceStopping, "the node is stopping").here())
    }
}
