//! The interface between a reference and a service in another process: requests as bytes, with their options.
//!
//! A network edge (HTTP, in the crate `lehr-node`) implements [`Link`] on one side. On the other side, the edge calls
//! an [`Endpoint`](crate::Endpoint), which is a link too. A reference can use an endpoint directly; it then encodes its
//! requests inside one process. Tests compare both paths in this way. A client of one build of a contract also uses
//! this path to reach a service of another build.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use lehr_runtime::TraceParent;
use lehr_sync::Arc;

use crate::contract::Version;
use crate::fault::Fault;
use crate::format::Format;
use crate::publisher::Change;
use crate::subscription::{End, Subscribe};
use crate::verb::Verb;

/// A future on the heap, for interfaces between crates.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The action that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Describe the service.
    Lookup,
    /// Return the whole state.
    Get,
    /// Carry out one of the contract's operations, given by name.
    Operation(String),
    /// End the service.
    Drop,
}

/// A request as bytes.
#[derive(Clone, Debug)]
pub struct Message {
    /// The action.
    pub action: Action,
    /// The verb of the action. Unless the request has a key, the verb determines whether it may be sent again if its
    /// outcome is unknown.
    pub verb: Verb,
    /// The body of the operation, in `format`.
    pub body: Vec<u8>,
    /// The format of the body.
    pub format: Format,
    /// The requested format of the answer.
    pub accept: Format,
    /// The options of the request.
    pub options: Options,
}

/// The options of a request, whether it is encoded or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The time limit of the request, after which its sender no longer waits for the answer.
    pub within: Option<Duration>,
    /// A key that makes it safe to repeat the request.
    pub key: Option<String>,
    /// The version that the state must have; otherwise the request is refused.
    pub if_version: Option<u64>,
    /// The incarnation that the service must have; otherwise the request is refused.
    pub incarnation: Option<u64>,
    /// The trace span that the request belongs to: the sender's span on the way, the network edge's span at the
    /// receiver.
    pub trace: Option<TraceParent>,
    /// The caller that the network edge has verified; never an unverified claim of the client.
    pub caller: Option<String>,
    /// The contract that the client expects the service to have.
    pub contract: Option<(String, Version)>,
}

/// An answer in encoded form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The reply, in the requested format. All receivers of the same state share these bytes.
    pub body: Arc<Vec<u8>>,
    /// The version of the state, if the answer is the state.
    pub version: Option<u64>,
    /// The incarnation of the service that has answered.
    pub incarnation: u64,
}

/// A connection to one service.
pub trait Link: fmt::Debug + Send + Sync {
    /// Sends a request. The request is handed over before this method returns, so requests arrive in the order of the
    /// calls. The future returns the answer. Dropping the future cancels the request, and the service is notified if
    /// possible.
    fn send(&self, message: Message) -> Pending<'static, Result<Answered, Fault>>;

    /// Subscribes to changes; the first event is the state.
    fn subscribe(
        &self,
        wishes: Subscribe,
        accept: Format,
        options: Options,
    ) -> Pending<'static, Result<Box<dyn Events>, Fault>>;
}

/// An event of a subscription over a link.
#[derive(Debug)]
pub enum LinkEvent {
    /// The whole state.
    Seed {
        /// The version of the state.
        version: u64,
        /// The incarnation of the service.
        incarnation: u64,
        /// The format of the body.
        format: Format,
        /// The document, shared by all receivers.
        body: Arc<Vec<u8>>,
    },
    /// A change.
    Change(Arc<Change>),
    /// Changes are missing here; the state comes next.
    Gap {
        /// A lower bound of the number of missing changes.
        missed: u64,
    },
}

/// A subscription over a link. Dropping the subscription unsubscribes.
pub trait Events: Send {
    /// Returns the next event. Cancel-safe: dropping the future loses no event.
    fn next(&mut self) -> Pending<'_, Result<LinkEvent, End>>;
}
