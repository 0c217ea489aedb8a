//! The seam between a reference and a service that is not in this process: requests as bytes, with their options.
//!
//! An edge (HTTP, in the crate `lehr-node`) implements [`Link`] on one side and calls [`Endpoint`](crate::Endpoint),
//! which is a link too, on the other. You can put the two together without anything between them. Then a reference goes
//! through the encoded form inside one process. Tests compare the two ways so, and a client of one build of a contract
//! reaches another so.

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

/// A future on the heap, for seams between crates.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The action on a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The description of the service.
    Lookup,
    /// The whole state.
    Get,
    /// One of the contract's operations, by name.
    Operation(String),
    /// Its end.
    Drop,
}

/// A request as bytes.
#[derive(Clone, Debug)]
pub struct Message {
    /// The action.
    pub action: Action,
    /// The verb of that: whether it may be sent again when its fate is not known.
    pub verb: Verb,
    /// The operation, in `format`.
    pub body: Vec<u8>,
    /// The format of the body.
    pub format: Format,
    /// The requested format of the answer.
    pub accept: Format,
    /// Its options.
    pub options: Options,
}

/// The options of a request, whichever way it goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The time until the answer is of no more use.
    pub within: Option<Duration>,
    /// A key that makes it safe to repeat the request.
    pub key: Option<String>,
    /// Do it only if the state is of this version.
    pub if_version: Option<u64>,
    /// Do it only if the service is in this life.
    pub incarnation: Option<u64>,
    /// The span that the request belongs to: its sender's on the way, that of the edge where it arrives.
    pub trace: Option<TraceParent>,
    /// The caller, as the edge has verified it; never a client's own claim.
    pub caller: Option<String>,
    /// The contract that the client was built with.
    pub contract: Option<(String, Version)>,
}

/// An answer as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The reply, in the requested format. Shared by all receivers of the same state.
    pub body: Arc<Vec<u8>>,
    /// The version of the state, if the answer is the state.
    pub version: Option<u64>,
    /// The incarnation of the service that has answered.
    pub incarnation: u64,
}

/// A way to one service.
pub trait Link: fmt::Debug + Send + Sync {
    /// Sends a request. It is handed over before this returns, so requests arrive in the order of the calls; the future
    /// is the answer. Dropping the future gives the request up, and the service learns it if possible.
    fn send(&self, message: Message) -> Pending<'static, Result<Answered, Fault>>;

    /// Subscribes; the state comes first.
    fn subscribe(
        &self,
        wishes: Subscribe,
        accept: Format,
        options: Options,
    ) -> Pending<'static, Result<Box<dyn Events>, Fault>>;
}

/// A subscriber's events over a link.
#[derive(Debug)]
pub enum LinkEvent {
    /// The whole state.
    Seed {
        /// Its version.
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
    /// This many changes are missing here; the state comes next.
    Gap {
        /// At least this many.
        missed: u64,
    },
}

/// A subscription over a link. Dropping it unsubscribes.
pub trait Events: Send {
    /// Returns the next event. Cancel-safe.
    fn next(&mut self) -> Pending<'_, Result<LinkEvent, End>>;
}
